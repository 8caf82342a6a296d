"""Sketches of values too many to list: every person picks a row, hashes their value in it, and reports that with noise.

The row is uniform and drawn whatever the value is, hash functions are public, and what is reported of the row is
reported with all of ε: so a report keeps ε. No person reports in two rows. Any value can be asked afterwards.

Of each row the collector estimates how many of its people have a value, less what other values bring to its cells, and
adds rows up. The error is measured between rows, which are independent and alike: it holds the noise of reports,
collisions and who picked which row.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtrit

from ...errors import RequestError
from ...parameters import Seed, Validated, parameter
from ...privacy.noise.randomness import Source
from ...runtime.array_types import Array, Floats, Integers, Truths
from ..promise import LocalEpsilon
from ..tally import Tally

LARGEST_VALUE = (1 << 32) - 1
MOST_COUNTERS = 1 << 26
MOST_READ = 1 << 25
ALIKE = 0.0
"""Probability that two people have the same value, of those that nobody asks about, where nothing is said of it."""


@dataclass(frozen=True)
class LocalSketch(Validated):
    """A sketch of values up to 2^32 - 1.

    Attributes
    ----------
    epsilon : Decimal
        The promise to whoever reports once.
    seed : int
        Public; hash functions follow from it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    described: ClassVar[str] = "local sketch"

    epsilon: Decimal = parameter(LocalEpsilon())
    seed: int = parameter(Seed("The seed of the hash functions"), None)

    @property
    @abstractmethod
    def surplus(self) -> int:
        """A - B of the module on responses, whole."""

    @property
    @abstractmethod
    def groups(self) -> int:
        """How many rows people are shared out to."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits of a report."""

    @property
    @abstractmethod
    def report_words(self) -> int:
        """Words of a report; 0 where a report is one number."""

    @property
    @abstractmethod
    def report_type(self) -> np.dtype[Any]:
        """The type of a report, or of its words."""

    @abstractmethod
    def privatise(self, values: object, source: Source | None = None) -> Array:
        """The reports of people with these values: what their devices send."""

    @abstractmethod
    def fits(self, reports: Array) -> Truths:
        """Which reports could have been sent by a device that follows the survey, bool (n,).

        Raises
        ------
        RequestError
            When they are not of the shape and type of reports at all.
        """

    @property
    @abstractmethod
    def table_shape(self) -> tuple[int, ...]:
        """The shape of a tally's table."""

    def zeros(self) -> Tally:
        """The tally of nobody."""
        return Tally(np.zeros(self.table_shape, np.int64), 0)

    @property
    def most_candidates(self) -> int:
        """How many values are asked at a time at most, as every row is read for each."""
        return MOST_READ // self.groups

    @abstractmethod
    def aggregate(self, reports: Array, tally: Tally | None = None) -> Tally:
        """The tally of these reports, added to one of earlier ones where there is one."""

    @abstractmethod
    def each_row(self, tally: Tally, values: Integers) -> Floats:
        """How many people of each row have each candidate, by that row, float64 (rows, k)."""

    def estimate(self, tally: Tally, values: object) -> Floats:
        """How many people have each candidate value, without bias over hash functions and coins: float64 (k,)."""
        return np.asarray(self.each_row(tally, self.asked(values)).sum(axis=0))

    def asked(self, values: object) -> Integers:
        """Candidates, int64 (k,); RequestError where they are none, or too many at a time."""
        candidates = checked_values(values)
        if len(candidates) > self.most_candidates:
            raise RequestError(f"This sketch is asked about {self.most_candidates:,} values at a time at most.")
        return candidates

    def interval(self, tally: Tally, values: object, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of intervals around the estimates, float64 (k,) each; see `answer`."""
        return self.answer(tally, values, level)[1:]

    def answer(self, tally: Tally, values: object, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Estimates of candidates and ends of intervals around them, float64 (k,) each, by how much rows differ.

        Rows share people out among them, so what one has more of a value another has less; that part of the difference
        is no error of their sum and is taken off.

        Parameters
        ----------
        tally : Tally
            Of all reports.
        values : object
            Candidates, whole numbers (k,).
        level : float
            Probability with which an interval holds a count.
        """
        if not 0.0 < level < 1.0:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        if self.groups < 2:
            raise RequestError("Intervals come from how far groups of people lie apart, so there must be two or more.")
        rows = self.each_row(tally, self.asked(values))
        estimate = rows.sum(axis=0)
        spread = self.groups * rows.var(axis=0, ddof=1)
        shared = np.maximum(estimate, 0.0) * (1 - 1 / self.groups)
        error = np.sqrt(np.maximum(spread - shared, spread / 2))
        reach = float(stdtrit(self.groups - 1, 0.5 + level / 2)) * error
        return estimate, estimate - reach, estimate + reach

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """By how much one report, whatever it says, lowers and raises any one estimate at most."""

    @abstractmethod
    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        """Variance of an estimate as a line in the count it estimates: at 0, and what each further person adds.

        Parameters
        ----------
        people : float
            How many report.
        alike : float
            Probability that two people have the same value, of values that nobody asks about, as frequent candidates
            are taken off: what collisions weigh by.
        """

    def typical_variance(self, people: float, count: float = 0.0, alike: float = ALIKE) -> float:
        """Variance of one estimate, over coins, rows and hash functions, of a value that so many people have."""
        nothing, each = self.line(people, alike)
        return nothing + each * count

    @property
    def oracle_title(self) -> str:
        """The sketch as people read it, with what its cells are reported by."""
        return self.title

    def written_out(self) -> dict[str, Any]:
        """Name and parameters, for JSON."""
        return {"name": self.name, "parameters": self.written()}


def checked_values(values: object) -> Integers:
    """Whole numbers up to 2^32 - 1, int64 (n,)."""
    given = np.asarray(values)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise RequestError("Values must be a list of whole numbers.")
    if len(given) and not (0 <= given.min() and given.max() <= LARGEST_VALUE):
        raise RequestError(f"A value must be a whole number from 0 to {LARGEST_VALUE:,}, as it is hashed by 32 bits.")
    return given.astype(np.int64, copy=False)


def collisions(people: float, alike: float, rows: int, chance: float) -> float:
    """Variance of how many others fall on a value, when each does in a row with this variance, `chance`.

    Σf_x'(1 - 1/k) of people who pick rows, and Σf_x'²/k of values that fall together, with Σf_x'² = alike · n².
    """
    return chance * (people * (1 - 1 / rows) + alike * people**2 / rows)


def standard_error(one: LocalSketch, people: float, alike: float = ALIKE) -> float:
    """Standard deviation of the estimate of a value that few people have."""
    return math.sqrt(one.typical_variance(people, 0.0, alike))
