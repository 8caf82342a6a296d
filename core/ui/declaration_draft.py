"""What an owner has said about a data set so far: what is missing from it, what it makes public, and its domain.

Nothing here sees a value of the data. The Data page makes a `Declaration` of its fields on every run.

What an owner decided is kept beside the ledger, so that whoever loads the page again begins where they were. Only what
was typed and chosen is kept, which is public with the first release anyway, and what was found with noise, with its
price; never the records, which have to be picked again. It is known by the names of the columns, so that next month's
file of the same columns begins with it, too. Of strangers, and where others are served, nothing is kept.
"""

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st

from ..domain import Categorical, Column, Domain, Numeric, PrivacyUnit, Reading, Vector
from ..domain.column_entries import columns_of
from ..domain.declarations import Declaration as DeclaredTable
from ..domain.declarations import with_missing_category
from ..errors import RequestError
from ..figures.meaning import column_values
from ..formatting.numbers import count, number
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.ledger_records import named_after
from ..privacy.ledger.ledger_store import default_place
from ..releases.found import paid_text
from ..releases.payment import Purchase
from ..sources import ColumnInfo
from .frame.marks import note
from .frame.session import Records, Session
from .frame.visiting import stranger, visitor_now
from .own_data.paying import VARIABLE

# What an entry must say, by its kind and key, in the words of a request.
NEEDS: dict[str, dict[str, str]] = {
    "number": {"low": "the smallest value", "high": "the largest value"},
    "category": {"values": "the categories"},
    "ordered": {"values": "the categories in their order"},
    "date": {"first": "the first day", "last": "the last day"},
    "latitude": {"low": "the southernmost degree", "high": "the northernmost degree"},
    "longitude": {"low": "the westernmost degree", "high": "the easternmost degree"},
    "text_length": {"longest": "the greatest length"},
    "words": {"values": "words to look for"},
    "vector": {"length": "the length of each vector", "low": "the smallest number", "high": "the largest number"},
}
FINDABLE = ("number", "category", "date")
"""Kinds of which the rest can be found out where it is not said."""
TO_FIND = "to be found out"
HALF_PLACE = "a latitude for every longitude, and a longitude for every latitude"


@dataclass(frozen=True)
class ColumnDraft:
    """What was said about one column that is to be used."""

    name: str  # Of the column in the data.
    # As a declaration file has it (`core.domain.declarations`), without what is still empty; nothing where all of it is
    # to be found out.
    entry: Mapping[str, Any] = field(default_factory=dict)
    # Name and entry of other columns that come from the same one of the data.
    further: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    longest: float | None = None  # What no vector is longer than, where vectors are bounded by that.
    written: bool = True  # Whether its values are texts, of which numbers are read.
    trouble: str = ""  # What is wrong with what was typed, in a few words, where no entry can say it.

    @property
    def kind(self) -> str:
        """The kind of column; "" where that is to be found out."""
        return str(self.entry.get("kind", ""))

    @property
    def absent(self) -> list[str]:
        """What the entry does not say yet, in words."""
        return [words for key, words in NEEDS.get(self.kind, {}).items() if self.entry.get(key) in (None, "", [], ())]

    @property
    def to_find(self) -> bool:
        """Whether something about it is to be found out with a share of ε."""
        return not self.trouble and (not self.kind or (self.kind in FINDABLE and bool(self.absent)))

    @property
    def missing(self) -> str | None:
        """What is missing or wrong, in a few words, or None."""
        if self.trouble:
            return self.trouble
        if self.to_find:
            return None
        if self.longest is not None and not self.longest:
            return f"what no vector of {self.name} is longer than"
        if self.absent:
            return f"{' and '.join(self.absent)} of {self.name}"
        try:
            self.columns()
        except RequestError as error:
            return str(error).removesuffix(".")
        return None

    def columns(self) -> tuple[Column, ...]:
        """The columns of a domain; none of half a place, which `Declaration` puts together."""
        if self.kind in ("latitude", "longitude"):
            return ()
        every = ((self.name, self.entry), *self.further)
        return tuple(self._plain(column) for name, facts in every for column in columns_of(name, facts))

    def _plain(self, column: Column) -> Column:
        """Numbers that are numbers already are read as they are."""
        if isinstance(column, Numeric) and not self.written and column.reading == Reading():
            return replace(column, reading=None)
        return column

    @property
    def in_words(self) -> str:
        """What is public about it, in the words of a line."""
        if self.missing:
            return f"still missing: {self.missing}" if self.absent or self.trouble else self.missing
        if not self.kind:
            return TO_FIND
        if self.to_find:
            said = self.entry.get("unit", "")
            return f"{'categories' if self.kind == 'category' else 'bounds'} {TO_FIND}{f', in {said}' if said else ''}"
        if self.kind in ("latitude", "longitude"):
            return f"between {number(self.entry['low'])}° and {number(self.entry['high'])}°, compared in km"
        if self.longest:
            return f"{self.entry['length']} numbers, together a vector no longer than {number(self.longest)}"
        return "; ".join(column_values(column) for column in self.columns())


