"""Directions: the sum of unit vectors, which tells everyone's cosine similarity to any query.

    sum over x of cos(x, q)  =  < q / ||q||, sum over x of x / ||x|| >

as seen from a public centre. Embeddings are compared so. Every record adds a vector of the same length, so none of the
budget is spent on lengths or numbers, and the noise of an answer does not grow with the dimensions when noise is
Gaussian. For noise drawn as whole vectors (a pure promise) it grows with their square root; there, and for very small
budgets, a public projection to fewer dimensions helps, see `dimensions_for`.

Ordinary embeddings all point much the same way, and what tells them apart is small beside it. With a *pole*, the common
direction is taken off first: a record counts by its bearing from the pole, the unit vector along what of it is
orthogonal to the pole. The pole is a public fact or is bought with a share of the budget
(`core.releases.bounds_and_centre`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, cast

import numpy as np
import pyarrow as pa

from ..domain import Domain, Vector
from ..errors import RequestError
from ..geometry.projection import Projection, projection_from_dict, projection_kind
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import largest_rho
from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from ..runtime.parameters import Described, Number, Several, parameter
from .answers import Answers
from .ball import BLOCK, SHORTEST, UNITS, add_rows, add_vectors, records_alone, row_products
from .linear import LinearSketch, Rows, rows_of
from .mechanism_spec import MechanismSpec, PublicInputs
from .moments import CENTRE, check_centre

# Length of the mean of a class's unit vectors that is assumed where nothing is known: a class is that much of one
# direction, and otherwise scattered.
SHARED_DIRECTION = 1.0 / 3.0
LONGEST_NOISE = 0.8  # Length of Gaussian noise in a sum, a record, up to which all dimensions are kept.


@njit(nogil=True, cache=True)
def _off_pole(points, pole, first, last, out):
    """out = points - <points, pole> pole, terms in the order of the coordinates."""
    d = points.shape[0]
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        along = np.zeros(BLOCK)
        for j in range(d):
            for i in range(start, stop):
                along[i - start] += points[j, i] * pole[j]
        for j in range(d):
            for i in range(start, stop):
                out[j, i] = points[j, i] - along[i - start] * pole[j]


@dataclass(frozen=True)
class Directions(LinearSketch):
    """Sums of cosine similarities.

    RequestError when a parameter is out of range.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    centre : tuple[float, ...] | None
        A public point inside the bounds that everything is seen from; None is the middle of the bounds, which is the
        origin for embeddings between -1 and 1.
    projection : Projection | None
        A public map to fewer dimensions that comes first, or None.
    pole : tuple[float, ...] | None
        A public direction that is taken off, after the projection; scaled to length 1. None takes nothing off.
    """

    domain: Domain
    centre: tuple[float, ...] | None = parameter(CENTRE, None)
    projection: Projection | None = parameter(Described("The projection", Projection), None)
    pole: tuple[float, ...] | None = parameter(Several("The pole", Number("A coordinate of the pole"), 1), None)
    name: ClassVar[str] = "directions"
    class_count_share: ClassVar[Fraction] = Fraction(1, 100)  # classes are compared without knowing how many they are
    described: ClassVar[str] = "sketch of directions"
    class_rules: ClassVar[tuple[str, ...]] = ("direction", "likelihood", "posterior")  # type: ignore[assignment]
    metric = "l2"
    largest_entry = UNITS

    def _check(self) -> None:
        super()._check()
        check_centre(self.domain, self.metric, self.centre)
        if self.projection is not None and self.projection.source != self.domain.dimensions:
            raise RequestError(f"The projection must be one of the domain's {self.domain.dimensions:,} coordinates.")
        if self.pole is not None:
            self._settle(pole=_direction(self.pole, self.dimensions))

    @property
    def dimensions(self) -> int:
        return self.domain.dimensions if self.projection is None else self.projection.target

    @property
    def shape(self) -> tuple[int]:
        return (self.dimensions,)

    @property
    def setup_bytes(self) -> int:
        return 16 * self.domain.dimensions + (0 if self.projection is None else self.projection.setup_bytes)

    def reseeded(self, seed: int) -> Self:
        return self if self.projection is None else replace(self, projection=replace(self.projection, seed=seed))

    @cached_property
    def origin(self) -> np.ndarray:
        low, high = self.domain.bounds(self.metric)
        return (low + high) / 2.0 if self.centre is None else np.array(self.centre)

    @property
    def takes_rows(self) -> bool:  # type: ignore[override]
        """Whether records are added as they are: neither projected nor without a pole."""
        return self.projection is None and self.pole is None

    def encode(self, batch: pa.RecordBatch) -> np.ndarray | Rows:
        rows = rows_of(self.domain, batch) if self.takes_rows else None
        return super().encode(batch) if rows is None else rows

    def add_rows(self, tables: np.ndarray, rows: Rows) -> None:
        add_rows(rows, self.origin, 0.0, tables)

    def add(self, table: np.ndarray, points: np.ndarray | Rows) -> None:
        if isinstance(points, Rows):
            self.add_rows(table[None], points)
            return
        add_vectors(self.seen(points), np.zeros(self.dimensions), 0.0, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record adds whole numbers z with |z|^2 <= U^2, U = 2^30; or nothing when it lies at the centre.

        Add or remove one: L2 squared U^2, reached along a coordinate, and L1 sqrt(d) U, reached along a diagonal but
        for rounding. Replace one: |z - z'| <= 2 U, reached by opposite records.
        """
        size = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        l1 = math.isqrt(size**2 * self.dimensions * UNITS**2)
        return Sensitivity(l1, (size * UNITS) ** 2, block=self.dimensions, blocks_l2=size * UNITS)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The exact sums of cosines, as seen after projection and without the pole."""
        return np.array([(_unit(self.seen(records)) @ query).sum() for query in _unit(self.seen(queries))])

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """A query in the centre, or at the pole, has no direction, and is similar to nothing."""
        estimate = self.cosine_sums(table[None], points)[:, 0]
        error = np.sqrt(self.noise_variance(counter_variance, points))
        return Answers.of_errors(estimate, error, records, level)

    def cosine_sums(self, tables: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The sums of cosines that several tables say at encoded queries, float64 (n, tables).

        They are not finite where a query is not.
        """
        seen, origin = (points, self.origin) if self.takes_rows else (self.seen(points), np.zeros(self.dimensions))
        sums, squares = row_products(seen, origin, self.sum(tables))
        lengths = np.sqrt(squares)[:, None]
        return np.divide(sums, lengths, out=np.zeros_like(sums), where=~(lengths <= SHORTEST))

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        variance = counter_variance / UNITS**2
        return variance if points is None else np.full(len(points), variance)

    def sum(self, table: np.ndarray) -> np.ndarray:
        """The sum of the records' unit vectors, float64 of the table's shape."""
        return table.astype(np.float64) / UNITS

    def length(self, table: np.ndarray, counter_variance: float) -> float:
        """Length of that sum without the noise, which on average adds its variance in every dimension to its square.

        Never less than half the length with noise, so that where there is nothing but noise, nothing is blown up.
        """
        square = float((self.sum(table) ** 2).sum())
        return math.sqrt(max(square - self.dimensions * counter_variance / UNITS**2, square / 4.0))

    def finding_centre(self, radius: float | None) -> Self:
        return replace(self, pole=None)

    def centred_by(self, found: LinearSketch, noisy: np.ndarray) -> Self:
        return replace(self, pole=cast(Directions, found).around(noisy).pole)

    def around(self, table: np.ndarray) -> Self:
        """The same sketch with the direction of a noisy sum as its pole; itself where the sum has none."""
        total = self.sum(table)
        return self if not total.any() else replace(self, pole=tuple((total / np.linalg.norm(total)).tolist()))

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        facts = cls.read(parameters)
        if facts["projection"] is not None:
            facts["projection"] = projection_from_dict(domain.dimensions, facts["projection"])
        return cls(domain, **facts)

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Encoded points from the centre, projected, and without the pole: float64 (n, dimensions)."""
        offsets = np.asarray(points, dtype=np.float64) - self.origin
        if self.projection is not None:
            offsets = self.projection.project(offsets)
        if self.pole is None:
            return offsets
        coordinates, pole = np.ascontiguousarray(offsets.T), np.array(self.pole)
        out = np.empty_like(coordinates)

        def records(first: int, last: int) -> None:
            _off_pole(coordinates, pole, first, last, out)

        over_ranges(coordinates.shape[1], records, at_least=records_alone(len(coordinates)))
        return out.T


def dimensions_for(dimensions: int, records: float, budget: Budget, share: float = 1.0) -> int:
    """How many dimensions to project to before a release that compares the directions of several classes.

    A score is <q, S> / n for a class's sum S of n unit vectors, whose mean has a length r. A projection to k of d
    dimensions moves it by r sqrt(1/k - 1/d), and noise drawn as a vector of k coordinates by sqrt(k + 1) / (epsilon n):
    the sum of squares is least at k = r epsilon n. Gaussian noise moves a score alike for all k; but where it makes a
    sum longer than its records do, cosines shrink and the pole is lost, so that it may be 0.8 n long, sqrt(k) sigma
    (the best of 64, 128, 256 and 512 for embeddings of ten classes at four budgets). `records`: A public guess of the
    number of records of one class. `share`: of its epsilon, or of rho, that the table of classes gets.
    """
    moved = 1.0 if budget.neighbours is Neighbours.ADD_REMOVE else 2.0
    if budget.pure:
        best = SHARED_DIRECTION * share * float(budget.epsilon) * records / moved
    else:
        rho = share * largest_rho(float(budget.epsilon), float(budget.delta))
        best = 2.0 * rho * (LONGEST_NOISE * records / moved) ** 2
    return min(dimensions, max(1, round(best)))


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > SHORTEST)


def _direction(pole: tuple[float, ...], dimensions: int) -> tuple[float, ...]:
    """The pole with length 1."""
    if len(pole) != dimensions:
        raise RequestError(f"The pole must have {dimensions:,} coordinates, as many as the vectors that are summed.")
    direction = np.array(pole)
    largest = np.abs(direction).max()
    if not largest > 0.0:
        raise RequestError("The pole must be a direction, and all its coordinates are zero.")
    direction = direction / largest
    length = math.sqrt(math.fsum((direction**2).tolist()))
    # One that has length 1 but for rounding stays as it is, bit for bit, so that files can be read back.
    if abs(length * largest - 1.0) < 1e-12:
        return pole
    return tuple((direction / length).tolist())


def _made(facts: PublicInputs) -> Directions:
    if facts.project is None:
        return Directions(facts.domain)
    kind = projection_kind(facts.projection)
    return Directions(facts.domain, projection=kind(facts.domain.dimensions, facts.project, facts.seed))


def _examples() -> Iterator[Directions]:
    yield Directions(Domain.of(x=(0, 1), y=(0, 1)), pole=(1.0, 0.0))
    for kind in ("fast", "gaussian"):
        yield Directions(Domain((Vector("v", 80, 0, 1),)), projection=projection_kind(kind)(80, 4, 0))


CARD = MechanismSpec(
    "directions",
    "Sums of directions",
    "Frostglass",
    "The directions in which records lie from a centre are added up with noise.",
    sketch=Directions,
    make=_made,
    rank=10,
    answers="cosine",
    options=frozenset({"--project", "--projection", "--seed"}),
    holds=lambda sketch: f"{sketch.shape[0]:,} sums, one of every coordinate of directions",
    measure=lambda sketch: "the cosine of the angle between two records, seen from the centre",
    warm=_examples,
)
