"""The mechanisms that can answer a question, best first, each with what it would give and why."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import streamlit as st

from ...forecast.forecast import Forecast, forecast
from ...forecast.recommendation import Closeness, Distances, Question, recommend
from ...sketches.linear import LinearSketch
from .draft import Draft


@dataclass(frozen=True)
class Way:
    """One way to make a release.

    Attributes
    ----------
    name : str
        Of the mechanism; of the one inside, where there is a table for every group.
    sketch : LinearSketch
        The mechanism with all its public parameters and a size.
    forecast : Forecast
        What it would give.
    reason : str
        Why it stands where it stands, in words.
    settled : bool
        Whether the owner settled its size, which then is no matter of the budget.
    """

    name: str
    sketch: LinearSketch
    forecast: Forecast
    reason: str
    settled: bool = False


@dataclass(frozen=True)
class Ways:
    """All ways to make a release.

    Attributes
    ----------
    possible : tuple[Way, ...]
        Best first.
    impossible : tuple[tuple[str, str], ...]
        Names of the mechanisms that cannot do it, with the reasons.
    """

    possible: tuple[Way, ...]
    impossible: tuple[tuple[str, str], ...]


def ways(draft: Draft) -> Ways:
    """All ways that there are.

    Raises
    ------
    RequestError : there is none; the sentence says why.
    """
    guesses, budget = draft.guesses, draft.budget
    kernel = None if draft.fineness.kernel is None else draft.fineness.kernel.to_dict()
    aim = [draft.aim.question, draft.aim.norm, draft.aim.label]
    promise = [str(budget.epsilon), str(budget.delta), budget.neighbours]
    facts = [guesses.records, guesses.density, draft.radius, draft.seed]
    return _ways(json.dumps([draft.domain.to_dict(), aim, kernel, promise, facts]), draft)


def question_of(draft: Draft) -> Question:
    """The question as the recommendation takes it."""
    if draft.measures_closeness:
        return Closeness(draft.fineness.kernel, draft.radius, draft.seed)
    return Distances(draft.aim.norm, None if draft.aim.norm == "l1" else draft.radius, draft.seed)


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=100, show_spinner="Comparing the ways to do it …")
def _ways(key: str, _draft: Draft) -> Ways:
    guesses = _draft.guesses
    ranked = recommend(
        _draft.domain,
        guesses.records,
        _draft.budget,
        question_of(_draft),
        label=_draft.aim.label,
        density=guesses.density,
    )
    return Ways(
        tuple(Way(one.name, one.sketch, one.forecast, one.reason) for one in ranked if one.sketch is not None),
        tuple((one.name, one.reason) for one in ranked if one.sketch is None),
    )


def resized(draft: Draft, way: Way, rows: int | None, width: int | None) -> Way:
    """The way with a table of another size, and what that would give.

    Parameters
    ----------
    rows : int | None
        Of a sketch of rows; None keeps those that were chosen.
    width : int | None
        Most columns of a RACE; None keeps them.

    Raises
    ------
    RequestError : the table would be too large.
    """
    sketch = way.sketch
    if width is not None:
        sketch = sketch.with_one_answer(replace(sketch.one_answer[0], width=width))
    if rows is not None:
        sketch = sketch.with_rows(rows)
    if sketch == way.sketch:
        return way
    guesses = draft.guesses
    seen = forecast(sketch, draft.budget, guesses.records, guesses.density)
    return replace(way, sketch=sketch, forecast=seen, settled=rows is not None)
