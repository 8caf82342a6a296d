"""Filling the lines from what is known in public: a codebook, a declaration, or common knowledge of names."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from ..domain import Categorical, Column, Coordinate, Vector
from ..domain.codebooks import codebook_in, is_labelled, paid_in, read_codebook
from ..domain.column_entries import OTHER
from ..domain.columns import PRESETS, preset_for, tidy_name
from ..domain.drafts import drafted
from ..domain.written import DECIMALS
from ..errors import RequestError
from ..formatting.escapes import in_markdown
from ..formatting.numbers import bound, count, listed
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..releases.found import paid_pairs, paid_text
from ..sources import ColumnInfo, Upload, open_source
from ..sources.public_tables import Sample, public_facts
from ..sources.source_opening import FILE_TYPES
from .column_form import (
    BY_LENGTH,
    BY_NUMBER,
    CATEGORY,
    DATE_FORMATS,
    DECLARED,
    FIND,
    KINDS,
    LATITUDE,
    LEFT_OUT,
    NUMBER,
    NUMBER_FORMATS,
    READ_AS,
    WHOLE,
    field_key,
)
from .declaration_draft import Declaration, as_typed
from .frame.marks import note
from .frame.session import Records, session
from .own_data.picking_records import OWN_FILE, is_own_file

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
    """Let the owner fill all lines at once from a codebook, a declaration that was saved before, or a public table."""
    number = records.number
    help_wanted = st.expander(
        "Fill the lines from a codebook or a public table", type="compact", key=f"codebook-{number}", on_change="rerun"
    )
    if help_wanted.open:
        with help_wanted:
            note(
                "A codebook says what anyone could have in each column, of a hundred columns at once. Use one that was "
                "written for the data, never one that a program made of it: its smallest and largest values are "
                "people's."
            )
            key = f"codebook-file-{number}"
            st.file_uploader("A codebook or declaration", type=TYPES, key=key, on_change=_uploaded, args=(records, key))
            pasted = f"codebook-text-{number}"
            st.text_area("Or paste a data dictionary", key=pasted, height=110, persist_state="session", help=HOW)
            st.button("Fill the lines", key="codebook-fill", on_click=_pasted, args=(records, pasted))
            note(
                "Or is there a published table with the same columns, last year's perhaps? What it holds is public "
                "already, so its smallest and largest values may be. It fills what is empty."
            )
            key = f"public-file-{number}"
            st.file_uploader(
                "A public file", type=FILE_TYPES, key=key, on_change=_fill_from_public, args=(records, key)
            )
    if trouble := st.session_state.pop(TROUBLE, None):
        st.error(in_markdown(trouble))
    if news := st.session_state.pop(NEWS, None):
        st.success(in_markdown(news))


def offer_own_labels(records: Records) -> None:
    """Offer to take what a file of SPSS or Stata says itself of its codes, of which no record is read."""
    dropped = st.session_state.get(OWN_FILE)
    if dropped is None or dropped.name != records.title or not is_labelled(dropped.name):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        note(
            "The file has labels, which say what its codes mean. Take them where they were written before the answers."
        )
        own = partial(codebook_in, dropped.name, dropped.getvalue())
        st.button("Take its labels", key="labels-fill", on_click=_fill, args=(records, own))


def offer_common_knowledge(records: Records, declared: Declaration) -> None:
    """Offer to fill empty bounds of used columns whose names say what they are."""
    empty = [
        draft.name
        for draft in declared.to_find
        if draft.kind in ("", "number") and not {"low", "high"} & set(draft.entry)
    ]
    known = presets_of(empty, {column.name for column in records.columns if column.kind == "text"})
    if not known:
        return
    said = [_bounds_of(name, preset) for name, preset in known.items()]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        note(f"By common knowledge: {in_markdown(listed(said, MOST_SHOWN))}.")
        st.button("Fill these in", key="presets-fill", on_click=_fill_presets, args=(records, known))


def presets_of(names: Iterable[str], texts: Collection[str]) -> dict[str, str]:
    """Which bounds are known of which columns by their names.

    Of texts only those of whole numbers, which nobody writes in two ways: bounds that are filled in leave no format to
    be found out, and "2345,50" and "18:52" are no numbers, or other ones, where a point is taken for granted.
    """
    found = {name: preset for name in names if (preset := preset_for(name)) is not None}
    return {
        name: preset
        for name, preset in found.items()
        if preset != "year"  # a few of two centuries are found out better
        and not (name in texts and (preset == "hour_of_day" or not PRESETS[preset].step))
    }


def _bounds_of(name: str, preset: str) -> str:
    facts = PRESETS[preset]
    return f"{name} {bound(facts.low)} to {bound(facts.high)} {facts.unit}".rstrip() + f", as {facts.because}"


def _fill_presets(records: Records, known: Mapping[str, str]) -> None:
    for place, column in enumerate(records.columns):
        if column.name in known:
            entry = {"kind": "number", **PRESETS[known[column.name]].facts}
            fill_entry(records.number, place, column, [(column.name, entry)])


def _fill_from_public(records: Records, key: str) -> None:
    """Fill what is empty; a callback runs before the page is drawn, while widgets may still be given values."""
    dropped = st.session_state.get(key)
    if dropped is None:
        return
    if is_own_file(dropped.getvalue()):
        st.session_state[TROUBLE] = (
            "That is your own file, whose smallest and largest values would give people away; nothing was read from it."
        )
        return
    number = records.number
    places = {
        column.name: place
        for place, column in enumerate(records.columns)
        if st.session_state.get(field_key("as", number, place)) != LEFT_OUT
    }
    try:
        facts = public_facts(open_source(Upload(dropped.name, dropped.getvalue())), list(places))
    except RequestError as error:
        st.session_state[TROUBLE] = str(error)
        return
    for name, fact in facts.items():
        fill_fields(number, places[name], fact)


def _uploaded(records: Records, key: str) -> None:
    dropped = st.session_state.get(key)
    if dropped is None:
        return
    if is_own_file(dropped.getvalue()):
        st.session_state[TROUBLE] = "That is your own file, whose values are people's; nothing was read from it."
        return
    _fill(records, lambda: codebook_in(dropped.name, dropped.getvalue()), dropped.getvalue())


def _pasted(records: Records, key: str) -> None:
    typed = st.session_state.get(key) or ""
    _fill(records, lambda: read_codebook(typed), typed.encode())


def _fill(records: Records, read: Callable[[], Mapping[str, Mapping[str, Any]]], book: bytes = b"") -> None:
    """Fill the lines of all columns that a codebook describes; a callback runs before the page is drawn.

    `book`: The same as it stands in its file, which may be a declaration that was found out.
    """
    try:
        paid = paid_pairs(paid_in(book))
        filled, unfinished, lost = fill_rows(records.columns, records.number, read())
    except RequestError as error:
        st.session_state[TROUBLE] = str(error)
        return
    if not filled and not unfinished:
        st.session_state[TROUBLE] = "The codebook names no column of this data; names must be the same."
        return
    rest = f" Not said in it: {listed(unfinished, MOST_SHOWN)}." if unfinished else ""
    others = len(records.columns) - len(filled) - len(unfinished)
    rest += (
        f" {count(others, 'column')} that it does not name {'is' if others == 1 else 'are'} left out."
        if others > 0
        else ""
    )
    gone = f" Missing, and no categories: {listed(lost, MOST_SHOWN)}." if lost else ""
    cost = " To find it out was paid for, which whatever is made of it promises, too." if paid else ""
    st.session_state[NEWS] = f"{count(len(filled), 'column')} filled in from the codebook.{gone}{rest}{cost}"
    _note_paid(records, paid, filled)


def _note_paid(records: Records, paid: list[tuple[Cost, Budget]], filled: Sequence[str]) -> None:
    """Remember what the lines have cost that a declaration filled, but for what was bought here of those very columns.

    What another declaration of these records has cost stays, as it may have filled lines that this one left alone.
    """
    key = f"data-paid-{records.number}"
    for one in session().purchases.made_of(records.number):
        found = {name for name, said in one.said.items() if not isinstance(said, str)}
        if found <= set(filled) and (one.cost, one.whole) in paid:
            paid.remove((one.cost, one.whole))
    before = st.session_state.get(key, "")
    if paid and paid_text(paid) != before:
        st.session_state[key] = paid_text([*paid_pairs(before), *paid])


def paid_for_lines(records: Records) -> list[tuple[Cost, Budget]]:
    """What was paid for lines that a declaration filled, or that were found out of other records of the same columns.

    These may be the same people's, under another name, and a file of them shows what was found of them, too.
    """
    told = (st.session_state.get(f"{what}-{records.number}", "") for what in ("data-paid", "data-shown"))
    return [pair for paid in told for pair in paid_pairs(paid)]


def fill_rows(
    columns: Sequence[ColumnInfo], number: int, book: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], list[str], list[str]]:
    """Fill the lines that a codebook describes, and leave out the columns that it does not name.

    `book`: What `core.domain.codebooks.read_codebook` found.

    Returns names of the columns that are filled, and of those that the codebook names but does not say enough of; and
    the values that it lists and says are missing, with their columns.
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
    for name, (place, _) in places.items():
        if name not in (*filled, *unfinished):
            st.session_state[field_key("as", number, place)] = LEFT_OUT
    return filled, unfinished, lost


