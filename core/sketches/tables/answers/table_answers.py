"""Asking a release of tables by the names of columns: unbiased answers with intervals, or the best guess, whose counts
agree with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ..reading import Reading
from ..table_axes import Axis
from .association import associations, strengths
from .best_guess import BestGuess
from .counts import Where, cell_keys, check_apart, chosen, counts, over_cells, places_of, quantiles
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
    """

    reading: Reading  # What a noisy table says of each residual.
    level: float = 0.95  # Probability with which each interval holds the exact answer.

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.reading.layout.axes

    def count(self, where: Where | None = None) -> pd.DataFrame:
        """How many records fit a condition: one row."""
        return counts(self.reading, (), where or {}, self.level)

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, one row each.

        `by`: names of columns, whose cells (categories, and intervals of numbers) are the keys of the rows. `where`: A
        condition on further columns.
        """
        return counts(self.reading, by, where or {}, self.level)

    def shares(self, *of: str, within: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The share of each combination of the cells of some columns, one row each.

        `of`: names of the columns whose cells are compared; their shares add up to 1. `within`: names of columns that
        make groups, of each of which the shares are taken. `where`: A condition on further columns. Where too few
        records are left to be told from none, shares are NaN.
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


@dataclass(frozen=True, eq=False)
class TableGuess:
    """The best guess of one release: counts that are not negative and agree with each other, without intervals.

    Any columns may be asked for together, also such as were not measured together: these are the most even table that
    agrees with those that were. For conclusions, ask for unbiased answers: a guess is off on purpose.
    """

    reading: Reading  # What a noisy table says of each residual.

    @cached_property
    def guess(self) -> BestGuess:
        return BestGuess(self.reading)

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.reading.layout.axes

    def count(self, where: Where | None = None) -> float:
        """How many records fit a condition; a cell that a range cuts counts by its share."""
        return float(self.table(where=where).estimate[0])

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, with a column `estimate`.

        `by`: names of columns; see `TableAnswers.table`. `where`: A condition on further columns.
        """
        axes, conditions = self.axes, where or {}
        kept, asked = places_of(axes, by), places_of(axes, list(conditions))
        check_apart(kept, asked)
        if len(asked) == 1 and not kept:
            weights = chosen(axes[asked[0]], conditions[axes[asked[0]].name], fine=True).share
            return pd.DataFrame({"estimate": [float(weights @ self.guess.fine_counts(asked[0]))]})
        table = tuple(sorted((*kept, *asked)))
        meant = {place: chosen(axes[place], conditions[axes[place].name]).share for place in asked}
        found = over_cells(self.guess.counts(table), table, kept, meant)
        return pd.DataFrame(cell_keys([axes[place] for place in kept]) | {"estimate": found.reshape(-1)})
