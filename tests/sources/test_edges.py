"""Edges in files, frames and databases: the same sets from each, in any order, and refusals that show no value."""

from __future__ import annotations

import pickle
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from core.domain import Domain, Items, PrivacyUnit
from core.domain.encoding import ROWS_READ
from core.errors import RequestError
from core.sources import Upload, open_source, parquet
from tests.depth import crossed, draws

GRAPH = {3: {1, 2, 9}, 7: {3}, 11: {3, 7, 100}, 250: {250}, -4: {3, 11}}


def edges(graph=GRAPH, order="ascending"):
    """The rows of a graph, one of them twice."""
    rows = [(who, whom) for who in sorted(graph) for whom in sorted(graph[who])]
    rows.insert(1, rows[0])
    if order == "shuffled":
        rows = [rows[place] for place in np.random.default_rng(3).permutation(len(rows))]
    return rows


def table_of(rows):
    return pa.table({"who": pa.array([who for who, _ in rows]), "whom": pa.array([whom for _, whom in rows])})


def domain_of(missing="drop"):
    return Domain((Items("whom", gathered=True),), missing=missing, unit=PrivacyUnit("who", 1))


def sets_of(source, domain=None, rows=2):
    """All sets, each a sorted tuple of numbers, in ascending order; a batch holds lists and nothing else."""
    found = []
    for batch in open_source(source).batches(domain or domain_of(), rows):
        assert batch.schema.names == ["whom"] and 0 < len(batch) <= rows
        found += [tuple(sorted({int(item) for item in items})) for items in batch.column("whom").to_pylist()]
    return sorted(found)


EXPECTED = sorted(tuple(sorted(items)) for items in GRAPH.values())


def write(table, form, folder):
    """The table in a format, and what names it."""
    path = folder / f"edges.{form}"
    if form in ("csv", "tsv"):
        options = pa.csv.WriteOptions(delimiter="," if form == "csv" else "\t")
        pa.csv.write_csv(table, path, options)
    elif form == "parquet":
        pq.write_table(table, path, row_group_size=3)
    elif form == "feather":
        pyarrow.feather.write_feather(table, path, chunksize=2)
    elif form == "npy":
        np.save(path, np.column_stack([column.to_numpy() for column in table.columns]))
    elif form == "npz":
        np.savez(path, who=table["who"].to_numpy(), whom=table["whom"].to_numpy())
    elif form == "duckdb":
        with duckdb.connect(str(path)) as session:
            session.register("given", table)
            session.execute("CREATE TABLE edges AS SELECT * FROM given")
        return f"{path}::edges"
    elif form == "sqlite":
        with closing(sqlite3.connect(path)) as session, session:
            session.execute("CREATE TABLE edges (who INTEGER, whom INTEGER)")
            session.executemany("INSERT INTO edges VALUES (?, ?)", zip(*table.to_pydict().values(), strict=True))
        return f"{path}::edges"
    return path


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("order", "form"),
    crossed(["shuffled", "ascending"], ["parquet", "csv", "tsv", "feather", "npy", "npz", "duckdb", "sqlite"]),
)
def test_every_format_in_any_order(form, order, tmp_path):
    assert sets_of(write(table_of(edges(order=order)), form, tmp_path)) == EXPECTED


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["ascending", "shuffled"])
def test_tables_in_memory(order):
    table = table_of(edges(order=order))
    assert sets_of(table) == EXPECTED
    assert sets_of(table.to_pandas()) == EXPECTED
    assert sets_of({"whom": table["whom"].to_pylist(), "who": table["who"].to_pylist()}) == EXPECTED
    assert sets_of(table.to_pandas().astype({"who": "category", "whom": str})) == EXPECTED


