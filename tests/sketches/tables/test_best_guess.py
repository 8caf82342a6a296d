"""The best guess: not negative, consistent, nearer to the truth than unbiased counts, and of any columns."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, Numeric, release
from core.domain import Categorical
from core.errors import RequestError
from core.privacy.noise.randomness import SeededSource
from core.sketches.tables.best_guess import BestGuess
from core.sketches.tables.expected_counts import moved_to, towards
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


@pytest.mark.thorough
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
    assert np.array_equal(towards(counts, (even,), 0.0)[0], counts)
    random = np.random.default_rng(0)
    noisy = 100 + random.normal(0, 30, (20, 20))
    moved, left = towards(noisy, (np.full((20, 20), 100.0),), 900.0)
    assert np.abs(moved - 100).mean() < 3 and left.max() < 90


def test_margins_are_met_where_they_can_be():
    random = np.random.default_rng(1)
    true = random.gamma(0.5, 50, (6, 5))
    values = true + random.normal(0, 20, true.shape)
    moved = moved_to(values, np.ones_like(values), {(0,): true.sum(axis=1), (1,): true.sum(axis=0)})
    assert moved.min() >= 0 and np.allclose(moved.sum(axis=0), true.sum(axis=0))
    assert np.allclose(moved.sum(axis=1), true.sum(axis=1), rtol=0.02)


@pytest.mark.thorough
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6")], ids=["pure", "delta"])
def test_pairs_of_numbers_that_hang_together_are_a_quarter_nearer_than_looked_at_one_by_one(budget):
    random, count = np.random.default_rng(11), 6_000
    together = random.normal(size=(count, 2)) @ random.normal(size=(2, 8)) + 0.5 * random.normal(size=(count, 8))
    records = np.clip(0.5 + together / 8.0, 0.0, 1.0)
    domain = Domain(tuple(Numeric(f"x{place}", 0.0, 1.0) for place in range(8)))
    sketch = Tables.of(domain, 10)
    made = release(sketch, records, budget, noise_source=SeededSource(3))
    best, alone = made.guessed().guess, BestGuess(made.asked().reading)
    alone.__dict__["directions"] = {}, np.zeros(0), np.zeros((0, 0))
    cells = sketch.cells_of(np.asfortranarray(records))
    off = {best: 0.0, alone: 0.0}
    for pair in combinations(range(8), 2):
        exact = np.zeros((10, 10))
        np.add.at(exact, tuple(cells[list(pair)]), 1)
        for guess in off:
            off[guess] += np.abs(guess.counts(pair) - exact).sum()
    assert off[best] < 0.75 * off[alone]


@pytest.mark.thorough
@pytest.mark.parametrize("tied, nearer", [(0.0, 0.9), (0.4, 0.93)])
def test_many_pairs_of_which_hardly_any_hang_together_are_not_given_the_noise_of_others(tied, nearer):
    """30 columns of 4,000 people, each like one other at most: all pairs together came farther from the truth than
    none, as what fitted the noise of some was said of all, and of unrelated ones half seemed to hang together."""
    random, count, columns = np.random.default_rng(5), 4_000, 24
    codes = random.integers(0, 4, (columns, count))
    for place in range(1, columns):
        codes[place] = np.where(random.random(count) < tied, codes[place - 1], codes[place])
    domain = Domain(tuple(Categorical(f"c{place}", ("a", "b", "c", "d")) for place in range(columns)))
    frame = pd.DataFrame(
        {f"c{place}": pd.Categorical.from_codes(codes[place], list("abcd")) for place in range(columns)}
    )
    made = release(Tables.of(domain), frame, Budget(1, "1e-6"), records=count, noise_source=SeededSource(3))
    best, before = made.guessed().guess, BestGuess(made.asked().reading)
    before.__dict__["common"], before.__dict__["_free"] = None, math.inf
    off = {best: 0.0, before: 0.0}
    for one, other in list(combinations(range(columns), 2))[::4]:
        exact = np.bincount(4 * codes[one] + codes[other], minlength=16).reshape(4, 4)
        for guess in off:
            off[guess] += np.abs(guess.counts((one, other)) - exact).sum()
    assert off[best] < nearer * off[before]


@pytest.mark.thorough
def test_columns_that_have_nothing_to_do_with_each_other_are_hardly_farther_than_looked_at_one_by_one():
    random = np.random.default_rng(12)
    records = random.random((4_000, 6))
    domain = Domain(tuple(Numeric(f"x{place}", 0.0, 1.0) for place in range(6)))
    made = release(Tables.of(domain, 8), records, Budget(1, "1e-6"), noise_source=SeededSource(4))
    alone = BestGuess(made.asked().reading)
    alone.__dict__["directions"] = {}, np.zeros(0), np.zeros((0, 0))
    off = [
        sum(np.abs(guess.counts(pair) - 4_000 / 64).sum() for pair in combinations(range(6), 2))
        for guess in (made.guessed().guess, alone)
    ]
    assert off[0] < 1.1 * off[1]
