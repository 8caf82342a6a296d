"""What a density that was released beside tables adds to made-up records: values finer than cells, and columns
together.

Tables say which cells records are in, and of a density points can be drawn. A record gets the values of a drawn point
that lies in its cells, chosen evenly among those; where none does, it keeps values spread over its cells. So counts
stay those of the tables, and within cells, and between the columns of the density, records are as it says. Columns that
are in no table come with the point.

Where the density has columns together that no table has, the shares of its points there, brought to the margins that
the tables guess (iterative proportional fitting, which is the least change in relative entropy: Csiszár 1975), are one
more table that records are moved towards.

All of it is post-processing of the released file and of public chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..domain import Domain, Vector
from ..releases.release import Release
from ..runtime.array_types import Integers
from ..sketches.tables.answers.best_guess import BestGuess
from ..sketches.tables.layout import Columns
from ..sketches.tables.table_axes import METRIC, is_number
from ..sketches.tables.tables import Tables

POINTS_A_CELL = 4  # Drawn points that a cell of a table made of them has at least, on average.
# Records whose closeness to others is compared with the released one, and how many others at most.
QUERIES, COMPARED = 256, 20_000


@dataclass(frozen=True)
class NearDensity:
    """How far the closeness of made-up records is from a released one, where they are.

    Attributes
    ----------
    off, error : float
        Root mean square of the difference and of the release's own standard error, as shares of that of the density.
    """

    part: str
    off: float
    error: float


@dataclass(frozen=True, eq=False)
class DrawnPoints:
    """Points drawn from a released density, and where they lie in the cells of tables."""

    name: str
    points: pd.DataFrame  # With the columns of the density, in natural units.
    shared: tuple[str, ...]
    columns: Columns  # Their axes there.
    cells: Integers  # Of every point along these, (axes, points).

    @classmethod
    def of(cls, name: str, points: pd.DataFrame, domain: Domain, tables: Tables) -> DrawnPoints:
        """Points of a density of a domain, beside these tables."""
        theirs = {column.name for column in domain.columns}
        kept = tuple(column for column in tables.domain.columns if column.name in theirs)
        if not kept:
            return cls(name, points, (), (), np.zeros((0, len(points)), np.int64))
        shared = tuple(column.name for column in kept)
        columns = tuple(place for place, axis in enumerate(tables.axes) if axis.column.name in theirs)
        numbers = [place for place, axis in enumerate(tables.axes) if is_number(axis.column)]
        bins, halvings = (
            tuple(size for size, place in zip(sizes, numbers, strict=True) if place in columns)
            for sizes in (tables.bins, tables.halvings)
        )
        alone = replace(tables.domain, columns=kept)
        own = Tables(alone, bins, halvings, ((0,),), edges=tables.edges)
        return cls(name, points, shared, columns, own.cells_of(alone.encode_queries(points[list(shared)], METRIC)))

    def joint(self, guess: BestGuess, sizes: Sequence[int], measured: Sequence[Columns]) -> np.ndarray | None:
        """Shares of the cells of the shared columns together, with guessed margins; None where that adds nothing."""
        shape = [sizes[place] for place in self.columns]
        known = any(set(self.columns) <= set(table) for table in measured)
        if len(shape) < 2 or known or math.prod(shape) * POINTS_A_CELL > self.cells.shape[1]:
            return None
        counts = np.bincount(np.ravel_multi_index(tuple(self.cells), shape), minlength=math.prod(shape))
        # Half a point in each cell, as none drawn does not say that nobody is there.
        fitted = guess.nearest_to(self.columns, (counts + 0.5).reshape(shape))
        return fitted / fitted.sum() if fitted.sum() > 0 else None

    def placed(self, cells: Integers, random: np.random.Generator) -> Integers:
        """For each record, by its cells along all axes (axes, n), a point that lies in them; -1 where none does."""
        n, points = cells.shape[1], self.cells.shape[1]
        if not self.columns:
            return (random.random(n) * points).astype(np.int64)
        both = np.concatenate([self.cells, cells[list(self.columns)]], axis=1)
        keys = np.unique(both, axis=1, return_inverse=True)[1].reshape(-1)
        order = np.argsort(keys[:points], kind="stable")
        first = np.searchsorted(keys[:points][order], keys[points:], side="left")
        behind = np.searchsorted(keys[:points][order], keys[points:], side="right")
        drawn = first + (random.random(n) * (behind - first)).astype(np.int64)
        return np.where(behind > first, order[np.minimum(drawn, points - 1)], -1)

    def written_into(self, records: pd.DataFrame, rows: Integers, random: np.random.Generator) -> pd.DataFrame:
        """The records with the values of these points: all that they have in cells, and columns of no table for all."""
        found = {str(name): records[name] for name in records.columns}
        anyone = np.where(rows >= 0, rows, (random.random(len(rows)) * len(self.points)).astype(np.int64))
        for name in self.points.columns:
            if name not in found:
                found[name] = self.points[name].iloc[anyone].reset_index(drop=True)
            elif not isinstance(found[name].dtype, pd.CategoricalDtype):
                found[name] = _replaced(found[name], self.points[name], rows)
        return pd.DataFrame(found)


def _replaced(values: pd.Series, others: pd.Series, rows: Integers) -> pd.Series:
    """Values of a column, with those of drawn points in the rows that have one."""
    there = rows >= 0
    kept = values.to_numpy().copy()
    kept[there] = others.to_numpy()[rows[there]]
    return pd.Series(list(kept) if kept.dtype == object else kept, name=values.name)


def closeness(name: str, part: Release, records: pd.DataFrame) -> NearDensity | None:
    """How far records are from a released density; None where none of them has all its columns."""
    domain = part.sketch.query_domain
    vectors = [column.name for column in domain.columns if isinstance(column, Vector)]
    own = records[list(domain.names)]
    own = own[own.drop(columns=vectors).notna().all(axis=1)].head(QUERIES + COMPARED)
    if len(own) == 0:
        return None
    points = domain.encode_queries(own, part.sketch.metric)
    queries, others = points[:QUERIES], points[QUERIES:] if len(points) > 2 * QUERIES else points
    exact = part.sketch.exact(queries, others) / len(others)
    told = part.answer_points(queries)
    size = float(np.sqrt(np.mean(told.density**2)))
    error = float(np.sqrt(np.mean((told.standard_error / part.records) ** 2)))
    return NearDensity(name, float(np.sqrt(np.mean((exact - told.density) ** 2))) / size, error / size)
