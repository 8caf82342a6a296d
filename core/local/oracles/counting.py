"""Reports and their counting: what fits a survey, tallies that add up, and compiled loops over numbers and bits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ...errors import RequestError
from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Array, Integers, Truths, Words
from ...runtime.environment import over_ranges

WORTH_A_THREAD = 1 << 16
FLUSHED = 15  # Rows of bits that four planes of a counter hold.


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over reports; those of several machines are added."""

    table: np.ndarray  # int64, of the shape that `Counted` says.
    people: int  # How many reports were added.

    def __add__(self, other: Tally) -> Tally:
        if self.table.shape != other.table.shape:
            raise RequestError("Two tallies can be added only when both are of the same survey.")
        return Tally(self.table + other.table, self.people + other.people)


class Reported(ABC):
    """What devices send for a survey: one number, or a row of words."""

    @property
    def report_words(self) -> int:
        """Words of a report; 0 where a report is one number."""
        return 0

    @property
    def report_type(self) -> np.dtype[Any]:
        """Of the words of a report."""
        return np.dtype(np.uint64)

    def fits(self, reports: Array) -> Truths:
        """Which reports could have been sent by a device that follows the survey, bool (n,).

        RequestError when they are not of the shape and type of reports at all.
        """
        shape = (len(reports), self.report_words)[: 1 + bool(self.report_words)]
        if reports.dtype != self.report_type or reports.shape != shape:
            raise RequestError("These are no reports of this survey.")
        return self._fits(reports)

    @abstractmethod
    def _fits(self, reports: Array) -> Truths:
        """The same for reports of this shape and type."""

    def checked(self, reports: Array) -> Array:
        """The reports; RequestError when one could not have been sent."""
        if not self.fits(reports).all():
            raise RequestError("A report cannot have been sent by a device that follows this survey.")
        return reports


class Counted(Reported):
    """Reports that a collector keeps as sums over them alone."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits of a report."""

    @property
    def outcomes(self) -> int:
        """How many reports there are, where they are numbers."""
        return 1 << self.bits

    @property
    def report_type(self) -> np.dtype[Any]:
        """The type of a report, or of its words: the smallest that holds it."""
        return super().report_type if self.report_words else np.min_scalar_type(min(self.outcomes, 1 << 64) - 1)

    @property
    @abstractmethod
    def table_shape(self) -> tuple[int, ...]:
        """The shape of a tally's table."""

    def zeros(self) -> Tally:
        """The tally of nobody."""
        return Tally(np.zeros(self.table_shape, np.int64), 0)

    def aggregate(self, reports: Array, tally: Tally | None = None) -> Tally:
        """The tally of these reports, added to one of earlier ones; RequestError where one could not have been sent."""
        added = Tally(self.zeros().table, len(reports))
        if len(self.checked(reports)):
            self._add(added.table, np.ascontiguousarray(reports))
        return added if tally is None else tally + added

    @abstractmethod
    def _add(self, table: Integers, reports: Array) -> None:
        """Add checked reports to a table."""


def count_numbers(numbers: Array, table: Integers) -> None:
    """Add to each counter how many of the numbers are its place."""
    flat, lock = table.reshape(-1), Lock()

    def work(start: int, stop: int) -> None:
        mine = np.zeros(flat.size, np.int64)
        _count(numbers[start:stop], mine)
        with lock:
            np.add(flat, mine, out=flat)

    over_ranges(len(numbers), work, max(WORTH_A_THREAD, flat.size))


def count_bits(sets: Words, table: Integers) -> None:
    """Add to each counter in how many rows its bit is set; uint64 (n, words) with no bit beyond the table's length."""
    lock = Lock()

    def work(start: int, stop: int) -> None:
        mine = np.zeros(64 * sets.shape[1], np.int64)
        _count_bits(sets[start:stop], mine)
        with lock:
            np.add(table, mine[: len(table)], out=table)

    over_ranges(len(sets), work, WORTH_A_THREAD // 16)


@njit(nogil=True, cache=True)
def _count(numbers: Array, table: Integers) -> None:
    for i in range(numbers.size):
        table[numbers[i]] += 1


@njit(nogil=True, cache=True)
def _count_bits(sets: Words, table: Integers) -> None:
    """Bits by place: fifteen rows are added up in four planes of binary digits, sixty-four places at a time."""
    for word in range(sets.shape[1]):
        for start in range(0, sets.shape[0], FLUSHED):
            one, two, four, eight = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for i in range(start, min(start + FLUSHED, sets.shape[0])):
                carry = sets[i, word]
                one, carry = one ^ carry, one & carry
                two, carry = two ^ carry, two & carry
                four, carry = four ^ carry, four & carry
                eight ^= carry
            for bit in range(64):
                place = np.uint64(bit)
                table[64 * word + bit] += np.int64(
                    (one >> place & np.uint64(1))
                    + np.uint64(2) * (two >> place & np.uint64(1))
                    + np.uint64(4) * (four >> place & np.uint64(1))
                    + np.uint64(8) * (eight >> place & np.uint64(1))
                )
