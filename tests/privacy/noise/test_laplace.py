from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from core.privacy.noise.laplace import ALL, LANES, LaplaceSampler
from core.privacy.noise.randomness import Coin, SeededSource
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, laplace_cdf, tail_p_value
from tests.privacy.noise.scripted import ScriptedStream

ONES = int(ALL)


def draw(scale, count, seed=0):
    return LaplaceSampler.of(Fraction(scale)).draw(count, SeededSource(seed).stream()).values


@pytest.mark.parametrize(
    "scale", [Fraction(1, 4), Fraction(2, 3), 1, Fraction(7, 2), 20, 1000, 123_456, 10**8, 10**12], ids=str
)
def test_draws_follow_the_closed_form(scale):
    assert fit_p_value(draw(scale, draws(300_000, 1_000_000)), partial(laplace_cdf, scale=float(scale))) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1, 10, 1000], ids=str)
def test_far_tails_follow_the_closed_form(scale):
    drawn = draw(scale, draws(1_000_000, 4_000_000))
    for scales in (6, 9, 11):  # e^-11: about 70 of 4 million
        assert tail_p_value(drawn, scales * scale, partial(laplace_cdf, scale=float(scale))) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1000, 10**12], ids=str)
def test_low_digits_of_wide_noise_are_uniform(scale):
    counts = np.bincount(draw(scale, draws(300_000, 1_000_000)) % 256, minlength=256)
    expected = counts.sum() / 256
    # Chi-square with 255 degrees of freedom: mean 255, sigma 22.6.
    assert ((counts - expected) ** 2 / expected).sum() < 255 + 8 * 22.6


def test_tiny_scales_are_almost_always_zero():
    assert not draw(Fraction(1, 1000), 100_000).any()
    drawn = draw(Fraction(1, 10), draws(1_000_000, 4_000_000))  # P(Z != 0) = 9.1e-5
    assert fit_p_value(drawn, partial(laplace_cdf, scale=0.1)) > FALSE_ALARM
    assert drawn.any()


@pytest.mark.parametrize("digits, tail_exponent", [(1, 32), (3, 32), (128, 0), (2, Fraction(1, 2)), (128, 1)])
def test_what_is_finished_in_python_follows_the_closed_form(digits, tail_exponent):
    """Short tables tie all the time; a small tail exponent leaves few binary digits before the tail."""
    sampler = LaplaceSampler.of(Fraction(5, 2), tail_exponent)
    sampler = replace(sampler, digits=np.ascontiguousarray(sampler.digits[:, :digits]))
    drawn = sampler.draw(draws(2_500, 10_000), SeededSource(4).stream())
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


def test_a_full_record_of_unsettled_tosses_is_emptied_and_drawing_goes_on():
    sampler = LaplaceSampler.of(Fraction(3), tail_exponent=1)
    drawn = sampler.draw(LANES * 400, SeededSource(2).stream())
    values = drawn.values.copy()
    values[list(drawn.exact)] = list(drawn.exact.values())
    assert len(drawn.exact) > 256
    assert fit_p_value(values, partial(laplace_cdf, scale=3)) > FALSE_ALARM


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_draws_beyond_the_last_whole_block_are_dropped(count):
    sampler = LaplaceSampler.of(Fraction(3), tail_exponent=0)  # every draw is finished in Python
    drawn = sampler.draw(count, SeededSource(7).stream())
    assert drawn.values.shape == (count,)
    assert all(index < count for index in drawn.exact)