def _fill_place(number: int, places: Mapping[str, tuple[int, ColumnInfo]], facts: Mapping[str, Any]) -> list[str]:
    """Fill the lines of a latitude and a longitude."""
    for axis, ends in (("latitude", ("south", "north")), ("longitude", ("west", "east"))):
        place, _ = places[facts[axis]]
        st.session_state[field_key("as", number, place)] = axis
        if form := facts.get("format"):
            numbers = next((label for label, one in NUMBER_FORMATS.items() if one == form), form)
            st.session_state[field_key("numbers", number, place)] = numbers
        for part, end in zip(("low", "high"), ends, strict=True):
            if end in facts:
                st.session_state[field_key(part, number, place)] = float(facts[end])
    return [facts["latitude"], facts["longitude"]]


def fill_entry(
    number: int, place: int, column: ColumnInfo, entries: Sequence[tuple[str, Mapping[str, Any]]], mark: str = ""
) -> None:
    """Put entries of a declaration into the fields of their column, over what was typed; before these are drawn.

    What the fields can say is put there, to be changed; what they cannot is kept as it is. With a ``mark``, which says
    that it was found and for how much, what was typed in the fields of the same kind stays.
    """
    (_, entry), *further = entries
    values = None if further else _as_fields(column, entry)
    if values is None:
        values = {"as": DECLARED, "declared": list(entries)}
    before = {part: st.session_state.get(field_key(part, number, place)) for part in values}
    if mark and before["as"] in (values["as"], NUMBER if values["as"] == WHOLE else None):
        values |= {part: value for part, value in before.items() if value not in (None, "", []) and part != "as"}
    for part, value in {**values, "found": [mark, values] if mark else None}.items():
        st.session_state[field_key(part, number, place)] = value


