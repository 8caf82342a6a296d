"""Data named by a path: how the name is read, and what is said of it before a record is."""

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.sources import open_source
from core.sources.source_opening import Found
from core.ui.frame.navigation import DATA
from core.ui.own_data.picking_records import tidied, title_of

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (" /data/x.csv ", "/data/x.csv"),
        ('"/data/my file.csv"', "/data/my file.csv"),
        ("'/data/x.csv'", "/data/x.csv"),
        ("file:///data/x.csv", "/data/x.csv"),
        ("", ""),
        ('"', '"'),
        ("s3://bucket/x.parquet", "s3://bucket/x.parquet"),
    ],
)
def test_a_name_is_read_as_it_was_copied(typed, name):
    assert tidied(typed) == name


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("/data/visits.parquet", "visits.parquet"),
        ("/data/visits/*.parquet", "visits/*.parquet"),
        ("/data/clinic.duckdb::patients", "clinic.duckdb::patients"),
        ("s3://bucket/x.parquet?signature=secret", "x.parquet"),
    ],
)
def test_a_title_names_the_data_and_no_secret(name, title):
    assert title_of(name) == title


def test_what_files_say_of_themselves_is_found_and_nothing_is_counted(tmp_path):
    frame = pd.DataFrame({"x": range(70), "y": range(70)})
    for name in ("a", "b"):
        frame.to_parquet(tmp_path / f"{name}.parquet")
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    size = sum(Path(path).stat().st_size for path in paths)
    assert Found.of(open_source(f"{tmp_path}/*.parquet"), paths) == Found(2, 140, 2, size)
    texts = Found.of(open_source(f"{tmp_path}/*.csv"), [str(tmp_path / f"{name}.csv") for name in "ab"])
    assert texts.rows is None and texts.files == 2
    assert "Rows are not counted" in dict(texts.facts("visits"))


def test_files_that_are_gone_are_left_for_reading_to_tell(tmp_path):
    pd.DataFrame({"x": range(3)}).to_parquet(tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    (tmp_path / "x.parquet").unlink()
    assert Found.of(source, [str(tmp_path / "x.parquet")]) == Found(1, None)


@pytest.mark.thorough
def test_the_page_says_how_a_file_is_read_and_reads_it_otherwise():
    """A file in Windows-1252 with semicolons; then with another mark between fields, and without names."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).switch_page(DATA.path).run()
    text = "Straße;Gebühr;Ort, Land\nMühlweg;1;Bern, CH\nAm Tor;2;Chur, CH\n".encode("windows-1252")
    app.file_uploader(key="data-file").set_value(("export.csv", text, "text/csv")).run()
    assert not app.exception
    assert any("Windows-1252, fields separated by semicolons" in one.value for one in app.markdown)
    lists = {one.label: one for one in app.selectbox}
    assert {"Letters are in", "Between fields", "Names stand"} <= set(lists)
    lists["Between fields"].set_value("comma").run()
    assert not app.exception and any("fields separated by commas" in one.value for one in app.markdown)
    next(one for one in app.selectbox if one.label == "Names stand").set_value("nowhere: number the columns").run()
    assert not app.exception
