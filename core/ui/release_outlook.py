"""What a draft would give, with slack and without: forecasts side by side, from public facts alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from ..forecast import Forecast, choose_rows, error_curve, forecast
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours
from ..releases import plan
from ..sketches.race import Race
from .release_draft import EPSILONS, SLACK, Draft

CURVE = EPSILONS[::2]
"""Where the error curve is computed; it is smooth enough in between."""


@dataclass(frozen=True)
class Outlook:
    """Forecasts of a draft: of the promise that was chosen, and, when asked for, with slack and without.

    Attributes
    ----------
    draft : what is forecast.
    chosen : for the draft's own promise.
    cost : what the ledger would write down.
    """

    draft: Draft
    chosen: Forecast
    cost: Cost

    @property
    def sketch(self) -> Race:
        """The sketch to be made: with the rows of the draft, or those that the forecast chose."""
        sketch = self.draft.sketch
        return sketch if sketch.rows is not None else sketch.with_rows(self.chosen.rows)

    @cached_property
    def pure(self) -> Forecast:
        """Without a δ, at the same ε."""
        return _forecast(self.draft.promising(slack=False))[0]

    @cached_property
    def slack(self) -> Forecast:
        """With a δ of one in a million, at the same ε."""
        return _forecast(self.draft.promising(slack=True))[0]

    @property
    def gain(self) -> float:
        """How many times smaller the error is with slack than without."""
        return self.pure.relative_error / self.slack.relative_error

    @cached_property
    def pure_errors(self) -> np.ndarray:
        """Relative errors without a δ along `CURVE`, at the number of rows that suits the present ε."""
        return _curve(self.draft, self.pure.rows, False)

    @cached_property
    def slack_errors(self) -> np.ndarray:
        """The same with a δ."""
        return _curve(self.draft, self.slack.rows, True)


def outlook(draft: Draft) -> Outlook:
    """Forecast a draft; RequestError when it cannot be made as it stands."""
    return Outlook(draft, *_forecast(draft))


def _forecast(draft: Draft) -> tuple[Forecast, Cost]:
    guesses, budget = draft.guesses, draft.budget
    facts = [str(budget.epsilon), str(budget.delta), budget.neighbours, guesses.records, guesses.density]
    return _cached_forecast(_described(draft, facts), draft.sketch, budget, guesses.records, guesses.density)


def _curve(draft: Draft, rows: int, with_slack: bool) -> np.ndarray:
    guesses, neighbours = draft.guesses, draft.budget.neighbours
    facts = [rows, with_slack, neighbours, guesses.records, guesses.density]
    sketch = draft.sketch.with_rows(rows)
    return _cached_curve(_described(draft, facts), sketch, guesses.records, with_slack, neighbours, guesses.density)


def _described(draft: Draft, facts: list) -> str:
    """A text that differs whenever the forecast may."""
    sketch = draft.sketch
    return json.dumps([sketch.domain.to_dict(), sketch.parameters(), *facts])


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=300, show_spinner=False)
def _cached_forecast(
    key: str, _sketch: Race, _budget: Budget, _records: int, _density: float | None
) -> tuple[Forecast, Cost]:
    if _sketch.rows is None:
        _sketch = _sketch.with_rows(choose_rows(_sketch, _budget, _records, _density))
    return forecast(_sketch, _budget, _records, _density), plan(_sketch, _budget).cost


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _cached_curve(
    key: str, _sketch: Race, _records: int, _slack: bool, _neighbours: Neighbours, _density: float | None
) -> np.ndarray:
    epsilons = [float(step) for step in CURVE]
    return error_curve(_sketch, _records, epsilons, float(SLACK) if _slack else 0.0, _neighbours, _density)
