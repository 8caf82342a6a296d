"""What every mechanism is: a public integer map of one record, summed over all records.

    records --encode--> integers --sum--> table --noise--> release --decode--> answers, for ever

A linear sketch never sees more than a batch of encoded points, never draws noise, and never knows the budget. What it
must prove is its sensitivity; streaming, threads, noise, ledger, files and intervals are written once, elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from scipy.special import ndtri, stdtrit

from ..domain import Domain
from ..domain.sets import Encoded
from ..errors import RequestError
from ..geometry.kernels import Bandwidth, Jaccard, Kernel, of_straight_lines
from ..machine.tables import Counters
from ..parameters import Declared
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours, Sensitivity

if TYPE_CHECKING:
    from .distances.ball import Rows
    from .parts import Part


def check_points(domain: object, kernel: Kernel | None = None) -> None:
    """Refuse records that are sets, and the kernel of sets: whatever needs coordinates checks this when it is made.

    Raises
    ------
    RequestError
        One sentence that says what has sets.
    """
    if not isinstance(domain, Domain):
        raise RequestError("A sketch is made of a domain: what is publicly known of the columns.")
    domain.check_coordinates()
    if isinstance(kernel, Jaccard):
        raise RequestError(
            "The kernel 'jaccard' compares sets, and the columns of this domain hold none: declare a column of items."
        )


def check_circles(domain: Domain, mechanism: str, takes: bool, kernel: Kernel | None = None) -> None:
    """Refuse columns whose values lie on a circle where the mechanism, or its kernel, cannot see them so.

    Parameters
    ----------
    domain, mechanism : Domain, str
        What is declared, and the mechanism's name.
    takes : bool
        Whether the mechanism takes them: by their coordinates alone, or value by value.
    kernel : Kernel | None
        Its kernel, if any; one of the straight-line distance sees a circle in the plane.

    Raises
    ------
    RequestError
        One sentence that says what can be done instead.
    """
    if not domain.circles or (takes and (kernel is None or of_straight_lines(kernel))):
        return
    which = f"The column {domain.circles[0]!r} is a circle, where the last value is next to the first"
    if not takes or kernel is None:
        raise RequestError(
            f"{which}, and the mechanism {mechanism!r} does not bend its columns: declare it as categories, or use "
            "tables, histogram, race or features."
        )
    raise RequestError(
        f"{which}, so it needs a kernel of the straight-line distance, such as gaussian, and {kernel.name!r} is none."
    )


MAX_COUNTERS = 1 << 28
"""Of a table that is read as an array: 2 GiB in memory."""


Counts = Any
"""Numbers of records, of the `count_shape` of a sketch: one number, or an array of one a class."""


@dataclass(frozen=True)
class Answers:
    """What a release says at n queries; arrays float64 (n,).

    One table answers all queries, so their errors move together: of many releases, the interval at a query holds the
    exact sum in the stated share, but in a single release far fewer or far more of the queries may be covered. For
    intervals that hold at all queries at once, see `level_of_each`.

    Attributes
    ----------
    estimate : np.ndarray
        The sum over all records: how many records' worth of closeness there is at the query, or how far all records
        together are from it. Unbiased, so a kernel sum may fall below zero where there is little.
    low, high : np.ndarray
        An interval that holds the exact sum with the stated probability.
    density : np.ndarray
        Estimate divided by the number of records: the average closeness, between 0 and 1 but for the noise, or the
        average distance.
    standard_error : np.ndarray
        Standard deviation of the estimate, from sampling and noise together.
    degrees : float
        Degrees of freedom that the standard error has: one fewer than there are independent estimates, and infinite
        where it is known and not measured.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    density: np.ndarray
    standard_error: np.ndarray
    degrees: float

    @classmethod
    def of_groups(cls, estimates: np.ndarray, weights: np.ndarray, records: float, level: float) -> Self:
        """Answers from independent, equally distributed estimates.

        Each group of rows is unbiased and independent of the others, so the spread of their estimates measures
        sampling error and noise together, whatever the data: mean +- t * s / sqrt(G), Student's t with G - 1 degrees
        of freedom.

        Parameters
        ----------
        estimates : np.ndarray
            float64 (G, n), one estimate a group.
        weights : np.ndarray
            float64 (G,), the groups' shares of the rows, which add up to 1.
        records : float
            The number of records, for densities.
        level : float
            Probability with which the interval holds the exact kernel sum.

        Raises
        ------
        RequestError
            When the level is not strictly between 0 and 1.
        """
        check_level(level)
        degrees = len(weights) - 1
        mean = weights @ estimates
        if degrees:
            error = np.sqrt(weights @ (estimates - mean) ** 2 / degrees)
            reach = stdtrit(degrees, 0.5 + level / 2.0) * error
        else:
            error = reach = np.full(len(mean), math.inf)
        return cls(mean, mean - reach, mean + reach, mean / max(records, 1.0), error, degrees)

    @classmethod
    def of_errors(cls, estimate: np.ndarray, standard_error: np.ndarray, records: float, level: float) -> Self:
        """Answers whose standard errors are known from public facts, with normal intervals.

        Parameters
        ----------
        estimate, standard_error : np.ndarray
            float64 (n,).
        records, level : float
            As in `of_groups`.

        Raises
        ------
        RequestError
            When the level is not strictly between 0 and 1.
        """
        check_level(level)
        reach = ndtri(0.5 + level / 2.0) * standard_error
        return cls(estimate, estimate - reach, estimate + reach, estimate / max(records, 1.0), standard_error, math.inf)


