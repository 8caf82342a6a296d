"""Every way to name the same five records gives the same batches, and at most two records a person."""

from __future__ import annotations

import gzip
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.errors import RequestError
from core.sources import ColumnInfo, Upload, open_source
from core.sources.duck import QuotedLines
from tests.depth import crossed, sampled

RECORDS = {
    "id": ["p", "p", "p", "q", None],
    "a b": [1, 3, 5, 7, 9],
    'sécret "x"': [2.5, 4.5, 6.5, None, 10.5],
    "city": ["Bern", "Basel", "Bern", "Ölten", "Bern"],
}
NAMES = list(RECORDS)
COLUMNS = (Numeric("a b", 0, 8), Numeric('sécret "x"', 0, 100), Categorical("city", ("Bern", "Ölten", "Basel")))
DOMAIN = Domain(COLUMNS)
TWO_EACH = Domain(COLUMNS, unit=PrivacyUnit("id", 2))
KINDS = ["text", "number", "number", "text"]
TEXT = 'id;a b;"sécret ""x""";city\np;1;2.5;Bern\np;3;4.5;Basel\np;5;6.5;Bern\nq;7;;Ölten\n;9;10.5;Bern\n'
SUFFIXES = ["csv", "tsv", "csv.gz", "utf16.csv", "bom.csv", "parquet", "arrow", "arrows", "npz"]


def table():
    return pa.table(RECORDS)


def write(folder, suffix):
    path = folder / f"it's a «file».{suffix}"
    if suffix.endswith(("csv", "csv.gz", "tsv")):
        text = TEXT.replace(";", "\t") if suffix == "tsv" else TEXT
        content = text.encode({"utf16.csv": "utf-16", "bom.csv": "utf-8-sig"}.get(suffix, "utf-8"))
        path.write_bytes(gzip.compress(content) if suffix == "csv.gz" else content)
    elif suffix == "parquet":
        pq.write_table(table(), path, row_group_size=2)
    elif suffix == "arrow":
        feather.write_feather(table(), path)
    elif suffix == "arrows":
        with pa.ipc.new_stream(path, table().schema) as stream:
            stream.write_table(table(), max_chunksize=2)
    else:
        frame = table().to_pandas()
        text = {name: frame[name].fillna("").to_numpy(dtype=str) for name in ("id", "city")}
        np.savez(path, **{name: text.get(name, frame[name].to_numpy()) for name in NAMES})
    return path


def named(kind, folder):
    """The records, as a user would name them."""
    if kind in SUFFIXES:
        return str(write(folder, kind))
    if kind.startswith("upload "):
        path = write(folder, kind.removeprefix("upload "))
        return Upload(path.name, path.read_bytes())
    if kind == "duckdb":
        with duckdb.connect(str(folder / "store.duckdb")) as store:
            store.register("records", table())
            store.execute('CREATE SCHEMA "my schema"; CREATE TABLE "my schema"."the ""table""" AS FROM records')
        return f'{folder}/store.duckdb::my schema.the "table"'
    if kind == "sqlite":
        with sqlite3.connect(folder / "store.sqlite") as store:
            columns = ", ".join('"' + name.replace('"', '""') + '"' for name in NAMES)
            store.execute(
                f'CREATE TABLE "the table" ({columns.replace(", ", " TEXT, ", 1)} VARCHAR(9))'.replace('b"', 'b" INT')
            )
            store.executemany(
                f'INSERT INTO "the table" VALUES ({", ".join("?" * 4)})', zip(*RECORDS.values(), strict=True)
            )
        return f"{folder}/store.sqlite::the table"
    return {
        "table": table(),
        "mapping": RECORDS,
        "frame": table().to_pandas(),
        "categories": table().to_pandas().astype({"city": "category", "id": "category"}),
        "arrow-backed frame": table().to_pandas(types_mapper=pd.ArrowDtype),
        "batch": table().to_batches()[0],
    }[kind]


EVERY_WAY = [
    *SUFFIXES,
    *(f"upload {suffix}" for suffix in SUFFIXES),
    *("duckdb", "sqlite", "table", "mapping", "frame", "categories", "arrow-backed frame", "batch"),
]


FEW_WAYS = ("csv", "csv.gz", "parquet", "npz", "upload utf16.csv", "upload arrows", "duckdb", "sqlite", "frame")
"""One of each kind of source; the others differ from one of these in how their first bytes are read."""


@pytest.fixture(params=EVERY_WAY)
def any_source(request, tmp_path):
    return open_source(named(request.param, tmp_path))


@pytest.fixture(params=sampled(EVERY_WAY, *FEW_WAYS))
def source(request, tmp_path):
    return open_source(named(request.param, tmp_path))


