"""Bounds that are bought: what one person can move, the order of spending, and how good the bounds are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BudgetError, RequestError
from core.privacy.budget import Budget, Neighbours, PrivacyUnit
from core.privacy.choosing.private_bounds import Grid, grid_sensitivity, plan_bounds, release_bounds
from core.privacy.noise.randomness import SeededSource

GRIDS = (Grid(-10, 10, cells=16), Grid(-1e6, 1e6, cells=16, spacing="log"))
values = st.one_of(st.floats(-1e9, 1e9), st.sampled_from([-10.0, 0.0, 10.0, -1e6, 1e6, math.inf, -math.inf]))
records = st.tuples(values, values)


def counts(people):
    rows = np.array([record for person in people for record in person], dtype=float).reshape(-1, 2)
    return np.stack([grid.count(rows[:, place]) for place, grid in enumerate(GRIDS)])


@given(
    others=st.lists(st.lists(records, max_size=3), max_size=4),
    person=st.lists(records, max_size=3),
    instead=st.lists(records, max_size=3),
)
def test_one_person_moves_no_more_than_declared(others, person, instead):
    unit = PrivacyUnit("id", 3)
    pairs = {Neighbours.ADD_REMOVE: [], Neighbours.REPLACE_ONE: instead}
    for neighbours, other in pairs.items():
        moved = counts([*others, person]) - counts([*others, other])
        declared = grid_sensitivity(2, neighbours, unit)
        assert np.abs(moved).sum() <= declared.l1
        assert (moved**2).sum() <= declared.l2_squared
        assert all(np.abs(column).sum() <= declared.l1 // declared.parts for column in moved)


@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_some_person_reaches_what_is_declared(neighbours, people):
    here, there = [[(1.0, 1.0)] * people], [[(9.0, 9e5)] * people]
    moved = counts(here) - counts(there if neighbours is Neighbours.REPLACE_ONE else [])
    declared = grid_sensitivity(2, neighbours, PrivacyUnit("id", people))
    assert np.abs(moved).sum() == declared.l1
    assert (moved**2).sum() == declared.l2_squared


@given(st.sampled_from(["linear", "log"]), st.integers(8, 300), st.floats(-1e6, 1e6), st.floats(1, 1e12))
def test_every_value_is_counted_in_the_cell_that_holds_it(spacing, cells, low, width):
    high = low + width
    grid = Grid(low, high, cells, spacing)
    assert grid.edges[0] == low and grid.edges[-1] == high
    inside = np.linspace(low, high, 57)[:-1]
    for value in inside:
        (cell,) = np.flatnonzero(grid.count(np.array([value])))
        assert grid.edges[cell] <= value < grid.edges[cell + 1]
    assert grid.count(np.array([low - 1.0, -math.inf]))[0] == 2
    assert grid.count(np.array([high, high + 1.0, math.inf]))[-1] == 3


def test_a_grid_in_orders_of_magnitude():
    edges = Grid(-1e9, 1e9, 256, "log").edges
    widths = np.diff(edges)
    assert widths.min() < 0.2
    far = np.abs(edges[:-1]) > 100
    assert (widths[far] < 0.2 * np.abs(edges[:-1][far])).all()


@pytest.mark.parametrize(
    "facts",
    [
        dict(low=1, high=1),
        dict(low=2, high=1),
        dict(low=0, high=math.inf),
        dict(low=-1e308, high=1e308),
        dict(low=0, high=1, cells=7),
        dict(low=0, high=1, cells=10**6),
        dict(low=0, high=1, spacing="square"),
        dict(low=0, high=1, spacing="log", unit=0),
        dict(low=1e15, high=1e15 + 4, cells=64),
    ],
)
def test_grids_that_make_no_sense(facts):
    with pytest.raises(RequestError):
        Grid(**facts)


def buy(data, grid, epsilon=1, seed=1, spend=lambda cost: None, delta=0, **options):
    budget = Budget(epsilon, delta)
    (found,) = release_bounds(
        [grid], [grid.count(data)], budget, spend=spend, noise_source=SeededSource(seed), **options
    )
    return found


def test_the_budget_is_spent_before_any_noise_exists():
    class Forbidden:
        private = True

        def __getattr__(self, name):
            raise AssertionError("noise was drawn before the budget was spent")

    def refuse(cost):
        assert cost.epsilon == Budget("0.5").epsilon and cost.delta == 0
        raise BudgetError("no budget is left")

    grid = GRIDS[0]
    with pytest.raises(BudgetError):
        release_bounds([grid], [grid.count(np.zeros(9))], Budget("0.5"), spend=refuse, noise_source=Forbidden())
    with pytest.raises(AssertionError, match="before the budget"):
        release_bounds(
            [grid], [grid.count(np.zeros(9))], Budget("0.5"), spend=lambda cost: None, noise_source=Forbidden()
        )
    with pytest.raises(TypeError):
        release_bounds([grid], [grid.count(np.zeros(9))], Budget("0.5"))  # nobody can forget the ledger


def test_the_noise_fits_the_sensitivity():
    for neighbours, factor in ((Neighbours.ADD_REMOVE, 1), (Neighbours.REPLACE_ONE, 2)):
        planned = plan_bounds(3, Budget("0.5", neighbours=neighbours), PrivacyUnit("id", 4))
        assert planned.noise.parameter == Fraction(3 * 4 * factor) / Fraction(1, 2)
        assert planned.cost.pure_epsilon == Fraction(1, 2)
    assert plan_bounds(1, Budget(1, "1e-6")).noise.distribution == "discrete_laplace"
    assert plan_bounds(20, Budget(1, "1e-6")).noise.distribution == "discrete_gaussian"


@pytest.mark.parametrize(
    ("draw", "grid", "epsilon", "delta"),
    [
        (lambda rng: rng.normal(170, 10, 20_000), Grid(0, 1000), 0.5, 0),
        (lambda rng: rng.lognormal(8, 0.5, 20_000), Grid(-1e9, 1e9, spacing="log"), 0.5, 0),
        (lambda rng: -rng.lognormal(3, 1, 20_000), Grid(-1e9, 1e9, spacing="log"), 0.5, "1e-6"),
        (lambda rng: np.full(20_000, 42.0), Grid(0, 1000), 0.5, 0),
    ],
)
def test_the_bounds_hold_the_bulk_and_little_more(draw, grid, epsilon, delta):
    data = draw(np.random.default_rng(3))
    for seed in range(20):
        found = buy(data, grid, epsilon, seed, delta=delta)
        assert found.found
        inside = np.mean((data >= found.low) & (data <= found.high))
        assert inside > 0.95
        # Outward by a cell and a rounding step at most: the cells that hold the extremes are the farthest it can go.
        held = np.flatnonzero(grid.count(data))
        low, high = grid.edges[held[0]], grid.edges[held[-1] + 1]
        slack = 0.2 * (high - low) + 1e-9
        assert low - slack <= found.low and found.high <= high + slack


def test_each_tail_is_as_thin_as_asked_for():
    data = np.arange(200_000) / 200.0
    for share in (0.01, 0.1, 0.25):
        found = buy(data, Grid(-500, 1500, cells=400), quantiles=(share, 1 - share))
        assert abs(found.low - 1000 * share) < 30
        assert abs(found.high - 1000 * (1 - share)) < 30


def test_too_few_records_give_the_range_that_was_typed():
    failures = 0
    for seed in range(60):
        found = buy(np.full(3, 500.0), Grid(0, 1000), epsilon=0.1, seed=seed)
        failures += found.found
        if not found.found:
            assert (found.low, found.high) == (0, 1000)
    # A sum of noise alone stands 4 of its deviations above zero, once in 256 steps, in about 1 of 100 releases.
    assert failures < 12


@pytest.mark.parametrize("quantiles", [(0.9, 0.1), (0.5, 0.5), (-0.1, 0.9), (0, 1.5), (0, math.nan)])
def test_quantiles_that_make_no_sense_spend_nothing(quantiles):
    with pytest.raises(RequestError):
        buy(np.zeros(5), GRIDS[0], quantiles=quantiles, spend=lambda cost: pytest.fail("spent"))


def test_bounds_far_from_zero_are_bounds_all_the_same():
    """Twelve digits made one number of both, which no column can have as bounds; the budget was spent by then."""
    grid = Grid(1e15, 1e15 + 4096, 4096)
    counts = np.zeros(4096, np.int64)
    counts[100:102] = 10**6
    (found,) = release_bounds([grid], [counts], Budget(1), spend=lambda cost: None, noise_source=SeededSource(1))
    assert found.found
    assert found.low <= grid.edges[100] < grid.edges[102] <= found.high
