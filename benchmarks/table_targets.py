"""What tables with optimal noise have to reach, each line with what was measured.

    python -m benchmarks.table_targets adult.parquet                       # all but the longest
    python -m benchmarks.table_targets adult.parquet --only stream --rows 10000000
    python -m benchmarks.table_targets adult.parquet --only guess --releases 10

Seconds are of processors, and depend on nothing else that runs. Adult's bounds and categories are read off its rows,
which are public.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.domain import Categorical, Domain
from core.privacy.budget import Budget, Neighbours, Sensitivity
from core.privacy.calibration import calibrate
from core.releases.job import release
from core.releases.release import Release
from core.sketches.tables.reading import Noise
from core.sketches.tables.table_layout import Columns
from core.sketches.tables.table_weights import parts_of
from core.sketches.tables.tables import Tables

from .memory import run_apart
from .table_rivals import columns_of, distance, exact_pairs

PROMISE = Budget(1, "1e-9")
GROUP = LEAST_ROWS = 1 << 20
READING = """
import sys
import pyarrow.dataset as dataset
print(sum(batch.num_rows for batch in dataset.dataset(sys.argv[1]).to_batches(use_threads=False)))
"""
RELEASING = """
import sys
from core import Budget, load, release
release(load(sys.argv[2]).sketch, sys.argv[1] + "/*.parquet", Budget(1, "1e-9"))
"""


@dataclass(frozen=True)
class Asked:
    """What the command line says: the file of Adult, how many releases a figure has, and how many rows a stream."""

    file: Path
    releases: int
    rows: int


@dataclass(frozen=True)
class Line:
    """A figure and its bounds, of which either may be None."""

    what: str
    measured: float
    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        reached = (self.least is None or self.measured >= self.least) and (
            self.most is None or self.measured <= self.most
        )
        bound = "" if self.least is None else f" ≥ {self.least:g}"
        bound += "" if self.most is None else f" ≤ {self.most:g}"
        return f"| {self.what} | {self.measured:.4g} |{bound} | {'yes' if reached else '**no**'} |"


def adult(file: Path) -> pd.DataFrame:
    """Its rows, with texts where something is missing, and without what only says who may train a model with them."""
    frame = pd.read_parquet(file).drop(columns="split", errors="ignore")
    texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    return frame.assign(**{name: frame[name].astype(object).fillna("?").astype(str) for name in texts})


def optimum(asked: Asked) -> Iterator[Line]:
    """Closed-form variances for L2 length 1: their sum beside the optimum of real weights, and of each table.

    Independent noise at equal allocation is that of every single column and every pair counted alike, each of which one
    record moves by one.
    """
    frame = adult(asked.file)
    for bins in (10, 100):
        sketch = Tables.of(columns_of(frame, bins)[0], bins).measuring_contrasts()
        best = sum(math.sqrt(part.variance * part.square) for part in parts_of(sketch.layout).values()) ** 2
        moved = float(sketch.record_sensitivity(Neighbours.ADD_REMOVE).l2_squared)
        yield Line(
            f"Adult, {bins} bins: variance / ResidualPlanner's optimum", sketch.mean_variance(moved) / best, most=1.01
        )
        noise, tables = Noise(sketch.layout, sketch.weights, moved), sketch.layout.residuals[1:]
        apart = [table_variance(noise, table) / len(tables) for table in tables]
        yield Line(
            f"Adult, {bins} bins: the noisiest of {len(tables)} tables / independent noise", max(apart), most=1.0
        )
        pairs = [cell_deviations(noise, table) / math.sqrt(len(tables)) for table in tables if len(table) == 2]
        yield Line(f"Adult, {bins} bins: distance of pairs, independent noise / ours", 1.0 / float(np.mean(pairs)))
        sizes = [math.prod(sketch.axes[i].cells for i in table) for table in tables]
        yield Line(
            f"Adult, {bins} bins: variance summed over all cells / that of independent noise",
            float(np.average(apart, weights=sizes)),
        )


def table_variance(noise: Noise, table: Columns) -> float:
    """The mean variance of a table's cells."""
    return float(np.mean(_cell_variances(noise, table)))


def cell_deviations(noise: Noise, table: Columns) -> float:
    """The mean standard deviation of a table's cells, which its total variation from the truth goes by."""
    return float(np.mean(np.sqrt(_cell_variances(noise, table))))


