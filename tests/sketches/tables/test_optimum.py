"""What is asked of halvings, against all ranges one by one, and beside a hierarchy of counts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Domain
from core.privacy.calibration import calibrate
from core.privacy.neighbours import Neighbours, Sensitivity
from core.sketches.tables.optimum import _ranges
from core.sketches.tables.reading import Noise
from core.sketches.tables.tables import Tables

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
