"""Releases: what a noisy table answers for ever. Nothing here knows private records."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Bandwidth
from ..privacy.record import BoughtCount, PrivacyRecord
from ..runtime.counter_tables import Counters, added, pieces, same, sum_of_slabs
from ..runtime.environment import SOFTWARE, now
from ..sketches.answers import Answers, level_of_each
from ..sketches.classes import Classes
from ..sketches.linear import Counts, LinearSketch
from ..sketches.living import Living
from ..sketches.parts import Parts
from . import file
from .comparison import Comparison
from .manifest import Averaged, Combined, Finding, Manifest
from .questions import Population, Questions


@dataclass(frozen=True, eq=False, repr=False)
class Release(Questions):
    """A noisy table with everything public that is needed to ask it anything.

    Two releases are equal when everything that a file of them would hold is.
    """

    sketch: LinearSketch  # The linear sketch: mechanism, parameters and domain.
    # The noisy counters, as released: int64, int32 where the sketch's `counter_type` is, or mapped from a file.
    counters: Counters
    # The noisy number of records released apart, one a class where the sketch has classes (int64, of its
    # `count_shape`); exact when `count_is_public`; None when read off the table.
    counted: Counts | None
    privacy: PrivacyRecord  # The promise.
    private: bool  # False for anything made with seeded noise, for teaching and tests only.
    created: str  # Time of release, ISO 8601, UTC.
    software: str  # Name and version of the program that made it.
    counted_before: BoughtCount | None = None  # The number of all records, where that was bought first.
    finding: Finding | None = None  # What was found out of the columns, likewise.
    # How several owners made it together, or of which releases of the same records it is the average, if so.
    combined: Combined | Averaged | None = None
    # Whom bands are of, where that is not the records alone: see `core.analysis.beyond_records`. No file holds it.
    population: Population | None = None
    run_of: str = ""  # The seed of the living release whose periods it adds up: noise of two such runs goes together.
    # Whether its mechanism chose something under noise and paid for it; None where none of its kind does, and in files
    # from before December 2026, which do not say.
    chose: bool | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        if (
            hash(self) != hash(other)
            or self.finding != other.finding
            or self.combined != other.combined
            or self.run_of != other.run_of
            or not same_map(self.sketch, other.sketch)
        ):
            return False
        if self.counted is None or other.counted is None:
            return self.counted is other.counted and same(self.counters, other.counters)
        return np.array_equal(self.counted, other.counted) and same(self.counters, other.counters)

    def __hash__(self) -> int:
        before = self.counted_before, None if self.finding is None else self.finding.price
        return hash((self.sketch.name, self.privacy, self.private, self.created, self.software, *before))

    def __repr__(self) -> str:
        shape = " x ".join(f"{side:,}" for side in self.sketch.shape)
        promise = f"epsilon={self.privacy.epsilon}" + ("" if self.privacy.pure else f", delta={self.privacy.delta}")
        kind = "" if self.private else ", not private"
        return f"<Release of {self.sketch.name}, {shape} counters, {promise}, made {self.created}{kind}>"

    @property
    def domain(self) -> Domain:
        """The public facts about the records."""
        return self.sketch.domain

    @property
    def count_is_public(self) -> bool:
        """Whether the number of records is a public fact: a neighbour replaces a record, and none can be left out."""
        return self.counted is not None and not self.privacy.count_noise

    @cached_property
    def counts(self) -> Counts:
        """Numbers of records as well as the release knows them, of the sketch's `count_shape`; each at least 1."""
        return np.maximum(1.0, self._own[0]) if self.sketch.count_shape else self.records

    @cached_property
    def records(self) -> float:
        """Number of all records, at least 1, as densities are divided by it; of parts that of the largest."""
        return max(part.records for part in self.parts.values()) if self.parts else max(1.0, self._everyone[0])

    @property
    def count_error(self) -> float:
        """Standard deviation of each of `counts`."""
        return self._own[1] if self.sketch.count_shape else self.records_error

    @property
    def records_error(self) -> float:
        """Standard deviation of `records`."""
        if self.parts:
            return max((part.records, part.records_error) for part in self.parts.values())[1]
        return self._everyone[1]

    @cached_property
    def _own(self) -> tuple[Counts, float]:
        """Numbers of records, and the deviation of each, by the release itself."""
        if self.counted is not None:
            return self.counted, float(self.privacy.count_variance**0.5)
        variance = self.sketch.total_variance(self.privacy.counter_variance)
        return self.sketch.total(self.counters), float(variance**0.5)

    @cached_property
    def _everyone(self) -> tuple[float, float]:
        """Number of all records and its deviation: by the release itself and by a count bought before it."""
        if self.sketch.asked_for == "periods":
            return self.run()._everyone
        shape, (counts, error) = self.sketch.count_shape, self._own
        known = float(np.sum(np.maximum(1.0, counts) if shape else counts)), error * math.prod(shape) ** 0.5
        for before in (self.found_before, self.counted_before):
            known = known if before is None else before.beside(*known)
        return known

    @property
    def records_source(self) -> str:
        """Where `records` comes from, in words."""
        if self.count_is_public:
            return "public, as the promise hides what a record says and not how many there are"
        own = "a count of its own" if self.counted is not None else "the table itself"
        bought = "found out its columns" if self.found_before else "decided its size" if self.counted_before else ""
        return f"{own} and the count that {bought}" if bought else own

    def answer(self, queries: object, level: float = 0.95, together: bool = False) -> Answers:
        """Sums over all records, with intervals and averages, at n queries in natural units; see `Answers`.

        `queries`: Array (n, columns) when all columns are numeric; otherwise a frame, Arrow table or mapping by name.
        The columns are those of the sketch's `query_domain`. `level`: Probability with which the interval holds the
        exact kernel sum. `together`: Whether it is the probability that the intervals of all n queries hold at once, as
        they are longer then.

        RequestError when a query cannot be read, or the level is not between 0 and 1.
        """
        self._check_one()
        points = self.sketch.query_domain.encode_queries(queries, self.sketch.metric)
        return self.answer_points(points, level_of_each(level, len(points)) if together else level)

    def answer_points(self, points: np.ndarray, level: float = 0.95) -> Answers:
        """The same for encoded points, float64 (n, dimensions), each interval with the level of its own."""
        self._check_one()
        found = self.sketch.answer(self.counters, self.counts, points, self.privacy.counter_variance, level)
        if self.population is None:
            return found
        return found.of_population(self.population.luck, self.records, self.population.ratio(self, points), level)

    def estimates_at(self, points: np.ndarray) -> np.ndarray:
        """The estimates of `answer_points` alone, float64 (n,): searches need no errors, which may take longest."""
        self._check_one()
        (estimates,) = self.sketch.estimates((self.counters,), self.counts, points, self.privacy.counter_variance)
        return cast(np.ndarray, estimates)

    def smoothed(self, bandwidth: Bandwidth | None = None) -> Release:
        """The same release read through a kernel of another bandwidth, at no cost: all tasks and intervals follow it.

        `bandwidth`: The distance at which closeness fades, or one a column; None is the fixed one or what suits what
        one sees.

        RequestError when the bandwidth is fixed in a release of this kind, or the grid is too coarse for it.
        """
        self._check_one()
        if bandwidth is not None:
            return replace(self, sketch=self.sketch.smoothed(bandwidth))
        return replace(self, sketch=self.sketch.suited(self.counters, self.counts, self.privacy.counter_variance))

    def _check_one(self) -> None:
        """RequestError where there are several parts, each of which is asked by itself."""
        if self.sketch.parts:
            names = ", ".join(repr(part.name) for part in self.sketch.parts)
            raise RequestError(f"This release answers several questions, so ask one of its parts: {names}.")

    def estimate(self, queries: object) -> np.ndarray:
        """Sums over all records, float64 (n,): how many records' worth of closeness there is, or how far all are."""
        return self.answer(queries).estimate

    def interval(self, queries: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends, float64 (n,) each, of intervals for the exact sums."""
        answers = self.answer(queries, level)
        return answers.low, answers.high

    def density(self, queries: object) -> np.ndarray:
        """Sums divided by the number of records, float64 (n,): average closeness, or average distance."""
        return self.answer(queries).density

    def of_class(self, which: str | int) -> Release:
        """The records of one class, as a release of their own under the same promise: every task works on it.

        `which`: The name of a class, or its place in the public list.
        """
        if not self.sketch.classes:
            raise RequestError("The release tells no classes apart: it was made without a column of classes.")
        place = cast(Classes, self.sketch).index_of(which)
        count = None if self.counted is None else int(self.counted[place])
        own = replace(self, counters=self.counters[place], counted=count, counted_before=None)
        return replace(own, sketch=self.sketch.one_answer[0], finding=self.finding and self.finding.of_some)

    @cached_property
    def parts(self) -> dict[str, Release]:
        """The parts of a release of several, by name, each as a release of its own that every task works on.

        Its promise is that of the whole file, as whoever has a part may have the others. It can be saved apart. Empty
        where the release is of one sketch.
        """
        if not self.sketch.parts:
            return {}
        sketch = cast(Parts, self.sketch)
        tables = sketch.split(np.asarray(self.counters))
        return {
            part.name: self._part(part.sketch, table, place)
            for place, (part, table) in enumerate(zip(sketch.members, tables, strict=True))
        }

    def part(self, name: str | None) -> Release:
        """One part by its name, or the release itself where it has none; None means the only one.

        Of a living release a run is named by its periods, "2024-03" or "2024-03:2024-07", and None is all until now.
        """
        if self.sketch.asked_for == "periods":
            first, _, last = (name or "").partition(":")
            return self.run(first or None, last or first or None)
        if name is None and len(self.parts) < 2:
            return next(iter(self.parts.values()), self)
        if name is None:
            self._check_one()
        if not self.parts:
            raise RequestError(f"The release answers one question, so it has no part {name!r}.")
        return self.parts[cast(Parts, self.sketch).members[cast(Parts, self.sketch).place_of(str(name))].name]

    def _part(self, one: LinearSketch, table: np.ndarray, place: int) -> Release:
        """One part; its number of records is read off its own table where that is the better one."""
        sketch, privacy = cast(Parts, self.sketch), self.privacy
        counted, public = sketch.counted[place], sketch.public_counts(privacy.neighbours)
        noisy = None if public[counted] else sum(not known for known in public[:counted])
        mine = privacy.of_table(place, noisy)
        count = sketch.split_count(np.asarray(self.counted))[counted].reshape(one.count_shape)
        bought = self.counted_before if one.domain == self.domain else None  # other columns may leave out others
        own = replace(self, sketch=one, counters=table, counted_before=bought)
        if noisy is not None and one.total_variance(mine.counter_variance) <= mine.count_variance:
            return replace(own, counted=None, privacy=replace(mine, count_noise=()))
        return replace(own, counted=count if one.count_shape else int(count), privacy=mine)

    def run(self, first: str | int | None = None, last: str | int | None = None) -> Release:
        """The records of some periods of a living release one after the other, as a release of their own.

        Its noise is stated as that of one draw with the variance that it has; the promise is that of all periods.

        `first`, `last`: Names of periods, such as "2024-03", or their numbers from 1 on; None is the first that none
        was lost after, and the last there is.
        """
        if self.sketch.asked_for != "periods":
            raise RequestError("The release tells no periods apart: it was made all at once.")
        living = cast(Living, self.sketch)
        weights, spread = living.reading(
            living.place_of(first or living.first_of_latest + 1), living.place_of(last or living.released)
        )
        counters = np.rint(np.tensordot(weights, np.asarray(self.counters), 1)).astype(np.int64)
        count = None if self.counted is None else int(np.rint(weights @ self.counted))
        privacy, seed = self.privacy.weighed(spread), str(living.parameters()["seed"])
        return replace(self, sketch=living.inner, counters=counters, counted=count, privacy=privacy, run_of=seed)

    def of_everyone(self) -> Release:
        """The records of all classes together, as a release of one population: itself where there are no classes.

        All slabs share the public random numbers of one sketch, so their sum is that sketch of all records, under the
        noise of all of them.
        """
        if not self.sketch.classes:
            return self
        classes = len(self.sketch.classes)
        noise, count_noise = self.privacy.noise * classes, self.privacy.count_noise * classes
        privacy = replace(self.privacy, noise=noise, count_noise=count_noise)
        count, (one, _) = None if self.counted is None else int(self.counted.sum()), self.sketch.one_answer
        finding, counters = self.found_before or (self.finding and self.finding.of_some), sum_of_slabs(self.counters)
        return replace(self, sketch=one, counters=counters, counted=count, privacy=privacy, finding=finding)

    @property
    def manifest(self) -> Manifest:
        """Everything public about it but its numbers."""
        before = self.counted_before, self.finding, self.combined, self.run_of, self.chose
        return Manifest(self.sketch, self.privacy, self.private, self.created, self.software, *before)

    @property
    def arrays(self) -> file.Arrays:
        """Its numbers, as a file holds them."""
        return self.counters, self.counted

    def save(self, path: str | Path, teaching: bool = False, large: int = file.LARGE) -> None:
        """Write the release to a file that is either whole or not there at all.

        `path`: Where to; an older file of that name is replaced in one step. `teaching`: Must be True for a release
        made with seeded noise, which protects nobody. The file says so. `large`: Counters; a table that has more is
        written to be mapped.

        RequestError when it is not private and not meant for teaching, or cannot be written.
        """
        file.save(path, self.manifest, self.arrays, teaching, large)

    def write_to(self, opened: BinaryIO, teaching: bool = False) -> None:
        """Write the contents of the file that `save` writes to one that is open; OSError when that fails."""
        file.writer(self.manifest, self.arrays, teaching, file.LARGE)(opened)

    def to_bytes(self, teaching: bool = False, large: int = file.LARGE) -> bytes:
        """The contents of the file that `save` writes; the same release gives the same bytes."""
        return file.to_bytes(self.manifest, self.arrays, teaching, large)

    def compare(self, other: Release, shares: bool = True) -> Comparison[Release]:
        """What this release and another one of the same question differ by, this one less the other.

        `other`: Of the same columns, and of the same kernel, distance or tables. `shares`: Whether numbers of records
        are compared as shares of all records, and distances as averages.

        RequestError when the two cannot be compared, in a sentence that says what differs.
        """
        return Comparison(self, other, shares)

    def merged(self, other: Release) -> Release:
        """The release of both tables added: the same promise and public parameters, seed included, are needed."""
        if not same_map(self.sketch, other.sketch):
            raise RequestError(
                "Two releases can be merged only when mechanism, domain and all public parameters, hash seed included, "
                "are the same (kernel, rows, width and so on); make the second one with the first one's."
            )
        if same(self.counters, other.counters):
            raise RequestError(
                "These are the same release: added to itself it would count everyone twice, noise included, and its "
                "intervals would be too short."
            )
        privacy = self.privacy.merged(other.privacy)
        if (self.counted is None) != (other.counted is None):
            raise RequestError("Two releases can be merged only when both or neither have a count of records.")
        counts = None if self.counted is None or other.counted is None else self.counted + other.counted
        table = added(self.counters, other.counters)
        before = self.counted_before and other.counted_before and self.counted_before.plus(other.counted_before)
        chose = self.chose or (other.chose if other.chose or self.chose is False else None)
        private = self.private and other.private
        return Release(self.sketch, table, counts, privacy, private, now(), SOFTWARE, before, chose=chose)


def load(source: str | Path | bytes | BinaryIO, memory: int = file.MEMORY, verify: bool = False) -> Release:
    """Open a release file; a stranger's is safe to open.

    `source`: Path, from which a large release is mapped, contents, or a binary file that can seek. `memory`: Bytes that
    opening it may take; a larger release needs more. What is mapped takes none. `verify`: Whether to read a mapped
    table to its end and compare its checksum. Everything else is compared anyway.

    ReleaseFileError when the contents are not a release that this version knows, contradict each other, or need too
    much memory. RequestError when there is no such file, or it cannot be read.
    """
    made, (table, count) = file.read(source, memory, verify)
    origin = made.private, made.created, made.software
    before = made.counted_before, made.finding, made.combined
    return Release(made.sketch, table, count, made.privacy, *origin, *before, run_of=made.run_of, chose=made.chose)


def same_map(one: LinearSketch, other: LinearSketch) -> bool:
    """Whether two sketches are the same function of records: mechanism, domain and all parameters, seeds included."""
    facts = [(type(sketch), sketch.domain, sketch.parameters()) for sketch in (one, other)]
    return facts[0] == facts[1]


def digest_of(release: Release) -> str:
    """SHA-256 of the noisy numbers of a release, which tells it from every other."""
    digest = sha256()
    counted = () if release.counted is None else (np.asarray(release.counted, np.int64).reshape(-1),)
    for piece in (*pieces(release.counters), *counted):
        digest.update(np.ascontiguousarray(piece, "<i8").tobytes())
    return digest.hexdigest()
