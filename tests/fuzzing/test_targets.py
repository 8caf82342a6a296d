"""Strangers' files and questions at random: used without harm, or refused in a sentence."""

import numpy as np
import pytest

from tests.depth import draws
from tests.fuzzing.targets import TARGETS


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_nothing_random_does_harm(target):
    random = np.random.default_rng(7)
    became = [TARGETS[target](random.bytes(length)) for length in random.integers(4, 300, draws(40, 4_000))]
    assert len(set(became)) > 3, "It always ends in the same way, so next to nothing was tried."
