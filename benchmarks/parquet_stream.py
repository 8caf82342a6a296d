"""100 million rows of three columns in Parquet files, through the command line, against reading the files alone.

Made-up measurements, written as pandas or Spark would: snappy, dictionaries where they pay, a million rows a group.
With two decimals, as prices and sensors have, a dictionary makes them quick to read; with all digits, as what was
computed has, reading takes longer, and filling the table the same. Both sides are programmes of their own that start
from nothing; memory is the most that was resident at once.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.runtime.environment import cores

from .measuring import BYTES, Comparison, NotMeasured, Rival, Settings, Target
from .memory import Finished, run_apart

ROWS, FILES, GROUP = 100_000_000, 20, 1 << 20
SKETCH_ROWS = 100
NAMES = ("a", "b", "c")
LOW, HIGH = 0.0, 1000.0
READING = """
import sys
import pyarrow.dataset as dataset
rows = 0
files = dataset.dataset(sys.argv[1], format="parquet")
for batch in files.to_batches(columns=sys.argv[2].split(","), use_threads=sys.argv[3] == "all"):
    rows += batch.num_rows
print(rows)
"""
DECIMALS = {"two decimals": 2, "all digits": None}
ROOM = 30
"""Bytes a row that the files need at most."""


def run(settings: Settings) -> Iterator[Comparison]:
    """Time, then memory: that of the whole stream beside that of a tenth of it, as it must not grow."""
    rows = int(settings.size(ROWS, 200_000) * settings.scale)
    folder = settings.scratch / "stream"
    for kind, decimals in DECIMALS.items():
        if shutil.disk_usage(settings.scratch).free < ROOM * rows:
            raise NotMeasured(f"the scratch folder has less than {ROOM * rows / 2**30:.1f} GiB free")
        write(folder, rows, decimals=decimals)
        yield from _compared(folder, settings, f"release {rows:,} × {len(NAMES)} of {kind} from Parquet files", rows)
        shutil.rmtree(folder)


def _compared(folder: Path, settings: Settings, work: str, rows: int) -> Iterator[Comparison]:
    found: dict[str, list[Finished]] = {"ours": [], "all": [], "one": []}
    for _ in range(1 + settings.repeats(3)):  # the first round only compiles and fills the system's cache of files
        found["ours"].append(release(folder / "*.parquet", settings.scratch))
        for threads in ("all", "one"):
            reading = (sys.executable, "-c", READING, str(folder), ",".join(NAMES), threads)
            found[threads].append(run_apart(reading))
    ours, on_all, on_one = (tuple(one.seconds for one in side[1:]) for side in found.values())
    limit = Rival("pyarrow, reading alone on all cores", on_all)
    timed = Comparison(
        f"{work}, R = {SKETCH_ROWS}", ours, limits=(limit, Rival("pyarrow, reading alone on one core", on_one))
    )
    slower = Target("times as long as reading alone", 1.0 / timed.ratio(limit), 2.0)
    yield replace(timed, targets=(slower,), facts={"million rows/s, start to end": rows / 1e6 / timed.median})

    peaks = tuple(float(one.peak_bytes) for one in found["ours"][1:])
    tenth = release(folder / "part-000[01].parquet", settings.scratch)
    yield Comparison(
        f"{work}, R = {SKETCH_ROWS}: memory",
        peaks,
        BYTES,
        rivals=(Rival("a tenth of the rows", (float(tenth.peak_bytes),)),),
        targets=(Target("GiB resident", max(peaks) / 2**30, 1.0),),
    )


def release(pattern: Path, scratch: Path, *options: str) -> Finished:
    """The command line from start to end; its ledger and its file are in the scratch folder."""
    bounds = [word for name in NAMES for word in ("--bounds", f"{name}={LOW:g}:{HIGH:g}")]
    command = [sys.executable, "-m", "core", "release", str(pattern), *bounds, "--mechanism", "race"]
    command += ["--kernel", "euclidean", "--bandwidth", "50", "--rows", str(SKETCH_ROWS), "--width", "1000"]
    command += ["--epsilon", "1", "--overwrite", "--out", str(scratch / "stream.npz"), *options]
    # Every release is an account of its own, as nobody pays here for made-up rows.
    ledger = scratch / "ledger.sqlite"
    ledger.unlink(missing_ok=True)
    return run_apart([*command, "--ledger", str(ledger), "--dataset", "stream"])


def write(folder: Path, rows: int, files: int = FILES, decimals: int | None = 2) -> None:
    """The files, each with a seed of its own; with so many decimals, or all digits."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = [rows * number // files for number in range(files + 1)]
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(lambda part: _write(folder, part, edges[part + 1] - edges[part], decimals), range(files)))


def _write(folder: Path, number: int, rows: int, decimals: int | None) -> None:
    random = np.random.default_rng(number)
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    with pq.ParquetWriter(folder / f"part-{number:04d}.parquet", schema) as file:
        for start in range(0, rows, GROUP):
            count = min(GROUP, rows - start)
            columns = [random.normal(500.0, 120.0, count).clip(LOW, HIGH) for _ in NAMES]
            if decimals is not None:
                columns = [column.round(decimals) for column in columns]
            file.write_table(pa.table(columns, schema=schema))
