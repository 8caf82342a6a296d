"""Marginals of a Markov random field are those of the whole table, however far its logarithms reach.

Orders in which axes are drawn, against plain counting.
"""

import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lab.published.markov_model import drawing_order, marginal, model_size

COUNTS = (3, 2, 4, 3, 2)
CLIQUES = ((0, 1), (1, 2), (2, 0), (3,), (1,))
"""Axes 0 to 2 in a ring, 3 alone, and 4 in none."""


def potentials(spread: float) -> dict:
    random = np.random.default_rng(1)
    return {clique: random.normal(0, spread, [COUNTS[axis] for axis in clique]) for clique in CLIQUES}


def whole(factors: dict) -> np.ndarray:
    logs = np.zeros(COUNTS)
    for clique, table in factors.items():
        for cell in itertools.product(*map(range, COUNTS)):
            logs[cell] += table[tuple(cell[axis] for axis in clique)]
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_every_pair_and_triple_is_that_of_the_whole_table(spread):
    factors = potentials(spread)
    joint = whole(factors)
    for size in (1, 2, 3):
        for wanted in itertools.combinations(range(len(COUNTS)), size):
            others = tuple(set(range(len(COUNTS))) - set(wanted))
            found = marginal(factors, COUNTS, wanted, 50.0)
            assert found.shape == tuple(COUNTS[axis] for axis in wanted)
            assert found == pytest.approx(50.0 * joint.sum(axis=others), abs=1e-9)


pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] < pair[1]), max_size=9)


@given(pairs, st.lists(st.integers(1, 5), min_size=6, max_size=6))
def test_axes_come_after_their_parents_and_every_clique_is_in_a_family(cliques, counts):
    order = drawing_order(counts, cliques)
    drawn: set[int] = set()
    for axis, parents in order:
        assert set(parents) <= drawn and list(parents) == sorted(parents)
        drawn.add(axis)
    assert drawn == set(range(6))
    families = [{axis, *parents} for axis, parents in order]
    assert all(any(set(clique) <= family for family in families) for clique in cliques)
    assert model_size(counts, order) == sum(int(np.prod([counts[i] for i in family])) for family in families)


def test_a_random_field_is_the_product_of_its_axes_given_their_parents():
    """A circle of four axes is not a tree: it needs one chord, and then the order tells it exactly."""
    counts, circle = (2, 3, 2, 3), [(0, 1), (1, 2), (2, 3), (0, 3)]
    random = np.random.default_rng(5)
    factors = {pair: random.uniform(0.2, 2, (counts[pair[0]], counts[pair[1]])) for pair in circle}
    joint = np.empty(counts)
    for at in product(*map(range, counts)):
        joint[at] = np.prod([factor[at[one], at[other]] for (one, other), factor in factors.items()])
    joint /= joint.sum()
    again = np.ones(counts)
    for axis, parents in drawing_order(counts, circle):
        family = tuple(i for i in range(4) if i not in (axis, *parents))
        together = joint.sum(axis=family, keepdims=True)
        again = again * together / together.sum(axis=axis, keepdims=True)
    assert np.allclose(again, joint)
    assert sum(len(parents) == 2 for _, parents in drawing_order(counts, circle)) == 2
