"""What a draft would give, with slack and without: forecasts side by side, from public facts alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from ...forecast.forecast import Forecast, choose_size, error_curve, forecast
from ...privacy.accounting import Cost
from ...privacy.budget import Budget
from ...privacy.neighbours import Neighbours
from ...sketches.linear import LinearSketch
from ...sketches.plan import plan
from .draft import EPSILONS, SLACK, Draft
from .ways import Way

CURVE = EPSILONS[::2]
"""Where the error curve is computed; it is smooth enough in between."""


@dataclass(frozen=True)
class Outlook:
    """Forecasts of a draft made in one way: of its own promise, and, when asked for, with slack and without.

    Attributes
    ----------
    draft : Draft
        What is forecast.
    way : Way
        The one that was chosen.
    """

    draft: Draft
    way: Way

    @property
    def sketch(self) -> LinearSketch:
        """The sketch to be made."""
        return self.way.sketch

    @property
    def chosen(self) -> Forecast:
        """For the draft's own promise."""
        return self.way.forecast

    @property
    def one(self) -> LinearSketch:
        """The sketch that one answer is read off: that of one group, where there are groups."""
        return self.sketch.one_answer[0]

    @cached_property
    def cost(self) -> Cost:
        """What the ledger would write down."""
        return plan(self.sketch, self.draft.budget).cost

    @cached_property
    def pure(self) -> Forecast:
        """Without a δ, at the same ε, made in the same way."""
        return self._promising(slack=False)[1]

    @cached_property
    def slack(self) -> Forecast:
        """With a δ of one in a million, at the same ε, made in the same way."""
        return self._promising(slack=True)[1]

    @property
    def gain(self) -> float:
        """How many times smaller the error is with slack than without."""
        return self.pure.relative_error / self.slack.relative_error

    @cached_property
    def pure_errors(self) -> np.ndarray:
        """Relative errors without a δ along `CURVE`, at the size that suits the present ε."""
        return self._curve(slack=False)

    @cached_property
    def slack_errors(self) -> np.ndarray:
        """The same with a δ."""
        return self._curve(slack=True)

    def _promising(self, slack: bool) -> tuple[LinearSketch, Forecast]:
        """The sketch at the size that suits a promise with or without a δ, and its forecast."""
        budget, guesses = self.draft.promising(slack).budget, self.draft.guesses
        if budget == self.draft.budget:
            return self.sketch, self.chosen
        facts = [str(budget.epsilon), str(budget.delta), budget.neighbours, guesses.records, guesses.density]
        settled = self.way.settled
        described = _described(self.sketch, [*facts, settled])
        return _forecast(described, self.sketch, budget, guesses.records, guesses.density, settled)

    def _curve(self, slack: bool) -> np.ndarray:
        guesses, neighbours = self.draft.guesses, self.draft.budget.neighbours
        sketch, _ = self._promising(slack)
        facts = _described(sketch, [slack, neighbours, guesses.records, guesses.density])
        return _curve(facts, sketch, guesses.records, slack, neighbours, guesses.density)


def _described(sketch: LinearSketch, facts: list) -> str:
    """A text that differs whenever the forecast may."""
    return json.dumps([sketch.name, sketch.domain.to_dict(), sketch.parameters(), *facts])


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=300, show_spinner=False)
def _forecast(
    key: str, _sketch: LinearSketch, _budget: Budget, _records: int, _density: float | None, _settled: bool
) -> tuple[LinearSketch, Forecast]:
    if not _settled:
        _sketch = choose_size(_sketch, _budget, _records, _density)
    return _sketch, forecast(_sketch, _budget, _records, _density)


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _curve(
    key: str, _sketch: LinearSketch, _records: int, _slack: bool, _neighbours: Neighbours, _density: float | None
) -> np.ndarray:
    epsilons = [float(step) for step in CURVE]
    return error_curve(_sketch, _records, epsilons, float(SLACK) if _slack else 0.0, _neighbours, _density)