def texts_in(typed: str | None) -> tuple[str, ...]:
    """The texts of a list that was typed with commas or line breaks, without blanks and repetitions, in their order.

    A text with a comma in it stands in quotes.
    """
    rows = csv.reader((typed or "").splitlines(), skipinitialspace=True)
    texts = (text.strip() for row in rows for text in row)
    return tuple(dict.fromkeys(text for text in texts if text))


def as_typed(texts: object) -> str:
    """A list of texts as `texts_in` reads it."""
    if not isinstance(texts, (list, tuple)):
        return str(texts)
    return ", ".join(f'"{text}"' if "," in str(text) else str(text) for text in texts)


@dataclass(frozen=True)
class Declaration:
    """Everything said about a data set so far; the fields after ``columns`` are those of a `Domain`.

    ``sample`` is the domain that a bundled sample comes with: how its columns are compared was chosen together with
    its kernel, and holds whatever else is typed.
    """

    columns: tuple[ColumnDraft, ...]
    outside: str = "clamp"
    missing: str = "category"
    unit_column: str | None = None
    unit_records: int | None = None
    each_row: bool = True
    sample: Domain | None = None
    record: str = ""

    def still_missing(self) -> list[str]:
        """What must be typed before there is a domain, in a few words each; nothing of what can be found out."""
        if not self.columns:
            return ["a column to use"]
        words = []
        if not self.each_row and self.unit_column is None:
            words.append("the column that says who the person is")
        if not self.each_row and self.unit_records is None:
            words.append("how many rows one person may have")
        words += [missing for column in self.columns if (missing := column.missing)]
        if len(self._halves("latitude")) != len(self._halves("longitude")):
            words.append(HALF_PLACE)
        return words

    @property
    def to_find(self) -> tuple[ColumnDraft, ...]:
        """The columns of which something is to be found out."""
        return tuple(column for column in self.columns if column.to_find)

    @property
    def scale(self) -> str:
        """ "none" when the numbers can be compared as they are, else "box": each is divided by its public range.

        They can be when they share their bounds, or a unit of measure; a metre beside a year or a city cannot.
        """
        if self.sample is not None:
            return self.sample.scale
        columns = self._columns()
        measured = [column for column in columns if not isinstance(column, Categorical)]
        if measured and len(measured) < len(columns) and not all(isinstance(column, Vector) for column in measured):
            return "box"
        same_bounds = len({_range(column) for column in measured}) <= 1
        units = {getattr(column, "measure", column.unit) for column in measured}
        return "none" if same_bounds or (len(units) == 1 and units != {""}) else "box"

    def domain(self) -> Domain:
        """The domain as declared.

        RequestError when something is missing or contradicts itself; the sentence names it.
        """
        if unknown := self.to_find:
            raise RequestError(f"{count(len(unknown), 'column')} must be found out first, such as {unknown[0].name!r}.")
        columns = self._columns()
        if own_category := self.missing == "category":
            columns = with_missing_category(columns)
        distance = 1.0 if self.sample is None else self.sample.category_distance
        missing = "drop" if own_category else self.missing
        return Domain(columns, self.outside, missing, self.unit, self.scale, distance, self.record)

    def _columns(self) -> tuple[Column, ...]:
        return (*(column for draft in self.columns for column in draft.columns()), *self._places())

    def _halves(self, axis: str) -> list[ColumnDraft]:
        """The latitudes or the longitudes, which belong together in their order."""
        return [draft for draft in self.columns if draft.kind == axis]

    def _places(self) -> tuple[Column, ...]:
        latitudes, longitudes = self._halves("latitude"), self._halves("longitude")
        if len(latitudes) != len(longitudes):
            raise RequestError(f"There must be {HALF_PLACE}.")
        found: list[Column] = []
        for north, east in zip(latitudes, longitudes, strict=True):
            facts = {"kind": "position", "latitude": north.name, "longitude": east.name}
            facts |= {"south": north.entry.get("low", ""), "north": north.entry.get("high", "")}
            facts |= {"west": east.entry.get("low", ""), "east": east.entry.get("high", "")}
            facts |= {"format": form} if (form := north.entry.get("format")) else {}
            found += columns_of(f"{north.name}, {east.name}", facts)
        return tuple(found)

    def file(self, paid: Iterable[tuple[Cost, Budget]]) -> str:
        """The declaration as a file that command line and Python read; RequestError while something is missing."""
        return DeclaredTable(self.domain(), says_missing=True, paid=paid_text(paid)).text()

    @property
    def longest(self) -> dict[str, float]:
        """What no vector of a column is longer than, by the column's name, where it was said."""
        return {column.name: column.longest for column in self.columns if column.longest}

    @property
    def unit(self) -> PrivacyUnit:
        """Who is protected; RequestError while it is not said completely."""
        return PrivacyUnit() if self.each_row else PrivacyUnit(self.unit_column, self.unit_records or 0)

    def becomes_public(self) -> list[tuple[str, str]]:
        """What a release will carry beside what the table says of each column, as pairs of a name and what is said."""
        if not self.columns:
            return []
        lines = [
            (count(len(self.columns), "column"), "by name, with how they are read and what the table says of them")
        ]
        if self.record:
            lines.append(("What one row is", self.record))
        if self.each_row:
            lines.append(("Who is protected", "each row by itself"))
        elif self.unit_column is not None:
            rows = f", with at most {count(self.unit_records, 'row')} each" if self.unit_records else ""
            lines.append(("Who is protected", f"each person, named by {self.unit_column}{rows}"))
        moved = "moved to the nearest bound" if self.outside == "clamp" else "left out"
        left = {"drop": "left out", "category": "counted as a group of their own, where it can be"}.get(
            self.missing, "not accepted"
        )
        lines.append(("Rows that do not fit", f"values outside the bounds are {moved}; rows with gaps are {left}"))
        return lines


