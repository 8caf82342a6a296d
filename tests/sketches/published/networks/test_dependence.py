"""The score of PrivBayes against exact fractions, and its sensitivity by trying every neighbour of small tables."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core.privacy.neighbours import Neighbours
from core.sketches.published.networks.dependence import SCALE, dependence, dependence_sensitivity

tables = arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(0, 9))


def slow(table) -> int:
    """2 n R, from the two distributions, cell by cell."""
    table = [[int(count) for count in row] for row in table]
    n = sum(map(sum, table))
    if n == 0:
        return 0
    rows = [Fraction(sum(row), n) for row in table]
    columns = [Fraction(sum(column), n) for column in zip(*table, strict=True)]
    gaps = (abs(Fraction(table[i][j], n) - rows[i] * columns[j]) for i in range(len(rows)) for j in range(len(columns)))
    score = 2 * n * (sum(gaps) / 2)
    return (SCALE * score.numerator) // score.denominator


def more(table, i, j) -> np.ndarray:
    longer = table.copy()
    longer[i, j] += 1
    return longer


@given(tables)
def test_the_score_is_that_of_the_paper_times_twice_the_records(table):
    assert dependence(table) == slow(table)


def test_more_records_than_64_bit_products_hold():
    table = np.array([[3 << 40, 1 << 20], [5, 7 << 41]])
    assert dependence(table) == slow(table)


def test_independent_attributes_score_nothing_and_equal_ones_most():
    assert dependence(np.outer([1, 2, 3], [4, 5])) == 0
    assert dependence(np.diag([50, 50])) == SCALE * 100


def every_table(cells, records):
    if cells == 1:
        yield (records,)
        return
    for first in range(records + 1):
        for rest in every_table(cells - 1, records - first):
            yield (first, *rest)


@pytest.mark.parametrize(("shape", "most"), [((2, 2), 7), ((2, 3), 4), ((3, 3), 3)])
def test_every_neighbour_of_every_small_table(shape, most):
    """One record more moves the score by 4 n / (n + 1) at most, and some record does."""
    places = list(product(*map(range, shape)))
    for records in range(most + 1):
        added = replaced = 0
        for counts in every_table(len(places), records):
            table = np.array(counts).reshape(shape)
            before, after = dependence(table), [dependence(more(table, *place)) for place in places]
            added = max(added, *(abs(score - before) for score in after))
            replaced = max(replaced, max(after) - min(after))
        assert abs(added - SCALE * 4 * records / (records + 1)) < 1
        assert added <= dependence_sensitivity(Neighbours.ADD_REMOVE)
        assert replaced <= SCALE * (6 - Fraction(2, records + 1)) < dependence_sensitivity(Neighbours.REPLACE_ONE)


def test_large_tables_reach_both_bounds_almost():
    alone = np.array([[10**6, 0], [0, 0]])
    assert dependence(more(alone, 1, 1)) - dependence(alone) == dependence_sensitivity(Neighbours.ADD_REMOVE) - 1
    few, many = 10**3, 10**6
    crowd = np.array([[few, 0, 0], [many, 0, few], [0, 0, 0]])
    moved = abs(dependence(more(crowd, 2, 1)) - dependence(more(crowd, 0, 2)))
    assert 0.99 * dependence_sensitivity(Neighbours.REPLACE_ONE) < moved


@given(tables, st.data())
def test_no_neighbours_of_larger_tables_are_further_apart(table, data):
    place = st.tuples(*(st.integers(0, side - 1) for side in table.shape))
    one, other = (dependence(more(table, *data.draw(place))) for _ in range(2))
    assert abs(one - dependence(table)) <= dependence_sensitivity(Neighbours.ADD_REMOVE)
    assert abs(one - other) <= dependence_sensitivity(Neighbours.REPLACE_ONE)
