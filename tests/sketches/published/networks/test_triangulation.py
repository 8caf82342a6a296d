"""Orders in which axes are drawn, against plain counting."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.sketches.published.networks.triangulation import drawing_order, model_size

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
