"""Damaged, hostile and mistaken input: one clear sentence each, which holds no value of the data."""

from __future__ import annotations

import datetime
import gzip
import os
import pickle
import re
import tempfile
import zipfile
import zlib
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, Numeric, PrivacyUnit
from core.errors import RequestError
from core.sources import Upload, open_source
from tests.depth import crossed, draws

SECRET = "4711secret"
DOMAIN = Domain.of(a=(0, 10), b=(0, 10))
BY_PERSON = Domain.of(b=(0, 10), unit=PrivacyUnit("a", 1))
MANY = "1,2\n" * 30_000


def drain(data, domain=DOMAIN):
    return sum(len(domain.encode(batch)) for batch in open_source(data).batches(domain))


def refused(data, domain=DOMAIN):
    with pytest.raises(RequestError) as refusal:
        drain(data, domain)
    sentence = str(refusal.value)
    assert SECRET not in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


BROKEN = [
    ("", "nothing in"),
    ("\n\n", "nothing in"),
    ("c,d\n", "does not name the columns asked for"),
    (SECRET, "does not name the columns asked for"),
    (f"a,b\n1,2\n{SECRET},2,3\n", "Line 3 of the file 'data.csv' has another number of fields"),
    (f"a,b\n1,2\n{SECRET}\n", "Line 3 of the file 'data.csv' has another number of fields"),
    (f"a,b\n{MANY}{SECRET},2,3\n", "Line 30,002 of the file 'data.csv' has another number of fields"),
    (f"a,b\n{MANY}{SECRET},2\n", "column 'a' in row 30,001 of the file 'data.csv' is not a number"),
    (f"a,b\n1,{SECRET}\n", "column 'b' in row 1 of the file 'data.csv' is not a number"),
    ("a;b\n1,5;2\n", "decimal point"),
    (f'a,b\n1,"{SECRET}\n2,3\n', "Line 2 of the file 'data.csv' has a quoted field that doesn't end"),
    (f'a,b\n{MANY}1,"{SECRET}\n2,3\n', "quoted field that doesn't end"),
    (f"a,b\n1,2\r\n{SECRET},4\n", "line ends of Windows and Unix"),
    (f"a,b\n1,{SECRET * 300_000}\n", "longer than two million characters"),
    ("a,b\n2026-01-01,2\n2026-01-02,3\n", "dates or times where numbers are expected"),
    ("1,2\n3,4\n", "has values where names of columns are expected"),
    # The first record's values became names of columns, and so public, as one of them may be a name.
    ("2023-07-24,cash,31.43,4\n2023-07-25,card,2.50,1\n", "has values where names of columns are expected"),
    ("cash,4,17\ncard,1,23\n", "has values where names of columns are expected"),
    ("anna,anna@example.org\nben,ben@example.org\n", "has values where names of columns are expected"),
    (f"a,b\n1,2\n{SECRET}ü,2\n".encode("latin-1"), "column 'a' in row 2 of the file 'data.csv' is not a number"),
    (b"a,b\n" + MANY.encode() * 10 + f"{SECRET}ü,2\n".encode("latin-1"), "row 300,001 .* is not a number"),
    (f"\ufeffa,b\n1,{SECRET}\n".encode("utf-16-be"), "column 'b' in row 1 .* is not a number"),
    (bytes(range(256)) * 20, "no text table"),
]


