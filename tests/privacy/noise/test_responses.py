import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.responses import UNIT, below, coins, odds_below, subsets
from tests.depth import draws
from tests.privacy.noise.scripted import ScriptedStream

WORD = 1 << 64
FALSE_ALARM = 1e-7


@given(epsilon=st.fractions(min_value=0, max_value=40, max_denominator=10**9))
def test_odds_never_pass_those_of_the_promise(epsilon):
    odds = odds_below(epsilon)
    assert odds <= UNIT * math.exp(epsilon) * (1 + 1e-13) and odds > UNIT * math.exp(epsilon) * (1 - 1e-13) - 2


def test_odds_of_known_numbers():
    assert odds_below(Fraction(0)) == UNIT
    assert odds_below(Fraction(1)) == 11674931554  # e = 2.718281828459045, times 2^32


@given(bound=st.integers(1, 1 << 62), words=st.lists(st.integers(0, WORD - 1), min_size=2, max_size=9))
def test_numbers_below_are_whole_products(bound, words):
    drawn = below(bound, len(words), ScriptedStream(bulk=list(words))).tolist()
    for word, number in zip(words, drawn, strict=True):
        if word * bound % WORD >= WORD % bound:
            assert number == word * bound >> 64
        assert 0 <= number < bound


def test_every_number_has_as_many_words():
    """Words that are kept, for a bound that leaves many over: exactly ⌊2^64 / bound⌋ of them fall on each number."""
    bound = 3
    for number in range(bound):
        first = -(-number * WORD // bound)
        last = ((number + 1) * WORD - 1) // bound
        kept = [word for word in (first, last) if word * bound % WORD >= WORD % bound]
        refused = 2 - len(kept)
        assert last - first + 1 - refused == WORD // bound


def test_refused_words_are_drawn_again():
    # 0 ends lowest of all, so it is refused by any bound that does not divide 2^64.
    assert below(3, 2, ScriptedStream(bulk=[0, WORD - 1], single=[WORD - 1])).tolist() == [2, 2]


def slow_coins(threshold: int, words: list[int]) -> int:
    """Comparing digit by digit, each coin by itself, with as many words as all of them need."""
    result = 0
    for lane in range(64):
        for place, word in enumerate(words):
            uniform, digit = word >> lane & 1, threshold >> (63 - place) & 1
            if uniform != digit:
                result |= digit << lane
                break
    return result


@given(threshold=st.integers(0, WORD - 1), seed=st.integers(0, 99))
def test_coins_compare_digits(threshold, seed):
    words = SeededSource(seed).stream().words(72).tolist()
    assert int(coins(threshold, 1, SeededSource(seed).stream())[0]) == slow_coins(threshold, words[:64])


@pytest.mark.parametrize("chance", [0.5, 0.047, 0.9, 1e-3])
def test_coins_show_one_as_often_as_they_should(chance):
    """The number of ones is binomial: a two-sided test that raises a false alarm once in 10^7."""
    count = draws(20_000, 2_000_000)
    ones = int(np.bitwise_count(coins(int(chance * WORD), count, SeededSource(3).stream())).sum())
    assert stats.binomtest(ones, 64 * count, int(chance * WORD) / WORD).pvalue > FALSE_ALARM


@pytest.mark.parametrize("forced", [-1, 0, 2, 5])
@pytest.mark.parametrize("size", [1, 3, 6])
def test_subsets_are_uniform(forced, size):
    """χ² over all subsets, which raises a false alarm once in 10^7."""
    count = draws(4_000, 200_000)
    sets = subsets(6, size, np.full(count, forced), SeededSource(size).stream())[:, 0]
    possible = [sum(1 << one for one in chosen) for chosen in combinations(range(6), size)]
    possible = [one for one in possible if forced < 0 or one >> forced & 1]
    seen = np.array([(sets == one).sum() for one in possible])
    assert seen.sum() == count
    assert len(seen) == 1 or stats.chisquare(seen).pvalue > FALSE_ALARM


def test_subsets_of_many_words_have_their_size():
    forced = np.array([-1, 130, 0, 64, 199] * 40)
    sets = subsets(200, 50, forced, SeededSource(1).stream())
    assert (np.bitwise_count(sets).sum(axis=1) == 50).all() and not (sets[:, 3] >> np.uint64(8)).any()
    held = forced >= 0
    assert (sets[held, forced[held] >> 6] >> (forced[held] & 63).astype(np.uint64) & np.uint64(1)).all()
