"""What a mechanism can do and may be asked, before any record is read, and what a release of it answers, with
intervals.

It says which columns it takes, too: those with coordinates, and circles only where it sees that their ends meet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtri, stdtrit

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Jaccard, Kernel, of_straight_lines
from ..runtime.parameters import Validated, declared


@dataclass(frozen=True)
class Answers:
    """What a release says at n queries; arrays float64 (n,).

    One table answers all queries, so their errors move together: of many releases, the interval at a query holds the
    exact sum in the stated share, but in a single release far fewer or far more of the queries may be covered. For
    intervals that hold at all queries at once, see `level_of_each`.
    """

    # The sum over all records: how many records' worth of closeness there is at the query, or how far all records
    # together are from it. Unbiased, so a kernel sum may fall below zero where there is little.
    estimate: np.ndarray
    # An interval that holds the exact sum with the stated probability.
    low: np.ndarray
    high: np.ndarray
    # Estimate divided by the number of records: the average closeness, between 0 and 1 but for the noise, or the
    # average distance.
    density: np.ndarray
    standard_error: np.ndarray  # Standard deviation of the estimate, from sampling and noise together.
    # Degrees of freedom that the standard error has: one fewer than there are independent estimates, and infinite where
    # it is known and not measured.
    degrees: float

    @classmethod
    def of_groups(cls, estimates: np.ndarray, weights: np.ndarray, records: float, level: float) -> Self:
        """Answers from independent, equally distributed estimates.

        Each group of rows is unbiased and independent of the others, so the spread of their estimates measures sampling
        error and noise together, whatever the data: mean +- t * s / sqrt(G), Student's t with G - 1 degrees of freedom.
        RequestError when the level is not strictly between 0 and 1. `estimates`: float64 (G, n), one estimate a group.
        `weights`: float64 (G,), the groups' shares of the rows, which add up to 1. `records`: the number of records,
        for densities. `level`: probability with which the interval holds the exact kernel sum.
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

        RequestError when the level is not strictly between 0 and 1. `estimate`, `standard_error`: float64 (n,).
        `records`, `level`: as in `of_groups`.
        """
        check_level(level)
        reach = ndtri(0.5 + level / 2.0) * standard_error
        return cls(estimate, estimate - reach, estimate + reach, estimate / max(records, 1.0), standard_error, math.inf)

    @classmethod
    def unknown(cls, estimate: np.ndarray, records: float, level: float) -> Self:
        """Answers of which nobody knows how far they are off; RequestError where the level is none."""
        check_level(level)
        far = np.full(len(estimate), math.inf)
        return cls(estimate, -far, far, estimate / max(float(records), 1.0), far, math.inf)

    def reaching(self, off: float | np.ndarray) -> Self:
        """The same with intervals that reach further by so much on either side."""
        return replace(self, low=self.low - off, high=self.high + off)

    def of_population(self, luck: SamplingLuck, records: float, ratio: float | np.ndarray, level: float) -> Answers:
        """The same answers for the population that the records were drawn from, with longer bands of the same level."""
        low, high = luck.ends(self.estimate, self.high - self.estimate, level, max(records, 1.0), ratio)
        further = luck.variance(ratio * self.estimate, self.estimate, max(records, 1.0))
        return replace(self, low=low, high=high, standard_error=np.sqrt(self.standard_error**2 + further))


@dataclass(frozen=True)
class SamplingLuck:
    """What an answer says beyond the records, of the population that they were drawn from at random.

    A sum over n records of values between 0 and 1 has expectation T over all draws of n records. Where the mean square
    of a value is r times its mean, a draw moves the sum with variance v(T) = d (r T - T^2 / n); for a count, whose
    values are 0 and 1, r = 1. Persons are drawn, and not rows: where one has up to m rows, of correlation c, d is
    1 + (m - 1) c (Kish 1965), and m at most.

    Noise and luck are independent. All T are in the band that are not told from the answer x by both together,
    (x - T)^2 <= reach^2 + z^2 v(T), as Wilson's interval has it (1927): it is not narrower where by luck nobody was
    drawn. Below 0 and above r n, where no expectation is, the band ends where noise has it.
    """

    design: float = 1.0  # d.

    def variance(self, squares: np.ndarray, sums: np.ndarray, records: float | np.ndarray) -> np.ndarray:
        """Of sums of values over n records, by sums of their squares: d (squares - sums^2 / n)."""
        return np.asarray(self.design * np.maximum(squares - sums**2 / records, 0.0))

    def ends(
        self,
        estimate: np.ndarray,
        reach: np.ndarray,
        level: float,
        records: float | np.ndarray,
        ratio: float | np.ndarray = 1.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the band.

        `estimate`, `reach`: The answer, and how far a band of this level for noise alone reaches to either side.
        `level`, `records`, `ratio`: Of the band; n; and r.
        """
        squared = ndtri(0.5 + level / 2.0) ** 2 * self.design
        leading, middle = 1.0 + squared / records, 2.0 * estimate + squared * ratio
        root = np.sqrt(np.maximum(middle**2 - 4.0 * leading * (estimate**2 - reach**2), 0.0))
        low, high = (middle - root) / (2.0 * leading), (middle + root) / (2.0 * leading)
        most = np.multiply(ratio, records)
        inside = [(0.0 < end) & (end < most) for end in (low, high)]
        return np.where(inside[0], low, estimate - reach), np.where(inside[1], high, estimate + reach)

    def reach(self, noise: np.ndarray, luck: np.ndarray, level: float) -> np.ndarray:
        """How far a band reaches, by the reach of noise alone and the variance of luck."""
        return np.asarray(np.sqrt(noise**2 + ndtri(0.5 + level / 2.0) ** 2 * luck))


