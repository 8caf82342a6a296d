"""Trials: the truth by brute force, measures by hand, the real mechanism, and the same draws every time."""

import gc
from dataclasses import replace
from weakref import ref

import numpy as np
import pandas as pd
import pytest

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Gaussian
from core.lab.comparison_plan import METHODS
from core.lab.comparison_trials import (
    _remembered,
    exact_sums,
    from_file,
    from_sample,
    of_points,
    released,
    released_functions,
    run_trial,
)
from core.privacy.budget import EACH_RECORD, Budget
from core.releases.forecast.recommendation import Closeness, Distances
from core.sources.public_tables import sample

LINE = Domain.of(x=(0, 10))
MIXED = Domain.of(x=(0, 10), kind=["a", "b", "c"])
RACE, HISTOGRAM = METHODS["race"], METHODS["histogram"]
TIMES = ("seconds_build", "seconds_noise", "seconds_query")


def line(count: int = 800, **how):
    points = np.random.default_rng(3).normal(5, 1, (count, 1)).clip(0, 10)
    return of_points("made up", LINE, Closeness(Gaussian(0.7)), points, queries=60, **how)


def test_the_truth_is_the_sum_over_all_records_and_none_of_the_questions():
    data = line()
    assert len(data.records) + len(data.queries) + data.left_out == 800
    assert not set(data.queries[:, 0]) & set(data.records[:, 0])
    slow = [sum(np.exp(-0.5 * ((q - x) / 0.7) ** 2) for x in data.records[:, 0]) for q in data.queries[:, 0]]
    assert data.truth == pytest.approx(np.array(slow))
    assert data.grid.shape == (200, 1) and (data.grid[0, 0], data.grid[-1, 0]) == (0, 10)
    everywhere = exact_sums(LINE, data.question, data.grid, data.records)
    assert np.array_equal(data.grid_truth, everywhere)


def test_questions_where_almost_nobody_is_are_left_out():
    points = np.concatenate([np.full(500, 2.0), np.linspace(7.5, 9.5, 30)])[:, None]
    data = of_points("made up", LINE, Closeness(Gaussian(0.1)), points, queries=53)
    assert data.left_out > 0
    assert data.truth.min() >= 0.03 * data.truth.mean()


def test_records_are_capped_and_the_shuffle_can_be_repeated():
    first, again, other = line(records=100), line(records=100), line(records=100, seed=1)
    assert len(first.records) == 100
    assert np.array_equal(first.records, again.records) and not np.array_equal(first.records, other.records)
    with pytest.raises(RequestError, match="at least 50"):
        of_points("few", LINE, Closeness(Gaussian(1.0)), np.ones((49, 1)))


def test_distances_of_mixed_columns_are_exact_too():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 300), "kind": rng.choice(["a", "b", "c"], 300)})
    data = from_file(frame, MIXED, Distances("l1"), queries=10)
    assert data.metric == "l1" and data.grid is None
    slow = [np.abs(data.records - query).sum() for query in data.queries]
    assert data.truth == pytest.approx(np.array(slow))


def test_a_sample_counts_every_record_by_itself():
    visits = from_sample(sample("visits"), records=500, queries=20)
    assert visits.domain.unit == EACH_RECORD and len(visits.records) == 500


@pytest.mark.thorough
def test_the_measures_are_those_of_the_release_by_hand():
    data, budget = line(), Budget("0.5", "1e-6")
    trial = run_trial(data, HISTOGRAM, None, budget, 3)
    made = released(data, HISTOGRAM, None, budget, 3)
    errors = np.abs(made.answer_points(data.queries).estimate / data.truth - 1)
    assert trial.relative_error == pytest.approx(errors.mean())
    ordered, (part, place) = np.sort(errors), np.modf(0.95 * (len(errors) - 1))
    below, above = ordered[int(place) : int(place) + 2]
    assert trial.upper_error == pytest.approx(below + part * (above - below))
    off = made.answer_points(data.grid).estimate - data.grid_truth
    weights = np.ones(len(off))
    weights[[0, -1]] = 0.5  # the trapezoidal rule
    assert trial.l2_error == pytest.approx((weights @ off**2 / (weights @ data.grid_truth**2)) ** 0.5)
    assert (trial.epsilon, trial.delta, trial.size, trial.repetition) == (0.5, 1e-6, None, 3)
    # Either file says when it was made, and one moment is packed into a byte less than the next.
    assert trial.file_bytes == pytest.approx(len(made.to_bytes(teaching=True)), abs=16) and not made.private
    assert trial.seconds_build >= trial.seconds_noise > 0 and trial.seconds_query > 0


def test_the_same_trial_is_the_same_and_every_other_has_draws_of_its_own():
    data, budget = line(), Budget(1)
    race = replace(data, question=Closeness(Euclidean(1.0)))

    def error(repetition: int, tuning: bool = False, size: int | None = 100) -> float:
        return run_trial(race, RACE, size, budget, repetition, tuning).relative_error

    assert error(0) == error(0)
    assert len({error(0), error(1), error(0, True), error(0, size=200)}) == 4


@pytest.mark.thorough
def test_more_budget_is_less_error():
    data = line()
    errors = [run_trial(data, HISTOGRAM, None, Budget(epsilon), 0).relative_error for epsilon in ("0.01", "1", "100")]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.02


def test_drawn_functions_have_the_same_hashes_and_noise_of_their_own():
    data = replace(line(), question=Closeness(Euclidean(1.0)))
    functions = released_functions(data, RACE, 50, Budget(100), data.grid, 3)
    assert functions.shape == (3, 200)
    assert np.std(functions, axis=0).max() > 0
    hashes = functions.mean(axis=0) - exact_sums(LINE, data.question, data.grid, data.records)
    assert np.abs(hashes).max() > 5 * np.std(functions, axis=0).mean()
    assert np.array_equal(functions, released_functions(data, RACE, 50, Budget(100), data.grid, 3))


@pytest.mark.thorough
def test_records_and_their_sums_are_kept_no_longer_than_whoever_compares_on_them(monkeypatch):
    monkeypatch.setattr("core.lab.comparison_trials.MOST_KEPT", 2)
    data = line()
    for size in (4, 8, 16):
        run_trial(data, METHODS["features"], size, Budget(1), 0)
    assert len(_remembered[data]) == 2
    before, gone = len(_remembered), ref(data)
    del data
    gc.collect()
    assert gone() is None and len(_remembered) < before
