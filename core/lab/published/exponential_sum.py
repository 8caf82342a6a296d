"""Smooth kernels as a sum of a few exponentials: the construction of the paper that the random scale replaces.

Backurs, Lin, Mahabadi, Silwal, Tarnawski, "Efficiently Computing Similarities to Private Datasets" (ICLR 2024), section
8: 1/(1 + z) is within alpha of sum over j of w_j exp(-t_j z) with O(log 1/alpha) terms (Theorem 8.1 and Corollary 8.2,
after Sachdeva, Vishnoi 2014), and exp(-t_j z) is an exponential, Gaussian or Laplacian kernel with another bandwidth,
so one private structure for each of them, each with its share of the budget, gives the smooth kernel (Theorem 8.3).

The rule that gives the terms is the trapezoidal one for 1/(1 + z) = integral of exp(s - (1 + z) e^s) ds over all s, cut
where what is left out is small. With random features for each term the structures are rows of one table: J structures
of R/J rows, each with an equal share of the budget, need the same noise in every counter as R rows with all of it.

Why the random scale wins: here an answer weighs the mean of each structure's rows with w_j, so the noise is that of the
rows' plain mean times J sum(w_j^2) >= 1, and there is the error alpha on top. See `core.sketches.features`.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.frequencies import Frequencies, draw_frequencies, drawing_bytes, uniform_phases
from ...geometry.kernels import (
    KERNEL,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
    of_coordinates,
    stationary,
)
from ...geometry.uniforms import PublicRandom, group_sizes
from ...privacy.budget import Neighbours, Sensitivity
from ...runtime.parameters import Number, Resolved, Seed, check_integer, parameter
from ...sketches.answers import Answers
from ...sketches.grouped import CHANCE, GROUPS, HOW_MANY_ROWS, MAX_ROWS, ROWS, GroupedSketch
from ...sketches.mechanism_spec import KERNEL_OPTIONS, MechanismSpec
from ...sketches.phases import CERTAIN, pour, read, waves

DEFAULT_ERROR = 1e-3
LEAST_ERROR, MOST_ERROR = 1e-4, 0.1
LEAST_GROUPS, MOST_GROUPS = 2, 4
_TERMS = 4_000_001


@dataclass(frozen=True)
class ExponentialSum(GroupedSketch):
    """The paper's sketch of a smooth kernel: a structure of random features for each of a few exponentials.

    RequestError when a parameter is out of range or the kernel is another one.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Smooth, smooth-squared or smooth-l1, of power 1.
    # R of all structures together, shared out equally; None leaves the choice to the forecast.
    rows: Resolved[int] = parameter(ROWS, None, settled=HOW_MANY_ROWS)
    # Alpha, how far the sum of exponentials may be from the kernel.
    error: float = parameter(Number("The error of a sum of exponentials", LEAST_ERROR, MOST_ERROR), DEFAULT_ERROR)
    # Independent groups of rows, each with rows of every structure; None gives 4 where there are enough rows.
    groups: Resolved[int] = parameter(GROUPS, None, kw_only=True)
    seed: Resolved[int] = parameter(Seed("The seed of the frequencies"), None)  # Public seed; fresh when None.
    name: ClassVar[str] = "exponential-sum"
    described: ClassVar[str] = "sum of exponentials"

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.kernel, (Smooth, SmoothSquared, SmoothL1)):
            raise RequestError("A sum of exponentials stands for smooth, smooth-squared and smooth-l1 kernels only.")
        if self.kernel.power != 1:
            raise RequestError("A sum of exponentials stands for smooth kernels of power 1 only; use random features.")
        if self.rows is not None:
            terms = len(exponential_terms(self.error)[0])
            if self.groups is None:
                self._settle(groups=min(max(self.rows // terms, LEAST_GROUPS), MOST_GROUPS))
            least = self.groups * terms
            check_integer(self.rows, "The number of rows of a sum of exponentials", least, MAX_ROWS)

    @cached_property
    def frequencies(self) -> Frequencies:
        """Frequencies and phases of all structures, one after the other.

        RequestError when a point inside the bounds may be so far off that floating point cannot tell its phase.
        """
        structures = [
            draw_frequencies(_exponential(self.kernel, rate), self.domain.widths, rows, self.groups, seed).waves
            for rate, rows, seed in zip(self._rates, self._rows_of_term, self._seeds, strict=True)
        ]
        together = np.concatenate(structures)
        farthest = np.maximum(*map(np.abs, self.domain.bounds(self.metric)))
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
            if not (np.abs(together) @ farthest).max() < CERTAIN:
                raise RequestError("The bounds reach too many bandwidths from zero to tell a record's phase.")
        return Frequencies(together, uniform_phases(len(together), 1, self.seed))

    @property
    def shape(self) -> tuple[int, int]:
        return self._chosen_rows, 2

    @property
    def setup_bytes(self) -> int:
        return 0 if self.rows is None else 2 * drawing_bytes(self.kernel, self.domain.dimensions, self.rows)

    @property
    def largest_entry(self) -> int:
        return waves("circle").largest

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        pour(points, self.frequencies, waves("circle"), table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One entry of the circle a row, as for random features: its largest L1 and squared L2 norm, times R.

        Twice and four times that when a record is replaced.
        """
        rows, circle = self._chosen_rows, waves("circle")
        if neighbours is Neighbours.REPLACE_ONE:
            return Sensitivity(2 * circle.l1 * rows, 4 * circle.l2_squared * rows, parts=rows)
        return Sensitivity(circle.l1 * rows, circle.l2_squared * rows, parts=rows)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        kernels = [of_coordinates(_exponential(self.kernel, rate), self.domain.widths) for rate in self._rates]
        sums = (kernel.evaluate(queries, records).sum(axis=1) for kernel in kernels)
        return sum(weight * value for weight, value in zip(self._weights, sums, strict=True))

    def group_estimates(self, table: np.ndarray, records: float, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        circle = waves("circle")
        groups = np.concatenate([_groups_of(rows, self.groups) for rows in self._rows_of_term])
        weighed = table * self._row_weights[:, None]
        return read(points, self.frequencies, circle.delay, weighed, groups), np.full(self.groups, 1.0 / self.groups)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """As for every grouped sketch, with intervals that reach further by what the approximation may be off."""
        return super().answer(table, records, points, counter_variance, level).reaching(self.error * records)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        variance = counter_variance * float((self._row_weights**2).sum()) / self.groups**2
        return variance if points is None else np.full(len(points), variance)

    @property
    def _weights(self) -> np.ndarray:
        return exponential_terms(self.error)[0]

    @property
    def _rates(self) -> np.ndarray:
        return exponential_terms(self.error)[1]

    @property
    def _seeds(self) -> list[int]:
        words = PublicRandom(self.seed, _TERMS).words(len(self._rates), 2)
        return [int(high) << 64 | int(low) for high, low in words]

    @property
    def _rows_of_term(self) -> list[int]:
        return group_sizes(self._chosen_rows, len(self._rates)).tolist()

    @cached_property
    def _row_weights(self) -> np.ndarray:
        """What each row counts for in its group: w_j over the structure's rows in the group, and over the gain."""
        shares = [
            weight / np.repeat(group_sizes(rows, self.groups), group_sizes(rows, self.groups))
            for weight, rows in zip(self._weights, self._rows_of_term, strict=True)
        ]
        return np.concatenate(shares) / waves("circle").gain


@lru_cache(maxsize=16)
def exponential_terms(error: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights w_j and rates t_j with | 1/(1 + z) - sum of w_j exp(-t_j z) | <= error for all z >= 0.

    The trapezoidal rule of step h is off by at most 2 sum over n of |Gamma(1 + 2 pi i n / h)| (Poisson's summation),
    with |Gamma(1 + iy)|^2 = pi y / sinh(pi y): half of the error. The rates left out below t cost at most t in all, and
    those above t at most exp(-t): a quarter each, with one term to spare at either end.
    """
    step = 2.0
    while 2.0 * sum(_gamma_on_axis(2.0 * math.pi * n / step) for n in range(1, 20)) > error / 2.0:
        step *= 0.99
    first = math.floor(math.log(error / 4.0) / step)
    last = math.ceil(math.log(math.log(4.0 / error)) / step)
    rates = np.exp(step * np.arange(first, last + 1))
    return step * rates * np.exp(-rates), rates


def _gamma_on_axis(y: float) -> float:
    return math.sqrt(math.pi * y / math.sinh(min(math.pi * y, 700.0)))


def _exponential(kernel: Kernel, rate: float) -> Kernel:
    """exp(-rate z) for the z of a smooth kernel 1/(1 + z), as a kernel of its own with another bandwidth."""
    factors: dict[type[Kernel], tuple[type[Stationary], float]] = {
        Smooth: (Exponential, rate),
        SmoothSquared: (Gaussian, math.sqrt(2.0 * rate)),
        SmoothL1: (Laplacian, rate),
    }
    kind, factor = factors[type(kernel)]
    sigma = stationary(kernel).bandwidth
    return kind(tuple(value / factor for value in sigma) if isinstance(sigma, tuple) else sigma / factor)


def _groups_of(rows: int, groups: int) -> np.ndarray:
    return np.repeat(np.arange(groups), group_sizes(rows, groups))


CARD = MechanismSpec(
    "exponential-sum",
    "Sum of exponentials",
    "Backurs et al. 2024",
    "A kernel with a long tail is written as a sum of a few exponentials, each of which gets noisy random waves of its "
    "own.",
    sketch=ExponentialSum,
    make=lambda facts: ExponentialSum(facts.domain, facts.closeness, facts.size, seed=facts.seed, groups=facts.groups),
    rank=20,
    kernel="smooth",
    options=KERNEL_OPTIONS | {"--rows", "--groups", "--seed"},
    size="rows",
    sizes=(50, 200, 800),
    otherwise=CHANCE,
    holds=lambda sketch: f"{sketch.shape[0]:,} pairs of counters, one a random wave",
)
