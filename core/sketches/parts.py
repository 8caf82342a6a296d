"""Several questions, one promise: sketches of the same records, filled in one reading and released together.

A release of parts is one linear sketch. Its table is the tables of its parts, one after the other; what a record adds
is what it adds to each of them; so everything that is true of one sketch and its table (streaming, clusters,
checkpoints, merging, one entry in a ledger) is true of it without another line. Only noise knows the difference: every
part has a noise of its own, in ratios that the forecast chose (`core.releases.forecast.forecast_shares`), from one
joint calibration (`core.privacy.shared_promise`). The other way, a job that fills several tables and keeps several
promises, would have had to teach all of that about lists.

The records are the same ones: one selection of at most m rows a person is read once, before any part sees a row. Each
part then reads its own columns by the rules that all share, so a row that misses a value of one column is left out of
the parts that use it and of no others. Parts that leave out the same rows share one number of records.

Once released, a part is opened as a release of its own (`Release.parts`), and everything that can be asked of one can
be asked of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import pyarrow as pa

from ..domain import Domain
from ..domain.item_sets import Encoded, Sets
from ..errors import RequestError
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.record import MAX_TABLES
from ..runtime.counter_tables import Counters
from ..runtime.parameters import Several, parameter
from .answers import Answers
from .linear import MAX_COUNTERS, Counts, LinearSketch
from .mechanism_spec import MechanismSpec
from .part import MAX_NAME, Part, PartKind, joined, of_part, restricted, words_for
from .registry import card_of, sketch_from_parameters

MAX_PARTS = MAX_TABLES


@dataclass(frozen=True)
class Encodings:
    """A batch as every part encodes it; its length is the number of rows, of which parts may leave out some."""

    points: tuple[Any, ...]  # Of each part.
    rows: int  # Rows of the batch.

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, places: np.ndarray) -> Encodings:
        """The rows at these places, where no part leaves out any."""
        chosen = (points[places] for points in self.points)
        return Encodings(tuple(one if isinstance(one, Sets) else np.asfortranarray(one) for one in chosen), len(places))


@dataclass(frozen=True)
class Parts(LinearSketch):
    """The tables of several sketches, side by side.

    Use `Parts.of` to make one: it puts the domain together from those of the parts. RequestError when parts declare a
    column differently, protect different people, follow different rules, or share a name.

    Parameters
    ----------
    domain : Domain
        All columns that any part uses.
    members : tuple[Part, ...]
        One question each.
    """

    domain: Domain
    members: tuple[Part, ...] = parameter(Several("The parts of a release", PartKind("A part", Part), 1, MAX_PARTS))
    name: ClassVar[str] = "parts"
    described: ClassVar[str] = "release of parts"
    answers: ClassVar[str] = "several"
    # Of all numbers of records together, which every part that needs one reads.
    count_share: ClassVar[Fraction] = Fraction(1, 50)

    def _check(self) -> None:
        if not isinstance(self.domain, Domain):
            raise RequestError("A release of parts is made of a domain and its parts.")
        names = [part.name for part in self.members]
        for name in names:
            if names.count(name) > 1:
                raise RequestError(f"Two parts of the release have the name {name!r}; give one of them another.")
        if joined([part.sketch.domain for part in self.members]) != self._plain_domain:
            raise RequestError("The domain of a release of parts has the columns of its parts and no others.")

    @classmethod
    def of(cls, parts: Sequence[Part | LinearSketch]) -> Self:
        """The release of these parts; a sketch by itself is a part too. Names that nobody typed are told apart."""
        members: list[Part] = []
        for part in parts:
            one = part if isinstance(part, Part) else Part(part)
            known = [member.name for member in members]
            if one.name in known and one.name == words_for(one.sketch):
                one = replace(one, name=next(name for name in _numbered(one.name) if name not in known))
            members.append(one)
        if not members:
            raise RequestError("A release has one part or more.")
        return cls(joined([part.sketch.domain for part in members]), tuple(members))

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.members

    @cached_property
    def _sketches(self) -> tuple[LinearSketch, ...]:
        return tuple(part.sketch for part in self.members)

    @property
    def _plain_domain(self) -> Domain:
        return replace(self.domain, scale="none", category_distance=1.0)

    @property
    def metric(self) -> str:
        return self._sketches[0].metric

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(math.prod(sketch.shape) for sketch in self._sketches)

    @property
    def shape(self) -> tuple[int, ...]:
        counters = sum(self.sizes)
        if counters > MAX_COUNTERS:
            raise RequestError(
                f"The parts have {counters:,} counters together, and a release of parts may have {MAX_COUNTERS:,}."
            )
        return (counters,)

    @property
    def setup_bytes(self) -> int:
        return sum(sketch.setup_bytes for sketch in self._sketches)

    @property
    def largest_entry(self) -> int:
        return max(sketch.largest_entry for sketch in self._sketches)

    @property
    def sized(self) -> bool:
        return all(sketch.sized for sketch in self._sketches)

    @property
    def needs_records(self) -> bool:  # type: ignore[override]
        return any(sketch.needs_records for sketch in self._sketches if not sketch.sized)

    @property
    def settled(self) -> bool:
        """Whether every part has a size and its share of the budget."""
        return self.sized and all(part.noise is not None for part in self.members)

    @property
    def gaussian_only(self) -> bool:  # type: ignore[override]
        return any(sketch.gaussian_only for sketch in self._sketches)

    def check_budget(self, budget: Budget) -> None:
        for sketch in self._sketches:
            sketch.check_budget(budget)

    def reseeded(self, seed: int) -> Self:
        return self.with_sketches([sketch.reseeded(seed) for sketch in self._sketches])

    def with_sketches(self, sketches: Sequence[LinearSketch]) -> Self:
        pairs = zip(self.members, sketches, strict=True)
        return replace(self, members=tuple(replace(part, sketch=sketch) for part, sketch in pairs))

    def with_noise(self, ratios: Sequence[float]) -> Self:
        pairs = zip(self.members, ratios, strict=True)
        return replace(self, members=tuple(replace(part, noise=float(ratio)) for part, ratio in pairs))

    def within(self, domain: Domain) -> Self:
        sketches = [sketch.within(of_part(domain, sketch.domain)) for sketch in self._sketches]
        return replace(self.with_sketches(sketches), domain=domain)

    def place_of(self, name: str) -> int:
        """The place of a part; RequestError where none has this name."""
        names = [part.name for part in self.members]
        if name not in names:
            raise RequestError(f"There is no part {name!r}; the parts are {', '.join(map(repr, names))}.")
        return names.index(name)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """For every part the place of its number of records: parts that leave out the same records share one.

        Which records those are follows from the columns of a part alone, and from none where no record is left out.
        Classes are counted apart.
        """
        keys: list[object] = []
        rules = self.domain
        for place, sketch in enumerate(self._sketches):
            key: object = frozenset(sketch.domain.names), sketch.keeps_gaps and bool(sketch.domain.gaps)
            if rules.outside == "clamp" and rules.missing == "refuse":
                key = "all"
            keys.append(place if sketch.count_shape else key)
        seen = list(dict.fromkeys(keys))
        return tuple(seen.index(key) for key in keys)

    @cached_property
    def _counting(self) -> tuple[LinearSketch, ...]:
        """For every number of records the first sketch that is counted by it."""
        return tuple(self._sketches[self.counted.index(place)] for place in range(max(self.counted) + 1))

    @property
    def count_shape(self) -> tuple[int, ...]:
        return (sum(math.prod(sketch.count_shape) for sketch in self._counting),)

    def encode(self, batch: pa.RecordBatch) -> Any:
        """The batch as every part encodes it; parts that read the same columns alike share what is read."""
        known: dict[tuple[Domain, str], Encoded] = {}
        points = []
        for sketch in self._sketches:
            if type(sketch).encode is not LinearSketch.encode:
                points.append(sketch.encode(batch))
                continue
            key = (sketch.domain, sketch.metric)
            if key not in known:
                known[key] = sketch.encode(batch)
            points.append(known[key])
        return Encodings(tuple(points), batch.num_rows)

    def add(self, table: np.ndarray, points: Any) -> None:
        self.add_by([sketch.add for sketch in self._sketches], table, points)

    def add_by(self, adders: Sequence[Callable[[np.ndarray, Any], None]], table: np.ndarray, points: Encodings) -> None:
        """Add a batch by one function a part, such as that of a device."""
        for add, slab, own in zip(adders, self.split(table), points.points, strict=True):
            if len(own):
                add(slab, own)

    def count(self, points: Any) -> np.ndarray:
        counts = [
            np.ravel(sketch.count(points.points[self.counted.index(place)]))
            for place, sketch in enumerate(self._counting)
        ]
        return np.concatenate(counts).astype(np.int64)

    def split(self, table: np.ndarray) -> tuple[np.ndarray, ...]:
        ends = np.cumsum(self.sizes)[:-1]
        slabs = zip(np.split(table, ends), self._sketches, strict=True)
        return tuple(slab.reshape(sketch.shape) for slab, sketch in slabs)

    def split_count(self, count: np.ndarray) -> tuple[np.ndarray, ...]:
        ends = np.cumsum([math.prod(sketch.count_shape) for sketch in self._counting])[:-1]
        return tuple(np.split(count, ends))

    def records_in(self, counts: Counts) -> Any:
        """The most that any of the numbers says, as every part reads all records or some of them."""
        return max(int(np.sum(own)) for own in self.split_count(np.asarray(counts)))

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record moves the tables of all parts at once, side by side.

        Of vectors that lie in different coordinates the L1 norms add up, and the squared L2 norms: with at most a_i and
        b_i in part i, L1 <= Σ a_i and L2 squared <= Σ b_i, under either relation; entries are -1, 0 and 1 if they are
        so in every part. A record may be left out of some parts, which moves those by nothing when it is added, and by
        no more than an added one when it takes the place of another. With one noise for everything this would be all
        that is needed; the noise of each part is another one, so it is calibrated by `sensitivities`.

        Reached where one record reaches the bound of every part, as with one cell a row it always does.
        """
        moved = [sketch.record_sensitivity(neighbours) for sketch in self._sketches]
        return _together(moved)

    def sensitivities(self, neighbours: Neighbours) -> tuple[Sensitivity, ...]:
        """Of every part, m records a person.

        Let noise of scale s_i be added to part i, independent of that of the others. For one pair of neighbours, part i
        is moved by v_i. Its privacy loss under Laplace noise is at most ‖v_i‖₁/s_i, under noise vectors Σ ‖v_ij‖₂/s_i
        over its blocks j, and its ρ under Gaussian noise ‖v_i‖₂²/(2s_i²); with independent noise losses add up, and so
        does ρ, so the whole is bounded by the sum over parts of what each costs at its own bound. m records of a person
        move part i by at most m times as much, by the triangle inequality, all parts at once.
        """
        return tuple(sketch.sensitivity(neighbours) for sketch in self._sketches)

    def record_count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record moves every number of records at once, each as `LinearSketch.record_count_sensitivity` says."""
        return _together([sketch.record_count_sensitivity(neighbours) for sketch in self._counting])

    def count_sensitivities(self, neighbours: Neighbours) -> tuple[Sensitivity, ...]:
        pairs = zip(self._counting, self.public_counts(neighbours), strict=True)
        return tuple(sketch.count_sensitivity(neighbours) for sketch, public in pairs if not public)

    def public_counts(self, neighbours: Neighbours) -> tuple[bool, ...]:
        return tuple(sketch.count_is_public(neighbours) for sketch in self._counting)

    def count_is_public(self, neighbours: Neighbours) -> bool:
        return all(self.public_counts(neighbours))

    def exact(self, queries: Encoded, records: Encoded) -> np.ndarray:
        self._ask_a_part()

    def answer(
        self, table: Counters, records: Counts, points: Encoded, counter_variance: float, level: float
    ) -> Answers:
        self._ask_a_part()

    def noise_variance(self, counter_variance: float, points: Encoded | None = None) -> float | np.ndarray:
        self._ask_a_part()

    def _ask_a_part(self) -> NoReturn:
        names = ", ".join(repr(part.name) for part in self.members)
        raise RequestError(f"This release answers several questions, so ask one of its parts: {names}.")

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        members = []
        for facts in cls.read(parameters)["members"]:
            if facts["mechanism"] == cls.name:
                raise RequestError("The parts of a release cannot have parts themselves; put them side by side.")
            own = restricted(domain, facts["columns"], facts["scale"], facts["category_distance"])
            sketch = sketch_from_parameters(facts["mechanism"], own, facts["parameters"])
            if not isinstance(facts["name"], str) or not facts["name"] or facts["noise"] is None:
                raise RequestError("A released part must say its name and its noise.")
            members.append(Part(sketch, facts["name"], noise=facts["noise"]))
        return cls(domain, tuple(members))


def _together(moved: Sequence[Sensitivity]) -> Sensitivity:
    return Sensitivity(
        sum(one.l1 for one in moved),
        sum(one.l2_squared for one in moved),
        unit_shifts=all(one.unit_shifts for one in moved),
    )


def _numbered(name: str) -> Iterator[str]:
    return (f"{name[: MAX_NAME - 5]} ({number})" for number in range(2, MAX_PARTS + 2))


def holds(sketch: Parts) -> str:
    return "; ".join(f"{part.name}: {card_of(part.sketch).holds(part.sketch)}" for part in sketch.members)


CARD = MechanismSpec(
    "parts",
    "Several questions in one release",
    "composition of independent noise (Dwork, Roth 2014, section 3.5)",
    "Sketches of the same records are filled in one reading and share one promise.",
    sketch=Parts,
    answers="several",
    command=False,
    holds=holds,
)
