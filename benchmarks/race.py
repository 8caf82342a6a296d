"""Building and querying a RACE sketch against the paper's way: NumPy, a block of records at a time."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter

import numpy as np

from core.domain import Domain
from core.kernels import Euclidean
from core.sketches.race import Race

RECORDS, QUERIES, ROWS, WIDTH = 241_000, 10_000, 1000, 1000
BLOCK = 4096
REPEATS = 3


def run() -> list[dict]:
    """Time 241,000 records of three columns, R = W = 1000; medians, both ways in turn.

    Returns
    -------
    list of dict
        One row a piece of work: work, seconds, rival, rival_seconds, ratio, and the rate in words.
    """
    data = np.asfortranarray(np.random.default_rng(0).normal(128, 40, (RECORDS, 3)).clip(0, 255))
    race = Race(Domain.of(R=(0, 255), G=(0, 255), B=(0, 255)), Euclidean(5.0), rows=ROWS, width=WIDTH, seed=1)
    directions, offsets = _directions(race)
    table = race.zeros()
    race.add(table, data[:100])  # compile
    race.answer(table, 100, data[:300], 0.95)

    build = _compare(lambda: race.add(race.zeros(), data), lambda: _numpy_build(directions, offsets, data))
    queries = data[:QUERIES]
    counts = _numpy_build(directions, offsets, data)
    query = _compare(
        lambda: race.answer(table, RECORDS, queries, 0.95), lambda: _numpy_query(directions, offsets, counts, queries)
    )
    grid = np.asfortranarray(np.random.default_rng(1).uniform(0, 255, (40_000, 3)))
    heatmap = _seconds(lambda: race.answer(table, RECORDS, grid, 0.95))
    return [
        {
            "work": f"RACE build, {RECORDS:,} x 3, R = W = 1000",
            "rival": "blocked NumPy",
            **build,
            "note": f"{RECORDS * ROWS / build['seconds'] / 1e9:.2f}e9 increments/s; the paper: 15 s",
        },
        {
            "work": f"RACE query with intervals, {QUERIES:,} points, R = 1000",
            "rival": "NumPy",
            **query,
            "note": f"{query['seconds'] / QUERIES * 1e6:.1f} us a point; the paper: 400 us",
        },
        {"work": "200 x 200 heatmap with intervals, R = 1000", "seconds": heatmap},
    ]


def _directions(race: Race) -> tuple[np.ndarray, np.ndarray]:
    """The same hashes for NumPy: a (rows, 3) matrix and offsets (rows,)."""
    hashes = race.columns.hashes
    return hashes.coefficient.reshape(ROWS, 3), hashes.offset


def _numpy_build(directions: np.ndarray, offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    table = np.zeros((ROWS, WIDTH), np.int64)
    for start in range(0, len(data), BLOCK):
        cells = np.floor(data[start : start + BLOCK] @ directions.T + offsets).astype(np.int64) % WIDTH
        for row in range(ROWS):
            table[row] += np.bincount(cells[:, row], minlength=WIDTH)
    return table


def _numpy_query(directions: np.ndarray, offsets: np.ndarray, table: np.ndarray, queries: np.ndarray) -> np.ndarray:
    rows = np.arange(ROWS)
    answers = []
    for start in range(0, len(queries), BLOCK):
        cells = np.floor(queries[start : start + BLOCK] @ directions.T + offsets).astype(np.int64) % WIDTH
        answers.append(table[rows, cells].mean(axis=1))
    return np.concatenate(answers)


def _compare(ours: Callable, rival: Callable) -> dict:
    pairs = [(_seconds(ours), _seconds(rival)) for _ in range(REPEATS)]
    seconds, rival_seconds = (statistics.median(side) for side in zip(*pairs, strict=True))
    return {"seconds": seconds, "rival_seconds": rival_seconds, "ratio": rival_seconds / seconds}


def _seconds(work: Callable) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
