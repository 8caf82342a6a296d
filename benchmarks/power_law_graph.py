"""A made-up graph of any size in a stream: degrees of a power law, and neighbours that nodes close by share.

    python -m benchmarks.power_law_graph FOLDER --nodes 65000000 --mean 27.6

A node's number of edges is 1 + floor(X), X of the Lomax law P(X >= k) = (1 + k/s)^-1.5, cut off at `MOST_EDGES`, with s
such that the mean is the one asked for; so the density of degrees falls as the power -2.5, as in large social networks.
Every second edge goes to a node of the same neighbourhood, a window of the numbering that grows with the degree, with a
preference for its first nodes; so lists close by overlap, and a sum of Jaccard similarities has something to count. The
others go to node k with a probability in proportion to 1/(k + 1): Zipf's law over the whole graph. A pair may be drawn
twice: of the size of Friendster some 92% of the edges are distinct.

Nodes come in order. Every piece of `PIECE` nodes is drawn with a seed of its own, so a graph is a function of nodes,
mean and seed alone, whatever the number of threads.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import brentq

from core.runtime.environment import cores

SHAPE = 1.5
MOST_EDGES = 5000
"""Of one node; Friendster allowed that many friends."""
PIECE = 1 << 17
FILE_PIECES = 8
NEAREST = 64
"""Nodes in the smallest neighbourhood; one of a node with many edges has 4 to 8 times as many nodes as it has edges."""
MOST_NODES = 100_000_000
"""So that a gap between two ranks, nodes ln(nodes) / `STEPS`, times 16 bits fits into 32."""
STEPS = 1 << 15
"""Of the table that turns 15 random bits into a rank of Zipf's law; 16 more bits choose between two entries."""


