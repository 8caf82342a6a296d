"""Two releases side by side: months, branches, before and after, with the noise of both in every band.

A difference of two answers has a band from the bands of both (MOVER: Zou, Donner 2008): with d = a - b,

    low = d - sqrt((a - low_a)^2 + (high_b - b)^2)     high = d + sqrt((high_a - a)^2 + (b - low_b)^2),

which for normal errors is the usual sum of variances, and holds for bands that are longer to one side as well. The
errors of the two are taken to be independent, as noise is drawn anew for every release. Where two files have noise in
common, because one was merged from the other, or hashes, because one was made like the other, the errors go together
and cancel in part: the bands are too long then, and never too short. People who are in both are no matter, as the
difference is that of the two data sets, whoever is in them. A band says what noise may have done, and nothing of who
happens to be recorded.

Many differences are looked at together in a picture: of a hundred places that have not changed, five lie outside
their 95% bands. `together` makes bands that all hold at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import numpy as np
from scipy.special import ndtri

from ..errors import RequestError
from ..geometry.kernels import Stationary
from ..runtime.counter_tables import Floats, same
from ..sketches.answers import Answers, level_of_each
from ..sketches.linear import LinearSketch

if TYPE_CHECKING:
    import pandas as pd

    from ..domain import Domain
    from ..runtime.counter_tables import Counters


class Comparable(Protocol):
    """What is asked of each of two releases."""

    @property
    def sketch(self) -> LinearSketch: ...

    @property
    def domain(self) -> Domain: ...

    @property
    def counters(self) -> Counters: ...

    @property
    def run_of(self) -> str: ...

    @property
    def records(self) -> float: ...

    @property
    def records_error(self) -> float: ...

    def answer_points(self, points: np.ndarray, level: float = 0.95) -> Answers: ...


Asked = TypeVar("Asked", bound=Comparable)


@dataclass(frozen=True)
class Banded:
    """Answers with bands; arrays of one shape."""

    # As of `core.sketches.linear.Answers`.
    estimate: Floats
    low: Floats
    high: Floats
    standard_error: Floats

    @classmethod
    def of(cls, answers: Any) -> Banded:
        """Those of answers or of a picture."""
        return cls(answers.estimate, answers.low, answers.high, answers.standard_error)

    def minus(self, other: Banded, apart: bool = True) -> Banded:
        """The differences, each with a band from both; as wide as both together where their errors are not apart."""
        both = np.hypot if apart else np.add
        difference = self.estimate - other.estimate
        below = both(self.estimate - self.low, other.high - other.estimate)
        above = both(self.high - self.estimate, other.estimate - other.low)
        error = both(self.standard_error, other.standard_error)
        return Banded(difference, difference - below, difference + above, error)

    def share(self, release: Comparable, level: float) -> Banded:
        """The same over the number of records, whose own error goes into the bands.

        Numbers that are read off the table itself err together with the answers, which the bands leave out: they are
        a little too long.
        """
        records = release.records
        spread = np.abs(self.estimate) * release.records_error / records**2
        reach = ndtri(0.5 + level / 2.0) * spread
        estimate = self.estimate / records
        return Banded(
            estimate,
            estimate - np.hypot((self.estimate - self.low) / records, reach),
            estimate + np.hypot((self.high - self.estimate) / records, reach),
            np.hypot(self.standard_error / records, spread),
        )


@dataclass(frozen=True, eq=False)
class Comparison(Generic[Asked]):
    """What two releases differ by: the first less the second.

    `first`, `second`: Of the same question to the same columns. `shares`: Whether numbers of records are compared as
    shares of all records, and distances as averages; otherwise sums.
    """

    first: Asked
    second: Asked
    shares: bool = True

    def __post_init__(self) -> None:
        for release in (self.first, self.second):
            if release.sketch.parts or release.sketch.classes:
                kind = "part (`part`)" if release.sketch.parts else "class (`of_class`)"
                raise RequestError(f"Two releases are compared by one question, so say which {kind} of each is meant.")
        reason = what_differs(self.first.sketch, self.second.sketch)
        if reason:
            raise RequestError(f"These releases cannot be compared: {reason}.")
        if same(self.first.counters, self.second.counters):
            raise RequestError("These are the same release, which differs from itself in nothing.")

    def banded(self, first: Any, second: Any, level: float) -> Banded:
        """The difference of two answers or pictures of this level."""
        one, other = Banded.of(first), Banded.of(second)
        if self.shares:
            one, other = one.share(self.first, level), other.share(self.second, level)
        return self.less(one, other)

    def less(self, one: Banded, other: Banded) -> Banded:
        """One less the other, with the noise of both.

        Two runs of one living release share rows, and so noise, which may add up: deviations are added then, which no
        correlation passes.
        """
        return one.minus(other, apart=not self.first.run_of or self.first.run_of != self.second.run_of)

    def answer(self, queries: object, level: float = 0.95, together: bool = False) -> Answers:
        """Differences at n queries in natural units; ``density`` is the difference of the averages.

        `queries`: As for `Release.answer`. `level`: Probability with which a band holds the exact difference.
        `together`: Whether it is the probability that all bands hold at once.
        """
        self._check_points()
        sketch = self.first.sketch
        points = sketch.query_domain.encode_queries(queries, sketch.metric)
        return self.answer_points(points, level_of_each(level, len(points)) if together else level)

    def answer_points(self, points: np.ndarray, level: float = 0.95) -> Answers:
        """The same for encoded points, each band with the level of its own."""
        self._check_points()
        metric = self.second.sketch.metric
        natural = self.first.domain.decode_points(points, self.first.sketch.metric)
        others = points if metric == self.first.sketch.metric else self.second.domain.encode_queries(natural, metric)
        first, second = self.first.answer_points(points, level), self.second.answer_points(others, level)
        found = self.banded(first, second, level)
        return Answers(
            found.estimate,
            found.low,
            found.high,
            first.density - second.density,
            found.standard_error,
            min(first.degrees, second.degrees),
        )

    def estimate(self, queries: object) -> Floats:
        """Differences, float64 (n,)."""
        return self.answer(queries).estimate

    def interval(self, queries: object, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of the bands, float64 (n,) each."""
        answers = self.answer(queries, level)
        return answers.low, answers.high

    def count(self, *, level: float = 0.95, **where: object) -> pd.DataFrame:
        """By how much the numbers (or shares) of records that fit the conditions differ: one row."""
        return self._frames("count", level, (), where, self.shares)

    def table(self, *by: str, level: float = 0.95, **where: object) -> pd.DataFrame:
        """The same for each combination of the cells of some columns."""
        return self._frames("table", level, by, where, self.shares)

    def mean(self, column: str, by: str | Sequence[str] = (), *, level: float = 0.95, **where: object) -> pd.DataFrame:
        """By how much means of a column differ, one row a group."""
        return self._frames("mean", level, (column, by), where)

    def sum(self, column: str, by: str | Sequence[str] = (), *, level: float = 0.95, **where: object) -> pd.DataFrame:
        """By how much sums of a column differ, one row a group."""
        return self._frames("sum", level, (column, by), where)

    def quantile(
        self, column: str, quantile: float = 0.5, by: str | Sequence[str] = (), *, level: float = 0.95, **where: object
    ) -> pd.DataFrame:
        """By how much quantiles of a column differ, one row a group."""
        return self._frames("quantile", level, (column, quantile, by), where)

    def _frames(
        self, name: str, level: float, arguments: tuple[object, ...], where: dict[str, object], shares: bool = False
    ) -> pd.DataFrame:
        """The difference of what both say, row by row."""
        if self.first.sketch.asked_for != "tables":
            raise RequestError("Tables are compared by their counts; these releases are asked at places: see `answer`.")
        first, second = (getattr(one, name)(*arguments, level=level, **where) for one in (self.first, self.second))
        values = [column for column in ("estimate", "low", "high", "standard_error") if column in first]
        keys = [column for column in first if column not in values]
        one, other = (_banded(frame) for frame in (first, second))
        if shares:
            one, other = one.share(self.first, level), other.share(self.second, level)
        found = self.less(one, other)
        return (
            first[keys]
            .assign(first=one.estimate, second=other.estimate)
            .assign(estimate=found.estimate, low=found.low, high=found.high)
        )

    def _check_points(self) -> None:
        if self.first.sketch.asked_for == "tables":
            raise RequestError("Tables are compared by count, table, mean, sum and quantile, and not at places.")


