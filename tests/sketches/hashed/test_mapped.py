"""Sketches of huge tables on tables that are not arrays: the same answers, bit for bit."""

import numpy as np
import pytest

from core.domain import Domain, Items
from core.domain.item_sets import Sets
from core.geometry.kernels import Angular, Euclidean, Manhattan, Product
from core.machine.tables import Narrow, Sum
from core.sketches.hashed import mapped
from core.sketches.hashed.minhash import SCHEMES, MinHash
from core.sketches.hashed.race import Race

DOMAIN = Domain.of(x=(-3, 3), y=(-3, 3))
RANDOM = np.random.default_rng(1)


def narrowed(table: np.ndarray) -> Narrow:
    """The table as int8, the counters apart that this does not hold."""
    apart = (table <= -128) | (table > 127)
    return Narrow(np.where(apart, -128, table).astype(np.int8), np.flatnonzero(apart), table[apart])


@pytest.mark.parametrize(
    "kernel", [Euclidean(1.0), Manhattan(0.1, power=2), Product((Euclidean(2.0), Angular()))], ids=str
)
@pytest.mark.parametrize("width", [7, 4096])
def test_mapped_tables_and_sums_are_answered_as_arrays_are(kernel, width, monkeypatch):
    """Queries outside the bounds among them, a few at a time, and counters that stand apart."""
    monkeypatch.setattr(mapped, "PLACES", 100)
    race = Race(DOMAIN, kernel, rows=9, width=width, seed=5, groups=4)
    table = RANDOM.integers(-200, 200, race.shape)
    narrow = narrowed(table)
    queries = np.asfortranarray(np.concatenate([RANDOM.uniform(-4, 4, (40, 2)), [(1e30, 0.0)]]))
    for kept, whole in ((narrow, table), (Sum(narrow, table), 2 * table)):
        asked = race.group_estimates(whole, 50.5, queries), race.group_estimates(kept, 50.5, queries)
        assert (asked[0][0] == asked[1][0]).all() and asked[0][0].any()
        assert race.total(kept) == race.total(whole)
        medians = [race.median_of_means(one, 50.5, queries, 0.5) for one in (whole, kept)]
        assert (medians[0] == medians[1]).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_mapped_tables_of_sets_are_answered_as_arrays_are(scheme):
    sketch = MinHash(Domain((Items("tags"),)), rows=9, width=50, scheme=scheme, seed=5, groups=3)
    assert sketch.reads_mapped
    table = RANDOM.integers(-200, 200, sketch.shape)
    queries = Sets.of([[1, 2, 3], ["beer"], range(40)])
    for kept, whole in ((narrowed(table), table), (Sum(narrowed(table), table), 2 * table)):
        assert (sketch.group_estimates(whole, 50.5, queries)[0] == sketch.group_estimates(kept, 50.5, queries)[0]).all()
        assert sketch.total(kept) == sketch.total(whole)
