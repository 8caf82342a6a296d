"""Sums of Euclidean distances, read off distance sums along random directions.

For a direction t that is uniform on the sphere, E |<t, z>| = a_d ||z||, a_d = Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)):
the Gaussian form of it is Theorem 6.1 of "Efficiently Computing Similarities to Private Datasets" (Backurs et al., ICLR
2024). Along a direction a distance is one of a single coordinate, and sums of these are what
`core.sketches.distance` answers. Beyond the paper:

* Unit vectors instead of Gaussian ones: no length varies.
* Directions come in independent groups, orthogonal inside a group (evenly spread angles in two and three dimensions).
  Where a group spans the space, the mean over its directions varies three times less than over independent ones, or
  less still (relative error of 32 directions: 4 to 8% in 3 to 512 dimensions, 0.4% in two). The spread of the groups'
  answers is an honest measure of that error and of the noise together.
* Under (epsilon, delta) the noise of the mean over directions does not depend on how many there are, so there are many;
  under pure epsilon it grows with their square root, and the forecast trades it against the projection's error.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.special import gammaln, ndtri

from ..domain import Domain, Vector
from ..errors import RequestError
from ..geometry.hash_cells import GRID
from ..geometry.projection import MAX_ENTRIES
from ..geometry.uniforms import directions, grouped_uniforms, uniforms_for_direction
from ..privacy.budget import Budget, Neighbours, Sensitivity, decimal_below
from ..runtime.inner_products import images
from ..runtime.parameters import Resolved, Seed, Whole, check_integer, exact_fields, parameter
from .answers import Answers
from .ball import SHORTEST
from .distance import Distance
from .linear import LinearSketch, least_error
from .mechanism_spec import MechanismSpec, only_where, sides
from .moments import RADIUS, inside
from .part import InnerKind

_DIRECTIONS = 36  # Label of the stream of public randomness.
MAX_GROUPS = 64
DIRECTIONS_OFFERED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)  # Of a group.
# Standard deviations of a direction's coordinate beyond which a record is moved to the border: one in 16,000 is.
TAIL = 4.0
ORDINARY = 1.0 / 6.0  # Standard deviation of ordinary records along a coordinate, in shares of its bounds.
# Relative error of k directions times sqrt(k), as measured on six data sets of 2 to 512 dimensions: for directions that
# do not span the space, and for groups that do.
SPREAD, SPREAD_OF_BASES = 0.4, 0.1


@dataclass(frozen=True)
class ProjectedDistance(LinearSketch):
    """Sums of Euclidean distances.

    RequestError when a parameter is out of range.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, of two encoded coordinates or more.
    radius : float
        A record further than this from the middle of the bounds counts as one at this distance. A public fact; None, or
        more than the furthest corner's distance, moves nobody. In encoded coordinates.
    inner : Distance | None
        The distance sum along the directions of a group, one a coordinate; None leaves it to `sized_for`.
    groups : int | None
        Independent groups of directions; None until sized.
    seed : int
        Public seed of the directions; fresh when None. Sketches can be merged only when they share it.
    """

    domain: Domain
    radius: Resolved[float] = parameter(RADIUS, None, settled="its radius")
    inner: Resolved[Distance] = parameter(
        InnerKind("The sketch inside projected distances", Distance), None, settled="its distance sum"
    )
    groups: Resolved[int] = parameter(
        Whole("The number of groups of directions", 2, MAX_GROUPS), None, settled="its groups of directions"
    )
    seed: Resolved[int] = parameter(Seed("The seed of projected distances"), None)
    name: ClassVar[str] = "projected-distance"
    described: ClassVar[str] = "projected distance"
    answers: ClassVar[str] = "distance"
    free_of_bounds: ClassVar[bool] = False
    distance_norm: ClassVar[str] = "l2"  # type: ignore[assignment]
    metric = "l2"

    def _check(self) -> None:
        super()._check()
        if self.domain.dimensions < 2:
            raise RequestError(
                "Projected distances need a domain of two coordinates or more; one has a distance sum of its own."
            )
        low, high = self.domain.bounds(self.metric)
        with np.errstate(over="ignore"):  # an infinite distance is refused
            corner = float(np.linalg.norm((high - low) / 2.0))
        self._settle(radius=inside(self.radius, corner))
        if (self.inner is None) != (self.groups is None):
            raise RequestError("Projected distances have an inner distance sum and groups, or neither of them.")
        if self.inner is not None:
            self._check_inner()

    def _check_inner(self) -> None:
        if not isinstance(self.inner, Distance) or not self.inner.sized or self.inner.profile.notation != "l1":
            raise RequestError("Projected distances are read off a distance sum in L1 of a settled size.")
        if self.inner.domain != self._line(self.inner.domain.dimensions):
            raise RequestError("The domain of the inner distance sum must be that of the projected points.")
        if self.groups * self.inner.domain.dimensions * self.domain.dimensions > MAX_ENTRIES:
            raise RequestError(f"The directions have more than {MAX_ENTRIES:,} entries, the most that is kept.")

    def _line(self, count: int) -> Domain:
        """The domain of a group's projected points: that many coordinates, between bounds that hold nearly all."""
        bound = self.radius * min(1.0, TAIL / math.sqrt(self.domain.dimensions))
        return Domain((Vector("projected", count, -bound, bound),))

    @property
    def shape(self) -> tuple[int, ...]:
        inner = self._settled
        return (self.groups, *inner.shape)

    @property
    def setup_bytes(self) -> int:
        if self.inner is None:
            return 0
        return self.inner.setup_bytes + 4 * 8 * self.groups * self.inner.domain.dimensions * self.domain.dimensions

    @property
    def largest_entry(self) -> int:
        return self._settled.largest_entry

    def reseeded(self, seed: int) -> Self:
        return replace(self, seed=seed)

    def with_directions(self, count: int, groups: int, budget: Budget, records: float) -> Self:
        """The same sketch with groups of that many directions, and the inner grid that suits a group's share."""
        share = Fraction(budget.epsilon) / (groups if budget.pure else 1)
        inner = Distance(self._line(count)).sized_for(replace(budget, epsilon=decimal_below(share)), records)
        return replace(self, inner=inner, groups=groups)

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the number of directions of the least forecast error, from public facts alone.

        Fewer groups where every direction costs noise, more where none does; both where the noise may be of either
        kind, as it may under (epsilon, delta).
        """
        if self.sized:
            return self
        promises = (budget,) if budget.pure else (budget, Budget(budget.epsilon, 0, budget.neighbours))

        def error(sketch: Self) -> float:
            missed = records * math.hypot(sketch.rounding, sketch.spread)
            return float(sketch.noise_variance(sketch.counter_noise(budget).variance)) + missed**2

        offered = {count for count in (*DIRECTIONS_OFFERED, self.domain.dimensions) if count <= DIRECTIONS_OFFERED[-1]}
        sketches = [
            self.with_directions(count, 4 if one.pure else 8, one, records)
            for count in sorted(offered)
            for one in promises
        ]
        # The curve is flat near its least: take the fewest directions that come within two per cent of it.
        return least_error(sketches, error, enough=1.04)

    @property
    def spread(self) -> float:
        """Root mean square that the choice of directions moves an average distance by, as a forecast."""
        count = self._settled.domain.dimensions
        law = SPREAD_OF_BASES if count >= self.domain.dimensions else SPREAD
        return law / math.sqrt(self.groups * count) * self._typical

    @property
    def rounding(self) -> float:
        """Root mean square of what the inner grid misses of a distance, for records that all lie at one place.

        A query beside that place is off by the same along every direction, so directions do not average it away. And
        queries are beside records more often than evenly spread ones: along a direction, where both have a standard
        deviation s, the density of their difference is 1 / (2 sqrt(pi) s) at zero, and 1 over the range for even ones.
        """
        inner = self._settled
        low, high = inner.domain.bounds(inner.metric)
        closer = max(1.0, float(high[0] - low[0]) / (2.0 * math.sqrt(math.pi) * self._deviation))
        return self._factor * math.sqrt(inner.domain.dimensions * inner.rounding * closer)

    @property
    def _deviation(self) -> float:
        """Standard deviation of ordinary records along a direction: a sixth of the bounds, within the radius."""
        low, high = self.domain.bounds(self.metric)
        spread = float(np.sqrt(((high - low) ** 2).mean())) * ORDINARY
        return min(spread, self.radius / math.sqrt(self.domain.dimensions))

    @property
    def _typical(self) -> float:
        """Root mean square distance of two points spread evenly over the bounds, and no more than the radius."""
        low, high = self.domain.bounds(self.metric)
        return min(self.radius, float(np.sqrt(((high - low) ** 2).sum() / 6.0)))

    @property
    def _settled(self) -> Distance:
        if self.inner is None:
            raise RequestError("The projected distances have no size yet; let `sized_for` choose it.")
        return self.inner

    @property
    def _factor(self) -> float:
        """A group's sum of distances along m directions, times this, is a distance on average: 1 / (m a_d)."""
        d = self.domain.dimensions
        shrinking = math.exp(gammaln(d / 2.0) - gammaln((d + 1.0) / 2.0)) / math.sqrt(math.pi)
        return 1.0 / (self._settled.domain.dimensions * shrinking)

    @cached_property
    def directions(self) -> np.ndarray:
        """Unit vectors, float64 (groups, m, d), rounded so that the last bits of libraries do not matter."""
        d, count = self.domain.dimensions, self._settled.domain.dimensions
        angles = uniforms_for_direction(d)
        rows = self.groups * count
        uniforms = (
            grouped_uniforms(rows, self.groups, angles, self.seed, _DIRECTIONS) if angles else np.empty((rows, 0))
        )
        vectors = directions(uniforms, d, self.groups, self.seed, _DIRECTIONS)
        return np.ascontiguousarray(np.round(vectors * GRID) / GRID).reshape(self.groups, count, d)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        inner = self._settled
        low, high = inner.domain.bounds(inner.metric)
        coordinates = self._within_radius(points)
        for slab, matrix in zip(table, self.directions, strict=True):
            projected = images(matrix, coordinates)
            np.clip(projected, low, high, out=projected)
            inner.add(slab, projected)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record moves the slab of every group as it moves the inner sketch, at most, and slabs are disjoint.

        L1 and squared L2 norms add up. Every projected record lies inside the inner bounds, as it is moved to them.
        """
        inner = self._settled.record_sensitivity(neighbours)
        return Sensitivity(self.groups * inner.l1, self.groups * inner.l2_squared)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The exact sums over records that are no further from the middle of the bounds than the radius."""
        within = self._within_radius(records).T
        centred = np.asarray(queries, dtype=np.float64) - self._middle
        return np.array([np.sqrt(((within - query) ** 2).sum(axis=1)).sum() for query in centred])

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Intervals from the groups' spread, and wider by what all groups may miss alike.

        The grid misses a record at the query's own place by the same along every direction. How many lie there in a
        heap the table tells, averaged over all directions; records that lie beside the query along one of them alone
        are missed one way along some and the other way along others, which the spread of the groups shows.
        """
        slabs = zip(table, self._projected(points), strict=True)
        read = [self._settled.read_at(slab, projected) for slab, projected in slabs]
        estimates = self._factor * np.array([one.estimates for one in read])
        spread = Answers.of_groups(estimates, np.full(self.groups, 1.0 / self.groups), records, level)
        missed = self._factor * np.maximum(np.mean([one.heaped for one in read], axis=0), 0.0)
        reach = np.hypot(spread.high - spread.estimate, ndtri(0.5 + level / 2.0) * missed)
        return replace(
            spread,
            low=spread.estimate - reach,
            high=spread.estimate + reach,
            standard_error=np.hypot(spread.standard_error, missed),
        )

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        scale = self._factor**2 / self.groups**2
        if points is None:
            return scale * self.groups * float(self._settled.noise_variance(counter_variance))
        return scale * sum(
            self._settled.noise_variance(counter_variance, projected) for projected in self._projected(points)
        )

    def total(self, table: np.ndarray) -> float:
        return float(np.mean([self._settled.total(slab) for slab in table]))

    def total_variance(self, counter_variance: float) -> float:
        return self._settled.total_variance(counter_variance) / self.groups

    def parameters(self) -> dict:
        directions = self._settled.domain.dimensions
        facts = super().parameters()
        seed = facts.pop("seed")
        return facts | {"directions": directions, "seed": seed}

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        described = exact_fields(parameters, cls.described, ("radius", "inner", "groups", "directions", "seed"))
        count = check_integer(described.pop("directions"), "The number of directions", 1, MAX_ENTRIES)
        facts = cls.read(described)
        inner = facts.pop("inner")
        if inner["mechanism"] != Distance.name:
            raise RequestError("A released projected distance must hold a distance sum.")
        empty = cls(domain, facts["radius"], seed=facts["seed"])
        made = Distance.from_parameters(empty._line(count), inner["parameters"])
        return replace(empty, inner=made, groups=facts["groups"])

    @cached_property
    def _middle(self) -> np.ndarray:
        low, high = self.domain.bounds(self.metric)
        return (low + high) / 2.0

    def _within_radius(self, points: np.ndarray) -> np.ndarray:
        """Offsets from the middle, shortened to the radius: float64 (d, n) in C order, a record by itself."""
        offsets = np.ascontiguousarray((np.asarray(points, dtype=np.float64) - self._middle).T)
        lengths = np.zeros(offsets.shape[1])
        for row in offsets:  # in the order of the coordinates, whatever stands beside a record
            lengths += row * row
        np.sqrt(lengths, out=lengths)
        offsets *= np.where(lengths > self.radius, self.radius / np.maximum(lengths, SHORTEST), 1.0)
        return offsets

    def _projected(self, points: np.ndarray) -> list[np.ndarray]:
        coordinates = np.ascontiguousarray((np.asarray(points, dtype=np.float64) - self._middle).T)
        return [images(matrix, coordinates) for matrix in self.directions]


CARD = MechanismSpec(
    "projected-distance",
    "Distances along random directions",
    "Frostglass",
    "A straight line is an average over random directions, along each of which distances are easy.",
    sketch=ProjectedDistance,
    make=lambda facts: ProjectedDistance(facts.domain, facts.radius, seed=facts.seed),
    rank=9,
    answers="distance",
    command=False,
    recommended=True,
    example={"bounds": ["x=0:1", "y=0:1"]},
    called="distances along random directions",
    several=True,
    plainly="Counts along random directions (projected distance sums)",
    limit=only_where(
        "Distances along random directions", lambda facts: facts.norm == "l2" and facts.domain.dimensions > 1
    ),
    because=lambda sketch: f"as straight lines are averages over directions, of which it takes {sketch.shape[0]:,}",
    holds=lambda sketch: f"{sides(sketch.shape)} counters along random directions",
    measure=lambda sketch: "straight-line distance",
    warm=lambda: (ProjectedDistance(Domain((Vector("v", 80, 0, 1),)), seed=0),),
)
