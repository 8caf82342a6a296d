"""Which pairs are counted, and how finely, from public sizes."""

import math
from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Categorical, Domain, Numeric, RequestError
from core.domain.declarations import with_missing_category
from core.privacy.budget import Neighbours, Sensitivity
from core.privacy.calibration import calibrate
from core.releases.forecast.whole_table import cell_error, reason
from core.releases.job import release
from core.sketches.plan import plan
from core.sketches.tables import table_sizes
from core.sketches.tables.reading import Noise
from core.sketches.tables.table_weights import _ranges
from core.sketches.tables.tables import Tables
from tests.depth import deep

MANY = Domain(
    tuple(Numeric(f"x{i}", 0, 1) for i in range(20))
    + tuple(Categorical(f"c{i}", tuple("ab")) for i in range(10))
    + (Categorical("wide", tuple(map(str, range(50)))),)
)
PROMISE = Budget(1, "1e-9")


@pytest.mark.thorough
@pytest.mark.parametrize("budget", [PROMISE, deep(Budget(1))], ids=["delta", "pure"])
def test_as_many_pairs_are_counted_as_can_be_seen_few_cells_and_first_columns_first(budget, monkeypatch):
    few = 3_000 if budget.pure else 1_500
    if budget.pure:  # where they are counted at all: few of them bring single columns more noise than they are worth
        assert not Tables.of(MANY).sized_for(budget, few).pairs
        monkeypatch.setattr(table_sizes, "_worth_it", lambda *facts: True)
    chosen = Tables.of(MANY).sized_for(budget, few)
    pairs = chosen.pairs
    every = table_sizes.all_pairs(len(MANY.columns))
    assert 0 < len(pairs) < len(every)
    # yes/no columns, at the end of the table, are among the first, and the widest column in none of them
    yes = {20, 21, 22, 23, 24, 25, 26, 27, 28, 29}
    assert {pair for pair in every if set(pair) <= yes} <= set(pairs)
    assert not any(30 in pair for pair in pairs) and (30,) in chosen.tables
    # all columns are there by themselves, and more people bring more pairs
    assert len(chosen.layout.singles) == len(MANY.columns)
    assert len(pairs) < len(Tables.of(MANY).sized_for(budget, 2 * few).pairs)
    said = reason(chosen, few, budget)
    assert f"{len(pairs)} pairs" in said and f"other {len(every) - len(pairs)} pairs are left out" in said


def test_pairs_that_are_counted_hold_more_than_noise_and_one_more_would_not():
    domain = Domain(tuple(Categorical(f"c{i}", tuple("abcdefgh")) for i in range(10)))
    chosen = Tables.of(domain).sized_for(PROMISE, 2_000)
    error, cells = cell_error(chosen, plan(chosen, PROMISE).noise.variance, chosen.pairs)
    assert 0 < len(chosen.pairs) < 45
    assert table_sizes.SEEN <= 2_000 / cells / error < 1.2 * table_sizes.SEEN


@pytest.mark.thorough
def test_a_hundred_answers_of_few_people_stay_single_columns_each_answer_a_cell():
    """Answers from 1 to 5 had three cells with noise of hundreds, as all pairs were counted."""
    answers = Domain(with_missing_category(tuple(Numeric(f"q{i}", 1, 5, step=1) for i in range(30))))
    few, many = (Tables.of(answers).sized_for(PROMISE, records) for records in (1_000, 6_000))
    assert not few.pairs and len(many.pairs) == math.comb(30, 2)
    assert {axis.cells for sketch in (few, many) for axis in sketch.axes} == {6}
    alone, beside = (cell_error(one, plan(one, PROMISE).noise.variance, one.layout.singles)[0] for one in (few, many))
    assert beside <= 1.02 * max(table_sizes.SPARED * alone, table_sizes.ENOUGH * 6_000)


def test_columns_to_count_the_others_by_are_the_owners_choice():
    chosen = Tables.of(MANY, by=["c0", "wide"]).sized_for(PROMISE, 2_000)
    assert all({20, 30} & set(pair) for pair in chosen.tables) and len(chosen.tables) == 30 + 29
    assert "each together with c0 and wide, 59 pairs" in reason(chosen, 2_000, PROMISE, ["c0", "wide"])
    with pytest.raises(RequestError, match="no column 'age'"):
        Tables.of(MANY, by=["age"])
    with pytest.raises(RequestError, match="go with pairs"):
        Tables.of(MANY, tables="singles", by=["c0"])


@pytest.mark.deep
def test_single_columns_weigh_as_much_as_all_pairs_where_these_are_chosen():
    alike = Tables.of(MANY, 4).sized_for(PROMISE, 1e6)
    chosen = Tables.of(MANY, halvings=0).sized_for(PROMISE, 1e6)
    assert len(chosen.pairs) == math.comb(31, 2)
    alike = Tables.of(MANY, chosen.bins, halvings=0).sized_for(PROMISE, 1e6)
    single, pair = (
        [cell_error(sketch, plan(sketch, PROMISE).noise.variance, tables)[0] for sketch in (chosen, alike)]
        for tables in (alike.layout.singles, alike.tables)
    )
    assert single[0] < 0.8 * single[1] and pair[0] < 1.15 * pair[1]


