"""How a release is made: the way that promises most, and the others in a quiet list to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...releases.forecast.draft import Draft
from ...releases.forecast.expected_answers import size_and_time
from ...releases.forecast.forecast import forecast
from ...releases.forecast.recommendation import Recommendation
from ...sketches.grouped import in_groups
from ...sketches.registry import card
from ..frame.marks import facts, note
from ..frame.visiting import turn
from ..own_data.release_questions import possible_ways, title

PICKED = "release-way-picked"
"""Session state: the way that the owner picked over the first one, for each question; a plain dict of names."""

CHANGES = "Once what is bought first is known, another way may turn out better, and is taken then."


def choose_way(draft: Draft, by_hand: bool, detail: DeltaGenerator) -> Draft:
    """Show the first choice with its reason, and let the owner pick another and, by hand, its size.

    The others and the size are drawn in ``detail``. The pick is kept by name, as the order changes with every control;
    picking the first choice again follows it.

    RequestError when there is no way; the sentence says why.
    """
    ranked = possible_ways(draft)
    possible = [way for way in ranked if way.sketch is not None]
    question = f"{draft.question}-{draft.norm}"
    names = [way.name for way in possible]
    picked = st.session_state.setdefault(PICKED, {}).get(question)
    name = picked if picked in names else names[0]
    chosen = possible[names.index(name)]
    st.markdown(f"**Made with: {in_markdown(title(name))}.**")
    note(chosen.reason)
    if draft.settles_later and len(names) > 1:
        note(CHANGES)
    if len(names) > 1:
        with detail, st.expander("Other ways to do it", type="compact"):
            _list(ranked, name, question)
    draft = replace(draft, way=chosen)
    if not by_hand:
        return draft
    with detail:
        return _size(draft)


def way_of(draft: Draft) -> Recommendation:
    """The way that is taken for a question that was chosen before: the owner's pick, or the first one.

    RequestError when there is none; the sentence says why.
    """
    ranked = possible_ways(draft)
    possible = {way.name: way for way in ranked if way.sketch is not None}
    picked = picked_way(draft)
    if not possible:
        raise RequestError(ranked[0].reason)
    return possible.get(picked or "", next(iter(possible.values())))


def has_others(draft: Draft) -> bool:
    """Whether the release could be made in another way than the one that was chosen."""
    return sum(way.sketch is not None for way in possible_ways(draft)) > 1


def picked_way(draft: Draft) -> str | None:
    """The way that the owner picked for this question over the first one, by name."""
    name: str | None = st.session_state.get(PICKED, {}).get(f"{draft.question}-{draft.norm}")
    return name


def _list(ranked: Sequence[Recommendation], name: str, question: str) -> None:
    """All ways with their errors, files and reasons; and what cannot be done, and why."""
    possible = [way for way in ranked if way.sketch is not None]
    names, key = [way.name for way in possible], f"release-way-{question}"
    st.session_state[key] = name
    st.radio(
        "How it is made",
        names,
        key=key,
        format_func=lambda name: in_markdown(title(name)),
        captions=[in_markdown(f"{size_and_time(way.forecast)}. {way.reason}") for way in possible],
        on_change=_pick,
        args=(question, key, names[0]),
        label_visibility="collapsed",
    )
    impossible = [(title(way.name), way.reason) for way in ranked if way.sketch is None]
    if impossible:
        facts(impossible)


def _pick(question: str, key: str, first: str) -> None:
    name = st.session_state[key]
    st.session_state[PICKED][question] = None if name == first else name


def _size(draft: Draft) -> Draft:
    """Rows and columns by hand, where the mechanism has them."""
    one = draft.one
    if not in_groups(one):
        return draft
    left, right = st.columns(2, gap="medium")
    rows = left.number_input(
        "Rows R",
        8,
        1_000_000,
        None,
        placeholder=f"{one.rows:,}, by forecast",
        key="release-rows",
        persist_state="session",
        help="How many random cells or waves a record falls into. More rows follow the data more closely; without the "
        "one-in-a-million risk they also need more noise. Left empty, the forecast chooses the best.",
    )
    width = None
    if "--width" in card(draft.way.name).options:
        width = right.number_input(
            "Columns at most W",
            2,
            1_000_000,
            cast(Any, one).width,
            key="release-width",
            persist_state="session",
            help="Counters a row may have. Where all cells fit, a smaller table loses nothing.",
        )
    return resized(draft, rows, width)


def resized(draft: Draft, rows: int | None, width: int | None) -> Draft:
    """The draft with a table of another size, and what that would give.

    `rows`: Of a sketch of rows; None keeps those that were chosen. `width`: Most columns of a RACE; None keeps them.
    RequestError when the table would be too large.
    """
    sketch = draft.sketch
    if width is not None:
        sketch = sketch.with_one_answer(replace(draft.one, width=width))
    if rows is not None:
        sketch = sketch.with_rows(rows)
    if sketch == draft.sketch:
        return draft
    with turn():
        seen = forecast(sketch, draft.budget, *draft.guessed)
    return replace(draft, way=replace(draft.way, sketch=sketch, forecast=seen), settled=rows is not None)
