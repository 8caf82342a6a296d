import os
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.privacy.noise.randomness import CipherStream, Coin, SeededSource, SystemSource, hidden_order
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM
from tests.privacy.noise.scripted import ScriptedStream


def test_words_are_the_aes_256_ctr_key_stream():
    # AES-256 of the zero block under the zero key, the first block of the counter.
    assert CipherStream(bytes(32)).words(2).tobytes().hex() == "dc95c078a2408989ad48a21492842087"


def test_words_do_not_depend_on_how_many_are_asked_for_at_once():
    at_once, in_pieces = CipherStream(bytes(32)), CipherStream(bytes(32))
    pieces = [in_pieces.words(count) for count in (1, 0, 7, 40_000, 70_003)]
    assert np.array_equal(at_once.words(sum(map(len, pieces))), np.concatenate(pieces))


def test_every_bit_is_a_fair_coin():
    words = SeededSource(1).stream().words(200_000)
    shares = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.abs(shares - 0.5).max() < 7 * 0.5 / np.sqrt(200_000)  # 64 bits beyond 7 sigma: below 2e-10


def test_a_seed_repeats_its_streams_and_no_stream_repeats_another():
    first, again, other = SeededSource(5), SeededSource(5), SeededSource(6)
    streams = [source.stream().words(4).tolist() for source in (first, again, first, again, other)]
    assert streams[0] == streams[1] and streams[2] == streams[3]
    assert streams[0] != streams[2] and streams[4] not in streams[:4]


def test_the_seeded_source_says_that_it_is_not_private():
    assert SystemSource().private is True
    assert SeededSource(1).private is False


def test_the_system_source_cannot_be_seeded():
    with pytest.raises(TypeError):
        SystemSource(1)
    with pytest.raises(AttributeError):
        SystemSource().seed = 1
    drawn = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global generator is what must have no influence
        drawn.append(SystemSource().stream().words(4).tolist())
    assert drawn[0] != drawn[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_draws_other_words():
    source = SystemSource()
    source.stream().words(1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, source.stream().words(2).tobytes())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 16) != source.stream().words(2).tobytes()
    os.close(reader)
    os.close(writer)


@pytest.mark.thorough
def test_all_hidden_orders_are_equally_likely_whatever_the_records_are():
    """Chi-square on the 24 orders of four records; 49.7 is passed with probability 0.001 by fair ones."""
    source, times = SeededSource(3), 4_800
    for records in (np.zeros((4, 1)), np.arange(8).reshape(4, 2)):
        found = [tuple(hidden_order(records, source)) for _ in range(times)]
        counts = np.unique(np.array(found) @ 4 ** np.arange(4), return_counts=True)[1]
        assert len(counts) == 24 and ((counts - times / 24) ** 2).sum() / (times / 24) < 49.7
    assert hidden_order(np.zeros((0, 3)), source).tolist() == []


def test_records_that_drew_the_same_do_not_keep_the_order_of_their_lines():
    class Tied:
        private = False

        def stream(self):
            return ScriptedStream(bulk=[7, 9, 7])

    rest = SeededSource(99).stream()
    rest.words(3)
    assert hidden_order(np.zeros((3, 1)), Tied()).tolist() == np.argsort(rest.words(3)).tolist()


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


@pytest.mark.few(1)
@pytest.mark.parametrize("coin", [Coin(Fraction(1, 3)), Coin(Fraction(5, 2)), Coin(Fraction(1, 3), logistic=True)])
def test_frequencies_are_the_probability(coin):
    stream, n = SeededSource(3).stream(), draws(3_000, 20_000)
    shown = sum(coin.toss(stream) for _ in range(n))
    odds = np.exp(-float(coin.rate))
    probability = odds / (1 + odds) if coin.logistic else odds
    assert stats.binomtest(shown, n, probability).pvalue > FALSE_ALARM
