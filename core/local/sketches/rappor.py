"""RAPPOR (Erlingsson, Pihur, Korolova 2014): a value's bits in a Bloom filter, with permanent and instantaneous noise.

Every device belongs to one of c cohorts, at random and for good. The h public hash functions of its cohort set up to h
of m bits. *Permanent*: each bit is flipped with probability f/2, once and for ever; the device keeps the result. *Each
time* it reports, a bit that it kept as one is sent as one with probability q, and one kept as zero with p.

Two values differ in at most 2h bits, h of each. So the largest ratio of two permanent responses is ((1 -
f/2)/(f/2))^(2h), and what is sent later is made of the permanent response alone: one promise for any number of reports
of one value, ε = 2h ln((1 - f/2)/(f/2)). All h hashes count. The threshold of the coins is the largest of 64 digits for
which this ratio is at most A/B.

Each time a report is sent, what it gives away *by itself* is less, `once`: h ln((q*(1 - p*))/(p*(1 - q*))) with q* and
p* how often a bit of the value, and another, is sent as one.

A bit's count in a cohort, less what noise sets by itself, is the number of its people who have a value with that bit.
The collector looks for counts of candidate values that explain all bits of all cohorts: a regression without negative
coefficients that leaves out what noise alone could bring (Lasso), and least squares over what it kept. Such counts are
biased by what was left out. So each cohort then says of each candidate what its bits hold beyond the counts of *other*
candidates and beyond what values that nobody asked for bring on average (a de-biased Lasso; Zhang, Zhang 2014;
Javanmard, Montanari 2014). These answers of cohorts are as those of rows: independent, alike and without bias, so
intervals around their sum come from how far they lie apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import optimize, sparse

from ...errors import RequestError
from ...geometry.hashing.uniforms import PublicRandom
from ...machine.array_types import Array, Floats, Integers, Truths, Words
from ...parameters import Number, Whole, parameter
from ...privacy.noise.randomness import Source, SystemSource
from ...privacy.noise.responses import UNIT, WORD, below, coins
from ..oracles.counting import count_bits
from ..oracles.local_hashing import hashed
from ..oracles.sue import symmetric_threshold
from ..oracles.unary import last_word
from ..promise import surplus
from ..rows import by_row
from ..tally import Tally
from .sketch import ALIKE, MOST_COUNTERS, MOST_READ, LocalSketch, checked_values, collisions

FAMILY = 0x424C4D
CERTAIN = 1.0
MOST_EXPLAINING = 1_000
"""Candidates that the regression tries, those that the bits speak for most."""
MOST_ENTRIES = 1 << 24
"""Of the regression's design."""
UNPENALISED = 1e4
"""By what the column of values that nobody asked for is enlarged, so that the penalty is none for it."""