def _cell_variances(noise: Noise, table: Columns) -> np.ndarray:
    """Of every cell: one weight is 1 and the others 0 along each column."""
    axes = [noise.layout.axes[i] for i in table]
    means = [np.full(axis.cells, 1.0 / axis.cells) for axis in axes]
    spreads = [noise.axis_spread(i) for i in table]
    return noise.products(table, np.ix_(*means), np.ix_(*spreads))


def guess(asked: Asked) -> Iterator[Line]:
    """Total variation of pairs, coverage, time and size of releases."""
    frame = adult(asked.file)
    for bins, bound in ((10, 0.016), (100, 0.041)):
        domain, cells, counts = columns_of(frame, bins)
        exact = exact_pairs(cells, counts)
        sketch = Tables.of(domain, bins).sized_for(PROMISE, len(frame))
        release(sketch, frame, PROMISE)  # compiles
        off, inside, seconds = [], [], []
        for _ in range(asked.releases):
            start = time.process_time()
            made = release(sketch, frame, PROMISE)
            seconds.append(time.process_time() - start)
            best = made.guessed().guess
            off.append(distance({pair: best.counts(pair) for pair in exact}, exact))
            inside.append(coverage(made, exact, len(frame)))
        yield Line(f"Adult, {bins} bins: mean total variation of pairs, best guess", float(np.mean(off)), most=bound)
        yield Line(f"Adult, {bins} bins: share of intervals that hold", float(np.mean(inside)), 0.93, 0.97)
        yield Line(f"Adult, {bins} bins: seconds of a release", float(np.mean(seconds)), most=3.0)


def coverage(made: Release, exact: dict[tuple[int, int], np.ndarray], records: int) -> float:
    """The share of the cells of all pairs whose 95% interval holds the exact count."""
    names = [axis.name for axis in made.sketch.axes]
    held = []
    for (one, other), shares in exact.items():
        told = made.table(names[one], names[other])
        truth = shares.reshape(-1) * records
        held.append(((told["low"] <= truth) & (truth <= told["high"])).to_numpy())
    return float(np.concatenate(held).mean())


def wide(asked: Asked) -> Iterator[Line]:
    """A hundred columns of ten categories."""
    random = np.random.default_rng(0)
    names = [f"c{place}" for place in range(100)]
    kinds = [f"k{kind}" for kind in range(10)]
    domain = Domain(tuple(Categorical(name, tuple(kinds)) for name in names))
    frame = pd.DataFrame({name: pd.Categorical.from_codes(random.integers(0, 10, 100_000), kinds) for name in names})
    start = time.process_time()
    sketch = Tables.of(domain, tables=list(combinations(names, 2))).sized_for(PROMISE, len(frame))
    yield Line("100 columns: seconds to plan", time.process_time() - start, most=5.0)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        release(sketch, frame, PROMISE).save(Path(folder) / "wide.npz")
        yield Line(
            "100 columns: seconds to release, of which two cores take half each", time.process_time() - start, most=8.0
        )
        yield Line("100 columns: megabytes", (Path(folder) / "wide.npz").stat().st_size / 1e6, most=5.0)
    once = sketch.record_sensitivity(Neighbours.ADD_REMOVE).l2_squared
    start = time.process_time()
    moved = sketch.record_sensitivity(Neighbours.REPLACE_ONE).l2_squared
    yield Line("100 columns, replaced records: seconds to bound", time.process_time() - start, most=5.0)
    # Two records that differ in all columns reach 2, as no residual has an inner product above 0 then but by rounding.
    yield Line("100 columns: squared length of a replaced record / an added one", moved / once, most=2.1)
    yes = Domain(tuple(Categorical(f"y{place}", ("n", "y")) for place in range(15)))
    sketch = Tables.of(yes).measuring_contrasts()
    ratio = [sketch.record_sensitivity(each).l2_squared for each in (Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE)]
    yield Line("15 yes/no columns: the same, exact", ratio[0] / ratio[1], 2.0, 2.1)


