"""What is read by path is read piece by piece, in order, however large it is."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.domain import Domain
from core.domain.encoding import FIRST_ROW
from core.errors import RequestError
from core.sources import open_source
from tests.depth import draws

MEASURE = """
import sys
from core.domain import Domain
from core.sources import open_source

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

domain = Domain.of(a=(0, 9), b=(0, 9), c=(0, 9), d=(0, 9))
batches = open_source(sys.argv[1]).batches(domain)
before, most, count = resident(), 0, 0
for batch in batches:
    count += len(domain.encode(batch))
    most = max(most, resident())
print(count, most - before)
"""


@pytest.mark.deep
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_flat(tmp_path):
    rows, groups = 1_000_000, draws(16, 20)
    group = pa.table({name: np.arange(rows, dtype=float) % (7 + place) for place, name in enumerate("abcd")})
    with pq.ParquetWriter(tmp_path / "large.parquet", group.schema) as writer:
        for _ in range(groups):
            writer.write_table(group)
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "large.parquet")]
    count, kilobytes = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert count == rows * groups
    assert kilobytes * 1024 < rows * groups * 4 * 8 / 2  # half of what the records need in memory


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_come_in_order_and_know_their_place(suffix, tmp_path):
    for part, rows in enumerate((1, 150_000, 3)):
        frame = pd.DataFrame({"x": np.arange(rows) + part * 1_000_000, "y": 0.5})
        frame.loc[frame.index[-1], "y"] = np.nan if part == 2 else 0.5
        path = tmp_path / f"part{part}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path, row_group_size=10_000)
    source = open_source(tmp_path / f"part*.{suffix}")
    batches = list(source.batches(Domain.of(x=(0, 1e9)), 4096))
    values = np.concatenate([batch.column("x").to_numpy() for batch in batches])
    assert len(values) == 150_004
    assert (np.diff(values) > 0).all()
    firsts = [int(batch.schema.metadata[FIRST_ROW]) for batch in batches]
    assert firsts == [0, *np.cumsum([batch.num_rows for batch in batches])[:-1]]
    refuse = Domain.of(x=(0, 1e9), y=(0, 1), missing="refuse")
    with pytest.raises(RequestError, match="column 'y' in row 150,004 is missing"):
        for batch in source.batches(refuse):
            refuse.encode(batch)


def test_only_the_columns_of_the_domain_are_converted():
    frame = pd.DataFrame({"x": [1.0], "mess": [object()]})
    (batch,) = open_source(frame).batches(Domain.of(x=(0, 1)))
    assert batch.schema.names == ["x"]
    assert open_source(frame).kind("mess") == "other"


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet", "feather"])
def test_a_record_that_moves_to_a_file_that_is_read_later_is_not_read_twice(suffix, tmp_path):
    """Counts, votes and distances had no look at the files: one person moved them by two records."""
    write = {"jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True)}
    write |= {"parquet": pd.DataFrame.to_parquet, "feather": pd.DataFrame.to_feather}
    write |= dict.fromkeys(("csv", "csv.gz"), lambda frame, path: frame.to_csv(path, index=False))
    first, last = (pd.DataFrame({"a": numbers}) for numbers in ([1.0, 2.0], [3.0]))
    for name, frame in (("1", first), ("2", last)):
        write[suffix](frame, tmp_path / f"{name}.{suffix}")
    batches = open_source(tmp_path / f"*.{suffix}").batches(Domain.of(a=(0, 9)), rows=1)
    next(batches)
    write[suffix](pd.concat([first[:1], last]), tmp_path / f"2.{suffix}")
    with pytest.raises(RequestError, match=r"changed|damaged"):
        list(batches)
