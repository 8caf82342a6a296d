"""Tables by the names of their columns, as people ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import RequestError
from .axes import Axis
from .layout import Columns, largest
from .sizing import all_pairs, pairs_with


def place_of(axes: Sequence[Axis], name: str) -> int:
    """The place of a column among the axes; RequestError where there is none of this name."""
    for place, axis in enumerate(axes):
        if axis.name == name:
            return place
    raise RequestError(f"There is no column {str(name)!r}; there are {', '.join(axis.name for axis in axes)}.")


def tables_named(
    axes: Sequence[Axis], tables: str | Iterable[Sequence[str]], by: Sequence[str], every_pair: bool
) -> tuple[Columns, ...] | None:
    """The tables asked for, or None for as many pairs as can be seen.

    Parameters
    ----------
    axes : Sequence[Axis]
        All axes.
    tables : str | Iterable[Sequence[str]]
        "singles", "pairs", or the names of the columns of each table.
    by : Sequence[str]
        Columns one of which each pair has, where there are any.
    every_pair : bool
        Whether "pairs" are all of them.

    Raises
    ------
    RequestError
        When there is no such column or table, or columns to count by come with other tables.
    """
    if by and tables != "pairs":
        raise RequestError("Columns to count the others by go with pairs, and not with other tables.")
    if by:
        return pairs_with(len(axes), [place_of(axes, name) for name in by])
    if tables == "pairs":
        return all_pairs(len(axes)) if every_pair else None
    if tables == "singles":
        return tuple((place,) for place in range(len(axes)))
    if isinstance(tables, str):
        raise RequestError("The tables are 'singles', 'pairs', or lists of the names of columns.")
    named = [tuple(sorted({place_of(axes, name) for name in table})) for table in tables]
    if not named or not all(named):
        raise RequestError("A table needs the name of at least one column.")
    return largest(named)
