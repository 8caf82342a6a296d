"""What a command prints and writes.

Standard output carries the answer alone, so that it can be piped; remarks and progress go to standard error. A file is
written beside its place and then moved there, so it is whole or absent.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from ..errors import RequestError
from ..runtime.transient import UNFINISHED, sweep_unfinished, unfinished

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from rich.progress import Progress

    from ..releases.engine.building import Pace

TABLES = (".csv", ".tsv", ".parquet")
Named = TypeVar("Named", str, Path)
SECONDS_A_LINE = 10.0  # Between two lines on how far a reading is, where they do not take each other's place.


_telling = ContextVar("telling", default=True)


def say(sentence: str) -> None:
    """A remark on standard error."""
    if _telling.get():
        print(sentence, file=sys.stderr, flush=True)


@contextmanager
def unsaid() -> Iterator[None]:
    """Keep remarks to oneself, as on what is only supposed, and planned once more when it is known."""
    before = _telling.set(False)
    try:
        yield
    finally:
        _telling.reset(before)


def check_there(named: Named) -> Named:
    """What was named; refused, before the library is loaded, where it plainly is a file that is not there.

    Patterns, tables of databases, addresses and other people's folders are looked up where they are opened.
    """
    if not any(mark in str(named) for mark in (*"*?[~\0", "::", "://")) and not Path(named).exists():
        raise RequestError(f"There is no file {str(named)!r}.")
    return named


def print_json(value: object) -> None:
    """A value as JSON on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """A table for people on standard output; the first column is named, the others are aligned as figures."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # a name is no markup
    Console().print(table)


@contextmanager
def progress(figures: str = "{task.completed:,.0f}") -> Iterator[Progress]:
    """Progress bars on standard error, with figures beside them, which show nothing unless that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn(figures))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield bars


@contextmanager
def reading(words: str, total: int | None, rows: int = 0) -> Iterator[Callable[[int], None]]:
    """Say how far a reading is, how fast, and how long it still takes: in a bar on a terminal, else line by line.

    `total`: Rows that there are, or None where nobody knows. `rows`: Rows that were read before, by an earlier run.

    Yields
    ------
    Callable[[int], None]
        What is called with the number of rows read so far.
    """
    from ..releases.engine.building import Pace

    pace = Pace(total, rows=rows)
    of_all = f" of {total:,}" if total else ""
    share = "{task.percentage:.0f}%, " if total else ""  # and not the total, to fit a terminal of 80 columns
    with progress(f"{share}{{task.completed:,.0f}} rows{{task.fields[pace]}}") as bars:
        bar = bars.add_task(words, total=total, completed=rows, pace="")
        due = monotonic() + SECONDS_A_LINE

        def show(read: int) -> None:
            nonlocal due
            pace.mark(read)
            bars.update(bar, completed=read, pace=_how_fast(pace))
            if bars.disable and monotonic() >= due:
                due = monotonic() + SECONDS_A_LINE
                say(f"{words}: {read:,}{of_all} rows{_how_fast(pace)}.")

        yield show


def _how_fast(pace: Pace) -> str:
    """Rows a second and the time left, as far as they are known."""
    if pace.rate is None:
        return ""
    left = pace.seconds_left
    return f", {float(f'{pace.rate:.3g}'):,.0f} rows/s" + ("" if left is None else f", {_duration(left)} left")


def _duration(seconds: float) -> str:
    """A time that is still to come: no more exact than anyone knows it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def spinner(words: str) -> Iterator[None]:
    """Words on standard error for as long as work goes on, if that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def check_writable(path: Path, overwrite: bool = True, room: int = 0) -> None:
    """Refuse a place where no file can be written, before any work is done for it."""
    import shutil
    import tempfile

    shown = repr(str(path))
    if path.is_dir() or not path.name:
        raise RequestError(f"{shown} is a folder; the output needs the name of a file.")
    if not overwrite and path.exists():
        raise RequestError(
            f"There is a file {shown} already, and a release cannot be made again for nothing; choose another name, or "
            "say --overwrite."
        )
    if not path.parent.is_dir():
        raise RequestError(f"There is no folder {str(path.parent)!r} to write {path.name!r} to.")
    if path.exists() and not path.is_file():
        raise RequestError(f"{shown} is not an ordinary file, so it cannot be replaced by one.")
    try:
        sweep_unfinished(path.parent)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=UNFINISHED):
            pass
        free = shutil.disk_usage(path.parent).free
    except OSError as problem:
        raise RequestError(f"The file {shown} cannot be written: {problem.strerror or problem}.") from None
    if free < room:
        raise RequestError(f"The file {shown} may need {room:,} bytes, and only {free:,} are free there.")


def check_table(out: Path | None) -> None:
    """Refuse, before any work, a place for a table that cannot be written; None is standard output."""
    if out is None:
        return
    if out.suffix.lower() not in TABLES:
        raise RequestError(f"A table is written to a file that ends in {' or '.join(TABLES)}; {out.name!r} does not.")
    check_writable(out)


def content_of(path: Path) -> bytes:
    """What is in a file; RequestError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise RequestError(f"The file {str(path)!r} cannot be read: {problem.strerror or problem}.") from None


def write_file(path: Path, write: Callable[[BinaryIO], object], room: int = 0) -> None:
    """Write a file that is whole or absent; RequestError where it cannot be written. ``room``: Bytes, where known."""
    try:
        with unfinished(path, room) as file:
            write(file)
    except OSError as problem:
        raise RequestError(f"The file {str(path)!r} cannot be written: {problem.strerror or problem}.") from None


def cells_as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Answers of tables with the names of their cells as texts."""
    import pandas as pd

    cells = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    return frame.assign(**{name: frame[name].astype(str) for name in cells})


def write_table(table: pa.Table | pd.DataFrame, out: Path | None) -> None:
    """A table as CSV on standard output, or in a file of the format that its name ends in."""
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    suffix = ".csv" if out is None else out.suffix.lower()
    table = _with_days(table)
    if suffix != ".parquet":
        nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
        if nested:
            raise RequestError(f"The column {nested[0]!r} holds lists, which CSV cannot; write to a .parquet file.")
    if out is None:
        sys.stdout.flush()
        _write(table, sys.stdout.buffer, suffix)
        sys.stdout.buffer.flush()
        return
    write_file(out, lambda file: _write(table, file, suffix))


def _with_days(table: pa.Table) -> pa.Table:
    """The table with dates in place of times that are all midnight."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz is None:
            column = table.column(place)
            days = column.cast(pa.date32(), safe=False)
            if pc.all(pc.equal(days.cast(field.type), column)).as_py() is not False:
                table = table.set_column(place, field.name, days)
    return table


def _safe(table: pa.Table) -> pa.Table:
    """The table with texts that no spreadsheet takes for formulas."""
    import pyarrow as pa

    from ..formatting.escapes import safe_cell

    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts = [safe_cell(text) for text in table.column(place).to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.large_string()))
    return table.rename_columns([str(safe_cell(name)) for name in table.column_names])


def _write(table: pa.Table, file: BinaryIO, suffix: str) -> None:
    if suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, file)
    else:
        import pyarrow.csv

        mark = "\t" if suffix == ".tsv" else ","
        table = _safe(table)
        # Arrow quotes every name; names are quoted here only where they must be, as its values are.
        line = io.StringIO()
        csv.writer(line, delimiter=mark, lineterminator="\n").writerow(table.column_names)
        file.write(line.getvalue().encode())
        pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(include_header=False, delimiter=mark))