def read(source, domain, rows=3):
    batches = list(source.batches(domain, rows))
    assert all(batch.schema.names == list(domain.names) for batch in batches)
    assert all(batch.num_rows <= rows for batch in batches)
    points = [domain.encode(batch) for batch in batches]
    return np.concatenate([np.empty((0, domain.dimensions)), *points])


@pytest.mark.few(9)
def test_names_kinds_and_values(any_source):
    source = any_source
    assert source.columns == tuple(map(ColumnInfo, NAMES, KINDS))
    assert source.rows_total() in (None, 5)
    expected = DOMAIN.encode(table().to_batches()[0])
    assert len(expected) == 4
    np.testing.assert_array_equal(read(source, DOMAIN), expected)
    np.testing.assert_array_equal(read(source, DOMAIN), expected)  # a source can be read again


@pytest.mark.few(2)
def test_at_most_two_records_a_person_and_none_of_nobody(source):
    first = read(source, TWO_EACH)[:, 0].tolist()
    assert set(first) < {1.0, 3.0, 5.0}
    assert len(first) == 2  # q misses a value, and the last record has no id


@pytest.mark.few(3)
def test_refusing_what_is_missing_names_the_row(source):
    refuse = Domain(COLUMNS, missing="refuse")
    with pytest.raises(RequestError, match=r"column 'sécret \"x\"' in row 4 is missing"):
        read(source, refuse)
    with pytest.raises(RequestError, match=r"column '(id|sécret \"x\")' in row [45] of .* is missing"):
        read(source, Domain(COLUMNS, missing="refuse", unit=PrivacyUnit("id", 2)))


def test_a_column_that_is_not_there(source):
    with pytest.raises(RequestError, match=r"There is no column 'height' in .*; its columns are: id, a b"):
        source.batches(Domain.of(height=(0, 1)))
    with pytest.raises(RequestError, match="There is no column 'who'"):
        source.batches(Domain(COLUMNS, unit=PrivacyUnit("who", 1)))


def test_a_pattern_reads_all_its_files_in_order(tmp_path):
    for place, suffix in ((2, "csv"), (1, "csv"), (1, "parquet"), (2, "parquet")):
        frame = pd.DataFrame({"x": [place, place + 0.5]})
        path = tmp_path / f"part{place}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    for suffix, total in (("csv", None), ("parquet", 4)):
        source = open_source(tmp_path / f"part*.{suffix}")
        assert source.rows_total() == total
        assert read(source, Domain.of(x=(0, 9)))[:, 0].tolist() == [1.0, 1.5, 2.0, 2.5]
    (tmp_path / "part3.csv").write_text("y\n1\n")
    with pytest.raises(RequestError, match="same first line"):
        open_source(tmp_path / "part*.csv")
    with pytest.raises(RequestError, match="several formats"):
        open_source(tmp_path / "part*")


@pytest.mark.few(1)
@pytest.mark.parametrize(("dtype", "order"), crossed(["f8", ">f4", "i2", "?", "f2", "g"], ["F", "C"]))
def test_arrays_take_their_names_from_the_domain_in_order(order, dtype, tmp_path):
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    np.save(tmp_path / "array.npy", array)
    np.savez(tmp_path / "array.npz", array)
    for data in (array, tmp_path / "array.npy", tmp_path / "array.npz"):
        np.testing.assert_array_equal(
            read(open_source(data), Domain.of(x=(0, 9), y=(0, 9), z=(0, 9))), array.astype("f8")
        )
        vectors = Domain((Vector("v", 2, 0, 9), Numeric("z", 0, 9)))
        np.testing.assert_array_equal(read(open_source(data), vectors), array.astype("f8"))
        by_name = open_source(data, names=["z", "y", "x"])
        np.testing.assert_array_equal(read(by_name, Domain.of(x=(0, 9), z=(0, 9))), array[:, [2, 0]].astype("f8"))
        one_each = Domain.of(y=(0, 9), unit=PrivacyUnit("z", 1))
        assert sorted(read(by_name, one_each)[:, 0]) == [0.0, 1.0]


def test_arrays_of_other_shapes():
    assert read(open_source(np.arange(3.0)), Domain.of(x=(0, 9))).tolist() == [[0.0], [1.0], [2.0]]
    assert len(read(open_source(np.empty((0, 2))), Domain.of(x=(0, 9), y=(0, 1)))) == 0
    structured = np.array([(1, 2.0)], dtype=[("x", ">i4"), ("y", "f8")])
    assert read(open_source(structured), Domain.of(y=(0, 9), x=(0, 9))).tolist() == [[2.0, 1.0]]
    for array in (np.zeros((2, 2, 2)), np.zeros((2, 0)), np.array(1.0), np.array([{}]), np.array([1j])):
        with pytest.raises(RequestError, match="1-d or 2-d array of numbers"):
            open_source(array)
    with pytest.raises(RequestError, match="2 names for the 3 columns"):
        open_source(np.zeros((1, 3)), names=["a", "b"])
    for domain in (Domain.of(x=(0, 1)), Domain.of(x=(0, 1), y=(0, 1), unit=PrivacyUnit("y", 1))):
        with pytest.raises(RequestError, match="no names"):
            open_source(np.zeros((1, 2))).batches(domain)


