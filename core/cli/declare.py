"""`declare`: a draft of what is publicly known about a table, for its owner to finish."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import RequestError
from .output import check_writable, say

MOST_SAID = 6


def declare(
    source: Annotated[
        str, Argument(metavar="SOURCE", help="Private records, as those of `release`.", show_default=False)
    ],
    codebook: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A public data dictionary: CSV or TSV with a line for each column (name, type, min, max, values, "
            "missing, unit …), YAML, CSV on the Web, a Frictionless schema, or a file of SPSS or Stata, of which the "
            "labels are read. Never one that was made of the records.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="The YAML file to write; without it, standard output.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Draft a declaration from the names and types of a table's columns, a codebook and common knowledge.

    No value of the table is looked at. What is not known stands behind a #, to be finished by hand; --declaration of
    the other commands takes the file.
    """
    from ..domain.codebook import codebook_in, draft_text, drafted
    from ..sources import open_source

    if out is not None:
        check_writable(out, overwrite)
    if codebook is not None and codebook.resolve() == Path(source).resolve():
        raise RequestError("--codebook names the private file itself; name a public description of its columns.")
    opened = open_source(source)
    book = {} if codebook is None else codebook_in(codebook.name, _content_of(codebook))
    entries = drafted([(column.name, column.kind) for column in opened.columns], book)
    text = draft_text(entries)
    if out is None:
        print(text, end="", file=sys.stdout)
    else:
        out.write_text(text, encoding="utf-8")
    unfinished = [entry.name for entry in entries if entry.unknown]
    say(f"{len(entries) - len(unfinished):,} of {len(entries):,} entries are whole.")
    if unfinished:
        more = f" and {len(unfinished) - MOST_SAID:,} more" if len(unfinished) > MOST_SAID else ""
        say(f"Still to be finished: {', '.join(unfinished[:MOST_SAID])}{more}.")


def _content_of(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes()
    except OSError:
        raise RequestError(f"There is no codebook at {str(path)!r}.") from None
