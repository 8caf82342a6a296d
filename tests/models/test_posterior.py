"""One posterior sample: what a record changes, what is drawn, the solver behind it, and an attack that finds errors."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from core import Budget, Domain, PrivacyUnit, train
from core.errors import RequestError
from core.models import posterior
from core.models.posterior import (
    AdaptivePosteriorSample,
    PosteriorSample,
    deviation,
    divergence,
    is_positive_definite,
    least_multiple,
    wide_products,
)
from core.privacy.attacks import audit
from core.privacy.noise.randomness import SeededSource, SystemSource
from core.sources import open_source
from tests.depth import draws

LINE = Domain.of(x=(-1, 1), y=(-1, 1), missing="refuse")
METHODS = (PosteriorSample, AdaptivePosteriorSample)


@pytest.mark.thorough
@settings(max_examples=draws(3, 200))
@given(st.floats(0.001, 0.4), st.floats(0.0, 4.0), st.floats(1.2, 3.0))
def test_the_divergence_is_that_of_the_two_draws_and_no_smaller_than_backwards(leverage, off, order):
    """By numerical integration of the densities of a record's prediction, without it and with it."""
    without = stats.norm(0.0, math.sqrt(leverage))
    beside = stats.norm(off * leverage / (1 + leverage), math.sqrt(leverage / (1 + leverage)))

    def between(one, other):
        def density(x):
            return math.exp(order * one.logpdf(x) + (1 - order) * other.logpdf(x))

        return math.log(integrate.quad(density, -60, 60, points=(0.0, off), limit=500)[0]) / (order - 1)

    said = divergence(order, leverage, off**2)
    assert between(without, beside) == pytest.approx(said, rel=1e-5, abs=1e-7)
    assert between(beside, without) <= said * (1 + 1e-6) + 1e-7


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), max_size=12), st.tuples(st.floats(-1, 1), st.floats(-1, 1))
)
def test_no_record_moves_what_is_bought_by_more_than_one(people, other):
    """Neither the least eigenvalue nor the largest residual, on its scale of factors, without noise on either."""
    task = AdaptivePosteriorSample(LINE, "y", strength=3)
    plan = replace(task._planned(Budget(1, "1e-6")), margin=0)
    eigenvalues, places = [], []
    for records in (people, [*people, other]):
        units, codes = task.gather(
            open_source({name: [one[k] for one in records] for k, name in enumerate("xy")}), 1 << 13
        )
        products = posterior.whole_products(units, units)
        sums = posterior.whole_products(units, codes[:, None])[:, 0].tolist()
        eigenvalues.append(least_multiple(products, task.longest(1 << 13)))
        solver = posterior.Solver(products, 5 * task.longest(1 << 13))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(posterior, "add_noise", lambda exact, *_: exact)
            largest = task._largest(solver, sums, 5, plan, SeededSource(1))
        places.append(round(math.log(largest) / math.log(1.25)))
    assert 0 <= eigenvalues[1] - eigenvalues[0] <= 1 and abs(places[1] - places[0]) <= 1


@pytest.mark.parametrize("method", METHODS)
def test_several_records_of_a_person_and_replaced_ones_are_as_many_steps(method):
    """Replacing one is a step away and a step back: noise that hides both is that of half of epsilon, and of less δ."""
    one = method(replace(LINE, unit=PrivacyUnit("id", 1)), "y")
    three = method(replace(LINE, unit=PrivacyUnit("id", 3)), "y")
    for task, relation, steps in ((one, "replace_one", 2), (three, "add_remove", 3), (three, "replace_one", 6)):
        plan, each = task._planned(Budget(1, "1e-6", relation)), 1.0 / steps
        delta = 1e-6 / sum(math.exp(each * place) for place in range(steps))  # of group privacy
        alone = one._planned(Budget(f"{each:.12f}", f"{delta:.12g}"))
        assert plan.room == pytest.approx(alone.room, rel=1e-4) and plan.order == pytest.approx(alone.order, rel=1e-3)


def test_draws_have_the_posteriors_mean_and_covariance():
    """False alarms: less than one in a million, by normal and chi-square distributions with margins."""
    random, runs = np.random.default_rng(2), draws(30, 4_000)
    units = np.column_stack((np.full(40, 1 << 13), random.integers(-8_000, 8_000, 40)))
    codes = random.integers(-8_000, 8_000, 40)
    products = posterior.whole_products(units, units)
    sums = posterior.whole_products(units, codes[:, None])[:, 0].tolist()
    root, spread = 3 << 13, Fraction(7, 2)
    solver = posterior.Solver(products, root**2)
    found = np.array([posterior._drawn(solver, units, sums, spread, root, SeededSource(one)) for one in range(runs)])
    matrix = products.astype(float) / 2.0**26 + 9 * np.eye(2)
    off = found / 2.0**20 - np.linalg.solve(matrix, np.array(sums, float) / 2.0**26)
    squares = float(spread) ** -2 * np.einsum("ij,jk,ik->i", off, matrix, off)
    assert stats.chi2.cdf(squares.sum(), 2 * runs) == pytest.approx(0.5, abs=0.4999995)
    assert runs * float(spread) ** -2 * off.mean(axis=0) @ matrix @ off.mean(axis=0) < stats.chi2.isf(1e-7, 2)