@pytest.mark.parametrize("text", ["a,b\n", "a,b"])
def test_a_table_of_nobody_is_not_refused_as_that_would_tell_that_nobody_is_there(text, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert drain(path) == 0


@pytest.mark.few(8)
@pytest.mark.parametrize(("way", "broken"), crossed(["path", "upload"], BROKEN))
def test_broken_text_tables(broken, way, tmp_path):
    text, sentence = broken
    content = text if isinstance(text, bytes) else text.encode()
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    data = path if way == "path" else Upload("data.csv", content)
    said = refused(data)
    assert re.search(sentence, said), said


@pytest.mark.parametrize("missing", ["drop", "refuse"])
def test_what_is_no_number_is_found_among_persons_too(missing):
    text = f"id,b\n\np,1\np,2\n,3\nq,{SECRET}\nq,5\n"
    domain = Domain.of(b=(0, 10), unit=PrivacyUnit("id", 1), missing=missing)
    sentence = refused(Upload("data.csv", text.encode()), domain)
    assert "row 4" in sentence if missing == "drop" else "row 3" in sentence


@pytest.mark.thorough
def test_many_ways_to_write_that_there_is_no_number():
    text = "a,b\n1,NA\nnan,3\n,4\nn/a,5\nNULL,6\n 5 ,inf\n1e0,-Infinity\n-0.5,1_0\n"
    assert drain(Upload("data.csv", text.encode())) == 3
    source = open_source(Upload("data.csv", text.encode()))
    points = np.concatenate([DOMAIN.encode(batch) for batch in source.batches(DOMAIN)])
    assert points.tolist() == [[5.0, 10.0], [1.0, 0.0], [0.0, 10.0]]


def test_booleans_in_text_are_categories_and_numbers():
    text = b"a,b\nTrue,1\nFALSE,2\ntrue,3\n"
    source = open_source(Upload("data.csv", text))
    assert source.kind("a") == "boolean"
    (batch,) = source.batches(Domain.of(a=["false", "true"]))
    assert Domain.of(a=["false", "true"]).encode(batch).argmax(axis=1).tolist() == [1, 0, 1]
    (batch,) = source.batches(Domain.of(a=(0, 1)))
    assert Domain.of(a=(0, 1)).encode(batch)[:, 0].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("stray", "truths"), crossed(["maybe", "2", "NA", ""], [("True", "False"), ("yes", "no"), ("t", "f"), ("1", "0")])
)
def test_one_record_does_not_change_how_the_others_are_read(truths, stray):
    """DuckDB guesses the type of a column from all records: had it a say, one person could move everybody else."""
    domain = Domain.of(a=["false", "true"])
    text = "a,b\n" + "".join(f"{truths[place % 2]},{place}\n" for place in range(40))

    def points(text):
        return [domain.encode(batch) for batch in open_source(Upload("data.csv", text.encode())).batches(domain)]

    alone, together = np.concatenate(points(text)), np.concatenate(points(text + f"{stray},1\n"))
    assert len(alone) == 40
    np.testing.assert_array_equal(together[:40], alone)
    assert len(together) == 40


def test_one_record_does_not_change_the_type_of_a_list():
    """NumPy makes one type of a list: texts of all numbers for a single text, numbers of all truths for one number."""
    for values, stray in (([1.0, 2.0], "x"), ([True, False], "x"), ([True, False], 7)):
        with pytest.raises(RequestError, match="mixes values of different types"):
            open_source({"a": [*values, stray]})


def test_text_in_categories_is_kept_as_it_is_written():
    domain = Domain.of(a=["007", "1.0", "NA", " x"])
    (batch,) = open_source(Upload("data.csv", b"a;b\n007;1\n1.0;2\nNA;3\n x;4\n7;5\n")).batches(domain)
    assert batch.column("a").to_pylist() == ["007", "1.0", "NA", " x", "7"]
    assert len(domain.encode(batch)) == 4


def frame(rows=1000):
    return pd.DataFrame({"a": np.arange(rows) % 7 + 1.0, "b": np.arange(rows) % 5 + 0.5, "c": [SECRET] * rows})


