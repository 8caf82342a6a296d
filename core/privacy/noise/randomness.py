"""Random bits: the only raw material of noise.

A stream of bits is the key stream of AES-256 in counter mode (NIST SP 800-38A, section 6.5). Keyed by the operating
system, it cannot be told from independent fair coins by anyone who cannot break AES; everything that is built on it
in this folder is exact, so this is the one computational assumption of every release.

Coins whose probability is e^(-x) or 1/(1 + e^x), exactly, for a rational x.

A coin with probability p shows one when a uniform number U from [0, 1) lies below p. Both have binary digits, and the
first digit in which they differ decides; so digits of either are needed only until then, 2 on average, and no rounding
is ever part of a decision. p is irrational for every rational x > 0 (Lindemann), so digits never end in a tie for ever,
and an enclosure of p that is narrow enough always settles what its leading digits are.
"""

import hashlib
import os
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ..replay.tape import rolling, tossed

KEY_BYTES = 32
# What is encrypted to get the bare key stream; longer requests go over it several times.
_ZEROS = memoryview(bytes(1 << 18))
# `update_into` asks for room of one block less a byte beyond the data.
_SPARE_WORDS = 2


class Stream(Protocol):
    """Independent fair random bits that are used up front to back."""

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, uint64 (count,)."""


class Source(Protocol):
    """Where streams come from."""

    private: bool  # Whether nobody can know or repeat the bits; only then may a release call itself private.

    def stream(self) -> Stream:
        """Return a new stream, independent of every other."""


class CipherStream:
    """The AES-256-CTR key stream of one key.

    `key`: 32 bytes, used for this one stream and never again.
    """

    def __init__(self, key: bytes):
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, uint64 (count,)."""
        words = np.empty(count + _SPARE_WORDS, np.uint64)
        room = words.view(np.uint8).data
        for start in range(0, 8 * count, len(_ZEROS)):
            length = min(len(_ZEROS), 8 * count - start)
            self._cipher.update_into(_ZEROS[:length], room[start:])
        return words[:count]


class SystemSource:
    """Streams keyed by the operating system: the source of every release.

    It holds nothing at all, neither key nor position, so it cannot be seeded, copied, saved or inherited by a forked
    process: each stream asks the system for a new key.
    """

    __slots__ = ()
    private = True

    def stream(self) -> CipherStream:
        """Return a new stream under a fresh key of the operating system; an audit that replays releases is told."""
        tape = rolling()
        if tape is not None:
            tape.stream()
        return CipherStream(os.urandom(KEY_BYTES))


class SeededSource:
    """Streams that anyone can repeat from a seed, for tests and teaching alone; what they make is not private.

    `seed`: Any whole number. The n-th stream of equal seeds is the same on every machine.
    """

    private = False

    def __init__(self, seed: int):
        self._seed = int(seed)
        self._streams = 0

    def stream(self) -> CipherStream:
        """Return the next stream of this seed."""
        label = f"Frostglass teaching noise, seed {self._seed}, stream {self._streams}"
        self._streams += 1
        return CipherStream(hashlib.sha256(label.encode()).digest())


def hidden_order(records: np.ndarray, source: Source) -> np.ndarray:
    """An order of the records in which each of them is as likely to be anywhere, exactly: places, int64 (n,).

    Each record draws 64 fair bits, and records are sorted by what they drew; where two drew the same, all draw again.
    What is kept are independent fair draws given that no two are equal, which is the same law whichever record has
    which draw: so all n! orders are equally likely, exactly. An order must never be told, as it says where each record
    stood.

    *Coupling.* A draw belongs to its record. Where a proof sets two neighbouring data sets side by side, a record that
    is in both has the same draw in both, and one that replaces another has the draw of that one; then
    `records[order]` is the same for both but in one place, whatever lines they stood in.

    `records`: One row each, (n, m), all that is used of a record: what a draw belongs to. Nothing of it decides the
    order. `source`: Where the bits come from; a new stream is taken from it.

    `records[order]` are the records in it.
    """

    opened: list[Stream] = []

    def words(count: int) -> np.ndarray:
        opened.extend([source.stream()] if not opened else [])
        return opened[0].words(count)

    while True:
        drawn = tossed("an order by draws of each record's own", records, words, private=source.private)
        order = np.argsort(drawn)
        if np.all(drawn[order[1:]] != drawn[order[:-1]]):
            return order


WORD_BITS = 64
# Decimal digits of the first enclosure beyond what the digits asked for take up; most need no second one.
GUARD_DIGITS = 12


@dataclass(frozen=True)
class Coin:
    """A probability with known binary digits."""

    rate: Fraction  # The rational x >= 0.
    logistic: bool = False  # The probability is 1/(1 + e^x) rather than e^(-x).

    def leading(self, bits: int) -> int:
        """Return floor(2^bits p): the first `bits` binary digits of p, as one whole number."""
        if self.rate == 0:
            return 1 << (bits - 1 if self.logistic else bits)
        if self.rate > bits:
            return 0  # p <= e^(-x) < 2^-bits
        precision = bits * 302 // 1000 + GUARD_DIGITS
        while True:
            low, high = (int(end * (1 << bits)) for end in self._enclosure(precision))
            if low == high:
                return low
            precision *= 2

    def toss(self, stream: Stream, matched: int = 0) -> bool:
        """Return True with probability p, given that the first `matched` digits of U and p agree."""
        if self.rate == 0 and not self.logistic:
            return True
        while True:
            digits = self.leading(matched + WORD_BITS) & ((1 << WORD_BITS) - 1)
            word = int(stream.words(1)[0])
            if word != digits:
                return word < digits
            matched += WORD_BITS

    def _enclosure(self, precision: int) -> tuple[Fraction, Fraction]:
        """Return two numbers that p lies between, with `precision` decimal digits.

        `Decimal.exp` is correctly rounded to nearest, so the next number below and above enclose it.
        """
        down = Context(prec=precision, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
        up = Context(prec=precision, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
        numerator, denominator = Decimal(self.rate.numerator), Decimal(self.rate.denominator)
        least = Fraction(down.next_minus(down.exp(up.divide(numerator, denominator).copy_negate())))
        most = Fraction(up.next_plus(up.exp(down.divide(numerator, denominator).copy_negate())))
        if self.logistic:
            return least / (1 + least), most / (1 + most)
        return least, most