def test_several_files_share_sets(tmp_path):
    rows = edges()
    for number, start in enumerate(range(0, len(rows), 4)):
        pq.write_table(table_of(rows[start : start + 4]), tmp_path / f"{number}.parquet")
    assert sets_of(str(tmp_path / "*.parquet")) == EXPECTED
    # A file whose ids are of another type is read by a query, as it was converted before.
    other = table_of([(1000, 1)]).cast(pa.schema([("who", pa.int32()), ("whom", pa.int64())]))
    pq.write_table(other, tmp_path / "9.parquet")
    assert sets_of(str(tmp_path / "*.parquet")) == sorted([*EXPECTED, (1,)])


IDS = {
    "text": (["ada ", "ada", " ada", "bo", "", None], [{1, 2, 3}, {4}]),
    "ragged order": (["9", "10", "9", "10", "", None], [{1, 3}, {2, 4}]),
    "category": (pa.array(["ada", "bo", "ada", "bo", "", None]).dictionary_encode(), [{1, 3}, {2, 4}]),
    "date": (pa.array([1, 1, 1, 2, None, None], pa.date32()), [{1, 2, 3}, {4}]),
    "time": (pa.array([5, 1, 5, 1, None, None], pa.timestamp("us", "UTC")), [{1, 3}, {2, 4}]),
    "float": ([-0.0, 0.0, -0.0, 7.0, float("nan"), None], [{1, 2, 3}, {4}]),
    "decimal": (pa.array([1, 1, 1, 2, None, None], pa.decimal128(30, 2)), [{1, 2, 3}, {4}]),
    "boolean": ([True, False, True, False, None, None], [{1, 3}, {2, 4}]),
    "int8": (pa.array([-1, 5, -1, 5, None, None], pa.int8()), [{1, 3}, {2, 4}]),
    "uint64": (pa.array([1, 1, 1, 2**64 - 1, None, None], pa.uint64()), [{1, 2, 3}, {4}]),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", sorted(IDS))
def test_ids_of_every_type_and_ids_that_say_nothing(kind, tmp_path):
    ids, expected = IDS[kind]
    table = pa.table({"who": pa.array(ids) if isinstance(ids, list) else ids, "whom": range(1, 7)})
    expected = sorted(tuple(sorted(items)) for items in expected)
    pq.write_table(table, tmp_path / "edges.parquet")
    for source in (tmp_path / "edges.parquet", table)[: draws(1, 2)]:
        assert sets_of(source) == expected
        with pytest.raises(RequestError, match=r"'who' in row 5 of .* is missing"):
            sets_of(source, domain_of("refuse"))


@pytest.mark.few(3)
@pytest.mark.parametrize("items", [[1, None, 3], [1.0, float("nan"), 3.0], ["1", None, "3"]])
@pytest.mark.parametrize("who", [[1, 1, 2], [2, 1, 2]])
def test_items_that_say_nothing(items, who):
    table = pa.table({"who": who, "whom": pa.array(items)})
    assert sets_of(table) == ([(1,), (3,)] if who == [1, 1, 2] else [(1, 3)])
    with pytest.raises(RequestError, match=r"'whom' in row 2 of the table is missing"):
        sets_of(table, domain_of("refuse"))


def test_a_text_file_is_read_as_declared_whatever_one_record_holds(tmp_path):
    # One id and one item that are no numbers change nothing for the others; blanks around an item are left out.
    path = tmp_path / "edges.csv"
    path.write_text("who,whom\n9, 5\n9,5 \n10,6\nten,six\n10,\n,7\n")
    found = [items for batch in open_source(path).batches(domain_of()) for items in batch.column("whom").to_pylist()]
    assert sorted(sorted(set(items)) for items in found) == [["5"], ["6"], ["six"]]


def test_an_array_without_names_is_an_id_and_an_item():
    rows = np.array(edges())
    assert sets_of(rows) == EXPECTED
    with pytest.raises(RequestError, match="an id and an item"):
        sets_of(rows[:, :1])


def test_a_source_can_be_continued_after_some_sets():
    source = open_source(table_of(edges(order="shuffled")))
    assert source.keeps_order(domain_of())
    whole = [items for batch in source.batches(domain_of(), 2) for items in batch.column("whom").to_pylist()]
    rest = [items for batch in source.batches(domain_of(), 2, 3) for items in batch.column("whom").to_pylist()]
    assert rest == whole[3:]


def test_parts_hold_whole_sets_and_all_of_them(tmp_path, monkeypatch):
    who = np.sort(np.random.default_rng(4).integers(0, 90, 4000)) * 5
    whom = np.random.default_rng(5).integers(0, 1000, 4000)
    who[1000:2500] = who[1000]  # one set across several row groups and two files
    who.sort()
    table = pa.table({"who": who, "whom": pa.array(whom, mask=whom == 7)})
    for number, (start, stop) in enumerate([(0, 2100), (2100, 2100), (2100, 4000)]):
        pq.write_table(table[start:stop], tmp_path / f"{number}.parquet", row_group_size=300)
    source = open_source(str(tmp_path / "*.parquet"))
    monkeypatch.setattr(parquet, "PART_ROWS", 700)
    monkeypatch.setattr(parquet, "PAIR_ROWS", 256)
    parts = pickle.loads(pickle.dumps(source.parts(domain_of())))
    assert len(parts) == 5

    def listed(batches):
        return [items for batch in batches for items in batch.column("whom").to_pylist()]

    whole = listed(source.batches(domain_of(), 11))
    assert [items for part in parts for items in listed(part.batches(domain_of(), 11))] == whole
    read = [int(batch.schema.metadata[ROWS_READ]) for part in parts for batch in part.batches(domain_of(), 1)]
    assert sum(read) == 4000 and max(read) >= 1500
    row = int(np.argmax(whom == 7)) + 1
    with pytest.raises(RequestError, match=f"'whom' in row {row:,} of the 3 files"):
        [listed(part.batches(domain_of("refuse"))) for part in parts]
    # Whatever is not in order, or is no whole number, is read as a whole.
    assert open_source(table).parts(domain_of()) == ()
    for other in (table.take(np.arange(4000)[::-1]), table.set_column(0, "who", pa.array(who.astype(float)))):
        pq.write_table(other, tmp_path / "other.parquet")
        assert open_source(tmp_path / "other.parquet").parts(domain_of()) == ()


def test_a_damaged_file_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "edges.parquet"
    who = np.sort(np.random.default_rng(0).integers(0, 1000, 20_000))
    table = pa.table({"who": who, "whom": np.arange(20_000)})
    pq.write_table(table, path, row_group_size=2000, compression="none", write_page_checksum=True)
    whole = path.read_bytes()
    for start in (1000, len(whole) // 2):
        path.write_bytes(whole[:start] + bytes(600) + whole[start + 600 :])
        with pytest.raises(RequestError, match="cannot be read"):
            sets_of(path, rows=10_000)
    with pytest.raises(RequestError, match="cannot be read"):
        sets_of(Upload("edges.parquet", whole[:-2000]))


def test_refusals(tmp_path):
    table = table_of(edges())
    with pytest.raises(RequestError, match="no column 'whose'"):
        sets_of(table, Domain((Items("whom", gathered=True),), unit=PrivacyUnit("whose", 1)))
    with pytest.raises(RequestError, match="no column 'whim'"):
        sets_of(table, Domain((Items("whim", gathered=True),), unit=PrivacyUnit("who", 1)))
    assert sets_of(table[:0]) == [] and sets_of(pd.DataFrame({"who": [], "whom": []})) == []


def test_ids_that_are_spans_of_time_are_people_by_what_is_written():
    """A month and 30 days compare as equal in a database, and stand between each other when they are sorted."""
    month, days = pa.MonthDayNano([1, 0, 0]), pa.MonthDayNano([0, 30, 0])
    who = pa.array([month, days, month, days], pa.month_day_nano_interval())
    assert sets_of(pa.table({"who": who, "whom": [1, 2, 3, 4]})) == [(1, 3), (2, 4)]