def check_level(level: float) -> None:
    """RequestError unless the level of an interval lies strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")


def level_of_each(level: float, queries: int) -> float:
    """The level at which intervals of so many queries hold at all of them together with probability `level`.

    The chances of missing add up to 1 - level at most (Bonferroni), however the errors of the queries hang together,
    which needs nothing but that each interval has its own level. For errors known from public facts, intervals of a
    thousand queries become 2.1 times as long; for those measured from ten groups 3.2 times, and from four 11 times.
    RequestError when the level is not strictly between 0 and 1.
    """
    check_level(level)
    return 1.0 - (1.0 - level) / max(queries, 1)


@dataclass(frozen=True)
class Capabilities(Validated):
    """The facts that engine, forecast, tasks and pages choose by; each with what most mechanisms say."""

    domain: Domain
    name: ClassVar[str]
    described: ClassVar[str] = "sketch"

    # What it answers, and what it is asked for.

    # What is summed over the records: "closeness" to the query, or "distance" from it.
    answers: ClassVar[str] = "closeness"
    # What a release is asked for: answers at "places"; "tables", counts and means by the names of columns (`reading`);
    # or "products", how columns follow from each other (`matrix`).
    asked_for: ClassVar[str] = "places"
    by_column: ClassVar[bool] = False  # Whether the sums of distances along every column can be read apart.
    # Whether the mean of all records can be read off it, by `mean` and `sum_variance`.
    has_means: ClassVar[bool] = False
    # Whether an answer is a linear function of the table; if not, only a rehearsal can forecast it.
    linear_decode: ClassVar[bool] = True
    # Whether `sized_for` weighs under a delta what the noise of a pure promise would do as well.
    weighs_pure: ClassVar[bool] = False
    # What records that resemble the real ones are drawn from: "cells" or "records" of its own (`drawn`), "tables", or a
    # "population" that explains its answers.
    drawn_from: ClassVar[str] = "population"

    @property
    def distance_norm(self) -> str:
        """What distance is summed, where distances are: "l1", "l2", "squared", "lp:P", "capped:C", "above", "below"."""
        return "l1"

    @property
    def column_gains(self) -> tuple[float, ...]:
        """Of a sum of distances that tells columns apart: what the variance of a counter's noise becomes along each.

        In squared shares of the longest distance along the column; of a vector, along one of its numbers. Empty where
        columns are not told apart.
        """
        return ()

    @property
    def query_domain(self) -> Domain:
        """The columns that a query has: all of them, unless one only says which class a record belongs to."""
        return self.domain

    # What its table is, and who fills and reads it.

    # Whether `add_rows` adds long records as they lie in memory; see `core.sketches.linear.Rows`.
    takes_rows: ClassVar[bool] = False
    # Whether it reads a `core.runtime.counter_tables.Table` as well as an array, so large files can be mapped.
    reads_mapped: ClassVar[bool] = False
    # Whether its table counts on a grid that is read axis by axis (`axes`, `smoothing`), so that records inside a
    # stretch or a box can be counted, and a page can draw it by itself.
    on_grid: ClassVar[bool] = False
    # Whether its answers are means over independent groups of rows: see `core.sketches.grouped`.
    in_groups: ClassVar[bool] = False
    has_cells: ClassVar[bool] = False  # Whether its rows are cut into cells that its `columns` know, as RACE's are.

    @property
    def device_loop(self) -> str:
        """Which loop of `core.releases.engine.device` adds its records: "cells", "waves", "sets", or "" for none."""
        return ""

    @property
    def by_axis(self) -> bool:
        """Whether pictures, whose queries share their values along axes, are read axis by axis, and so in no time."""
        return False

    @property
    def counter_type(self) -> np.dtype[Any]:
        """The type of the exact table's counters: int64, or int32 where a sketch can be so large that memory counts.

        A stream of records that could pass its largest number is refused.
        """
        return np.dtype(np.int64)

    # Which columns it takes.

    # Whether values may lie on circles, as `Cyclic` ones do: by coordinates alone, or value by value.
    takes_circles: ClassVar[bool] = False
    # Whether records without a number have a cell, where their column has a category for them; else they follow the
    # domain's rule for missing values, as if there were none.
    keeps_gaps: ClassVar[bool] = False

    # What is settled before records are read: its size, bounds and noise.

    # Whether its size, where it is not settled, must have the number of records; if not, a rough one will do.
    needs_records: ClassVar[bool] = True
    # Whether nothing else of it follows the bounds, so that it can be made within others: see `within`.
    free_of_bounds: ClassVar[bool] = True
    # Whether its theory is of Gaussian noise alone, which it then has even where other noise would be smaller.
    gaussian_only: ClassVar[bool] = False
    # Share of the budget that a count of records of its own gets, where that beats reading it off the table.
    count_share: ClassVar[Fraction] = Fraction(1, 100)
    # The same of the counts of classes: more, as they are smaller than everyone and are compared by averages.
    class_count_share: ClassVar[Fraction] = Fraction(1, 25)

    @property
    def sized(self) -> bool:
        """Whether everything that a release must say is settled; if not, the forecast settles it from public facts."""
        return all(getattr(self, one.name) is not None for one in declared(type(self)) if one.metadata["settled"])

    # Bandwidths that readers may choose.

    @property
    def open_bandwidth(self) -> bool:
        """Whether the table was made for readers to choose the bandwidth."""
        return False

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """Bandwidths that a release may be read with, in shares of the kernel's; just its own where it is fixed."""
        return (1.0,)

    # Classes that it tells apart.

    # The rule of decision that new tables a class are read by; None for the first of `class_rules`.
    read_by: ClassVar[str | None] = None

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it tells apart, if any."""
        return ()

    @property
    def class_column(self) -> str:
        """The column that says a record's class; "" where it tells none apart."""
        return ""

    @property
    def class_rules(self) -> tuple[str, ...]:
        """The rules by which classes of it may be told apart, the usual one first."""
        return ("likelihood", "posterior") if self.answers == "closeness" else ("distance",)

    @property
    def count_shape(self) -> tuple[int, ...]:
        """Shape of the numbers of records: one number, or one a class."""
        return ()


def check_points(domain: object, kernel: Kernel | None = None) -> None:
    """Refuse records that are sets, and the kernel of sets: whatever needs coordinates checks this when it is made."""
    if not isinstance(domain, Domain):
        raise RequestError("A sketch is made of a domain: what is publicly known of the columns.")
    domain.check_coordinates()
    if isinstance(kernel, Jaccard):
        raise RequestError(
            "The kernel 'jaccard' compares sets, and the columns of this domain hold none: declare a column of items."
        )


def check_circles(domain: Domain, mechanism: str, takes: bool, kernel: Kernel | None = None) -> None:
    """Refuse columns whose values lie on a circle where the mechanism, or its kernel, cannot see them so.

    `takes`: whether the mechanism takes them: by their coordinates alone, or value by value. `kernel`: its kernel, if
    any; one of the straight-line distance sees a circle in the plane.
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
