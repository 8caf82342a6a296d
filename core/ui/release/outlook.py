"""What a draft would give with slack and without, and along ε: forecasts from public facts, side by side."""

from __future__ import annotations

import json

import numpy as np
import streamlit as st

from ...domain import Domain
from ...forecast.draft import TABLE, Draft, Guessed
from ...forecast.forecast import Forecast, error_curve, forecast
from ...forecast.recommendation import Question, recommend
from ...forecast.sizing import choose_size, sized_rows
from ...privacy.budget import Budget
from ...privacy.neighbours import Neighbours
from ...sketches.linear import LinearSketch
from ..frame.visiting import turn
from ..own_data.privacy_loss import EPSILONS, SLACK

CURVE = EPSILONS[::2]
"""Where the error curve is computed; it is smooth enough in between."""


def promising(draft: Draft, slack: bool) -> tuple[LinearSketch, Forecast]:
    """The sketch at the size that suits a promise with a δ of one in a million, or with none, and its forecast."""
    budget = Budget(draft.budget.epsilon, SLACK if slack else 0, draft.budget.neighbours)
    if budget == draft.budget:
        return draft.sketch, draft.forecast
    facts = [str(budget.epsilon), str(budget.delta), budget.neighbours, *draft.known, draft.settled]
    if draft.question == TABLE:  # whose cells follow from the promise as well
        described = json.dumps([draft.domain.to_dict(), draft.by, draft.choosing, *facts])
        return _table(described, draft.domain, draft.records, budget, draft.asked)
    described = _described(draft.sketch, facts)
    return _forecast(described, draft.sketch, budget, draft.guessed, draft.settled)


def errors(draft: Draft, slack: bool) -> np.ndarray:
    """Promised errors along `CURVE`, at the size that suits the present ε, with a δ or without."""
    sketch, _ = promising(draft, slack)
    neighbours = draft.budget.neighbours
    facts = _described(sketch, [slack, neighbours, *draft.known])
    return _curve(facts, sketch, slack, neighbours, draft.guessed)


def limit(draft: Draft) -> str:
    """What kept the table from being larger; empty where it has no rows, or somebody settled them."""
    if draft.settled or not draft.one.in_groups:
        return ""
    facts = [str(draft.budget.epsilon), str(draft.budget.delta), draft.budget.neighbours, *draft.known]
    return _stopped_by(_described(draft.sketch, facts), draft.sketch, draft.budget, draft.guessed)


def _described(sketch: LinearSketch, facts: list) -> str:
    """A text that differs whenever the forecast may."""
    return json.dumps([sketch.name, sketch.domain.to_dict(), sketch.parameters(), *facts])


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=300, show_spinner=False)
def _forecast(
    key: str, _sketch: LinearSketch, _budget: Budget, _guessed: Guessed, _settled: bool
) -> tuple[LinearSketch, Forecast]:
    with turn():
        if not _settled:
            _sketch = choose_size(_sketch, _budget, *_guessed)
        return _sketch, forecast(_sketch, _budget, *_guessed)


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _table(
    key: str, _domain: Domain, _records: int, _budget: Budget, _asked: Question
) -> tuple[LinearSketch, Forecast]:
    with turn():
        way = recommend(_domain, _records, _budget, _asked)[0]
        return way.answering, way.outlook


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _curve(key: str, _sketch: LinearSketch, _slack: bool, _neighbours: Neighbours, _guessed: Guessed) -> np.ndarray:
    epsilons, (records, density, sample) = [float(step) for step in CURVE], _guessed
    with turn():
        return error_curve(_sketch, records, epsilons, float(SLACK) if _slack else 0.0, _neighbours, density, sample)


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _stopped_by(key: str, _sketch: LinearSketch, _budget: Budget, _guessed: Guessed) -> str:
    with turn():
        return sized_rows(_sketch, _budget, *_guessed).stopped_by
