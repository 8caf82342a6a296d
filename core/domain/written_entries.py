"""Entries of a declaration from columns: what has to be said of each, without what goes without saying."""

from __future__ import annotations

from dataclasses import fields

from ..errors import RequestError
from .categorical import Categorical
from .column_entries import NO, YES, columns_of, counting_unknown
from .columns import Column
from .coordinate import Coordinate
from .cyclic import Cyclic
from .dates import Dates
from .free_text import ChosenWords, TextLength
from .missing_rule import under_rule
from .numeric import Numeric
from .ordered import Ordered
from .vector import Vector
from .written import Reading


def stated(columns: tuple[Column, ...]) -> dict[str, dict[str, object]]:
    """What a declaration says of columns, by the name of its entry; the two columns of a place are one entry."""
    said: dict[str, dict[str, object]] = {}
    left = list(columns)
    while left:
        column = left.pop(0)
        if isinstance(column, Coordinate):
            other = next((one for one in left if _is_pair(column, one)), None)
            if other is None:
                raise RequestError(f"The coordinate {column.name!r} stands alone, and a declaration has them in pairs.")
            left.remove(other)
            said[f"{column.name}, {other.name}"] = _said(column) | _ends(column, other)
        else:
            said[column.name] = _said(column)
    return said


def with_missing_category(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The same columns, with missing values as a category of their own in each that can have one."""
    return tuple(
        one for column in columns for one in ((column,) if isinstance(column, Coordinate) else _under_rule(column))
    )


def with_unknown_category(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The same columns, with a category of values that are not on the list in each list of categories that has none."""
    return tuple(
        counting_unknown(column) if type(column) is Categorical and not column.unknown_category else column
        for column in columns
    )


def _under_rule(column: Column) -> tuple[Column, ...]:
    said = _said(column)
    entry = under_rule(said)
    return (column,) if entry is said else columns_of(column.name, entry)


def _is_pair(column: Coordinate, other: Column) -> bool:
    return (
        isinstance(other, Coordinate)
        and other.axis != column.axis
        and (other.south, other.north, other.west, other.east, other.reading)
        == (column.south, column.north, column.west, column.east, column.reading)
    )


def _ends(column: Coordinate, other: Column) -> dict[str, object]:
    return {column.axis: column.name, getattr(other, "axis", ""): other.name}  # said in the order of the columns


def _said(column: Column) -> dict[str, object]:
    """One entry, without what goes without saying."""
    facts: dict[str, object]
    if isinstance(column, Numeric):
        facts = {"kind": "number", "low": column.low, "high": column.high, "unit": column.unit, "step": column.step}
        facts |= _said_reading(column.reading) | {"missing_category": column.missing_category}
    elif isinstance(column, Dates):
        facts = {"kind": "date"} | {field.name: getattr(column, field.name) for field in fields(column)[1:]}
    elif isinstance(column, Coordinate):
        facts = {"kind": "position"} | {side: getattr(column, side) for side in ("south", "north", "west", "east")}
        facts |= _said_reading(column.reading)
    elif isinstance(column, Cyclic):
        values = {} if column.part else {"values": _said_values(column)}
        facts = {"kind": "cyclic", "of": column.of, "part": column.part, **values}
        facts |= {"format": column.format, "zone": column.zone, "missing": column.missing}
    elif isinstance(column, ChosenWords):
        chosen = Categorical(column.name, column.categories[:-1], column.written[:-1])
        facts = {"kind": "words", "values": _said_values(chosen), "other": column.categories[-1], "of": column.of}
    elif isinstance(column, Categorical) and column.written[:2] == (NO, YES):
        facts = {"kind": "yes_no", "missing": column.missing, "missing_category": column.missing_category}
    elif isinstance(column, (Categorical, Ordered)):
        kind = "category" if isinstance(column, Categorical) else "ordered"
        facts = {"kind": kind, "values": _said_values(column), "positions": getattr(column, "positions", ())}
        facts |= {"missing": column.missing, "missing_category": column.missing_category}
        facts |= {"unknown_category": column.unknown_category}
    elif isinstance(column, TextLength):
        facts = {"kind": "text_length", "longest": column.high, "counts": column.counts, "of": column.of}
    elif isinstance(column, Vector):
        facts = {"kind": "vector", "length": column.length, "low": column.low, "high": column.high, "unit": column.unit}
    else:
        facts = {"kind": "items", "gathered": column.gathered, "separator": column.separator}
    silent = {"step": (0.0, "day"), "counts": ("characters",), "other": ("other",)}
    return {
        name: value
        for name, value in facts.items()
        if value not in ("", (), None, False, *silent.get(name, ())) or name in BOUNDS
    }


BOUNDS = ("low", "high", "south", "north", "west", "east")
"""What is said even where it is nothing: 0 is a bound."""


def _said_reading(reading: Reading | None) -> dict[str, object]:
    if reading is None:
        return {}
    return {"missing": reading.missing, "decimal": "" if reading.decimal == "." else ",", "marks": reading.marks}


def _said_values(column: Categorical | Ordered) -> object:
    if not any(column.written):
        return column.categories
    pairs = zip(column.categories, column.written, strict=True)
    return {code: label for label, codes in pairs for code in (codes or (label,))}
