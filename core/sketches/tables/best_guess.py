"""The best guess of tables: not negative, in agreement with each other, and with less error in small cells.

What is known beside unbiased counts x of a table is that most tables are nearly what their margins say, e, and x is
moved towards that as far as the noise lets it (`expected_counts`), then as little as can be, the uncertain cells more,
until none is negative and the margins are those that were guessed before.

Columns that hang together do so along a few directions, whichever pairs are looked at. So what all measured pairs have
beyond their margins is put side by side, a row and a column for every cell of every column, and of this symmetric
matrix of N rows only what noise does not make is kept: noise of deviation s has no eigenvalue beyond 2 s √N (Wigner),
and an eigenvalue λ beyond it is best taken for sqrt(λ² - 4 s² N) (Gavish, Donoho 2017). Cells of one column with each
other were not measured, and are taken from what was kept, in a few rounds. A pair's margins with its part of that is
another e, less likely by as many numbers as were fitted to the pair's own noise (Akaike 1974): of columns of which each
depends on one other there are as many directions as columns, and their noise would be in all pairs.

Where the measured pairs make no circle, as those of a tree, none says anything of another. A pair that clearly hangs
together then does so in few of its cells, as a rule: it is moved to the nearest counts that are not negative, which
leaves nobody in most of the others.

Single columns come first (their margin is the number of records), then pairs, and so on; a table that was not measured
is the most even one that has the margins which were (iterative proportional fitting). Of two columns that were not
measured together, what joins them says how they hang together: along the tree of those measured pairs that tell most
(largest mutual information), each column says of the next what its pair does, and nothing else. Of a tree of pairs that
is the most even guess there is (Chow, Liu 1968). All of it is post-processing: it costs no privacy, and has no
interval, as it is off on purpose.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from ...errors import RequestError
from .counts import over_cells
from .expected_counts import common_of, moved_to, nearest_with_total, towards, ways
from .reading import Reading
from .table_layout import Columns, largest

FITTINGS = 60  # Rounds of fitting a table that was not measured, at most.
CLOSE = 1e-6  # Of the records: margins that are this near count as met.
MOST_CELLS = 1 << 24
MOST_GUESSED = 1 << 20  # Cells of a table that is guessed for a mean or quantile.
# Columns that are looked at together, at least, and their cells, at most, as the work grows with the cube of these.
FEWEST_TOGETHER, MOST_TOGETHER = 3, 800
CLEARLY = 1.5  # Times the variance of noise, that a pair of a tree differs from its margins by where that is sure.
BEYOND_NOISE = 1.1  # Of the square of the largest eigenvalue that noise has, as chance may make it a little larger.
FEWEST_LEARNT, MOST_LEARNT = 10, 300  # Pairs of which it is learnt how they differ.
COMPLETIONS = 8  # Rounds in which cells of one column with each other are taken from all others.


class BestGuess:
    """Tables of one release, each made when it is asked for."""

    def __init__(self, reading: Reading):
        self._reading = reading
        self._known: dict[Columns, np.ndarray] = {}
        self.records = max(1.0, reading.records)

    def counts(self, table: Columns) -> np.ndarray:
        """The guessed counts of any set of columns, in increasing order, float64, one side a column.

        RequestError when the table would be too large, or a column is in no measured table.
        """
        if table not in self._known:
            self._known[table] = self._made(table)
        return self._known[table]

    def fine_counts(self, place: int) -> np.ndarray:
        """The guessed counts of the fine cells of a column, whose coarse ones are those of `counts`."""
        axis, noise = self._reading.layout.axes[place], self._reading.noise
        coarse = self.counts((place,))
        if not axis.halvings:
            return coarse
        width = axis.beside_missing(np.diff(axis.edges(fine=True)), True, 1.0).reshape(axis.cells, -1)
        even = coarse[:, None] * width / width.sum(axis=1, keepdims=True)
        found = self._reading.fine_counts(place).reshape(even.shape)
        unit = np.zeros(axis.fine)
        unit[0] = 1.0
        shrunk, uncertain = towards(found, (even,), float(noise.fine_variance(place, unit)))
        return moved_to(shrunk, uncertain, {(0,): coarse}).reshape(-1)

    def _made(self, table: Columns) -> np.ndarray:
        layout, noise = self._reading.layout, self._reading.noise
        size = math.prod(layout.axes[i].cells for i in table)
        if size > MOST_CELLS:
            raise RequestError(
                f"A table of {len(table):,} columns would have {size:,} cells, and a guess may have {MOST_CELLS:,}: "
                "ask for fewer columns."
            )
        if not table:
            return np.asarray(self.records)
        if len(table) == 1:
            self._check(table)
            return nearest_with_total(self._reading.counts(table), self.records)
        if table not in noise.by_columns:
            path = self._path(*table) if len(table) == 2 else ()
            return self._along(path) if path else self._fitted(table, self._told_parts(table))
        margins = list(combinations(table, len(table) - 1))
        expected = self._fitted(table, margins)
        sides = {tuple(table.index(i) for i in margin): self.counts(margin) for margin in margins}
        found, variance = self._reading.counts(table), self._cell_variance(table)
        if self._joined_once and ((found - expected) ** 2).mean() > CLEARLY * variance > 0.0:
            nearest = nearest_with_total(found.reshape(-1), self.records).reshape(found.shape)
            return moved_to(nearest, np.ones_like(nearest), sides)
        common = self.common if len(table) == 2 else None
        shrunk, uncertain = towards(found, self._likely(table, expected), variance, self.fitted_to(table), common)
        return moved_to(shrunk, uncertain, sides)

    def _likely(self, table: Columns, expected: np.ndarray) -> tuple[np.ndarray, ...]:
        """What may be expected of a table: what its margins say, and a pair's part of common directions with that."""
        beyond = self._beyond_margins(table)
        return (expected,) if beyond is None else (expected, np.maximum(expected + beyond, 0.0))

    def fitted_to(self, table: Columns) -> float:
        """How much likelier the common directions make a pair than the truth by having been fitted to its own noise.

        That is how many numbers they are (Akaike 1974): r N - r (r - 1) / 2 for r directions of N entries, of which a
        pair has as large a part as it is of all measured ones; of no columns, the part of one of its numbers.
        """
        sides = [axis.cells - 1.0 for axis in self._reading.layout.axes]
        many = len(self.directions[1])
        numbers = many * (len(self.directions[2]) - (many - 1) / 2.0)
        return numbers * math.prod(sides[i] for i in table) / max(self._free, 1.0)

    @cached_property
    def _free(self) -> float:
        sides = [axis.cells - 1.0 for axis in self._reading.layout.axes]
        return sum(math.prod(sides[i] for i in pair) for pair in self._pairs)

    @cached_property
    def _pairs(self) -> list[Columns]:
        """Those that were measured."""
        return [table for table in self._reading.noise.by_columns if len(table) == 2]

    @cached_property
    def common(self) -> np.ndarray | None:
        """How common each way to differ from what is expected is among the measured pairs; None where these are few."""
        if len(self._pairs) < FEWEST_LEARNT:
            return None
        logs = []
        for pair in self._pairs[:: -(-len(self._pairs) // MOST_LEARNT)]:
            expected = self._likely(pair, self._fitted(pair, [(place,) for place in pair]))
            variance = self._cell_variance(pair)
            if variance <= 0.0:
                return None
            logs.append(ways(self._reading.counts(pair), expected, variance, self.fitted_to(pair)).reshape(-1))
        return common_of(np.array(logs))

    @cached_property
    def _joined_once(self) -> bool:
        """Whether the measured pairs of three columns or more make no circle, and nothing else was measured."""
        known = self._reading.noise.by_columns
        pairs = [table for table in known if len(table) == 2]
        part = {place: place for (place,) in (table for table in known if len(table) == 1)}
        for one, other in pairs:
            if part[one] == part[other]:
                return False
            joined = part[other]
            part = {place: part[one] if name == joined else name for place, name in part.items()}
        return len(pairs) > 1 and all(len(table) < 3 for table in known)

    def _cell_variance(self, table: Columns) -> float:
        """Of the noise in a cell of a measured table, on average."""
        noise, axes = self._reading.noise, self._reading.layout.axes
        means = [np.asarray(1.0 / axes[i].cells) for i in table]
        spreads = ([one(i).mean() for i in table] for one in (noise.axis_spread, noise.alone_spread))
        return float(noise.products(table, means, *spreads))

    @cached_property
    def directions(self) -> tuple[dict[int, slice], np.ndarray, np.ndarray]:
        """The directions along which columns hang together and that noise does not make, none of few columns.

        Returns the rows of each column; float64 (n,) how long each direction is; and float64 (rows, n), their entries.
        """
        pairs = self._pairs
        columns = sorted({place for pair in pairs for place in pair})
        ends = np.cumsum([0, *(self._reading.layout.axes[place].cells for place in columns)]).tolist()
        place_of = {place: slice(*ends[k : k + 2]) for k, place in enumerate(columns)}
        values, vectors = np.zeros(0), np.zeros((ends[-1], 0))
        if len(columns) < FEWEST_TOGETHER or ends[-1] > MOST_TOGETHER:
            return place_of, values, vectors
        measured = np.zeros((ends[-1], ends[-1]))
        for one, other in pairs:
            off = self._reading.counts((one, other)) - self._fitted((one, other), [(one,), (other,)])
            measured[place_of[one], place_of[other]] = off
            measured[place_of[other], place_of[one]] = off.T
        edge = BEYOND_NOISE * 4.0 * ends[-1] * float(np.mean([self._cell_variance(pair) for pair in pairs]))
        for _ in range(COMPLETIONS if edge > 0.0 else 0):
            for place in place_of.values():
                measured[place, place] = (vectors[place] * values) @ vectors[place].T
            found, all_vectors = np.linalg.eigh(measured)
            seen = found**2 > edge
            values, vectors = np.sign(found[seen]) * np.sqrt(found[seen] ** 2 - edge), all_vectors[:, seen]
        return place_of, values, vectors

    def _beyond_margins(self, table: Columns) -> np.ndarray | None:
        """What a pair has beyond its margins along these directions; None where there are none."""
        place_of, values, vectors = self.directions
        if len(table) != 2 or not len(values):
            return None
        one, other = (vectors[place_of[place]] for place in table)
        product: np.ndarray = (one * values) @ other.T
        return product

    def _check(self, table: Columns) -> None:
        if table not in self._reading.noise.by_columns:
            name = self._reading.layout.axes[table[0]].name
            raise RequestError(f"The column {name!r} is in no table of this release.")

    def measured_parts(self, table: Columns) -> list[Columns]:
        """The largest sets of these columns that were measured together."""
        order = self._reading.layout.order
        known = self._reading.noise.by_columns
        parts = [part for size in range(1, order + 1) for part in combinations(table, size) if part in known]
        for i in table:
            self._check((i,))
        return list(largest(parts))

    def _told_parts(self, table: Columns) -> list[Columns]:
        """The same, and those pairs of them that others join."""
        parts = self.measured_parts(table)
        known = self._reading.noise.by_columns
        pairs = combinations(table, 2) if len(table) > 2 else ()
        joined = [pair for pair in pairs if pair not in known and self._path(*pair)]
        return list(largest([*parts, *joined])) if joined else parts

    @cached_property
    def _tree(self) -> dict[int, list[int]]:
        """By column, those that the measured pairs which tell most join it to, without any circle."""
        pairs = [table for table in self._reading.noise.by_columns if len(table) == 2]
        # In so many digits everybody agrees which of two tells more.
        told = {pair: round(mutual_information(self.counts(pair) / self.records), 9) for pair in pairs}
        part = {place: place for pair in pairs for place in pair}
        beside: dict[int, list[int]] = {place: [] for place in part}
        for one, other in sorted(pairs, key=lambda pair: (-told[pair], pair)):
            if part[one] != part[other]:
                beside[one].append(other)
                beside[other].append(one)
                joined = part[other]
                part = {place: part[one] if name == joined else name for place, name in part.items()}
        return beside

    def _path(self, one: int, other: int) -> Columns:
        """The columns from one to another along the tree; none where nothing joins them."""
        before: dict[int, Columns] = {one: (one,)}
        waiting = [one]
        for place in waiting:  # grows on the way
            new = [beside for beside in self._tree.get(place, ()) if beside not in before]
            before |= {beside: (*before[place], beside) for beside in new}
            waiting += new
        return before.get(other, ())

    def _along(self, path: Columns) -> np.ndarray:
        """The table of the ends of a path, on which each column says of the next what their pair does."""
        found = np.diag(self.counts(path[:1]))
        for one, other in pairwise(path):
            pair = self.counts((one, other)) if one < other else self.counts((other, one)).T
            of_one = pair.sum(axis=1, keepdims=True)
            found = found @ np.divide(pair, of_one, out=np.zeros_like(pair), where=of_one > 0.0)
        return found if path[0] < path[-1] else found.T

    def nearest_to(self, table: Columns, counts: np.ndarray) -> np.ndarray:
        """The table of some columns that has the guessed margins where they were measured, and is most like another.

        `table`, `counts`: in increasing order; and what it is to be like, in relative entropy, above zero.
        """
        return self._fitted(table, self.measured_parts(table), counts)

    def _fitted(self, table: Columns, margins: Sequence[Columns], like: np.ndarray | None = None) -> np.ndarray:
        """The most even table with guessed margins; where they cover each column once, their product.

        Or the one with these margins that is most like another.
        """
        layout = self._reading.layout
        fitted = np.full([layout.axes[i].cells for i in table], 1.0) if like is None else like.astype(np.float64)
        given = [(tuple(table.index(i) for i in margin), self.counts(margin)) for margin in margins]
        overlapping = sum(len(margin) for margin in margins) > len(table)
        for _ in range(FITTINGS if overlapping or like is not None else 1):
            off = 0.0
            for kept, wanted in given:
                others = tuple(side for side in range(len(table)) if side not in kept)
                have = fitted.sum(axis=others)
                off = max(off, float(np.abs(have - wanted).max()))
                factor = np.divide(wanted, have, out=np.zeros_like(have), where=have > 0)
                fitted *= np.expand_dims(factor, others)
            if off <= CLOSE * self.records:
                break
        return fitted


def mutual_information(joint: np.ndarray) -> float:
    """What two columns tell of each other, in natural units, by the shares of their cells."""
    even = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0.0
    return float((joint[there] * np.log(joint[there] / even[there])).sum())


def best_guess(reading: Reading) -> BestGuess:
    """The one of a reading, whose tables are made once."""
    return reading.kept.setdefault("guess", BestGuess(reading))


def guessed(reading: Reading, kept: Columns, weights: dict[int, np.ndarray]) -> np.ndarray:
    """The guessed counts of the cells of some columns in a part, float64, a side each; NaN where cells are too many.

    `weights`: by further columns, what of each of their cells is in the part.
    """
    table = tuple(sorted((*kept, *weights)))
    axes = reading.layout.axes
    if math.prod(axes[place].cells for place in table) > MOST_GUESSED:
        return np.full([axes[place].cells for place in kept], np.nan)
    return over_cells(best_guess(reading).counts(table), table, kept, weights)
