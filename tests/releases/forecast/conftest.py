"""Forecasts as they are outside tests, from as many random rows as say how good they are, where that is asked."""

import pytest

from core.releases.forecast import one_trial, trial
from tests.conftest import TRIALS, TRIED

PRECISE = ("test_forecast", "test_one_trial", "test_reference_population", "test_expected_answers", "test_sketch_sizes")


@pytest.fixture(autouse=True)
def usual_trials(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """As in a release, for tests of how good forecasts are; others ask what is made of them."""
    if not request.module.__name__.endswith(PRECISE):
        return
    for name, size in TRIED.items():
        monkeypatch.setattr(one_trial, name, size)
    monkeypatch.setattr(trial, "_reference_trials", TRIALS)
