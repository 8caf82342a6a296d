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
    AT_ONCE,
    BATCH,
    NOT_ZERO,
    SIDE_BY_SIDE,
    SIGN,
    GaussianSampler,
    LaplaceSampler,
    _bounds,
    _with_sign,
    exponential_bytes,
)
from core.privacy.noise.randomness import Coin, SeededSource
from core.runtime.inner_products import upper_half
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, gaussian_cdf, laplace_cdf, tail_p_value
from tests.privacy.noise.scripted import ScriptedStream

WORD = 1 << 64
ONES = WORD - 1


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
@pytest.mark.parametrize("digits, tail_exponent", [(8, 32), (9, 32), (24, 0), (8, Fraction(1, 2)), (24, 1)])
def test_what_is_finished_in_python_follows_the_closed_form(digits, tail_exponent):
    """Short tables tie all the time; a small tail exponent leaves few binary digits before the tail."""
    sampler = LaplaceSampler.of(Fraction(5, 2), tail_exponent)
    sampler = replace(sampler, digits=np.ascontiguousarray(sampler.digits[:, :digits]))
    drawn = sampler.draw(draws(600, 10_000), SeededSource(4).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert drawn.exact
    assert fit_p_value(values, partial(laplace_cdf, scale=2.5)) > FALSE_ALARM


@pytest.mark.parametrize("signed", [True, False])
def test_compiled_draws_equal_one_draw_at_a_time(signed):
    """The slow reference: each draw compares its own digits, one after the other, from where its own words lie."""
    sampler = LaplaceSampler.of(Fraction(9), signed=signed)
    table = sampler.digits.shape[1]
    lines = SeededSource(8).stream().words(2 * 18 * 11 * SIDE_BY_SIDE).reshape(-1, SIDE_BY_SIDE).tolist()
    expected, line = np.zeros(2 * BATCH, np.int64), 0
    for begin in (0, BATCH):
        for position, coin in enumerate(sampler.coins):
            if signed and position == SIGN:
                for v, word in enumerate(lines[line]):
                    expected[begin + v : begin + BATCH : SIDE_BY_SIDE] += [word >> lane & 1 for lane in range(64)]
                line += 1
                continue
            known = int(signed and position == NOT_ZERO)
            digits = [coin.leading(table + known) >> place & 1 for place in range(table - 1, -1, -1)]
            first, line = lines[line : line + AT_ONCE], line + AT_ONCE
            later = iter(word for words in lines[line:] for word in words)
            used = 0
            for v in range(SIDE_BY_SIDE):
                words = [words[v] for words in first]
                while any(all(w >> lane & 1 == d for w, d in zip(words, digits, strict=False)) for lane in range(64)):
                    words.append(next(later))
                    used += 1
                for lane in range(64):
                    below = [word >> lane & 1 for word in words] < digits
                    expected[begin + lane * SIDE_BY_SIDE + v] += below << position
                    assert not (below and position == len(sampler.coins) - 1)
            line += -(-used // SIDE_BY_SIDE)
    if signed:
        expected = [_with_sign(drawn) for drawn in expected.tolist()]
    drawn = sampler.draw(2 * BATCH, SeededSource(8).stream())
    assert drawn.values.tolist() == list(expected) and not drawn.exact


def test_lanes_that_tie_with_the_whole_table_are_compared_further():
    """All draws of the first coin's first word tie; one compares lower, one higher, one ties again and then lower."""
    sampler = LaplaceSampler.of(Fraction(9), signed=False)
    coin, known = sampler.coins[0], sampler.digits.shape[1]
    after = coin.leading(known + 64) % WORD
    later = coin.leading(known + 128) % WORD
    single = [after - 1, after + 1, after, later - 1] + [after + 1] * 61
    bulk = np.full((known, SIDE_BY_SIDE), ONES, np.uint64)  # the others' first digit is above that of the coin, 0
    assert sampler.digits[0, 0] == 0
    bulk[:AT_ONCE, 0] = sampler.digits[0, :AT_ONCE]
    bulk[AT_ONCE:].flat[: known - AT_ONCE] = sampler.digits[0, AT_ONCE:]
    stream = ScriptedStream(bulk=bulk.ravel().tolist(), single=single)
    drawn = sampler.draw(BATCH, stream)
    assert not stream.single
    differences = {index: value - int(drawn.values[index]) for index, value in drawn.exact.items()}
    assert differences == {0: 1, 2 * SIDE_BY_SIDE: 1}


def test_the_tail_goes_on_for_ever():
    """Only a tail coin, e^(-1/9) = 0.1110…: a first digit 0 shows one at once, four digits 1 show zero."""
    sampler = LaplaceSampler.of(Fraction(9), tail_exponent=0, signed=False)
    assert sampler.coins == (Coin(Fraction(1, 9)),)
    one, zero = 0, ONES
    bulk = np.full((AT_ONCE, SIDE_BY_SIDE), ONES, np.uint64)
    bulk[0, 3] = 0
    stream = ScriptedStream(bulk=bulk.ravel().tolist(), single=[zero] * 63 + [one, one, zero])
    drawn = sampler.draw(BATCH, stream)
    assert not stream.single
    assert drawn.exact == {lane * SIDE_BY_SIDE + 3: 3 if lane == 63 else 1 for lane in range(64)}


def test_noise_beyond_64_bits_is_kept_exactly():
    sampler = LaplaceSampler.of(Fraction(1 << 56))
    assert len(sampler.coins) == 63
    # Below zero, and every digit of the size of the first draw is one; its tail coin shows ten more.
    values, exact = np.full(BATCH, 2**62 - 1, np.int64), {}
    sampler._settle([0, 62, 1, 0], values, exact, ScriptedStream(single=[0] * 10 + [ONES]))
    assert exact == {0: 2**62 - 1 + 11 * 2**62}
    assert _with_sign(exact[0]) == -(2**60 + 11 * 2**60)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(1000)], ids=str)
