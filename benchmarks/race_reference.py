"""The work of the RACE paper's table 3 and the ways that NumPy does it: what ours is measured against.

The paper says: "We implemented RACE using Python and NumPy to batch-process the hash calculations", Laplace noise of
scale R / epsilon on every counter. Its data set has 241,000 colours; here are made-up ones of that size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.domain import Domain
from core.geometry.kernels import Euclidean
from core.sketches.race import Race

from .measuring import Published

RECORDS, ROWS, WIDTH, BANDWIDTH = 241_000, 1000, 1000, 5.0
BLOCK = 4096
"""Records that NumPy hashes at once: one product of that many by R numbers stays in the third-level cache."""
LARGE_BLOCK = 16_384
EPSILON = 1
TABLE_3 = "RACE, table 3"
BUILD_PUBLISHED = (
    Published(TABLE_3, 15.0, "RACE"),
    Published(TABLE_3, 12.0, "PrivBayes"),
    Published(TABLE_3, 6 * 3600.0, "KME"),
    Published(TABLE_3, 2.3 * 86400.0, "Bernstein"),
    Published(TABLE_3, 3 * 86400.0, "PFDA, more than"),
)
QUERY_PUBLISHED = (
    Published(TABLE_3, 0.4e-3, "RACE"),
    Published(TABLE_3, 1.2e-3, "KME"),
    Published(TABLE_3, 0.5, "PrivBayes"),
)


def colours(records: int, columns: int = 3) -> np.ndarray:
    """Made-up colours between 0 and 255, float64 (records, columns) in Fortran order."""
    normal = np.random.default_rng(0).normal(128, 40, (records, columns))
    return np.asfortranarray(normal.clip(0, 255))


def race(rows: int = ROWS, width: int = WIDTH, columns: int = 3) -> Race:
    """The sketch of the paper's experiment; with more columns a wider kernel, as distances grow with their root."""
    domain = Domain.of(**{f"c{number}": (0, 255) for number in range(columns)})
    return Race(domain, Euclidean(BANDWIDTH * (columns / 3) ** 0.5), rows=rows, width=width, seed=1)


@dataclass(frozen=True)
class NumpyRace:
    """The hashes of a sketch as NumPy needs them: directions float64 (R, d), offsets (R,), and W."""

    directions: np.ndarray
    offsets: np.ndarray
    width: int

    @classmethod
    def of(cls, sketch: Race) -> NumpyRace:
        """The same functions of the plane; where cells do not fit into W columns NumPy takes them modulo W."""
        hashes = sketch.columns.hashes
        directions = np.zeros((len(hashes.offset), sketch.domain.dimensions))
        terms = np.diff(hashes.first_term)
        directions[np.repeat(np.arange(len(terms)), terms), hashes.coordinate] = hashes.coefficient
        return cls(directions, hashes.offset, sketch.width)

    def blocked(self, data: np.ndarray) -> np.ndarray:
        """A block of records at a time: matrix product, floor, and `bincount` a row."""
        table = np.zeros((len(self.offsets), self.width), np.int64)
        for start in range(0, len(data), BLOCK):
            cells = self._cells(data[start : start + BLOCK])
            for row, counters in enumerate(table):
                counters += np.bincount(cells[:, row], minlength=self.width)
        return table

    def by_rows(self, data: np.ndarray) -> np.ndarray:
        """The same with the cells of a row side by side, larger blocks, and no remainder, for which W must suffice."""
        table = np.zeros((len(self.offsets), self.width), np.int64)
        for start in range(0, len(data), LARGE_BLOCK):
            projected = self.directions @ data[start : start + LARGE_BLOCK].T + self.offsets[:, None]
            cells = projected.astype(np.int64)  # no cell of a record is below 0
            for counters, own in zip(table, cells, strict=True):
                counters += np.bincount(own, minlength=self.width)
        return table

    def row_by_row(self, data: np.ndarray) -> np.ndarray:
        """The paper's procedure: one row of the table after the other, all records at once."""
        table = np.zeros((len(self.offsets), self.width), np.int64)
        for row, counters in enumerate(table):
            cells = np.floor(data @ self.directions[row] + self.offsets[row]).astype(np.int64) % self.width
            counters += np.bincount(cells, minlength=self.width)
        return table

    def released(self, data: np.ndarray, epsilon: float = EPSILON) -> np.ndarray:
        """The paper's release: its table and floating-point Laplace noise."""
        table = self.row_by_row(data)
        return table + np.random.default_rng().laplace(scale=len(table) / epsilon, size=table.shape)

    def query(self, table: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """Means over rows of the counters that queries fall in, without intervals."""
        rows = np.arange(len(table))
        blocks = (queries[start : start + BLOCK] for start in range(0, len(queries), BLOCK))
        return np.concatenate([table[rows, self._cells(block)].mean(axis=1) for block in blocks])

    def _cells(self, block: np.ndarray) -> np.ndarray:
        return np.floor(block @ self.directions.T + self.offsets).astype(np.int64) % self.width
