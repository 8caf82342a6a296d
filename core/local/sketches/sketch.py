"""Rows of hashed cells: every person picks a row, hashes their value to a cell of it, and reports the cell by an
oracle.

The row is uniform and drawn whatever the value is, hash functions are public, and the cell is reported with all of ε:
so a report is (row, report of the oracle) and keeps what the oracle keeps. No person reports in two rows.

Of each row the oracle estimates how many of its people are in a cell. What an answer makes of a value's cells, one in
each of k rows, is the sketch's own; its error is measured between rows, which are independent and alike: it holds the
noise of reports, collisions and who picked which row.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtrit

from ...checks import check_choice
from ...errors import RequestError
from ...geometry.hashing.uniforms import PublicRandom
from ...machine.array_types import Array, Floats, Integers, Truths
from ...parameters import Choice, Declared, Seed, Settled, Whole, parameter
from ...privacy.noise.randomness import Source, SystemSource
from ...privacy.noise.responses import below
from ..oracles.local_hashing import hashed
from ..oracles.oracle import Oracle
from ..oracles.table import ORACLES, oracle
from ..promise import LocalEpsilon
from ..tally import Tally

LARGEST_VALUE = (1 << 32) - 1
FAMILY = 0x534B45


@dataclass(frozen=True)
class CellSketch(Declared):
    """Rows of cells over values up to 2^32 - 1.

    Attributes
    ----------
    epsilon : Decimal
        The promise to whoever reports once.
    rows, width : int
        k, and how many cells m each row has.
    oracle : str
        By which oracle cells are reported.
    seed : int
        Public; hash functions follow from it.
    """

    name: ClassVar[str]
    described: ClassVar[str] = "local sketch"
    signed: ClassVar[bool] = False
    """Whether a value is counted with a random sign, in a cell for each sign."""

    epsilon: Decimal = parameter(LocalEpsilon())
    rows: int = parameter(Whole("The number of rows", 2, 1 << 16), 32)
    width: int = parameter(Whole("The width", 2, 1 << 22), 1024)
    oracle: Settled[str] = parameter(Choice("The oracle", tuple(ORACLES)), "olh")
    seed: int = parameter(Seed("The seed of the hash functions"), None)

    @cached_property
    def inner(self) -> Oracle:
        """The oracle of one row's cells."""
        return oracle(self.oracle, self.width * (2 if self.signed else 1), self.epsilon)

    @property
    def bits(self) -> int:
        """Bits of a report."""
        return (self.rows - 1).bit_length() + self.inner.bits

    @cached_property
    def _family(self) -> tuple[Array, Array, Array, Array]:
        words = PublicRandom(self.seed, FAMILY).words(4, self.rows)
        return words[0], words[1], words[2], words[3]

    def cells(self, values: Integers, rows: Integers) -> tuple[Integers, Integers]:
        """The cell of each value in the row beside it, and its sign there: int64 (n,) each."""
        a, b, c, d = (words[rows] for words in self._family)
        sign = 1 - 2 * hashed(c, d, values, 2) if self.signed else np.ones(len(values), np.int64)
        return hashed(a, b, values, self.width), sign

    def privatise(self, values: object, source: Source | None = None) -> tuple[Integers, Array]:
        """The reports of people with these values: row and report of the oracle, each with n entries."""
        given = checked_values(values)
        drawn = SystemSource() if source is None else source
        rows = below(self.rows, len(given), drawn.stream()).astype(np.int64)
        cell, sign = self.cells(given, rows)
        return rows, self.inner.privatise(2 * cell + (sign < 0) if self.signed else cell, drawn)

    def fits(self, reports: tuple[Integers, Array]) -> Truths:
        """Which reports could have been sent by a device that follows the survey, bool (n,)."""
        rows, sent = reports
        if len(rows) != len(sent):
            raise RequestError("A report of a sketch is a row and a report of its oracle.")
        return (rows >= 0) & (rows < self.rows) & self.inner.fits(sent)

    def aggregate(self, reports: tuple[Integers, Array], tally: Tally | None = None) -> Tally:
        """The tally of these reports; of each row the oracle's table and, last, how many people picked it."""
        if not self.fits(reports).all():
            raise RequestError(f"A report cannot have been sent by the sketch {self.name!r} of this survey.")
        rows, sent = reports
        table = np.zeros((self.rows, math.prod(self.inner.table_shape) + 1), np.int64)
        order = np.argsort(rows, kind="stable")
        ends = np.searchsorted(rows[order], np.arange(self.rows + 1))
        for row in range(self.rows):
            mine = self.inner.aggregate(sent[order[ends[row] : ends[row + 1]]])
            table[row] = np.append(mine.table, mine.people)
        added = Tally(table, len(rows))
        return added if tally is None else tally + added

    def each_row(self, tally: Tally, values: object) -> Floats:
        """What each row alone says of each candidate: how many of its people are in the candidate's cell, signed."""
        asked = checked_values(values)
        found = np.empty((self.rows, len(asked)))
        for row in range(self.rows):
            table = tally.table[row, :-1].reshape(self.inner.table_shape)
            estimate = self.inner.estimate(Tally(table, int(tally.table[row, -1])))
            cell, sign = self.cells(asked, np.full(len(asked), row))
            if self.signed:
                found[row] = sign * (estimate[2 * cell] - estimate[2 * cell + 1])
            else:
                found[row] = estimate[cell]
        return found

    @abstractmethod
    def combined(self, rows: Floats, tally: Tally, how: str) -> Floats:
        """Estimates from what each row says."""

    def estimate(self, tally: Tally, values: object, how: str = "mean") -> Floats:
        """How many people have each candidate value: float64 (k,).

        Parameters
        ----------
        tally : Tally
            Of all reports.
        values : object
            Candidates, whole numbers (k,).
        how : str
            "mean", without bias; "median", or "min" where cells only gain by collisions, are biased.
        """
        check_choice(how, "How rows are put together", self.ways)
        return self.combined(self.each_row(tally, values), tally, how)

    ways: ClassVar[tuple[str, ...]] = ("mean", "median")

    def interval(self, tally: Tally, values: object, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of intervals around the mean over rows, float64 (k,) each, by how much rows differ.

        Rows share people out among them, so what one has more of a value another has less; that part of the difference
        is no error of their sum and is taken off. There are none around a median or a minimum, whose bias is not known.
        """
        if not 0.0 < level < 1.0:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        rows = self.each_row(tally, values)
        estimate = self.combined(rows, tally, "mean")
        spread = self.rows * rows.var(axis=0, ddof=1)
        shared = np.maximum(estimate, 0.0) * (1 - 1 / self.rows)
        error = np.sqrt(np.maximum(spread - shared, spread / 2)) * self.stretch
        reach = float(stdtrit(self.rows - 1, 0.5 + level / 2)) * error
        return estimate - reach, estimate + reach

    @property
    def stretch(self) -> float:
        """By what an estimate moves with the sum over rows."""
        return 1.0

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
