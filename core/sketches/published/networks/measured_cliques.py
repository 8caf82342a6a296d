"""Noisy counts of single attributes and of pairs, some with less noise than others, and the records that fit them.

What `aim` releases. A table that is measured with weight w has w times its counts below noise that is the same
everywhere, so its counts have a w-th of that noise. A Markov random field is fitted to all of them, each by its own
noise, and synthetic records are drawn from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ....domain import Domain
from ....errors import RequestError
from ....geometry.kernels import KERNEL, Kernel
from ....parameters import Seed, Several, Whole, parameter
from ....privacy.neighbours import Neighbours, Sensitivity
from ..grids.cells import COUNTS, MAX_AXES, Cells
from ..grids.marginals import Marginals
from ..grids.synthetic_records import Node, SyntheticSketch, drawn_in_order
from .markov_model import fitted_marginals
from .triangulation import drawing_order, model_size

LARGEST_WEIGHT = 1 << 20
MOST_CLIQUES = 10_000
MOST_IN_MODEL = 1 << 20
"""Cells that the model holds; a stranger's file should not keep anyone for hours."""
_CLIQUE = Several("A set of axes", Whole("An axis", 0, MAX_AXES - 1), 1, 2)


@dataclass(frozen=True)
class MeasuredCliques(SyntheticSketch):
    """Noisy marginals of axes and of pairs of them, each with a weight.

    Parameters
    ----------
    domain, kernel : Domain, Kernel
        The public facts about the records, and any kernel of places, whose sums are estimated.
    counts : tuple[int, ...]
        Cells of each axis; see `Cells`.
    cliques : tuple[tuple[int, ...], ...]
        One axis or two, in increasing order, in the order in which they were measured; any may come again.
    weights : tuple[int, ...]
        By which each one's counts are multiplied below the noise.
    seed : int
        Of the public random numbers that synthetic records are drawn with.

    Raises
    ------
    RequestError
        When cliques and weights do not go together, or the model would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    counts: tuple[int, ...] = parameter(COUNTS)
    cliques: tuple[tuple[int, ...], ...] = parameter(Several("The measured tables", _CLIQUE, 1, MOST_CLIQUES))
    weights: tuple[int, ...] = parameter(Several("The weights", Whole("A weight", 1, LARGEST_WEIGHT), 1, MOST_CLIQUES))
    seed: int = parameter(Seed("The seed of chosen marginals"))
    name: ClassVar[str] = "aim"
    described: ClassVar[str] = "set of chosen marginals"

    def _check(self) -> None:
        super()._check()
        Cells(self.domain, self.kernel.metric, self.counts)  # refuses counts that are not of the axes
        _ = self.marginals  # and cliques that are of no axes
        if len(self.weights) != len(self.cliques):
            raise RequestError(f"The {len(self.cliques):,} measured tables need one weight each.")
        if model_size(self.counts, self.order) > MOST_IN_MODEL:
            raise RequestError(
                f"The model of these tables would have more than {MOST_IN_MODEL:,} cells, which nobody could fit; use "
                "fewer cells or columns."
            )

    @cached_property
    def marginals(self) -> Marginals:
        """In the order of the table."""
        return Marginals(self.domain, self.metric, self.counts, self.cliques)

    @cached_property
    def order(self) -> tuple[Node, ...]:
        """In which axes are drawn."""
        return drawing_order(self.counts, self.cliques)

    @cached_property
    def _repeated(self) -> np.ndarray:
        """The weight of every counter, int64."""
        return np.repeat(np.array(self.weights, np.int64), self.marginals.sizes)

    @property
    def largest_entry(self) -> int:
        return max(self.weights)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        counted = self.marginals.zeros()
        self.marginals.add(counted, points)
        table += self._repeated * counted

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record adds w to a single counter of each table of weight w, which are disjoint parts of what is released.

        Added or removed, it moves one counter of each by w: L1 the sum of the weights, L2² that of their squares.
        Replaced, it leaves a cell of each and enters another at worst: twice both. Records in opposite corners reach
        the bound where no axis has a single cell.
        """
        times = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(times * sum(self.weights), times * sum(weight**2 for weight in self.weights))

    def total(self, table: np.ndarray) -> float:
        return float(np.average([part.sum() for part in self.counted(table)], weights=self._precisions))

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / float(sum(self._precisions))

    @property
    def _precisions(self) -> list[float]:
        """Of the sum of each table, for noise of variance 1."""
        return [weight**2 / size for weight, size in zip(self.weights, self.marginals.sizes, strict=True)]

    def counted(self, table: np.ndarray) -> list[np.ndarray]:
        """The noisy counts of each table, float64, in its shape."""
        return self.marginals.marginals(table / self._repeated)

    def fitted(
        self, table: np.ndarray, wanted: tuple[tuple[int, ...], ...], iterations: int | None = None
    ) -> list[np.ndarray]:
        """Marginals of the model that fits a noisy table.

        Parameters
        ----------
        table : np.ndarray
            Noisy counters.
        wanted : tuple[tuple[int, ...], ...]
            Their axes.
        iterations : int | None
            Steps at most; None for as many as a released table gets.
        """
        limit = {} if iterations is None else {"iterations": iterations}
        total = max(1.0, self.total(table))
        cliques, means, deviations = self._means(table)
        return fitted_marginals(self.counts, cliques, means, total, deviations, wanted, **limit)

    def _means(self, table: np.ndarray) -> tuple[list[tuple[int, ...]], list[np.ndarray], list[float]]:
        """Every clique once, with the mean of its noisy tables by precision, and the noise that is left in it."""
        sums: dict[tuple[int, ...], np.ndarray] = {}
        precisions: dict[tuple[int, ...], float] = {}
        for clique, weight, told in zip(self.cliques, self.weights, self.counted(table), strict=True):
            sums[clique] = sums.get(clique, 0.0) + weight**2 * told
            precisions[clique] = precisions.get(clique, 0.0) + weight**2
        means = [sums[clique] / precisions[clique] for clique in sums]
        return list(sums), means, [precisions[clique] ** -0.5 for clique in sums]

    def _places(self, table: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        families = tuple(tuple(sorted((axis, *parents))) for axis, parents in self.order)
        weights = []
        for (axis, _), family, joint in zip(self.order, families, self.fitted(table, families), strict=True):
            last = np.moveaxis(joint, family.index(axis), -1)  # parents stay in increasing order
            weights.append(last.reshape(-1, self.counts[axis]))
        return drawn_in_order(self.order, weights, self.counts, uniforms)