def test_solutions_are_right_to_the_last_digit_of_the_grid():
    random = np.random.default_rng(4)
    units = random.integers(-8_000, 8_000, (30, 3))
    matrix = posterior.whole_products(units, units) + 5 * np.eye(3, dtype=object)
    goal = [Fraction(value, 7) for value in (10**9, -3, 10**12)]
    found = posterior.Solver(posterior.whole_products(units, units), 5).rounded(
        lambda level: (goal, Fraction(1, 1 << 40 + level))
    )
    exact = np.linalg.solve(matrix.astype(float), np.array([float(one) for one in goal]))
    assert np.abs(np.array(found) - exact * 2**20).max() <= 0.51
    numbers = [1 << 100, -(1 << 90) + 5, 3]
    assert wide_products(units[:3], numbers) == [
        sum(int(a) * b for a, b in zip(column, numbers, strict=True)) for column in units[:3].T
    ]


@given(st.lists(st.integers(-9, 9), min_size=9, max_size=9), st.integers(-40, 200))
def test_positive_definite_is_what_eigenvalues_say(entries, diagonal):
    square = np.array(entries).reshape(3, 3)
    matrix = square @ square.T + (diagonal - 40) * np.eye(3, dtype=int)
    least = np.linalg.eigvalsh(matrix)[0]
    if abs(least) > 1e-6:
        assert is_positive_definite(matrix.astype(object)) == (least > 0)


@pytest.mark.parametrize("method", METHODS)
def test_with_little_noise_it_is_ridge_regression(method):
    random = np.random.default_rng(5)
    x = random.uniform(-1, 1, 3_000)
    frame = {"x": x, "y": 0.3 + 0.5 * x + random.normal(0, 0.05, 3_000).clip(-0.2, 0.2)}
    model = method(LINE, "y").fit(open_source(frame), Budget(100, "1e-3"), noise_source=SeededSource(1))
    assert model.numbers({"x": [-1.0, 1.0]}) == pytest.approx([-0.2, 0.8], abs=0.15)
    assert float(model.details["largest_residual"]) >= 1.0 and "no bands" in " ".join(model.card())


def test_what_it_cannot_do_is_refused():
    with pytest.raises(RequestError, match="needs a delta"):
        train({"x": [0.0], "y": [0.0]}, "y", LINE, Budget(1), "ops")
    with pytest.raises(RequestError, match="at most 149 coordinates"):
        PosteriorSample(Domain.of(**{f"x{place}": (0, 1) for place in range(152)}), "x0")
    plan = PosteriorSample(LINE, "y")._planned(Budget(1, "1e-6"))
    with pytest.raises(RequestError, match="strength must be larger"):
        deviation(Fraction(1, 2), Fraction(1), plan)


@pytest.mark.deep
@pytest.mark.parametrize("relation", ("add_remove", "replace_one"))
@pytest.mark.parametrize("method", METHODS)
def test_an_attack_finds_nothing_but_planted_errors(method, relation, monkeypatch):
    """A canary in a corner that says the opposite of the others; then a draw that is far too sharp."""
    task, budget = method(LINE, "y"), Budget(2, "1e-3", relation)
    crowd = {"x": [1.0] * 4, "y": [1.0] * 4}
    canary = {"x": [1.0] * 5, "y": [1.0] * 4 + [-1.0]}
    calm = {"x": [1.0] * 5, "y": [1.0] * 5}
    pair = [task.gather(open_source(side), task.unit) for side in (canary, crowd if relation == "add_remove" else calm)]
    plan = task._planned(budget)

    def coefficients(side):
        return task._trained(*side, budget, plan, SystemSource()).rows / 2.0**20

    assert audit(coefficients, *pair, 2, 1e-3, runs=600, level=1 - 1e-8).passed
    honest = posterior.deviation
    monkeypatch.setattr(posterior, "deviation", lambda *facts: honest(*facts) / 64)
    assert not audit(coefficients, *pair, 2, 1e-3, runs=1_500, level=1 - 1e-8).passed
