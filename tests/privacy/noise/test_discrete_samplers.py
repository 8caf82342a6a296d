from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.privacy.noise import discrete_samplers
from core.privacy.noise.discrete_samplers import (
    ALL,
    LANES,
    GaussianSampler,
    LaplaceSampler,
    _bounds,
    exponential_bytes,
    upper_half,
)
from core.privacy.noise.randomness import Coin, SeededSource
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, gaussian_cdf, laplace_cdf, tail_p_value
from tests.privacy.noise.scripted import ScriptedStream

ONES = int(ALL)


def draw(scale, count, seed=0):
    return LaplaceSampler.of(Fraction(scale)).draw(count, SeededSource(seed).stream()).values


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "scale", [Fraction(1, 4), Fraction(2, 3), 1, Fraction(7, 2), 20, 1000, 123_456, 10**8, 10**12], ids=str
)
def test_draws_follow_the_closed_form(scale):
    assert fit_p_value(draw(scale, draws(100_000, 1_000_000)), partial(laplace_cdf, scale=float(scale))) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1, 10, 1000], ids=str)
def test_far_tails_follow_the_closed_form(scale):
    drawn = draw(scale, draws(1_000_000, 4_000_000))
    for scales in (6, 9, 11):  # e^-11: about 70 of 4 million
        assert tail_p_value(drawn, scales * scale, partial(laplace_cdf, scale=float(scale))) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1000, 10**12], ids=str)
def test_low_digits_of_wide_noise_are_uniform(scale):
    counts = np.bincount(draw(scale, draws(100_000, 1_000_000)) % 256, minlength=256)
    expected = counts.sum() / 256
    # Chi-square with 255 degrees of freedom: mean 255, sigma 22.6.
    assert ((counts - expected) ** 2 / expected).sum() < 255 + 8 * 22.6


@pytest.mark.thorough
def test_tiny_scales_are_almost_always_zero():
    assert not draw(Fraction(1, 1000), 100_000).any()
    drawn = draw(Fraction(1, 10), draws(1_000_000, 4_000_000))  # P(Z != 0) = 9.1e-5
    assert fit_p_value(drawn, partial(laplace_cdf, scale=0.1)) > FALSE_ALARM
    assert drawn.any()


