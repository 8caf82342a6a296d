"""RAPPOR (Erlingsson, Pihur, Korolova 2014): a value's bits in a Bloom filter, with permanent and instantaneous noise.

Every device belongs to one of c cohorts, at random and for good. The h public hash functions of its cohort set up to h
of m bits. *Permanent*: each bit is flipped with probability f/2, once and for ever; the device keeps the result. *Each
time* it reports, a bit that it kept as one is sent as one with probability q, and one kept as zero with p.

Two values differ in at most 2h bits, h of each. So the largest ratio of two permanent responses is ((1 -
f/2)/(f/2))^(2h), and what is sent later is made of the permanent response alone: one promise for any number of reports
of one value, ε = 2h ln((1 - f/2)/(f/2)). All h hashes count. The threshold of the coins is the largest of 64 digits for
which this ratio is at most A/B.

A bit's count in a cohort, less what noise sets by itself, is the number of its people who have a value with that bit.
The collector finds counts of candidate values that explain all bits of all cohorts: a regression without negative
coefficients that leaves out what noise alone could bring (Lasso), and least squares over what it kept. Intervals are
those of least squares for the candidates kept; a candidate that was left out has one from 0 to what could have been
missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from ...errors import RequestError
from ...geometry.hashing.uniforms import PublicRandom
from ...machine.array_types import Array, Floats, Integers, Truths, Words
from ...parameters import Declared, Number, Seed, Whole, parameter
from ...privacy.noise.randomness import Source, SystemSource
from ...privacy.noise.responses import UNIT, WORD, below, coins
from ..oracles.counting import count_bits
from ..oracles.local_hashing import hashed
from ..oracles.sue import symmetric_threshold
from ..oracles.unary import last_word
from ..promise import LocalEpsilon, surplus
from ..tally import Tally
from .sketch import checked_values

FAMILY = 0x424C4D
CERTAIN = 1.0


@dataclass(frozen=True)
class Rappor(Declared):
    """Bloom filters with cohorts.

    Attributes
    ----------
    epsilon : Decimal
        The promise for all reports of one value together.
    width, hashes, cohorts : int
        m, h and c.
    one_sent, zero_sent : float
        q and p: how often bits kept as one and as zero are sent as one each time. 1 and 0 send what is kept.
    seed : int
        Public; hash functions follow from it.
    """

    name: ClassVar[str] = "rappor"
    described: ClassVar[str] = "local sketch"

    epsilon: Decimal = parameter(LocalEpsilon())
    width: int = parameter(Whole("The width", 2, 1 << 16), 128)
    hashes: int = parameter(Whole("The number of hashes", 1, 16), 2)
    cohorts: int = parameter(Whole("The number of cohorts", 1, 1 << 12), 64)
    one_sent: float = parameter(Number("How often a kept one is sent", 0.0, 1.0), 1.0)
    zero_sent: float = parameter(Number("How often a kept zero is sent as one", 0.0, 1.0), 0.0)
    seed: int = parameter(Seed("The seed of the hash functions"), None)

    def _check(self) -> None:
        if self.hashes >= self.width or not self.zero_sent < self.one_sent:
            raise RequestError("Bits must outnumber hashes, and ones be sent as ones more often than zeros are.")

    @cached_property
    def threshold(self) -> int:
        """Of 2^64 words, how many keep a bit as it is; for h hashes 2h bits may differ."""
        return symmetric_threshold(surplus(self.epsilon), 2 * self.hashes)

    @property
    def flipped(self) -> Fraction:
        """f/2."""
        return 1 - Fraction(self.threshold, WORD)

    @property
    def largest_ratio(self) -> Fraction:
        """Of two probabilities of one permanent response, when no bit of two values is the same."""
        return ((1 - self.flipped) / self.flipped) ** (2 * self.hashes)

    @property
    def odds(self) -> Fraction:
        """A/B, at most e^ε."""
        return 1 + Fraction(surplus(self.epsilon), UNIT)

    @property
    def bits(self) -> int:
        """Bits of a report, its cohort among them."""
        return (self.cohorts - 1).bit_length() + self.width

    def filters(self, values: Integers, cohorts: Integers) -> Words:
        """The bits that the cohorts' hashes of values set: uint64 (n, ⌈m/64⌉)."""
        words = PublicRandom(self.seed, FAMILY).words(2, self.cohorts, self.hashes)
        sets = np.zeros((len(values), -(-self.width // 64)), np.uint64)
        for h in range(self.hashes):
            bit = hashed(words[0, cohorts, h], words[1, cohorts, h], values, self.width)
            sets[np.arange(len(values)), bit >> 6] |= np.uint64(1) << (bit & 63).astype(np.uint64)
        return sets

    def permanent(self, values: object, source: Source | None = None) -> tuple[Integers, Words]:
        """Cohorts and permanent responses: what devices with these values keep for ever."""
        given = checked_values(values)
        stream = (SystemSource() if source is None else source).stream()
        cohorts = below(self.cohorts, len(given), stream).astype(np.int64)
        sets = self.filters(given, cohorts)
        return cohorts, self._cut(sets ^ ~coins(self.threshold, sets.size, stream).reshape(sets.shape))

    def sent(self, kept: tuple[Integers, Words], source: Source | None = None) -> tuple[Integers, Words]:
        """One report each of devices that keep these responses; it costs nothing beyond them."""
        stream = (SystemSource() if source is None else source).stream()
        cohorts, sets = kept
        sent = np.zeros_like(sets)
        for chance, which in ((self.one_sent, sets), (self.zero_sent, ~sets)):
            if chance == CERTAIN:
                sent |= which
            elif chance:
                sent |= which & coins(int(chance * WORD), sets.size, stream).reshape(sets.shape)
        return cohorts, self._cut(sent)

    def privatise(self, values: object, source: Source | None = None) -> tuple[Integers, Words]:
        """The first reports of people with these values: cohorts, and bits."""
        return self.sent(self.permanent(values, source), source)

    def _cut(self, sets: Words) -> Words:
        sets[:, -1] &= last_word(self.width)
        return sets

    def fits(self, reports: tuple[Integers, Words]) -> Truths:
        """Which reports could have been sent by a device that follows the survey, bool (n,)."""
        cohorts, sets = reports
        if sets.shape != (len(cohorts), -(-self.width // 64)) or sets.dtype != np.uint64:
            raise RequestError("These are no reports of the sketch 'rappor'.")
        fine: Truths = (cohorts >= 0) & (cohorts < self.cohorts) & ((sets[:, -1] & ~last_word(self.width)) == 0)
        return fine

    def aggregate(self, reports: tuple[Integers, Words], tally: Tally | None = None) -> Tally:
        """Counts of bits by cohort and, last, of people: int64 (c, m + 1)."""
        if not self.fits(reports).all():
            raise RequestError("A report cannot have been sent by the sketch 'rappor' of this survey.")
        cohorts, sets = reports
        table = np.zeros((self.cohorts, self.width + 1), np.int64)
        table[:, -1] = np.bincount(cohorts, minlength=self.cohorts)
        order = np.argsort(cohorts, kind="stable")
        for cohort, mine in enumerate(np.split(order, np.cumsum(table[:-1, -1]))):
            count_bits(np.ascontiguousarray(sets[mine]), table[cohort, :-1])
        added = Tally(table, len(cohorts))
        return added if tally is None else tally + added

    @property
    def _chances(self) -> tuple[float, float]:
        """How often a bit of a value, and another one, is sent as one."""
        half = float(self.flipped)
        one = (1 - half) * self.one_sent + half * self.zero_sent
        zero = half * self.one_sent + (1 - half) * self.zero_sent
        return one, zero

    def estimate(self, tally: Tally, values: object) -> Floats:
        """How many people have each candidate value, never below zero: float64 (k,)."""
        return self._decoded(tally, checked_values(values))[0]

    def interval(self, tally: Tally, values: object, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of intervals, float64 (k,) each, as the module says; they hold if the candidates are all there is."""
        estimate, error = self._decoded(tally, checked_values(values))
        reach = float(ndtri(0.5 + level / 2)) * error
        return np.maximum(estimate - reach, 0.0), estimate + reach

    def _decoded(self, tally: Tally, values: Integers) -> tuple[Floats, Floats]:
        from sklearn.linear_model import Lasso

        one, zero = self._chances
        people = tally.table[:, -1:].astype(np.float64)
        unbiased = (tally.table[:, :-1] - people * zero) / (one - zero)
        noise = np.sqrt(np.maximum(people * zero * (1 - zero), 1.0)) / (one - zero)
        scale = np.broadcast_to(noise, unbiased.shape).reshape(-1)
        design = self._design(values, tally) / scale[:, np.newaxis]
        target = unbiased.reshape(-1) / scale
        norms = np.sqrt((design**2).sum(axis=0))
        alone = 1.0 / np.maximum(norms, 1e-12)
        penalty = float(np.sqrt(2 * np.log(max(len(values), 2))))
        lasso = Lasso(alpha=penalty / len(target), positive=True, fit_intercept=False, max_iter=5_000)
        lasso.fit(design * alone, target)
        kept = np.flatnonzero(lasso.coef_ > 0)
        estimate, error = np.zeros(len(values)), alone * (1 + penalty)
        if len(kept):
            chosen = design[:, kept]
            inverse = np.linalg.pinv(chosen.T @ chosen)
            estimate[kept] = np.maximum(inverse @ (chosen.T @ target), 0.0)
            rest = target - chosen @ estimate[kept]
            wider = max(1.0, float(rest @ rest) / max(len(target) - len(kept), 1))
            error[kept] = np.sqrt(np.diag(inverse) * wider)
        return estimate, error

    def _design(self, values: Integers, tally: Tally) -> Array:
        """What one person of a value adds to each bit on average: the share of people in the cohort."""
        share = tally.table[:, -1] / max(tally.people, 1)
        design = np.zeros((self.cohorts, self.width, len(values)))
        for cohort in range(self.cohorts):
            sets = self.filters(values, np.full(len(values), cohort))
            bits = np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little")[:, : self.width]
            design[cohort] = share[cohort] * bits.T
        return design.reshape(-1, len(values))
