"""What every mechanism is: a public integer map of one record, summed over all records.

    records --encode--> integers --sum--> table --noise--> release --decode--> answers, for ever

A linear sketch never sees more than a batch of encoded points, never draws noise, and never knows the budget. What it
must prove is its sensitivity; streaming, threads, noise, ledger, files and intervals are written once, elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa

from ..domain import Domain
from ..domain.item_sets import Encoded
from ..errors import RequestError
from ..geometry.kernels import Bandwidth, Kernel, of_coordinates
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate, calibrate_gaussian
from ..runtime.counter_tables import Counters
from .answers import Answers, Capabilities, check_circles, check_points

MAX_COUNTERS = 1 << 28  # Of a table that is read as an array: 2 GiB in memory.


ANY_LEVEL = 0.95  # Of intervals that nobody looks at.
LONG = 64  # Coordinates from which a record is added faster by itself than beside others.
Counts = Any  # Numbers of records, of the `count_shape` of a sketch: one number, or an array of one a class.


@dataclass(frozen=True)
class Rows:
    """Encoded records, each contiguous, and the slab of a table that each goes to."""

    coordinates: np.ndarray  # float32 or float64 (n, d), C order.
    slabs: np.ndarray  # int64 (n,), all 0 where a table has one slab.

    def __len__(self) -> int:
        return len(self.slabs)


def rows_of(domain: Domain, batch: pa.RecordBatch) -> Rows | None:
    """The records of a batch as rows, where they are long enough and can be had as they lie in memory; else None."""
    if domain.dimensions < LONG:
        return None
    coordinates = domain.rows(batch)
    return None if coordinates is None else Rows(coordinates, np.zeros(len(coordinates), np.int64))


class OnePart(Protocol):
    """What is known of one of several sketches that are released together: a `core.sketches.part.Part`."""

    @property
    def sketch(self) -> LinearSketch: ...
    @property
    def name(self) -> str: ...
    @property
    def settled_noise(self) -> float: ...


@dataclass(frozen=True)
class LinearMap(Capabilities, ABC):
    """A public, data-independent map from a record to a table of integers: what every mechanism must answer.

    Subclasses of `LinearSketch` are frozen dataclasses whose fields say what they may be, by which `parameters` and
    `from_parameters` write and read them; see `core.runtime.parameters`. They name themselves, their metric and shape,
    add records, prove how far one moves the table, and answer; nothing else has to be said.

    What one record adds to the table is a function of that record and of public facts alone, bit for bit: not of its
    place in a batch, the number of threads or the records beside it. Otherwise a neighbour could move what *others*
    add, and no sensitivity would hold. (A matrix product of a whole batch breaks this: libraries round differently at
    the edges of their blocks.)
    """

    chooses: ClassVar[Literal[False]] = False
    earlier: ClassVar[Mapping[str, Any]] = {}  # Fields that files of earlier versions don't have, as they have them.

    def _check(self) -> None:
        """Refuse fields that do not go together; here, a domain and a kernel that are not of points."""
        kernel = getattr(self, "kernel", None)
        check_points(self.domain, kernel)
        check_circles(self.domain, self.name, self.takes_circles, kernel)

    @property
    @abstractmethod
    def metric(self) -> str:
        """The metric, "l1" or "l2", in which the domain encodes categories for this sketch."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the table."""

    @property
    @abstractmethod
    def setup_bytes(self) -> int:
        """Memory that the public objects take, the table apart: an upper bound from the parameters alone.

        Known before anything is drawn, so that a stranger's file can be refused first.
        """

    @abstractmethod
    def add(self, table: np.ndarray, points: Encoded) -> None:
        """Add encoded records, float64 (n, d) in Fortran order and inside the bounds, to a table made by `zeros`."""

    @abstractmethod
    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves the table, with its proof in the docstring."""

    @abstractmethod
    def exact(self, queries: Encoded, records: Encoded) -> np.ndarray:
        """The exact sums that the table estimates, float64 (n,), at encoded queries over encoded records.

        The slow and obvious reference, for tests and for trying a sketch on public points.
        """

    @abstractmethod
    def answer(
        self, table: Counters, records: Counts, points: Encoded, counter_variance: float, level: float
    ) -> Answers:
        """Estimates with intervals at encoded queries; RequestError when the level is not between 0 and 1.

        `table`: Noisy counters, an array or, for sketches so large that files keep them apart, a
        `core.runtime.counter_tables.Table`. `records`: The number of records as well as it is known; of `count_shape`.
        `points`: float64 (n, dimensions of `query_domain`). `counter_variance`: Of the noise in one counter. `level`:
        Probability with which an interval holds the exact sum.
        """

    @abstractmethod
    def noise_variance(self, counter_variance: float, points: Encoded | None = None) -> float | np.ndarray:
        """Variance that the noise alone gives an estimate, when every counter's noise has the given variance.

        At encoded queries (n, d) as float64 (n,); without them a float, the average over queries inside the bounds.
        """

    @property
    def weighed(self) -> int:
        """How many numbers an answer adds up where it weighs all there are: counters, or points that imitate them."""
        return math.prod(self.shape)

    def written(self) -> dict[str, Any]:
        """The declared fields for JSON; `earlier` ones only where they are otherwise than they were."""
        facts = super().written()
        return {name: fact for name, fact in facts.items() if name not in self.earlier or fact != self.earlier[name]}

    @classmethod
    def read(cls, value: object) -> dict[str, Any]:
        return super().read({**cls.earlier, **value} if isinstance(value, dict) else value)

    def parameters(self) -> dict[str, Any]:
        """All public parameters but the domain, for JSON; with the domain they rebuild the sketch."""
        return self.written()

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        """The sketch that `parameters` describes; RequestError on anything else."""
        return cls(domain, **cls.read(parameters))


class LinearSketch(LinearMap):
    """What a mechanism may answer otherwise than most do, each with what most answer."""

    # How large it is.

    def sized_for(self, budget: Budget, records: float) -> LinearSketch:
        """The same sketch with the size that suits the budget and a public guess of the number of records."""
        return self

    def check_budget(self, budget: Budget) -> None:
        """Refuse a promise under which the sketch's own theory gives none, before anything is read or paid.

        RequestError for example when the sketch is only private under (epsilon, delta) and delta is 0.
        """

    def reseeded(self, seed: int) -> LinearSketch:
        """The same sketch with other public random numbers, where it has any."""
        return self

    def with_rows(self, rows: int, groups: int | None = None, seed: int | None = None) -> Self:
        """The same with that many random rows; RequestError where it has none. See `core.sketches.grouped`."""
        raise RequestError(f"The mechanism {self.name!r} has no random rows.")

    def within(self, domain: Domain) -> LinearSketch:
        return replace(self, domain=domain)

    def given(self, field: str, what: str) -> Any:
        """A field that the forecast may choose; RequestError, which says what it is, before it has."""
        value = getattr(self, field)
        if value is None:
            raise RequestError(f"The {self.described} has no {what} yet; give one, or let the forecast choose it.")
        return value

    def counter_noise(self, budget: Budget) -> NoiseScale:
        """The noise of every counter where the table has all of a budget."""
        calibration = calibrate_gaussian if self.gaussian_only else calibrate
        return calibration(self.sensitivity(budget.neighbours), Fraction(budget.epsilon), Fraction(budget.delta))

    # How records are read, and how far one person moves what is released.

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """The records of a batch as `add` and `count` take them: encoded points, unless a sketch has a faster way.

        RequestError as `Domain.encode` does.
        """
        return self.domain.encode(batch, self.metric)

    def add_rows(self, tables: np.ndarray, rows: Rows) -> None:
        """Add long records as they lie in memory, each to the slab it says, where the sketch `takes_rows`."""
        raise TypeError(f"The mechanism {self.name!r} takes records by their coordinates.")

    @property
    def largest_entry(self) -> int:
        """The largest absolute integer that one record adds to a counter, so that no stream of records overflows."""
        return 1

    def zeros(self) -> np.ndarray:
        """An empty table, of `counter_type`."""
        return np.zeros(self.shape, dtype=self.counter_type)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the table: m records a person, in the same cells at worst."""
        return self.record_sensitivity(neighbours).scaled(self.domain.unit.records)

    @property
    def read_as(self) -> Domain:
        """The domain by which records are read, which says which of a person's are kept."""
        return self.domain

    def sensitivities(self, neighbours: Neighbours) -> tuple[Sensitivity, ...]:
        """How far one person moves each table that has noise of its own: one, unless there are parts."""
        return (self.sensitivity(neighbours),)

    def split(self, table: np.ndarray) -> tuple[np.ndarray, ...]:
        """The tables that have noise of their own, each in its shape and where it lies."""
        return (table,)

    # How many records there are.

    def count(self, points: Encoded) -> np.ndarray:
        """How many of the encoded records there are, int64 of `count_shape`."""
        return np.array(len(points), dtype=np.int64)

    def record_count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves `count`.

        One number counts 1 more or less under either relation, as a replaced record may be one that is left out.
        """
        return Sensitivity(1, 1, unit_shifts=True)

    def count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return self.record_count_sensitivity(neighbours).scaled(self.domain.unit.records)

    def count_sensitivities(self, neighbours: Neighbours) -> tuple[Sensitivity, ...]:
        """How far one person moves each number of records that may need noise of its own."""
        return (self.count_sensitivity(neighbours),)

    def count_is_public(self, neighbours: Neighbours) -> bool:
        """Whether `count` is the same for all neighbours: one number, records replaced and none ever left out."""
        return neighbours is Neighbours.REPLACE_ONE and self.domain.keeps_every_record and self.count_shape == ()

    def public_counts(self, neighbours: Neighbours) -> tuple[bool, ...]:
        """Whether each of the numbers of records that may go into a release is public."""
        return (self.count_is_public(neighbours),)

    def split_count(self, count: np.ndarray) -> tuple[np.ndarray, ...]:
        """Numbers of records that have noise of their own, or none, where they lie."""
        return (count,)

    def records_in(self, counts: Counts) -> Any:
        """How many records there are when `count` says so: the sum, as classes share the records among them."""
        return np.sum(counts)

    def total(self, table: Counters) -> Counts:
        """The number of records, read off a noisy table without bias; where it cannot be, a count is released apart."""
        raise RequestError(f"The number of records is not in a table of the mechanism {self.name!r}.")

    def total_variance(self, counter_variance: float) -> float:
        """Variance of `total` when every counter's noise has the given variance; infinite where there is none."""
        return math.inf

    # What else a release may be asked.

    @property
    def parts(self) -> tuple[OnePart, ...]:
        """The sketches that it is made of, where it answers several questions; see `core.sketches.parts`."""
        return ()

    @property
    def one_answer(self) -> tuple[LinearSketch, float]:
        """The sketch that one answer is read off, and the share of the records in it: itself, or that of one class."""
        return self, 1.0

    def with_one_answer(self, one: LinearSketch) -> LinearSketch:
        """The same with another sketch that answers are read off: see `one_answer`."""
        return one

    def estimates(
        self, tables: Sequence[Counters], records: Counts, points: Encoded, counter_variance: float
    ) -> Encoded:
        """What `answer` estimates from each of several tables, float64 (tables, n), for searches that need no errors.

        `tables`: each as ``table`` of `answer`, and so are the others.
        """
        return np.array([self.answer(table, records, points, counter_variance, ANY_LEVEL).estimate for table in tables])

    def smoothed(self, bandwidth: Bandwidth) -> LinearSketch:
        """The same table read through a kernel of another bandwidth; RequestError where the table is made for one."""
        if self.answers != "closeness":
            raise RequestError("Sums of distances are not smoothed, so there is no bandwidth to choose.")
        raise RequestError(
            f"The distance at which closeness fades is fixed in a release of the mechanism {self.name!r}, whose table "
            "was filled for it; a histogram is one whose distance may be chosen afterwards."
        )

    def suited(self, table: Counters, records: Counts, counter_variance: float) -> LinearSketch:
        """Read with the bandwidth that suits what was released, where readers may choose it; else as it is."""
        return self

    def crowding(
        self, table: Counters, records: float, counter_variance: float, people: np.ndarray
    ) -> tuple[float, float] | None:
        """Average closeness of two records with its standard error, as a noisy table tells it; None where it does not.

        Encoded points (n, d) that are much like the records may say which counters matter.
        """
        return None

    def drawn(
        self, table: Counters, records: Counts, counter_variance: float, n: int, random: np.random.Generator
    ) -> np.ndarray:
        """Encoded records like those that a noisy table tells of, float64 (n, dimensions); see `drawn_from`."""
        raise TypeError(f"A release of the mechanism {self.name!r} has no records of its own.")

    # What can be bought first.

    def finding_centre(self, radius: float | None) -> LinearSketch:
        """The sketch whose noisy table says around which centre this one has less noise; see `centred_by`.

        RequestError when it has no centre. `radius`: records farther than this from the middle of the bounds are moved
        towards it, where that is of use.
        """
        raise RequestError(
            f"A centre can be bought for directions and moments, and the mechanism {self.name!r} has none."
        )

    def centred_by(self, found: LinearSketch, noisy: np.ndarray) -> LinearSketch:
        """The same around the centre that a noisy table of `finding_centre` says."""
        return self


