"""Marginals of a Markov random field are those of the whole table, however far its logarithms reach."""

import itertools

import numpy as np
import pytest

from core.sketches.published.networks.elimination import marginal

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
