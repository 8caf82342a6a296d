"""What a mechanism says of itself, before any record is read: what it answers, what it may be asked, what it can do.

And which columns it takes: those with coordinates, and circles only where it sees that their ends meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Jaccard, Kernel, of_straight_lines
from ..runtime.parameters import Validated, declared


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
    def largest_entry(self) -> int:
        """The largest absolute integer that one record adds to a counter, so that no stream of records overflows."""
        return 1

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
