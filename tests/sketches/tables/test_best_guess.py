"""The best guess: not negative, consistent, nearer to the truth than unbiased counts, and of any columns."""

from itertools import combinations

import numpy as np
import pytest

from core import Budget
from core.errors import RequestError
from core.sketches.tables.best_guess import BestGuess, moved_to, towards
from core.sketches.tables.tables import Tables
from tests.depth import draws
from tests.sketches.tables.test_counts import DOMAIN, KINDS, people, releases


@pytest.fixture(scope="module")
def exact():
    """The exact counts of any columns."""
    cells = Tables.of(DOMAIN, 8).cells_of(DOMAIN.encode_queries(people()))
    sides = [8, 2, 3]

    def counts(table):
        found = np.zeros([sides[i] for i in table])
        np.add.at(found, tuple(cells[i] for i in table), 1)
        return found

    return counts


def test_it_is_not_negative_and_agrees_with_itself():
    (made,) = releases(KINDS["gaussian"], 1)
    best = made.guessed().guess
    for pair in combinations(range(3), 2):
        counts = best.counts(pair)
        assert counts.min() >= 0
        for side, place in enumerate(pair):
            assert np.allclose(counts.sum(axis=1 - side), best.counts((place,)), atol=0.02 * best.records)
    assert best.counts((0,)).sum() == pytest.approx(best.records)
    three = best.counts((0, 1, 2))
    assert three.min() >= 0 and np.allclose(three.sum(axis=2), best.counts((0, 1)), atol=0.03 * best.records)
    fine = best.fine_counts(0)
    assert fine.min() >= 0 and np.allclose(fine.reshape(8, 4).sum(axis=1), best.counts((0,)))


def test_it_is_nearer_to_the_truth_than_unbiased_counts(exact):
    """Of every release together: the guess of a pair has less absolute error, by far where there is much noise."""
    found = {"guess": 0.0, "unbiased": 0.0}
    for made in releases(Budget("0.2", "1e-9"), draws(10, 100)):
        for pair in combinations(range(3), 2):
            found["guess"] += np.abs(made.guessed().guess.counts(pair) - exact(pair)).sum()
            found["unbiased"] += np.abs(made.asked().reading.counts(pair) - exact(pair)).sum()
    assert found["guess"] < 0.9 * found["unbiased"]


def test_frames_and_conditions():
    (made,) = releases(KINDS["gaussian"], 1)
    asked = made.guessed()
    table = asked.table("sex", "city", where={"age": (20, 50)})
    assert list(table.columns) == ["sex", "city", "estimate"] and len(table) == 6
    assert asked.count({"age": (20, 50)}) == pytest.approx(table.estimate.sum(), rel=0.05)
    assert asked.count() == pytest.approx(asked.guess.records)
    with pytest.raises(RequestError, match="no column"):
        asked.table("pay")


def test_a_table_that_is_too_large_and_a_column_that_was_not_measured_are_refused():
    sketch = Tables.of(DOMAIN, 8, [("age", "sex")]).measuring_contrasts()
    reading = sketch.reading(np.ones(sketch.shape), 1.0, None, np.inf)
    with pytest.raises(RequestError, match="'city' is in no table"):
        BestGuess(reading).counts((0, 2))


def test_without_noise_nothing_moves_and_with_nothing_but_noise_all_does():
    counts = np.array([[5.0, 0.0], [1.0, 3.0]])
    even = np.full((2, 2), 2.25)
    assert np.array_equal(towards(counts, even, 0.0)[0], counts)
    random = np.random.default_rng(0)
    noisy = 100 + random.normal(0, 30, (20, 20))
    moved, left = towards(noisy, np.full((20, 20), 100.0), 900.0)
    assert np.abs(moved - 100).mean() < 3 and left.max() < 90


def test_margins_are_met_where_they_can_be():
    random = np.random.default_rng(1)
    true = random.gamma(0.5, 50, (6, 5))
    values = true + random.normal(0, 20, true.shape)
    moved = moved_to(values, np.ones_like(values), {(0,): true.sum(axis=1), (1,): true.sum(axis=0)})
    assert moved.min() >= 0 and np.allclose(moved.sum(axis=0), true.sum(axis=0))
    assert np.allclose(moved.sum(axis=1), true.sum(axis=1), rtol=0.02)
