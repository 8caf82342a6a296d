"""Rows of cells: that they are the published sketches, unbiased, with the errors that are stated."""

import numpy as np
import pytest

from core.errors import RequestError
from core.local.oracles.cell_sketches import CountMeanSketch, CountMin, CountSketch, HadamardSketch
from core.privacy.noise.randomness import SeededSource
from tests.depth import crossed, draws

KINDS = (CountMin, CountMeanSketch, HadamardSketch, CountSketch)
VALUES = np.random.default_rng(1).zipf(1.4, 20_000) % 5_000
COUNTS = dict(zip(*np.unique(VALUES, return_counts=True), strict=True))


def test_the_count_mean_sketch_is_apples():
    """Its own formula: M[j] += k(c/2 v + 1/2), f̂ = m/(m-1)(mean_j M[j, h_j(x)] - n/m)."""
    one = CountMeanSketch(1, rows=4, width=16, seed=1)
    reports = one.privatise(VALUES[:500], SeededSource(1))
    rows, sent = one.apart(reports)
    p, q = (float(chance) for chance in one.inner.chances)
    c = 1 / (p - q)
    table = np.zeros((4, 16))
    for row, report in zip(rows.tolist(), sent[:, 0], strict=True):
        v = np.array([1 if report >> np.uint64(cell) & np.uint64(1) else -1 for cell in range(16)])
        table[row] += 4 * (c / 2 * v + 1 / 2)
    asked = np.array([1, 2, 77])
    mean = np.mean([table[j, one.cells(asked, np.full(3, j))[0]] for j in range(4)], axis=0)
    expected = 16 / 15 * (mean - 500 / 16)
    np.testing.assert_allclose(one.alone(one.aggregate(reports), asked), expected, rtol=1e-9, atol=1e-6)


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_unbiased_and_intervals_hold(kind):
    """Over hash functions and coins; 10 standard errors of the mean, a false alarm once in 10^15 if it is normal.

    Coverage of 15 values in so many runs: the band is that of a binomial with as many trials as runs, at 6 deviations.
    """
    runs, asked = draws(12, 200), np.concatenate([np.arange(1, 15), [4_321]])
    truth = np.array([COUNTS.get(value, 0) for value in asked])
    found, held = [], []
    for run in range(runs):
        one = kind(2, rows=16, width=128, seed=run)
        tally = one.aggregate(one.privatise(VALUES, SeededSource(run)))
        found.append(one.estimate(tally, asked))
        low, high = one.interval(tally, asked)
        held.append((low <= truth) & (truth <= high))
    found = np.array(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(found.mean(axis=0) - truth) < 10 * error + 1).all()
    assert abs(np.mean(held) - 0.95) < 6 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.thorough
def test_the_variance_of_the_mean_is_as_stated():
    """Of one value over hash functions and coins, against a χ² with one degree less than runs, at 6 deviations."""
    runs = draws(60, 1_000)
    found = []
    for run in range(runs):
        one = CountMin(2, rows=8, width=64, oracle="de", seed=run)
        found.append(one.estimate(one.aggregate(one.privatise(VALUES[:4_000], SeededSource(run))), np.array([3]))[0])
    counts = dict(zip(*np.unique(VALUES[:4_000], return_counts=True), strict=True))
    assert abs(np.var(found) / one.variance(counts, 3) - 1) < 6 * np.sqrt(2 / runs)


@pytest.mark.parametrize("kind", KINDS)
def test_tallies_merge_and_bad_reports_are_refused(kind):
    one = kind(1, rows=3, width=32, seed=5)
    reports = one.privatise(VALUES[:300], SeededSource(2))
    whole = one.aggregate(reports)
    parts = one.aggregate(reports[100:]) + one.aggregate(reports[:100])
    assert parts.people == whole.people == 300 and np.array_equal(parts.table, whole.table)
    assert len(one.alone(whole, [5], "median")) == 1
    rows, sent = one.apart(reports)
    for wrong in (one.joined(rows + np.uint64(3), sent), reports.astype(np.float64)):
        with pytest.raises(RequestError):
            one.aggregate(wrong)
    for values in ([-1], [1 << 32], [0.5]):
        with pytest.raises(RequestError):
            one.privatise(values)
    assert kind(1, rows=3, width=32, seed=5) == one and kind(**kind.read(one.written())) == one


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "oracle"), crossed(KINDS, ["olh", "hr", "flh"]))
def test_forecasts_are_the_error_that_is_measured(kind, oracle):
    """Of 60 values that nobody has: mean squares against the forecast, 8 standard deviations of a χ².

    Values of one run share its noise, so its 60 values count as six trials.
    """
    runs, asked = draws(6, 150), np.arange(10_000, 10_060)
    alike = sum((count / len(VALUES)) ** 2 for count in COUNTS.values())
    squares = []
    for run in range(runs):
        one = kind(2, rows=16, width=128, oracle=oracle, seed=run)
        squares.append(one.estimate(one.aggregate(one.privatise(VALUES, SeededSource(run))), asked) ** 2)
    assert abs(np.mean(squares) / one.typical_variance(len(VALUES), 0.0, alike) - 1) < 8 * np.sqrt(2 / (6 * runs))


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_frequent_candidates_are_no_error_of_others(kind):
    """All values are asked: the error is that of noise, where that of cells alone is three times as large."""
    values = np.repeat(np.arange(2_000), (60_000 / np.arange(1, 2_001) ** 1.3).astype(int))
    counts, runs, held = np.bincount(values), draws(1, 40), []
    explained, alone = [], []
    for run in range(runs):
        one = kind(4, rows=16, width=256, seed=run)
        tally = one.aggregate(one.privatise(values, SeededSource(run)))
        estimate, low, high = one.answer(tally, np.arange(2_000))
        explained.append(((estimate - counts) ** 2).mean())
        alone.append(((one.alone(tally, np.arange(2_000)) - counts) ** 2).mean())
        held.append(((low <= counts) & (counts <= high)).mean())
    noise = one.typical_variance(len(values))
    assert np.mean(explained) < 1.4 * noise and np.mean(alone) > 2 * np.mean(explained)
    assert abs(np.mean(held) - 0.95) < 0.03


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_no_report_moves_an_answer_further_than_its_reach(kind):
    one = kind(1, rows=4, width=16, seed=3)
    reports = one.privatise(np.arange(200), SeededSource(1))
    down, up = one.reach
    singles = np.array([one.estimate(one.aggregate(report[np.newaxis]), np.arange(40)) for report in reports[:60]])
    assert singles.min() >= down - 1e-9 and singles.max() <= up + 1e-9
    assert singles.max() > up / 2
