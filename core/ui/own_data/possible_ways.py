"""The ways in which a question can be answered, forecast once for every choice that is tried."""

from __future__ import annotations

import json

import streamlit as st

from ...releases.forecast.draft import Draft
from ...releases.forecast.recommendation import Recommendation, recommend
from ...sketches.registry import card
from ..frame.visiting import turn


def possible_ways(draft: Draft) -> list[Recommendation]:
    """All ways to answer a draft's question, the best first, those that cannot last; RequestError where none can."""
    kernel = None if draft.kernel is None else draft.kernel.to_dict()
    budget = draft.budget
    promise = [str(budget.epsilon), str(budget.delta), budget.neighbours]
    guessed = [*draft.known, draft.radius, draft.seed, draft.finest]
    asked = [draft.question, draft.norm, draft.label, draft.by, draft.choosing]
    return _ways(json.dumps([draft.domain.to_dict(), *asked, kernel, promise, guessed]), draft)


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=100, show_spinner="Comparing the ways to do it …")
def _ways(key: str, _draft: Draft) -> list[Recommendation]:
    """``key``: a text that differs whenever the ways may."""
    with turn():
        return list(
            recommend(
                _draft.domain,
                _draft.records,
                _draft.budget,
                _draft.asked,
                label=_draft.label,
                density=_draft.density,
                sample=_draft.sample,
            )
        )


def title(name: str) -> str:
    """What a mechanism does, with its name."""
    return card(name).plainly
