"""Pairs of neighbouring data sets that a leak would tell apart: made up from public facts, no value of them private.

Each pair differs in one person. Which persons those are is where mistakes were found in mechanisms of all kinds: at the
corners of the bounds, alone in a class or beyond all bounds, with a value that is missing or on no list, with more rows
than count, the only one there is; and the others are also put into another order, as promises are about who is among
the records and not about where in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..domain import Domain
from ..domain.categorical import Categorical
from ..domain.columns import Column
from ..domain.numeric import Numeric
from ..domain.round_columns import Cyclic
from ..domain.texts_and_items import Items
from ..privacy.neighbours import Neighbours

RECORDS = 12
UNKNOWN = "a word on no list"
BEYOND = 1e6  # How many times the width of the bounds a value lies outside of them.


@dataclass(frozen=True)
class Pair:
    """Two neighbours, and what is hostile about them."""

    about: str  # In a few words.
    # Rows of both.
    data: pd.DataFrame
    neighbour: pd.DataFrame

    def turned(self) -> Pair:
        """The same two the other way round, as a loss has two ends."""
        return Pair(f"{self.about}, the other way round", self.neighbour, self.data)


def pairs(domain: Domain, neighbours: Neighbours, records: int = RECORDS, seed: int = 0) -> Iterator[Pair]:
    """Hostile pairs of a domain, the most telling first.

    `domain`: Public facts of the columns and of who a person is. `neighbours`: The relation: a person more or less, or
    a person's records replaced. `records`: Of other people in most of them. `seed`: Of the made-up others.
    """
    rng = np.random.default_rng(seed)
    others = _frame(domain, [_inside(domain, rng, place) for place in range(records)])
    persons = _persons(domain, others.iloc[0].to_dict())
    first = [] if neighbours is Neighbours.ADD_REMOVE else persons.pop("at the upper corner")
    word = "somebody" if not first else "somebody at the upper corner who becomes one"
    data = _with(domain, others, first)
    rows, nobody = persons["at the lower corner"], others.iloc[:0]
    yield Pair(f"{word} at the lower corner", data, _with(domain, others, rows))
    yield Pair(f"{word} at the lower corner, nobody else", _with(domain, nobody, first), _with(domain, nobody, rows))
    moved = _with(domain, others.iloc[rng.permutation(len(others))], rows, last=False)
    yield Pair(f"{word} at the lower corner, the others in another order", data, moved)
    for about, rows in persons.items():
        if about != "at the lower corner":
            yield Pair(f"{word} {about}", data, _with(domain, others, rows))


def _persons(domain: Domain, ordinary: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The records of one person, in several hostile ways; as many as count and more where a person owns several."""
    count = 1 if domain.unit.column is None else domain.unit.records + 2
    upper, lower = _corner(domain, 1.0), _corner(domain, 0.0)
    known = {"at the upper corner": upper, "at the lower corner": lower, "far beyond the bounds": _beyond(domain)}
    if domain.missing == "drop":
        known["with nothing said"] = dict.fromkeys(upper)
        known["with one value missing"] = upper | {next(iter(upper)): None}
    known["like another"] = {name: value for name, value in ordinary.items() if name != domain.unit.column}
    return {about: [values] * count for about, values in known.items()}


def _corner(domain: Domain, share: float) -> dict[str, Any]:
    """A record with all values at one end of their bounds, and the first or the last of all categories."""
    if domain.holds_sets:
        return {domain.names[0]: list(range(40)) if share else [99]}
    low, high = domain.bounds("l2")
    return _named(domain, domain.decode_points((low + share * (high - low))[None], "l2", inside=True)) | {
        column.field: domain.categories_of(column.name)[-1 if share else 0]
        for column in domain.columns
        if _listed(column)
    }


def _beyond(domain: Domain) -> dict[str, Any]:
    """A record of which no value is within bounds or on a list, unless the owner's rule is to refuse such a list."""
    refused = domain.outside == "clamp" and domain.missing == "refuse"
    values = _corner(domain, 1.0)
    for column in domain.columns:
        if _listed(column) and not refused:
            values[column.field] = UNKNOWN
        elif isinstance(column, Numeric):
            values[column.field] = column.high + BEYOND * (column.high - column.low)
        elif isinstance(column, Items):
            values[column.field] = [12345]
    return values


def _inside(domain: Domain, rng: np.random.Generator, place: int) -> dict[str, Any]:
    """An ordinary record."""
    if domain.holds_sets:
        return {domain.names[0]: list(range(place % 4 + 1))}
    low, high = domain.bounds("l2")
    return _named(domain, domain.decode_points(rng.uniform(low, high)[None], "l2", inside=True))


def _named(domain: Domain, natural: pd.DataFrame) -> dict[str, Any]:
    """The first row by the names of a source's columns."""
    return {column.field: natural[column.name].iloc[0] for column in domain.columns if column.name in natural}


def _listed(column: Column) -> bool:
    return isinstance(column, Categorical) and not isinstance(column, Cyclic)


def _frame(domain: Domain, rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(domain.fields))
    if domain.unit.column is not None:
        frame[domain.unit.column] = [f"person {place // max(domain.unit.records, 1)}" for place in range(len(frame))]
    return frame


def _with(domain: Domain, others: pd.DataFrame, person: list[dict[str, Any]], *, last: bool = True) -> pd.DataFrame:
    """The others and a person's rows, after all of them or before."""
    theirs = pd.DataFrame(person, columns=list(domain.fields))
    if domain.unit.column is not None:
        theirs[domain.unit.column] = "somebody"
    if not len(theirs):
        return others.reset_index(drop=True)
    parts = [others, theirs] if last else [theirs, others]
    parts = [part.astype(object) for part in parts if len(part)]
    whole = pd.concat(parts, ignore_index=True)
    return whole.infer_objects()