def ranges(asked: Asked) -> Iterator[Line]:
    """All ranges of a column of 1,024 cells beside the best of three trees of counts with consistency."""
    line = Domain.of(x=(0, 1))
    trees = [tree(*shape) for shape in ((2, 10), (4, 5), (32, 2))]
    sketch = Tables.of(line, 8, "singles", 7).sized_for(Budget(1), 1e6)
    ours = range_variance(sketch, calibrate(sketch.sensitivity(Neighbours.ADD_REMOVE), Fraction(1)).variance)
    theirs = min(calibrate(moved, Fraction(1)).variance * variance for moved, variance in trees)
    yield Line("ranges of 1,024 cells, pure: squared error / the best tree's", ours / theirs, most=0.85)
    halves = Tables.of(line, 2, "singles", 9).measuring_contrasts()
    ours = range_variance(halves, float(halves.sensitivity(Neighbours.ADD_REMOVE).l2_squared))
    theirs = min(moved.l2_squared * variance for moved, variance in trees)
    yield Line("the same at equal Gaussian noise", ours / theirs, most=0.85)


def tree(branches: int, levels: int) -> tuple[Sensitivity, float]:
    """Of counts of all nodes: what one person moves, and the mean variance of ranges by least squares."""
    cells = branches**levels
    nodes = np.vstack([np.kron(np.eye(branches**k), np.ones((1, cells // branches**k))) for k in range(levels + 1)])
    below = np.zeros((cells + 1, cells + 1))
    below[1:, 1:] = np.linalg.inv(nodes.T @ nodes).cumsum(axis=0).cumsum(axis=1)
    mean = ((cells + 1) * np.trace(below) - below.sum()) / (cells * (cells + 1) / 2)
    return Sensitivity(levels + 1, levels + 1, unit_shifts=True), float(mean)


def range_variance(sketch: Tables, variance: float) -> float:
    """The mean variance of all ranges of fine cells."""
    noise = sketch.reading(np.zeros(sketch.shape), variance, None, math.inf).noise
    fine = sketch.axes[0].fine
    total = 0.0
    for first in range(fine):
        weights = np.tril(np.ones((fine - first, fine - first)))
        total += noise.fine_variance(0, np.hstack([np.zeros((fine - first, first)), weights])).sum()
    return float(total / (fine * (fine + 1) / 2))


def stream(asked: Asked) -> Iterator[Line]:
    """Rows of Adult drawn again, in Parquet: a release of all pairs beside reading alone, each a process of its own."""
    frame = adult(asked.file)
    sketch = Tables.of(columns_of(frame, 10)[0], 10).sized_for(PROMISE, len(frame))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "sketch.npz"
        release(sketch, frame, PROMISE).save(made)
        sizes = {"few": 1_000, "tenth": asked.rows // 10, "all": asked.rows}
        few, tenth, every = (write(Path(folder) / name, frame, rows) for name, rows in sizes.items())
        start, beginning, ours = (run_apart(command(RELEASING, path, made)) for path in (few, tenth, every))
        empty, alone = (run_apart(command(READING, path, made)) for path in (few, every))
    reading = alone.processor_seconds - empty.processor_seconds
    share = reading / (ours.processor_seconds - start.processor_seconds)
    yield Line(f"{asked.rows:,} × {frame.shape[1]} from Parquet: seconds of processors", ours.processor_seconds)
    yield Line("the same: speed as a share of that of reading alone", share, least=0.3)
    yield Line("the same: most memory / that of a tenth of the rows", ours.peak_bytes / beginning.peak_bytes, most=1.3)


def command(text: str, path: Path, made: Path) -> list[str]:
    """A program over some files."""
    return [sys.executable, "-c", text, str(path), str(made)]


def write(folder: Path, frame: pd.DataFrame, rows: int) -> Path:
    """Rows drawn again, a million a file."""
    folder.mkdir(exist_ok=True)
    for number, first in enumerate(range(0, rows, GROUP)):
        drawn = np.random.default_rng(number).integers(len(frame), size=min(GROUP, rows - first))
        table = pa.Table.from_pandas(frame.iloc[drawn], preserve_index=False)
        pq.write_table(table, folder / f"{number:04d}.parquet")
    return folder


LINES: dict[str, Callable[[Asked], Iterator[Line]]] = {
    "optimum": optimum,
    "guess": guess,
    "wide": wide,
    "ranges": ranges,
    "stream": stream,
}


def main() -> None:
    """Print a row of a table a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", action="append", choices=LINES)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_000_000)
    given = parser.parse_args()
    if given.rows < LEAST_ROWS:
        parser.error(f"fewer than {LEAST_ROWS:,} rows take no longer than a program does to start")
    asked = Asked(given.file, given.releases, given.rows)
    print("| what | measured | wanted | reached |\n|---|---|---|---|")
    for name in given.only or LINES:
        for line in LINES[name](asked):
            print(line, flush=True)


if __name__ == "__main__":
    main()