class KernelSketch(LinearSketch):
    """A sketch of sums of a kernel between encoded points, which is one of its fields."""

    kernel: Kernel

    @property
    def metric(self) -> str:
        return self.kernel.metric

    @cached_property
    def point_kernel(self) -> Kernel:
        """The kernel of encoded points, whose exact sums the table estimates."""
        return of_coordinates(self.kernel, self.domain.widths)

    def exact(self, queries: Encoded, records: Encoded) -> np.ndarray:
        return kernel_sums(self.point_kernel, queries, records)


def kernel_sums(kernel: Kernel, queries: Encoded, records: Encoded) -> np.ndarray:
    """Exact sums over records of a kernel of encoded points, float64 (n,), a few queries at a time."""
    parts = [kernel.evaluate(queries[i : i + 64], records).sum(axis=1) for i in range(0, len(queries), 64)]
    return np.concatenate([np.empty(0), *parts])


Size = TypeVar("Size")


def least_error(
    sizes: Iterable[Size], error: Callable[[Size], float], give_up: float = math.inf, enough: float = 1.0
) -> Size:
    """The first of some sizes, coarse to fine, whose expected squared error is within ``enough`` of the least.

    Finer ones are not tried once one has ``give_up`` times the least, as they only have more noise.
    """
    tried: list[tuple[float, Size]] = []
    for size in sizes:
        tried.append((error(size), size))
        if tried[-1][0] > give_up * min(value for value, _ in tried):
            break
    least = min(value for value, _ in tried)
    return next(size for value, size in tried if value <= enough * least)
