"""Several questions in one release: those that were added, with their shares, and the one that is being chosen.

Of the whole table the owner says, too, which pairs of columns are counted where noise lets but some be seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import streamlit as st

from ...domain import Categorical, Domain
from ...formatting.escapes import in_markdown
from ...formatting.numbers import percent
from ...privacy.budget import Budget
from ...releases.forecast.draft import DENSITY, DISTANCE, GROUP, TABLE, Draft
from ...releases.forecast.forecast_shares import budget_of_share, forecast_parts, settle
from ...releases.forecast.whole_table import chosen_pairs
from ...sketches.part import MAX_NAME, Part, words_for
from ...sketches.parts import MAX_PARTS, Parts
from ...sketches.plan import plan_parts
from ...sketches.tables.pair_ways import FEWEST_ASKED
from ...sketches.tables.tables import Tables
from ..frame.marks import Visibility, note, rail
from ..own_data.release_questions import KEY
from .release_route import way_of

ADD = "Add another question to this release"
# Weights of a question beside the others, in words.
MATTERS = {
    0.25: "a quarter as much",
    0.5: "half as much",
    1.0: "as much",
    2.0: "twice as much",
    4.0: "four times as much",
}


@dataclass(frozen=True)
class Added:
    """A question that is in the release, as it was chosen; its mechanism follows from the budget anew."""

    draft: Draft  # The question, its columns and how fine it is, without budget and payer.
    name: str  # In the file.
    weight: float = 1.0  # How much it matters beside the others.
    share: float | None = None  # Of the budget, where its owner has fixed it.


def added(number: int) -> list[Added]:
    """The questions that were added to the release of one pick of records."""
    questions: list[Added] = st.session_state.setdefault(f"release-added-{number}", [])
    return questions


def own_budget(draft: Draft, budget: Budget, number: int) -> Budget:
    """What the question that is being chosen may count on: everything, or its share beside those that were added.

    RequestError when they cannot be released together, or one of them not under its share.
    """
    others = added(number)
    if not others:
        return budget
    evenly = replace(draft, budget=_even(budget, others))
    made = _settled(replace(evenly, way=way_of(evenly)), budget, number)
    return budget_of_share(budget, plan_parts(made, budget).shares[-1])


def together(draft: Draft, budget: Budget, number: int) -> Draft:
    """The draft of a chosen question beside those that were added: settled shares, and the forecast under its own.

    RequestError as `own_budget` does.
    """
    others = added(number)
    if not others:
        return draft
    if any(_what(one.draft) == _what(draft) for one in others):
        draft = draft.lacking("another question than those in the release, or this one taken out")
    made = _settled(draft, budget, number)
    seen = forecast_parts(made, budget, *draft.guessed)
    own = replace(draft.chosen, forecast=list(seen.values())[-1])
    return replace(draft, way=own, several=made, whole=budget, planned_noise=plan_parts(made, budget).noises[-1])


def _settled(draft: Draft, budget: Budget, number: int) -> Parts:
    """All questions with their shares; those that were added are made anew for an even share."""
    others = added(number)
    evenly = _even(budget, others)
    parts = [
        Part(
            way_of(replace(one.draft, budget=evenly, sample=draft.sample)).answering,
            one.name,
            one.weight,
            share=one.share,
        )
        for one in others
    ]
    mine = Part(draft.sketch, _own_name(number), _own_weight(number), share=_own_share(number))
    return settle(Parts.of([*parts, mine]), budget, *draft.guessed)


def _even(budget: Budget, others: Sequence[Added]) -> Budget:
    return budget_of_share(budget, Fraction(1, len(others) + 1))


def show_added(draft: Draft, number: int) -> None:
    """The questions of the release with their shares and errors, and a way to take each out again."""
    others = added(number)
    if not others:
        return
    lines = [(one.name, "") for one in others] + [("The one that you are choosing below", "")]
    if draft.several is not None:
        shares = plan_parts(draft.several, draft.total).shares
        seen = forecast_parts(draft.several, draft.total, *draft.guessed)
        lines = [
            (name, f"{percent(float(share), 2)} of the budget; typical error {one.error_words}")
            for (name, one), share in zip(seen.items(), shares, strict=True)
        ]
        lines[-1] = (lines[-1][0], f"{lines[-1][1]} (being chosen below)")
    with rail(Visibility.PUBLIC, "several", f"In this release: {len(lines)} questions under one promise"):
        for place, (name, said) in enumerate(lines):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                with st.container(gap=None, width="stretch"):
                    st.markdown(f"**{in_markdown(name)}**")
                    note(said)
                out = st.button("Take it out", key=f"release-take-out-{number}-{place}", type="tertiary")
            if out:
                _take_out(place, number)
        fixed = _own_share(number) is not None or any(one.share is not None for one in others)
        shared = "What fixed shares leave of the budget" if fixed else "The budget"
        note(f"{shared} is shared so that noise blurs all answers alike. Together they cost as much as one release.")


def offer_another(draft: Draft, declared: Domain, number: int) -> None:
    """The button that keeps the present question, and offers the next one; its name and weight where it has company."""
    if added(number):
        named, matters, fixed = st.columns([4, 4, 3], gap="medium")
        st.session_state.setdefault(_weight_key(number), 1.0)
        named.text_input(
            "What this question is called in the file",
            key=_name_key(number),
            max_chars=MAX_NAME,
            placeholder="" if draft.way is None else words_for(draft.sketch),
            persist_state="session",
            help="Everyone who gets the file can read it. Left empty, it follows from the question and its columns.",
        )
        matters.select_slider(
            "Beside the others it matters",
            list(MATTERS),
            key=_weight_key(number),
            format_func=MATTERS.__getitem__,
            persist_state="session",
            help="Of an answer that matters twice as much, the noise is half as large.",
        )
        fixed.number_input(
            "Fixed share of the budget, in percent",
            1,
            80,
            None,
            key=_share_key(number),
            placeholder="by how much it matters",
            persist_state="session",
            help="It is kept, and the other questions share the rest. Left empty, it follows from how much it matters.",
        )
    if draft.way is None or draft.missing or len(added(number)) >= MAX_PARTS - 1:
        return
    if draft.way.chooser is not None:
        note("A release whose pairs are chosen under the promise answers this one question alone.")
        return
    if any(name == "spread" for name, _ in draft.first):
        note("A release that finds its distance answers this one question alone; say it under Fine-tune to add others.")
        return
    st.button(ADD, key="release-add", icon=":material/add:", on_click=_add, args=(draft, declared, number))


def _add(draft: Draft, declared: Domain, number: int) -> None:
    kept = replace(
        draft, budget=None, account=None, way=None, several=None, whole=None, planned_noise=None, missing=(), first=()
    )
    name = draft.several.parts[-1].name if draft.several is not None else words_for(draft.sketch)
    added(number).append(Added(kept, name, _own_weight(number), _own_share(number)))
    _start_anew(number)
    st.session_state[KEY] = _next(draft, declared, number)


def _next(draft: Draft, declared: Domain, number: int) -> str:
    """A question of a kind that is not in the release yet, if the columns have one."""
    groups = any(isinstance(column, Categorical) for column in declared.columns) and len(declared.columns) > 1
    known = {one.draft.question for one in added(number)}
    kinds = (DENSITY, DISTANCE, GROUP) if groups else (DENSITY, DISTANCE)
    return next((kind for kind in kinds if kind not in known), draft.question)


def _take_out(place: int, number: int) -> None:
    """Without one of the questions; where it is the one being chosen, the last that was added is chosen again."""
    others = added(number)
    taken = others.pop(min(place, len(others) - 1))
    if place > len(others):
        st.session_state[BACK] = (number, taken)
    st.rerun()


BACK = "release-back-to"  # Session state: the question that is chosen again, until the page is drawn anew.


def go_back() -> None:
    """Before the questions are drawn: back to the one that is chosen again."""
    if BACK in st.session_state:
        number, taken = st.session_state.pop(BACK)
        _start_anew(number)
        st.session_state[KEY] = taken.draft.question


def _start_anew(number: int) -> None:
    st.session_state[_name_key(number)], st.session_state[_weight_key(number)] = "", 1.0
    st.session_state[_share_key(number)] = None


def _what(draft: Draft) -> tuple[object, ...]:
    return draft.question, draft.asked, draft.domain


def _own_name(number: int) -> str:
    return str(st.session_state.get(_name_key(number), "")).strip()


def _own_weight(number: int) -> float:
    return float(st.session_state.get(_weight_key(number), 1.0))


def _own_share(number: int) -> float | None:
    percents = st.session_state.get(_share_key(number))
    return None if percents is None else percents / 100


def _share_key(number: int) -> str:
    return f"release-part-share-{number}"


def _name_key(number: int) -> str:
    return f"release-part-name-{number}"


def _weight_key(number: int) -> str:
    return f"release-part-weight-{number}"


NONE, SMALLEST, STRONGEST = "None of them", "The smallest tables", "Those that go together most"
WHY = {
    NONE: "As columns commonly go together, single columns alone are expected to be nearer to the truth.",
    SMALLEST: "They follow from public facts alone: how many cells each table has, and in which order the columns are.",
    STRONGEST: "Which ones these are is found out under the same promise. A tenth of the budget pays for it, so each "
    "count is about a twentieth noisier. Where columns hardly go together, the smallest tables serve better.",
}
ALL, WORTH_IT = "All of them", "As many as are worth it"
WHY |= {
    ALL: "Each is counted, with as much noise as all of them together need.",
    WORTH_IT: "How many, and which go together most, is found out under the same promise, for a quarter of the "
    "budget at most.",
}


def choose_pairs(draft: Draft, number: int) -> Draft:
    """The draft with the pairs chosen as the owner likes, where some have to be left out; else as it is.

    RequestError when there is no way to make the release.

    `number`: Number of the pick on the Data page, part of the control's key.
    """
    if draft.question != TABLE or draft.by or added(number):
        return draft
    tables = cast(Tables, way_of(draft).answering)
    seen, every = len(tables.pairs), math.comb(len(tables.axes), 2)
    pure = draft.promise.pure
    if seen == every and not pure:
        return draft
    usual = ALL if seen == every else SMALLEST if seen else NONE
    if pure or not seen:  # as single columns are better off alone, unless the strongest pairs are found out
        found = chosen_pairs(draft.domain, draft.records, draft.promise)
        if found is None:
            return draft
        seen = seen or len(found[0].alike_under(draft.promise).pairs)
    strongest = WORTH_IT if pure else STRONGEST
    chosen = st.segmented_control(
        f"Which of {every:,} pairs of columns are counted?"
        if pure
        else f"Of {every:,} pairs of columns, noise lets {seen:,} be seen. Which?",
        [usual, strongest],
        key=f"release-pairs-{number}",
        required=True,
        default=strongest if pure and not draft.first and every >= math.comb(FEWEST_ASKED, 2) else usual,
        persist_state="session",
    )
    note(WHY[chosen])
    return replace(draft, choosing=chosen == strongest)
