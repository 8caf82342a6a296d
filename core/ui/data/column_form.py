"""One row a column of the data: use it or not, what anyone could have in it, its unit of measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ...domain import Categorical, Column, Vector
from ...sources import ColumnInfo
from ...sources.samples import Sample
from ...words.escapes import in_markdown
from ..frame.marks import note
from ..frame.markup import draw
from .declaration import YES_AND_NO, ColumnDraft
from .set_commands import LISTS

AT_ONCE = 24
"""Rows shown at once; of wider data, the used columns and those that match a search."""
UNUSABLE = {
    "date": "dates need to be numbers first, such as days since a fixed date",
    "other": "neither numbers nor text",
}
NUMBER, CATEGORY = "number", "category"
BY_NUMBER, BY_LENGTH = "by number", "by length"
"""What bounds a vector: the same bounds for each of its numbers, or how long it may be."""
IN_WORDS = {"text": CATEGORY, "boolean": "yes or no"}
UNUSED = {"number": NUMBER, **IN_WORDS, "text": "text", "vector": "vectors", **UNUSABLE}


def column_rows(columns: Sequence[ColumnInfo], number: int, known: Sample | None) -> tuple[ColumnDraft, ...]:
    """Draw the rows and return what was typed about the columns that are used, in the order of the data.

    Parameters
    ----------
    columns : Sequence[ColumnInfo]
        Names and kinds, all that is shown of the data.
    number : int
        Number of the pick, part of every key.
    known : Sample | None
        A sample, whose public facts are started from; None leaves everything empty.
    """
    if known is not None:
        _start(columns, number, known)
    shown = _shown(columns, number)
    with st.container(key=f"fg-table-{number}"):
        # Screen readers and narrow screens get a label at every field instead (see the style sheet).
        heads = ("Use it?", "It is a", "Smallest", "Largest", "Unit")
        draw('<div class="fg-heads" aria-hidden="true">' + "".join(f"<span>{head}</span>" for head in heads) + "</div>")
        with st.container(key=f"fg-rows-{number}", gap=None):
            return tuple(draft for place, column in shown if (draft := _row(place, column, number)))


def used_key(number: int, place: int) -> str:
    """Key of the box that says whether a column is used."""
    return f"use-{number}-{place}"


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


def _row(place: int, column: ColumnInfo, number: int) -> ColumnDraft | None:
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
        if column.kind == "number":
            categorical = st.selectbox(f"What {name} is", [NUMBER, CATEGORY], **key("as")) == CATEGORY
        else:
            place_of = "fg-rest" if column.kind == "boolean" else "fg-kind"
            draw(f'<p class="fg-note {place_of}">{IN_WORDS[column.kind]}</p>')
            categorical = True
        if categorical:
            return ColumnDraft(column.name, categorical=True, categories=_categories(column, key("categories")))
        low, high = _bounds(name, key)
        unit = st.text_input(f"Unit of {name}", max_chars=40, placeholder="unit", **key("unit")).strip()
        return ColumnDraft(column.name, low=low, high=high, unit=unit)


def _bounds(name: str, key: Callable[[str], dict]) -> tuple[float | None, float | None]:
    """The fields for the smallest and the largest number."""
    return (
        st.number_input(f"Smallest {name}", value=None, format="%.12g", placeholder="smallest", **key("low")),
        st.number_input(f"Largest {name}", value=None, format="%.12g", placeholder="largest", **key("high")),
    )


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
        return ColumnDraft(column.name, vector=True, length=column.length, **known)
    many = st.number_input(f"How many numbers {name} holds", 1, None, None, placeholder="how many", **key("unit"))
    return ColumnDraft(column.name, vector=True, length=many, **known)


def _categories(column: ColumnInfo, key: dict[str, str]) -> str:
    if column.kind == "boolean":
        return ", ".join(YES_AND_NO)
    return st.text_area(
        f"Categories of {in_markdown(column.name)}",
        placeholder="every value anyone could have, separated by commas",
        height=72,
        **key,
    )
