"""What mechanisms share that choose pairs of attributes by how far their counts are from a model: `mst` and `aim`.

Both read the counts of all pairs once. A pair is scored by the L1 distance of its counts from what the model says
(`core.sketches.pair_scores`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from ....domain import Domain
from ....errors import RequestError
from ....geometry.kernels import KERNEL, Kernel, of_coordinates
from ....parameters import Seed, Settled, parameter
from ....privacy.budget import Budget
from ....privacy.neighbours import Neighbours
from ...adaptive import Adaptive
from ...pair_scores import score_sensitivity
from ..grids.cells import Cells
from ..grids.marginals import Marginals
from ..grids.synthetic_records import A_COORDINATE
from .markov_model import check_installed
from .spanning_tree import Edge

CELLS_TRIED = (4, 8, 16, 32, 64, 128)
MAX_COUNTERS = 1 << 24
"""Of all pairs together: 128 MiB."""


@dataclass(frozen=True)
class ChoosesPairs(Adaptive):
    """Chooses pairs of attributes under noise, to release their counts.

    Parameters
    ----------
    domain, kernel : Domain, Kernel
        The public facts about the records, and any kernel of places, whose sums are estimated.
    cells : int | None
        Of every coordinate of numbers; categories are cells of their own. None leaves the choice to `sized_for`.
    seed : int | None
        Public; fresh when None.

    Raises
    ------
    RequestError
        When a parameter is out of range, or the tables would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    cells: Settled[int] = parameter(A_COORDINATE, None)
    seed: Settled[int] = parameter(Seed("The seed of chosen marginals"), None)

    def _check(self) -> None:
        super()._check()
        if self.cells is not None and sum(self._size(pair) for pair in self._pairs) > MAX_COUNTERS:
            raise RequestError(
                f"The tables of all pairs of columns may have {MAX_COUNTERS:,} counts together; use fewer cells or "
                "columns."
            )

    @property
    def metric(self) -> str:
        return self.kernel.metric

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Cells of each axis; RequestError before they are chosen."""
        if self.cells is None:
            raise RequestError("The mechanism has no number of cells yet; give one, or let `sized_for` choose it.")
        return Cells.of(self.domain, self.metric, self.cells).counts

    @property
    def sized(self) -> bool:
        return self.cells is not None

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the most cells for which the average count of a pair is above its noise's scale."""
        if self.sized:
            return self
        chosen = replace(self, cells=CELLS_TRIED[0])
        for cells in CELLS_TRIED[1:]:
            try:
                tried = replace(self, cells=cells)
                noise = tried.typical_noise(budget)
            except RequestError:
                break
            if records / cells ** min(len(tried.counts), 2) < noise:
                break
            chosen = tried
        return chosen

    @abstractmethod
    def typical_noise(self, budget: Budget) -> float:
        """By how much noise typically moves a count of a table that is measured."""

    def check_budget(self, budget: Budget) -> None:
        """Before anything is paid for, as no one could ask such a release anything here."""
        check_installed()

    @cached_property
    def _pairs(self) -> tuple[Edge, ...]:
        return tuple(combinations(range(len(self.counts)), 2))

    def _size(self, clique: tuple[int, ...]) -> int:
        return int(np.prod([self.counts[axis] for axis in clique], dtype=object))

    @property
    def first(self) -> Marginals:
        """The counts of all pairs: whatever is chosen, its tables are among them."""
        return Marginals(self.domain, self.metric, self.counts, self._pairs or ((0,),))

    def score_sensitivity(self, neighbours: Neighbours) -> int:
        """How far one person moves any score."""
        return score_sensitivity(neighbours, self.domain.unit.records)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        kernel = of_coordinates(self.kernel, tuple(column.width for column in self.domain.columns))
        return kernel.evaluate(queries, records).sum(axis=1)


def one_way(pairs: Mapping[tuple[int, ...], np.ndarray], axis: int) -> np.ndarray:
    """The counts of one axis, from those of a pair that it is in."""
    clique = next(clique for clique in pairs if axis in clique)
    return np.asarray(pairs[clique].sum(axis=tuple(at for at, other in enumerate(clique) if other != axis)))
