"""The columns of the data in one table: a line each with its name, how it is read, and what is public about it.

Everything has a default, and what is not known is to be found out. A line unfolds into the fields of its column, of
which it shows the sum. Fields live in session state by ``part-number-place``, whether they are drawn or not, so that a
column that is folded up keeps what was said of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from ..domain.column_entries import OTHER
from ..domain.dates import as_dates, moments
from ..domain.formats import FORMATS
from ..domain.written_dates import NEVER
from ..formatting.escapes import in_html, in_markdown
from ..sources import ColumnInfo
from .declaration_draft import TO_FIND, ColumnDraft, texts_in
from .frame.marks import draw, note

MANY = 100  # Data of more columns starts with all of them left out.
AT_ONCE = 24  # Lines shown at once; of wider data, the used columns and those that match a search.
UNUSABLE = ("other",)
LISTS = "lists of items, see below"
FIND, LEFT_OUT = TO_FIND, "left out"
NUMBER, WHOLE, CATEGORY, ORDERED, DATE, YES_NO = "number", "whole number", "category", "ordered", "date", "yes or no"
CIRCLES = {"hour of day": "hour", "weekday": "weekday", "month": "month", "day of the year": "day_of_year"}
LATITUDE, LONGITUDE = "latitude", "longitude"
LENGTH, WORDS, DECLARED = "length of text", "chosen words", "from file"
# What bounds a vector: the same bounds for each of its numbers, or how long it may be.
BY_NUMBER, BY_LENGTH = "vector, by number", "vector, by length"
# What columns may be read as, by what they seem to be; the first is taken where nobody chooses.
READ_AS = {
    "number": (NUMBER, WHOLE, CATEGORY, ORDERED, YES_NO, LATITUDE, LONGITUDE, DATE),
    "text": (FIND, NUMBER, WHOLE, CATEGORY, ORDERED, DATE, *CIRCLES, YES_NO, LATITUDE, LONGITUDE, LENGTH, WORDS),
    "date": (DATE, *CIRCLES),
    "boolean": (YES_NO,),
    "vector": (BY_NUMBER, BY_LENGTH),
    "other": (),
}
KINDS = {"number": NUMBER, "category": CATEGORY, "ordered": ORDERED, "date": DATE, "yes_no": YES_NO}
KINDS |= {"text_length": LENGTH, "words": WORDS}
# How dates and numbers may be written in texts, by an example; the first is taken where nobody chooses.
_DATES = [one for one in FORMATS if one.kind == "date"]
DATE_FORMATS = {one.words.removeprefix("dates such as "): str(one.entry["format"]) for one in _DATES}
DATE_FORMATS |= {"seconds since 1970": "unix"}
_NUMBERS = sorted((one for one in FORMATS if one.entry.get("kind") == "number"), key=lambda one: one.kind != "number")
NUMBER_FORMATS = {one.words.removeprefix("numbers such as "): one.name for one in _NUMBERS}
# Examples of a first and a last day as they are typed, by the format.
DAYS = {
    "day_first": ("1/1/2015", "31/12/2024"),
    "month_first": ("1/1/2015", "12/31/2024"),
    "%Y%m%d": ("20150101", "20241231"),
}
ENDS = {LATITUDE: ("southernmost", "northernmost"), LONGITUDE: ("westernmost", "easternmost")}

"""What was typed in the field of a part, or None."""


def field_key(part: str, number: int, place: int) -> str:
    """Session state: one field of a column."""
    return f"{part}-{number}-{place}"


def used_columns(columns: Sequence[ColumnInfo], number: int, person: str | None) -> dict[int, ColumnDraft]:
    """What has been said of every column that is used, by its place; nothing is drawn.

    `number`: Number of the pick, part of every key. `person`: The column that says who one person is, which is left out
    unless its owner reads it as something.
    """
    drafts = {}
    for place, column in enumerate(columns):
        usual = (READ_AS[column.kind] or (LEFT_OUT,))[0]
        if column.name == person or column.kind in UNUSABLE or len(columns) > MANY:
            usual = LEFT_OUT
        kind = st.session_state.setdefault(field_key("as", number, place), usual)
        kind = _as_no_person(column, kind, number, place, person)
        if kind != LEFT_OUT:
            drafts[place] = _draft(column, kind, number, place)
    return drafts


def _as_no_person(column: ColumnInfo, kind: str, number: int, place: int, person: str | None) -> str:
    """How a column is read: left out once it says who one person is, and like any other once it does so no more."""
    key, was = field_key("as", number, place), field_key("person", number, place)
    if column.name == person and not st.session_state.get(was):
        st.session_state[was] = True
        if kind == FIND:
            st.session_state[key] = LEFT_OUT
    elif column.name != person and st.session_state.pop(was, False) and kind == LEFT_OUT:
        st.session_state[key] = (READ_AS[column.kind] or (LEFT_OUT,))[0]
    return str(st.session_state[key])


def column_table(
    columns: Sequence[ColumnInfo], number: int, drafts: Mapping[int, ColumnDraft], person: str | None
) -> None:
    """Draw the table; what is typed in it is in `used_columns` of the next run, which a change begins."""
    with st.container(key=f"fg-rows-{number}", gap=None):
        for place in _shown(columns, number, drafts):
            column = columns[place]
            if column.kind in UNUSABLE:
                note(f"{column.name}: {LISTS if column.lists else 'neither numbers nor text'}")
                continue
            with st.container(key=f"fg-row-{number}-{place}"):
                # Its label stays as it is: one that changes would fold the line up, and lose the focus of who types.
                name, key = f"**{in_markdown(column.name)}**", field_key("line", number, place)
                line = st.expander(name, key=key, type="compact", on_change="rerun")
                draw(_line(column, drafts.get(place), number, place, person))
            if line.open:
                with line, st.container(key=f"fg-entry-{number}-{place}"):
                    _fields(column, number, place)


def _line(column: ColumnInfo, draft: ColumnDraft | None, number: int, place: int, person: str | None) -> str:
    """How a column is read and what is public about it, as markup that stands in line with its name."""

    def typed(part: str) -> Any:
        return st.session_state.get(field_key(part, number, place))

    kind, said = typed("as"), "says who one person is" if column.name == person else typed("why") or ""
    if draft is not None:
        said = draft.in_words if draft.in_words != kind else ""
        mark, values = typed("found") or ("", {})
        corrected = any(typed(part) != value for part, value in values.items())
        said += f" · found{', and corrected' if corrected else ''}" if mark else ""
    wrong = ' class="fg-wrong"' if draft is not None and draft.missing else ""
    said = in_html(said)
    return f'<p class="fg-told"><span>{in_html(kind)}</span> <span{wrong} title="{said}">{said}</span></p>'


def _shown(columns: Sequence[ColumnInfo], number: int, drafts: Mapping[int, ColumnDraft]) -> Sequence[int]:
    """Places of the columns that have a line."""
    if len(columns) <= AT_ONCE:
        return range(len(columns))
    label = f"Find among {len(columns):,} columns"
    words = st.text_input(label, key=f"find-{number}", persist_state="session", live="200ms").lower()
    found = [place for place, column in enumerate(columns) if words in column.name.lower() and place not in drafts]
    used = list(drafts)
    more = len(used) + len(found) - AT_ONCE
    if more > 0:
        note(f"{more:,} more columns are not shown; type part of a name to find them.")
    if words:
        used = [place for place in used if words in columns[place].name.lower()]
    return sorted((used + found)[:AT_ONCE])


def _draft(column: ColumnInfo, kind: str, number: int, place: int) -> ColumnDraft:
    """What the fields of a column say together."""

    def typed(part: str) -> Any:
        return st.session_state.get(field_key(part, number, place))

    if kind == DECLARED:
        (own, entry), *further = typed("declared")
        return ColumnDraft(own, entry, tuple(further))
    said, further = _said(column, kind, typed), typed("further") or {}
    entry = said | {part: value for part, value in further.items() if further["kind"] == said.get("kind")}
    longest = float(typed("longest") or 0) if kind == BY_LENGTH else None
    trouble = _read_days(column.name, entry) if entry.get("kind") == "date" else ""
    return ColumnDraft(column.name, entry, longest=longest, written=column.kind == "text", trouble=trouble)


def _said(column: ColumnInfo, kind: str, typed: Callable[[str], Any]) -> dict[str, Any]:
    """The entry that the fields of a column come to."""

    def given(*parts: str) -> dict[str, Any]:
        return {part: value for part in parts if (value := typed(part)) not in (None, "")}

    words = texts_in(typed("missing"))
    missing = {"missing": list(words)} if words and (column.kind == "text" or kind in (NUMBER, WHOLE)) else {}
    if kind == FIND:
        return {}
    if kind in (CATEGORY, ORDERED, WORDS):
        name = next(name for name, read in KINDS.items() if read == kind)
        values, others = list(texts_in(typed("categories"))), {}
        if values and kind == CATEGORY and typed("others") is not False:
            values, others = list(dict.fromkeys([*values, OTHER])), {"on_unknown": "category"}
        return {"kind": name, "values": values} | others | ({} if kind == WORDS else missing)
    written = {"format": _chosen(NUMBER_FORMATS, typed("numbers"))} if column.kind == "text" else {}
    if kind in (NUMBER, WHOLE):
        step = {"step": 1.0} if kind == WHOLE else {}
        return {"kind": "number"} | given("low", "high", "unit", "step") | step | written | missing
    if kind == DATE or kind in CIRCLES:
        written = {} if column.kind == "date" else {"format": _chosen(DATE_FORMATS, typed("format"))}
        if kind in CIRCLES:
            return {"kind": "cyclic", "part": CIRCLES[kind]} | written
        return {"kind": "date"} | given("first", "last") | written | missing
    if kind in ENDS:
        return {"kind": kind} | given("low", "high") | written
    if kind == LENGTH:
        return {"kind": "text_length"} | given("longest")
    if kind == BY_LENGTH:
        longest = float(typed("longest") or 0)
        return {"kind": "vector", "length": column.length or typed("unit"), "low": -longest, "high": longest}
    if kind == BY_NUMBER:
        return {"kind": "vector", "length": column.length or typed("unit")} | given("low", "high")
    return {"kind": "yes_no"} | missing


def _chosen(formats: Mapping[str, str], label: str | None) -> str:
    """The format behind an example; another one that a codebook says is its own."""
    return formats.get(label or next(iter(formats)), label or "")


def _read_days(name: str, entry: dict[str, Any]) -> str:
    """Put the first and the last day as declarations write them, be they typed as in the data; or say what is wrong."""
    for end in ("first", "last"):
        if day := entry.get(end):
            for form in dict.fromkeys((entry.get("format", ""), "")):
                if form != "unix" and (seconds := moments(name, pa.array([day]), form)[0]) != NEVER:
                    entry[end] = day if form == "" else str(as_dates(seconds, "D"))
                    break
            else:
                return f"the {end} day of {name} as a day, {_day_like(entry.get('format', ''), end == 'last')}"
    return ""


def _day_like(form: str, last: bool) -> str:
    """How a day is to be typed, by an example in the column's own format."""
    return f"such as {DAYS.get(form, ('2015-01-01', '2024-12-31'))[last]}"


