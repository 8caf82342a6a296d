"""Rows of cells: a value is hashed to one cell of its row, and the cell is reported by any frequency oracle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...checks import check_choice
from ...errors import RequestError
from ...geometry.hashing.uniforms import PublicRandom
from ...parameters import Choice, Resolved, Whole, parameter
from ...privacy.noise.randomness import Source, SystemSource
from ...privacy.noise.responses import told
from ...runtime.array_types import Array, Floats, Integers, Truths
from ..oracles.local_hashing import hashed
from ..oracles.oracle import Oracle
from ..oracles.table import ORACLES, oracle
from ..rows import RowReports
from ..tally import Tally
from .explaining import Cells
from .sketch import MOST_COUNTERS, LocalSketch, checked_values

FAMILY = 0x534B45


@dataclass(frozen=True)
class CellSketch(LocalSketch):
    """Rows of cells.

    Attributes
    ----------
    rows, width : int
        k, and how many cells m each row has.
    oracle : str
        By which oracle cells are reported.
    """

    signed: ClassVar[bool] = False
    """Whether a value is counted with a random sign, in a cell for each sign."""
    ways: ClassVar[tuple[str, ...]] = ("mean", "median")

    rows: int = parameter(Whole("The number of rows", 2, 1 << 16), 32)
    width: int = parameter(Whole("The width", 2, 1 << 22), 1024)
    oracle: Resolved[str] = parameter(Choice("The oracle", tuple(ORACLES)), "olh")

    def _check(self) -> None:
        if self.rows * self.sent.row_size > MOST_COUNTERS:
            raise RequestError(
                f"{self.rows:,} rows of {self.sent.row_size:,} counters are more than {MOST_COUNTERS:,}, which is the "
                "most that reports are counted in."
            )

    @cached_property
    def inner(self) -> Oracle:
        """The oracle of one row's cells."""
        return oracle(self.oracle, self.width * (2 if self.signed else 1), self.epsilon)

    @cached_property
    def sent(self) -> RowReports:
        """How a row and the report of a cell are sent as one."""
        return RowReports(self.rows, self.inner)

    @property
    def surplus(self) -> int:
        return self.inner.surplus

    @property
    def groups(self) -> int:
        return self.rows

    @property
    def bits(self) -> int:
        return self.sent.bits

    @property
    def report_words(self) -> int:
        return self.sent.words

    @property
    def report_type(self) -> np.dtype[Any]:
        return self.sent.type

    @property
    def oracle_title(self) -> str:
        return f"a {self.title} of {self.rows:,} rows, its cells by {self.inner.title}"

    @cached_property
    def _family(self) -> tuple[Array, Array, Array, Array]:
        words = PublicRandom(self.seed, FAMILY).words(4, self.rows)
        return words[0], words[1], words[2], words[3]

    def cells(self, values: Integers, rows: Integers) -> tuple[Integers, Integers]:
        """The cell of each value in the row beside it, and its sign there: int64 (n,) each."""
        a, b, c, d = (words[rows] for words in self._family)
        sign = 1 - 2 * hashed(c, d, values, 2) if self.signed else np.ones(len(values), np.int64)
        return hashed(a, b, values, self.width), sign

    def privatise(self, values: object, source: Source | None = None) -> Array:
        given = checked_values(values)
        drawn = SystemSource() if source is None else source
        rows = told(self.rows, len(given), drawn).astype(np.int64)
        cell, sign = self.cells(given, rows)
        return self.sent.joined(rows, self.inner.privatise(2 * cell + (sign < 0) if self.signed else cell, drawn))

    def fits(self, reports: Array) -> Truths:
        return self.sent.fits(reports)

    @property
    def table_shape(self) -> tuple[int, ...]:
        return self.sent.table_shape

    def aggregate(self, reports: Array, tally: Tally | None = None) -> Tally:
        return self.sent.aggregate(reports, tally)

    def each_row(self, tally: Tally, values: Integers) -> Floats:
        """How many people of each row have each candidate, less what other candidates explain."""
        return self.cells_of(tally, values).beyond_others()

    def mean(self, rows: Floats, tally: Tally) -> Floats:
        return np.asarray(rows.sum(axis=0))

    def cells_of(self, tally: Tally, values: Integers) -> Cells:
        """The estimated cells of all rows, and in which of them candidates lie."""
        told = np.empty((self.rows, self.width))
        for row in range(self.rows):
            estimate = self.inner.estimate(self.sent.of_row(tally, row))
            told[row] = estimate[::2] - estimate[1::2] if self.signed else estimate
        found = [self.cells(values, np.full(len(values), row)) for row in range(self.rows)]
        people = tally.table[:, -1].astype(np.float64)
        noise = np.sqrt(np.maximum(people, 1.0) * self.single[0] * (2 if self.signed else 1))
        signs = np.stack([sign for _, sign in found]) if self.signed else None
        return Cells(told, people, noise, np.stack([cell for cell, _ in found])[:, np.newaxis], signs)

    def alone(self, tally: Tally, values: object, how: str = "mean") -> Floats:
        """Estimates by the own cells of each value alone, as the sketch was published: float64 (k,).

        Parameters
        ----------
        tally : Tally
            Of all reports.
        values : object
            Candidates, whole numbers (k,).
        how : str
            The "mean" over rows, less what others bring to a cell on average; or, with a bias that nobody knows, their
            "median", or the "min" where cells only gain by collisions.
        """
        check_choice(how, "How rows are put together", self.ways)
        cells = self.cells_of(tally, self.asked(values))
        if how == "mean":
            return np.asarray(cells.alone().sum(axis=0))
        rows = cells.alone(people=np.zeros(self.rows)) * (1 - cells.density)
        return np.asarray(self.rows * (np.median if how == "median" else np.min)(rows, axis=0))

    @cached_property
    def single(self) -> tuple[float, float]:
        """What one person of any cell adds to the variance of a cell, and how much more one of that cell does."""
        cells = self.inner.domain
        at = np.zeros(cells)
        at[0] = 1.0
        own = float(self.inner.variance(at)[0])
        other = (float(self.inner.variance(np.full(cells, 1 / cells))[0]) - own / cells) / (1 - 1 / cells)
        return other, own - other
