"""A deep one of many fits: what a record changes, how points are drawn, fits beside a library's, and an attack."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.linear_model import Ridge

from core import Budget, Domain, PrivacyUnit, train
from core.errors import RequestError
from core.models.tukey import GRID, DeepFit, boxes, deep_point, grid_fits
from core.privacy.attacks import audit
from core.privacy.noise.randomness import SeededSource, SystemSource
from core.sources import open_source
from tests.depth import draws

LINE = Domain.of(x=(-1, 1), y=(-1, 1), missing="refuse")
fit = st.tuples(st.integers(-3, 3), st.integers(-3, 3))


def depths(fits: list[tuple[int, int]]) -> np.ndarray:
    """How deep every point of a small grid is."""
    nested = boxes(np.array(fits), 3)
    inside = [[[a <= x <= b and c <= y <= d for y in range(-3, 4)] for x in range(-3, 4)] for (a, b), (c, d) in nested]
    return np.array(inside).sum(axis=0) - 1


@given(st.lists(fit, min_size=3, max_size=9), fit)
def test_one_fit_that_changes_moves_no_depth_by_more_than_one(fits, other):
    assert np.abs(depths(fits) - depths([*fits[:-1], other])).max() <= 1


@pytest.mark.parametrize("most", [1, 3])
def test_a_person_whose_records_are_in_as_many_parts_changes_a_draw_by_epsilon(most):
    """Each record's part is another fit, which moves depths by one, and so all weights by twice its worth at most."""
    task, budget = DeepFit(replace(LINE, unit=PrivacyUnit("id", most)), "y"), Budget("0.7")
    _, worth = task._planned(budget)
    assert 2 * most * worth == Fraction(budget.epsilon)


@pytest.mark.thorough
def test_points_are_drawn_as_often_as_their_depth_says():
    """Every point of a grid of 49, by a chi-square test that gives a false alarm once in ten million."""
    fits, runs, worth = [(0, 1), (1, 1), (-2, 3), (1, 0), (0, 0)], draws(600, 20_000), Fraction(2, 3)
    stream = SeededSource(3).stream()
    found = Counter(tuple(deep_point(boxes(np.array(fits), 3), worth, stream)) for _ in range(runs))
    weights = np.exp(float(worth) * depths(fits))
    counts = np.array([[found[x, y] for y in range(-3, 4)] for x in range(-3, 4)])
    assert chisquare(counts.ravel(), (runs * weights / weights.sum()).ravel()).pvalue > 1e-7


def test_fits_are_ridge_regressions_of_the_parts_alone():
    random = np.random.default_rng(3)
    units = np.column_stack((np.full(90, 1 << 13), random.integers(-8_192, 8_193, (90, 2))))
    codes, places = random.integers(-8_192, 8_193, 90), np.repeat([0, 1, 2], 30)
    fits = grid_fits(units, codes, places, 4, 4 * GRID)
    for part in range(3):
        rows, goals = units[places == part] / 8_192, codes[places == part] / 8_192
        wanted = Ridge(alpha=1.0, fit_intercept=False).fit(rows, goals).coef_
        assert np.abs(fits[part] / GRID - wanted).max() <= 0.51 / GRID
    assert not fits[3].any()  # of no records
    moved = grid_fits(units[:-1], codes[:-1], places[:-1], 4, 4 * GRID)
    assert np.array_equal(fits[:2], moved[:2]) and not np.array_equal(fits[2], moved[2])


def test_it_finds_a_line_without_a_delta():
    random = np.random.default_rng(5)
    x = random.uniform(-1, 1, 6_000)
    frame = {"x": x, "y": (0.2 + 0.5 * x + random.normal(0, 0.1, 6_000)).clip(-1, 1)}
    model = DeepFit(LINE, "y", doublings=8).fit(open_source(frame), Budget(1), noise_source=SeededSource(1))
    assert model.numbers({"x": [-1.0, 1.0]}) == pytest.approx([-0.3, 0.7], abs=0.1)
    with pytest.raises(RequestError, match="at most 199 coordinates"):
        train(frame, "x0", Domain.of(**{f"x{place}": (0, 1) for place in range(202)}), Budget(1), "tukey")


@pytest.mark.deep
def test_an_attack_finds_nothing_but_planted_errors():
    """One fit of three goes to the other end, as the worst record could turn it; then depth counts too much."""
    pair = [boxes(np.array(fits)[:, None], 3) for fits in ((-3, -3, 3), (-3, 3, 3))]

    def points(worth):
        return lambda nested: np.array(deep_point(nested, Fraction(worth), SystemSource().stream()), float)

    assert audit(points(1), *pair, 2, 0, runs=4_000, level=1 - 1e-8).passed
    assert not audit(points(4), *pair, 2, 0, runs=4_000, level=1 - 1e-8).passed
