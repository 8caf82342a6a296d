"""The mechanisms that can answer a question, best first, each with what it would give and why."""

from __future__ import annotations

import json
from dataclasses import dataclass

import streamlit as st

from ..forecast import Forecast, choose_size, forecast
from ..sketches.classes import Classes
from ..sketches.linear import LinearSketch
from ..sketches.race import Race
from .release_draft import Draft


@dataclass(frozen=True)
class Way:
    """One way to make a release.

    Attributes
    ----------
    name : of the mechanism; of the one inside, where there is a table for every group.
    sketch : the mechanism with all its public parameters and a size.
    forecast : what it would give.
    reason : why it stands where it stands, in words.
    """

    name: str
    sketch: LinearSketch
    forecast: Forecast
    reason: str


def ways(draft: Draft) -> tuple[Way, ...]:
    """All ways that there are, best first.

    Raises
    ------
    RequestError : there is none; the sentence says why.
    """
    return _ways(_described(draft), draft)


def _described(draft: Draft) -> str:
    """A text that differs whenever the ways may."""
    fineness, guesses, budget = draft.fineness, draft.guesses, draft.budget
    facts = [fineness.rows, fineness.width, fineness.radius, guesses.records, guesses.density, draft.seed]
    promise = [str(budget.epsilon), str(budget.delta), budget.neighbours]
    aim = [draft.aim.question, draft.aim.norm, draft.aim.label]
    kernel = None if fineness.kernel is None else fineness.kernel.to_dict()
    return json.dumps([draft.domain.to_dict(), aim, kernel, facts, promise])


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _ways(key: str, _draft: Draft) -> tuple[Way, ...]:
    draft = _draft
    fineness = draft.fineness
    sketch = Race(draft.compared, fineness.kernel, fineness.rows, fineness.width, seed=draft.seed)
    if draft.aim.label is not None:
        sketch = Classes(draft.domain, draft.aim.label, sketch)
    guesses = draft.guesses
    if not sketch.sized:
        sketch = choose_size(sketch, draft.budget, guesses.records, guesses.density)
    seen = forecast(sketch, draft.budget, guesses.records, guesses.density)
    return (Way("race", sketch, seen, ""),)
