"""Intervals that hold at all queries of one release at once, over many releases of fixed seeds."""

import numpy as np
import pytest
from scipy.stats import binom

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Gaussian, Kernel, Laplacian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.answers import level_of_each
from core.sketches.distance import Distance
from core.sketches.features import Features
from core.sketches.histogram import Histogram
from core.sketches.race import Race
from tests.depth import draws

DOMAIN = Domain.of(x=(0.0, 1.0), y=(0.0, 1.0))
RANDOM = np.random.default_rng(0)
POINTS = np.asfortranarray(np.clip(RANDOM.normal(0.4, 0.15, (500, 2)), 0, 1))
QUERIES = RANDOM.random((60, 2))
RELEASES = draws(150, 300)
FALSE_ALARM = 1e-4
"""Chance that releases which keep what they say are found not to, a mechanism."""
WIDE: Kernel = Gaussian(0.3)
MECHANISMS = {
    "histogram": lambda seed: Histogram(DOMAIN, WIDE, cells=(16, 16)),
    "distance": lambda seed: Distance(DOMAIN).sized_for(Budget(1), len(POINTS)),
    "race, 4 groups": lambda seed: Race(DOMAIN, Laplacian(0.4), rows=200, width=64, groups=4, seed=seed),
    "race, 10 groups": lambda seed: Race(DOMAIN, Laplacian(0.4), rows=200, width=64, groups=10, seed=seed),
    "features": lambda seed: Features(DOMAIN, WIDE, rows=200, groups=8, seed=seed),
}


def misses(mechanism, together: bool) -> int:
    """Releases whose intervals miss the exact sum at one query or more."""
    found = 0
    exact = mechanism(0).exact(DOMAIN.encode_queries(QUERIES, mechanism(0).metric), POINTS)
    for seed in range(RELEASES):
        sketch = mechanism(seed)
        table = sketch.zeros()
        sketch.add(table, POINTS)
        made = seal(sketch, ExactTable(table, len(POINTS)), Budget(1), noise_source=SeededSource(seed))
        answers = made.answer(QUERIES, together=together)
        found += bool(((exact < answers.low) | (exact > answers.high)).any())
    return found


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize("name", MECHANISMS)
def test_all_queries_are_covered_together_in_the_stated_share_of_releases(name):
    assert misses(MECHANISMS[name], together=True) <= binom.isf(FALSE_ALARM, RELEASES, 0.05)


@pytest.mark.deep
def test_intervals_of_their_own_level_are_not():
    assert misses(MECHANISMS["race, 4 groups"], together=False) > binom.isf(FALSE_ALARM, RELEASES, 0.05)


def test_the_level_of_each_is_shared_out():
    assert level_of_each(0.95, 1) == level_of_each(0.95, 0) == pytest.approx(0.95)
    assert 1.0 - level_of_each(0.9, 100) == pytest.approx(0.001)
    with pytest.raises(RequestError, match="level"):
        level_of_each(1.0, 5)
