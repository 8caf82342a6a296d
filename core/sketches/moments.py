"""Squared distances: how many records there are, the sum of them, and the sum of their squared lengths.

    sum over x of ||x - q||^2  =  n ||q||^2  -  2 <q, sum of x>  +  sum of ||x||^2

All from a public centre, so that numbers stay small (section 6.1 of "Efficiently Computing Similarities to Private
Datasets", Backurs et al., ICLR 2024). One table of d + 2 integers answers every query, for ever; the query of the least
sum is the mean.

Beyond the paper: the three parts share one noise, and each is multiplied by a public whole number before it is summed,
so that the answer has the least variance. With record (a, U x, b ||x||^2), lengths in radii and U = 2^30, the noise in
every counter grows with a^2 + U^2 + b^2, and an answer's variance is (||q||^4 / a^2 + 4 ||q||^2 / U^2 + 1 / b^2) times
that of one counter: the least is at a^2 : U^2 : b^2 = ||q||^2 : 2 ||q|| : 1, by Cauchy and Schwarz.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self, cast

import numpy as np
import pyarrow as pa

from ..domain import Domain
from ..errors import RequestError
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..runtime.compiled_code import njit
from ..runtime.parameters import Number, Resolved, Several, Whole, parameter
from .answers import Answers
from .ball import LONGEST, PRECISION, SHORTEST, UNITS, add_rows, add_vectors
from .linear import LinearSketch, Rows, rows_of
from .mechanism_spec import MechanismSpec, only_where

LARGEST_COUNT_WEIGHT = 1 << 31
# Up to here two opposite records are the furthest apart; see `Moments.record_sensitivity`.
LARGEST_SQUARE_WEIGHT = math.isqrt(3 * UNITS**2 // 2)
CENTRE = Several("The centre", Number("A coordinate of the centre"))
RADIUS = Number("The radius")


@njit(nogil=True, cache=True)
def _sum_of_parts(squares, weight):
    """Sum of floor(weight * square / 2^60), exactly: the product has up to 92 bits and is made of two halves."""
    half = np.int64(PRECISION)
    mask = np.int64((1 << PRECISION) - 1)
    total = np.int64(0)
    for square in squares:
        high, low = square >> half, square & mask
        # floor((high 2^30 + low) w / 2^60) = floor((high w + floor(low w / 2^30)) / 2^30), as the rest is below 1.
        total += (high * weight + ((low * weight) >> half)) >> half
    return total


@dataclass(frozen=True)
class Moments(LinearSketch):
    """Sums of squared Euclidean distances.

    RequestError when a parameter is out of range.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    radius : float
        A record further than this from the centre counts as one at this distance, in its direction. A public fact;
        None, or more than the furthest corner's distance, moves nobody. In encoded coordinates.
    centre : tuple[float, ...] | None
        A public point inside the bounds that lengths are measured from; None is the middle of the bounds. Records close
        to it need less noise. Queries may lie anywhere.
    count_weight, square_weight : int | None
        What a record adds for itself, and at most for its squared length, where its offset counts 2^30; None leaves the
        choice to the forecast.
    """

    domain: Domain
    radius: Resolved[float] = parameter(RADIUS, None, settled="its radius")
    centre: tuple[float, ...] | None = parameter(CENTRE, None)
    count_weight: Resolved[int] = parameter(
        Whole("The weight of the count", 1, LARGEST_COUNT_WEIGHT), None, settled="its weights"
    )
    square_weight: Resolved[int] = parameter(
        Whole("The weight of the squared lengths", 1, LARGEST_SQUARE_WEIGHT), None, settled="its weights"
    )
    name: ClassVar[str] = "moments"
    described: ClassVar[str] = "sketch of moments"
    answers: ClassVar[str] = "distance"
    class_rules: ClassVar[tuple[str, ...]] = ("mean", "distance", "discriminant")  # type: ignore[assignment]
    read_by: ClassVar[str] = "discriminant"  # type: ignore[assignment]
    distance_norm: ClassVar[str] = "squared"  # type: ignore[assignment]
    has_means: ClassVar[bool] = True
    takes_rows: ClassVar[bool] = True
    metric = "l2"

    def _check(self) -> None:
        super()._check()
        check_centre(self.domain, self.metric, self.centre)
        self._settle(radius=inside(self.radius, self._furthest))
        if (self.count_weight is None) != (self.square_weight is None):
            raise RequestError("The two weights of moments are given together, or both left to the forecast.")

    @property
    def shape(self) -> tuple[int]:
        return (self.domain.dimensions + 2,)

    @property
    def setup_bytes(self) -> int:
        return 16 * self.domain.dimensions

    @property
    def largest_entry(self) -> int:
        return max(UNITS, *self._weights)

    @cached_property
    def origin(self) -> np.ndarray:
        low, high = self.domain.bounds(self.metric)
        return (low + high) / 2.0 if self.centre is None else np.array(self.centre)

    def sized_for(self, budget: Budget, records: float) -> Self:
        """Weights of the least variance at a query as far from the centre as queries in the bounds are on average.

        Replacing a record moves the vectors most, by 2 radii, and a record that is left out moves all three parts by
        one weight each: the weights may have 3 U^2 between them then, at no cost.
        """
        reach = min(1.0, math.sqrt(float(self._second_moments.sum())) / self.radius)
        if budget.neighbours is Neighbours.REPLACE_ONE:
            square = min(LARGEST_SQUARE_WEIGHT, int(UNITS * math.sqrt(3.0 / (1.0 + reach**2))))
            count = math.isqrt(3 * UNITS**2 - square**2)
        else:
            square = min(LARGEST_SQUARE_WEIGHT, int(UNITS / math.sqrt(2.0 * reach)))
            count = max(1, int(UNITS * math.sqrt(reach / 2.0)))
        return replace(self, count_weight=count, square_weight=square)

    def finding_centre(self, radius: float | None) -> Self:
        return replace(self, radius=radius).for_mean()

    def centred_by(self, found: LinearSketch, noisy: np.ndarray) -> Self:
        mean = cast(Moments, found).mean(noisy, found.total(noisy))
        return replace(self, centre=tuple(mean.tolist()))

    def for_mean(self) -> Self:
        """The same sketch with weights that tell the mean best, and distances badly.

        An error e in n moves a mean of length l by l e / n, and noise of the same size in every coordinate moves it by
        e sqrt(d) / n: for l of one radius the least sum of squares is at a^2 : U^2 = 1 : sqrt(d).
        """
        count = max(1, int(UNITS / self.domain.dimensions**0.25))
        return replace(self, count_weight=count, square_weight=1)

    def for_classes(self) -> Self:
        """As for the mean, with squared lengths known a third as well as numbers: classes share one spread, their sum.

        It tells how much a distance from a mean says beside how frequent a class is; see `core.analysis.class_scores`.
        """
        of_mean = self.for_mean()
        return replace(of_mean, square_weight=max(1, of_mean._weights[0] // 3))

    def encode(self, batch: pa.RecordBatch) -> np.ndarray | Rows:
        rows = rows_of(self.domain, batch)
        return super().encode(batch) if rows is None else rows

    def add(self, table: np.ndarray, points: np.ndarray | Rows) -> None:
        if isinstance(points, Rows):
            self.add_rows(table[None], points)
            return
        count, square = self._weights
        squares = add_vectors(points, self.origin, self.radius, table[1:-1])
        table[0] += count * len(points)
        table[-1] += _sum_of_parts(squares, square)

    def add_rows(self, tables: np.ndarray, rows: Rows) -> None:
        count, square = self._weights
        squares, order = add_rows(rows, self.origin, self.radius, tables[:, 1:-1])
        numbers = np.bincount(rows.slabs, minlength=len(tables))
        tables[:, 0] += count * numbers
        for slab, part in zip(tables, np.split(squares[order], np.cumsum(numbers)[:-1]), strict=True):
            slab[-1] += _sum_of_parts(part, square)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record adds (a, z, s) with whole-number z, Z = |z|^2 <= U^2 and s = floor(b Z / U^2) <= b.

        Add or remove one: L2 squared is at most a^2 + U^2 + b^2, and L1 at most a + sqrt(d) U + b; a record at the
        radius reaches the first, one in a corner's direction the second, but for the rounding of its coordinates.

        Replace one: the difference is (0, z - z', s - s'). Let Z >= Z', D = Z - Z' and v^2 = Z'/Z.

        * L2: |z - z'|^2 <= (1 + v)^2 Z = 4 Z - D (3 + v)/(1 + v), and s - s' is a whole number of at most ceil(y),
          y = b D / U^2. So 4 U^2 bounds the sum if ceil(y)^2 <= D (3 + v)/(1 + v), which is at least 2 D. For y <= 1 it
          is, as D >= 1 where s differs. Where y > 1, D = y U^2 / b is above 5, so that 2 D > 3^2 covers y <= 3. Beyond,
          y^2 = (b^2/U^2) (Z/U^2) D (1 - v^2) is at most 0.55 D (3 + v)/(1 + v), because b^2 <= 1.5 U^2 and
          (1 - v)(1 + v)^2/(3 + v) <= 0.361; and (y + 1)^2 <= 1.78 y^2 < y^2 / 0.55. Opposite records at the radius
          reach 4 U^2.
        * L1: |z - z'|_1 + |s - s'| <= sqrt(d Z) (1 + v) + b (Z/U^2) (1 - v^2) + 1, which grows with Z. For Z = U^2 it
          is at most 2 sqrt(d) U + 1 where 2 b <= sqrt(d) U, and b more otherwise.

        A replaced record may also be left out, which moves what removing it does.
        """
        count, square = self._weights
        d = self.domain.dimensions
        one_l1 = count + math.isqrt(d * UNITS**2) + square
        one_l2 = count**2 + UNITS**2 + square**2
        if neighbours is Neighbours.ADD_REMOVE:
            return _of_one_block(one_l1, one_l2, d + 2)
        two_l1 = math.isqrt(4 * d * UNITS**2) + 1 + (0 if 4 * square**2 <= d * UNITS**2 else square)
        return _of_one_block(max(one_l1, two_l1), max(one_l2, 4 * UNITS**2), d + 2)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The exact sums over records that are no further from the centre than the radius."""
        offsets = records - self.origin
        lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
        offsets = offsets * np.where(lengths > self.radius, self.radius / np.maximum(lengths, SHORTEST), 1.0)
        return np.array([((offsets - (query - self.origin)) ** 2).sum() for query in queries])

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        number, first, second = self.moments(table)
        offsets = np.asarray(points, dtype=np.float64) - self.origin
        estimate = number * (offsets**2).sum(axis=1) - 2.0 * offsets @ first + second
        error = np.sqrt(self.noise_variance(counter_variance, points))
        return Answers.of_errors(estimate, error, records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """The three parts have independent, or for noise drawn as a vector uncorrelated, errors."""
        if points is None:
            second, fourth = self._mean_powers
        else:
            second = ((np.asarray(points, dtype=np.float64) - self.origin) ** 2).sum(axis=1)
            fourth = second**2
        count, _ = self._weights
        for_sum = 4.0 * second * self.sum_variance(counter_variance)
        return for_sum + counter_variance * fourth / count**2 + self.squares_variance(counter_variance)

    def moments(self, table: np.ndarray) -> tuple[float, np.ndarray, float]:
        """The number of records, the sum of their offsets from the centre and of the offsets' squared lengths.

        In encoded units: a float, float64 (d,), a float.
        """
        count, square = self._weights
        number, first, second = float(table[0]), table[1:-1].astype(np.float64), float(table[-1])
        return number / count, first * (self.radius / UNITS), second * (self.radius**2 / square)

    def sum_variance(self, counter_variance: float) -> float:
        """Variance that the noise gives every coordinate of the sum of offsets."""
        return counter_variance * (self.radius / UNITS) ** 2

    def squares_variance(self, counter_variance: float) -> float:
        """Variance that the noise gives the sum of squared lengths."""
        return counter_variance * (self.radius * (self.radius / self._weights[1])) ** 2

    def mean(self, table: np.ndarray, records: float) -> np.ndarray:
        """Where the sum of squared distances is least, in encoded coordinates, float64 (d,), inside the bounds."""
        _, first, _ = self.moments(table)
        return np.clip(self.origin + first / max(records, 1.0), *self.domain.bounds(self.metric))

    def total(self, table: np.ndarray) -> float:
        return self.moments(table)[0]

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / self._weights[0] ** 2

    def parameters(self) -> dict:
        _ = self._weights  # refuses before they are chosen
        return super().parameters()

    @property
    def _weights(self) -> tuple[int, int]:
        if self.count_weight is None or self.square_weight is None:
            raise RequestError("The moments have no weights yet; give them, or let the forecast choose them.")
        return self.count_weight, self.square_weight

    @property
    def _furthest(self) -> float:
        """Distance from the centre to the furthest corner of the bounds."""
        low, high = self.domain.bounds(self.metric)
        with np.errstate(over="ignore"):  # an infinite distance is refused
            return float(np.sqrt((np.maximum(self.origin - low, high - self.origin) ** 2).sum()))

    @cached_property
    def _second_moments(self) -> np.ndarray:
        """Mean squared offset of a query spread evenly over the bounds, a coordinate, float64 (d,)."""
        low, high = self.domain.bounds(self.metric)
        return ((low + high) / 2.0 - self.origin) ** 2 + (high - low) ** 2 / 12.0

    @cached_property
    def _mean_powers(self) -> tuple[float, float]:
        """Mean second and fourth power of the length of such a query's offset."""
        low, high = self.domain.bounds(self.metric)
        middle, half = ((low + high) / 2.0 - self.origin) ** 2, ((high - low) / 2.0) ** 2
        second = self._second_moments
        fourth = middle**2 + 2.0 * middle * half + half**2 / 5.0
        return float(second.sum()), float(second.sum() ** 2 + (fourth - second**2).sum())


