"""Sets that forecasts are tried on: public, made up, of the shape that graphs and baskets have.

Nobody may look at the private sets to see how they share items. In follower graphs and baskets most sets are short and
a few very long, and a few items are in very many sets while most are in one or two; both tails fall like powers. The
powers were set so that sampling errors on a public graph of 78,000 lists come out right, from a table that is wide
enough to one of a hundredth of that width.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from ..domain.item_sets import Sets
from ..geometry.hashing.uniforms import PublicRandom
from ..geometry.kernels import Jaccard

REFERENCE_SETS = 20_000
MOST_ITEMS = 3_000_000
QUERIES = 300
SIZES = (4.0, 12.0, 36.0)
"""Items of a set on average that are reckoned with when nobody says."""
LONGEST = 400.0
"""The longest set, in multiples of the shortest."""
UNIVERSE = 1.5
"""Items that there are, in multiples of the sets."""
DEFAULT_POPULARITY, LARGEST_POPULARITY = 2.6, 12.0
LEAST_ANSWER = 100.0
"""Sums from which on it is the share of similar sets, and no longer their number, that decides how sure they are."""


def reference_sets(records: float, density: float | None, size: float) -> Sets:
    """Public random sets in a random order.

    Parameters
    ----------
    records : float
        How many there are; fewer are made where they are many, as alike to each other as makes answers as sure.
    density : float | None
        Average similarity of two sets, as far as such sets can have it; None for what is ordinary.
    size : float
        Items of a set on average.
    """
    count = int(max(QUERIES, min(records, REFERENCE_SETS, MOST_ITEMS / size)))
    random = PublicRandom(0, 11)
    multiples = np.minimum(1.0 / random.uniforms(count), LONGEST)
    shortest = size / multiples.mean()
    sizes = np.maximum(np.floor(shortest * multiples + random.uniforms(count) - 0.5), 1.0).astype(np.int64)
    uniforms = random.uniforms(int(sizes.sum()))

    def popular(power: float) -> Sets:
        """Items drawn so that the share of the most popular ones rises with the power."""
        return Sets.of_sizes(sizes, (UNIVERSE * count * uniforms**power).astype(np.uint64))

    if density is None:
        return popular(DEFAULT_POPULARITY)
    wanted = max(density * count, min(density * records, LEAST_ANSWER))

    def excess(power: float) -> float:
        sets = popular(power)
        return float(np.log(Jaccard().sums(sets[:QUERIES], sets).mean() / wanted))

    if excess(1.0) >= 0.0:
        return popular(1.0)
    if excess(LARGEST_POPULARITY) <= 0.0:
        return popular(LARGEST_POPULARITY)
    return popular(brentq(excess, 1.0, LARGEST_POPULARITY, xtol=2e-2))
