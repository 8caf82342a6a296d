"""Asking a release of tables: unbiased answers with intervals, by the names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ..axes import Axis
from ..reading import Reading
from .association import associations, strengths
from .conditions import Where
from .counts import counts
from .quantiles import quantiles
from .ratios import means, shares, sums


@dataclass(frozen=True, eq=False)
class TableAnswers:
    """Unbiased answers of one release, each with an interval.

    A condition (``where``) maps names of columns to a category, a list of categories, or a pair (low, high) of numbers,
    low <= x < high, of which either may be None. Answers exist for columns that were measured together (by default, any
    two); others are refused with a sentence. An estimate may be negative where there is little: it is unbiased, and a
    low end at or below 0 says that the answer cannot be told from zero.

    A range whose ends are no edges of cells takes its share of a cell that it cuts, and its interval is as wide as
    anything that the cell's records may do.

    Parameters
    ----------
    reading : Reading
        What a noisy table says of each residual.
    level : float
        Probability with which each interval holds the exact answer.
    """

    reading: Reading
    level: float = 0.95

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The columns with their cells."""
        return self.reading.layout.axes

    def count(self, where: Where | None = None) -> pd.DataFrame:
        """How many records fit a condition: one row."""
        return counts(self.reading, (), where or {}, self.level)

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, one row each.

        Parameters
        ----------
        *by : str
            Names of columns, whose cells (categories, and intervals of numbers) are the keys of the rows.
        where : Where | None
            A condition on further columns.
        """
        return counts(self.reading, by, where or {}, self.level)

    def shares(self, *of: str, within: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The share of each combination of the cells of some columns, one row each.

        Parameters
        ----------
        *of : str
            Names of the columns whose cells are compared; their shares add up to 1.
        within : Sequence[str]
            Names of columns that make groups, of each of which the shares are taken.
        where : Where | None
            A condition on further columns. Where too few records are left to be told from none, shares are NaN.
        """
        return shares(self.reading, of, within, where or {}, self.level)

    def mean(self, column: str, by: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The mean of a column of numbers, one row a group.

        The interval holds the mean wherever in its cell each record lies, so it is at least as wide as a cell; the
        standard error is that of the noise alone. Cells are fine where neither groups nor conditions are asked for.
        """
        return means(self.reading, column, by, where or {}, self.level)

    def sum(self, column: str, by: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The sum of a column of numbers, one row a group; as `mean`."""
        return sums(self.reading, column, by, where or {}, self.level)

    def quantile(
        self, column: str, quantile: float = 0.5, by: Sequence[str] = (), where: Where | None = None
    ) -> pd.DataFrame:
        """The value below which a share of the records lies, one row a group; without a share, the median."""
        return quantiles(self.reading, column, quantile, by, where or {}, self.level)

    def associations(self, *columns: str) -> pd.DataFrame:
        """How strongly each two columns (of those named, or of all) hang together, the strongest first.

        The frame has `cramers_v` (0 to 1, noise taken off), `bits` (mutual information of the best guess), `statistic`,
        `alone` (what the statistic would pass in one of twenty releases of columns without any connection), and `told`,
        whether it did.
        """
        return associations(self.reading, columns)

    def strengths(self, *columns: str) -> pd.DataFrame:
        """Cramer's V of each two columns (of those named, or of all) with an interval, the surely strongest first.

        The quick way to rank hundreds of columns; `associations` says more of each pair.
        """
        return strengths(self.reading, columns, self.level)