@pytest.mark.thorough
def test_vectors_by_name(tmp_path):
    lists = [[0.0, 1.0], [2.0, 3.0], None]
    domain = Domain((Vector("v", 2, 0, 9),), unit=PrivacyUnit("id", 1))
    pq.write_table(pa.table({"id": [1, 2, 2], "v": lists}), tmp_path / "v.parquet")
    fixed = pa.table({"id": [1, 2, 3], "v": pa.array(lists, pa.list_(pa.float32(), 2))})
    half = pa.table({"id": [1, 2, 3], "v": pa.array(lists, pa.list_(pa.float16()))})
    for data in (tmp_path / "v.parquet", fixed, half):
        assert open_source(data).kind("v") == "vector"
        plain = Domain(domain.columns)
        assert read(open_source(data), plain).tolist() == lists[:2]
        assert [0.0, 1.0] in read(open_source(data), domain).tolist()


@pytest.mark.thorough
def test_tables_without_rows_and_with_one(tmp_path):
    for rows in (0, 1):
        short = table().slice(0, rows)
        pq.write_table(short, tmp_path / "short.parquet")
        feather.write_feather(short, tmp_path / "short.feather")
        for data in (short, short.to_pandas(), tmp_path / "short.parquet", tmp_path / "short.feather"):
            assert len(read(open_source(data), DOMAIN)) == rows
            assert len(read(open_source(data), TWO_EACH)) == rows


def test_the_length_of_vectors_is_known_where_their_type_states_it(tmp_path):
    vectors = np.arange(12, dtype=np.float32).reshape(3, 4)
    fixed = pa.table({"v": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 4)})
    free = pa.table({"v": pa.array(vectors.tolist())})
    for name, table, length in (("fixed", fixed, 4), ("free", free, None)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        feather.write_feather(table, tmp_path / f"{name}.arrow")
        for path in (tmp_path / f"{name}.parquet", tmp_path / f"{name}.arrow"):
            source = open_source(path)
            assert source.columns == (ColumnInfo("v", "vector", length, lists=True),)
            (batch,) = source.batches(Domain((Vector("v", 4, 0, 20),)))
            np.testing.assert_array_equal(Domain((Vector("v", 4, 0, 20),)).encode(batch), vectors)
    np.savez(tmp_path / "both.npz", v=vectors, kind=np.array(["a", "b", "a"]))
    assert open_source(tmp_path / "both.npz").columns[0] == ColumnInfo("v", "vector", 4, lists=True)


def test_an_array_without_names_may_be_one_column_of_vectors():
    vectors = np.arange(12.0).reshape(3, 4)
    source = open_source(vectors).as_vectors("v")
    assert source.columns == (ColumnInfo("v", "vector", 4, lists=True),)
    (batch,) = source.batches(Domain((Vector("v", 4, 0, 20),)))
    np.testing.assert_array_equal(Domain((Vector("v", 4, 0, 20),)).encode(batch), vectors)


@pytest.mark.parametrize(
    "pieces", [("1,2\n", '3,"a\nb"\n'), ('1,"', "\n", '"\n'), ('5" pipe,"a\nb"\n',), ('"a""\n"\n',)]
)
def test_a_field_that_goes_on_in_the_next_line_is_seen_wherever_a_text_is_cut(pieces):
    lines = QuotedLines('"')
    assert b"".join(lines.watching(piece.encode() for piece in pieces)) == "".join(pieces).encode() and lines.found


def test_quotes_that_end_in_their_line_leave_a_text_to_several_readers():
    lines = QuotedLines('"')
    assert list(lines.watching([b'"a","', b'b""c"\n1,"', b'"\r\n'])) and not lines.found


@pytest.mark.thorough
def test_lines_like_records_in_a_quoted_field_are_one_value_in_large_files_too(tmp_path):
    """From 32 MB on several threads read, one of which began in the middle of the field: the file was refused."""
    path, long = tmp_path / "notes.csv", '1,"' + "2,y\n" * 2_000 + '"\n'
    path.write_text("a,b\n" + long * 4_200)
    assert path.stat().st_size > 33_000_000
    assert sum(len(batch) for batch in open_source(path).batches(Domain.of(a=(0, 9)))) == 4_200
