"""What every frequency oracle is: a report on the device, a sum at the collector, and estimates with intervals.

    value --privatise--> report --aggregate--> tally --estimate--> counts of all values

Privacy rests on the first step alone. Every oracle's docstring says why no report is more than A/B <= e^ε times
likelier for one value than for another (`core.privacy.noise.responses` has the weights), and `transition_matrix` writes
the probabilities out as fractions for small domains, where a test divides all of them.

The promise that a device makes to its owner is a local ε, an exact decimal, from which whole-number weights follow.

Reports of rows: which row a person drew, and the report of an oracle about their cell there, as one report.

The row is uniform and drawn whatever the value is, and the cell is reported with all of ε, so the two together keep
what the oracle keeps. Of each row the oracle's table is counted by itself, with how many people drew the row.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from scipy.special import ndtri

from ...errors import RequestError
from ...privacy.budget import EPSILON_PLACES, decimal_text, exact_decimal
from ...privacy.noise.randomness import Source, Stream, SystemSource
from ...privacy.noise.responses import UNIT, below, odds_below
from ...privacy.replay.laws import WeighedReports
from ...privacy.replay.tape import drawn
from ...runtime.counter_tables import Array, Floats, Integers, Truths
from ...runtime.parameters import Kind, Registry, Validated, Whole, parameter
from .counting import Counted, Tally, count_numbers

LEAST_EPSILON = Decimal("0.001")
LARGEST_EPSILON = 16


@dataclass(frozen=True)
class LocalEpsilon(Kind):
    """A local ε: below the least, whole-number weights could not tell it from nothing; above the largest, it hides
    nobody.
    """

    what: str = "The local epsilon"

    def checked(self, value: object) -> Decimal:
        number = exact_decimal(value, self.what, EPSILON_PLACES)  # type: ignore[arg-type]  # it refuses what is none
        if not LEAST_EPSILON <= number <= LARGEST_EPSILON:
            raise RequestError(
                f"{self.what} must lie between {LEAST_EPSILON} and {LARGEST_EPSILON}, not {decimal_text(number)}: less "
                "says nothing, and more protects nobody."
            )
        return number

    def written(self, value: Decimal) -> str:
        return decimal_text(value)

    def read(self, value: object) -> Any:
        if not isinstance(value, str):
            raise RequestError(f"{self.what} must be written as text, as it is exact.")
        return value


def surplus(epsilon: Decimal | Fraction) -> int:
    """A - B: how much more than the others' weight B = 2^32 an outcome weighs that speaks for the truth.

    A = ⌊2^32 e^ε⌋, so that A/B <= e^ε.
    """
    return odds_below(Fraction(epsilon)) - UNIT


MOST_VALUES = 1 << 24
MOST_REPORTS = 1 << 40
Matrix = list[list[Fraction]]  # Probabilities of reports, a row a value.


@dataclass(frozen=True)
class Oracle(Counted, Validated):
    """How one of `domain` values is reported with a local `epsilon`."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    described: ClassVar[str] = "frequency oracle"

    # How many values there are; a value is a whole number below it.
    domain: int = parameter(Whole("The number of values", 2, MOST_VALUES))
    epsilon: Decimal = parameter(LocalEpsilon())  # The promise to whoever reports once.

    @cached_property
    def surplus(self) -> int:
        """A - B of the module on responses, whole."""
        return surplus(self.epsilon)

    @property
    def odds(self) -> Fraction:
        """A/B: the largest ratio of probabilities of any report, at most e^ε."""
        return 1 + Fraction(self.surplus, UNIT)

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (self.domain,)

    def privatise(self, values: object, source: Source | None = None) -> Array:
        """The reports of people with these values: what their devices send.

        `values`: Whole numbers from 0 to before `domain`, (n,). `source`: None in any real report: coins are then keyed
        by the operating system.

        Returns (n,), or (n, `report_words`), of `report_type`.
        """
        given = np.asarray(values)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise RequestError("Values to be reported must be a list of whole numbers.")
        if len(given) and not (0 <= given.min() and given.max() < self.domain):
            raise RequestError(f"A value to be reported must be a whole number from 0 to {self.domain - 1:,}.")
        return self._reports(given.astype(np.int64, copy=False), SystemSource() if source is None else source)

    @abstractmethod
    def _reports(self, values: Integers, source: Source) -> Array:
        """The reports of checked values."""

    def _fits(self, reports: Array) -> Truths:
        return reports < self.outcomes

    @abstractmethod
    def estimate(self, tally: Tally) -> Floats:
        """How many people have each value, without bias: float64 (domain,)."""

    @abstractmethod
    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        """Variance of each estimate as a line in the count it estimates: at 0, and what each further person adds."""

    def interval(self, tally: Tally, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of intervals that hold each count with about that probability, float64 (domain,) each.

        Those counts f that are within z standard deviations of the estimate, each by its own variance (a score
        interval; Wilson 1927): they are longer upwards, as larger counts vary more.
        """
        if not 0.0 < level < 1.0:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        estimate = self.estimate(tally)
        nothing, each = self.line(tally, estimate)
        z2 = float(ndtri(0.5 + level / 2.0)) ** 2
        middle = estimate + z2 * each / 2.0
        reach = np.sqrt(np.maximum(z2 * (nothing + each * estimate) + (z2 * each / 2.0) ** 2, 0.0))
        return middle - reach, middle + reach

    @abstractmethod
    def variance(self, counts: object) -> Floats:
        """Exact variance of each estimate when the true counts are these: float64 (domain,)."""

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """By how much one report, whatever it says, lowers and raises any one estimate at most."""

    def typical_variance(self, people: float, count: float = 0.0) -> float:
        """Variance of one estimate when so many people have its value and the others are spread over all others."""
        others = max(people - count, 0.0) / (self.domain - 1)
        counts = np.full(self.domain, others)
        counts[0] = count
        return float(self.variance(counts)[0])

    def work(self, people: float) -> tuple[float, float]:
        """Rough seconds on one core: of one device, and of the collector until all counts are estimated."""
        return 5e-8, 2e-9 * people + 1e-8 * self.domain

    @abstractmethod
    def transition_matrix(self) -> Matrix:
        """The probability of every report for every value, exactly, for small domains.

        Reports that are equally likely for every value may share a column. RequestError where there are too many.
        """

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report in `transition_matrix`."""
        columns = zip(*self.transition_matrix(), strict=True)
        ratios: list[Fraction] = [max(column) / min(column) for column in columns]
        return max(ratios)


class NumberedReports(Counted):
    """Reports that are numbers below `outcomes`, and are counted as such."""

    @property
    def bits(self) -> int:
        return bits_for(self.outcomes)

    def _add(self, table: Integers, reports: Array) -> None:
        count_numbers(reports, table)


@dataclass(frozen=True)
class EvenOracle(Oracle):
    """An oracle that is as exact about every value as about any other."""

    @property
    @abstractmethod
    def _variances(self) -> tuple[float, float]:
        """Variance that one person adds to an estimate of another value, and what it is more of their own."""

    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        other, more = self._variances
        return tally.people * other, more

    def variance(self, counts: object) -> Floats:
        held = checked_counts(counts, self.domain)
        other, more = self._variances
        found: Floats = held.sum() * other + held * more
        return found


@dataclass(frozen=True)
class Pure(EvenOracle):
    """An oracle in which every report speaks for some values, and against the others.

    A report of someone with value x speaks for x with probability p, and for any other given value with probability q,
    so C_x, the number of reports that speak for x, has mean f_x p + (n - f_x) q (Wang, Blocki, Li, Jha 2017).
    """

    @property
    @abstractmethod
    def chances(self) -> tuple[Fraction, Fraction]:
        """p and q, exact."""

    def supports(self, tally: Tally) -> Integers:
        """C_x for every value, int64 (domain,)."""
        return tally.table

    def estimate(self, tally: Tally) -> Floats:
        p, q = self.chances
        supports = self.supports(tally).astype(np.float64)
        return (supports - tally.people * float(q)) / float(p - q)

    @property
    def reach(self) -> tuple[float, float]:
        p, q = self.chances
        return float(-q / (p - q)), float((1 - q) / (p - q))

    @cached_property
    def _variances(self) -> tuple[float, float]:
        p, q = self.chances
        return float(q * (1 - q) / (p - q) ** 2), float((1 - p - q) / (p - q))


def checked_counts(counts: object, domain: int) -> Floats:
    """True counts as float64 (domain,)."""
    held = np.asarray(counts, dtype=np.float64)
    if held.shape != (domain,):
        raise RequestError(f"Counts must be given for each of the {domain:,} values.")
    return held


def weighed(
    values: Integers,
    supporting: int,
    outcomes: int,
    surplus: int,
    source: Source,
    report: Callable[[Integers, Integers, Stream], Array],
) -> Array:
    """Reports by weighted choices, as one draw of a replayed release: see `core.privacy.replay.laws.WeighedReports`.

    `values`: What the outcomes speak for, int64 (n,): those that speak for one are not those that speak for another.
    `source`: Where the coins come from; a new stream is taken from it. `report`: The reports, of places and of any
    outcomes, as `picked` gives them; further bits are of the same stream.
    """

    def draw() -> Array:
        stream = source.stream()
        return report(*picked(supporting, outcomes, surplus, len(values), stream), stream)

    law = WeighedReports(surplus + UNIT, UNIT, supporting, outcomes, len(values))
    return drawn(law, values, draw, source.private)


def picked(supporting: int, outcomes: int, surplus: int, count: int, stream: Stream) -> tuple[Integers, Integers]:
    """One weighted choice a person: an outcome that speaks for the truth by its place among these, or else any.

    `supporting`, `outcomes`: How many outcomes speak for the truth, and how many there are.

    Returns int64 (n,) each: the place, or -1; and a uniform outcome where it is -1.
    """
    favoured = supporting * surplus
    number = below(favoured + outcomes * UNIT, count, stream)
    hit = number < favoured
    place = np.where(hit, number // np.uint64(surplus), 0).astype(np.int64)
    anything = (np.where(hit, favoured, number) - np.uint64(favoured)) >> np.uint64(32)
    return np.where(hit, place, -1), anything.astype(np.int64)


def bits_for(outcomes: int) -> int:
    """Bits that tell so many outcomes apart."""
    return max(1, (outcomes - 1).bit_length())


ORACLES: Registry[Oracle] = Registry(__package__ or "", Oracle, "The oracle")  # type: ignore[type-abstract]


def oracle(name: str, domain: int, epsilon: object) -> Oracle:
    """The oracle of a name, with its other parameters as they suit the two; RequestError where there is none."""
    return cast(Oracle, ORACLES.named(name)(domain, epsilon))


WORD_BITS = 64
MOST_COUNTERS = 1 << 26


class RowReports(Counted):
    """Whatever sends a row and an oracle's report of a cell there as one, and is counted by row."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are to draw from."""

    @property
    @abstractmethod
    def inner(self) -> Oracle:
        """What reports a cell of a row."""

    def check_room(self) -> None:
        """Refuse reports that fit into no number, or that nobody could count."""
        if not self.inner.report_words and self.outcomes > 1 << WORD_BITS:
            raise RequestError("A report of this row and oracle does not fit into 64 bits; take fewer rows or cells.")
        if self.rows * self.row_size > MOST_COUNTERS:
            raise RequestError(
                f"{self.rows:,} rows of {self.row_size:,} counters are more than {MOST_COUNTERS:,}, which is the most "
                "that reports are counted in."
            )

    @property
    def bits(self) -> int:
        return (self.rows - 1).bit_length() + self.inner.bits

    @property
    def report_words(self) -> int:
        """Words of a report, the row first; 0 where it is one number, row · outcomes + report of the oracle."""
        return self.inner.report_words + 1 if self.inner.report_words else 0

    @property
    def outcomes(self) -> int:
        return self.rows * self.inner.outcomes

    @property
    def row_size(self) -> int:
        """Counters of one row."""
        return math.prod(self.inner.table_shape)

    def joined(self, rows: Integers, sent: Array) -> Array:
        """Rows and the reports of their cells as one report a person."""
        if self.report_words:
            return np.column_stack([rows.astype(np.uint64), sent])
        packed: Array = (rows.astype(np.uint64) * np.uint64(self.inner.outcomes) + sent).astype(self.report_type)
        return packed

    def apart(self, reports: Array) -> tuple[Array, Array]:
        """The rows, and the reports of cells, of `joined` ones."""
        if self.report_words:
            return reports[:, 0], np.ascontiguousarray(reports[:, 1:])
        rows, sent = np.divmod(reports.astype(np.uint64), np.uint64(self.inner.outcomes))
        return rows, sent.astype(self.inner.report_type)

    def _fits(self, reports: Array) -> Truths:
        rows, sent = self.apart(reports)
        fine: Truths = (rows < self.rows) & self.inner.fits(sent)
        return fine

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Of each row the oracle's table and, last, how many people drew it."""
        return self.rows, self.row_size + 1

    def _add(self, table: Integers, reports: Array) -> None:
        rows, sent = self.apart(reports)
        order, ends = by_row(rows.astype(np.int64), self.rows)
        for row in np.flatnonzero(np.diff(ends)):
            mine = self.inner.aggregate(sent[order[ends[row] : ends[row + 1]]])
            table[row] = np.append(mine.table, mine.people)

    def of_row(self, tally: Tally, row: int) -> Tally:
        """What the oracle counted in one row."""
        sums = tally.table[row]
        return Tally(sums[:-1].reshape(self.inner.table_shape), int(sums[-1]))


def by_row(rows: Integers, count: int) -> tuple[Integers, Integers]:
    """An order in which people of one row stand together, and where each row begins in it, int64 (count + 1,)."""
    order = np.argsort(rows, kind="stable")
    return order, np.searchsorted(rows[order], np.arange(count + 1))
