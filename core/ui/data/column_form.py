"""One row a column of the data: use it or not, what it is read as, what anyone could have in it, what means missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ...domain import Categorical, Column, Vector
from ...domain.column_entries import PRESETS, kind_for, preset_for
from ...formatting.escapes import in_markdown
from ...sources import ColumnInfo
from ...sources.samples import Sample
from ..frame.marks import draw, note
from .declaration_draft import YES_AND_NO, ColumnDraft, EntryDraft, texts_in
from .set_commands import LISTS

FEW, MANY = 2, 100  # Between so many columns, all can be used with one click.
AT_ONCE = 24  # Rows shown at once; of wider data, the used columns and those that match a search.
UNUSABLE = ("other",)
NUMBER, WHOLE, CATEGORY, ORDERED, DATE, YES_NO = "number", "whole number", "category", "ordered", "date", "yes or no"
CIRCLES = {"hour of day": "hour", "weekday": "weekday", "month": "month", "day of the year": "day_of_year"}
LATITUDE, LONGITUDE = "latitude", "longitude"
LENGTH, WORDS, DECLARED = "length of text", "chosen words", "from file"
# What bounds a vector: the same bounds for each of its numbers, or how long it may be.
BY_NUMBER, BY_LENGTH = "by number", "by length"
# What columns may be read as, by what they seem to be; the first is offered.
READ_AS = {
    "number": (NUMBER, WHOLE, CATEGORY, ORDERED, YES_NO, LATITUDE, LONGITUDE, DATE),
    "text": (CATEGORY, ORDERED, NUMBER, WHOLE, DATE, *CIRCLES, YES_NO, LENGTH, WORDS),
    "date": (DATE, *CIRCLES),
}
# How dates may be written in texts and numbers.
FORMATS = {
    "2024-12-31": "",
    "31.12.2024": "%d.%m.%Y",
    "31/12/2024": "%d/%m/%Y",
    "12/31/2024": "%m/%d/%Y",
    "31 Dec 2024": "%d %b %Y",
    "20241231": "%Y%m%d",
    "seconds since 1970": "unix",
    "31.12.2024 or 2024-12-31": "%d.%m.%Y|%Y-%m-%d",
    "31/12/2024 or 2024-12-31": "%d/%m/%Y|%Y-%m-%d",
    "12/31/2024 or 2024-12-31": "%m/%d/%Y|%Y-%m-%d",
}
UNUSED = {
    "number": NUMBER,
    "text": "text",
    "boolean": YES_NO,
    "date": DATE,
    "vector": "vectors",
    "other": "neither numbers nor text",
}
GAP, GAPS = "fg-gap", "fg-gaps"  # Classes of what stands for the last field of a row, or the last two.
HEADS = ("Use it?", "Read as", "Smallest", "Largest", "Unit", "Means missing")


def column_rows(
    columns: Sequence[ColumnInfo], number: int, known: Sample | None
) -> tuple[ColumnDraft | EntryDraft, ...]:
    """Draw the rows and return what was typed about the columns that are used, in the order of the data.

    Parameters
    ----------
    number : int
        Number of the pick, part of every key.
    known : Sample | None
        A sample, whose public facts are started from; None leaves everything empty.
    """
    if known is not None:
        _start(columns, number, known)
    _offer_all(columns, number)
    shown = _shown(columns, number)
    with st.container(key=f"fg-table-{number}"):
        # Screen readers and narrow screens get a label at every field instead (see the style sheet).
        draw('<div class="fg-heads" aria-hidden="true">' + "".join(f"<span>{head}</span>" for head in HEADS) + "</div>")
        with st.container(key=f"fg-rows-{number}", gap=None):
            return tuple(draft for place, column in shown if (draft := _row(place, column, number)))


def usual_kind(column: ColumnInfo) -> str:
    """What a column is read as at first, by its type and its name; both are seen without a look at a value."""
    usual, offered = kind_for(column.name), READ_AS[column.kind]
    if usual == NUMBER and PRESETS[str(preset_for(column.name))].step == 1.0:
        usual = WHOLE
    return usual if usual in offered else offered[0]


def _offer_all(columns: Sequence[ColumnInfo], number: int) -> None:
    """Use every column that can be, with one click."""
    places = [place for place, column in enumerate(columns) if column.kind not in UNUSABLE]
    unused = [place for place in places if not st.session_state.get(used_key(number, place))]
    if FEW < len(unused) and len(places) <= MANY:
        st.button(
            f"Use all {len(places)} columns",
            key=f"use-all-{number}",
            on_click=_use,
            args=(unused, number),
            type="tertiary",
        )


def _use(places: Sequence[int], number: int) -> None:
    for place in places:
        st.session_state[used_key(number, place)] = True


def used_key(number: int, place: int) -> str:
    """Key of the box that says whether a column is used."""
    return f"use-{number}-{place}"


def declared_key(number: int, place: int) -> str:
    """Session state: names and entries of a declaration that a row stands for, which its fields cannot say."""
    return f"declared-{number}-{place}"


def fill_entry(number: int, place: int, column: ColumnInfo, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Put entries of a declaration into the row of the column that they come from, over what was typed; in a callback.

    What the fields of a row can say is put there, to be changed; what they cannot is kept as it is.
    """
    (_, entry), *further = entries
    values = None if further else _as_typed(column, entry)
    st.session_state[used_key(number, place)] = True
    if values is None:
        st.session_state[declared_key(number, place)] = tuple(entries)
        values = {"as": DECLARED}
    for part, value in values.items():
        st.session_state[f"{part}-{number}-{place}"] = value