def test_the_coin_of_what_is_not_zero_has_twice_the_probability_of_the_last_digit(scale):
    """2q/(1+q), by its digits beside that number in floating point."""
    sampler = LaplaceSampler.of(scale)
    shown = sum(2.0 ** -(place + 1) for place, digit in enumerate(sampler.digits[NOT_ZERO]) if digit)
    q = np.exp(-1 / float(scale))
    assert shown <= 2 * q / (1 + q) < shown + 2.0 ** -len(sampler.digits[NOT_ZERO])


@pytest.mark.thorough
def test_a_full_record_of_unsettled_tosses_is_emptied_and_drawing_goes_on():
    sampler = LaplaceSampler.of(Fraction(3), tail_exponent=1)
    drawn = sampler.draw(64 * 400, SeededSource(2).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert len(drawn.exact) > 256
    assert fit_p_value(values, partial(laplace_cdf, scale=3)) > FALSE_ALARM


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [0, 1, 1000, 1023, 1024, 1025])
def test_draws_beyond_the_last_whole_batch_are_dropped(count):
    sampler = LaplaceSampler.of(Fraction(3), tail_exponent=0)  # every draw is finished in Python
    drawn = sampler.draw(count, SeededSource(7).stream())
    assert drawn.values.shape == (count,)
    assert all(index < count for index in drawn.exact)


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
        discrete_samplers, "_decide", lambda *arguments: arguments[-1].fill(discrete_samplers.UNDECIDED) or True
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
    short = replace(sampler, proposal=LaplaceSampler.of(proposal.scale, tail_exponent=0))
    drawn = short.draw(draws(900, 10_000), SeededSource(6).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert len(drawn.exact) > len(values) / 2
    assert fit_p_value(values, partial(gaussian_cdf, sigma2=18)) > FALSE_ALARM


@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_any_number_of_draws(count):
    assert draw_of_gaussian(5, count).shape == (count,)
