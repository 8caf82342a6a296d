"""A noisy histogram, whose bin centres are the data: the RACE paper's baseline (CCS 2021, section 5.1).

Every cell of a public grid counts its records and gets noise of its own (Dwork, McSherry, Nissim, Smith 2006, example
3: disjoint cells share one budget). Noise grows with the number of cells that the kernel reaches, and the error of the
cells' width with their size, so there is a best number of cells; in more than a few dimensions there are none left.

`core.sketches.grids.histogram` is what becomes of it when records are shared between cells and the kernel is undone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import KERNEL, Kernel
from ...parameters import Resolved, parameter
from ...privacy.budget import Budget
from ...privacy.neighbours import Neighbours, Sensitivity
from ..mechanism_spec import MechanismSpec, sides
from .grid_cells import COUNTS, Cells, cells_of
from .grid_sketch import MAX_COUNTERS, CountedGrid, best_cells
from .marginals import Marginals


@dataclass(frozen=True)
class FlatHistogram(CountedGrid):
    """Noisy counts of the cells of a grid, read as weighted points.

    RequestError when a parameter is out of range or the table would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Any kernel of places.
    # Numbers of cells, one a coordinate of numbers; None leaves the choice to `sized_for`. Every category is a cell of
    # its own.
    cells: Resolved[tuple[int, ...]] = parameter(COUNTS, None, settled="how many cells it has")
    name: ClassVar[str] = "flat-histogram"
    described: ClassVar[str] = "flat histogram"

    def _check(self) -> None:
        super()._check()
        if self.cells is not None:
            if self.grid.size > MAX_COUNTERS:
                raise RequestError(
                    f"{self.grid.size:,} cells are more than {MAX_COUNTERS:,}, which is the most that a flat histogram "
                    "may have: use fewer cells or columns."
                )
            _ = self.reading  # refuses kernels that cannot be read on so many cells

    @property
    def sized(self) -> bool:
        return self.cells is not None

    def sized_for(self, budget: Budget, records: float) -> FlatHistogram:
        """With cells between which noise and width are balanced for a typical answer."""
        if self.sized:
            return self
        return best_cells(self, lambda cells: replace(self, cells=cells), budget, records)

    @cached_property
    def grid(self) -> Cells:
        if self.cells is None:
            raise RequestError("The histogram has no number of cells yet; give one, or let `sized_for` choose it.")
        return Cells.of(self.domain, self.metric, self.cells)

    @cached_property
    def _counting(self) -> Marginals:
        """The marginal of all axes, which is how a record is counted."""
        return Marginals(self.domain, self.metric, self.grid.counts, (tuple(range(len(self.grid.counts))),))

    @property
    def shape(self) -> tuple[int]:
        return (self.grid.size,)

    @property
    def setup_bytes(self) -> int:
        return self._counting.setup_bytes + self.reading.most_bytes + 8 * self.grid.size

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        self._counting.add(table, points)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record is in one cell: 1 counter changes by 1, or 2 when it is replaced (`Marginals`, one clique)."""
        return self._counting.record_sensitivity(neighbours)

    def cell_counts(self, table: np.ndarray, records: float, counter_variance: float) -> np.ndarray:
        """The noisy counts as they are, of any sign."""
        return table.reshape(self.grid.counts).astype(np.float64)

    def _gains(self, queries: np.ndarray) -> np.ndarray:
        """The sum over cells of the squared kernel."""
        return self.reading.squares(queries)[0]

    def total(self, table: np.ndarray) -> float:
        """The sum of all counters."""
        return float(table.sum(dtype=np.float64))

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance * self.grid.size


CARD = MechanismSpec(
    "flat-histogram",
    "Flat histogram",
    "Dwork et al. 2006",
    "People are counted with noise in the cells of a grid, and everyone in a cell is put in the middle of it.",
    sketch=FlatHistogram,
    make=lambda facts: FlatHistogram(facts.domain, facts.closeness, cells_of(facts.domain, facts.size)),
    rank=26,
    size="cells a coordinate",
    sizes=(8, 16, 32, 64, 128, 256),
    most_dimensions=6,
    holds=lambda sketch: f"a grid of {sides(sketch.grid.counts)} counters",
)
