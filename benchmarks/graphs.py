"""Graphs as sets of neighbours, one a node: Slashdot where its data is, and made-up ones of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq

from core.domain import Domain, Items
from core.domain.item_sets import Sets
from core.sketches.minhash import MinHash

from .limits import hash_steps, increments
from .measuring import Comparison, Published, Rival, Settings, Target
from .power_law_graph import SLASHDOT, PowerLawGraph
from .timing import in_turn

NEIGHBOURS = Domain((Items("neighbours"),))
TABLE_4 = "RACE, table 4"
MEANS = "RACE, 90 threads"
QUERIES = 2000
LEVEL = 0.95
SHARE = 100
"""NumPy does the same for every row, so a hundredth of them is timed, and a hundred times that is written down."""


def slashdot(settings: Settings) -> tuple[str, Sets]:
    """The graph of Slashdot, February 2009 (SNAP), or a made-up one of its size where its data is not given."""
    file = None if settings.data is None else settings.data / "soc_slashdot0902.parquet"
    if file is None or not file.exists() or settings.quick:
        return "a made-up graph of the size of Slashdot", made_up(SLASHDOT, settings)
    edges = pq.read_table(file)
    source, target = (edges[name].to_numpy() for name in ("src", "dst"))
    order = np.argsort(source, kind="stable")
    return "Slashdot", Sets.of_sizes(np.unique(source, return_counts=True)[1], target[order].astype(np.uint64))


def made_up(graph: PowerLawGraph, settings: Settings) -> Sets:
    """The lists of a made-up graph."""
    first, target = PowerLawGraph(settings.size(graph.nodes, 2_000), graph.mean, graph.seed).lists()
    return Sets(first, target.astype(np.uint64))


def asked_of(sets: Sets) -> Sets:
    """Some of the nodes, as questions."""
    return sets[np.random.default_rng(3).permutation(len(sets))[:QUERIES]]


def measured(
    name: str, sets: Sets, sketch: MinHash, seconds: float, micros: float, bound: float, settings: Settings
) -> Iterator[Comparison]:
    """Filling a table with a graph, and asking it, beside the paper's figures.

    Parameters
    ----------
    name, sets, sketch : the graph and what is made of it.
    seconds, micros : what the paper's table says of filling and of a question.
    bound : seconds that filling may take.
    """
    size = f"{name}, {len(sets):,} nodes, {len(sets.elements):,} edges, R = {sketch.rows:,}, W = {sketch.width:,}"
    table = sketch.zeros()
    ways: dict[str, Callable] = {
        "Frostglass": lambda: sketch.add(sketch.zeros(), sets),
        "again": lambda: sketch.add(table, sets),
    }
    rows = max(1, sketch.rows // SHARE)
    ways["NumPy"] = lambda: numpy_rows(sets, rows, sketch.width)
    items, counts = len(sets.elements), len(sets)
    ways["increments"] = lambda: increments(table, counts)
    ways["steps"] = lambda: hash_steps(items, sketch.rows)
    found = in_turn(ways, settings.repeats(5))
    limits = (
        Rival(f"increments alone, at known places of a row of {table[0].nbytes / 1000:,.0f} KB", found["increments"]),
        Rival("additions and minima of the hash alone", found["steps"]),
    )
    rival = Rival("NumPy, row by row", tuple(one * sketch.rows / rows for one in found["NumPy"]))
    middle = float(np.median(found["Frostglass"]))
    yield Comparison(
        f"fill a table: {size}",
        found["Frostglass"],
        rivals=(rival,),
        limits=limits,
        published=(Published(TABLE_4, seconds, MEANS),),
        targets=(Target("s", middle, bound),),
        facts={
            "s into a table whose memory is there already": float(np.median(found["again"])),
            "× 10⁹ steps of a hash/s, increments included": len(sets.elements) * sketch.rows / middle / 1e9,
        },
    )
    queries = asked_of(sets)
    found = in_turn({"Frostglass": lambda: sketch.answer(table, len(sets), queries, 0.0, LEVEL)}, settings.repeats(5))
    yield Comparison(
        f"{len(queries):,} questions: {size}",
        found["Frostglass"],
        published=(Published(TABLE_4, micros, MEANS),),
        pieces=len(queries),
        piece="question",
    )


def one_permutation(name: str, sets: Sets, classic: MinHash, settings: Settings) -> Comparison:
    """Filling by one-permutation hashing beside the classic scheme, which is the usual one."""
    thrown = replace(classic, scheme="one-permutation")
    ways = {one.scheme: lambda one=one: one.add(one.zeros(), sets) for one in (thrown, classic)}
    found = in_turn(ways, settings.repeats(3))
    return Comparison(
        f"fill a table by one-permutation hashing: {name}, R = {classic.rows:,}, W = {classic.width:,}",
        found[thrown.scheme],
        rivals=(Rival("Frostglass, classic", found[classic.scheme]),),
    )


def numpy_rows(sets: Sets, rows: int, width: int) -> np.ndarray:
    """The paper's procedure for sets, a row at a time: random numbers of all items, the least in every set, counted."""
    random = np.random.default_rng(1)
    first, elements = sets.first[:-1], sets.elements.astype(np.uint32)
    h1, h2 = (elements * random.integers(1, 1 << 32, dtype=np.uint32) for _ in range(2))
    table = np.zeros((rows, width), np.int64)
    for row, counters in enumerate(table):
        least = np.minimum.reduceat(h1 + np.uint32(row) * h2, first)
        counters += np.bincount((least.astype(np.uint64) * np.uint64(width)) >> np.uint64(32), minlength=width)
    return table