def damaged(kind, folder):
    path = folder / f"data.{kind}"
    if kind == "parquet":
        frame().to_parquet(path)
    elif kind == "arrow":
        feather.write_feather(frame(), path)
    elif kind == "arrows":
        table = pa.Table.from_pandas(frame())
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    elif kind == "csv.gz":
        frame().to_csv(path, index=False)
    elif kind == "npy":
        np.save(path, frame()[["a", "b"]].to_numpy())
    else:
        np.savez(path, a=frame()["a"], b=frame()["b"])
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows", "npy", "npz"])
def test_files_cut_short(kind, tmp_path):
    content = damaged(kind, tmp_path)
    assert drain(Upload(f"data.{kind}", content)) == 1000
    for length in (0, 3, 20, len(content) // 2, len(content) - 9):
        refused(Upload(f"data.{kind}", content[:length]))


def test_a_packed_table_that_leads_to_nothing_before_its_beginning():
    """The head is unpacked by Python, which complains of this by an error of zlib's own."""
    content = bytearray(gzip.compress(frame().to_csv(index=False).encode()))
    met = 0
    for place in range(10, 80):
        content[place] ^= 4
        try:
            gzip.decompress(bytes(content))
        except zlib.error:
            met += 1
            refused(Upload("data.csv.gz", bytes(content)))
        except (OSError, EOFError):
            pass
        content[place] ^= 4
    assert met > 3


@pytest.mark.thorough
@settings(max_examples=draws(24, 60))
@given(data=st.data(), kind=st.sampled_from(["csv.gz", "parquet", "arrow", "arrows", "npy", "npz"]))
def test_files_with_flipped_bits_never_do_worse_than_a_sentence(data, kind):
    with tempfile.TemporaryDirectory() as folder:
        content = bytearray(damaged(kind, Path(folder)))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        drain(Upload(f"data.{kind}", bytes(content)))
    except RequestError as refusal:
        assert SECRET not in str(refusal)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "npy", "npz", "feather"])
def test_garbage_and_pickles(suffix):
    for content in (pickle.dumps([SECRET]), b"PK\x03\x04" + bytes(50), bytes(1000), SECRET.encode() * 100):
        refused(Upload(f"data.{suffix}", content))


def test_python_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "data.npy", np.array([{SECRET: 1}]), allow_pickle=True)
    np.savez(tmp_path / "data.npz", a=np.array([{SECRET: 1}]), b=np.zeros(1))
    assert "never loaded" in refused(tmp_path / "data.npy")
    assert "never loaded" in refused(tmp_path / "data.npz")


