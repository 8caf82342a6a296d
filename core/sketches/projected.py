"""A kernel sketch of projected points: what costs d steps a row and record costs k steps, and one fast projection more.

Kernels of the Euclidean distance survive a random projection to k dimensions with an error that does not depend on d
(Backurs et al., ICLR 2024, Theorems 7.2 and 9.2; see `core.geometry.projection`). Every group of rows gets
a projection of its own. The groups are then independent in everything that is random, so the spread of their estimates
measures projection, sampling and noise together; rows that shared one projection would agree on its error.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, cast

import numpy as np

from ..domain import Domain, Vector
from ..errors import RequestError
from ..geometry.kernels import Angular, Kernel, Mixture, Product
from ..geometry.projection import Projection, dimensions_for, projection_from_dict, projection_kind
from ..geometry.uniforms import PublicRandom, group_sizes
from ..privacy.budget import Neighbours, Sensitivity
from ..runtime.compiled_code import njit
from ..runtime.counter_tables import Floats
from ..runtime.environment import over_ranges
from ..runtime.parameters import Described, Number, Resolved, parameter
from .grouped import GroupedSketch
from .linear import MAX_COUNTERS
from .mechanism_spec import MechanismSpec, PublicInputs, columns
from .part import InnerKind, of_inner
from .registry import card_of, sketch_from_parameters

INNER_GROUPS = 2  # Groups inside each group of rows: the fewest that a sketch has.
WORTH_PROJECTING = 64  # Dimensions from which a projection is tried.
PROJECTION_ERROR = 0.02  # Expected error that a projection may add to an average closeness.
# Projected coordinates are clamped to bounds that much wider, so that it is never for rounding that the clamp acts.
SLACK = 1.0 + 2.0**-20
# Of one core, for one coordinate of a record that is projected the fast way, as measured; the others take less.
COORDINATE_SECONDS = 6e-9
RADIUS = Number("The radius of a projected sketch", 1e-300, 1e100)
_PARTS = 35  # Label of the stream of public randomness that the groups' seeds come from.


@njit(nogil=True, cache=True)
def _clip_to_ball(points: Floats, centre: Floats, radius: float, first: int, last: int, out: Floats) -> None:
    """out = points - centre, shortened to the radius where it is longer; every record's squares are added in order."""
    d = points.shape[0]
    for start in range(first, last, 64):
        stop = min(start + 64, last)
        squares = np.zeros(64)
        for j in range(d):
            for i in range(start, stop):
                difference = points[j, i] - centre[j]
                out[j, i] = difference
                squares[i - start] += difference * difference
        for i in range(start, stop):
            length = np.sqrt(squares[i - start])
            if length > radius:
                factor = radius / length
                for j in range(d):
                    out[j, i] *= factor


