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
The collector finds how many have a candidate value by a regression over all bits of all cohorts (`sketch`).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...errors import RequestError
from ...geometry.uniforms import PublicRandom
from ...privacy.noise.randomness import Source, Stream, SystemSource
from ...privacy.noise.responses import UNIT, WORD, coins, told
from ...privacy.replay.laws import SentBits
from ...privacy.replay.tape import drawn
from ...runtime.counter_tables import Array, Floats, Integers, Truths, Words
from ...runtime.parameters import Number, Whole, parameter
from .counting import Tally, count_bits
from .local_hashing import hashed
from .local_sketch import ALIKE, MOST_READ, Cells, LocalSketch, checked_values, collisions, density
from .oracle import MOST_COUNTERS, by_row, surplus
from .unary_subset_direct import last_word, symmetric_threshold

FAMILY = 0x424C4D
CERTAIN = 1.0


@dataclass(frozen=True)
class Rappor(LocalSketch):
    """Bloom filters with cohorts.

    `epsilon`: The promise for all reports of one value together. `width`, `hashes`, `cohorts`: m, h and c. `one_sent`,
    `zero_sent`: q and p: how often bits kept as one and as zero are sent as one each time. 1 and 0 send what is kept.
    """

    name = "rappor"
    title = "RAPPOR"
    paper = "Erlingsson, Pihur, Korolova 2014"

    width: int = parameter(Whole("The width", 2, 1 << 16), 128)
    hashes: int = parameter(Whole("The number of hashes", 1, 16), 2)
    cohorts: int = parameter(Whole("The number of cohorts", 1, 1 << 12), 64)
    one_sent: float = parameter(Number("How often a kept one is sent", 0.0, 1.0), 1.0)
    zero_sent: float = parameter(Number("How often a kept zero is sent as one", 0.0, 1.0), 0.0)
    report_type = np.dtype(np.uint64)

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
        source = SystemSource() if source is None else source
        cohorts = told(self.cohorts, len(given), source)
        sets = self.filters(given, cohorts.astype(np.int64))

        def flip() -> Words:
            return sets ^ ~coins(self.threshold, sets.size, source.stream()).reshape(sets.shape)

        law = SentBits(1 - self.flipped, self.flipped, len(given))
        return self._with(cohorts, drawn(law, sets, flip, source.private))

    def again(self, kept: Words, source: Source | None = None) -> Words:
        """One report each of devices that keep these responses; it costs nothing beyond them."""
        if not self.fits(kept).all():
            raise RequestError("What devices keep is not of this survey.")
        source = SystemSource() if source is None else source
        sets = kept[:, 1:].copy()
        if (self.one_sent, self.zero_sent) == (CERTAIN, 0.0):
            return self._with(kept[:, 0], sets)
        law = SentBits(Fraction(int(self.one_sent * WORD), WORD), Fraction(int(self.zero_sent * WORD), WORD), len(kept))
        return self._with(kept[:, 0], drawn(law, sets, lambda: self._sent(sets, source.stream()), source.private))

    def _sent(self, sets: Words, stream: Stream) -> Words:
        """What is sent this time of bits that are kept."""
        sent = np.zeros_like(sets)
        for chance, which in ((self.one_sent, sets), (self.zero_sent, ~sets)):
            if chance == CERTAIN:
                sent |= which
            elif chance:
                sent |= which & coins(int(chance * WORD), sets.size, stream).reshape(sets.shape)
        return sent

    def privatise(self, values: object, source: Source | None = None) -> Words:
        """The first reports of people with these values: cohorts, and bits."""
        return self.again(self.permanent(values, source), source)

    def _with(self, cohorts: Words, sets: Words) -> Words:
        sets[:, -1] &= last_word(self.width)
        return np.column_stack([cohorts, sets])

    def _fits(self, reports: Array) -> Truths:
        fine: Truths = (reports[:, 0] < self.cohorts) & ((reports[:, -1] & ~last_word(self.width)) == 0)
        return fine

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Of a tally's table: of each cohort how many set each bit and, last, how many there are."""
        return self.cohorts, self.width + 1

    @property
    def most_candidates(self) -> int:
        return MOST_READ // (self.cohorts * self.hashes)

    def _add(self, table: Integers, reports: Array) -> None:
        order, ends = by_row(reports[:, 0].astype(np.int64), self.cohorts)
        table[:, -1] = np.diff(ends)
        for cohort in np.flatnonzero(np.diff(ends)):
            mine = order[ends[cohort] : ends[cohort + 1]]
            count_bits(np.ascontiguousarray(reports[mine, 1:]), table[cohort, :-1])

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
        return density(self.width, self.hashes)

    def each_row(self, tally: Tally, values: Integers) -> Floats:
        """How many people of each cohort have each candidate, less what other candidates explain."""
        return self.bits_of(tally, values).beyond_others()

    def bits_of(self, tally: Tally, values: Integers) -> Cells:
        """The bits of all cohorts, and which of them candidates set."""
        one, zero = self.chances
        people = tally.table[:, -1].astype(np.float64)
        told = (tally.table[:, :-1] - people[:, np.newaxis] * zero) / (one - zero)
        noise = np.sqrt(np.maximum(people * zero * (1 - zero), 1.0)) / (one - zero)
        every = range(self.cohorts)
        places = np.stack([self.places(values, np.full(len(values), cohort)) for cohort in every])
        return Cells(told, people, noise, places)

    @property
    def reach(self) -> tuple[float, float]:
        one, zero = self.chances
        down, up = ((end / (one - zero) - self.density) / (1 - self.density) for end in (-zero, 1 - zero))
        return down, up

    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        """As for all sketches; `alike` is of the values that nobody asks for, as others are taken off."""
        one, zero = self.chances
        share = (1 + (self.hashes - 1) / self.width) / self.hashes  # two hashes may set one bit
        quiet, more = (share * chance * (1 - chance) / (one - zero) ** 2 for chance in (zero, one))
        chance = share * self.density * (1 - self.density)
        nothing = people * (quiet + self.density * (more - quiet)) + collisions(people, alike, self.cohorts, chance)
        each = (1 - self.density) * (more - quiet) - chance * (1 - 1 / self.cohorts)
        return nothing / (1 - self.density) ** 2, each / (1 - self.density) ** 2
