"""A program of its own that writes a spreadsheet, or a file of a statistics package, as CSV to its standard output.

Such files come from strangers and are read by compiled libraries. A damaged one may claim more cells than there is
memory for, or end the process: so it is read in one that holds nothing else, whose memory and time are limited, and
that ends with one sentence whatever happens. `core.sources.copies` starts it, with the file as its standard input.

Every cell becomes the text that says it, by itself: a date in ISO 8601, a number by its shortest digits, nothing where
there is nothing. So no cell's type depends on what stands in others.
"""

import csv
import datetime
import io
import json
import sys
from collections.abc import Iterator
from typing import Any

MEMORY, SECONDS = 8 << 30, 1_800  # Most bytes and seconds of processor that one file may take.
CHUNK = 20_000  # Rows of a statistics package's file that are held at a time.
STDIN = "/dev/stdin"
READERS = {"sav": "read_sav", "por": "read_por", "dta": "read_dta", "sas7bdat": "read_sas7bdat", "xpt": "read_xport"}


def text(value: Any) -> str:
    """A cell as it is written into CSV."""
    if value is None or value == "" or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "seconds")
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(int(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
    if isinstance(value, datetime.time):
        return value.isoformat("seconds")
    return str(value)


def spreadsheet(sheet: str, first: int) -> Iterator[list[str]]:
    """The rows of a sheet, or of all ("*") under one header, from the row of names on; rows of nothing are left out.

    The names say how wide a row is: a remark beside one record would be a column of all. 0: there are no names.
    """
    import python_calamine

    book = python_calamine.load_workbook(io.BytesIO(sys.stdin.buffer.read()))
    names = list(book.sheet_names)
    say(sheets=names)
    if sheet not in ("", "*", *names):
        raise Refusal("sheet")
    header: list[str] | None = None
    wider = False
    for name in names if sheet == "*" else [sheet or names[0]]:
        found = book.get_sheet_by_name(name)
        before = [""] * (found.start or (0, 0))[1]  # columns that nobody has anything in are passed over otherwise
        rows = (before + list(map(text, row)) for row in found.iter_rows())
        filled = (row for row in rows if any(row))
        for _ in range(first - 1):
            next(filled, None)
        names_here = next(filled, [])
        width = max((place for place, one in enumerate(names_here, 1) if one), default=0) if first else len(names_here)
        names_here = names_here[:width]
        if header is None:
            header = names_here
            yield header
        elif names_here and names_here != header:
            raise Refusal("different")
        for row in filled:
            wider |= any(row[width:])
            if any(row[:width]):
                yield row[:width]
    if wider:
        say(wider=True)


def package(kind: str) -> Iterator[list[str]]:
    """The names and the records of a file of SPSS, Stata or SAS; what its author says is missing is nothing."""
    import pyreadstat

    read = getattr(pyreadstat, READERS[kind])
    _, said = read(STDIN, metadataonly=True)
    yield list(said.column_names)
    start, rows = 0, CHUNK
    while rows == CHUNK:
        columns, _ = read(STDIN, row_offset=start, row_limit=CHUNK, output_format="dict")
        lists = [list(column) for column in columns.values()]
        yield from (list(map(text, row)) for row in zip(*lists, strict=True))
        rows = len(lists[0]) if lists else 0
        start += rows


class Refusal(Exception):
    """What is wrong with the file, in a word that `core.sources.copies` makes a sentence of."""


def say(**facts: object) -> None:
    """Tell what was found out besides the records."""
    sys.stderr.write(json.dumps(facts) + "\n")
    sys.stderr.flush()


def main(kind: str, sheet: str, first: str) -> int:
    """Write the table; 0 where all of it is written."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    except (ImportError, ValueError, OSError):
        pass  # a system without such limits
    try:
        rows = spreadsheet(sheet, int(first)) if kind == "sheet" else package(kind)
        out = io.TextIOWrapper(sys.stdout.buffer, "utf-8", "replace", newline="", write_through=False)
        csv.writer(out).writerows(rows)
        out.flush()
    except Refusal as refusal:
        say(problem=str(refusal))
    except ModuleNotFoundError as missing:
        say(problem="module", name=missing.name)
    except MemoryError:
        say(problem="memory")
    except BrokenPipeError:
        pass  # nobody reads on
    except BaseException as failure:  # of the libraries: a panic of Rust is no Exception; their messages hold values
        say(problem="password" if type(failure).__name__ == "PasswordError" else "damaged")
    else:
        return 0
    sys.stderr.close()
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
