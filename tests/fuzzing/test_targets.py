"""Strangers' files and questions at random: used without harm, or refused in a sentence."""

import numpy as np
import pytest

from tests.depth import draws
from tests.fuzzing.chances import OTHERS, Chances
from tests.fuzzing.targets import TARGETS


@pytest.mark.few(4)
@pytest.mark.parametrize("target", sorted(TARGETS))
def test_nothing_random_does_harm(target):
    random = np.random.default_rng(7)
    became = [TARGETS[target](random.bytes(length)) for length in random.integers(4, 300, draws(40, 4_000))]
    assert len(set(became)) > 3, "It always ends in the same way, so next to nothing was tried."


def test_the_same_bytes_mean_the_same_whatever_came_before():
    before = repr(OTHERS)
    random = np.random.default_rng(8)
    for length in random.integers(4, 200, draws(300, 3_000)):
        Chances(random.bytes(length)).altered({"a": [1, {"b": []}], "c": "d"})
    assert repr(OTHERS) == before
