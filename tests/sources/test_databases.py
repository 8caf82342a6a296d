"""What a database holds, by name, and which files a name stands for."""

import os
import signal
import sqlite3
import threading
from contextlib import closing

import duckdb
import pytest

from core.domain import Domain, PrivacyUnit
from core.errors import RequestError
from core.sources import databases, open_source
from core.sources.databases import is_database, tables_of
from core.sources.duck import Scan
from core.sources.source_opening import named_files


@pytest.fixture
def clinic(tmp_path):
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as store:
        store.execute("CREATE TABLE patients AS SELECT range AS age FROM range(9)")
        store.execute("CREATE VIEW old AS SELECT * FROM patients WHERE age > 5")
        store.execute("CREATE SCHEMA billing; CREATE TABLE billing.invoices (sum DOUBLE)")
        store.execute("CREATE TABLE twice (x INT); CREATE TABLE billing.twice (y INT)")
    return tmp_path / "clinic.duckdb"


@pytest.fixture
def shop(tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.db")) as store:
        store.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT)")
        store.execute("CREATE VIEW items AS SELECT item FROM orders")
        store.commit()
    return tmp_path / "shop.db"


@pytest.mark.thorough
def test_every_table_and_view_is_listed_by_a_name_that_opens_it(clinic, shop):
    assert set(tables_of(clinic)) == {"patients", "old", "billing.invoices", "main.twice", "billing.twice"}
    assert tables_of(shop) == ("items", "orders")  # and none that SQLite keeps for itself
    for path in (clinic, shop):
        assert is_database(path)
        for table in tables_of(path):
            assert open_source(f"{path}::{table}").columns


def test_a_database_without_a_table_named_is_refused_with_its_tables(shop, clinic):
    with pytest.raises(RequestError, match=r"is a database; name one of its tables: .*shop\.db::items, .*::orders"):
        open_source(shop)
    with pytest.raises(RequestError, match=r"clinic\.duckdb::patients"):
        open_source(clinic)