@dataclass(frozen=True)
class Projected(GroupedSketch):
    """A grouped kernel sketch (RACE, random features) of projected points.

    RequestError when a parameter is out of range, or the kernel is not one of the Euclidean distance with one
    bandwidth.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, in their own d dimensions.
    inner : GroupedSketch
        The sketch of projected points; its domain must be `projected_domain`. `Projected.of` makes it.
    projection : Projection
        The kind of projection, its dimensions and seed; every group of rows has its own stream of it.
    radius : float
        Records further than this from the middle of the bounds (from the origin, for angles) are moved towards it until
        they are not; queries are left where they are. None stands for the whole box. A public fact, such as 1 for
        embeddings of length 1.
    """

    domain: Domain
    inner: GroupedSketch = parameter(InnerKind("The sketch of projected points", GroupedSketch))
    projection: Projection = parameter(Described("The projection", Projection))
    radius: Resolved[float] = parameter(RADIUS, None, settled="its radius")
    name: ClassVar[str] = "projected"
    free_of_bounds: ClassVar[bool] = False
    metric = "l2"
    kernel = of_inner("kernel")
    rows = of_inner("rows")
    groups = of_inner("groups")
    seed = of_inner("seed")
    largest_entry = of_inner("largest_entry")
    setup_seconds = of_inner("setup_seconds")
    point_kernel = of_inner("kernel")  # the truth is that of the points before the projection
    described: ClassVar[str] = "projected sketch"

    def _check(self) -> None:
        if isinstance(self.inner, Projected):
            raise RequestError("A projected sketch cannot hold another one.")
        super()._check()
        if self.projection.source != self.domain.dimensions:
            raise RequestError(
                f"The projection takes {self.projection.source:,} coordinates, and the domain has "
                f"{self.domain.dimensions:,}."
            )
        check_projectable(self.inner.kernel)
        self._settle(radius=inside(self.domain, self.inner.kernel, self.radius))
        if self.inner.domain != projected_domain(self.projection, self.radius):
            raise RequestError("The domain of the inner sketch must be that of the projected points.")
        if self.inner.sized and self.inner.rows < INNER_GROUPS * self.inner.groups:
            raise RequestError(
                f"A projected sketch needs at least {INNER_GROUPS} rows a group, and {self.inner.rows:,} rows in "
                f"{self.inner.groups} groups are fewer."
            )

    @classmethod
    def of(
        cls,
        domain: Domain,
        kernel: Kernel,
        mechanism: Callable[..., GroupedSketch],
        dimensions: int,
        *,
        kind: str = "fast",
        radius: float | None = None,
        seed: int | None = None,
        **parameters: Any,
    ) -> Self:
        """The sketch of a mechanism on points projected to so many dimensions; `parameters` are the mechanism's own."""
        projection = projection_kind(kind)(domain.dimensions, dimensions, seed)
        reach = inside(domain, kernel, None if radius is None else RADIUS.checked(radius))
        inner = mechanism(projected_domain(projection, reach), kernel, seed=projection.seed, **parameters)
        return cls(domain, inner, projection, reach)

    def with_inner(self, inner: GroupedSketch) -> Self:
        return replace(self, inner=inner)

    def with_rows(self, rows: int, groups: int | None = None, seed: int | None = None) -> Self:
        projection = self.projection if seed is None else replace(self.projection, seed=seed)
        return replace(self, inner=self.inner.with_rows(rows, groups, seed), projection=projection)

    @cached_property
    def _parts(self) -> tuple[GroupedSketch, ...]:
        """The sketch of each group of rows, with a seed of its own."""
        words = PublicRandom(self.inner.seed, _PARTS).words(self.groups, 2)
        sizes = group_sizes(self.rows, self.groups)
        return tuple(
            self.inner.with_rows(int(size), INNER_GROUPS, int(high) << 64 | int(low))
            for size, (high, low) in zip(sizes, words, strict=True)
        )

    @cached_property
    def _projections(self) -> tuple[Projection, ...]:
        return tuple(self.projection.of_stream(self.projection.stream + group) for group in range(self.groups))

    @cached_property
    def _places(self) -> tuple[tuple[slice, ...], ...]:
        """Where in the table each group's rows are: one below the other, in the corner where tables differ in width."""
        edges = np.cumsum([0] + [part.shape[0] for part in self._parts])
        return tuple(
            (slice(int(a), int(b)), *(slice(size) for size in part.shape[1:]))
            for (a, b), part in zip(pairwise(edges), self._parts, strict=True)
        )

    @property
    def shape(self) -> tuple[int, ...]:
        _ = self._chosen_rows  # refuses before they are chosen
        widest = np.max([part.shape[1:] for part in self._parts], axis=0)
        shape = (sum(part.shape[0] for part in self._parts), *(int(size) for size in widest))
        if math.prod(shape) > MAX_COUNTERS:
            raise RequestError(
                f"{' by '.join(f'{side:,}' for side in shape)} are more than {MAX_COUNTERS:,} counters, which is the "
                "most that a projected sketch may have."
            )
        return shape

    @property
    def setup_bytes(self) -> int:
        if not self.sized:
            return 0
        return sum(part.setup_bytes for part in self._parts) + len(self._parts) * self.projection.setup_bytes

    @property
    def record_seconds(self) -> float:
        """That of the inner sketch, and of a projection for each group."""
        return self.inner.record_seconds + self.inner.groups * COORDINATE_SECONDS * self.domain.dimensions

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        centred = self._clipped(points)
        low, high = self.inner.domain.columns[0].bounds(1.0)
        for part, projection, place in zip(self._parts, self._projections, self._places, strict=True):
            images = projection.project(centred)
            np.clip(images, low, high, out=images)
            block = part.zeros()
            part.add(block, images)
            table[place] += block

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record moves the rows of every group as far as one record moves the inner sketch of that group.

        The groups' rows are disjoint counters, so L1 and squared L2 sensitivities add up; what is certain for every
        point inside the inner bounds is certain for every image, as images are clamped to them.
        """
        _ = self._chosen_rows  # refuses before they are chosen
        moves = [part.record_sensitivity(neighbours) for part in self._parts]
        l1 = sum(move.l1 for move in moves)
        even = len({(move.l1 / move.parts) for move in moves}) == 1
        # Whole blocks stay whole where the groups' tables are as wide as the whole one.
        lengths = [move.blocks_l2 for move in moves if move.block == self.shape[-1] and move.blocks_l2 is not None]
        blocks = len(lengths) == len(moves)
        return Sensitivity(
            l1,
            sum(move.l2_squared for move in moves),
            parts=sum(move.parts for move in moves) if even else 1,
            unit_shifts=all(move.unit_shifts for move in moves),
            block=self.shape[-1] if blocks else None,
            blocks_l2=sum(lengths) if blocks else None,
        )

    def group_estimates(self, table: np.ndarray, records: float, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        centred = np.asarray(points, dtype=np.float64) - self._centre
        estimates = []
        for part, projection, place in zip(self._parts, self._projections, self._places, strict=True):
            block = np.ascontiguousarray(table[place])
            inside, weights = part.group_estimates(block, records, projection.project(centred))
            estimates.append(weights @ inside)
        return np.array(estimates), self._weights

    def total(self, table: np.ndarray) -> float:
        """Mean of what the groups say, weighted by their rows."""
        totals = [
            part.total(np.ascontiguousarray(table[place]))
            for part, place in zip(self._parts, self._places, strict=True)
        ]
        return float(self._weights @ totals)

    def total_variance(self, counter_variance: float) -> float:
        return float(self._weights**2 @ [part.total_variance(counter_variance) for part in self._parts])

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        if points is None:
            return float(self._weights**2 @ [part.noise_variance(counter_variance) for part in self._parts])
        centred = np.asarray(points, dtype=np.float64) - self._centre
        variances = [
            part.noise_variance(counter_variance, projection.project(centred))
            for part, projection in zip(self._parts, self._projections, strict=True)
        ]
        mixed: Floats = self._weights**2 @ variances
        return mixed

    def crowding(
        self, table: np.ndarray, records: float, counter_variance: float, people: np.ndarray
    ) -> tuple[float, float] | None:
        """Mean of what the groups say, as their projections change closeness little."""
        centred = self._clipped(people)
        low, high = self.inner.domain.columns[0].bounds(1.0)
        told = []
        for part, projection, place in zip(self._parts, self._projections, self._places, strict=True):
            images = np.asfortranarray(np.clip(projection.project(centred), low, high))
            told.append(part.crowding(np.ascontiguousarray(table[place]), records, counter_variance, images))
        means, errors = np.array([one for one in told if one is not None]).T
        return float(self._weights @ means), math.sqrt(float(self._weights**2 @ errors**2))

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        facts = cls.read(parameters)
        inner = facts["inner"]
        if inner["mechanism"] == cls.name:
            raise RequestError("A projected sketch cannot hold another one.")
        projection = projection_from_dict(domain.dimensions, facts["projection"])
        radius = RADIUS.checked(facts["radius"])
        within = projected_domain(projection, radius)
        made = sketch_from_parameters(inner["mechanism"], within, inner["parameters"])
        return cls(domain, cast(GroupedSketch, made), projection, radius)  # its declaration refuses any other sketch

    @cached_property
    def _weights(self) -> np.ndarray:
        return group_sizes(self.inner.rows, self.inner.groups) / self.inner.rows

    @cached_property
    def _centre(self) -> np.ndarray:
        return _centre(self.domain, self.inner.kernel)

    def _clipped(self, points: np.ndarray) -> np.ndarray:
        """Points relative to the centre, none further from it than the radius (but for rounding)."""
        coordinates = np.ascontiguousarray(points.T)
        out = np.empty_like(coordinates)

        def records(start: int, stop: int) -> None:
            _clip_to_ball(coordinates, self._centre, self.radius, start, stop, out)

        over_ranges(coordinates.shape[1], records, at_least=64)
        return out.T


def projected_domain(projection: Projection, radius: float) -> Domain:
    """The domain of projected records: k coordinates, between bounds that no image exceeds, as it is clamped to them.

    The clamp does nothing to an ordinary record: see `Projection.reach`.
    """
    bound = projection.reach * radius * SLACK
    return Domain((Vector("projected", projection.target, -bound, bound),))


def inside(domain: Domain, kernel: Kernel, radius: float | None) -> float:
    """The radius; that of the smallest ball around the whole box when None, or when it is larger."""
    low, high = domain.bounds()
    centre = _centre(domain, kernel)
    box = float(np.sqrt((np.maximum(np.abs(low - centre), np.abs(high - centre)) ** 2).sum()))
    return box if radius is None else min(radius, box)


def check_projectable(kernel: Kernel) -> None:
    """RequestError unless a projection keeps the kernel: a function of the Euclidean distance, or of the angle."""
    if isinstance(kernel, (Product, Mixture)):
        for part in kernel.parts:
            check_projectable(part)
    elif kernel.metric != "l2" or isinstance(getattr(kernel, "bandwidth", 1.0), tuple):
        raise RequestError(
            "A projection keeps Euclidean distances and angles only: choose a kernel of these, with one bandwidth for "
            "all columns, and let the domain scale columns whose units differ."
        )


def _centre(domain: Domain, kernel: Kernel) -> np.ndarray:
    """Where the ball lies: around the middle of the box, or around the origin, from where angles are seen."""
    low, high = domain.bounds()
    return np.zeros(len(low)) if _sees_angles(kernel) else (low + high) / 2.0


def _sees_angles(kernel: Kernel) -> bool:
    if isinstance(kernel, (Product, Mixture)):
        return any(_sees_angles(part) for part in kernel.parts)
    return isinstance(kernel, Angular)


def only_many(title: str) -> Callable[[PublicInputs], str | None]:
    """The limit of what takes part where a projection may pay."""
    refusal = f"{title} takes part from {WORTH_PROJECTING} dimensions, where a projection may pay."
    return lambda facts: refusal if facts.domain.dimensions < WORTH_PROJECTING else None


def on_fewer(facts: PublicInputs) -> PublicInputs:
    """The facts with as few dimensions as keep the error of a projection small; RequestError where all are needed."""
    dimensions = dimensions_for(PROJECTION_ERROR, facts.domain.dimensions, facts.closeness, "gaussian")
    if dimensions >= facts.domain.dimensions:
        raise RequestError(
            f"As many dimensions as there are would be needed to keep the error of a projection below "
            f"{PROJECTION_ERROR:.0%}."
        )
    return replace(facts, project=dimensions)


def enough_dimensions(sketch: Projected) -> str:
    """Why a projected sketch is the best, as a clause."""
    few = f"{sketch.projection.target:,}"
    return f"as {few} of {columns(sketch)} are enough for the kernel, and fewer take less time"


def _holds(sketch: Projected) -> str:
    projection = sketch.projection
    groups = f"{sketch.groups:,} projections to {projection.target:,} dimensions ({projection.name})"
    return f"{groups}, with {card_of(sketch.inner).holds(sketch.inner)} in all"


CARD = MechanismSpec(
    "projected",
    "Rows of projected points",
    "Backurs et al. 2024",
    "Records are projected on fewer random directions first.",
    sketch=Projected,
    command=False,
    holds=_holds,
)
