"""Noise that is made less later: each stage has the noise of one release, and tells no more than the last of them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import signal, stats

from core.privacy.noise import divided_noise
from core.privacy.noise.divided_noise import can_follow, kept_finest, less_noise
from core.privacy.noise.noise import discrete_laplace
from core.privacy.noise.randomness import SeededSource
from core.privacy.replay.laws import FinerNoise
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, laplace_cdf

STAGES = Fraction(9), Fraction(4), Fraction(3, 2)
COUNT = draws(30_000, 2_000_000)


def stages(source, exact):
    """What is shown at scales 9, 4 and 3/2, and what is kept at first."""
    shown = exact + discrete_laplace(exact.shape, STAGES[0], source)
    kept = kept_finest(exact, shown, STAGES[0], STAGES[2], source)
    middle, left = less_noise(kept, *STAGES, source)
    last, _ = less_noise(left, STAGES[1], STAGES[2], STAGES[2], source)
    return (shown, middle, last), kept


@pytest.mark.thorough
def test_a_stage_with_other_noise_than_one_release_of_its_price():
    exact = np.arange(COUNT) % 7 - 3
    shown, kept = stages(SeededSource(3), exact)
    for table, scale in zip(shown, STAGES, strict=True):
        assert fit_p_value(table - exact, lambda z, scale=scale: laplace_cdf(z, float(scale))) > FALSE_ALARM
    np.testing.assert_array_equal(kept.table + kept.above - kept.below, shown[0])
    assert kept.above.min() == 0 == kept.below.min()


@pytest.mark.parametrize(("earlier", "later"), [(0, 1), (1, 2), (0, 2)])
def test_an_earlier_stage_that_tells_something_which_the_later_one_does_not(earlier, later):
    """What the earlier one has more is independent of the later one: it tells nothing of the records."""
    shown, _ = stages(SeededSource(4), np.zeros(COUNT, np.int64))
    more, noise = np.clip(shown[earlier] - shown[later], -6, 6), np.clip(shown[later], -4, 4)
    table = np.histogram2d(more, noise, bins=[np.arange(-6.5, 7), np.arange(-4.5, 5)])[0]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def chances(shown, finer, size):
    """P(M = m, E = e) by its definition."""
    a, r = math.exp(-1 / shown), math.exp(1 / shown - 1 / finer)
    k = np.arange(40 * size)
    g, n = (1 - a) * a**k, (1 - r) * r**k
    joint = np.zeros((size, size))
    for m in range(size):
        joint[m, 0] = g[m] * n[m:].sum()
        joint[m, 1:] = n[m] * g[m + 1 : m + size]
    return joint


def test_the_smaller_of_two_geometric_numbers_is_independent_of_the_rest():
    """The lemma, by sums: a joint table of M and E has rank one, and M has the smaller scale."""
    joint = chances(5.0, 2.0, 60)
    assert np.linalg.svd(joint, compute_uv=False)[1] < 1e-12
    law = joint.sum(axis=1)
    np.testing.assert_allclose(law / law[0], np.exp(-np.arange(60) / 2.0), rtol=1e-9)


def test_neighbours_lose_the_price_of_the_last_stage_and_reach_it():
    """P(Y1 = u, Y2 = v) over all u and v, by sums over M, M', E and E' alone, of one counter that moves by 1."""
    shown, finer, size = 5.0, 2.0, 48
    joint = chances(shown, finer, size)
    apart = signal.fftconvolve(joint, joint[::-1, ::-1])  # of M - M' and E - E'
    noise, more = (np.arange(1 - size, size) for _ in range(2))
    u, v = np.meshgrid(np.arange(-12, 13), np.arange(-6, 7), indexing="ij")

    def chance(x):
        return apart[v - x - noise[0], u - v - more[0]]

    losses = np.abs(np.log(chance(0) / chance(1)))
    assert losses.max() == pytest.approx(1 / finer, abs=1e-6)
    law = FinerNoise("discrete_laplace", Fraction(2), (2,), before=Fraction(5))
    assert law.loss(np.array([0, 5]), np.array([2, 4]), None).most == pytest.approx(3 * (1 / 2 - 1 / 5))


def test_numbers_that_do_not_fit_64_bits_are_drawn_alike(monkeypatch):
    """With nearly all of them as Python's numbers every bit is the same."""
    exact = np.arange(300) % 5
    plain, _ = stages(SeededSource(5), exact)
    monkeypatch.setattr(divided_noise, "SMALL", 2)
    large, kept = stages(SeededSource(5), exact)
    assert kept.table.dtype == object
    for one, other in zip(plain, large, strict=True):
        np.testing.assert_array_equal(one, other.astype(np.int64))


def test_scales_between_which_nothing_can_be_drawn():
    assert can_follow(Fraction(2), Fraction(1))
    assert not can_follow(Fraction(1), Fraction(1)) and not can_follow(Fraction(1), Fraction(2))
    assert not can_follow(Fraction(1 << 57), Fraction(1))
    assert not can_follow(Fraction(1 << 40), Fraction(1 << 40) - Fraction(1, 1 << 40))
