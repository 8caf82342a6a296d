"""Strategies: the matrix against its definition, norms against all places tried, and what a stranger may write."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import RequestError
from core.geometry.distance_profiles import Capped, OneSided, Power, gram_of_queries
from core.geometry.distance_strategy import (
    SIZES,
    Strategy,
    fitted_strategy,
    kept_strategy,
    mean_variance,
    unit_variance,
)
from core.privacy.budget import Neighbours
from tests.depth import crossed, draws

TOP = ((8, 3, 1), (1, 9, -2), (0, -1, 7))


def slow_measurements(strategy: Strategy, places: np.ndarray) -> np.ndarray:
    """Every measurement at places in [0, 1], by interpolation and by the hats' own formula, float64 (rows, places)."""
    coarse = np.linspace(0.0, 1.0, len(strategy.top[0]))
    rows = [np.interp(places, coarse, row) for row in strategy.top]
    cells = len(coarse) - 1
    for weight in strategy.hats:
        rows += [weight * np.maximum(0.0, 1.0 - np.abs(places * cells - (i + 0.5)) * 2.0) for i in range(cells)]
        cells *= 2
    return np.array(rows) * 2 ** len(strategy.hats)


@pytest.mark.parametrize("hats", [(), (5,), (5, 3, 2)])
def test_the_matrix_is_what_is_measured_at_the_nodes(hats):
    strategy = Strategy(TOP, hats)
    assert strategy.cells == 2 << len(hats)
    nodes = np.linspace(0.0, 1.0, strategy.cells + 1)
    assert (strategy.matrix == slow_measurements(strategy, nodes)).all()


@pytest.mark.parametrize(
    "strategy", [Strategy(TOP, (5, 3)), fitted_strategy(Power(1.0), 64, True)], ids=["small", "l1"]
)
def test_norms_bound_records_anywhere_and_are_reached(strategy):
    nodes = np.linspace(0.0, 1.0, strategy.cells + 1)
    places = np.concatenate([nodes, np.random.default_rng(0).random(300)])
    measured = slow_measurements(strategy, places)
    differences = measured[:, :, None] - measured[:, None, :]
    for relation, moved in ((Neighbours.ADD_REMOVE, measured), (Neighbours.REPLACE_ONE, differences)):
        l1, l2_squared = strategy.norms(relation)
        assert np.abs(moved).sum(axis=0).max() == pytest.approx(l1, rel=1e-12)
        assert (moved**2).sum(axis=0).max() == pytest.approx(l2_squared, rel=1e-12)


def test_the_estimator_undoes_the_matrix():
    for strategy in (Strategy(TOP, (5, 3)), fitted_strategy(Power(1.0), 128, False)):
        size = strategy.cells + 1
        assert strategy.estimator @ strategy.matrix == pytest.approx(np.eye(size), abs=1e-6)


@pytest.mark.parametrize("profile", [Power(1.0), OneSided(True), OneSided(False)], ids=str)
def test_kept_strategies_are_kept_for_every_size_and_far_better_than_measuring_the_masses(profile):
    for pure in (True, False):
        for cells in SIZES:
            strategy = kept_strategy(profile, cells, pure)
            assert strategy.cells == cells
            if cells > 64:
                continue  # a pseudo-inverse of that size takes a second
            identity = float(np.trace(gram_of_queries(profile, cells)))
            assert unit_variance(strategy, profile, pure) < (2.0 if cells == 8 else 24.0 / cells) * identity


def test_the_variance_of_the_l1_distance_is_what_the_documents_say():
    """Laplace 1.11 to 1.6 and Gaussian 0.69 times the variance of noise for sensitivity 1, up to 128 cells."""
    for cells in SIZES[:5]:
        assert 1.0 < unit_variance(fitted_strategy(Power(1.0), cells, True), Power(1.0), True) < 1.6
        assert 0.68 < unit_variance(fitted_strategy(Power(1.0), cells, False), Power(1.0), False) < 0.70


@pytest.mark.thorough
@pytest.mark.parametrize(("profile", "pure"), crossed([Capped(0.3), Power(2.0)], [False, True]), ids=str)
def test_other_profiles_are_fitted_on_the_spot_and_beat_the_kept_ones(profile, pure):
    own, other = fitted_strategy(profile, 8, pure), fitted_strategy(Power(1.0), 8, pure)
    assert unit_variance(own, profile, pure) < unit_variance(other, profile, pure)


@pytest.mark.deep
def test_a_finer_grid_hangs_hats_below():
    strategy = fitted_strategy(Capped(0.3), 64, True)
    assert strategy.cells == 64 and len(strategy.hats) == 2
    assert unit_variance(strategy, Capped(0.3), True) < 2.0 * unit_variance(
        fitted_strategy(Capped(0.3), 16, True), Capped(0.3), True
    )


def test_mean_variance_averages_answers():
    strategy, profile = fitted_strategy(Power(1.0), 16, True), Power(1.0)
    gram = gram_of_queries(profile, 16)
    assert mean_variance(strategy, profile) == pytest.approx(np.trace(gram @ strategy.covariance))


@given(st.lists(st.lists(st.integers(-50, 50), min_size=3, max_size=3), min_size=3, max_size=4))
@settings(max_examples=draws(12, 30))
def test_a_strategy_is_rebuilt_or_refused(top):
    if np.linalg.matrix_rank(np.array(top, dtype=float)) == 3:
        strategy = Strategy(top, (3,))
        assert Strategy.from_dict(strategy.to_dict()) == strategy
    else:
        with pytest.raises(RequestError):
            Strategy(top, (3,))


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"top": TOP},
        {"top": "abc", "hats": []},
        {"top": [], "hats": []},
        {"top": [[1]], "hats": []},
        {"top": [[1, 2], [3]], "hats": []},
        {"top": [[1.5, 0], [0, 1]], "hats": []},
        {"top": [[1, 0], [0, 10**9]], "hats": []},
        {"top": [[1, 0], [0, True]], "hats": []},
        {"top": [[1, 0], [0, 1]], "hats": [0]},
        {"top": [[1, 0], [0, 1]], "hats": 3},
        {"top": [[1, 0], [0, 1]], "hats": [1] * 7},
        {"top": [[1, 1], [1, 1]], "hats": []},
        {"top": [[int(i == j) for j in range(66)] for i in range(66)], "hats": []},
        {"top": [[int(i == j) for j in range(65)] for i in range(65)], "hats": [1] * 4},
        {"top": [[1, 0]] * 200, "hats": []},
    ],
)
def test_a_strangers_strategy_is_refused_in_one_sentence(value):
    with pytest.raises(RequestError) as refusal:
        Strategy.from_dict(value)
    assert str(refusal.value).count("\n") == 0
