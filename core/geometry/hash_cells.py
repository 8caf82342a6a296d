"""What every hash family is made of: cells that a point falls in, and the columns that cells are stored in.

A row of a sketch has one or more atomic hashes. An atomic hash is an interval number, floor(a.x + b), or the side of a
plane, sign(a.x). Two points collide in a row when they share every one of its cells; the probability of that, over the
draw of the row, is the kernel.

From cells to columns. Public bounds give every atomic hash a finite number of cells. When all the cells of a row fit
into the W columns, every combination of cells gets a column of its own: nothing is lost and no bias arises. Otherwise
the cells are rehashed by multilinear hashing, which is strongly universal on 32-bit values (Lemire, Kaser 2014,
Theorem 3.1), and the 32-bit result is scaled to W: two points in different cells share a column with probability 1/W
(up to W / 2**32), so that E[collision] = k + (1 - k)/W, which the sketch undoes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import RequestError
from .uniforms import PublicRandom

# Cells of one atomic hash that are told apart; where heavy-tailed projections have more, numbers wrap around.
MAX_CELLS = 1 << 31

# Directions are rounded to multiples of 1/GRID, so that the last bits of a platform's libraries do not matter.
GRID = 2.0**40


@dataclass(frozen=True)
class Hashes:
    """The atomic hashes of every row, as flat arrays; hash h belongs to row ``row[h]``, rows in order."""

    rows: int
    row: np.ndarray  # int64 (H,), the row of each atomic hash.
    first_term: np.ndarray  # int64 (H + 1,), where each hash's terms begin.
    # int32 and float64 (T,), the terms of a.x; coordinates that do not count are left out.
    coordinate: np.ndarray
    coefficient: np.ndarray
    offset: np.ndarray  # float64 (H,), b.
    side: np.ndarray  # bool (H,), whether the hash is sign(a.x), two cells, rather than floor(a.x + b).

    @classmethod
    def dense(cls, coefficients: np.ndarray, offset: np.ndarray, *, side: bool = False) -> Hashes:
        """Hashes on all coordinates, ``coefficients`` (rows, hashes a row, d) and ``offset`` (rows, hashes a row)."""
        rows, hashes, d = coefficients.shape
        return cls(
            rows,
            np.repeat(np.arange(rows), hashes),
            np.arange(rows * hashes + 1) * d,
            np.tile(np.arange(d, dtype=np.int32), rows * hashes),
            np.round(coefficients.ravel() * GRID) / GRID,
            offset.ravel(),
            np.full(rows * hashes, side),
        )

    @classmethod
    def by_coordinate(cls, coefficient: np.ndarray, offset: np.ndarray) -> Hashes:
        """One hash a coordinate, both arguments (rows, d)."""
        rows, d = coefficient.shape
        return cls(
            rows,
            np.repeat(np.arange(rows), d),
            np.arange(rows * d + 1),
            np.tile(np.arange(d, dtype=np.int32), rows),
            np.round(coefficient.ravel() * GRID) / GRID,
            offset.ravel(),
            np.full(rows * d, False),
        )

    def measured_in(self, bandwidths: np.ndarray) -> Hashes:
        """The same hashes for points whose coordinates are divided by ``bandwidths`` (d,) first."""
        return replace(self, coefficient=self.coefficient / bandwidths[self.coordinate])

    @cached_property
    def every_coordinate(self) -> int:
        """How many coordinates there are, if every hash has all of them in order; otherwise 0."""
        lengths = np.diff(self.first_term)
        d = int(lengths.max())
        whole = bool((lengths == d).all()) and bool((self.coordinate.reshape(-1, d) == np.arange(d)).all())
        return d if whole else 0

    def select(self, hashes: np.ndarray) -> Hashes:
        """The given atomic hashes only, in the given order; rows keep their numbers."""
        lengths = np.diff(self.first_term)[hashes]
        first = np.concatenate([[0], np.cumsum(lengths)])
        terms = np.repeat(self.first_term[hashes] - first[:-1], lengths) + np.arange(first[-1])
        return Hashes(
            self.rows,
            self.row[hashes],
            first,
            self.coordinate[terms],
            self.coefficient[terms],
            self.offset[hashes],
            self.side[hashes],
        )

    def only_rows(self, chosen: np.ndarray) -> Hashes:
        """The atomic hashes of the rows that are marked in ``chosen``, bool (R,)."""
        return self.select(np.flatnonzero(chosen[self.row]))


def concatenated(parts: list[Hashes]) -> Hashes:
    """All atomic hashes of all parts, row by row: collisions need every one of them, so kernels multiply."""
    shifts = np.cumsum([0] + [int(part.first_term[-1]) for part in parts[:-1]])
    together = Hashes(
        parts[0].rows,
        np.concatenate([part.row for part in parts]),
        np.concatenate(
            [part.first_term[:-1] + shift for part, shift in zip(parts, shifts, strict=True)]
            + [[shifts[-1] + parts[-1].first_term[-1]]]
        ).astype(np.int64),
        np.concatenate([part.coordinate for part in parts]),
        np.concatenate([part.coefficient for part in parts]),
        np.concatenate([part.offset for part in parts]),
        np.concatenate([part.side for part in parts]),
    )
    return together.select(np.argsort(together.row, kind="stable"))


@dataclass(frozen=True)
class Columns:
    """Hashes over a bounded domain, with the column that every combination of cells is stored in."""

    hashes: Hashes  # The atomic hashes, offsets already moved so that the first cell inside the bounds has number 0.
    first_hash: np.ndarray  # int64 (R + 1,), where each row's hashes begin.
    cells: np.ndarray  # int64 (H,), cells of each hash inside the bounds.
    multiplier: np.ndarray  # uint64 (H,), stride of the cell number, or factor of the universal hash.
    addend: np.ndarray  # uint64 (R,), constant of the universal hash.
    reachable: np.ndarray  # int64 (R,), columns of each row that a record can fall in.
    rehashed: np.ndarray  # bool (R,), whether the row's cells did not fit and share columns.
    width: int  # Columns of the table.

    @property
    def gain(self) -> np.ndarray:
        """float64 (R,), what undoes the bias of every row: 1/(1 - 1/W) where its cells share columns, and 1 elsewhere.

        A table may be of one column, where all that is inside the bounds falls in one cell: then nothing shares one.
        """
        return np.where(self.rehashed, 1.0 / (1.0 - 1.0 / max(self.width, 2)), 1.0)


def columns(hashes: Hashes, low: np.ndarray, high: np.ndarray, width: int, seed: int) -> Columns:
    """Give every cell inside the bounds a column, at most ``width`` of them a row.

    RequestError when a point inside the bounds is so far off, in bandwidths, that floating point cannot say in which
    cell.

    `hashes`: Atomic hashes of every row. `low`, `high`: Public bounds of the encoded coordinates, (d,). `width`: W, the
    most columns a row may have. `seed`: Public hash seed.

    Their ``width`` is smaller than W when no row needs W columns.
    """
    least, most = _projected_bounds(hashes, low, high)
    if not (np.isfinite(least).all() and np.isfinite(most).all()):
        raise RequestError(
            "The bounds reach too many bandwidths from zero for floating point to tell where a record lies; use a "
            "wider bandwidth or another unit."
        )
    first_cell = np.floor(least)
    cells = np.where(hashes.side, 2.0, np.floor(most) - first_cell + 1.0)
    # sign(a.x) is cell 1 from a.x = 0 up: floor(a.x + 1) clamped to {0, 1}.
    offset = np.where(hashes.side, 1.0, hashes.offset - first_cell)
    cells = np.minimum(cells, float(MAX_CELLS)).astype(np.int64)

    first_hash = np.searchsorted(hashes.row, np.arange(hashes.rows + 1))
    # Sum of logarithms instead of the product, which may overflow; exact where it decides, as W <= 2**32.
    combinations = np.exp2(np.minimum(np.add.reduceat(np.log2(cells), first_hash[:-1]), 60.0)).round()
    rehashed = combinations > width
    random = PublicRandom(seed, 0)
    multiplier, addend = random.words(len(cells)), random.words(hashes.rows)
    strides = _strides(cells, first_hash)
    in_rehashed = rehashed[hashes.row]
    reachable = np.where(rehashed, width, combinations).astype(np.int64)
    return Columns(
        replace(hashes, offset=offset),
        first_hash,
        cells,
        np.where(in_rehashed, multiplier, strides),
        np.where(rehashed, addend, np.uint64(0)),
        reachable,
        rehashed,
        int(reachable.max()),
    )


def _projected_bounds(hashes: Hashes, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest a.x + b over the box, widened a little beyond any rounding of the loop that computes it."""
    first = hashes.first_term[:-1]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
        a, b = (hashes.coefficient * bound[hashes.coordinate] for bound in (low, high))
        least = np.add.reduceat(np.minimum(a, b), first) + hashes.offset
        most = np.add.reduceat(np.maximum(a, b), first) + hashes.offset
        slack = 1e-12 * (np.add.reduceat(np.maximum(np.abs(a), np.abs(b)), first) + np.abs(hashes.offset))
        return least - slack, most + slack


def _strides(cells: np.ndarray, first_hash: np.ndarray) -> np.ndarray:
    """Mixed-radix place value of every hash within its row, modulo 2**64."""
    strides = np.ones(len(cells), dtype=np.uint64)
    longest = int(np.diff(first_hash).max())
    for position in range(1, longest):
        here = first_hash[:-1] + position
        here = here[here < first_hash[1:]]
        strides[here] = strides[here - 1] * cells[here - 1].astype(np.uint64)
    return strides
