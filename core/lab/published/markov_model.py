"""The most even distribution that agrees with noisy marginals: a Markov random field, fitted by `mbi` (private-pgm).

McKenna, Sheldon, Miklau (ICML 2019): of all distributions with a given total, find one whose marginals are closest to
the noisy ones in squared error; it can be taken to be a Markov random field on the measured cliques. The package is
optional, as it brings JAX along; it fits, and `elimination` gives the marginals.

Marginals of a Markov random field, by summing over one axis after the other (Koller, Friedman 2009, section 9.3).

The field's density is, up to a factor, the exponential of a sum of tables, one for each of some sets of axes. An axis
is summed over by joining the tables that have it and no others, so the order decides how large the joined ones get;
taken next is the axis whose joined table is smallest. In logarithms, so that nothing overflows; in plain arrays, as
every set of axes that is asked for would be a program of its own to a compiler.

In which order the axes of a Markov random field can be drawn: one after the other, each given few of those before.

Axes are taken out one at a time, each time the one whose table with its neighbours is smallest, and its neighbours are
joined to each other (greedy elimination). Back to front this is an order in which each axis depends on those neighbours
alone, exactly; the tables of an axis with them are those of a junction tree, and say how much the model has to hold.

Noisy counts of single attributes and of pairs, some with less noise than others, and the records that fit them.

`MeasuredCliques` is what `aim` releases. A table that is measured with weight w has w times its counts below noise that
is the same everywhere, so its counts have a w-th of that noise. A Markov random field is fitted to all of them, each by
its own noise, and synthetic records are drawn from it.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import KERNEL, Kernel
from ...privacy.budget import Neighbours, Sensitivity
from ...runtime.environment import check_extra
from ...runtime.parameters import Seed, Several, Whole, parameter
from .grid_cells import COUNTS, MAX_AXES, Cells, Marginals
from .synthetic_records import Node, SyntheticSketch, drawn_in_order

Axes = tuple[int, ...]


def marginal(potentials: Mapping[Axes, np.ndarray], counts: Sequence[int], wanted: Axes, total: float) -> np.ndarray:
    """The marginal of some axes.

    Returns float64, in the shape of the wanted axes. `potentials`: logarithms of the factors by their axes, in the
    shape of these; an axis that none has is uniform. `counts`: cells of each axis. `wanted`: in increasing order.
    `total`: what the cells add up to.
    """
    left = [_in_order(axes, table) for axes, table in potentials.items()]
    left += [((axis,), np.zeros(counts[axis])) for axis in wanted]
    hidden = {axis for axes, _ in left for axis in axes} - set(wanted)
    while hidden:
        axis = min(hidden, key=lambda axis: _joined_size(left, axis, counts))
        hidden.remove(axis)
        joined, table = _joined([factor for factor in left if axis in factor[0]])
        place = joined.index(axis)
        left = [factor for factor in left if axis not in factor[0]]
        left.append((joined[:place] + joined[place + 1 :], _summed(table, place)))
    _, table = _joined(left)
    shares = np.exp(table - table.max())
    return np.asarray(shares * (total / shares.sum()), np.float64)


def _in_order(axes: Axes, table: np.ndarray) -> tuple[Axes, np.ndarray]:
    order = np.argsort(axes)
    return tuple(axes[place] for place in order), np.asarray(table, np.float64).transpose(order)


def _joined_size(factors: Sequence[tuple[Axes, np.ndarray]], axis: int, counts: Sequence[int]) -> int:
    """Cells of the table of all axes that come with this one."""
    return math.prod(counts[other] for other in {other for axes, _ in factors if axis in axes for other in axes})


def _joined(factors: Sequence[tuple[Axes, np.ndarray]]) -> tuple[Axes, np.ndarray]:
    """The sum of tables on all of their axes, in increasing order."""
    axes = tuple(sorted({axis for own, _ in factors for axis in own}))
    total: np.ndarray = np.zeros(())
    for own, table in factors:
        sizes = iter(table.shape)
        total = total + table.reshape([next(sizes) if axis in own else 1 for axis in axes])
    return axes, total


def _summed(table: np.ndarray, place: int) -> np.ndarray:
    """The logarithm of the sum of exponentials along an axis."""
    most = table.max(axis=place, keepdims=True)
    return np.asarray(np.log(np.exp(table - most).sum(axis=place)) + most.squeeze(place))


ITERATIONS = 3_000  # Steps of mirror descent; a few hundred bring the loss within a per cent of its least.


def check_installed() -> None:
    check_extra("mbi", "marginals", "A model of marginals")


def fitted_marginals(
    counts: Sequence[int],
    cliques: Sequence[tuple[int, ...]],
    noisy: Sequence[np.ndarray],
    total: float,
    deviations: Sequence[float] | None = None,
    wanted: Sequence[tuple[int, ...]] | None = None,
    iterations: int = ITERATIONS,
) -> list[np.ndarray]:
    """Marginals of the fitted model, consistent with each other; RequestError where the package is missing.

    Returns one table for each that is wanted, float64, in the shape of its axes, not negative.

    `counts`: Cells of each axis. `cliques`: The axes of each measured marginal; one may have been measured several
    times. `noisy`: One table a clique, in the shape of its axes. `total`: What the cells of each marginal add up to.
    `deviations`: Standard deviation of the noise of each table, up to a factor; None for noise that is the same in all.
    `wanted`: The axes of each marginal that is asked for, in increasing order; None for those that were measured.
    `iterations`: Steps at most.
    """
    check_installed()
    with warnings.catch_warnings():
        # On import it advises single-precision programs and programs that keep compiled code; this is neither.
        warnings.simplefilter("ignore")
        import jax
        from mbi import Domain, LinearMeasurement
        from mbi.estimation import MirrorDescent

        # In this thread and block alone: nobody else's arrays change their type.
        with jax.enable_x64(True):
            axes = Domain(list(range(len(counts))), list(counts))
            measured = [
                LinearMeasurement(np.asarray(table, np.float64).reshape(-1), clique, deviation)
                for clique, table, deviation in zip(cliques, noisy, deviations or [1.0] * len(cliques), strict=True)
            ]
            model: Any = MirrorDescent().estimate(axes, measured, known_total=float(total), iters=iterations)
            potentials = {
                tuple(factor.domain.attributes): np.asarray(factor.values, np.float64)
                for factor in model.potentials.tables.values()
            }
    # Counts that no crowd has, in a stranger's file, may leave numbers that are none: nothing is known then.
    with np.errstate(all="ignore"):
        found = [
            marginal(potentials, counts, clique, float(total)) for clique in (cliques if wanted is None else wanted)
        ]
    return [np.maximum(np.nan_to_num(table, nan=0.0, posinf=0.0), 0.0) for table in found]


def drawing_order(counts: Sequence[int], cliques: Iterable[Sequence[int]]) -> tuple[Node, ...]:
    """Every axis after its parents, which are in increasing order.

    `counts`: cells of each axis. `cliques`: the axes of each marginal.
    """
    beside: dict[int, set[int]] = {axis: set() for axis in range(len(counts))}
    for clique in cliques:
        _join(beside, clique)
    taken: list[Node] = []
    while beside:
        axis = min(beside, key=lambda one: (math.prod(counts[i] for i in (one, *beside[one])), one))
        others = beside.pop(axis)
        for other in others:
            beside[other].remove(axis)
        _join(beside, others)
        taken.append((axis, tuple(sorted(others))))
    return tuple(reversed(taken))


def model_size(counts: Sequence[int], order: Iterable[Node]) -> int:
    """Cells of the tables of all axes with their parents."""
    return sum(math.prod(counts[i] for i in (axis, *parents)) for axis, parents in order)


def _join(beside: dict[int, set[int]], axes: Iterable[int]) -> None:
    for one, other in combinations(axes, 2):
        beside[one].add(other)
        beside[other].add(one)


LARGEST_WEIGHT = 1 << 20
MOST_CLIQUES = 10_000
MOST_IN_MODEL = 1 << 20  # Cells that the model holds; a stranger's file should not keep anyone for hours.
_CLIQUE = Several("A set of axes", Whole("An axis", 0, MAX_AXES - 1), 1, 2)


@dataclass(frozen=True)
class MeasuredCliques(SyntheticSketch):
    """Noisy marginals of axes and of pairs of them, each with a weight.

    RequestError when cliques and weights do not go together, or the model would be too large.
    """

    # The public facts about the records, and any kernel of places, whose sums are estimated.
    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    counts: tuple[int, ...] = parameter(COUNTS)  # Cells of each axis; see `Cells`.
    # One axis or two, in increasing order, in the order in which they were measured; any may come again.
    cliques: tuple[tuple[int, ...], ...] = parameter(Several("The measured tables", _CLIQUE, 1, MOST_CLIQUES))
    # By which each one's counts are multiplied below the noise.
    weights: tuple[int, ...] = parameter(Several("The weights", Whole("A weight", 1, LARGEST_WEIGHT), 1, MOST_CLIQUES))
    # Of the public random numbers that synthetic records are drawn with.
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
        return Marginals(self.domain, self.metric, self.counts, self.cliques)

    @cached_property
    def order(self) -> tuple[Node, ...]:
        return drawing_order(self.counts, self.cliques)

    @cached_property
    def _repeated(self) -> np.ndarray:
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

        `wanted`: their axes. `iterations`: steps at most; None for as many as a released table gets.
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