@dataclass(frozen=True)
class Rappor(LocalSketch):
    """Bloom filters with cohorts.

    Attributes
    ----------
    epsilon : Decimal
        The promise for all reports of one value together.
    width, hashes, cohorts : int
        m, h and c.
    one_sent, zero_sent : float
        q and p: how often bits kept as one and as zero are sent as one each time. 1 and 0 send what is kept.
    """

    name = "rappor"
    title = "RAPPOR"
    paper = "Erlingsson, Pihur, Korolova 2014"

    width: int = parameter(Whole("The width", 2, 1 << 16), 128)
    hashes: int = parameter(Whole("The number of hashes", 1, 16), 2)
    cohorts: int = parameter(Whole("The number of cohorts", 1, 1 << 12), 64)
    one_sent: float = parameter(Number("How often a kept one is sent", 0.0, 1.0), 1.0)
    zero_sent: float = parameter(Number("How often a kept zero is sent as one", 0.0, 1.0), 0.0)

    def _check(self) -> None:
        if self.hashes >= self.width or not self.zero_sent < self.one_sent:
            raise RequestError("Bits must outnumber hashes, and ones be sent as ones more often than zeros are.")
        if self.cohorts * self.width > MOST_COUNTERS:
            raise RequestError(
                f"{self.cohorts:,} cohorts of {self.width:,} bits are more than {MOST_COUNTERS:,}, which is the most "
                "that reports are counted in."
            )

    @cached_property
    def surplus(self) -> int:
        return surplus(self.epsilon)

    @cached_property
    def threshold(self) -> int:
        """Of 2^64 words, how many keep a bit as it is; for h hashes 2h bits may differ."""
        return symmetric_threshold(self.surplus, 2 * self.hashes)

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
        return 1 + Fraction(self.surplus, UNIT)

    @property
    def once(self) -> float:
        """The ε of one report by itself, whoever may have all of them gets `epsilon`."""
        one, zero = self.chances
        return self.hashes * math.log(one * (1 - zero) / (zero * (1 - one)))

    @property
    def groups(self) -> int:
        return self.cohorts

    @property
    def bits(self) -> int:
        return (self.cohorts - 1).bit_length() + self.width

    @property
    def report_words(self) -> int:
        """Words of a report: the cohort, and bits."""
        return 1 + -(-self.width // 64)

    @property
    def report_type(self) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def oracle_title(self) -> str:
        return f"{self.title} with {self.cohorts:,} cohorts, {self.hashes} hashes and {self.width:,} bits"

    @cached_property
    def _family(self) -> Words:
        return PublicRandom(self.seed, FAMILY).words(2, self.cohorts, self.hashes)

    def places(self, values: Integers, cohorts: Integers) -> Integers:
        """The bits that the cohorts' hashes of values set: int64 (h, n)."""
        a, b = self._family
        each = [hashed(a[cohorts, h], b[cohorts, h], values, self.width) for h in range(self.hashes)]
        return np.stack(each)

    def filters(self, values: Integers, cohorts: Integers) -> Words:
        """The same bits as words: uint64 (n, ⌈m/64⌉)."""
        sets = np.zeros((len(values), -(-self.width // 64)), np.uint64)
        for bit in self.places(values, cohorts):
            sets[np.arange(len(values)), bit >> 6] |= np.uint64(1) << (bit & 63).astype(np.uint64)
        return sets

    def permanent(self, values: object, source: Source | None = None) -> Words:
        """Permanent responses of devices with these values, which they keep for ever: cohort and bits, as a report."""
        given = checked_values(values)
        stream = (SystemSource() if source is None else source).stream()
        cohorts = below(self.cohorts, len(given), stream)
        sets = self.filters(given, cohorts.astype(np.int64))
        return self._with(cohorts, sets ^ ~coins(self.threshold, sets.size, stream).reshape(sets.shape))

    def again(self, kept: Words, source: Source | None = None) -> Words:
        """One report each of devices that keep these responses; it costs nothing beyond them."""
        if not self.fits(kept).all():
            raise RequestError("What devices keep is not of this survey.")
        stream = (SystemSource() if source is None else source).stream()
        sets = kept[:, 1:]
        sent = np.zeros_like(sets)
        for chance, which in ((self.one_sent, sets), (self.zero_sent, ~sets)):
            if chance == CERTAIN:
                sent |= which
            elif chance:
                sent |= which & coins(int(chance * WORD), sets.size, stream).reshape(sets.shape)
        return self._with(kept[:, 0], sent)

    def privatise(self, values: object, source: Source | None = None) -> Words:
        """The first reports of people with these values: cohorts, and bits."""
        return self.again(self.permanent(values, source), source)

    def _with(self, cohorts: Words, sets: Words) -> Words:
        sets[:, -1] &= last_word(self.width)
        return np.column_stack([cohorts, sets])

    def fits(self, reports: Array) -> Truths:
        if reports.dtype != np.uint64 or reports.shape != (len(reports), self.report_words):
            raise RequestError("These are no reports of this survey's sketch.")
        fine: Truths = (reports[:, 0] < self.cohorts) & ((reports[:, -1] & ~last_word(self.width)) == 0)
        return fine

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Of a tally's table: of each cohort how many set each bit and, last, how many there are."""
        return self.cohorts, self.width + 1

    @property
    def most_candidates(self) -> int:
        return MOST_READ // (self.cohorts * self.hashes)

    def aggregate(self, reports: Array, tally: Tally | None = None) -> Tally:
        """Counts of bits by cohort and, last, of people: int64 (c, m + 1)."""
        if not self.fits(reports).all():
            raise RequestError("A report cannot have been sent by a device that follows this survey.")
        added = self.zeros()
        order, ends = by_row(reports[:, 0].astype(np.int64), self.cohorts)
        added.table[:, -1] = np.diff(ends)
        for cohort in np.flatnonzero(np.diff(ends)):
            mine = order[ends[cohort] : ends[cohort + 1]]
            count_bits(np.ascontiguousarray(reports[mine, 1:]), added.table[cohort, :-1])
        added = Tally(added.table, len(reports))
        return added if tally is None else tally + added

    @cached_property
    def chances(self) -> tuple[float, float]:
        """How often a bit of a value, and another one, is sent as one."""
        half = float(self.flipped)
        one = (1 - half) * self.one_sent + half * self.zero_sent
        zero = half * self.one_sent + (1 - half) * self.zero_sent
        return one, zero

    @cached_property
    def density(self) -> float:
        """The share of bits that a value sets on average: how often one of any other value is among them."""
        return 1 - (1 - 1 / self.width) ** self.hashes

    @property
    def _beyond(self) -> float:
        """By what the bits of a value are multiplied once those that others set anyway are taken off."""
        return 1 / (1 - self.density)

    def mean(self, rows: Floats, tally: Tally) -> Floats:
        return np.asarray(rows.sum(axis=0))

    def each_row(self, tally: Tally, values: Integers) -> Floats:
        """How many people of each cohort have each candidate, less what other candidates explain."""
        one, zero = self.chances
        people = tally.table[:, -1].astype(np.float64)
        told = (tally.table[:, :-1] - people[:, np.newaxis] * zero) / (one - zero)
        share = people / max(tally.people, 1)
        places = np.stack([self.places(values, np.full(len(values), cohort)) for cohort in range(self.cohorts)])
        alone = self._alone(told, people, places)
        chosen = self._explaining(alone)
        counts = np.zeros(len(values))
        counts[chosen] = self._explained(told, people, places[:, :, chosen])
        for cohort in range(self.cohorts):
            mine = places[cohort][:, chosen]
            told[cohort] -= share[cohort] * _set_bits(mine, counts[chosen], self.width)
        left = people - share * counts.sum()
        found: Floats = self._alone(told, left, places) + share[:, np.newaxis] * counts
        return found

    def _alone(self, told: Floats, people: Floats, places: Integers) -> Floats:
        """What the bits of each candidate hold beyond those of so many other people: float64 (c, k)."""
        held = np.stack([told[cohort][mine].mean(axis=0) for cohort, mine in enumerate(places)])
        found: Floats = self._beyond * (held - people[:, np.newaxis] * self.density)
        return found

    def _explaining(self, alone: Floats) -> Integers:
        """The candidates that bits speak for most."""
        most = min(MOST_EXPLAINING, max(MOST_ENTRIES // (self.cohorts * self.width), 1))
        chosen: Integers = np.argsort(-alone.sum(axis=0), kind="stable")[:most]
        return chosen

    def _explained(self, told: Floats, people: Floats, places: Integers) -> Floats:
        """Counts of candidates that explain the bits: Lasso without negative coefficients, then least squares."""
        from sklearn.linear_model import Lasso

        one, zero = self.chances
        count = places.shape[2]
        noise = np.sqrt(np.maximum(people * zero * (1 - zero), 1.0)) / (one - zero)
        design = self._design(people / max(people.sum(), 1.0) / noise, places)
        target = (told / noise[:, np.newaxis]).reshape(-1)
        norms = np.sqrt(np.asarray(design.multiply(design).sum(axis=0)).reshape(-1))
        scale = 1.0 / np.maximum(norms, 1e-12)
        scale[-1] *= UNPENALISED
        penalty = math.sqrt(2 * math.log(max(count, 2)))
        lasso = Lasso(alpha=penalty / len(target), positive=True, fit_intercept=False, max_iter=5_000)
        lasso.fit(sparse.csc_matrix(design @ sparse.diags(scale)), target)
        kept = np.flatnonzero(lasso.coef_[:-1] > 0)
        columns = design[:, np.append(kept, count)]
        explained, size = np.zeros(count), len(kept) + 1
        gram, with_target = (columns.T @ columns).toarray(), columns.T @ target
        gram += 1e-9 * np.diag(np.diag(gram))  # two candidates may set the same bits
        triangle = np.linalg.cholesky(gram)
        found, _ = optimize.nnls(triangle.T, np.linalg.solve(triangle, with_target), maxiter=10 * size + 100)
        explained[kept] = found[:-1]
        return explained

    def _design(self, share: Floats, places: Integers) -> sparse.csc_matrix:
        """What one person of a value adds to each bit on average and, last, one of any value that nobody asked for."""
        count = places.shape[2]
        rows = (places + self.width * np.arange(self.cohorts)[:, np.newaxis, np.newaxis]).reshape(-1)
        columns = np.broadcast_to(np.arange(count), places.shape).reshape(-1)
        entries = np.broadcast_to(share[:, np.newaxis, np.newaxis], places.shape).reshape(-1)
        shape = (self.cohorts * self.width, count)
        set_once = sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), shape).tocsc()
        added = sparse.coo_matrix((entries, (rows, columns)), shape).tocsc()
        added.data /= set_once.data  # two hashes may set one bit
        anyone = np.repeat(share * self.density, self.width)[:, np.newaxis]
        return sparse.csc_matrix(sparse.hstack([added, sparse.csc_matrix(anyone)]))

    @property
    def reach(self) -> tuple[float, float]:
        one, zero = self.chances
        down, up = (self._beyond * (end / (one - zero) - self.density) for end in (-zero, 1 - zero))
        return down, up

    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        """As for all sketches; `alike` is of the values that nobody asks for, as others are taken off."""
        one, zero = self.chances
        share = (1 + (self.hashes - 1) / self.width) / self.hashes  # two hashes may set one bit
        quiet, more = (share * chance * (1 - chance) / (one - zero) ** 2 for chance in (zero, one))
        chance = share * self.density * (1 - self.density)
        nothing = people * (quiet + self.density * (more - quiet)) + collisions(people, alike, self.cohorts, chance)
        each = (1 - self.density) * (more - quiet) - chance * (1 - 1 / self.cohorts)
        return self._beyond**2 * nothing, self._beyond**2 * each


def _set_bits(places: Integers, counts: Floats, width: int) -> Floats:
    """How many people of these values set each bit: float64 (m,)."""
    weights = np.broadcast_to(counts, places.shape).copy()
    for h in range(1, len(places)):
        weights[h][(places[:h] == places[h]).any(axis=0)] = 0.0  # two hashes may set one bit
    set_bits: Floats = np.bincount(places.reshape(-1), weights.reshape(-1), minlength=width).astype(np.float64)
    return set_bits