def check_level(level: float) -> None:
    """RequestError unless the level of an interval lies strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")


def level_of_each(level: float, queries: int) -> float:
    """The level at which intervals of so many queries hold at all of them together with probability `level`.

    The chances of missing add up to 1 - level at most (Bonferroni), however the errors of the queries hang together,
    which needs nothing but that each interval has its own level. For errors known from public facts, intervals of a
    thousand queries become 2.1 times as long; for those measured from ten groups 3.2 times, and from four 11 times.

    Raises
    ------
    RequestError
        When the level is not strictly between 0 and 1.
    """
    check_level(level)
    return 1.0 - (1.0 - level) / max(queries, 1)


@dataclass(frozen=True)
class LinearSketch(Declared, ABC):
    """A public, data-independent map from a record to a table of integers.

    Subclasses are frozen dataclasses whose fields say what they may be, by which `parameters` and `from_parameters`
    write and read them; see `core.parameters`.

    What one record adds to the table is a function of that record and of public facts alone, bit for bit: not of its
    place in a batch, the number of threads or the records beside it. Otherwise a neighbour could move what *others*
    add, and no sensitivity would hold. (A matrix product of a whole batch breaks this: libraries round differently at
    the edges of their blocks.)
    """

    domain: Domain
    name: ClassVar[str]
    described: ClassVar[str] = "sketch"
    answers: ClassVar[str] = "closeness"
    """What is summed over the records: "closeness" to the query, or "distance" from it."""
    count_share: ClassVar[Fraction] = Fraction(1, 100)
    """Share of the budget that a count of records of its own gets, where that beats reading it off the table."""
    reads_mapped: ClassVar[bool] = False
    """Whether it answers from a `core.machine.tables.Table` as well as an array, so that large files can be mapped."""
    linear_decode: ClassVar[bool] = True
    """Whether an answer is a linear function of the table; if not, only a rehearsal can forecast it."""
    gaussian_only: ClassVar[bool] = False
    """Whether its theory is of Gaussian noise alone, which it then has even where other noise would be smaller."""
    takes_rows: ClassVar[bool] = False
    """Whether `add_rows` adds long records as they lie in memory; see `core.sketches.distances.ball.Rows`."""
    in_groups: ClassVar[bool] = False
    """Whether its answers are means over independent groups of rows: see `core.sketches.grouped`."""
    by_column: ClassVar[bool] = False
    """Whether the sums of distances along every column can be read apart."""
    has_cells: ClassVar[bool] = False
    """Whether its rows are cut into cells that its `columns` know, as RACE's are."""
    needs_records: ClassVar[bool] = True
    """Whether its size, where it is not settled, must have the number of records; if not, a rough one will do."""
    free_of_bounds: ClassVar[bool] = True
    """Whether nothing else of it follows the bounds, so that it can be made within others: see `within`."""
    has_means: ClassVar[bool] = False
    """Whether the mean of all records can be read off it, by `mean` and `sum_variance`."""
    takes_circles: ClassVar[bool] = False
    """Whether values may lie on circles, as `Cyclic` ones do: by coordinates alone, or value by value."""
    drawn_from: ClassVar[str] = "population"
    """What records that resemble the real ones are drawn from: "cells" (`cell_counts`) or "records" (`synthetic`) of
    its own, or a population that explains its answers.
    """

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

    @property
    def by_axis(self) -> bool:
        """Whether pictures, whose queries share their values along axes, are read axis by axis, and so in no time."""
        return False

    @property
    def largest_entry(self) -> int:
        """The largest absolute integer that one record adds to a counter, so that no stream of records overflows."""
        return 1

    @property
    def counter_type(self) -> np.dtype[Any]:
        """The type of the exact table's counters: int64, or int32 where a sketch can be so large that memory counts.

        A stream of records that could pass its largest number is refused.
        """
        return np.dtype(np.int64)

    @property
    def query_domain(self) -> Domain:
        """The columns that a query has: all of them, unless one only says which class a record belongs to."""
        return self.domain

    @property
    def count_shape(self) -> tuple[int, ...]:
        """Shape of the numbers of records: one number, or one a class."""
        return ()

    @property
    def sized(self) -> bool:
        """Whether the size of the table is settled; if not, the forecast settles it from public facts."""
        return True

    def sized_for(self, budget: Budget, records: float) -> LinearSketch:
        """The same sketch with the size that suits the budget and a public guess of the number of records."""
        return self

    @property
    def one_answer(self) -> tuple[LinearSketch, float]:
        """The sketch that one answer is read off, and the share of the records in it: itself, or that of one class."""
        return self, 1.0

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it tells apart, if any."""
        return ()

    @property
    def class_rules(self) -> tuple[str, ...]:
        """The rules by which classes of it may be told apart, the usual one first."""
        return ("likelihood", "posterior") if self.answers == "closeness" else ("distance",)

    @property
    def distance_norm(self) -> str:
        """What distance is summed, where distances are: "l1", "l2", "squared", "lp:P", "capped:C", "above", "below"."""
        return "l1"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The sketches that it is made of, where it answers several questions; see `core.sketches.parts`."""
        return ()

    def with_one_answer(self, one: LinearSketch) -> LinearSketch:
        """The same with another sketch that answers are read off: see `one_answer`."""
        return one

    def within(self, domain: Domain) -> LinearSketch:
        """The same for a domain with other bounds."""
        return replace(self, domain=domain)

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

    @property
    def open_bandwidth(self) -> bool:
        """Whether the table was made for readers to choose the bandwidth."""
        return False

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """Bandwidths that a release may be read with, in shares of the kernel's; just its own where it is fixed."""
        return (1.0,)

    def finding_centre(self, radius: float | None) -> LinearSketch:
        """The sketch whose noisy table says around which centre this one has less noise; see `centred_by`.

        Parameters
        ----------
        radius : float | None
            Records farther than this from the middle of the bounds are moved towards it, where that is of use.

        Raises
        ------
        RequestError
            When it has no centre.
        """
        raise RequestError(
            f"A centre can be bought for directions and moments, and the mechanism {self.name!r} has none."
        )

    def centred_by(self, found: LinearSketch, noisy: np.ndarray) -> LinearSketch:
        """The same around the centre that a noisy table of `finding_centre` says."""
        return self

    def check_budget(self, budget: Budget) -> None:
        """Refuse a promise under which the sketch's own theory gives none, before anything is read or paid.

        Raises
        ------
        RequestError
            For example when the sketch is only private under (epsilon, delta) and delta is 0.
        """

    def reseeded(self, seed: int) -> LinearSketch:
        """The same sketch with other public random numbers, where it has any."""
        return self

    def with_rows(self, rows: int, groups: int | None = None, seed: int | None = None) -> Self:
        """The same with that many random rows; RequestError where it has none. See `core.sketches.grouped`."""
        raise RequestError(f"The mechanism {self.name!r} has no random rows.")

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """The records of a batch as `add` and `count` take them: encoded points, unless a sketch has a faster way.

        Raises
        ------
        RequestError
            As `Domain.encode` does.
        """
        return self.domain.encode(batch, self.metric)

    @abstractmethod
    def add(self, table: np.ndarray, points: Encoded) -> None:
        """Add encoded records, float64 (n, d) in Fortran order and inside the bounds, to a table made by `zeros`."""

    def add_rows(self, tables: np.ndarray, rows: Rows) -> None:
        """Add long records as they lie in memory, each to the slab it says, where the sketch `takes_rows`."""
        raise TypeError(f"The mechanism {self.name!r} takes records by their coordinates.")

    def count(self, points: Encoded) -> np.ndarray:
        """How many of the encoded records there are, int64 of `count_shape`."""
        return np.array(len(points), dtype=np.int64)

    @abstractmethod
    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves the table, with its proof in the docstring."""

    def record_count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves `count`.

        One number counts 1 more or less under either relation, as a replaced record may be one that is left out.
        """
        return Sensitivity(1, 1, unit_shifts=True)

    def count_is_public(self, neighbours: Neighbours) -> bool:
        """Whether `count` is the same for all neighbours: one number, records replaced and none ever left out."""
        return neighbours is Neighbours.REPLACE_ONE and self.domain.keeps_every_record and self.count_shape == ()

    def public_counts(self, neighbours: Neighbours) -> tuple[bool, ...]:
        """Whether each of the numbers of records that may go into a release is public."""
        return (self.count_is_public(neighbours),)

    @abstractmethod
    def exact(self, queries: Encoded, records: Encoded) -> np.ndarray:
        """The exact sums that the table estimates, float64 (n,), at encoded queries over encoded records.

        The slow and obvious reference, for tests and for trying a sketch on public points.
        """

    @abstractmethod
    def answer(
        self, table: Counters, records: Counts, points: Encoded, counter_variance: float, level: float
    ) -> Answers:
        """Estimates with intervals at encoded queries.

        Parameters
        ----------
        table : np.ndarray
            Noisy counters, an array or, for sketches so large that files keep them apart, a
            `core.machine.tables.Table`.
        records : float
            The number of records as well as it is known; of `count_shape`.
        points : np.ndarray
            float64 (n, dimensions of `query_domain`).
        counter_variance : float
            Of the noise in one counter.
        level : float
            Probability with which an interval holds the exact sum.

        Raises
        ------
        RequestError
            When the level is not between 0 and 1.
        """

    @abstractmethod
    def noise_variance(self, counter_variance: float, points: Encoded | None = None) -> float | np.ndarray:
        """Variance that the noise alone gives an estimate, when every counter's noise has the given variance.

        At encoded queries (n, d) as float64 (n,); without them a float, the average over queries inside the bounds.
        """

    def total(self, table: Counters) -> Counts:
        """The number of records, read off a noisy table without bias; where it cannot be, a count is released apart."""
        raise RequestError(f"The number of records is not in a table of the mechanism {self.name!r}.")

    def total_variance(self, counter_variance: float) -> float:
        """Variance of `total` when every counter's noise has the given variance; infinite where there is none."""
        return math.inf

    @property
    def column_gains(self) -> tuple[float, ...]:
        """Of a sum of distances that tells columns apart: what the variance of a counter's noise becomes along each.

        In squared shares of the longest distance along the column; of a vector, along one of its numbers. Empty where
        columns are not told apart.
        """
        return ()

    def crowding(
        self, table: Counters, records: float, counter_variance: float, people: np.ndarray
    ) -> tuple[float, float] | None:
        """Average closeness of two records with its standard error, as a noisy table tells it; None where it does not.

        Encoded points (n, d) that are much like the records may say which counters matter.
        """
        return None

    def parameters(self) -> dict[str, Any]:
        """All public parameters but the domain, for JSON; with the domain they rebuild the sketch."""
        return self.written()

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        """The sketch that `parameters` describes; RequestError on anything else."""
        return cls(domain, **cls.read(parameters))

    def zeros(self) -> np.ndarray:
        """An empty table, of `counter_type`."""
        return np.zeros(self.shape, dtype=self.counter_type)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the table: m records a person, in the same cells at worst."""
        return self.record_sensitivity(neighbours).scaled(self.domain.unit.records)

    def count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves `count`."""
        return self.record_count_sensitivity(neighbours).scaled(self.domain.unit.records)

    def sensitivities(self, neighbours: Neighbours) -> tuple[Sensitivity, ...]:
        """How far one person moves each table that has noise of its own: one, unless there are parts."""
        return (self.sensitivity(neighbours),)

    def count_sensitivities(self, neighbours: Neighbours) -> tuple[Sensitivity, ...]:
        """How far one person moves each number of records that may need noise of its own."""
        return (self.count_sensitivity(neighbours),)

    def split(self, table: np.ndarray) -> tuple[np.ndarray, ...]:
        """The tables that have noise of their own, each in its shape and where it lies."""
        return (table,)

    def split_count(self, count: np.ndarray) -> tuple[np.ndarray, ...]:
        """Numbers of records that have noise of their own, or none, where they lie."""
        return (count,)

    def records_in(self, counts: Counts) -> Any:
        """How many records there are when `count` says so: the sum, as classes share the records among them."""
        return np.sum(counts)
