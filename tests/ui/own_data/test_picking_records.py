"""Data named by a path: how the name is read, and what is said of it before a record is."""

from pathlib import Path

import pandas as pd
import pytest

from core.sources import open_source
from core.sources.source_opening import Found
from core.ui.own_data.picking_records import tidied, title_of


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
