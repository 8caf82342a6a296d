"""Synthetic records from released tables: records whose counts are those of the best guess, as nearly as whole records
can be.

1. Of the measured pairs, those that tell most (mutual information of the best guess) make a tree of all columns, as in
   MST (McKenna, Miklau, Sheldon 2021). Of a tree, the records that fit all its counts and are most even otherwise are
   drawn column by column: the closed form of what `mbi` would fit to it.
2. All other tables that were measured are not in the tree. Records are moved towards their counts, one table after the
   other: some that a cell has too many of become copies of records that are in a cell with too few, or get just the
   values of that cell (gradual updates: Zhang et al., PrivSyn, USENIX Security 2021). Less is moved each round, and the
   best state of all is kept.
3. Within its cell a record gets a value: a fine cell by the guess of its column, one of the public steps in it, or any
   number of it, evenly, dealt out so that columns hang together within cells too (`within_cells`); or, where a density
   was released beside the tables, that of a point drawn from it.

All of it is post-processing of the released file and of public chance.

What a density that was released beside tables adds to made-up records: values finer than cells, and columns
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
from itertools import pairwise

import numpy as np
import pandas as pd

from ..domain import Categorical, Domain, Ordered, Scalar, Vector
from ..errors import RequestError
from ..releases.release import Release
from ..runtime.counter_tables import Integers
from ..sketches.tables.best_guess import BestGuess, mutual_information
from ..sketches.tables.table_axes import METRIC, Axis, is_number
from ..sketches.tables.table_layout import Columns, largest
from ..sketches.tables.tables import Tables
from .within_cells import dealt_together

POINTS_A_CELL = 4  # Drawn points that a cell of a table made of them has at least, on average.
# Records whose closeness to others is compared with the released one, and how many others at most.
QUERIES, COMPARED = 256, 20_000


@dataclass(frozen=True)
class NearDensity:
    """How far the closeness of made-up records is from a released one, where they are."""

    part: str
    # Root mean square of the difference and of the release's own standard error, as shares of that of the density.
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


ROUNDS = 25
WORK = 4e8  # Records times tables times rounds, at most.
# Share of a cell's excess that is moved in the first round; in round r it is divided by the square root of r.
FASTEST = 1.0
COPIED = 0.5  # Share of the moved records that become copies, which keeps what else goes with a cell.


@dataclass(frozen=True)
class Nearness:
    """How far synthetic records are from the tables that they were made from, in shares of the records that differ."""

    # Mean total variation of single columns, and of tables of more.
    single: float
    several: float
    worst: float
    where: tuple[str, ...]  # The columns of the table that is farthest.
    closeness: tuple[NearDensity, ...] = ()


def synthetic_table(
    release: Release, n: int, random: np.random.Generator, densities: Sequence[DrawnPoints] = ()
) -> tuple[pd.DataFrame, Nearness]:
    """Records drawn from released tables, and how near they are to them.

    `densities`: What densities of the same records say within cells, and of columns together.
    """
    guess = release.guessed().guess
    reading = release.asked().reading
    axes = reading.layout.axes
    unknown = [axis.name for place, axis in enumerate(axes) if (place,) not in reading.noise.by_columns]
    if unknown:
        raise RequestError(f"The column {unknown[0]!r} is in no table of this release, so nothing can be drawn of it.")
    measured = [table for table in reading.noise.by_columns if len(table) > 0]
    targets = {table: _shares(guess, table) for table in measured}
    sizes = [axis.cells for axis in axes]
    joint = {finer.columns: finer.joint(guess, sizes, measured) for finer in densities}
    wanted = targets | {table: shares for table, shares in joint.items() if shares is not None}
    cells = _from_tree(wanted, sizes, n, random)
    several = list(largest([table for table in wanted if len(table) > 1]))
    if several:
        cells = _updated(cells, {table: wanted[table] for table in several}, random)
    records = _frame(release, axes, guess, cells, random)
    for finer in densities:
        records = finer.written_into(records, finer.placed(cells, random), random)
    return records, _nearness(cells, targets, [axis.name for axis in axes])


def _shares(guess: BestGuess, table: Columns) -> np.ndarray:
    counts = np.maximum(guess.counts(table), 0.0)
    total = float(counts.sum())
    return counts / total if total > 0.0 else np.full(counts.shape, 1.0 / counts.size)


def _from_tree(
    targets: dict[Columns, np.ndarray], sizes: Sequence[int], n: int, random: np.random.Generator
) -> Integers:
    """Cells of records, int64 (axes, n), drawn along the tree of the pairs that tell most."""
    pairs = {pair: targets[pair] for pair in targets if len(pair) == 2}
    told = sorted(pairs, key=lambda pair: -mutual_information(pairs[pair]))
    neighbours: dict[int, list[int]] = {place: [] for place in range(len(sizes))}
    part = list(range(len(sizes)))
    for one, other in told:
        if part[one] != part[other]:
            neighbours[one].append(other)
            neighbours[other].append(one)
            part = [part[one] if name == part[other] else name for name in part]
    cells = np.full((len(sizes), n), -1, dtype=np.int64)
    for root in range(len(sizes)):
        if cells[root, 0] >= 0:
            continue
        cells[root] = random.permutation(np.repeat(np.arange(sizes[root]), _split(n, targets[(root,)], random)))
        waiting = [root]
        while waiting:
            parent = waiting.pop()
            for child in neighbours[parent]:
                if cells[child, 0] < 0:
                    pair = (min(parent, child), max(parent, child))
                    joint = pairs[pair] if parent < child else pairs[pair].T
                    cells[child] = _given(cells[parent], joint, targets[(child,)], random)
                    waiting.append(child)
    return cells


def _given(parents: Integers, joint: np.ndarray, otherwise: np.ndarray, random: np.random.Generator) -> Integers:
    """A cell for each record by that of its parent: as many in each as the table says, up to one."""
    found = np.empty(len(parents), dtype=np.int64)
    order = np.argsort(parents, kind="stable")
    ends = np.searchsorted(parents[order], np.arange(len(joint) + 1))
    for parent, (first, last) in enumerate(pairwise(ends)):
        if last > first:
            row = joint[parent] if joint[parent].sum() > 0.0 else otherwise
            counts = _split(int(last - first), row, random)
            found[order[first:last]] = random.permutation(np.repeat(np.arange(len(row)), counts))
    return found


def _split(n: int, shares: np.ndarray, random: np.random.Generator) -> Integers:
    """n in whole numbers that are the shares of it, up to one each; of what is left over, chance decides."""
    wanted = n * shares.reshape(-1) / shares.sum()
    counts = np.floor(wanted).astype(np.int64)
    left = n - int(counts.sum())
    if left:
        rest = wanted - counts
        # One point in every whole of the running sum: each cell gets one more with the chance of its rest.
        ends = np.cumsum(rest) * (left / rest.sum())
        points = random.random() + np.arange(left)
        np.add.at(counts, np.minimum(np.searchsorted(ends, points, side="right"), len(counts) - 1), 1)
    return counts


def _updated(cells: Integers, targets: dict[Columns, np.ndarray], random: np.random.Generator) -> Integers:
    """The records moved towards the counts of all tables; the nearest state that was met."""
    n = cells.shape[1]
    rounds = int(min(ROUNDS, max(1.0, WORK / (n * len(targets)))))
    best, least = cells.copy(), _mean_distance(cells, targets)
    for number in range(rounds):
        share = FASTEST / math.sqrt(number + 1.0)
        for place in random.permutation(len(targets)):
            table = list(targets)[place]
            _move(cells, table, targets[table], share, random)
        now = _mean_distance(cells, targets)
        if now < least:
            best, least = cells.copy(), now
    return best


def _move(cells: Integers, table: Columns, target: np.ndarray, share: float, random: np.random.Generator) -> None:
    """Move records from cells of one table that have too many to cells that have too few, in place."""
    n = cells.shape[1]
    where = np.ravel_multi_index(tuple(cells[list(table)]), target.shape)
    have = np.bincount(where, minlength=target.size)
    off = have - n * target.reshape(-1)
    surplus = np.floor(share * np.maximum(off, 0.0) + random.random(target.size)).astype(np.int64)
    moved = min(int(surplus.sum()), int(np.rint(np.maximum(-off, 0.0).sum())))
    if moved == 0:
        return
    order = random.permutation(n)
    order = order[np.argsort(where[order], kind="stable")]
    first = np.concatenate([[0], np.cumsum(have)[:-1]])
    rank = np.arange(n) - first[where[order]]
    leaving = random.permutation(order[rank < surplus[where[order]]])[:moved]
    lacking = _split(len(leaving), np.maximum(-off, 0.0), random)
    arriving = random.permutation(np.repeat(np.arange(target.size), lacking))
    copied = (random.random(len(leaving)) < COPIED) & (have[arriving] > 0)
    to = arriving[copied]
    models = order[first[to] + (random.random(len(to)) * have[to]).astype(np.int64)]
    cells[:, leaving[copied]] = cells[:, models]
    replaced = ~copied
    for axis, values in zip(table, np.unravel_index(arriving[replaced], target.shape), strict=True):
        cells[axis, leaving[replaced]] = values


def _distance(cells: Integers, table: Columns, target: np.ndarray) -> float:
    """Total variation between the records' shares of a table and the released ones."""
    where = np.ravel_multi_index(tuple(cells[list(table)]), target.shape)
    have = np.bincount(where, minlength=target.size) / cells.shape[1]
    return float(np.abs(have - target.reshape(-1)).sum()) / 2.0


