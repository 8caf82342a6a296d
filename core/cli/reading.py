"""What the commands that ask a release share: the release file, places to ask about, and where answers go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import RequestError
from . import notation

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..domain import Domain
    from ..sources import Source

ReleaseArgument = Annotated[Path, Argument(metavar="RELEASE", help="A release file.", show_default=False)]
QueriesArgument = Annotated[str, Argument(
    metavar="QUERIES", help="A table with the release's columns, in any format that SOURCE may have; further columns "
    "are handed on.", show_default=False,
)]
TableOption = Annotated[Path | None, Option(
    "--out", metavar="FILE", help="Write to a .csv, .tsv or .parquet file; without it, CSV goes to standard output."
)]
LevelOption = Annotated[float, Option("--level", help="Probability with which an interval holds the exact kernel sum.")]
ANSWERS = ("estimate", "low", "high", "density")
"""Columns that every table of answers ends with, or has beside further ones."""
AtOption = Annotated[list[str] | None, Option(
    "--at", metavar="COLUMN=VALUE", help="Hold a column at a value; repeat it for each column."
)]


def read_queries(name: str, domain: Domain) -> pa.Table:
    """All columns of a file of queries, those of the domain first.

    Further columns pass through as if they held categories, which are read as they stand.

    Raises
    ------
    RequestError
        When the file cannot be read, misses a column, or holds no query.
    """
    import pyarrow as pa

    from ..domain import Categorical, PrivacyUnit
    from ..sources import open_source

    source = open_source(name)
    further = [Categorical(column, ("a", "b")) for column in _column_names(source) if column not in domain.names]
    everything = replace(domain, columns=(*domain.columns, *further), unit=PrivacyUnit())
    batches = [batch.replace_schema_metadata(None) for batch in source.batches(everything)]
    if not sum(batch.num_rows for batch in batches):
        raise RequestError(f"There are no queries in {source.label}.")
    return pa.Table.from_batches(batches)


def _column_names(source: Source) -> list[str]:
    """Names that a source gives its columns; an array without names has its columns taken in order instead."""
    return [] if getattr(source, "names", ()) is None else [column.name for column in source.columns]


def read_places(texts: Sequence[str] | None, domain: Domain) -> dict[str, object]:
    """Values by column from texts such as ``G=120``: numbers for numeric columns, texts for categories."""
    columns = {column.name: column for column in domain.columns}
    places: Mapping[str, str] = notation.parse_places(texts or ())
    notation.check_known(places, domain.names)
    return {
        name: notation.parse_number(value, f"The value of {name!r}") if columns[name].kind == "numeric" else value
        for name, value in places.items()
    }


def beside(places: pa.Table, answers: Mapping[str, np.ndarray]) -> pa.Table:
    """Places with their answers, arrays (n,), in further columns; one whose name is taken is called ``answer_NAME``."""
    table = places
    for name, values in answers.items():
        table = table.append_column(f"answer_{name}" if name in places.column_names else name, [values])
    return table
