"""Lesson: fifty releases that could come out.

Lesson: the curve of Theorem 3.4, and real sketches on it.
"""

import math

import numpy as np
import pytest

from core.lab import crowd_lessons as lesson
from core.lab.crowd_lessons import AMPLE, LATEST, MEASURED, QUESTIONS, RELEASES, crowd, curve, outcomes
from tests.depth import deep


def test_the_crowd_is_the_same_every_time_and_a_larger_one_holds_the_smaller():
    assert (crowd(30) == crowd(1000)[:30]).all()
    assert 0 <= crowd(1000).min() and crowd(1000).max() <= LATEST


@pytest.mark.thorough
def test_a_small_epsilon_hides_the_peak_and_a_large_one_shows_it():
    hidden, shown = outcomes("0.05", 30), outcomes("10", 30)
    assert hidden.kept < RELEASES / 2 and shown.kept == RELEASES


@pytest.mark.deep
def test_the_noise_does_not_depend_on_how_many_people_there_are():
    few, many = outcomes("0.5", 30), outcomes("0.5", 10_000)
    assert many.error == pytest.approx(few.error, rel=0.02)
    assert few.error == pytest.approx(2 * outcomes("1", 30).error, rel=0.1)


@pytest.mark.deep
def test_the_releases_scatter_around_the_truth():
    """The mean of fifty is within six standard errors of it at each of 97 hours: a false alarm below 1e-6."""
    possible = outcomes("1", 300)
    error = possible.releases.std(axis=0, ddof=1) / math.sqrt(RELEASES)
    assert (np.abs(possible.releases.mean(axis=0) - possible.exact) < 7 * error + 0.5).all()
    assert (outcomes("1", 300).releases == possible.releases).all()


@pytest.mark.thorough
@pytest.mark.parametrize("setting", [("1", 1000, 1.0, 64), deep(("0.1", 300, 2.0, 64)), deep(("1", 1000, 1.0, 4))])
def test_real_sketches_lie_on_the_curve_and_below_the_bound(setting):
    """Errors over at least eight sketches and fifteen places each: a factor of 1.6 is far outside their spread."""
    found = curve(*setting)
    expected = np.array([found.error_with(rows) for rows in MEASURED])
    assert (np.abs(np.log(found.measured / expected)) < np.log(1.6)).all()
    assert (found.both <= found.bound).all()


@pytest.mark.thorough
def test_noise_is_that_of_the_theorem():
    """Variance 2 R / ε² of the mean of R rows; discrete noise is a little less, the more so the fewer the rows."""
    found = curve("0.1", 1000, 1.0, 64)
    assert found.noise == pytest.approx(np.sqrt(2 * found.rows) / 0.1, rel=0.02)


@pytest.mark.deep
def test_the_minimum_moves_with_epsilon_people_and_neighbourhoods():
    middle = curve("1", 1000, 1.0, 64)
    assert curve("0.1", 1000, 1.0, 64).best < middle.best / 5
    assert curve("1", 100, 1.0, 64).best < middle.best / 5
    assert curve("1", 1000, 0.25, 64).best < middle.best < curve("1", 1000, 4.0, 64).best
    assert middle.rule > middle.best, "the paper's bound is on the safe side"


@pytest.mark.thorough
def test_the_rule_is_that_of_corollary_3_5():
    """R = f~ ε / √2 with f~ the sum of the square roots of the kernel, from slow sums at the places that are asked."""
    records = crowd(300)
    asked = np.quantile(records[:, 0], (np.arange(QUESTIONS) + 0.5) / QUESTIONS)
    roots = np.sqrt(np.exp(-np.abs(asked[:, None] - records[:, 0]) / 4.0)).sum(axis=1)
    assert curve("1", 300, 4.0, 2000).rule == math.ceil(roots.mean() / math.sqrt(2))


@pytest.mark.thorough
def test_fewer_columns_cost_accuracy_and_no_privacy():
    narrow, wide = curve("1", 1000, 1.0, 2), curve("1", 1000, 1.0, 64)
    assert narrow.sampling[0] > 2 * wide.sampling[0]
    assert narrow.best > wide.best and narrow.ample == pytest.approx(wide.both) and wide.width == AMPLE
    # Undoing the bias of two columns doubles every deviation: g = 1/(1 - 1/2).
    assert narrow.noise == pytest.approx(2 * wide.noise, rel=0.05)


@pytest.mark.parametrize("width", [2, 4, 16])
def test_strangers_are_those_whom_the_raw_counts_have_too_many(width):
    """Without the correction, the framed counts are larger than the truth by the people who share a column."""
    people = 1000
    sketch, table, exact = lesson._poured(0, people, (1.0, width))
    _, queries = lesson._asked(people)
    excess = []
    for place, truth in zip(queries, exact, strict=True):
        alone = sketch.zeros()
        sketch.add(alone, np.asfortranarray(place[None, :]))
        excess.append(table[alone > 0].mean() - truth)
    spread = np.std(excess, ddof=1)
    assert abs(np.mean(excess) - curve("1", people, 1.0, width).strangers) < 8 + spread
