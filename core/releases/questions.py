"""What released tables are asked by name: release.mean("pay", by="city"), release.count(age=(30, 40), city="Lyon")."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ..errors import RequestError
from .manifest import Finding

if TYPE_CHECKING:
    import pandas as pd

    from ..privacy.record import PrivacyRecord
    from ..sketches.answers import SamplingLuck
    from ..sketches.linear import Counts, LinearSketch
    from ..sketches.tables.reading import Reading
    from ..sketches.tables.table_answers import TableAnswers, TableGuess
    from ..sketches.tables.tables import Tables


class Population(Protocol):
    """What answers are of, where they are not of the records alone: whom the records were drawn from at random."""

    @property
    def luck(self) -> SamplingLuck:
        """Of the draw."""

    def ratio(self, release: Any, points: np.ndarray, averaged: int = 1) -> float | np.ndarray:
        """The mean square of a record's closeness to encoded points, over its mean: at most 1.

        Where points are ``averaged``, so many blocks of them follow each other, and closeness is the mean over these.
        """


class Questions:
    """Questions to a release of tables; of a release of several parts, to the one that is tables.

    Conditions are named by their columns: a category, a list of categories, or a pair (low, high) of numbers or dates,
    low <= x < high, of which either may be None. Answers are pandas frames with `estimate`, `low` and `high` beside
    the columns they are grouped by. A column that is called like one of the parameters is asked for by `asked`, whose
    methods take conditions as one mapping.
    """

    if TYPE_CHECKING:
        sketch: LinearSketch
        counters: Any
        counted: Counts | None
        privacy: PrivacyRecord
        population: Population | None
        finding: Finding | None

        @property
        def _own(self) -> tuple[Counts, float]:
            """Numbers of records by the release itself, and their deviation."""

        @property
        def parts(self) -> Mapping[str, Any]:
            """Of a release of several."""

    @cached_property
    def found_before(self) -> Finding | None:
        """What was found before of the very records that are counted here; None where others may be."""
        records, error = float(np.sum(self._own[0])), self._own[1] * math.prod(self.sketch.count_shape) ** 0.5
        return (
            self.finding
            if self.finding is not None and self.finding.is_of(self.sketch.domain, records, error)
            else None
        )

    def asked(self, level: float = 0.95) -> TableAnswers:
        """All that tables answer, without bias and with intervals of this level."""
        from ..sketches.tables.table_answers import TableAnswers  # pandas takes its time to load

        return TableAnswers(self._reading(), level)

    def guessed(self) -> TableGuess:
        """The best guess: counts of any columns that are not negative and agree with each other, without intervals."""
        from ..sketches.tables.table_answers import TableGuess

        return TableGuess(self._reading())

    def count(self, *, level: float = 0.95, **where: object) -> pd.DataFrame:
        """How many records fit the conditions: one row."""
        return self.asked(level).count(where)

    def mean(self, column: str, by: str | Sequence[str] = (), *, level: float = 0.95, **where: object) -> pd.DataFrame:
        """The mean of a column, one row a group."""
        return self.asked(level).mean(column, _names(by), where)

    def sum(self, column: str, by: str | Sequence[str] = (), *, level: float = 0.95, **where: object) -> pd.DataFrame:
        """The sum of a column, one row a group."""
        return self.asked(level).sum(column, _names(by), where)

    def quantile(
        self, column: str, quantile: float = 0.5, by: str | Sequence[str] = (), *, level: float = 0.95, **where: object
    ) -> pd.DataFrame:
        """The value of a column below which a share of the records lies, one row a group."""
        return self.asked(level).quantile(column, quantile, _names(by), where)

    def table(self, *by: str, level: float = 0.95, **where: object) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns."""
        return self.asked(level).table(*by, where=where)

    def _reading(self) -> Reading:
        tables = [one for one in self.parts.values() if one.sketch.asked_for == "tables"]
        one = cast("Questions", tables[0] if len(tables) == 1 else self)
        if one.sketch.asked_for != "tables":
            raise RequestError(
                f"Tables can be asked of a release of the mechanism 'tables', and this is of {one.sketch.name!r}."
            )
        total, variance = None, math.inf
        if one.counted is not None:
            total, variance = float(one.counted), float(one.privacy.count_variance)
        found = one.found_before
        if found is not None:
            total, error = found.beside(0.0 if total is None else total, math.sqrt(variance))
            variance = error**2
        laplace = any(scale.distribution in ("discrete_laplace", "shared_laplace") for scale in one.privacy.noise)
        sketch = cast("Tables", one.sketch)
        reading = sketch.reading(one.counters, one.privacy.counter_variance, total, variance, laplace)
        if found is not None:
            reading = reading.beside(found.counts_in(sketch.domain), found.sure_error)
        return reading if one.population is None else replace(reading, luck=one.population.luck)


def _names(by: str | Sequence[str]) -> Sequence[str]:
    return (by,) if isinstance(by, str) else by
