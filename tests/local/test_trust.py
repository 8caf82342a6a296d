"""What trust is worth, against errors that are measured."""

from decimal import Decimal

import numpy as np
import pytest

from core import Domain, Race, kernels
from core.local.choosing import outlook
from core.local.oracles.table import oracle
from core.local.trust import of_counts, of_density, owner_noise
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_so_many_people_give_the_owners_error(epsilon):
    one = oracle("ss", 20, epsilon)
    found = of_counts(outlook(one, 5_000))
    again = of_counts(outlook(one, round(found.needed)))
    assert abs(again.local / found.owner - 1) < 1e-3
    assert found.owner < found.local and found.needed > 5_000
    noise = add_noise(np.zeros(20_000, np.int64), owner_noise(Decimal(epsilon)), SeededSource(1))
    assert abs(noise.std() / 5_000 / found.owner - 1) < 0.06  # six standard errors, the fourth moment counted in


def test_of_records_too():
    sketch = Race(Domain.of(x=(0, 10), y=(0, 5)), kernels.Euclidean(1.5), seed=3)
    found = of_density(sketch, Decimal(1), 20_000, density=0.1)
    assert found.owner < found.local and found.needed > 20_000
    more = of_density(sketch, Decimal(1), 200_000, density=0.1)
    assert more.local < found.local / 2 and more.needed > found.needed
