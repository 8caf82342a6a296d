"""Filling the rows from what is known in public: a codebook, a declaration, or common knowledge of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ...domain.codebooks import codebook_in, read_codebook
from ...domain.column_entries import PRESETS, preset_for, tidy_name
from ...domain.drafts import drafted
from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import count, listed
from ...sources import ColumnInfo
from ..frame.marks import note
from ..frame.session import Records
from ..own_data.picking_records import is_own_file
from .column_form import fill_entry, used_key
from .declaration_draft import ColumnDraft, Declaration

NEWS, TROUBLE = "codebook-news", "codebook-trouble"
MOST_SHOWN = 6
TYPES = ["csv", "tsv", "txt", "md", "yaml", "yml", "json", "sav", "zsav", "por", "dta"]
HOW = """
A line for each column, with headings such as `name, type, min, max, values, missing, unit`:

    name,type,min,max,values,missing
    age,integer,0,110,,-1
    sex,category,,,1=female; 2=male,9
    joined,date,2015-01-01,2024-12-31,,

Also YAML, a declaration that was saved here, CSV on the Web, Frictionless schemas, and the labels in files of SPSS and
Stata.
"""


def offer_codebook(records: Records) -> None:
    """Let the owner fill all rows at once from a codebook, or a declaration that was saved before."""
    number = records.number
    with st.expander("Fill the rows from a codebook", type="compact", key=f"codebook-{number}"):
        note(
            "A codebook says what anyone could have in each column, and declares a hundred of them at once. Use one "
            "that was written for the data, never one that a program made of it: its smallest and largest values are "
            "people's."
        )
        key = f"codebook-file-{number}"
        st.file_uploader("A codebook or declaration", type=TYPES, key=key, on_change=_uploaded, args=(records, key))
        pasted = f"codebook-text-{number}"
        st.text_area("Or paste a data dictionary", key=pasted, height=110, persist_state="session", help=HOW)
        st.button("Fill the rows", key="codebook-fill", on_click=_pasted, args=(records, pasted))
    if trouble := st.session_state.pop(TROUBLE, None):
        st.error(in_markdown(trouble))
    if news := st.session_state.pop(NEWS, None):
        st.success(in_markdown(news))


def offer_common_knowledge(records: Records, declared: Declaration) -> None:
    """Offer to fill empty bounds of used columns whose names say what they are."""
    known = {
        draft.name: preset
        for draft in declared.columns
        if isinstance(draft, ColumnDraft) and not (draft.categorical or draft.vector)
        if draft.low is None and draft.high is None and (preset := preset_for(draft.name))
    }
    if not known:
        return
    said = [_bounds_of(name, preset) for name, preset in known.items()]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        note(f"By common knowledge: {in_markdown(listed(said, MOST_SHOWN))}.")
        st.button("Fill these in", key="presets-fill", on_click=_fill_presets, args=(records, known))


def _bounds_of(name: str, preset: str) -> str:
    facts = PRESETS[preset]
    return f"{name} {facts.low:,g} to {facts.high:,g} {facts.unit}".rstrip() + f", as {facts.because}"


def _fill_presets(records: Records, known: Mapping[str, str]) -> None:
    for place, column in enumerate(records.source.columns):
        if column.name in known and st.session_state.get(used_key(records.number, place)):
            facts = PRESETS[known[column.name]].facts
            for part, value in facts.items():
                st.session_state[f"{part}-{records.number}-{place}"] = value if part == "unit" else float(str(value))


def _uploaded(records: Records, key: str) -> None:
    dropped = st.session_state.get(key)
    if dropped is None:
        return
    if is_own_file(dropped.getvalue()):
        st.session_state[TROUBLE] = "That is your own file, whose values are people's; nothing was read from it."
        return
    _fill(records, lambda: codebook_in(dropped.name, dropped.getvalue()))


def _pasted(records: Records, key: str) -> None:
    _fill(records, lambda: read_codebook(st.session_state.get(key) or ""))


def _fill(records: Records, read: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
    """Fill the rows of all columns that a codebook describes; a callback runs before the page is drawn."""
    try:
        filled, unfinished, lost = fill_rows(records.source.columns, records.number, read())
    except RequestError as error:
        st.session_state[TROUBLE] = str(error)
        return
    if not filled and not unfinished:
        st.session_state[TROUBLE] = "The codebook names no column of this data; names must be the same."
        return
    rest = f" Still to be said: {listed(unfinished, MOST_SHOWN)}." if unfinished else ""
    gone = f" Missing, and no categories: {listed(lost, MOST_SHOWN)}." if lost else ""
    st.session_state[NEWS] = f"{count(len(filled), 'column')} filled in from the codebook.{gone}{rest}"


def fill_rows(
    columns: Sequence[ColumnInfo], number: int, book: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], list[str], list[str]]:
    """Fill the rows that a codebook describes.

    Parameters
    ----------
    book : Mapping[str, Mapping[str, Any]]
        What `core.domain.codebooks.read_codebook` found.

    Returns
    -------
    tuple[list[str], list[str], list[str]]
        Names of the columns that are filled, and of those that the codebook names but does not say enough of; and the
        values that it lists and says are missing, with their columns.
    """
    places = {column.name: (place, column) for place, column in enumerate(columns)}
    filled: list[str] = []
    entries: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for name, facts in book.items():
        if facts.get("kind") == "position" and {facts.get("latitude"), facts.get("longitude")} <= set(places):
            filled += _fill_place(number, places, facts)
        elif facts.get("of") in places:
            entries.setdefault(str(facts["of"]), []).append((name, facts))
    said = {tidy_name(name) for name, facts in book.items() if "of" not in facts}
    named = [column for column in columns if column.name not in filled and tidy_name(column.name) in said]
    unfinished: list[str] = []
    lost: list[str] = []
    for entry in drafted([(column.name, column.kind) for column in named], book):
        lost += [f"{word} of {entry.name}" for word in entry.missing]
        if entry.unknown:
            unfinished.append(entry.name)
        elif entry.facts["kind"] == "position":
            filled += _fill_place(number, places, entry.facts)
        else:
            entries.setdefault(entry.name, []).insert(0, (entry.name, entry.facts))
    for name, found in entries.items():
        fill_entry(number, *places[name], found)
        filled.append(name)
    return filled, unfinished, lost


def _fill_place(number: int, places: Mapping[str, tuple[int, ColumnInfo]], facts: Mapping[str, Any]) -> list[str]:
    """Fill the rows of a latitude and a longitude."""
    for axis, ends in (("latitude", ("south", "north")), ("longitude", ("west", "east"))):
        place, _ = places[facts[axis]]
        st.session_state[used_key(number, place)] = True
        st.session_state[f"as-{number}-{place}"] = axis
        for part, end in zip(("low", "high"), ends, strict=True):
            if end in facts:
                st.session_state[f"{part}-{number}-{place}"] = float(facts[end])
    return [facts["latitude"], facts["longitude"]]
