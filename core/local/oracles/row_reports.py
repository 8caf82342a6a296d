"""Reports of rows: which row a person drew, and the report of an oracle about their cell there, as one report.

The row is uniform and drawn whatever the value is, and the cell is reported with all of ε, so the two together keep
what the oracle keeps. Of each row the oracle's table is counted by itself, with how many people drew the row.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from ...errors import RequestError
from ...runtime.array_types import Array, Integers, Truths
from .counting import Counted, Tally
from .oracle import Oracle

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
