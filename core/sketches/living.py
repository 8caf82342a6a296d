"""A living release: one promise for a stream of periods, asked for the sum over any run of them.

The records say in which period they are: a column of dates, cut into days, weeks, months, quarters or years, or one of
categories in their order. Every period has the table x_s of one inner sketch, all with the same public random numbers.
What is released are weighted sums y_r = Σ_s C_rs x_s, rows of a public matrix (`core.sketches.factorisation`), each as
soon as the last period in it is over, with noise of its own. Sums over runs of periods are read off all rows that there
are by least squares, whatever the inner sketch is, as its counters add.

So the table of all rows is itself a linear sketch of records with their dates, and is released as any is. `released`
says how many periods are over; rows of later ones are not in the table, and their records are added to nothing. The
promise is always that of all rows, and is paid for when the first ones are released.

Why rows may be drawn one after the other, also when what people do in a later period depends on what was released
before. For neighbours that differ in one record, the exact rows differ by C_rs a, fixed by that record alone, in
whichever order and view of earlier rows the *other* records came. Row r is its exact value plus independent noise, so
the loss of all rows together, given what came out before, is that of noise on a vector that is moved by (C_rs a)_r: a
Gaussian loss whose mean and variance depend on the record alone, or a sum of Laplace losses of at most |C_rs| |a|/b
each (Denisov, McMahan, Rush, Smith, Guha Thakurta 2022, Theorem 2.1, where C is triangular; here a row has no period
after its own).

*Persons with several records.* The m earliest of each are kept (`core.sources.people`), which are the same ones in
every part, as later records take no place of earlier ones. Rows then differ by the sum of at most m such moves, fixed
by that person's records alone: every norm is at most m times that of one record, which m equal records of the period
with the longest column reach. It takes all records since the beginning for every part: without earlier ones, later ones
of the same person would be kept in their place, and more than m be in the sum.

What the owner keeps: the records, as rows are sums of earlier periods' tables too (of at most `band` of them). No exact
table and no noise is kept anywhere between two parts. A record that was corrected away since is missing in later rows,
which moves them by less than the proof allows; one that was moved to another period since would count as two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import pyarrow as pa

from ..domain import Categorical, Cyclic, Dates, Domain
from ..domain.columns import column_to_dict
from ..domain.item_sets import Encoded
from ..errors import RequestError
from ..privacy.budget import Budget, EarliestUnit, Neighbours, Sensitivity
from ..runtime import archives
from ..runtime.counter_tables import Counters, Integers
from ..runtime.parameters import Choice, Seed, Several, Text, Whole, parameter
from .answers import Answers
from .factorisation import LEVELS, PERCENT, WHOLE, Factor, best_bands, best_tree, cheapest, in_words
from .linear import Counts, LinearSketch
from .mechanism_spec import MechanismSpec
from .part import InnerKind, Slabs
from .registry import card_of, sketch_from_parameters

MOST_PERIODS = 1_500  # Four years of days: how sums are read off takes the cube of it.
MONTHS = {"month": 1, "quarter": 3, "year": 12}
STEPS = {"step": 1, "week": 7}


@dataclass(frozen=True)
class ByPeriod:
    """A batch as the inner sketch encodes it, period by period; its length is the number of records kept."""

    points: tuple[tuple[int, Any], ...]  # The period, from 0, and its records.

    def __len__(self) -> int:
        return sum(len(own) for _, own in self.points)

    def __getitem__(self, places: np.ndarray) -> ByPeriod:
        """The records at these places, counted through all periods."""
        ends = np.cumsum([len(own) for _, own in self.points])
        each = np.split(np.argsort(places, kind="stable"), np.searchsorted(np.sort(places), ends[:-1]))
        found = []
        for (period, own), chosen, end in zip(self.points, each, ends, strict=True):
            if len(chosen):
                some = own[places[chosen] - (end - len(own))]
                found.append((period, np.asfortranarray(some) if isinstance(some, np.ndarray) else some))
        return ByPeriod(tuple(found))


@dataclass(frozen=True)
class Living(Slabs):
    """Weighted sums of the tables of periods.

    Use `Living.of`, which chooses the weights. RequestError when the column has no periods, or the inner sketch is of
    another domain.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, the column of periods among them.
    column : str
        The name of a column of dates or categories; records outside of its periods are left out.
    inner : LinearSketch
        Any sketch on `domain` without that column.
    every : str
        What a period is: a "step" of the column (a day, say; a category), a "week" of 7 days from the first date on, or
        a "month", "quarter" or "year" of the calendar.
    released : int
        How many periods are over and in the table.
    band, power, branches, weights : int, int, int, tuple[int, ...]
        As of `Factor`.
    lost : tuple[int, ...]
        Periods, from 0, whose rows were paid for and never kept.
    seed : int
        Tells this release from every other one of the same columns; public.
    begun : int
        Periods that the table does not have, as another part has them; no file holds it.
    """

    domain: Domain
    column: str = parameter(Text("The name of the column of periods"))
    inner: LinearSketch = parameter(InnerKind("The sketch of one period", LinearSketch))
    every: str = parameter(Choice("What a period is", (*STEPS, *MONTHS)), "step")
    released: int = parameter(Whole("The number of periods that are over", 1, MOST_PERIODS), 1)
    band: int = parameter(Whole("The band", 0, MOST_PERIODS), 1)
    power: int = parameter(Whole("The power", 0, PERCENT), 0)
    branches: int = parameter(Whole("The branches of a tree", 0, MOST_PERIODS), 0)
    weights: tuple[int, ...] = parameter(Several("Weights", Whole("A weight", 0, PERCENT), 0, LEVELS), ())
    lost: tuple[int, ...] = parameter(Several("Lost periods", Whole("A period", 0, MOST_PERIODS - 1), 0, 100), ())
    seed: int = parameter(Seed("The seed"), None)
    begun: int = field(default=0, compare=False)
    name: ClassVar[str] = "living"
    described: ClassVar[str] = "living release"
    apart: ClassVar[str] = "column"
    answers: ClassVar[str] = "periods"
    asked_for: ClassVar[str] = "periods"

    def _check(self) -> None:
        if not isinstance(self.domain, Domain) or self.column not in self.domain.names:
            raise RequestError("A living release is made of a domain and the name of its column of periods.")
        if self.inner.domain != self.domain.without(self.column):
            raise RequestError("The sketch of one period must be of the domain without the column of periods.")
        if self.inner.parts or self.inner.classes or self.inner.name == self.name:
            raise RequestError("A living release is of one sketch, and not of several parts, classes or periods.")
        if self.released > self.periods or any(lost >= self.released for lost in self.lost):
            raise RequestError(f"There are {self.periods:,} periods, and no more can be over.")
        tree = self.branches >= 2 and self.band == 0 and self.weights[:1] and self.weights[0]
        if not (tree or (self.branches == 0 and self.band >= 1 and not self.weights)):
            raise RequestError("The weights of a living release are those of bands, or those of a tree.")
        if tree and self.branches ** (len(self.weights) - 1) >= MOST_PERIODS * self.branches:
            raise RequestError("The tree of a living release has more levels than periods.")

    @classmethod
    def of(
        cls,
        domain: Domain,
        column: str,
        inner: LinearSketch,
        budget: Budget,
        *,
        every: str = "step",
        released: int | None = None,
    ) -> Self:
        """A living release whose weights are the best ones for the budget; ``released`` None is all periods."""
        plain = cls(domain, column, inner, every)
        if not inner.sized:  # what a record moves is not known yet
            factor = best_tree(plain.periods) if budget.pure else best_bands(plain.periods)
        else:
            factor = cheapest(plain.periods, lambda one: plain.weighted(one, None).counter_noise(budget).variance)
        return plain.weighted(factor, released)

    def weighted(self, factor: Factor, released: int | None) -> Self:
        """The same with these weights; ``released`` as of `of`."""
        weights = {"band": factor.band, "power": factor.power, "branches": factor.branches, "weights": factor.weights}
        return replace(self, **weights, released=self.periods if released is None else released)  # type: ignore[arg-type]

    # Periods.

    @cached_property
    def _dates(self) -> Dates | None:
        column = self.domain.columns[self.domain.names.index(self.column)]
        if isinstance(column, Dates) and (self.every != "week" or column.step == "day"):
            return column
        if isinstance(column, Categorical) and not isinstance(column, Cyclic) and self.every == "step":
            return None
        raise RequestError(
            f"The column {self.column!r} has no such periods: weeks are of dates by the day, months, quarters and "
            "years of dates, and categories are periods as they are."
        )

    @cached_property
    def periods(self) -> int:
        """How many periods there will ever be."""
        dates = self._dates
        found = len(self._categories) if dates is None else 1 + int(self._period_of(np.array([dates.high]))[0])
        if not 1 <= found <= MOST_PERIODS:
            raise RequestError(f"A living release has at most {MOST_PERIODS:,} periods, and there are {found:,}.")
        return found

    @property
    def _categories(self) -> tuple[str, ...]:
        return self.domain.categories_of(self.column)

    def _period_of(self, steps: np.ndarray) -> Integers:
        """The period of steps since the first date, none of them missing."""
        if self._dates is None or self.every in STEPS:
            return (np.floor(steps) // STEPS[self.every]).astype(np.int64)
        months = self._dates.between(np.concatenate([[0.0], steps])).astype("datetime64[M]").astype(np.int64)
        number = months // MONTHS[self.every]
        return number[1:] - number[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the periods are called: the day or month with which each begins, or its category."""
        dates = self._dates
        if dates is None:
            return self._categories
        if self.every in STEPS:
            return tuple(dates.text(float(number * STEPS[self.every])) for number in range(self.periods))
        first = dates.between(np.zeros(1)).astype("datetime64[M]")[0]
        length = MONTHS[self.every]
        began = first - int(first.astype(np.int64)) % length
        months = [str(began + number * length) for number in range(self.periods)]
        return tuple(month[:4] for month in months) if self.every == "year" else tuple(months)

    def place_of(self, period: str | int) -> int:
        """The place of a period, from 0, by its name or by its number from 1; RequestError where there is none."""
        if isinstance(period, str) and period in self.names:
            return self.names.index(period)
        number = int(period) if isinstance(period, str) and period.isdecimal() else period
        if type(number) is int and 1 <= number <= self.periods:
            return number - 1
        raise RequestError(f"There is no such period; the first is {self.names[0]!r} and the last {self.names[-1]!r}.")

    def further(self, released: int) -> Self:
        """The part that a release of this one is continued by, with later periods alone; see `begun`."""
        return replace(self, released=released, begun=self.released)

    @property
    def noted(self) -> dict[str, str]:
        """By which a ledger knows its periods again: two of one record would count twice."""
        written = archives.dumps(column_to_dict(self.domain.columns[self.domain.names.index(self.column)]))
        return {"periods": sha256(written.encode()).hexdigest()[:16]}

    # Its table.

    @cached_property
    def factor(self) -> Factor:
        """The weights of periods in each row."""
        return Factor(self.periods, self.band, self.power, self.branches, self.weights, self.lost)

    @cached_property
    def _rows(self) -> range:
        """The rows of the matrix that the table has."""
        return range(self.factor.rows_until(self.begun), self.factor.rows_until(self.released))

    @property
    def count_shape(self) -> tuple[int, ...]:
        return (len(self._rows),)

    @property
    def largest_entry(self) -> int:
        return WHOLE * self.inner.largest_entry

    earlier: ClassVar[Mapping[str, Any]] = {}

    @property
    def count_share(self) -> Fraction:  # type: ignore[override]
        return self.inner.count_share

    def sized_for(self, budget: Budget, records: float) -> Self:
        return self.with_inner(self.inner.sized_for(budget, records / self.periods))

    @property
    def one_answer(self) -> tuple[LinearSketch, float]:
        return self.inner, 1.0 / self.periods

    @property
    def read_as(self) -> Domain:
        """With the earliest records of each person, where persons are told apart."""
        unit = self.domain.unit
        if unit.column is None:
            return self.domain
        return replace(self.domain, unit=EarliestUnit(unit.column, unit.records, self.column))

    def encode(self, batch: pa.RecordBatch) -> Any:
        """The records of every period that is over, as the inner sketch encodes them."""
        codes = self._codes(batch)
        present = [int(code) for code in np.unique(codes) if 0 <= code < self.released]
        return ByPeriod(tuple((code, self.inner.encode(batch.filter(pa.array(codes == code)))) for code in present))

    def _codes(self, batch: pa.RecordBatch) -> Integers:
        """The period of each record, -1 where it has none."""
        steps = self.domain.order(self.column, batch)
        known = np.flatnonzero(np.isfinite(steps))
        codes = np.full(len(steps), -1, np.int64)
        codes[known] = self._period_of(steps[known])
        return codes

    def add(self, table: np.ndarray, points: ByPeriod) -> None:
        matrix = self.factor.matrix[self._rows.start : self._rows.stop]
        for period, own in points.points:
            rows = np.flatnonzero(matrix[:, period])
            if len(own) and len(rows):
                exact = self.inner.zeros()
                self.inner.add(exact, own)
                for row in rows:
                    table[row] += matrix[row, period] * exact.astype(np.int64, copy=False)

    def count(self, points: ByPeriod) -> np.ndarray:
        matrix = self.factor.matrix[self._rows.start : self._rows.stop]
        counts = np.zeros(self.periods, np.int64)
        for period, own in points.points:
            counts[period] += int(np.sum(self.inner.count(own)))
        found: Integers = matrix @ counts
        return found

    def records_in(self, counts: Counts) -> Any:
        """No more than there are, and none only where there is none: a record counts `WHOLE` at most in a row."""
        return -(-int(np.max(np.append(np.asarray(counts), 0))) // WHOLE)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record moves the rows by a column of the matrix; a replaced one may be moved to another period.

        Let a record move the inner sketch by a with L1 <= a1 and L2 squared <= a2 when added or removed, by L2 squared
        <= c when replaced, and let the columns of C, of all rows whether released or not, have sums of at most D1 and
        squared lengths of at most D2.

        Add or remove: a record of period s moves row r by C_rs a: L1 is Σ_r C_rs |a|₁ <= D1 a1, L2 squared Σ_r C_rs²
        |a|₂² <= D2 a2, both reached in the period whose column is longest. Blocks of counters are those of all rows
        together.

        Replace, by a record of period t that adds b: L1 <= 2 D1 a1. The squared length is X_ss |a|² + X_tt |b|² - 2
        X_st a·b, X = CᵀC, with 0 <= x = X_st <= D2. As |a - b|² <= c, it is at most D2 (|a|² + |b|²) + x max(0, c -
        |a|² - |b|²), which is at most the larger of 2 D2 a2 and (D2 - x) 2 a2 + x c, and so at most D2 max(2 a2, c).

        A record that is left out, by its date or otherwise, moves nothing; rows that are not there yet, or were lost,
        or from which a record was taken away since, are moved by less.
        """
        added = self.inner.record_sensitivity(Neighbours.ADD_REMOVE)
        l1, l2_squared, times = added.l1, added.l2_squared, 1
        if neighbours is Neighbours.REPLACE_ONE:
            replaced = self.inner.record_sensitivity(Neighbours.REPLACE_ONE)
            l1, l2_squared, times = 2 * added.l1, max(2 * added.l2_squared, replaced.l2_squared), 2
        return Sensitivity(
            self.factor.l1 * l1,
            self.factor.l2_squared * l2_squared,
            parts=added.parts,
            block=added.block,
            blocks_l2=None if added.blocks_l2 is None else self.factor.l1 * times * added.blocks_l2,
        )

    def record_count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """The same with a = 1, where a replaced record may leave one period and enter another."""
        times = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(times * self.factor.l1, times * self.factor.l2_squared)

    # Asked for a run of periods, and for nothing else.

    @property
    def first_of_latest(self) -> int:
        """The first period, from 0, of the longest run until now without a lost one."""
        return max(self.lost, default=-1) + 1

    def reading(self, first: int, last: int) -> tuple[np.ndarray, float]:
        """How the sum over a run of periods, from 0, is read off the rows.

        Returns
        -------
        (ndarray, float)
            The weight of each row, float64 (rows,), and the variance of their sum in units of a counter's.
        """
        if not 0 <= first <= last < self.released:
            raise RequestError(
                f"A run of periods lies between {self.names[0]!r} and {self.names[self.released - 1]!r}, as that is as "
                "far as this release has come."
            )
        if any(first <= lost <= last for lost in self.lost):
            lost = next(lost for lost in self.lost if first <= lost <= last)
            raise RequestError(
                f"The period {self.names[lost]!r} was lost, as the program was stopped between paying and keeping it: "
                "ask for runs before or after it."
            )
        weights, inverse = self.factor.readings(self.released)
        run = slice(first, last + 1)
        return weights[run].sum(axis=0), float(inverse[run, run].sum())

    def exact(self, queries: Encoded, records: Encoded) -> np.ndarray:
        self._ask_a_run()

    def answer(
        self, table: Counters, records: Counts, points: Encoded, counter_variance: float, level: float
    ) -> Answers:
        self._ask_a_run()

    def noise_variance(self, counter_variance: float, points: Encoded | None = None) -> float | np.ndarray:
        """That of the mean run of all periods, as forecasts ask."""
        return self.inner.noise_variance(counter_variance * self.factor.spread, points)

    def _ask_a_run(self) -> NoReturn:
        raise RequestError(f"A living release is asked for a run of its periods, {self.names[0]!r} to …: `run`.")

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        facts = cls.read(parameters)
        column, inner = facts.pop("column"), facts.pop("inner")
        if inner["mechanism"] == cls.name:
            raise RequestError("The sketch of one period cannot be a living release itself.")
        made = sketch_from_parameters(inner["mechanism"], domain.without(column), inner["parameters"])
        return cls(domain, column, made, **facts)


CARD = MechanismSpec(
    "living",
    "A living release",
    "matrix factorisation (Li, Miklau, Hay, McGregor, Rastogi 2015; Denisov et al. 2022)",
    "Weighted sums of periods are released as time goes on, under one promise; sums over any run are read off them.",
    sketch=Living,
    answers="periods",
    command=False,
    holds=lambda sketch: (
        f"{sketch.released:,} of {sketch.periods:,} periods ({in_words(sketch.factor)}), each with "
        f"{card_of(sketch.inner).holds(sketch.inner)}"
    ),
)