def _fields(column: ColumnInfo, number: int, place: int) -> None:
    """The fields of a column that is unfolded."""

    def key(part: str) -> dict[str, str]:
        return {"key": field_key(part, number, place), "persist_state": "session"}

    name = in_markdown(column.name)
    declared = [DECLARED] if st.session_state.get(field_key("declared", number, place)) else []
    if found := st.session_state.get(field_key("found", number, place)):
        note(f"{found[0].capitalize()}. To correct it costs nothing.")
    if why := st.session_state.get(field_key("why", number, place)):
        note(why)
    kind = st.selectbox(f"Read {name} as", [*READ_AS[column.kind], *declared, LEFT_OUT], **key("as"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _fields_of(column, kind, name, key)
        if kind not in (FIND, LEFT_OUT, DECLARED, *CIRCLES, *ENDS, LENGTH, WORDS) and column.kind in ("text", "number"):
            st.text_input(
                f"Means missing in {name}",
                max_chars=200,
                placeholder="such as n/a, -999",
                help="Words or numbers, separated by commas, that stand where there is no value. What cannot be read "
                "counts as missing too.",
                **key("missing"),
            )


def _fields_of(column: ColumnInfo, kind: str, name: str, key: Callable[[str], dict]) -> None:
    """The fields that a column has as it is read."""
    if kind in (NUMBER, WHOLE, BY_NUMBER, *ENDS):
        ends, shown = ENDS.get(kind, ("smallest", "largest")), TO_FIND if kind in (NUMBER, WHOLE) else "degrees"
        for end, part in zip(ends, ("low", "high"), strict=True):
            st.number_input(
                f"{end.capitalize()} {name}", value=None, step=None, format="%.12g", placeholder=shown, **key(part)
            )
    if kind in (NUMBER, WHOLE, *ENDS) and column.kind == "text":
        st.selectbox(f"How numbers of {name} are written", _options(NUMBER_FORMATS, key("numbers")), **key("numbers"))
    if kind in (NUMBER, WHOLE):
        st.text_input(f"Unit of {name}", max_chars=40, placeholder="such as EUR", width=120, **key("unit"))
    if kind in (CATEGORY, ORDERED, WORDS):
        examples = {ORDERED: "every one in ascending order, by commas", WORDS: "words to look for, by commas"}
        label = f"Words to look for in {name}" if kind == WORDS else f"Categories of {name}"
        st.text_area(
            label,
            placeholder=examples.get(kind, "every one that anyone could have, by commas"),
            height=72,
            **key("categories"),
        )
        if kind == CATEGORY:
            st.session_state.setdefault(key("others")["key"], True)  # or a category that was forgotten loses its rows
            st.toggle(f"Count values of {name} that are not on the list as “other”", **key("others"))
    if (kind == DATE or kind in CIRCLES) and column.kind != "date":
        st.selectbox(f"How dates of {name} are written", _options(DATE_FORMATS, key("format")), **key("format"))
    if kind == DATE:
        form = _chosen(DATE_FORMATS, st.session_state.get(key("format")["key"]))
        for end in ("first", "last"):
            shown = _day_like(form, end == "last")
            st.text_input(f"{end.capitalize()} {name}", placeholder=shown, max_chars=20, width=180, **key(end))
    if kind in CIRCLES:
        note("Around a circle, the last next to the first.")
    if kind == LENGTH:
        st.number_input(f"Longest {name}", 1, None, None, placeholder="letters, such as 500", **key("longest"))
    if kind == BY_LENGTH:
        label = f"No vector of {name} is longer than"
        st.number_input(label, 0.0, 1e9, None, format="%.12g", placeholder="such as 1", help=LONGER, **key("longest"))
    if kind in (BY_NUMBER, BY_LENGTH) and column.length is None:
        st.number_input(f"How many numbers {name} holds", 1, None, None, placeholder="such as 384", **key("unit"))
    if kind == DECLARED:
        note("As the codebook or declaration says.")


def _options(formats: Mapping[str, str], key: Mapping[str, str]) -> list[str]:
    """The examples to choose from, and what a codebook says besides."""
    return list(dict.fromkeys([*formats, *filter(None, [st.session_state.get(key["key"])])]))


LONGER = (
    "The length of a vector is the root of the sum of its squared numbers. Embeddings are often scaled to length 1: "
    "then type 1. A longer one is shortened to this."
)