def test_an_empty_database_and_what_only_begins_like_one_get_a_sentence(tmp_path):
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + b"x" * 500)
    for name, words in (("empty.duckdb", "no table in"), ("broken.db", "cannot be read as a SQLite database")):
        assert is_database(tmp_path / name)
        with pytest.raises(RequestError, match=words):
            tables_of(tmp_path / name)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE sqlite_master SET name = x'ff41'",
        "UPDATE sqlite_master SET name = NULL",
        "UPDATE sqlite_master SET name = 3",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE t (a ' || CAST(x'ff' AS TEXT) || ')'",
        "INSERT INTO t VALUES (CAST(x'ffee' AS TEXT), 1)",
    ],
)
def test_names_and_values_of_a_damaged_sqlite_file_that_are_no_text_get_a_sentence(tmp_path, damage):
    """Complaints about them are a UnicodeDecodeError, or an error without SQLite's code."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as store:
        store.execute("PRAGMA writable_schema=ON")
        store.execute("CREATE TABLE t (a TEXT, b INT)")
        store.execute(damage)
        store.commit()
    with pytest.raises(RequestError, match="cannot be read"):
        for table in tables_of(tmp_path / "a.db"):
            for _ in open_source(f"{tmp_path}/a.db::{table}").batches(Domain.of(a=["x", "y"])):
                pass


def test_every_byte_of_the_tables_description_may_be_wrong(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as store:
        store.execute("CREATE TABLE orders (item TEXT)")
        store.commit()
    whole = (tmp_path / "a.db").read_bytes()
    became = set()
    for place in range(whole.index(b"tableorders"), whole.index(b"(item TEXT)") + 11):
        (tmp_path / "b.db").write_bytes(whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :])
        try:
            for table in tables_of(tmp_path / "b.db"):
                became.add(len(open_source(f"{tmp_path}/b.db::{table}").columns))
        except RequestError as refusal:
            became.add(str(refusal))
    assert "What is in the database 'b.db' cannot be read as a SQLite database." in became


def test_other_files_folders_and_nothing_are_no_databases(tmp_path):
    (tmp_path / "x.csv").write_text("DUCK,x\n1,2\n")
    assert not any(map(is_database, (tmp_path / "x.csv", tmp_path, tmp_path / "none.duckdb")))


def test_the_files_of_a_name_are_known(tmp_path, shop):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n1\n")
    assert named_files(f"{tmp_path}/*.csv") == (f"{tmp_path}/a.csv", f"{tmp_path}/b.csv")
    assert named_files(f"{shop}::orders") == (str(shop),)
    assert named_files("s3://bucket/x.parquet") == ()
    with pytest.raises(RequestError, match="no file of the pattern"):
        named_files(f"{tmp_path}/*.parquet")


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


@pytest.fixture
def endless(tmp_path):
    """Views without an end: one of records, and one that never finds any."""
    with closing(sqlite3.connect(tmp_path / "endless.db")) as store:
        store.execute(f"CREATE VIEW records AS {ENDLESS}")
        store.execute(f"CREATE VIEW none AS {ENDLESS} WHERE x < 0")
        store.execute("CREATE TABLE finite AS SELECT 3 AS x")
        store.commit()
    return tmp_path / "endless.db"


def read(path, table):
    return sum(1 for batch in open_source(f"{path}::{table}").batches(Domain.of(x=(0, 1))) for _ in batch)


@pytest.mark.thorough
def test_a_view_without_an_end_is_read_to_a_stated_number_of_records(endless, monkeypatch):
    monkeypatch.setattr(databases, "MOST_ROWS", 200_000)
    with pytest.raises(RequestError, match="more than 200,000 records"):
        read(endless, "records")
    monkeypatch.setattr(databases, "MOST_ROWS", 0)
    read(endless, "finite")  # a table has an end


def test_a_view_that_never_gives_a_record_is_stopped(endless, monkeypatch):
    monkeypatch.setattr(databases, "MOST_SECONDS", 0.05)
    with pytest.raises(RequestError, match=r"gave no further records within 0\.05 seconds"):
        read(endless, "none")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_view_that_never_gives_a_record_can_be_interrupted(endless, monkeypatch):
    monkeypatch.setattr(databases, "MOST_SECONDS", 30.0)
    # Whoever starts the tests in the background of a shell starts them with this signal left out.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            read(endless, "none")
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("id", 2)])
def test_a_value_of_another_type_in_sqlite_is_what_is_said_of_it_among_persons_too(tmp_path, unit):
    """With persons the whole file was said to be damaged, cut short or of another format."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as store:
        store.execute("CREATE TABLE t (id INTEGER, x REAL)")
        store.executemany("INSERT INTO t VALUES (?, ?)", [(1, 0.5), (2, "secret")])
        store.commit()
    domain = Domain.of(x=(0, 1), unit=unit)
    with pytest.raises(RequestError, match=r"^The column 'x' holds values that are not of its declared type\.$"):
        list(open_source(f"{tmp_path}/a.db::t").batches(domain))


def test_a_strangers_sqlite_file_calls_nothing_that_acts_outside_of_it(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as store:
        store.execute("CREATE TABLE t (x INTEGER)")
    with closing(databases._connect(tmp_path / "a.db")) as session:
        assert session.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_duckdb_reads_the_files_that_are_named_and_no_others(tmp_path):
    for name in ("named.csv", "other.csv"):
        (tmp_path / name).write_text("x\n1\n")
    with Scan("", "it", (str(tmp_path / "named.csv"),)).connection() as session:
        assert session.execute(f"SELECT x FROM read_csv('{tmp_path}/named.csv')").fetchall() == [(1,)]
        with pytest.raises(duckdb.PermissionException):
            session.execute(f"SELECT x FROM read_csv('{tmp_path}/other.csv')")
        with pytest.raises(duckdb.Error):
            session.execute("SET enable_external_access = true")