def leave_out(number: int, place: int, why: str) -> None:
    """Leave a column out of which nothing was found that could be said; before its fields are drawn."""
    st.session_state[field_key("as", number, place)], st.session_state[field_key("why", number, place)] = LEFT_OUT, why


def _as_fields(column: ColumnInfo, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the fields of a column would hold for an entry, or None where they cannot say it.

    Whether there is a category of missing values is left to the rule of the table.
    """
    facts = {part: value for part, value in entry.items() if part not in ("on_missing", "missing_category")}
    kind = facts.pop("kind")
    if KINDS.get(kind) not in READ_AS[column.kind] or isinstance(facts.get("values"), Mapping):
        return None
    if "preset" in facts:
        facts = PRESETS[str(facts.pop("preset"))].facts | facts
    values: dict[str, Any] = {"as": KINDS[kind], "missing": as_typed(facts.pop("missing", ()))}
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
    if "values" in facts:
        values["categories"] = as_typed(_listed(facts.pop("values"), entry))
        values["others"] = facts.pop("unknown_category", "") == OTHER or facts.pop("on_unknown", "") == "category"
    if "decimal" in facts and column.kind == "text":
        decimal = facts.pop("decimal")
        facts["format"] = next(name for name, mark in DECIMALS.items() if mark == decimal)
    if "format" in facts and column.kind != "date":
        part, formats = ("numbers", NUMBER_FORMATS) if kind == "number" else ("format", DATE_FORMATS)
        form = str(facts.pop("format"))
        values[part] = next((label for label, known in formats.items() if known == form), form)
    return values | {"further": {"kind": kind, **facts} if facts else None}


def _listed(values: Sequence[str], entry: Mapping[str, Any]) -> list[str]:
    """The values of a category but those that stand for others and for none."""
    return [value for value in values if value not in (entry.get("unknown_category"), entry.get("missing_category"))]


def fill_fields(number: int, place: int, fact: Column, longest: float | None = None) -> None:
    """Put public facts about a column where its fields are still empty; before they are drawn, or in a callback.

    ``longest`` is what no vector of a column of vectors is longer than, where that is known.
    """
    if isinstance(fact, Categorical):
        values: dict[str, Any] = {"as": CATEGORY, "categories": as_typed(fact.categories)}
    elif longest is not None:
        values = {"as": BY_LENGTH, "longest": longest}
    elif isinstance(fact, Coordinate):
        ends = (fact.south, fact.north) if fact.axis == LATITUDE else (fact.west, fact.east)
        values = {"as": fact.axis} | dict(zip(("low", "high"), ends, strict=True))
    else:
        step = getattr(fact, "step", 0)
        values = {"as": BY_NUMBER if isinstance(fact, Vector) else WHOLE if step == 1 else NUMBER, "step": step}
        values |= {"low": fact.low, "high": fact.high, "unit": fact.unit}
    if isinstance(fact, Vector):
        values = values | {"unit": fact.length}
    for part, value in values.items():
        key = field_key(part, number, place)
        if st.session_state.get(key) in (None, "", FIND):
            st.session_state[key] = value


def start_from_sample(columns: Sequence[ColumnInfo], number: int, known: Sample) -> None:
    """Start from what is publicly known about a sample; what is typed afterwards stays.

    The column that says the group is described and not used: who asks about groups finds it on the Release page.
    """
    used = {column.name: column for column in known.domain.columns}
    described = used if known.label is None else used | {known.label.name: known.label}
    for place, column in enumerate(columns):
        key = field_key("as", number, place)
        if key not in st.session_state:
            if column.name in described:
                fill_fields(number, place, described[column.name], known.longest.get(column.name))
            if column.name not in used:
                st.session_state[key] = LEFT_OUT
            st.session_state[field_key("others", number, place)] = False
