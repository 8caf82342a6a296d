"""Reports of rows: which row a person drew, and the report of an oracle about their cell there, as one report.

The row is uniform and drawn whatever the value is, and the cell is reported with all of ε, so the two together keep
what the oracle keeps. Of each row the oracle's table is counted by itself, with how many people drew the row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import RequestError
from ...runtime.array_types import Array, Integers, Truths
from .oracle import Oracle, Tally

WORD_BITS = 64


@dataclass(frozen=True)
class RowReports:
    """How a row and a report are sent as one, and counted."""

    rows: int  # How many there are to draw from.
    cells: Oracle  # What reports a cell of a row.

    def __post_init__(self) -> None:
        if not self.cells.report_words and self.rows * self.cells.outcomes > 1 << WORD_BITS:
            raise RequestError("A report of this row and oracle does not fit into 64 bits; take fewer rows or cells.")

    @property
    def bits(self) -> int:
        """Bits of a report."""
        return (self.rows - 1).bit_length() + self.cells.bits

    @property
    def words(self) -> int:
        """Words of a report, the row first; 0 where it is one number, row · outcomes + report of the oracle."""
        return self.cells.report_words + 1 if self.cells.report_words else 0

    @cached_property
    def type(self) -> np.dtype[Any]:
        """The type of a report, or of its words."""
        return np.dtype(np.uint64) if self.words else np.min_scalar_type(self.rows * self.cells.outcomes - 1)

    @property
    def row_size(self) -> int:
        """Counters of one row."""
        return math.prod(self.cells.table_shape)

    def joined(self, rows: Integers, sent: Array) -> Array:
        """Rows and the reports of their cells as one report a person, of `type`."""
        if self.words:
            return np.column_stack([rows.astype(np.uint64), sent])
        packed: Array = (rows.astype(np.uint64) * np.uint64(self.cells.outcomes) + sent).astype(self.type)
        return packed

    def apart(self, reports: Array) -> tuple[Array, Array]:
        """The rows, and the reports of cells, of `joined` ones.

        Raises
        ------
        RequestError
            When they are not of the shape and type of such reports at all.
        """
        if reports.dtype != self.type or reports.shape != (len(reports), self.words)[: 1 + bool(self.words)]:
            raise RequestError("These are no reports of this survey's sketch.")
        if self.words:
            return reports[:, 0], np.ascontiguousarray(reports[:, 1:])
        rows, sent = np.divmod(reports.astype(np.uint64), np.uint64(self.cells.outcomes))
        return rows, sent.astype(self.cells.report_type)

    def fits(self, reports: Array) -> Truths:
        """Which reports could have been sent by a device that follows the survey, bool (n,)."""
        rows, sent = self.apart(reports)
        fine: Truths = (rows < self.rows) & self.cells.fits(sent)
        return fine

    @property
    def table_shape(self) -> tuple[int, ...]:
        """Of a tally's table: of each row the oracle's table and, last, how many people drew it."""
        return self.rows, self.row_size + 1

    def zeros(self) -> Tally:
        """The tally of nobody."""
        return Tally(np.zeros(self.table_shape, np.int64), 0)

    def aggregate(self, reports: Array, tally: Tally | None = None) -> Tally:
        """The tally of these reports, added to one of earlier ones where there is one.

        Raises
        ------
        RequestError
            When a report could not have been sent; see `fits`.
        """
        if not self.fits(reports).all():
            raise RequestError("A report cannot have been sent by a device that follows this survey.")
        rows, sent = self.apart(reports)
        added = self.zeros()
        order, ends = by_row(rows.astype(np.int64), self.rows)
        for row in np.flatnonzero(np.diff(ends)):
            mine = self.cells.aggregate(sent[order[ends[row] : ends[row + 1]]])
            added.table[row] = np.append(mine.table, mine.people)
        added = Tally(added.table, len(reports))
        return added if tally is None else tally + added

    def of_row(self, tally: Tally, row: int) -> Tally:
        """What the oracle counted in one row."""
        sums = tally.table[row]
        return Tally(sums[:-1].reshape(self.cells.table_shape), int(sums[-1]))


def by_row(rows: Integers, count: int) -> tuple[Integers, Integers]:
    """An order in which people of one row stand together, and where each row begins in it, int64 (count + 1,)."""
    order = np.argsort(rows, kind="stable")
    return order, np.searchsorted(rows[order], np.arange(count + 1))
