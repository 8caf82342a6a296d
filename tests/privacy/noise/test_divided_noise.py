"""Parts of noise add up to the noise: exactly those of Laplace noise, and nearly enough those of Gaussian noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from core.errors import RequestError
from core.privacy.budget import Sensitivity
from core.privacy.calibration import NoiseScale
from core.privacy.noise import divided_noise
from core.privacy.noise.divided_noise import add_part, failure_of_parts, part_sampler, reach, summed
from core.privacy.noise.randomness import CipherStream, SeededSource
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, gaussian_cdf, laplace_cdf


def laplace(scale):
    return NoiseScale("discrete_laplace", Fraction(scale))


def parts(scale, owners, count, several=None):
    source, zeros = SeededSource(7), np.zeros(count, np.int64)
    return sum(add_part(zeros, scale, owners, source) for _ in range(several or owners))


@pytest.mark.thorough
@pytest.mark.parametrize(("scale", "owners"), [("1/3", 2), ("100", 10), ("5000", 3), ("7", 1)])
def test_parts_of_laplace_noise_that_do_not_add_up_to_it(scale, owners):
    total = parts(laplace(scale), owners, draws(25_000, 1_000_000))
    assert fit_p_value(total, lambda z: laplace_cdf(z, float(Fraction(scale)))) > FALSE_ALARM


@pytest.mark.parametrize(("scale", "owners"), [("3", 4), ("40", 10)])
def test_a_part_of_another_shape_than_a_tth(scale, owners):
    """By the closed form of the negative binomial law, whose difference with itself is summed term by term."""
    q, reach_, shape = math.exp(-1 / float(scale)), 60 * int(scale), 1 / owners
    mass = stats.nbinom.pmf(np.arange(reach_ + 1), shape, 1 - q)
    below = np.cumsum(np.convolve(mass, mass[::-1]))
    drawn = parts(laplace(scale), owners, draws(25_000, 1_000_000), several=1)
    assert fit_p_value(drawn, lambda z: below[np.clip(np.asarray(z) + reach_, 0, 2 * reach_)]) > FALSE_ALARM


def test_parts_of_gaussian_noise_that_do_not_add_up_to_it():
    total = parts(NoiseScale("discrete_gaussian", Fraction(200)), 10, draws(25_000, 1_000_000))
    assert fit_p_value(total, lambda z: gaussian_cdf(z, 200.0)) > FALSE_ALARM


def test_long_sums_are_split_as_short_ones_are():
    sampler, stream = part_sampler(laplace("100"), 3), CipherStream(bytes(32))
    kept = np.array([sampler._kept_of(12, stream) for _ in range(draws(4_000, 100_000))])
    left, short = np.full(len(kept), 12, np.uint64), np.zeros(len(kept), np.uint64)
    divided_noise._keep_jumps(left, short, 0, np.uint64(3), stream.words(100 * len(kept)))
    counts = np.array([np.bincount(one.astype(int), minlength=13) for one in (kept, short)])
    assert stats.chi2_contingency(counts[:, counts.sum(axis=0) > 20]).pvalue > FALSE_ALARM
    assert np.mean(kept) == pytest.approx(4, abs=0.5)


def test_the_sum_of_two_small_gaussians_is_no_nearer_than_its_bound():
    """The largest ratio of the sum to the noise, by the probabilities themselves."""
    for sigma2 in (1.0, 2.0):
        z = np.arange(-60, 61)
        part = np.exp(-(z**2) / sigma2)  # of variance parameter sigma2 / 2
        total = np.convolve(part / part.sum(), part / part.sum())[60:-60]
        noise = np.exp(-(z**2) / (2 * sigma2))
        near = np.abs(z) <= 20
        ratio = np.max(np.abs(np.log((total * noise.sum())[near] / noise[near])))
        assert ratio <= divided_noise._unlike(sigma2, 2) * (1 + 1e-6) + 1e-13
        assert ratio >= 0.2 * divided_noise._unlike(sigma2, 2)


def test_parts_too_small_for_their_sum_are_refused_before_they_are_drawn():
    moved = [(Sensitivity(1, 1, unit_shifts=True), NoiseScale("discrete_gaussian", Fraction(10)))]
    delta = Fraction(1, 10**6)
    (failure,) = failure_of_parts(moved, 2, delta, Fraction(1, 10**8))
    assert 0 < failure.delta <= delta / 10**8
    with pytest.raises(RequestError, match="do not add up"):
        failure_of_parts(moved, 40, delta, Fraction(1, 10**8))
    assert failure_of_parts([(moved[0][0], laplace("3"))], 40, delta, Fraction(1, 10**8)) == ()


def test_sums_pass_their_reach_no_more_often_than_is_said():
    for scale in (laplace("100"), NoiseScale("discrete_gaussian", Fraction(400))):
        total = np.abs(parts(scale, 4, 20_000, several=6))
        limit = reach(scale, 6, 4, 1e-3)
        assert np.count_nonzero(total > limit) <= 20 + 60
        assert total.max() > limit / 3
        assert np.var(parts(scale, 4, 20_000, several=6)) == pytest.approx(summed(scale, 6, 4).variance, rel=0.15)


def test_vectors_have_no_parts():
    with pytest.raises(RequestError, match="rounded each by itself"):
        part_sampler(NoiseScale("rounded_l2", Fraction(3), 4), 2)


def test_parts_on_a_thousand_counters_fail_a_thousand_times_as_often_as_on_one():
    """What the parts of one counter may be unlike was paid for where a person moves a thousand."""
    noise, room = NoiseScale("discrete_gaussian", Fraction(10)), Fraction(1)
    moved = [Sensitivity(many, many, unit_shifts=True) for many in (1, 500, 1000)]
    once, half, often = ([(one, noise)] for one in moved)
    failures = [failure_of_parts(each, 2, Fraction(1, 1000), room)[0].delta for each in (once, often, [*half, *half])]
    assert failures[1] == failures[2] == 1000 * failures[0] < Fraction(1, 10**12)
