from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.privacy.noise.bernoulli import Coin
from core.privacy.noise.randomness import SeededSource
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM
from tests.privacy.noise.scripted import ScriptedStream

rates = st.fractions(min_value=Fraction(1, 10**6), max_value=40, max_denominator=10**6)
WORD = 1 << 64


def exponential_by_taylor(rate: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose e^(-rate) by rational arithmetic alone: 1/e^rate from the Taylor series and its remainder."""
    # Terms are rounded down to a grid, so sums stay short; the slack counts every rounding.
    grid = 1 << (bits + 80)
    term, total, k = grid, 0, 0
    while term > 0:
        total += term
        k += 1
        term = term * rate.numerator // (rate.denominator * k)
    # Relative errors of the terms add up to at most k² steps of the grid for rates of at most 40 times e^40.
    slack = k * k * (1 << 60)
    return Fraction(grid, total + slack), Fraction(grid, total)


@given(rate=rates, bits=st.integers(1, 200), logistic=st.booleans())
def test_leading_digits_equal_rational_arithmetic(rate, bits, logistic):
    low, high = exponential_by_taylor(rate, bits)
    if logistic:
        low, high = low / (1 + low), high / (1 + high)
    digits = Coin(rate, logistic).leading(bits)
    assert digits <= high * (1 << bits) and low * (1 << bits) < digits + 1


@given(rate=rates, bits=st.integers(1, 150), more=st.integers(1, 150), logistic=st.booleans())
def test_more_digits_only_add_digits(rate, bits, more, logistic):
    coin = Coin(rate, logistic)
    assert coin.leading(bits + more) >> more == coin.leading(bits)


def test_digits_of_certain_fair_and_all_but_impossible_coins():
    assert Coin(Fraction(0)).leading(64) == WORD
    assert Coin(Fraction(0), logistic=True).leading(64) == WORD // 2
    assert Coin(Fraction(10**30)).leading(128) == 0
    # e^-100 = 2^-144.27: the first one comes at digit 145.
    assert Coin(Fraction(100)).leading(144) == 0
    assert Coin(Fraction(100)).leading(145) == 1


def test_enclosures_that_are_too_wide_are_narrowed():
    """e^(-2^-200) = 1 - 2^-200 + 2^-401 - ...: only the 401st digit says that its first 300 are those of 1 - 2^-200."""
    assert Coin(Fraction(1, 1 << 200)).leading(300) == (1 << 300) - (1 << 100)


@pytest.mark.parametrize("matched", [0, 20, 128])
def test_the_first_differing_digit_decides(matched):
    coin = Coin(Fraction(3, 7))
    first = coin.leading(matched + 64) % WORD
    second = coin.leading(matched + 128) % WORD
    assert coin.toss(ScriptedStream(single=[first - 1]), matched)
    assert not coin.toss(ScriptedStream(single=[first + 1]), matched)
    assert coin.toss(ScriptedStream(single=[first, second - 1]), matched)
    assert not coin.toss(ScriptedStream(single=[first, second + 1]), matched)


def test_a_tie_asks_for_no_more_digits_than_needed():
    coin = Coin(Fraction(3, 7))
    stream = ScriptedStream(single=[coin.leading(64), 0, 5])
    coin.toss(stream)
    assert stream.single == [5]


def test_a_certain_coin_always_shows_one():
    assert all(Coin(Fraction(0)).toss(ScriptedStream(single=[WORD - 1])) for _ in range(3))


@pytest.mark.parametrize("coin", [Coin(Fraction(1, 3)), Coin(Fraction(5, 2)), Coin(Fraction(1, 3), logistic=True)])
def test_frequencies_are_the_probability(coin):
    stream, n = SeededSource(3).stream(), draws(8_000, 20_000)
    shown = sum(coin.toss(stream) for _ in range(n))
    odds = np.exp(-float(coin.rate))
    probability = odds / (1 + odds) if coin.logistic else odds
    assert stats.binomtest(shown, n, probability).pvalue > FALSE_ALARM
