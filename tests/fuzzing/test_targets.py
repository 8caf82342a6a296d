"""Strangers' files and questions, at random and as once found to crash: used without harm or refused in a sentence."""

from pathlib import Path

import numpy as np
import pytest

from tests.depth import draws
from tests.fuzzing.targets import TARGETS

FOUND = Path(__file__).parent / "found"


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_nothing_random_does_harm(target):
    random = np.random.default_rng(7)
    became = [TARGETS[target](random.bytes(length)) for length in random.integers(4, 300, draws(40, 4_000))]
    assert len(set(became)) > 3, "It always ends in the same way, so next to nothing was tried."


@pytest.mark.parametrize("path", sorted(FOUND.rglob("*")) if FOUND.exists() else [], ids=lambda path: path.name)
def test_what_once_crashed_does_no_more(path):
    if path.is_file():
        TARGETS[path.parent.name](path.read_bytes())
