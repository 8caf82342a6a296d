"""The parts of a source are its records in order, each once, wherever they are read; and a reading can be continued."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from core.domain import Domain, Items, Numeric, PrivacyUnit, Vector
from core.domain.encoding import FIRST_ROW
from core.errors import RequestError
from core.sources import Upload, open_source, parquet
from tests.depth import deep, sampled

DOMAIN = Domain.of(x=(0, 1e9), city=["a", "b"])
SIZES = (1, 1500, 3)


def frame(rows, first):
    place = np.arange(first, first + rows)
    return pd.DataFrame({"x": place + 0.5, "city": np.where(place % 3 == 0, "a", "b"), "who": place // 2})


@pytest.fixture(params=["csv", "parquet", "arrow"])
def source(request, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PART_ROWS", 400)
    first = 0
    for number, rows in enumerate(SIZES):
        path, records = tmp_path / f"part{number}.{request.param}", frame(rows, first)
        first += rows
        if request.param == "csv":
            records.to_csv(path, index=False)
        elif request.param == "parquet":
            records.to_parquet(path, row_group_size=150)
        else:
            feather.write_feather(records, path)
    return open_source(tmp_path / f"part*.{request.param}")


def values(batches):
    return np.concatenate([DOMAIN.encode(batch) for batch in batches])


def test_parts_are_the_source_in_order(source):
    parts = pickle.loads(pickle.dumps(source.parts(DOMAIN)))
    together = [batch for part in parts for batch in part.batches(DOMAIN, 64)]
    assert max(batch.num_rows for batch in together) <= 64
    np.testing.assert_array_equal(values(together), values(source.batches(DOMAIN)))
    np.testing.assert_array_equal(values(together)[:, 0], np.arange(sum(SIZES)) + 0.5)
    for part in parts:
        assert part.rows in (None, sum(batch.num_rows for batch in part.batches(DOMAIN)))


def test_parts_of_parquet_are_runs_of_row_groups_and_know_their_place(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PART_ROWS", 400)
    for number in range(2):
        frame(1000, 1000 * number).to_parquet(tmp_path / f"{number}.parquet", row_group_size=150)
    parts = open_source(tmp_path / "*.parquet").parts(DOMAIN)
    assert [part.rows for part in parts] == [450, 450, 100, 450, 450, 100]
    places = [int(next(part.batches(DOMAIN)).schema.metadata[FIRST_ROW]) for part in parts]
    assert places == [0, 450, 900, 1000, 1450, 1900]


@pytest.mark.parametrize("start", [deep(1), deep(2), 640, deep(1500), 1503, deep(1504), deep(9999)])
def test_a_reading_goes_on_after_any_record(source, start):
    batches = list(source.batches(DOMAIN, 64, start))
    rest = np.concatenate([batch.column("x").to_numpy() for batch in batches]) if batches else np.empty(0)
    np.testing.assert_array_equal(rest, np.arange(start, sum(SIZES)) + 0.5)
    for batch in batches:
        assert int(batch.schema.metadata[FIRST_ROW]) == batch.column("x")[0].as_py() - 0.5


def test_what_cannot_be_divided_says_so(source):
    by_person = Domain.of(x=(0, 1e9), unit=PrivacyUnit("who", 1))
    assert source.parts(by_person) == ()
    assert not source.keeps_order(by_person)
    assert source.keeps_order(DOMAIN)
    with pytest.raises(RequestError, match="no column 'y'"):
        source.parts(Domain.of(y=(0, 1)))
    in_memory = open_source(frame(10, 0))
    assert in_memory.parts(DOMAIN) == ()
    assert in_memory.fingerprint() is None


def test_a_fingerprint_changes_with_the_files(source):
    before = source.fingerprint()
    assert before == source.fingerprint()
    first = source.location.paths[0]
    times = Path(first).stat()
    os.utime(first, ns=(times.st_atime_ns, times.st_mtime_ns))  # as copying programs set times to what they were
    assert source.fingerprint() != before


@pytest.mark.thorough
def test_what_may_come_otherwise_next_time_has_no_fingerprint(tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as store:
        store.execute("CREATE TABLE t AS SELECT 1.0 AS x, 'a' AS city; CREATE VIEW v AS FROM t")
    assert open_source(f"{tmp_path}/x.duckdb::t").fingerprint() is not None
    assert open_source(f"{tmp_path}/x.duckdb::v").fingerprint() is None
    frame(3, 0).to_parquet(tmp_path / "x.parquet")
    upload = open_source(Upload("x.parquet", (tmp_path / "x.parquet").read_bytes()))
    assert upload.fingerprint() is None
    assert upload.parts(DOMAIN) == ()


ODD = {
    "int8": pa.array([-1, None, 3], pa.int8()),
    "uint64": pa.array([1, 2**63 + 1025, None], pa.uint64()),
    "int64": pa.array([1, 2**53 + 1, None]),
    "float32": pa.array([0.1, float("nan"), None], pa.float32()),
    "float64": pa.array([0.1, float("-inf"), -0.0]),
    "boolean": pa.array([True, None, False]),
    "decimal": pa.array([None, "1.005", "2.5"]).cast(pa.decimal128(20, 3)),
    "decimal256": pa.array([None, "1.005", "2.5"]).cast(pa.decimal256(50, 3)),
    "float16": pa.array(np.array([0.1, np.nan, 3], np.float16)),
    "numbers": pa.array([0.5, 0.5, None]).dictionary_encode(),
    "null": pa.nulls(3),
}
WORDS = {
    "text": pa.array(["a", None, "ä"]),
    "large": pa.array(["a", None, "ä"], pa.large_string()),
    "view": pa.array(["a", None, "ä"], pa.string_view()),
    "dictionary": pa.array(["a", None, "ä"]).dictionary_encode(),
    "truth": pa.array([True, None, False]),
    "whole": pa.array([1, None, 2]),
    "number": pa.array([1.0, float("nan"), 2.0]),
}
LISTS = {
    "list": pa.array([[1.0, 2.0], None, [3.0, None]]),
    "large_list": pa.array([[1, 2], None, [3, 4]], pa.large_list(pa.int16())),
    "fixed": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
}


FEW = ("uint64", "float64", "decimal", "numbers", "null", "dictionary", "truth", "number", "list", "fixed")


@pytest.mark.few(3)
@pytest.mark.parametrize("name", sampled([*ODD, *WORDS, *LISTS], *FEW))
def test_both_readers_of_parquet_give_the_same_points(name, tmp_path, monkeypatch):
    """DuckDB's reader is the reference."""
    if name in ODD:
        domain = Domain.of(v=(-1e30, 1e30))
    else:
        domain = Domain.of(v=["a", "ä", "true", "1"]) if name in WORDS else Domain((Vector("v", 2, 0, 10),))
    pq.write_table(pa.table({"v": (ODD | WORDS | LISTS)[name]}), tmp_path / "x.parquet")

    def points(plain):
        source = open_source(tmp_path / "x.parquet")
        if not plain:
            monkeypatch.setattr(type(source), "_plain", lambda *_: False)
        return np.concatenate([domain.encode(batch) for batch in source.batches(domain)])

    fast = points(True)
    np.testing.assert_array_equal(fast, points(False))