def _banded(frame: pd.DataFrame) -> Banded:
    estimate, low, high = (cast(Floats, frame[name].to_numpy(dtype=np.float64)) for name in ("estimate", "low", "high"))
    error = frame["standard_error"].to_numpy(dtype=np.float64) if "standard_error" in frame else (high - low) / 4.0
    return Banded(estimate, low, high, error)


def what_differs(first: LinearSketch, second: LinearSketch) -> str:
    """What keeps answers of two sketches from meaning the same, as a clause; "" where nothing does."""
    for differs in (_columns, _question, _kernels):
        reason = differs(first, second)
        if reason:
            return reason
    return ""


def _columns(first: LinearSketch, second: LinearSketch) -> str:
    one, other = first.domain, second.domain
    if one.names != other.names:
        return f"the first is of {_listed(one.names)}, and the second of {_listed(other.names)}"
    for mine, theirs in zip(one.columns, other.columns, strict=True):
        if mine != theirs:
            return f"the column {mine.name!r} is declared otherwise in each of them, as its bounds or values are others"
    if one.scale != other.scale:
        return "one measures columns in shares of their ranges, and the other in their own units"
    if one.category_distance != other.category_distance:
        return "two categories are not equally far apart in both"
    return ""


def _question(first: LinearSketch, second: LinearSketch) -> str:
    kinds = [sketch.answers if sketch.asked_for == "places" else sketch.asked_for for sketch in (first, second)]
    if kinds[0] != kinds[1]:
        return f"the first answers {kinds[0]}, and the second {kinds[1]}"
    if first.answers == "distance" and first.distance_norm != second.distance_norm:
        return f"the first sums distances of the kind {first.distance_norm}, and the second of {second.distance_norm}"
    if first.asked_for == "tables" and first.parameters() != second.parameters():
        return "their cells, or the columns that are counted together, are not the same"
    return ""


def _kernels(first: LinearSketch, second: LinearSketch) -> str:
    one, other = (getattr(sketch, "kernel", None) for sketch in (first, second))
    if one == other or first.answers == "distance":
        return ""
    if not (isinstance(one, Stationary) and isinstance(other, Stationary)) or type(one) is not type(other):
        return "they mean different things by close, as their kernels are others"
    if one.power != other.power:
        return f"their kernels have the powers {one.power} and {other.power}"
    return (
        f"the first has a bandwidth of {_shown(one.bandwidth)} and the second of {_shown(other.bandwidth)}; where both "
        "are histograms, read them with the same one by `smoothed`"
    )


def _shown(bandwidth: object) -> str:
    return ", ".join(f"{one:.4g}" for one in (bandwidth if isinstance(bandwidth, tuple) else (cast(float, bandwidth),)))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} …" if len(names) > 4 else shown
