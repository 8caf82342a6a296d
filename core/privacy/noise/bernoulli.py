"""Coins whose probability is e^(-x) or 1/(1 + e^x), exactly, for a rational x.

A coin with probability p shows one when a uniform number U from [0, 1) lies below p. Both have binary digits, and the
first digit in which they differ decides; so digits of either are needed only until then, 2 on average, and no rounding
is ever part of a decision. p is irrational for every rational x > 0 (Lindemann), so digits never end in a tie for ever,
and an enclosure of p that is narrow enough always settles what its leading digits are.
"""

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from .randomness import Stream

WORD_BITS = 64
# Decimal digits of the first enclosure beyond what the digits asked for take up; most need no second one.
GUARD_DIGITS = 12


@dataclass(frozen=True)
class Coin:
    """A probability with known binary digits.

    Attributes
    ----------
    rate : Fraction
        The rational x >= 0.
    logistic : bool
        The probability is 1/(1 + e^x) rather than e^(-x).
    """

    rate: Fraction
    logistic: bool = False

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