def _as_typed(column: ColumnInfo, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the fields of a row would hold for an entry, or None where they cannot say it all."""
    facts = dict(entry)
    kind = facts.pop("kind")
    kinds = {"number": NUMBER, "category": CATEGORY, "ordered": ORDERED, "date": DATE, "yes_no": YES_NO}
    kinds |= {"text_length": LENGTH, "words": WORDS}
    if kind not in kinds or kinds[kind] not in READ_AS.get(column.kind, ()):
        return None
    if "preset" in facts:
        facts = PRESETS[str(facts.pop("preset"))].facts | facts
    values: dict[str, Any] = {"as": kinds[kind]}
    missing = facts.pop("missing", ())
    values["missing"] = missing if isinstance(missing, str) else ", ".join(map(str, missing))
    for part in ("low", "high", "longest", *(["step"] if kind == "number" else [])):
        if part in facts:
            values[part] = float(facts.pop(part))
    if kind == "number" and values.get("step") == 1.0:
        values["as"] = WHOLE
    if "longest" in values:
        values["longest"] = int(values["longest"])
    for part in ("first", "last", "unit"):
        if part in facts:
            values[part] = str(facts.pop(part))
    if isinstance(facts.get("values"), (list, tuple)) and not any("," in str(value) for value in facts["values"]):
        values["categories"] = ", ".join(map(str, facts.pop("values")))
    if kind == "date" and facts.get("step", "day") == "day":
        facts.pop("step", None)
    written = next((label for label, form in FORMATS.items() if form == facts.get("format")), "")
    if kind == "date" and column.kind == "text" and written:
        values["format"] = written
        del facts["format"]
    return None if facts else values


def fill_row(number: int, place: int, fact: Column, longest: float | None = None) -> None:
    """Put public facts about a column where its row is still empty; before the row is drawn, or in a callback.

    ``longest`` is what no vector of a column of vectors is longer than, where that is known.
    """
    if isinstance(fact, Categorical):
        values = {"as": CATEGORY, "categories": ", ".join(fact.categories)}
    elif longest is not None:
        values = {"as": BY_LENGTH, "longest": longest}
    else:
        values = {"low": fact.low, "high": fact.high, "unit": fact.unit}
    if isinstance(fact, Vector):
        values = values | {"unit": fact.length}
    for part, value in values.items():
        key = f"{part}-{number}-{place}"
        if st.session_state.get(key) in (None, ""):
            st.session_state[key] = value


def _start(columns: Sequence[ColumnInfo], number: int, known: Sample) -> None:
    """Start from what is publicly known about a sample; what is typed afterwards stays.

    The column that says the group is described and not used: who asks about groups finds it on the Release page.
    """
    facts = {column.name: column for column in known.domain.columns}
    described = facts if known.label is None else facts | {known.label.name: known.label}
    for place, column in enumerate(columns):
        if used_key(number, place) not in st.session_state:
            st.session_state[used_key(number, place)] = column.name in facts
            if column.name in described:
                fill_row(number, place, described[column.name], known.longest.get(column.name))


def _shown(columns: Sequence[ColumnInfo], number: int) -> list[tuple[int, ColumnInfo]]:
    rows = list(enumerate(columns))
    if len(rows) <= AT_ONCE:
        return rows
    words = st.text_input(
        f"Find among {len(rows):,} columns", key=f"find-{number}", persist_state="session", live="200ms"
    ).lower()
    used = [row for row in rows if st.session_state.get(used_key(number, row[0]))]
    found = [row for row in rows if words in row[1].name.lower() and row not in used]
    if len(found) > AT_ONCE:
        note(f"{len(found) - AT_ONCE:,} more columns are not shown; type part of a name to find them.")
    return sorted(used + found[:AT_ONCE])


def _row(place: int, column: ColumnInfo, number: int) -> ColumnDraft | EntryDraft | None:
    def key(part: str) -> dict[str, str]:
        return {"key": f"{part}-{number}-{place}", "persist_state": "session"}

    name = in_markdown(column.name)
    row = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"fg-row-{number}-{place}")
    with row:
        used = st.checkbox(name, disabled=column.kind in UNUSABLE, width="stretch", **key("use"))
        if not used or column.kind in UNUSABLE:
            words = LISTS if column.lists and column.kind == "other" else UNUSED[column.kind]
            draw(f'<p class="fg-note fg-rest">{words}</p>')
            return None
        if column.kind == "vector":
            return _vector(column, name, key)
        if column.kind == "boolean":
            draw(f'<p class="fg-note fg-rest">{YES_NO}</p>')
            return ColumnDraft(column.name, categorical=True, categories=", ".join(YES_AND_NO))
        declared = st.session_state.get(declared_key(number, place), ())
        choices = (*READ_AS[column.kind], *([DECLARED] if declared else []))
        st.session_state.setdefault(key("as")["key"], usual_kind(column))
        kind = st.selectbox(f"Read {name} as", choices, **key("as"))
        if kind == DECLARED:
            draw('<p class="fg-note fg-said">as the codebook or declaration says</p>')
            (own, entry), *further = declared
            return EntryDraft(own, entry, further=tuple(further))
        return _typed(column, name, kind, key)


def _typed(column: ColumnInfo, name: str, kind: str, key: Callable[[str], dict]) -> ColumnDraft | EntryDraft:
    """The fields of a row that is read as some kind, and what is typed in them."""
    text = column.kind == "text"
    if kind in (CATEGORY, ORDERED):
        typed = _categories(column, key("categories"), kind == ORDERED)
        draft = {"categories": typed, "words": _missing_words(name, key), "ordered": kind == ORDERED}
        return ColumnDraft(column.name, categorical=True, **draft)
    if kind in (NUMBER, WHOLE):
        low, high = _bounds(name, key)
        unit = st.text_input(f"Unit of {name}", max_chars=40, placeholder="unit", **key("unit")).strip()
        words = _missing_words(name, key)
        step = 1.0 if kind == WHOLE else st.session_state.get(key("step")["key"], 0.0)
        return ColumnDraft(column.name, low=low, high=high, unit=unit, words=words, written=text, step=step)
    if kind == DATE:
        first, last = (
            st.text_input(f"{word} {name}", placeholder=shown, max_chars=20, **key(end)).strip()
            for end, word, shown in (("first", "First", "2015-01-01"), ("last", "Last", "2024-12-31"))
        )
        entry = {"kind": "date", "first": first, "last": last} | _format(column, name, key)
        needs = {"first": "the first day", "last": "the last day"}
        if text:
            entry["missing"] = texts_in(_missing_words(name, key))
        else:
            _leave_empty(GAPS if column.kind == "date" else GAP)
        return EntryDraft(column.name, entry, needs)
    if kind in CIRCLES:
        draw(f'<p class="fg-note {"fg-ends" if text else "fg-said"}">around a circle, the last next to the first</p>')
        entry = {"kind": "cyclic", "part": CIRCLES[kind]} | _format(column, name, key)
        if text:
            _leave_empty(GAP)
        return EntryDraft(column.name, entry)
    if kind in (LATITUDE, LONGITUDE):
        ends = ("southernmost", "northernmost") if kind == LATITUDE else ("westernmost", "easternmost")
        low, high = _bounds(name, key, ends)
        draw('<p class="fg-note fg-many">degrees</p>')
        _leave_empty(GAP)
        return EntryDraft(column.name, {"kind": kind, "low": low, "high": high}, {"low": ends[0], "high": ends[1]})
    if kind == LENGTH:
        draw('<p class="fg-note fg-bound" aria-hidden="true">as long as</p>')
        longest = st.number_input(f"Longest {name}", 1, None, None, placeholder="such as 500", **key("longest"))
        draw('<p class="fg-note fg-many">letters</p>')
        _leave_empty(GAP)
        return EntryDraft(column.name, {"kind": "text_length", "longest": longest}, {"longest": "the greatest length"})
    if kind == WORDS:
        typed = st.text_area(
            f"Words to look for in {name}", placeholder="words to look for, by commas", height=72, **key("categories")
        )
        _leave_empty(GAP)
        entry = {"kind": "words", "values": texts_in(typed)}
        return EntryDraft(column.name, entry, {"values": "words to look for"})
    draw('<p class="fg-note fg-half">also true and false, 1 and 0, y and n</p>')
    return EntryDraft(column.name, {"kind": "yes_no", "missing": texts_in(_missing_words(name, key))})


def _leave_empty(places: str) -> None:
    """Keep what a row has in line with the headings, where one of its last places has no field."""
    draw(f'<p class="{places}" aria-hidden="true"></p>')


def _format(column: ColumnInfo, name: str, key: Callable[[str], dict]) -> dict[str, object]:
    """How dates are written, where they are no dates by their type."""
    if column.kind == "date":
        return {}
    written = st.selectbox(f"How dates of {name} are written", list(FORMATS), **key("format"))
    return {"format": FORMATS[written]}


def _missing_words(name: str, key: Callable[[str], dict]) -> str:
    return st.text_input(
        f"Means missing in {name}",
        max_chars=200,
        placeholder="n/a, -999",
        help="Words or numbers, separated by commas, that stand where there is no value. What cannot be read counts as "
        "missing too.",
        **key("missing"),
    )


def _bounds(
    name: str, key: Callable[[str], dict], ends: Sequence[str] = ("smallest", "largest")
) -> tuple[float | None, float | None]:
    """The fields for the smallest and the largest number."""
    low, high = (
        st.number_input(f"{end.capitalize()} {name}", value=None, format="%.12g", placeholder=end, **key(part))
        for end, part in zip(ends, ("low", "high"), strict=True)
    )
    return low, high


def _vector(column: ColumnInfo, name: str, key: Callable[[str], dict]) -> ColumnDraft:
    """A column of vectors: what bounds them, number by number or by their length, and how many numbers each holds."""
    how = st.selectbox(f"What is known of {name}", [BY_NUMBER, BY_LENGTH], **key("as"))
    if how == BY_LENGTH:
        draw('<p class="fg-note fg-bound" aria-hidden="true">no longer than</p>')
        known = {
            "by_length": True,
            "longest": st.number_input(
                f"No vector of {name} is longer than",
                0.0,
                1e9,
                None,
                format="%.12g",
                placeholder="such as 1",
                help="The length of a vector is the root of the sum of its squared numbers. Embeddings are often "
                "scaled to "
                "length 1: then type 1. A longer one is shortened to this.",
                **key("longest"),
            ),
        }
    else:
        known = dict(zip(("low", "high"), _bounds(name, key), strict=True))
    if column.length is not None:
        draw(f'<p class="fg-note fg-many">{column.length:,} numbers</p>')
        _leave_empty(GAP)
        return ColumnDraft(column.name, vector=True, length=column.length, **known)
    many = st.number_input(f"How many numbers {name} holds", 1, None, None, placeholder="how many", **key("unit"))
    _leave_empty(GAP)
    return ColumnDraft(column.name, vector=True, length=many, **known)


def _categories(column: ColumnInfo, key: dict[str, str], ordered: bool = False) -> str:
    return st.text_area(
        f"Categories of {in_markdown(column.name)}",
        placeholder="in ascending order, by commas" if ordered else "every value anyone could have, by commas",
        height=72,
        **key,
    )
