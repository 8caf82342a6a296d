"""Forecasts as they are outside tests: from as many random rows as say how good they are."""

import pytest

from core.releases.forecast import one_trial, trial
from tests.conftest import TRIAL_ROWS, TRIALS


@pytest.fixture(autouse=True)
def usual_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a release."""
    monkeypatch.setattr(one_trial, "TRIAL_ROWS", TRIAL_ROWS)
    monkeypatch.setattr(trial, "_reference_trials", TRIALS)
