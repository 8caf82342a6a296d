"""Noise vectors with digits on demand: the law of what their bounds enclose, and that bounds only narrow."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from core.privacy.noise.l2_vector import L2Vector
from core.privacy.noise.randomness import SeededSource
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM


@pytest.mark.parametrize("places", [3, 54])
def test_more_digits_give_bounds_inside_those_of_fewer(places):
    for seed in range(20):
        vector = L2Vector(Fraction(7, 3), 4, SeededSource(seed).stream(), places)
        deep = vector.bounds(3)
        for extra in (0, 1, 2):
            low, high = vector.bounds(extra)
            for least, most, lower, upper in zip(low, high, *deep, strict=True):
                assert least <= lower < upper <= most
                assert upper - lower < (most - least) / 2**50
        assert deep == vector.bounds(3)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_lengths_are_gamma_and_directions_even(size):
    source = SeededSource(11)
    drawn = [L2Vector(Fraction(5, 2), size, source.stream()).bounds(0) for _ in range(draws(600, 1500))]
    vectors = np.array([[float(a + b) / 2 for a, b in zip(*bounds, strict=True)] for bounds in drawn])
    lengths = np.linalg.norm(vectors, axis=1)
    assert stats.kstest(lengths, stats.gamma(size, scale=2.5).cdf).pvalue > FALSE_ALARM
    # The square of a direction's coordinate is a Beta variable; its sign is fair and independent.
    if size > 1:
        assert stats.kstest((vectors[:, 0] / lengths) ** 2, stats.beta(0.5, (size - 1) / 2).cdf).pvalue > FALSE_ALARM
    assert stats.binomtest(int((vectors[:, -1] > 0).sum()), len(vectors)).pvalue > FALSE_ALARM