def _mean_distance(cells: Integers, targets: dict[Columns, np.ndarray]) -> float:
    return float(np.mean([_distance(cells, table, target) for table, target in targets.items()]))


def _nearness(cells: Integers, targets: dict[Columns, np.ndarray], names: Sequence[str]) -> Nearness:
    found = {table: _distance(cells, table, target) for table, target in targets.items()}
    single = [off for table, off in found.items() if len(table) == 1]
    several = [off for table, off in found.items() if len(table) > 1]
    farthest = max(found, key=lambda table: found[table])
    return Nearness(
        float(np.mean(single)),
        float(np.mean(several)) if several else 0.0,
        found[farthest],
        tuple(names[place] for place in farthest),
    )


def _frame(
    release: Release, axes: Sequence[Axis], guess: BestGuess, cells: Integers, random: np.random.Generator
) -> pd.DataFrame:
    """The records with values of the columns' own kinds."""
    numbers = {place: _values(axis, place, guess, cells[place], random) for place, axis in enumerate(axes)}
    rising = [place for place, axis in enumerate(axes) if is_number(axis.column) or isinstance(axis.column, Ordered)]
    dealt = dealt_together([numbers[place] for place in rising], cells[rising], random)
    numbers |= dict(zip(rising, dealt, strict=True))
    columns: dict[str, object] = {}
    places = iter(range(len(axes)))
    for column in release.domain.columns:
        if isinstance(column, (Categorical, Ordered)):
            columns[column.name] = pd.Categorical.from_codes(
                cells[next(places)].tolist(), categories=list(column.categories)
            )
        elif isinstance(column, Vector):
            columns[column.name] = list(np.column_stack([numbers[next(places)] for _ in range(column.width)]))
        elif isinstance(column, Scalar):
            columns[column.name] = column.present(numbers[next(places)])
    return pd.DataFrame(columns)


