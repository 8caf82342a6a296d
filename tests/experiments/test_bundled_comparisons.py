"""Comparisons that come with the samples: what is read is what was measured, and curves leave nothing to try."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from core.experiments import bundled_comparisons as kept_results
from core.experiments.bundled_comparisons import COMPARISONS, bundled, keep
from core.experiments.comparison_plan import Advice, Outcome, Step
from core.experiments.comparison_results import Trial
from core.experiments.comparison_work import Results
from core.forecast.recommendation import Closeness
from core.sources.samples import sample
from core.ui.compare.choice import first_plan, first_shown
from core.ui.compare.subject import sample_subject
from tests.depth import sampled

STEP = Step("race", Decimal("0.05"), Decimal(0), 100, 2, True)
TRIAL = Trial("race", 100, 0.05, 0.0, 2, True, 0.5, 0.75, None, 2.0, 0.25, 0.125, 1234)
KNOWN = {
    STEP: Outcome(TRIAL, None, 1.5),
    replace(STEP, size=None): Outcome(None, "It cannot be.", 0.5),
    Step("race", Decimal("0.05"), Decimal(0), sizing=True): Outcome((None, 100, 500), None, 0.0),
    Step("", Decimal(1), Decimal(0), advising=True): Outcome(Advice("race", "It is best."), None, 0.25),
}
FLAGSHIP = "city"
BUNDLED = sorted(path.stem for path in COMPARISONS.glob("*.parquet"))


def test_what_is_read_is_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_results, "COMPARISONS", tmp_path)
    keep(tmp_path / "some.parquet", {"some question": KNOWN, "some other": {STEP: Outcome(None, "No.", 0.0)}})
    assert bundled("some question") == KNOWN
    assert bundled("some third") == bundled("none question") == {}


def test_functions_are_kept_to_a_thousandth_and_three_draws_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_results, "COMPARISONS", tmp_path)
    step, draws = replace(STEP, drawn=True), np.random.default_rng(1).normal(0, 1e6, (8, 40))
    keep(tmp_path / "some.parquet", {"some question": {step: Outcome(draws, None, 1.0)}})
    found = bundled("some question")[step].value
    assert found.shape == (3, 40) and np.abs(found - draws[:3]).max() <= np.abs(draws[:3]).max() / 1999
    keep(tmp_path / "some.parquet", {"some question": {step: Outcome(np.zeros((1, 40)), None, 1.0)}})
    assert not bundled("some question")[step].value.any()


def test_what_comes_with_the_app_is_known_to_everyone_and_what_is_tried_is_put_with_it():
    asked = []
    results = Results(lambda identity: asked.append(identity) or dict(KNOWN))
    assert results.of("some question") == KNOWN == results.of("some question") and asked == ["some question"]
    results.keep("some question", replace(STEP, repetition=9), Outcome(TRIAL, None, 1.0))
    assert len(results.of("some question")) == len(KNOWN) + 1 and len(KNOWN) == 4


@pytest.mark.parametrize("name", sampled(BUNDLED, FLAGSHIP))
def test_a_bundled_comparison_has_every_curve_and_is_what_would_be_measured(name):
    known = sample(name)
    subject = sample_subject(known, Closeness(known.kernel))
    plan, found = first_plan(subject), bundled(subject.identity)
    answered = {(step.method, step.epsilon) for step, outcome in found.items() if outcome.problem is None}
    refused = {step.method for step, outcome in found.items() if outcome.problem is not None}
    for method in set(plan.methods) - refused - plan.slow(found):
        assert {(method, epsilon) for epsilon in plan.epsilons} <= answered
    assert refused < set(plan.methods) and found[plan.advising].value is not None
    assert plan.next_step(found) is None
    shown = first_shown(subject).next_step(found)
    assert shown is None or shown.drawn
    step = Step(found[plan.advising].value.method, Decimal(1), Decimal(0))
    measured = subject.work(step)
    for error in ("relative_error", "upper_error"):  # the same seeds, so the same but for rounding
        assert getattr(found[step].value, error) == pytest.approx(getattr(measured, error), rel=1e-4)
    assert found[step].value.file_bytes == pytest.approx(measured.file_bytes, rel=0.01)