def test_without_a_number_of_records_an_ordinary_one_is_supposed():
    domain = Domain.of(x=(0, 1), c=list("ab"), y=(0, 1))
    data = {"x": [0.5] * 50, "c": ["a"] * 50, "y": [0.1] * 50}
    made = release(Tables.of(domain), data, PROMISE).sketch
    assert made == Tables.of(domain).sized_for(PROMISE, 10_000) and len(made.pairs) == 3


LINE = Domain.of(x=(0, 1))


@pytest.mark.parametrize(("cells", "halvings"), [(2, 2), (3, 1), (5, 2)])
def test_ranges_one_by_one(cells, halvings):
    fine = cells << halvings
    blocks = np.kron(np.eye(cells), np.ones((1, 1 << halvings))) / (1 << halvings)
    sums = np.zeros(halvings + 2)
    ranges = [(low, high) for low in range(fine) for high in range(low + 1, fine + 1)]
    for low, high in ranges:
        inside = np.zeros(fine)
        inside[low:high] = 1.0
        coarse = blocks @ inside
        sums[0] += inside.mean() ** 2
        sums[1] += ((coarse - coarse.mean()) ** 2).sum()
        for level in range(1, halvings + 1):
            half = fine // (cells << level)
            halves = inside.reshape(-1, 2, half).sum(axis=2)
            sums[1 + level] += ((halves[:, 0] - halves[:, 1]) ** 2).sum() / (2 * half)
    assert np.allclose(_ranges(cells, halvings), sums / len(ranges))


def mean_range_variance(sketch: Tables, variance: float) -> float:
    """Over all ranges of fine cells, by the covariance of sums from the lower end."""
    noise, fine = Noise(sketch.layout, sketch.weights, variance), sketch.axes[0].fine
    ranges = np.array([np.arange(fine) < high for high in range(1, fine + 1)], dtype=float)
    total = 0.0
    for low in range(fine):
        rows = ranges[low:] - (np.arange(fine) < low)
        total += noise.fine_variance(0, rows).sum()
    return total / (fine * (fine + 1) / 2)


def hierarchy(branches: int, levels: int) -> tuple[Sensitivity, np.ndarray]:
    """Counts of a tree's levels: what one person moves, and the covariance of cells by least squares."""
    cells = branches**levels
    rows = [np.kron(np.eye(branches**k), np.ones((1, cells // branches**k))) for k in range(levels + 1)]
    matrix = np.vstack(rows)
    return Sensitivity(levels + 1, levels + 1, unit_shifts=True), np.linalg.inv(matrix.T @ matrix)


def tree_variance(covariance: np.ndarray) -> float:
    """The same for the covariance of all cells."""
    cells = len(covariance)
    below = np.zeros((cells + 1, cells + 1))
    below[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
    return ((cells + 1) * np.trace(below) - below.sum()) / (cells * (cells + 1) / 2)


@pytest.mark.deep
def test_ranges_have_less_error_than_a_hierarchy_of_counts_with_consistency():
    """Pure: at most 0.85 of the best of several trees. Gaussian: at noise for how far a person moves either."""
    trees = [hierarchy(*shape) for shape in ((2, 8), (4, 4), (16, 2))]
    budget = Budget(1)
    sketch = Tables.of(LINE, 8, "singles", 5).sized_for(budget, 1.0)
    noise = calibrate(sketch.sensitivity(Neighbours.ADD_REMOVE), Fraction(1))
    best = min(calibrate(moved, Fraction(1)).variance * tree_variance(each) for moved, each in trees)
    assert mean_range_variance(sketch, noise.variance) < 0.85 * best
    haar = Tables.of(LINE, 2, "singles", 7).measuring_contrasts()
    least = mean_range_variance(haar, float(haar.sensitivity(Neighbours.ADD_REMOVE).l2_squared))
    assert least < 0.87 * min(moved.l2_squared * tree_variance(each) for moved, each in trees)


def test_halvings_cost_a_column_no_more_than_its_table_did():
    domain = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))
    plain, fine = (Tables.of(domain, 8, "pairs", halvings).measuring_contrasts() for halvings in (0, 4))
    scaled = [
        math.sqrt(
            Noise(one.layout, one.weights, float(one.sensitivity(Neighbours.ADD_REMOVE).l2_squared)).variances[0, 1]
        )
        * one.layout.unit((0, 1))
        for one in (plain, fine)
    ]
    assert 1.0 < (scaled[1] / scaled[0] * (plain.layout.unit((0, 1)) / fine.layout.unit((0, 1)))) < 1.35
