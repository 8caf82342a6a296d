"""Contrasts of an axis: orthogonal in whole numbers, nearly equally long, and known in every norm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sketches.tables.table_layout import contrasts

SIZES = (2, 3, 7, 10, 16, 25, 97, 100)


def matrix(one) -> np.ndarray:
    """The slow reference: one row a contrast, of Python's numbers."""
    rows = np.zeros((one.rows, one.cells), dtype=object)
    for k in range(one.rows):
        rows[k, one.first[k] : one.middle[k]] = int(one.left[k])
        rows[k, one.middle[k] : one.last[k]] = -int(one.right[k])
    return rows


@pytest.mark.few(6)
@pytest.mark.parametrize("cells", SIZES)
@pytest.mark.parametrize("bits", (6, 13))
def test_they_are_orthogonal_to_each_other_and_to_the_sum_and_their_norms_are_exact(cells, bits):
    one = contrasts(cells, bits)
    rows = matrix(one)
    gram, inner = rows.dot(rows.T), rows.T.dot(rows)
    assert all(gram[i, j] == 0 for i in range(one.rows) for j in range(i)) and not rows.sum(axis=1).any()
    apart = [(i, j) for i in range(cells) for j in range(i)]
    assert one.norms.square == max(inner[i, i] for i in range(cells))
    assert one.norms.sum == max(np.abs(rows[:, i]).sum() for i in range(cells))
    assert one.norms.moved == max(inner[i, i] + inner[j, j] - 2 * inner[i, j] for i, j in apart)
    assert one.norms.least == min(-inner[i, j] for i, j in apart)
    assert one.norms.most == max(-inner[i, j] for i, j in apart)
    assert one.largest_entry == np.abs(rows).max()


@pytest.mark.parametrize("cells", SIZES)
def test_whole_numbers_cost_less_than_a_thousandth(cells):
    one = contrasts(cells, 13)
    best = 1.0 - 1.0 / cells
    loss = one.norms.square / one.length**2 * (one.spread.mean() * one.length**2) / best**2
    assert 0.9999999 < loss < 1.001


@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_counts_come_back_but_for_their_mean(cells, seed):
    random, one = np.random.default_rng(seed), contrasts(cells, 10)
    counts = random.integers(0, 1000, (3, cells))
    assert np.array_equal(one.of(counts), counts @ matrix(one).astype(np.int64).T)
    assert np.allclose(one.back(one.of(counts)), counts - counts.mean(axis=1, keepdims=True))
    inverse = np.linalg.pinv(matrix(one).astype(float))
    weights = random.normal(size=cells)
    assert np.allclose(one.spread, (inverse**2).sum(axis=1))
    assert np.isclose(one.variance(weights), ((weights @ inverse) ** 2).sum())