def _values(axis: Axis, place: int, guess: BestGuess, cells: Integers, random: np.random.Generator) -> np.ndarray:
    """A value within the cell of each record; NaN in the cell of those who have none. Of categories any in the cell."""
    if axis.categories:
        return np.where(cells < axis.valued, cells + random.random(len(cells)), math.nan)
    values = np.full(len(cells), math.nan)
    there = cells < axis.valued
    values[there] = _inside(axis, place, guess, cells[there], random)
    return values


def _inside(axis: Axis, place: int, guess: BestGuess, cells: Integers, random: np.random.Generator) -> np.ndarray:
    """A value within each of these cells of values."""
    fine = cells
    if axis.halvings:
        each = 1 << axis.halvings
        joint = np.zeros((axis.valued, axis.valued * each))
        inside = guess.fine_counts(place).reshape(axis.cells, each)
        for cell in range(axis.valued):
            joint[cell, cell * each : (cell + 1) * each] = np.maximum(inside[cell], 0.0)
            if joint[cell].sum() == 0.0:
                joint[cell, cell * each : (cell + 1) * each] = 1.0
        fine = _given(cells, joint, np.ones(axis.valued * each), random)
    if axis.steps is None:
        edges = axis.edges(fine=True)
        return edges[fine] + random.random(len(fine)) * (edges[fine + 1] - edges[fine])
    starts = axis.values(fine=True)
    coarse = axis.values()
    first, behind = starts[fine], starts[fine + 1]
    empty = behind <= first  # a fine cell may hold no value; its coarse one does
    first, behind = np.where(empty, coarse[cells], first), np.where(empty, coarse[cells + 1], behind)
    return axis.steps.value(first + np.floor(random.random(len(fine)) * (behind - first)))
