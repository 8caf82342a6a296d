"""Tables of counts with optimal noise: any set of tables of some columns each, all singles and all pairs by default.

A wide table of private records is asked about a few columns at a time: how many, by group, together with what. Records
are counted exactly, in the cells of every table that is asked for. What gets noise are the residuals of those tables
(`core.sketches.tables.table_layout`): every table is told by the residuals of its subsets, each measured once for all
tables that share it, which is the best that Gaussian noise can do for the sum of the variances of all answers
(ResidualPlanner; Xiao, He, Zhang, Kifer 2023). The joint table of all columns is never made.

Contrasts and weights are whole numbers (`contrasts`, `optimum`), so that noise is exact and the sensitivity is known in
whole numbers (`farthest`). Answers are unbiased and their variances closed forms (`reading`). Under a pure promise the
tables themselves are counted with Laplace noise where that is better, and every residual is read off all tables that
contain it. What is asked of a release is in `core.sketches.tables.table_answers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from ...domain import Domain
from ...errors import RequestError
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.parameters import Choice, Resolved, Several, Whole, parameter
from ..answers import Answers
from ..linear import LinearSketch
from .reading import Noise, Reading, average_variance, shared, shares_of, variances
from .table_axes import METRIC, Axis, axes_of, cut, narrow, number_axes, steps_of
from .table_filling import Filling
from .table_layout import Columns, Layout, largest
from .table_sizes import (
    MAX_COUNTERS,
    MAX_TABLES,
    QUESTIONS,
    SAMPLES,
    USUAL_BINS,
    all_pairs,
    place_of,
    settled,
    tables_named,
)
from .table_weights import LARGEST_WEIGHT, Part, added, for_squares, mean_variance, replaced, whole_weights

MOST_BINS = 1 << 12
MOST_HALVINGS = 14
MAX_TOGETHER = 6  # Columns of one table.
MEASURED = ("contrasts", "cells", "margins")
EDGES = ("values", "even")
CHOOSING = ("publicly", "privately")
_TABLE = Several("The columns of a table", Whole("The place of a column", 0, 9_999), 1, MAX_TOGETHER)


@dataclass(frozen=True)
class Tables(LinearSketch):
    """Counts in the cells of some tables. It says how alike records are to a query by how often they share a cell.

    Columns are meant by their places among the axes: each coordinate of numbers is one, and each column of categories.
    `of` takes names. RequestError when a parameter is out of range or does not fit the domain, or the tables would be
    too large.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    bins : tuple[int, ...] | None
        Into how many equal cells the bounds of each coordinate of numbers are cut; None leaves it to `sized_for`.
    halvings : tuple[int, ...] | None
        How often these are halved where the column is alone, for ranges and quantiles; likewise.
    tables : tuple[tuple[int, ...], ...] | None
        The columns of each table, whose margins are asked for as well; None for all pairs, where they are worth it.
    measured : str | None
        "contrasts", each residual once; "cells", the counts of the tables; or "margins", of their margins too. None
        leaves it, with the weights, to `sized_for`.
    weights : tuple[int, ...] | None
        Of each part of the table, whole numbers.
    edges : str
        "values": where a column has steps, cells hold whole values, one each where there are no more than bins.
        "even": all cells are equally wide, as where there are no steps, and in files of earlier versions.
    cut_for : str
        What bins and halvings that are left open are chosen for: "questions", or "samples" where records will be drawn
        and models trained on them (`core.sketches.tables.table_sizes`).
    choosing : str
        "publicly", or "privately" where the tables were chosen under noise (`core.sketches.tables.chosen`).
    """

    domain: Domain
    bins: Resolved[tuple[int, ...]] = parameter(
        Several("The numbers of bins", Whole("The number of bins of a column", 2, MOST_BINS)), None, settled="its bins"
    )
    halvings: Resolved[tuple[int, ...]] = parameter(
        Several("The halvings", Whole("The number of halvings of a column", 0, MOST_HALVINGS)),
        None,
        settled="its halvings",
    )
    tables: Resolved[tuple[Columns, ...]] = parameter(
        Several("The tables", _TABLE, 1, MAX_TABLES), None, settled="its tables"
    )
    measured: Resolved[str] = parameter(Choice("What is measured", MEASURED), None, settled="what was measured")
    weights: Resolved[tuple[int, ...]] = parameter(
        Several("The weights", Whole("A weight", 1, LARGEST_WEIGHT), 1), None, settled="its weights"
    )
    edges: str = parameter(Choice("Where cells end", EDGES), "values")
    choosing: str = parameter(Choice("How tables were chosen", CHOOSING), "publicly")
    cut_for: str = parameter(Choice("What numbers are cut for", (QUESTIONS, SAMPLES)), QUESTIONS)
    name: ClassVar[str] = "tables"
    takes_circles: ClassVar[bool] = True
    keeps_gaps: ClassVar[bool] = True
    earlier: ClassVar[Mapping[str, Any]] = {"edges": "even", "choosing": "publicly", "cut_for": QUESTIONS}
    asked_for: ClassVar[str] = "tables"
    drawn_from: ClassVar[str] = "tables"
    described: ClassVar[str] = "set of tables"
    count_share: ClassVar[Fraction] = Fraction(1, 1000)
    needs_records: ClassVar[bool] = False
    weighs_pure: ClassVar[bool] = True
    metric = METRIC

    def _check(self) -> None:
        super()._check()
        numbers = number_axes(self.domain)
        if not any(steps_of(column) for column in self.domain.columns):
            self._settle(edges="even")
        for name in ("bins", "halvings"):
            if getattr(self, name) is not None and len(getattr(self, name)) != numbers:
                raise RequestError(f"The tables need {numbers:,} numbers of {name}, one a coordinate of numbers.")
        places = len(self.axes)
        for table in self.tables or ():
            if table[-1] >= places or any(later <= place for place, later in pairwise(table)):
                raise RequestError("The columns of a table must be different, in increasing order, and ones there are.")
        if self.tables is not None and largest(self.tables) != self.tables:
            raise RequestError("Tables must be in order, and none of them a part of another, whose margins are known.")
        if (self.measured is None) != (self.weights is None) or (self.weights is not None and not self.is_cut):
            raise RequestError("Tables with weights say what is measured, and their bins, halvings and tables.")
        if self.is_cut:
            self._check_size()
        if self.weights is not None and len(self.weights) != len(self.layout.blocks):
            raise RequestError(f"The tables need {len(self.layout.blocks):,} weights, one a part.")

    @property
    def is_cut(self) -> bool:
        """Whether bins, halvings and tables are settled, and only weights may not be."""
        return None not in (self.bins, self.halvings, self.tables)

    def _check_size(self) -> None:
        size = sum(math.prod(self.axes[i].cells for i in table) for table in self.tables)
        size += sum(axis.fine for axis in self.axes)
        if size > MAX_COUNTERS:
            raise RequestError(
                f"The tables have {size:,} cells, and the most is {MAX_COUNTERS:,}: cut numbers into fewer bins, or "
                "take fewer columns at a time."
            )

    @classmethod
    def of(
        cls,
        domain: Domain,
        bins: int | Sequence[int] | None = None,
        tables: str | Iterable[Sequence[str]] = "pairs",
        halvings: int | Sequence[int] | None = None,
        by: Sequence[str] = (),
        cut_for: str = QUESTIONS,
    ) -> Self:
        """Tables of named columns; RequestError when there is no such column, or the tables would be too large.

        `bins`, `halvings`: Of every coordinate of numbers, or one each. With no bins the promise and the number of
        records choose both, and which of singles and pairs is worth its noise; bins without halvings have none.
        `tables`: "singles", "pairs", or the names of the columns of each table. `by`: Columns by which the others are
        asked: only pairs with one of them are counted. With neither these nor bins, as many pairs are as can be seen.
        `cut_for`: "samples" where records will be drawn and models trained on them, which leaves numbers in fewer
        cells.
        """
        numbers = number_axes(domain)
        cuts = [bins, 0 if halvings is None and bins is not None else halvings]
        of_bins, of_halvings = (
            tuple(cut) if isinstance(cut, Sequence) else None if cut is None else (cut,) * numbers for cut in cuts
        )
        plain = cls(domain, of_bins, of_halvings, ((0,),), cut_for=cut_for)
        return replace(plain, tables=tables_named(plain.axes, tables, by, every_pair=bins is not None))

    def place_of(self, name: str) -> int:
        """The place of a column among the axes; RequestError where there is none of this name."""
        return place_of(self.axes, name)

    @property
    def pairs(self) -> list[Columns]:
        return [table for table in self.tables or () if len(table) == 2]

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        return self._axes_of(self.domain)

    def _axes_of(self, domain: Domain) -> tuple[Axis, ...]:
        numbers = number_axes(domain)
        bins, halvings = self.bins or (USUAL_BINS,) * numbers, self.halvings or (0,) * numbers
        return axes_of(domain, bins, halvings, self.edges == "values")

    @cached_property
    def layout(self) -> Layout:
        """What lies where; RequestError before it is settled what is measured."""
        if self.measured is None:
            raise RequestError("The tables have no weights yet; let `sized_for` choose them by the promise.")
        return Layout(self.axes, self.tables, self.measured)

    def sized_for(self, budget: Budget, records: float) -> Tables:
        """With what is best to measure under the promise, and weights for the least sum of the mean variances.

        Where cuts or tables are left open, `sizing` chooses them by public sizes, and with them how much single columns
        count.
        """
        return self if self.sized else settled(self, budget, records)

    def error(self, budget: Budget, single: float = 1.0) -> float:
        """The sum of the mean variances under a promise, with this weight of the tables of single columns."""
        return self.mean_variance(self.counter_noise(budget).variance, single)

    def measuring_contrasts(self, scale: Callable[[Part], float] = for_squares, single: float = 1.0) -> Tables:
        """Each residual measured once, with the best weights for Gaussian noise, or by another rule of `optimum`.

        `scale`: Of `optimum`. `single`: What the table of a single column counts, where a table of several counts 1.
        """
        cut = self._usual
        layout = Layout(cut.axes, cut.tables, "contrasts")
        return replace(cut, measured="contrasts", weights=whole_weights(layout, scale, single))

    def counting(self, measured: str = "cells") -> Tables:
        """The tables counted with equal weights, or with "margins" their margins too."""
        cut = self._usual
        blocks = Layout(cut.axes, cut.tables, measured).blocks
        return replace(cut, measured=measured, weights=(1,) * len(blocks))

    @property
    def _usual(self) -> Tables:
        """With the usual bins, no halvings and all pairs, where they are open."""
        numbers = number_axes(self.domain)
        bins, halvings = self.bins or (USUAL_BINS,) * numbers, self.halvings or (0,) * numbers
        return replace(self, bins=bins, halvings=halvings, tables=self.tables or all_pairs(len(self.axes)))

    def mean_variance(self, counter_variance: float, single: float = 1.0) -> float:
        return mean_variance(Noise(self.layout, self.weights, counter_variance), single)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.layout.size,)

    @property
    def setup_bytes(self) -> int:
        size = sum(math.prod(self.axes[i].cells for i in table) for table in self.tables)
        return 16 * (size + sum(axis.fine for axis in self.axes)) + 200 * len(self.layout.residuals)

    @cached_property
    def largest_entry(self) -> int:
        largest_of = [one.largest_entry for one in self.layout.contrasts]
        contrasts = self.layout.measured == "contrasts"
        return max(
            weight * (math.prod(largest_of[i] for i in block.columns) if contrasts and not block.level else 1)
            for block, weight in zip(self.layout.blocks, self.weights, strict=True)
        )

    @cached_property
    def _narrow(self) -> tuple[Domain, tuple[Axis, ...]]:
        """The domain as records are read, and its axes: those of the sketch but for their coordinates."""
        domain = narrow(self.domain)
        return domain, self._axes_of(domain)

    def encode(self, batch: pa.RecordBatch) -> np.ndarray:
        return self._narrow[0].encode(batch, METRIC, gaps=True)  # type: ignore[return-value]

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        domain, axes = self._narrow
        # Whoever has queries at hand may add them too, with a coordinate for each category.
        cells = cut(points, *((domain, axes) if points.shape[1] == domain.dimensions else (self.domain, self.axes)))
        self._filling.add(table, cells)

    @cached_property
    def _filling(self) -> Filling:
        return Filling(self.layout, self.weights)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """The exact maximum over records for adding and removing, a proven bound for replacing: see `farthest`."""
        return self._replaced if neighbours is Neighbours.REPLACE_ONE else self._added

    @cached_property
    def _added(self) -> Sensitivity:
        return added(self.layout, self.weights)

    @cached_property
    def _replaced(self) -> Sensitivity:
        return replaced(self.layout, self.weights, self.domain.keeps_every_record)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        asked, kept = (self.cells_of(points) for points in (queries, records))
        sums = np.zeros(len(queries))
        for table in self.tables:
            sums += (asked[list(table), :, None] == kept[list(table), None, :]).all(axis=0).sum(axis=1)
        return sums / len(self.tables)

    def cells_of(self, points: np.ndarray) -> np.ndarray:
        """The coarse cell of each point along each axis, int64 (axes, n)."""
        halvings = np.array([axis.halvings for axis in self.axes])[:, None]
        return cut(points, self.domain, self.axes).astype(np.int64) >> halvings

    def reading(
        self, table: np.ndarray, counter_variance: float, total: float | None, variance: float, laplace: bool = False
    ) -> Reading:
        """What a noisy table says.

        `table`, `counter_variance`: Noisy counters, and the variance of the noise in each. `total`, `variance`: The
        number of records where it was released apart, and its variance. `laplace`: Whether the noise is Laplace's,
        whose tails are longer than a normal number's.
        """
        return Reading(Noise(self.layout, self.weights, counter_variance, variance, laplace), table, total)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The mean over all tables of how many records share the query's cell."""
        cells = self.cells_of(points)
        reading = self.reading(table, counter_variance, None, math.inf)
        errors = np.sqrt(variances(reading.noise, self._shares, cells))
        return Answers.of_errors(shared(reading, self._shares, cells), errors, records, level)

    @cached_property
    def _shares(self) -> dict[Columns, float]:
        return shares_of(self.layout)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        noise = Noise(self.layout, self.weights, counter_variance)
        if points is None:
            return average_variance(noise, self._shares)
        return variances(noise, self._shares, self.cells_of(points))

    def total(self, table: np.ndarray) -> float:
        return self.reading(table, 1.0, None, math.inf).records

    def total_variance(self, counter_variance: float) -> float:
        return Noise(self.layout, self.weights, counter_variance).variances[()]
