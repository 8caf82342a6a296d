"""Curves of trials: centres and bands by hand, sizes chosen on draws that are not reported, and the cost of that."""

import numpy as np
import pytest

from core.domain import Domain
from core.experiments.comparison_methods import METHODS
from core.experiments.comparison_results import Trial, best_sizes, curves
from core.experiments.comparison_trials import run_trial
from core.experiments.public_data import of_points
from core.forecast.recommendation import Closeness
from core.geometry.kernels import Euclidean
from core.privacy.budget import Budget


def trial(method="m", size=None, epsilon=1.0, repetition=0, tuning=False, error=0.1, l2=None) -> Trial:
    return Trial(method, size, epsilon, 0.0, repetition, tuning, error, 2 * error, l2, 1.0, 0.1, 1e-6, 1000)


def test_a_curve_has_means_and_percentiles_of_the_reported_trials():
    errors = np.random.default_rng(1).uniform(size=40)
    trials = [trial(epsilon=2.0, repetition=place, error=error) for place, error in enumerate(errors)]
    trials += [trial(epsilon=0.5, error=0.3), trial(epsilon=2.0, tuning=True, error=99.0)]
    (curve, *_) = curves(trials)
    assert curve.epsilons == (0.5, 2.0) and not curve.tuned
    assert curve.centres == pytest.approx((0.3, errors.mean()))
    assert (curve.lows[1], curve.highs[1]) == pytest.approx(tuple(np.percentile(errors, [10, 90])))
    assert curve.paid == curve.epsilons and curve.sizes == (None, None)


def test_the_best_size_is_chosen_on_tuning_draws_and_reported_on_others():
    """Size 10 was lucky when it is reported, and size 20 when sizes were chosen: 20 is taken, with its true figure."""
    trials = [trial(size=size, tuning=True, error=error) for size, error in ((None, 0.5), (10, 0.3), (20, 0.2))]
    trials += [trial(error=0.5), trial(size=10, error=0.01), trial(size=20, error=0.4)]
    assert best_sizes(trials) == {("m", 1.0): 20}
    plain, tuned = curves(trials)
    assert (plain.tuned, plain.centres) == (False, (0.5,))
    assert (tuned.tuned, tuned.centres, tuned.sizes) == (True, (0.4,), (20,))
    assert tuned.tried == (3,) and tuned.paid == (4.0,)


def test_trials_without_a_measure_make_no_curve_and_methods_stay_in_order():
    trials = [trial("b", error=0.2), trial("a", error=0.1, l2=0.05)]
    assert [curve.method for curve in curves(trials)] == ["b", "a"]
    assert [curve.method for curve in curves(trials, "l2_error")] == ["a"]


def test_sizes_are_tried_on_other_draws_than_those_that_are_reported():
    points = np.random.default_rng(3).normal(5, 1, (600, 1)).clip(0, 10)
    data = of_points("made up", Domain.of(x=(0, 10)), Closeness(Euclidean(1.0)), points)
    race, budget = METHODS["race"], Budget("0.1")
    tried = [run_trial(data, race, size, budget, n, tuning=True) for size in (None, 20, 2000) for n in (0, 1)]
    best = best_sizes(tried)["race", 0.1]
    assert best != 2000
    shown = [run_trial(data, race, size, budget, n) for size in dict.fromkeys((None, best)) for n in (0, 1)]
    assert all(one.tuning for one in tried) and not any(one.tuning for one in shown)
    assert not {one.relative_error for one in tried} & {one.relative_error for one in shown}