def test_files_that_differ_and_folders_that_are_columns_are_left_to_duckdb(tmp_path):
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [2.5]}), tmp_path / "b.parquet")
    domain = Domain.of(x=(0, 10))
    mixed = open_source(tmp_path / "*.parquet")
    assert mixed.parts(domain) == ()
    assert np.concatenate([domain.encode(batch) for batch in mixed.batches(domain)])[:2, 0].tolist() == [1, 2]
    (tmp_path / "year=7").mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "year=7" / "a.parquet")
    folders = open_source(tmp_path / "year=*" / "*.parquet")
    by_year = Domain.of(year=(0, 10))
    assert [by_year.encode(batch).ravel().tolist() for batch in folders.batches(by_year)] == [[7, 7]]
    assert folders.parts(by_year) == ()


def test_columns_with_dots_and_nested_namesakes(tmp_path):
    table = pa.table({"a.b": [1.0, 2.0], "a": pa.array([{"b": 9.0}, {"b": 9.0}])})
    pq.write_table(table, tmp_path / "x.parquet")
    domain = Domain((Numeric("a.b", 0, 10),))
    source = open_source(tmp_path / "x.parquet")
    assert np.concatenate([domain.encode(batch) for batch in source.batches(domain)]).ravel().tolist() == [1, 2]


def test_a_file_that_was_replaced_is_divided_as_it_is_now(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PART_ROWS", 10)
    domain = Domain((Items("item", gathered=True),), unit=PrivacyUnit("who", 1))
    path = tmp_path / "edges.parquet"

    def write(sets, items, groups):
        edges = {"who": np.repeat(np.arange(sets), items), "item": np.tile(np.arange(items), sets)}
        pd.DataFrame(edges).to_parquet(path, row_group_size=groups)

    write(20, 3, 9)
    source = open_source(path)
    assert source.rows_total() == 60
    write(10, 7, 5)
    assert source.rows_total() == 70
    together = [len(one) for part in source.parts(domain) for batch in part.batches(domain) for one in batch["item"]]
    assert together == [7] * 10
