"""What MWEM releases: measured answers, and a distribution over cells that agrees with them (see `mwem`).

The questions are kernel sums at public places spread over the bounds, z_1 to z_Q. As a query q_i(x) = k(x, z_i) lies in
[0, 1], in units of 2^-30, one record moves each by one unit interval at most. Only those that were picked are in a
release, with noise; the distribution is a function of them and of public facts, found anew when a file is opened.

Multiplicative weights: a distribution over cells that agrees with measured averages of functions of the cell.

The update of one measurement is A(x) <- A(x) exp(step q(x)), normalised (Hardt, Ligett, McSherry 2012, figure 1). All
measurements so far are updated for again and again, until they agree within their error or a number of times is
reached: the improvement of their section 2.3, which costs no privacy.

The paper's step is half the difference between what was measured and what A says. It suits every q with values in
[0, 1], and is far too short for the kernel of a place: that is near zero in most cells and hardly moves. The step here
is the difference over the variance of q under A, eight times the paper's or more: Newton's, for the step at which A
agrees, which is also the one that brings A closest to every distribution that does (Csiszár 1975).
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import KERNEL, Kernel
from ...geometry.uniforms import PublicRandom, scrambled_sobol
from ...privacy.budget import Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.parameters import Seed, Several, Whole, check_integer, parameter
from ...sketches.answers import Answers
from .grid_cells import COUNTS, Cells
from .grid_sketch import GridSketch
from .kernel_values import BITS, KernelValues

CYCLES = 10  # Times that all measurements are gone through after each new one, at most.
# An average that no distribution over the cells has, as noise may ask for, is come nearer to by no more at a time.
LARGEST_STEP = 2.0


def reweighted(
    weights: np.ndarray, values: np.ndarray, averages: np.ndarray, error: float, known: int = 0
) -> np.ndarray:
    """The distribution after measurements, which are taken up one after the other.

    Returns float64 (cells,), new. `weights`: float64 (cells,), they add up to 1. `values`: float64 (measurements,
    cells), in [0, 1]: the functions that were averaged. `averages`: float64 (measurements,), what was measured.
    `error`: differences up to this are agreement. `known`: how many of the measurements, the first ones, the weights
    know already.
    """
    found = np.array(weights, dtype=np.float64)
    values, averages = np.ascontiguousarray(values), np.clip(averages, 0.0, 1.0)
    for newest in range(known, len(averages)):  # one call each, so that a long imitation can be interrupted
        _take_up(found, values, averages, float(error), newest)
    return found


@njit(nogil=True, cache=True)
def _take_up(weights, values, averages, error, newest):
    for _ in range(CYCLES):
        agreed = True
        for i in range(newest, -1, -1):
            value = values[i]
            mean, square = 0.0, 0.0
            for x in range(len(weights)):
                part = weights[x] * value[x]
                mean += part
                square += part * value[x]
            off = averages[i] - mean
            if abs(off) <= error:
                continue
            agreed = False
            step = off / max(square - mean * mean, 1e-30)
            step = min(max(step, -LARGEST_STEP), LARGEST_STEP)
            total = 0.0
            for x in range(len(weights)):
                weights[x] *= np.exp(step * value[x])
                total += weights[x]
            for x in range(len(weights)):
                weights[x] /= total
        if agreed:
            break


ONE = 1 << BITS
MAX_CELLS = 1 << 18
MAX_PAIRS = 1 << 25  # Of a place and a cell: 256 MiB for the measured ones, half of it for all places.
MAX_QUERIES, MAX_ROUNDS = 1 << 13, 1 << 10
QUERIES = Whole("The number of places to pick from", 1, MAX_QUERIES)
# Cells times the square of the rounds: every round goes through all before it, some minutes of work at most.
MAX_UPDATES = 1 << 30
LEAST_ERROR = 1e-7  # Averages that differ by less agree, even without noise.
BLOCK = 1 << 20  # Pairs of a record and a place whose kernel is held in memory at once.
_PLACES = 42  # Label of the stream of public randomness that spreads the places.


@dataclass(frozen=True)
class MultiplicativeWeights(GridSketch):
    """Noisy kernel sums at the places that were picked, and the distribution over cells that agrees with them."""

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Any kernel of places.
    cells: tuple[int, ...] = parameter(COUNTS)  # Numbers of cells of the imitation, one a coordinate of numbers.
    queries: int = parameter(QUERIES)  # How many public places there were to pick from.
    seed: int = parameter(Seed("The seed of the places"))  # Public, of these places.
    # The places that were picked, in order. Place number ``queries`` stands for no place: everyone's closeness to it is
    # 1, so it counts the records.
    chosen: tuple[int, ...] = parameter(
        Several("The picked places", Whole("The number of a picked place", 0, MAX_QUERIES), 1, MAX_QUERIES + 1)
    )
    name: ClassVar[str] = "mwem"
    described: ClassVar[str] = "release by MWEM"
    linear_decode: ClassVar[bool] = False
    largest_entry = ONE

    def _check(self) -> None:
        super()._check()
        check_integer(max(self.chosen), "The number of a picked place", 0, self.queries)
        if self.grid.size > MAX_CELLS:
            raise RequestError(
                f"The imitation has {self.grid.size:,} cells, and the most is {MAX_CELLS:,}: use fewer of them."
            )

    @cached_property
    def grid(self) -> Cells:
        return Cells.of(self.domain, self.metric, self.cells)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.chosen),)

    @property
    def setup_bytes(self) -> int:
        cells = self.grid.size * (len(self.chosen) + 2 * self.domain.dimensions)
        places = self.queries * self.domain.dimensions
        return 8 * (cells + places + 3 * BLOCK) + self.reading.most_bytes

    @cached_property
    def places(self) -> np.ndarray:
        """The public places, encoded, float64 (queries, dimensions): spread evenly over the bounds."""
        uniforms = scrambled_sobol(self.queries, len(self.grid.counts), PublicRandom(self.seed, _PLACES))
        return self.grid.places(uniforms)

    @cached_property
    def _values(self) -> KernelValues:
        return KernelValues(self.point_kernel, self.places[[place for place in self.chosen if place < self.queries]])

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        """Whole numbers, each of one record alone, and none above one unit whatever rounding does."""
        of_places = np.array([place < self.queries for place in self.chosen])
        table[~of_places] += ONE * len(points)
        if not of_places.any():
            return
        at_once = max(1, BLOCK // len(self.chosen))
        for start in range(0, len(points), at_once):
            values = self._values(points[start : start + at_once])
            table[of_places] += np.minimum(values, ONE).sum(axis=0)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """T sums of closeness, each moved by one unit at most, whether a record comes, goes or changes.

        Closeness lies between 0 and one unit, so a replaced record moves a sum by their difference, one unit at most as
        well. Any place may be picked in every round, and a record there reaches the bound; replaced, by one so far off
        that its closeness is cut to 0.
        """
        rounds = len(self.chosen)
        return Sensitivity(rounds * ONE, rounds * ONE**2, parts=rounds)

    def cell_counts(self, table: np.ndarray, records: float, counter_variance: float) -> np.ndarray:
        """The imitation: what the rounds made of the same weight for every cell; none is negative."""
        self.check_measured()
        number = max(float(records), 1.0)
        error = agreement(counter_variance, number)
        digest = hashlib.blake2b(np.ascontiguousarray(table).data).digest(), number, error
        weights = self._remembered.get(digest)
        if weights is None:
            averages = np.asarray(table, dtype=np.float64) / (ONE * number)
            weights = reweighted(even(self.grid), self.values_of_cells, averages, error)
            self._remembered.clear()
            self._remembered[digest] = weights
        return number * weights.reshape(self.grid.counts)

    @cached_property
    def _remembered(self) -> dict[tuple[bytes, float, float], np.ndarray]:
        """The weights of the table that was asked last, as finding them takes longer than asking them."""
        return {}

    @property
    def values_of_cells(self) -> np.ndarray:
        """Closeness of the centre of every cell to the picked places, float64 (rounds, cells)."""
        centres = self.grid.centre_points()
        return np.array([self.closeness_to(place, centres) for place in self.chosen])

    def closeness_to(self, place: int, points: np.ndarray) -> np.ndarray:
        """Closeness of points to a public place by its number, float64 (n,)."""
        if place == self.queries:
            return np.ones(len(points))
        return self.point_kernel.evaluate(self.places[place][None], points)[0]

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """What the imitation answers; nobody knows how far it is off where it was not measured."""
        estimate = self.reading.sums(self.cell_counts(table, records, counter_variance), points)
        return Answers.unknown(estimate, records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """Unknown: noise decides what is measured, and how weights change."""
        return math.inf if points is None else np.full(len(points), math.inf)

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        made = super().from_parameters(domain, parameters)
        if made.chosen != tuple(range(made.queries + 1)):  # what the mechanism reads first, and nobody asks
            made.check_measured()
        return made

    def check_measured(self) -> None:
        """RequestError when the imitation would need too much memory or time for its measurements."""
        most = most_rounds(self.grid.size)
        if len(self.chosen) > most:
            raise RequestError(
                f"{len(self.chosen):,} rounds over {self.grid.size:,} cells are too many: there may be {most:,} rounds "
                "over so many, as the imitation would take too long or too much memory otherwise."
            )


def most_rounds(cells: int) -> int:
    return min(MAX_ROUNDS, MAX_PAIRS // cells, math.isqrt(MAX_UPDATES // cells))


def even(grid: Cells) -> np.ndarray:
    """The same weight for every cell, float64 (cells,): what is imitated before anything is known."""
    return np.full(grid.size, 1.0 / grid.size)


def agreement(counter_variance: float, records: float) -> float:
    """How far an imitated average may be from a measured one: a standard deviation of its noise."""
    return max(math.sqrt(counter_variance) / (ONE * records), LEAST_ERROR)