def _range(column: Column) -> tuple[object, ...]:
    """What tells whether columns have the same range: numbers by their bounds, all others from each other."""
    return (column.low, column.high) if isinstance(column, (Numeric, Vector)) else (column.name,)


PARTS = ("as", "low", "high", "unit", "step", "numbers", "missing", "categories", "others", "first", "last", "format")
PARTS += ("longest", "declared", "further", "found", "why")
WHOLE = ("data-who", "data-id", "data-rows", "data-record", "data-outside", "data-missing", "data-paid")
MOST_KEPT = 50  # Files; those that were not used for longest go.


def restore(visitor: Session, records: Records) -> None:
    """Begin with what was decided about the same columns before; once for every pick, before anything is drawn."""
    done = f"decisions-of-{records.number}"
    if records.sample is not None or (place := _place(records)) is None:
        return
    if not st.session_state.setdefault(done, False):
        st.session_state[done] = True
        _restore(visitor, records, place)
    if st.session_state.get(f"{done}-again"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            note("What was decided about these columns before is here again.")
            st.button(
                "Begin afresh", key="decisions-forget", on_click=_forget, args=(visitor, records), type="tertiary"
            )


def _restore(visitor: Session, records: Records, place: Path) -> None:
    try:
        kept = json.loads(place.read_text())
        state = {f"{part}-{records.number}": value for part, value in kept["table"].items() if part in WHOLE}
        places = {column.name: at for at, column in enumerate(records.columns)}
        for name, fields in kept["columns"].items():
            state |= {f"{part}-{records.number}-{places[name]}": fields[part] for part in PARTS if part in fields}
        every = {file: [Purchase.from_dict(one) for one in made] for file, made in _bought(kept, records).items()}
        bought = every.pop(_named(records.title), [])  # of next month's file nothing was bought yet
        found = {name for name, fields in kept["columns"].items() if fields.get("found")}
        found -= {name for one in bought for name in one.columns}
        others = [one for made in every.values() for one in made if not found.isdisjoint(one.columns)]
        state[f"data-shown-{records.number}"] = paid_text([(one.cost, one.whole) for one in others])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # there is none, or another program has written there
    for one in bought:
        asked = any(kept["columns"].get(name, {}).get("as") == TO_FIND for name in one.columns)
        visitor.purchases.restore(records.number, one, fresh=asked)  # as where a reload cut off the answer
    st.session_state.update(state)
    st.session_state[f"decisions-of-{records.number}-again"] = True


def keep(visitor: Session, records: Records) -> None:
    """Keep what is decided now, where it is not kept already."""
    if (write := keeper(visitor, records)) is not None:
        write()


def keeper(visitor: Session, records: Records) -> Callable[..., None] | None:
    """What keeps what is decided now, and purchases that it is handed; None where nothing is kept.

    It has no word with Streamlit, at which a run ends whose visitor has left: what was paid for is kept before that.
    """
    if records.sample is not None or (place := _place(records)) is None:
        return None
    decided, made = _decided(records.columns, records.number), visitor.purchases.made_of(records.number)

    def write(*more: Purchase) -> None:
        with suppress(OSError):
            before = place.read_text() if place.exists() else "{}"
            bought = {_named(records.title): [one.to_dict() for one in (*made, *more)]}
            with suppress(ValueError, TypeError, AttributeError):  # another program has written there
                bought = _bought(json.loads(before), records) | bought
            text = json.dumps(decided | {"bought": bought})
            if before != text:
                _written(place, text)

    return write


def _bought(kept: dict[str, Any], records: Records) -> dict[str, list[Any]]:
    """What was bought, by the file that it was bought of: each has its own, whichever was decided about last."""
    bought = kept.get("bought", {})
    if isinstance(bought, list):  # as an earlier version kept it, of one file
        return {_named(kept.get("of", records.title)): bought}
    return bought


def _named(title: str) -> str:
    """What tells files apart: a copy of one has its name."""
    return named_after(title) or title


def _written(place: Path, text: str) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = place.with_suffix(".new")
    with open(fresh, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text)
    fresh.replace(place)
    for old in sorted(place.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)[:-MOST_KEPT]:
        old.unlink()


def _decided(columns: Sequence[ColumnInfo], number: int) -> dict[str, Any]:
    """Everything that was decided, for JSON."""
    state = st.session_state
    fields = {
        column.name: {part: state[key] for part in PARTS if (key := f"{part}-{number}-{at}") in state}
        for at, column in enumerate(columns)
    }
    table = {part: state[key] for part in WHOLE if (key := f"{part}-{number}") in state}
    return {"table": table, "columns": fields}


def _forget(visitor: Session, records: Records) -> None:
    """Begin with nothing but what was paid for, as of a new pick: a browser goes on showing what its fields held."""
    visitor.records = replace(records, number=records.number + 1)
    visitor.purchases.carry(records.number, visitor.records.number)
    st.session_state[f"decisions-of-{visitor.records.number}"] = True  # nothing is to be restored


def _place(records: Records) -> Path | None:
    """Where decisions about these columns are kept; None where nothing is."""
    ledger = os.environ.get(VARIABLE) or default_place()
    if stranger() is not None or visitor_now() is not None or "://" in str(ledger):
        return None
    described = json.dumps([[column.name, column.kind] for column in records.columns])
    return Path(ledger).expanduser().parent / "decisions" / f"{sha256(described.encode()).hexdigest()[:32]}.json"
