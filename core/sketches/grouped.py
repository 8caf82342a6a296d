"""What mechanisms of random rows share: how many there are, their groups and seed, and answers from the groups' spread.

Rows are drawn in independent groups (`core.geometry.uniforms`). The mean over all rows is the estimate, and how
far the groups' own means lie apart is its error, whatever it comes from.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self, TypeGuard

import numpy as np

from ..domain.item_sets import Encoded
from ..geometry.uniforms import group_sizes
from ..runtime.counter_tables import Counters
from ..runtime.parameters import Resolved, Whole, check_integer
from .answers import Answers
from .linear import KernelSketch, LinearSketch

MAX_ROWS = 1_000_000
ROWS, HOW_MANY_ROWS = Whole("The number of rows of a sketch", 1, MAX_ROWS), "how many rows it has"
GROUPS = Whole("The number of groups of rows", 2, 1000)
# Unless said: more make intervals shorter for their coverage, fewer make the rows cover more evenly.
LEAST_GROUPS, MOST_GROUPS = 4, 10
ROWS_TRIED = (100, 200, 500, 1000, 2000)  # Numbers of rows that the RACE paper tried (CCS 2021, section 5.1).
CHANCE = "chance in its random rows"  # What the error of such a sketch comes from where it is not noise.

# For one row of one hash or frequency, and one coordinate of it, of one core of an EPYC processor with AVX-512.
ROW_SECONDS, TERM_SECONDS = 1.8e-9, 4.5e-11
ROW_SETUP_SECONDS, TERM_SETUP_SECONDS = 2e-6, 2e-7


def in_groups(sketch: LinearSketch) -> TypeGuard[GroupedSketch]:
    return sketch.in_groups


class GroupedSketch(KernelSketch):
    """A kernel sum read off R random rows, drawn in independent groups whose spread shows the error of their mean.

    Subclasses have the fields ``kernel``, ``rows`` (None until chosen), ``groups`` and ``seed``.
    """

    in_groups: ClassVar[bool] = True
    rows: Resolved[int]
    groups: Resolved[int]
    seed: Resolved[int]

    def _settle_groups(self) -> None:
        """Give rows whose number was chosen a group a hundred where nobody said; refuse fewer rows than groups."""
        if self.rows is None:
            return
        if self.groups is None:
            self._settle(groups=min(max(self.rows // 100, LEAST_GROUPS), MOST_GROUPS))
        check_integer(self.rows, ROWS.what, self.groups, MAX_ROWS)

    @property
    def sized(self) -> bool:
        return self.rows is not None

    @property
    def _chosen_rows(self) -> int:
        return int(self.given("rows", "number of rows"))

    @cached_property
    def group_of_row(self) -> np.ndarray:
        """int64 (R,), the independent group that each row was drawn in."""
        return np.repeat(np.arange(self.groups), group_sizes(self._chosen_rows, self.groups))

    def reseeded(self, seed: int) -> Self:
        return self.with_rows(self.rows, self.groups, seed)

    def with_rows(self, rows: int, groups: int | None = None, seed: int | None = None) -> Self:
        """The same sketch with that many rows, as many groups as suit them unless said, and its own seed unless said.

        The forecast makes trials of the same law this way.
        """
        own = self.seed if seed is None else seed
        return replace(self, rows=rows, groups=groups, seed=own)  # type: ignore[call-arg]  # fields of each

    @abstractmethod
    def group_estimates(self, table: Counters, records: float, points: Encoded) -> tuple[np.ndarray, np.ndarray]:
        """Independent, equally distributed estimates of the kernel sum at encoded queries (n, d).

        Returns float64 (G, n), one estimate a group, and the groups' weights (G,), which add up to 1.
        """

    @property
    def row_seconds(self) -> float:
        """Time of one core that a record takes in one row, as measured."""
        return ROW_SECONDS + TERM_SECONDS * self.domain.dimensions

    @property
    def record_seconds(self) -> float:
        """Time of one core that a record takes in all rows."""
        return self.rows * self.row_seconds

    @property
    def query_seconds(self) -> float:
        """Time of one core that one query among many takes, as measured."""
        return 1.4 * self.record_seconds

    @property
    def setup_seconds(self) -> float:
        """Time that drawing the rows from their seed takes, as measured."""
        return self.rows * (ROW_SETUP_SECONDS + TERM_SETUP_SECONDS * self.domain.dimensions)

    def answer(
        self, table: Counters, records: float, points: Encoded, counter_variance: float, level: float
    ) -> Answers:
        estimates, weights = self.group_estimates(table, records, points)
        return Answers.of_groups(estimates, weights, records, level)


def mean_of_rows(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std()) / max(1.0, len(values) - 1.0) ** 0.5