def check_centre(domain: Domain, metric: str, centre: tuple[float, ...] | None) -> None:
    """RequestError unless a centre has the coordinates of an encoded record and lies inside the bounds."""
    if centre is None:
        return
    if len(centre) != domain.dimensions:
        raise RequestError(f"The centre must have {domain.dimensions:,} coordinates, as many as an encoded record has.")
    low, high = domain.bounds(metric)
    if not ((low <= centre) & (centre <= high)).all():
        raise RequestError("The centre must lie inside the bounds of the columns.")


def inside(radius: float | None, furthest: float) -> float:
    """The radius, never more than the distance of the furthest corner.

    RequestError when it is too large or too small for its square to be a number.
    """
    value = furthest if radius is None else min(radius, furthest)
    if not SHORTEST < value < LONGEST:
        raise RequestError(f"The radius must lie between {SHORTEST:g} and {LONGEST:g}, so that its square is a number.")
    return value


def _of_one_block(l1: int, l2_squared: int, block: int) -> Sensitivity:
    return Sensitivity(l1, l2_squared, block=block, blocks_l2=math.isqrt(l2_squared - 1) + 1)


CARD = MechanismSpec(
    "moments",
    "Sums of squares",
    "Backurs et al. 2024",
    "A noisy count, the sum of all records and that of their squared lengths say every squared distance.",
    sketch=Moments,
    make=lambda facts: Moments(facts.domain, facts.radius),
    rank=8,
    answers="distance",
    command=False,
    recommended=True,
    called="sums of squares",
    several=True,
    plainly="Sums and sums of squares (moments)",
    limit=only_where("Sums of squares", lambda facts: facts.norm == "squared"),
    because=lambda sketch: "as a count, the sum of all records and that of their squared lengths say everything",
    holds=lambda sketch: f"{sketch.shape[0]:,} sums: of ones, of every coordinate, and of squared lengths",
    measure=lambda sketch: "the square of the straight-line distance",
    warm=lambda: (Moments(Domain.of(x=(0, 1), y=(0, 1))),),
)
