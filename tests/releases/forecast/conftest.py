"""Forecasts as they are outside tests: from as many random rows as say how good they are."""

import pytest

from core.releases.forecast import one_trial, trial
from tests.conftest import TRIALS, TRIED


@pytest.fixture(autouse=True)
def usual_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a release."""
    for name, size in TRIED.items():
        monkeypatch.setattr(one_trial, name, size)
    monkeypatch.setattr(trial, "_reference_trials", TRIALS)