@pytest.mark.few(1)
@pytest.mark.parametrize("digits, tail_exponent", [(1, 32), (3, 32), (128, 0), (2, Fraction(1, 2)), (128, 1)])
def test_what_is_finished_in_python_follows_the_closed_form(digits, tail_exponent):
    """Short tables tie all the time; a small tail exponent leaves few binary digits before the tail."""
    sampler = LaplaceSampler.of(Fraction(5, 2), tail_exponent)
    sampler = replace(sampler, digits=np.ascontiguousarray(sampler.digits[:, :digits]))
    drawn = sampler.draw(draws(600, 10_000), SeededSource(4).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert drawn.exact
    assert fit_p_value(values, partial(laplace_cdf, scale=2.5)) > FALSE_ALARM


def test_compiled_draws_equal_one_draw_at_a_time():
    """The slow reference: each lane compares its own bits, one after the other."""
    sampler = LaplaceSampler.of(Fraction(9))
    words = iter(SeededSource(8).stream().words(20_000).tolist())
    expected = np.zeros(3 * LANES, np.int64)
    for block in range(3):
        for sign in (1, -1):
            for position, coin in enumerate(sampler.coins):
                digits, undecided = coin.leading(128), set(range(LANES))
                for place in range(127, -1, -1):
                    digit, word = digits >> place & 1, next(words)
                    for lane in list(undecided):
                        bit = word >> lane & 1
                        if bit < digit:
                            assert position < len(sampler.coins) - 1
                            expected[block * LANES + lane] += sign * 2**position
                        if bit != digit:
                            undecided.discard(lane)
                    if not undecided:
                        break
    drawn = sampler.draw(3 * LANES, SeededSource(8).stream())
    assert np.array_equal(drawn.values, expected) and not drawn.exact


def test_lanes_that_tie_with_the_whole_table_are_compared_further():
    """All 64 lanes of the first coin tie; then one compares lower, one higher, one ties again and then lower."""
    sampler = LaplaceSampler.of(Fraction(9))
    coin = sampler.coins[0]
    after = coin.leading(192) % 2**64
    later = coin.leading(256) % 2**64
    single = [after - 1, after + 1, after, later - 1] + [after + 1] * 61
    stream = ScriptedStream(bulk=sampler.digits[0].tolist(), single=single)
    drawn = sampler.draw(LANES, stream)
    assert not stream.single
    assert {lane: value - int(drawn.values[lane]) for lane, value in drawn.exact.items()} == {0: 1, 2: 1}


def test_the_tail_goes_on_for_ever():
    """Only a tail coin, e^(-1/9) = 0.1110…: word 0 shows one in all lanes at once, four words of ones show zero."""
    sampler = LaplaceSampler.of(Fraction(9), tail_exponent=0)
    assert sampler.coins == (Coin(Fraction(1, 9)),)
    one, zero = 0, 2**64 - 1
    stream = ScriptedStream(bulk=[0] + [ONES] * 4, single=[zero] * 63 + [one, one, zero])
    drawn = sampler.draw(LANES, stream)
    assert not stream.single
    assert drawn.exact == {lane: 3 if lane == 63 else 1 for lane in range(LANES)}


def test_noise_beyond_64_bits_is_kept_exactly():
    sampler = LaplaceSampler.of(Fraction(1 << 56))
    assert len(sampler.coins) == 61
    # Every coin of the first geometric draw of lane 0 shows one, and its tail coin ten times more.
    values, exact = np.full(LANES, 2**60 - 1, np.int64), {}
    sampler._settle([0, 0, 60, 1, 0], values, exact, ScriptedStream(single=[0] * 10 + [2**64 - 1]))
    assert exact == {0: 2**60 - 1 + 11 * 2**60}


@pytest.mark.thorough
def test_a_full_record_of_unsettled_tosses_is_emptied_and_drawing_goes_on():
    sampler = LaplaceSampler.of(Fraction(3), tail_exponent=1)
    drawn = sampler.draw(LANES * 400, SeededSource(2).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert len(drawn.exact) > 256
    assert fit_p_value(values, partial(laplace_cdf, scale=3)) > FALSE_ALARM


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_draws_beyond_the_last_whole_block_are_dropped(count):
    sampler = LaplaceSampler.of(Fraction(3), tail_exponent=0)  # every draw is finished in Python
    drawn = sampler.draw(count, SeededSource(7).stream())
    assert drawn.values.shape == (count,)
    assert all(index < count for index in drawn.exact)


WORD = 1 << 64
words = st.integers(0, WORD - 1)
variances = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6),
    st.builds(Fraction, st.integers(1, 1 << 111), st.integers(1, 1 << 60)).map(lambda x: min(x, Fraction(1 << 111))),
)


def draw_of_gaussian(sigma2, count, seed=0):
    return GaussianSampler.of(Fraction(sigma2)).draw(count, SeededSource(seed).stream()).values


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "sigma2",
    [Fraction(1, 20), Fraction(1, 3), 1, Fraction(17_853, 1000), Fraction(10**9 + 7, 10**7), 10**6, 10**12, 10**24],
    ids=str,
)
def test_draws_follow_the_closed_form_of_gaussian(sigma2):
    assert (
        fit_p_value(draw_of_gaussian(sigma2, draws(100_000, 1_000_000)), partial(gaussian_cdf, sigma2=float(sigma2)))
        > FALSE_ALARM
    )


@pytest.mark.parametrize("sigma2", [1, 18, 10**6], ids=str)
def test_far_tails_follow_the_closed_form_of_gaussian(sigma2):
    drawn = draw_of_gaussian(sigma2, draws(1_000_000, 4_000_000))
    for sigmas in (3, 4, 4.5):  # 4.5 sigma: about 7 of a million
        assert tail_p_value(drawn, int(sigmas * sigma2**0.5), partial(gaussian_cdf, sigma2=sigma2)) > FALSE_ALARM


@pytest.mark.thorough
def test_tiny_variances_are_almost_always_zero():
    assert not draw_of_gaussian(Fraction(1, 10**6), 100_000).any()
    drawn = draw_of_gaussian(Fraction(1, 16), 1_000_000)  # P(Z != 0) = 6.7e-4
    assert fit_p_value(drawn, partial(gaussian_cdf, sigma2=1 / 16)) > FALSE_ALARM
    assert drawn.any()


def test_low_digits_of_wide_noise_are_uniform_of_gaussian():
    counts = np.bincount(draw_of_gaussian(10**12, draws(100_000, 1_000_000)) % 256, minlength=256)
    expected = counts.sum() / 256
    assert ((counts - expected) ** 2 / expected).sum() < 255 + 8 * 22.6


