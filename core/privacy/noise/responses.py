"""Randomised responses: choices among weighted alternatives, exactly, on whole random words.

A person's device reports one of several outcomes, those that speak for the truth with weight A and all others with
weight B. Whatever the truth is, the weights add up to the same total, so no report is more than A/B times likelier
under one truth than under another. Here A = ⌊2^32 e^ε⌋ and B = 2^32 are whole numbers, so A/B <= e^ε holds exactly and
every probability is a fraction that a test can add up.

To choose: A = (A - B) + B, so with the surplus A - B an outcome that speaks for the truth is picked, and otherwise any
outcome at all. That takes one uniform whole number below the total. It is u = ⌊wT / 2^64⌋ for a random word w, where
the 2^64 mod T words whose product ends lowest are drawn again, so that every u has equally many words (Lemire 2019).

Coins of a threshold t show one when a uniform 64-digit number lies below it, with probability t/2^64; 64 of them are
tossed at once, digit by digit from the top, until every comparison is decided (as in `laplace`).
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np

from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Array, Integers, Truths, Words
from ...runtime.inner_products import upper_half
from ..replay.laws import PublicCoins
from ..replay.tape import drawn
from .randomness import Source, Stream

FINENESS = 32
UNIT = 1 << FINENESS  # B, the weight of an outcome that does not speak for the truth.
WORD = 1 << 64
PRECISION = 60
BUFFER = 1 << 15
CHOICES_AT_ONCE = 1 << 22


def odds_below(epsilon: Fraction) -> int:
    """A = ⌊2^32 e^ε⌋ for a rational ε from 0 to 40, or one less should 60 digits not settle it: never above 2^32 e^ε.

    `Decimal.exp` rounds to nearest, so the next number below its result lies below e^ε.
    """
    down = Context(prec=PRECISION, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    least = down.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    return int(Fraction(down.next_minus(down.exp(least))) * UNIT) if epsilon else UNIT


def below(bound: int, count: int, stream: Stream) -> Words:
    """`count` independent uniform whole numbers from 0 to before `bound`, 1 <= bound <= 2^62: uint64 (count,)."""
    numbers = np.empty(count, np.uint64)
    place = np.arange(0)
    _scale(stream.words(count), np.uint64(bound), np.uint64(WORD % bound), numbers)
    while len(place := np.flatnonzero(numbers == bound)):
        again = np.empty(len(place), np.uint64)
        _scale(stream.words(len(place)), np.uint64(bound), np.uint64(WORD % bound), again)
        numbers[place] = again
    return numbers


def told(bound: int, count: int, source: Source) -> Words:
    """What a device draws whatever its value is, and tells beside its report: its row, cohort, group or hash function.

    As `below`, from a new stream of a source.
    """
    law = PublicCoins(bound, (count,))
    return drawn(law, None, lambda: below(bound, count, source.stream()), source.private)


def coins(threshold: int, count: int, stream: Stream) -> Words:
    """`count` words of 64 coins, each of which shows one with probability threshold/2^64: uint64 (count,)."""
    tossed = np.empty(count, np.uint64)
    done = 0
    while done < count:
        # The last of a few coins must not wait for a whole buffer of bits.
        words = stream.words(min(BUFFER, 8 * (count - done) + 64))
        done = _toss(np.uint64(threshold), words, tossed, done)
    return tossed


def subsets(domain: int, size: int, forced: Integers, stream: Stream) -> Words:
    """Uniform subsets of a size of the numbers below `domain`, as bits: uint64 (n, ⌈domain/64⌉).

    `domain`, `size`: 1 <= size <= domain. `forced`: int64 (n,): a number that is in the subset, whose others are then
    uniform, or -1. `stream`: Random bits.
    """
    sets = np.zeros((len(forced), -(-domain // 64)), np.uint64)
    left: Array = np.arange(len(forced))
    step = max(1, CHOICES_AT_ONCE // size)
    while len(left):
        failed = []
        for start in range(0, len(left), step):
            people = left[start : start + step]
            words = stream.words(len(people) * size).reshape(len(people), size)
            chosen = np.zeros(len(people), np.bool_)
            _choose(domain, size, forced, people, words, sets, chosen)
            failed.append(people[~chosen])
        left = np.concatenate(failed)
    return sets


@njit(nogil=True, cache=True)
def _scale(words: Words, bound: np.uint64, refused: np.uint64, numbers: Words) -> None:
    """⌊w bound / 2^64⌋ of each word, or `bound` itself where the word must be drawn again."""
    for i in range(words.size):
        low = words[i] * bound
        numbers[i] = upper_half(words[i], bound) if low >= refused else bound


@njit(nogil=True, cache=True)
def _toss(threshold: np.uint64, words: Words, tossed: Words, start: int) -> int:
    """Toss words of 64 coins for as long as there are surely enough random ones; how many are done."""
    at, done = 0, start
    while done < tossed.size and at + 64 <= words.size:
        tied, ones, digits = ~np.uint64(0), np.uint64(0), threshold
        while tied and digits:  # below a number that ends in zeros is only what was below before them
            uniform = words[at]
            at += 1
            if digits >> np.uint64(63):
                ones |= tied & ~uniform
                tied &= uniform
            else:
                tied &= ~uniform
            digits <<= np.uint64(1)
        tossed[done] = ones
        done += 1
    return done


@njit(nogil=True, cache=True)
def _choose(
    domain: int, size: int, forced: Integers, people: Integers, words: Words, sets: Words, chosen: Truths
) -> None:
    """Floyd's algorithm for each person: a uniform subset, or none where a word must be drawn again.

    With a forced number, a subset of one fewer of the others is chosen, and numbers from the forced one on move up.
    """
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    for i in range(people.size):
        member = sets[people[i]]
        member[:] = np.uint64(0)
        force = forced[people[i]]
        held = 1 if force >= 0 else 0
        count, fine = domain - held, True
        for k in range(size - held):
            last = np.uint64(count - size + held + k)
            bound = last + one
            word = words[i, k]
            # Of 2^64 words, fewer than `bound` are refused; which ones is Lemire's rule, its costly part done seldom.
            if word * bound < bound and word * bound < (~bound + one) % bound:
                fine = False
                break
            at = upper_half(word, bound)
            moved = at + one if held and at >= np.uint64(force) else at
            if member[moved >> six] >> (moved & low) & one:
                moved = last + one if held and last >= np.uint64(force) else last
            member[moved >> six] |= one << (moved & low)
        if held:
            member[np.uint64(force) >> six] |= one << (np.uint64(force) & low)
        chosen[i] = fine
