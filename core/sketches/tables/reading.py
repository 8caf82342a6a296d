"""From the noisy table to what it says of every residual, and from there to any product of weights of columns.

The table of columns M is the sum over its subsets R of the residual of R, spread evenly over the other columns. So a
product of weights, one vector a column, has as estimate and variance

    sum over R of  prod_{M - R} mean(q_i) * <residual of R, product of q_i over R>,
    sum over R of  prod_{M - R} mean(q_i)^2 * s_R * prod_R V_i(q_i),

as the errors of different residuals are independent: s_R is the variance of a unit contrast of the residual, and V_i(q)
the sum of the squares of q's parts in the axis' contrasts. Where tables were measured and not residuals, every table
tells each of its residuals with a variance of its own, and their mean weighted by precision is best, as each table has
the same noise in all its cells (least squares falls apart by residuals).

Counts of some cells of a single column may have been released before, with noise of their own of variance t^2 in each
(`FoundCounts`): what they say of how these cells differ from each other is a second measurement of that part of the
column's residual, whose noise has variance s^2 there. Both enter by their precision, the earlier one with the weight
l = s^2 / (s^2 + t^2), and the variance of a sum with weights q falls by l s^2 |q'|^2, q' being q less its mean over
these cells. What the earlier counts say of the number of records in all of them is left out, as it would tie the
errors of all columns together.

How often records share a cell with a query: the mean over all tables, which every mechanism can be asked.

A cell of a table has its share of every margin, so the mean of the tables is a weighted sum of residuals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri

from ..answers import SamplingLuck
from .table_layout import Block, Columns, Contrasts, Layout, parts_of_table

UNLIKE = 1e-4
"""How likely it is at most that earlier counts of the same records are taken to be of others."""


@dataclass(frozen=True, eq=False)
class FoundCounts:
    """Counts of some cells of a single column, at least two, that were released before the table."""

    cells: np.ndarray  # int64 (k,): which.
    counts: np.ndarray  # float64 (k,): how many records are in each, without bias.
    variance: float  # t^2: of the noise in each, which is independent of all other noise.

    def apart(self, values: np.ndarray) -> np.ndarray:
        """What each of these cells has more than their mean, of values (..., cells) to (..., k)."""
        own = values[..., self.cells]
        return own - own.mean(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Noise:
    """What is known of the noise from public facts alone: variances of all residuals."""

    layout: Layout
    weights: tuple[int, ...]  # One a block.
    variance: float  # Of the noise of a counter.
    total_variance: float = math.inf  # Of a number of records known from elsewhere; infinite where there is none.
    laplace: bool = False  # Whether the noise is Laplace's.
    found: Mapping[int, FoundCounts] = field(default_factory=dict)  # By column, what was released before.

    def reach(self, level: float) -> float:
        """Standard errors that an interval reaches to either side.

        A count of which one counter with Laplace noise is nearly all has that noise's tails, which are the longer ones;
        sums of many counters lie between them and those of a normal number.
        """
        normal = float(ndtri(0.5 + level / 2.0))
        return max(normal, -math.log1p(-level) / math.sqrt(2.0)) if self.laplace else normal

    @cached_property
    def by_columns(self) -> dict[Columns, list[tuple[Block, int]]]:
        """The blocks that tell each residual, with their weights; halvings apart."""
        found: dict[Columns, list[tuple[Block, int]]] = {which: [] for which in self.layout.residuals}
        contrasts = self.layout.measured == "contrasts"
        for block, weight in zip(self.layout.blocks, self.weights, strict=True):
            if not (contrasts and block.level):
                told = [block.columns] if contrasts else [part for part, _ in parts_of_table(block.columns)]
                for which in told:
                    found[which].append((block, weight))
        return found

    @cached_property
    def levels(self) -> dict[int, list[tuple[Block, int]]]:
        """By column, the blocks of its halvings with their weights, coarse ones first."""
        found: dict[int, list[tuple[Block, int]]] = {i: [] for (i,) in self.layout.singles}
        for block, weight in zip(self.layout.blocks, self.weights, strict=True):
            if block.level:
                found[block.columns[0]].append((block, weight))
        return found

    def telling(self, place: int, level: int) -> list[tuple[Block, int, float]]:
        """The blocks that tell a halving of a column, with weights and precisions for noise of variance 1.

        Counts of finer cells tell it by their sums: of a cell's two halves, 2^(finer - level) counters each.
        """
        if self.layout.measured == "contrasts":
            return [(block, w, float(w) ** 2) for block, w in self.levels[place] if block.level == level]
        finer = [(block, w) for block, w in self.levels[place] if block.level >= level]
        return [(block, w, float(w) ** 2 / 2.0 ** (block.level - level + 1)) for block, w in finer]

    def halving_variance(self, place: int, level: int) -> float:
        """The variance of how many more records are in one half of a cell than in the other."""
        return self.variance / sum(precision for _, _, precision in self.telling(place, level))

    def precision(self, which: Columns, block: Block, weight: int) -> float:
        """What a block tells of a residual, for counters with noise of variance 1."""
        others = math.prod(self.layout.axes[i].cells for i in block.columns if i not in which)
        return float(weight) ** 2 / (others << block.level)

    @cached_property
    def variances(self) -> dict[Columns, float]:
        """s_R of each residual; see `axis_variance`."""
        return {which: self._variance(which) for which in self.by_columns}

    def _variance(self, which: Columns) -> float:
        precision = sum(self.precision(which, block, weight) for block, weight in self.by_columns[which])
        own = self.variance / precision if precision else math.inf
        if which:
            return own
        if self.total_variance == 0.0:
            return 0.0
        return 1.0 / (1.0 / own + 1.0 / self.total_variance) if own else 0.0

    def axis_variance(self, place: int, weights: np.ndarray) -> np.ndarray:
        """V_i of vectors of weights, float64 (..., cells) to (...); of contrasts as long as they were measured."""
        if self.layout.measured == "contrasts":
            return self.layout.contrasts[place].variance(weights)
        weights = np.asarray(weights, dtype=np.float64)
        return ((weights - weights.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)

    def axis_spread(self, place: int) -> np.ndarray:
        """V_i of each single cell, float64 (cells,)."""
        if self.layout.measured == "contrasts":
            return self.layout.contrasts[place].spread
        cells = self.layout.axes[place].cells
        return np.full(cells, 1.0 - 1.0 / cells)

    def even_variance(self, place: int) -> float:
        """s^2: what the variance of a unit contrast of a column's own residual is, as good as alike for all of them."""
        return self.variances[(place,)] * self.unit_variance(place)

    def unit_variance(self, place: int) -> float:
        """V_i of a unit contrast."""
        return float(self.axis_spread(place).mean()) / (1.0 - 1.0 / self.layout.axes[place].cells)

    def found_weight(self, place: int) -> float:
        """l: what earlier counts of a column weigh beside its own residual."""
        own = self.even_variance(place)
        return own / (own + self.found[place].variance) if math.isfinite(own) else 1.0

    def alone_variance(self, place: int, weights: np.ndarray) -> np.ndarray:
        """`axis_variance` as the residual of the column alone has it, with what was released before."""
        plain = np.asarray(self.axis_variance(place, weights))
        if place not in self.found:
            return plain
        squares = (self.found[place].apart(np.asarray(weights, dtype=np.float64)) ** 2).sum(axis=-1)
        return np.maximum(plain - self.found_weight(place) * self.unit_variance(place) * squares, 0.0)

    def alone_spread(self, place: int) -> np.ndarray:
        """The same of each single cell, float64 (cells,)."""
        spread = self.axis_spread(place)
        if place in self.found:
            cells = self.found[place].cells
            spread = spread.copy()
            spread[cells] -= self.found_weight(place) * self.unit_variance(place) * (1.0 - 1.0 / len(cells))
        return spread

    def products(
        self,
        table: Columns,
        means: Sequence[np.ndarray],
        variances: Sequence[np.ndarray],
        alone: Sequence[np.ndarray] | None = None,
    ) -> np.ndarray:
        """The variance of products of weights of the columns of a table.

        `table`: A set of columns that was measured. `means`, `variances`, `alone`: one a column: the mean of its
        weights, V_i of them, and `alone_variance` (the same without it); of shapes that fit together.
        """
        total: np.ndarray = np.zeros(np.broadcast_shapes(*(np.shape(mean) for mean in means)) if means else ())
        for inside, _ in parts_of_table(table):
            term: np.ndarray = np.asarray(self.variances[inside])
            own = alone if alone is not None and len(inside) == 1 else variances
            for place, mean, variance in zip(table, means, own, strict=True):
                term = term * (variance if place in inside else mean**2)
            total = total + term
        return total

    def fine_variance(self, place: int, weights: np.ndarray) -> np.ndarray:
        """The variance of sums of the fine cells of one column with these weights, (..., fine cells) to (...)."""
        axis = self.layout.axes[place]
        weights = np.asarray(weights, dtype=np.float64)
        coarse = weights.reshape(*weights.shape[:-1], axis.cells, -1).mean(axis=-1)
        total = self.products((place,), [coarse.mean(axis=-1)], [self.alone_variance(place, coarse)])
        sums = weights
        for level in range(axis.halvings, 0, -1):  # the finest first: the sums of a level are those of halves below it
            halves = sums.reshape(*sums.shape[:-1], -1, 2)
            parts, sums = halves[..., 0] - halves[..., 1], halves[..., 0] + halves[..., 1]
            spread = np.einsum("...i,...i", parts, parts) / (axis.fine // parts.shape[-1]) ** 2
            total = total + self.halving_variance(place, level) * spread
        return total


@dataclass(frozen=True, eq=False)
class Reading:
    """What a noisy table says."""

    noise: Noise  # How exactly.
    table: np.ndarray  # The noisy counters.
    # The number of records where it is known from elsewhere, with the variance that the noise says.
    total: float | None = None
    # Of the draw, where answers are to be of the population that the records were drawn from.
    luck: SamplingLuck | None = None
    _residuals: dict[Columns, np.ndarray] = field(default_factory=dict, init=False, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # What others made of it, by a name.

    @property
    def layout(self) -> Layout:
        return self.noise.layout

    @cached_property
    def records(self) -> float:
        return float(self.residual(()))

    @property
    def people(self) -> float:
        """The number of records to divide by: at least 1."""
        return max(self.records, 1.0)

    def beside(self, found: Mapping[str, Mapping[str, float]], error: float) -> Reading:
        """The same, where counts of some categories of columns were released before, with noise of this deviation.

        Earlier counts that can hardly be of the same records, as in a file that has changed since, are left out.
        """
        known: dict[int, FoundCounts] = {}
        for place, axis in enumerate(self.layout.axes):
            counts = found.get(axis.name, {})
            cells = [cell for cell, name in enumerate(axis.categories) if name in counts]
            if len(cells) < 2 or (place,) not in self.noise.by_columns:
                continue
            values = np.array([counts[axis.categories[cell]] for cell in cells])
            one = FoundCounts(np.array(cells, np.int64), values, error**2)
            off = values - values.mean() - one.apart(self.residual((place,)))
            if off @ off <= chdtri(len(cells) - 1, UNLIKE) * (error**2 + self.noise.even_variance(place)):
                known[place] = one
        return replace(self, noise=replace(self.noise, found=known)) if known else self

    def residual(self, which: Columns) -> np.ndarray:
        """What a table of these columns adds to its margins, float64, one side a column, of sum 0 along each."""
        if which not in self._residuals:
            self._residuals[which] = self._read(which)
        return self._residuals[which]

    def _read(self, which: Columns) -> np.ndarray:
        known = []
        for block, weight in self.noise.by_columns[which]:
            values = self._values(block, weight)
            if self.layout.measured == "contrasts":
                values = _back(values, [self.layout.contrasts[i] for i in which])
            else:
                if block.level:
                    values = values.reshape(-1, 1 << block.level).sum(axis=1)
                values = values.sum(axis=tuple(k for k, i in enumerate(block.columns) if i not in which))
                for side in range(len(which)):
                    values = values - values.mean(axis=side, keepdims=True)
            known.append((self.noise.precision(which, block, weight), values))
        whole = sum(precision for precision, _ in known)
        found: np.ndarray = np.zeros(())
        for precision, values in known:
            found = found + precision / whole * values
        if len(which) == 1 and which[0] in self.noise.found:
            before = self.noise.found[which[0]]
            moved = before.counts - before.counts.mean() - before.apart(found)
            found[before.cells] += self.noise.found_weight(which[0]) * moved
        if which or self.total is None:
            return np.asarray(found)
        if self.noise.total_variance == 0.0 or not known:
            return np.asarray(self.total)
        own = self.noise.variance / whole
        share = own / (own + self.noise.total_variance)
        return np.asarray((1.0 - share) * found + share * self.total)

    def _values(self, block: Block, weight: int) -> np.ndarray:
        return np.asarray(self.table[block.place], dtype=np.float64).reshape(block.shape) / weight

    def halves(self, place: int, level: int) -> np.ndarray:
        """How many more records are in the lower half than in the upper one of each cell that is halved."""
        cells = self.layout.axes[place].cells << (level - 1)
        told = self.noise.telling(place, level)
        whole = sum(precision for _, _, precision in told)
        found = np.zeros(cells)
        for block, weight, precision in told:
            values = self._values(block, weight)
            if self.layout.measured != "contrasts":
                parts = values.reshape(cells, 2, -1).sum(axis=2)
                values = parts[:, 0] - parts[:, 1]
            found += precision / whole * values
        return found

    def counts(self, table: Columns) -> np.ndarray:
        """The estimated counts of a table, float64, one side a column."""
        axes = [self.layout.axes[i] for i in table]
        counts = np.zeros([axis.cells for axis in axes])
        for inside, outside in parts_of_table(table):
            shape = [self.layout.axes[i].cells if i in inside else 1 for i in table]
            spread = math.prod(self.layout.axes[i].cells for i in outside)
            counts += self.residual(inside).reshape(shape) / spread
        return counts

    def fine_counts(self, place: int) -> np.ndarray:
        """The estimated counts of the fine cells of one column, float64 (fine cells,)."""
        axis = self.layout.axes[place]
        counts = np.repeat(self.counts((place,)), 1 << axis.halvings) / (1 << axis.halvings)
        for level in range(1, axis.halvings + 1):
            size = axis.fine // (axis.cells << (level - 1))
            each = self.halves(place, level) / size
            counts += np.repeat(np.stack([each, -each], axis=-1).reshape(-1), size // 2)
        return counts


def _back(values: np.ndarray, contrasts: Sequence[Contrasts]) -> np.ndarray:
    """Contrasts along every side to cells."""
    for side, one in enumerate(contrasts):
        values = np.moveaxis(one.back(np.moveaxis(values, side, -1)), -1, side)
    return values


def shares_of(layout: Layout) -> dict[Columns, float]:
    """What each residual counts in the mean of the tables."""
    shares = dict.fromkeys(layout.residuals, 0.0)
    for table in layout.tables:
        for size in range(len(table) + 1):
            for part in combinations(table, size):
                others = math.prod(layout.axes[i].cells for i in table if i not in part)
                shares[part] += 1.0 / (others * len(layout.tables))
    return shares


def shared(reading: Reading, shares: dict[Columns, float], cells: np.ndarray) -> np.ndarray:
    """The estimates at queries, by the coarse cell of each along each axis, (axes, n) to (n,)."""
    sums = np.zeros(cells.shape[1])
    for which, factor in shares.items():
        sums += factor * reading.residual(which)[tuple(cells[i] for i in which)]
    return sums


def variances(noise: Noise, shares: dict[Columns, float], cells: np.ndarray) -> np.ndarray:
    """Of `shared`, float64 (n,)."""
    spread = [noise.axis_spread(place) for place in range(len(noise.layout.axes))]
    total = np.zeros(cells.shape[1])
    for which, factor in shares.items():
        term = np.full(cells.shape[1], factor**2 * noise.variances[which])
        for place in which:
            term *= spread[place][cells[place]]
        total += term
    return total


def average_variance(noise: Noise, shares: dict[Columns, float]) -> float:
    """Of `shared`, over all cells alike."""
    spread = [float(noise.axis_spread(place).mean()) for place in range(len(noise.layout.axes))]
    return sum(
        factor**2 * noise.variances[which] * math.prod(spread[i] for i in which) for which, factor in shares.items()
    )