@given(a=words, b=words)
def test_upper_half_of_a_product(a, b):
    assert int(upper_half(np.uint64(a), np.uint64(b))) == a * b >> 64


@given(sigma2=variances, data=st.data())
def test_bounds_enclose_the_probability(sigma2, data):
    y = data.draw(st.one_of(st.integers(0, min(30 * isqrt(int(sigma2)) + 30, 2**63 - 1)), st.integers(0, 2**63 - 1)))
    check_bounds(GaussianSampler.of(sigma2), sigma2, y)


@pytest.mark.parametrize("sigma2", [Fraction(17_853, 1000), Fraction(10**16, 3), Fraction((1 << 110) + 1, 7)], ids=str)
def test_bounds_enclose_the_probability_wherever_it_matters(sigma2):
    """Every thousandth of the range in which exp(-γ) has a digit among its first 64."""
    sampler = GaussianSampler.of(sigma2)
    reach = 10 * isqrt(int(sigma2))
    for step in range(1001):
        check_bounds(sampler, sigma2, reach * step // 1000)


def check_bounds(sampler, sigma2, y):
    low, high = map(int, _bounds(np.int64(-y), *sampler.constants, exponential_bytes()))
    gamma = (y - sigma2 / sampler.t) ** 2 / (2 * sigma2)
    digits = Coin(gamma).leading(64)
    assert low <= digits <= high + 1
    assert high + 1 - low <= max((digits >> 19) + 9, 9)  # narrow, or nothing would be decided in the compiled loop


def test_the_largest_word_is_not_rejected_when_the_probability_is_one():
    """σ² = t·y makes γ = 0, so even the largest uniform number is below e^0."""
    sampler = GaussianSampler.of(Fraction(6))
    assert sampler.t == 3
    assert int(_bounds(np.int64(2), *sampler.constants, exponential_bytes())[1]) == WORD - 1
    assert sampler._keep(2, WORD - 1, ScriptedStream())


@pytest.mark.few(1)
@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(17_853, 1000), Fraction(10**16, 3)], ids=str)
def test_compiled_decisions_are_those_of_exact_arithmetic(sigma2, monkeypatch):
    """The slow reference leaves every candidate to the comparison with the exact rational exponent."""
    fast = draw_of_gaussian(sigma2, 5000, seed=3)
    monkeypatch.setattr(
        discrete_samplers, "_decide", lambda *arguments: arguments[-1].fill(discrete_samplers.UNDECIDED)
    )
    assert np.array_equal(fast, draw_of_gaussian(sigma2, 5000, seed=3))


@pytest.mark.thorough
@pytest.mark.parametrize("candidate", [0, 3, -9])
def test_exact_decisions_have_the_right_frequency(candidate):
    sampler = GaussianSampler.of(Fraction(25, 2))
    stream, n = SeededSource(5).stream(), draws(4_000, 20_000)
    kept = sum(sampler._keep(candidate, int(word), stream) for word in stream.words(n))
    probability = np.exp(-((abs(candidate) - 12.5 / sampler.t) ** 2) / 25)
    assert stats.binomtest(kept, n, probability).pvalue > FALSE_ALARM


def test_a_first_word_that_ties_is_compared_further():
    sampler = GaussianSampler.of(Fraction(25, 2))
    coin = Coin((5 - Fraction(25, 2) / sampler.t) ** 2 / 25)
    first, second = coin.leading(64), coin.leading(128) % WORD
    assert sampler._keep(5, first, ScriptedStream(single=[second - 1]))
    assert not sampler._keep(5, first, ScriptedStream(single=[second + 1]))


@pytest.mark.deep
def test_candidates_finished_in_python_take_their_place():
    """Candidates from a proposal that finishes most draws in Python; the rest of the sampler may not notice."""
    sampler = GaussianSampler.of(Fraction(18))
    proposal = sampler.proposal
    short = replace(sampler, proposal=replace(proposal, digits=np.ascontiguousarray(proposal.digits[:, :2])))
    drawn = short.draw(draws(900, 10_000), SeededSource(6).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert len(drawn.exact) > len(values) / 2
    assert fit_p_value(values, partial(gaussian_cdf, sigma2=18)) > FALSE_ALARM


@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_any_number_of_draws(count):
    assert draw_of_gaussian(5, count).shape == (count,)