def test_an_archive_that_claims_to_be_huge(tmp_path):
    header = np.lib.format.header_data_from_array_1_0(np.zeros(1)) | {"shape": (1 << 50,)}
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive, archive.open("a.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, header)
    refused(tmp_path / "data.npz")
    with (tmp_path / "data.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    refused(tmp_path / "data.npy")


def test_a_column_that_changes_type_on_the_way():
    values = pd.Series([1] * 100 + [SECRET], dtype=object)
    assert "mixes values of different types" in refused(pd.DataFrame({"a": values, "b": 1}))
    assert "text where numbers" in refused(pd.DataFrame({"a": [SECRET], "b": 1}))
    assert "dates" in refused(pd.DataFrame({"a": [datetime.date(2026, 1, 1)], "b": 1}))
    assert "dates" in refused(pa.table({"a": pa.array([1], pa.timestamp("s")), "b": [1]}))


def test_names_used_twice():
    assert "2 columns 'a'" in refused(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))
    assert "2 columns 'a'" in refused(pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"]))
    assert drain(pd.DataFrame([[1, 2]], columns=["c", "c"]).assign(a=1, b=1)) == 1
    assert [column.name for column in open_source(Upload("x.csv", b"a,a,b\n1,2,3\n")).columns] == ["a", "a_1", "b"]


@pytest.mark.thorough
def test_a_database_that_refers_to_other_files(tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as store:
        store.execute(
            f"CREATE VIEW leak AS FROM read_csv('{tmp_path}/secret.csv'); CREATE TABLE t AS SELECT 1 AS a, 2 AS b"
        )
        store.execute("CREATE SCHEMA other; CREATE TABLE other.t AS FROM t")
    assert "refers to other files" in refused(f"{tmp_path}/x.duckdb::leak")
    assert "more than one table 't'" in refused(f"{tmp_path}/x.duckdb::t")
    assert "no table 'none'" in refused(f"{tmp_path}/x.duckdb::none")
    assert "are: leak, main.t, other.t." in refused(f"{tmp_path}/x.duckdb::none")
    assert drain(f"{tmp_path}/x.duckdb::other.t") == 1
    (tmp_path / "broken.duckdb").write_bytes(os.urandom(9000))
    (tmp_path / "broken.sqlite").write_bytes(b"SQLite format 3\0" + os.urandom(9000))
    for name in ("broken.duckdb", "broken.sqlite"):
        assert "cannot be read" in refused(f"{tmp_path / name}::t")
    assert "no database file" in refused(f"{tmp_path}/nowhere.db::t")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere.csv", "There is no file"),
        ("nowhere*.csv", "There is no file"),
        (".", "is a folder"),
        ("", "must be a path"),
        ("a\0b.csv", "must be a path"),
        ("s3://bucket/data.parquet", "extension httpfs"),
        ("https://example.org/data.parquet?signature=4711secret", "extension httpfs"),
        ("s3://bucket/data.csv", "Only Parquet"),
        ("a" * 5_000, "File name too long"),
        ("a" * 5_000 + "/x.csv", "File name too long"),
        ("a" * 5_000 + "::t", "File name too long"),
        ("~nobody-of-this-name/x.csv", "There is no file"),
        ("~nobody-of-this-name/x.db::t", "no database file"),
        (3, "must be a path, a table or an array"),
        (None, "must be a path, a table or an array"),
    ],
)
def test_names_of_nothing(name, sentence):
    assert sentence in refused(name)


def test_file_names_that_are_patterns_or_no_format(tmp_path):
    (tmp_path / "a[1].csv").write_text("a,b\n1,2\n")
    (tmp_path / "a1.csv").write_text("a,b\n5,5\n")
    assert "rename the file" in refused(tmp_path / "a[1].csv")
    (tmp_path / "a.pdf").write_text("")
    assert "format of 'a.pdf' is not known" in refused(tmp_path / "a.pdf")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ['a"; DROP TABLE x; --', "a' OR '1'='1", "select", "person", "draw", "c0", "place", "fault"]
)
def test_names_are_never_read_as_sql(name, tmp_path):
    table = pa.table({name: [1.0, 2.0], f"{name}2": [3.0, 4.0], "who": ["p", "q"]})
    path = tmp_path / "it's '); SELECT 1; --.parquet"
    pq.write_table(table, path)
    domain = Domain((Numeric(name, 0, 9), Numeric(f"{name}2", 0, 9)))
    by_person = Domain(domain.columns, unit=PrivacyUnit("who", 1))
    ways = (path, by_person), (table, domain), (path, domain), (table, by_person)
    for data, asked in ways[: draws(2, 4)]:
        assert drain(data, asked) == 2


@pytest.mark.thorough
def test_nothing_is_left_behind_when_reading_stops_early(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    (tmp_path / "spill").mkdir()
    frame(draws(40_000, 200_000)).to_csv(tmp_path / "data.csv")
    for domain in (DOMAIN, BY_PERSON):
        batches = open_source(tmp_path / "data.csv").batches(domain, 1000)
        next(batches)
        (folder,) = (tmp_path / "spill").iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        batches.close()
        assert not list((tmp_path / "spill").iterdir())


@pytest.mark.skipif(os.name != "posix", reason="links are for administrators there")
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_with_two_names_is_not_read_twice(tmp_path, link):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    link(tmp_path / "a.csv", tmp_path / "latest.csv")
    assert drain(tmp_path / "latest.csv") == 2
    assert "'a.csv' and 'latest.csv' are one file, whose records would count twice" in refused(tmp_path / "*.csv")
