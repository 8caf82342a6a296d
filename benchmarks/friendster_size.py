"""A made-up graph of the size of Friendster, through the command line: 65 M nodes, 1.8 G edges, R = 2000, W = 500,000.

The edges lie on a disk in Parquet files, by node; the command gathers every node's edges into its set, fills the table
of a thousand million counters, draws noise for all of them and writes the file, within the memory that is measured. The
paper reports 18.1 minutes on 90 threads (table 4). `--scale 0.01` has a hundredth of the nodes and of the columns.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .graphs import MEANS, QUERIES, TABLE_4
from .measuring import BYTES, Comparison, NotMeasured, Published, Settings, Target
from .memory import Finished, run_apart
from .power_law_graph import FRIENDSTER, PowerLawGraph

ROWS, WIDTH = 2000, 500_000
EDGE_BYTES, COUNTER_BYTES = 5, 8
"""Room that an edge and a counter take on the disk at most."""
ASKING = """
import sys, time
import pyarrow.parquet as parquet
from core import load
questions = parquet.read_table(sys.argv[2]).to_pandas()
times = [time.perf_counter()]
release = load(sys.argv[1])
times.append(time.perf_counter())
release.interval(questions[:1])
times.append(time.perf_counter())
release.interval(questions)
times.append(time.perf_counter())
print(*(later - earlier for earlier, later in zip(times, times[1:])), len(questions))
"""


def run(settings: Settings) -> Iterator[Comparison]:
    """Writing the graph is no part of the work; releasing it and asking the file are."""
    scale = settings.scale * (0.001 if settings.quick else 1.0)
    graph = replace(FRIENDSTER, nodes=int(FRIENDSTER.nodes * scale))
    width = max(1000, int(WIDTH * scale))
    needed = EDGE_BYTES * graph.nodes * graph.mean + COUNTER_BYTES * ROWS * width
    if shutil.disk_usage(settings.scratch).free < needed:
        raise NotMeasured(f"the scratch folder has less than {needed / 2**30:.0f} GiB free")
    folder = settings.scratch / "graph"
    start = perf_counter()
    edges = graph.write(folder)
    rate = edges / (perf_counter() - start) / 1e6

    size = f"{graph.nodes:,} nodes, {edges:,} edges, R = {ROWS:,}, W = {width:,}"
    made = released(folder, width, settings.scratch)
    file = settings.scratch / "graph.npz"
    yield Comparison(
        f"from Parquet files to a release: {size}",
        (made.seconds,),
        published=(Published(TABLE_4, 18.1 * 60, MEANS),),
        targets=(Target("minutes", made.seconds / 60, 18.0),),
        facts={
            "million edges/s": edges / made.seconds / 1e6,
            "× 10⁹ increments/s, all else included": graph.nodes * ROWS / made.seconds / 1e9,
            "bytes a counter in the file": file.stat().st_size / (ROWS * width),
            "million edges/s written when the graph was made": rate,
        },
    )
    peak = made.peak_bytes
    limit = (Target("GiB resident", peak / 2**30, 12.0),)
    yield Comparison(f"from Parquet files to a release: {size}: memory", (float(peak),), BYTES, targets=limit)

    questions = settings.scratch / "questions.parquet"
    pq.write_table(_questions(graph), questions)
    asked = run_apart((sys.executable, "-c", ASKING, str(file), str(questions)))
    opened, warm, seconds, count = map(float, asked.output.split())
    yield Comparison(
        f"{count:,.0f} questions with intervals to the file: {size}",
        (seconds,),
        published=(Published(TABLE_4, 164e-6, MEANS),),
        pieces=int(count),
        piece="question",
        facts={"s to open the file": opened, "s for the first question": warm},
    )
    yield Comparison(
        f"{count:,.0f} questions with intervals to the file: {size}: memory",
        (float(asked.peak_bytes),),
        BYTES,
        facts={"GiB of file": file.stat().st_size / 2**30},
    )


def released(folder: Path, width: int, scratch: Path) -> Finished:
    """The command line from start to end."""
    command = [sys.executable, "-m", "core", "release", str(folder / "*.parquet"), "--items", "target", "--gathered"]
    command += ["--unit", "source:1", "--kernel", "jaccard", "--rows", str(ROWS), "--width", str(width)]
    command += ["--epsilon", "1", "--out", str(scratch / "graph.npz"), "--overwrite"]
    return run_apart([*command, "--ledger", str(scratch / "ledger.sqlite"), "--dataset", "graph"])


def _questions(graph: PowerLawGraph) -> pa.Table:
    """Lists of neighbours of the first piece's nodes, evenly from all of it."""
    source, target = graph.piece(0)
    first = np.searchsorted(source, np.arange(source[-1] + 2))
    chosen = np.linspace(0, source[-1], min(QUERIES, int(source[-1]) + 1)).astype(np.int64)
    return pa.table({"target": [target[first[node] : first[node + 1]] for node in chosen]})