@dataclass(frozen=True)
class PowerLawGraph:
    """A graph of public parameters; nothing is drawn until it is asked for.

    Parameters
    ----------
    nodes : at most `MOST_NODES`.
    mean : edges a node on average, more than 1 and well below `MOST_EDGES`.
    seed : of all that is random.
    """

    nodes: int
    mean: float
    seed: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.nodes <= MOST_NODES or not 1.0 < self.mean <= MOST_EDGES / 10:
            raise ValueError(f"A graph has 2 to {MOST_NODES:,} nodes and a mean degree of 1 to {MOST_EDGES // 10}.")

    @cached_property
    def spread(self) -> float:
        """s of the Lomax law, for which degrees have the mean."""
        k = np.arange(1, MOST_EDGES)
        return brentq(lambda s: 1.0 + ((1.0 + k / s) ** -SHAPE).sum() - self.mean, 1e-6, 1e6)

    def at_least(self, degree: np.ndarray) -> np.ndarray:
        """The probability that a node has so many edges or more, float64; the law that tests hold degrees to."""
        return np.where(degree > MOST_EDGES, 0.0, (1.0 + np.maximum(degree - 1, 0) / self.spread) ** -SHAPE)

    @cached_property
    def _ranks(self) -> tuple[np.ndarray, np.ndarray]:
        """Ranks at even steps of Zipf's law and the gaps between them, uint32 each."""
        edges = np.floor(self.nodes ** (np.arange(STEPS + 1) / STEPS)).astype(np.uint32) - np.uint32(1)
        return edges[:-1], np.diff(edges)

    @property
    def pieces(self) -> int:
        """How many pieces the stream has."""
        return -(-self.nodes // PIECE)

    def piece(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Edges of one piece: their sources in order, and their targets; int32 (m,) each."""
        start, stop = number * PIECE, min((number + 1) * PIECE, self.nodes)
        random = np.random.Generator(np.random.SFC64([self.seed, number]))
        lomax = self.spread * ((1.0 - random.random(stop - start)) ** (-1.0 / SHAPE) - 1.0)
        degrees = np.minimum(1.0 + np.floor(lomax), MOST_EDGES).astype(np.int64)
        source = np.repeat(np.arange(start, stop, dtype=np.int32), degrees)
        words = random.integers(0, 1 << 32, len(source), dtype=np.uint32)
        windows = np.repeat(self._windows(degrees), degrees)[::2]
        target = np.empty(len(source), dtype=np.int32)
        target[::2] = self._close_by(source[::2].astype(np.uint32), windows, words[::2])
        target[1::2] = self._anywhere(words[1::2])
        return source, target

    @staticmethod
    def _windows(degrees: np.ndarray) -> np.ndarray:
        """Sizes of neighbourhoods, powers of two, uint32."""
        return np.uint32(NEAREST) << np.ceil(np.log2(np.maximum(degrees / 16.0, 1.0))).astype(np.uint32)

    def _close_by(self, source: np.ndarray, windows: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Nodes of the sources' neighbourhoods: the square of a uniform number of 16 bits prefers the first ones."""
        place = words >> np.uint32(16)
        place *= place
        place >>= np.uint32(16)
        place *= windows
        place >>= np.uint32(16)
        return np.minimum((source & ~(windows - np.uint32(1))) + place, np.uint32(self.nodes - 1))

    def _anywhere(self, words: np.ndarray) -> np.ndarray:
        """Nodes of the whole graph by Zipf's law: 15 bits take a step of its table, 16 a place inside the step."""
        ranks, gaps = self._ranks
        step = words >> np.uint32(17)
        place = words & np.uint32(0xFFFF)
        place *= gaps.take(step)
        place >>= np.uint32(16)
        return place + ranks.take(step)

    def stream(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All edges, piece by piece."""
        return (self.piece(number) for number in range(self.pieces))

    def lists(self) -> tuple[np.ndarray, np.ndarray]:
        """All nodes' lists back to back: where each begins, int64 (nodes + 1,), and the targets, int32."""
        source, target = (np.concatenate(side) for side in zip(*self.stream(), strict=True))
        return np.searchsorted(source, np.arange(self.nodes + 1)), target

    def write(self, folder: Path) -> int:
        """Write Parquet files of the columns `source` and `target`, in order of their names; returns the edges."""
        folder.mkdir(parents=True, exist_ok=True)
        firsts = range(0, self.pieces, FILE_PIECES)
        with ThreadPoolExecutor(cores()) as pool:
            return sum(pool.map(lambda first: self._write_file(folder, first), firsts))

    def _write_file(self, folder: Path, first: int) -> int:
        edges = 0
        schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
        # Sources in order are almost nothing as differences; targets are random, and nothing makes them smaller.
        encoding = {"source": "DELTA_BINARY_PACKED", "target": "PLAIN"}
        options = {"use_dictionary": False, "column_encoding": encoding, "compression": "none"}
        with pq.ParquetWriter(folder / f"edges-{first // FILE_PIECES:04d}.parquet", schema, **options) as file:
            for number in range(first, min(first + FILE_PIECES, self.pieces)):
                columns = [pa.array(column) for column in self.piece(number)]
                file.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=1 << 20)
                edges += len(columns[0])
        return edges


FRIENDSTER = PowerLawGraph(65_000_000, 27.6)
GOOGLE_PLUS = PowerLawGraph(107_614, 121.0)
SLASHDOT = PowerLawGraph(82_168, 11.54)


def main() -> None:
    """Write a graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=FRIENDSTER.nodes)
    parser.add_argument("--mean", type=float, default=FRIENDSTER.mean, help="edges a node")
    parser.add_argument("--seed", type=int, default=FRIENDSTER.seed)
    chosen = parser.parse_args()
    start = perf_counter()
    edges = PowerLawGraph(chosen.nodes, chosen.mean, chosen.seed).write(chosen.folder)
    seconds = perf_counter() - start
    print(f"{chosen.nodes:,} nodes, {edges:,} edges, {seconds:.1f} s, {edges / seconds / 1e6:.1f} M edges/s")


if __name__ == "__main__":
    main()
