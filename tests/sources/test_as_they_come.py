"""Columns as they come, the same from every format: words for "missing", thousands, dates, circles, places."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from core.domain import Categorical, Cyclic, Dates, Domain, Numeric, PrivacyUnit, Reading, TextLength
from core.domain.round_columns import position
from core.errors import RequestError
from core.sources import Upload, open_source
from core.sources.public_tables import read_queries

ROWS = 3_000
"""More than a batch of the smallest size that is read here."""


def columns() -> dict[str, list]:
    """A table as people keep it: 2% of the numbers are words for none."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 400) for i in range(ROWS)]
    return {
        "pay": ["n/a" if i % 50 == 0 else f"{1000 + i:,}" for i in range(ROWS)],
        "joined": [day.isoformat() for day in days],
        "lat": [45.7 + i % 10 / 100 for i in range(ROWS)],
        "lon": [4.8 + i % 10 / 100 for i in range(ROWS)],
        "member": [("0", "1", "?")[i % 3] for i in range(ROWS)],
        "said": ["a word or two"] * ROWS,
    }


DOMAIN = Domain(
    (
        Numeric("pay", 0, 3500, "EUR", Reading(("n/a",))),
        Dates("joined", "2020-01-01", "2020-12-31"),
        Cyclic("weekday", part="weekday", of="joined"),
        *position("lat", "lon", 45.7, 45.8, 4.8, 4.9),
        Categorical("member", ("no", "yes", "unknown"), (("0",), ("1",), ()), missing_category="unknown"),
        TextLength("words", 10, "words", "said"),
    )
)


def encoded(source, rows=1_000, domain=DOMAIN):
    return np.concatenate([domain.encode(batch) for batch in source.batches(domain, rows)])


def typed() -> pa.Table:
    """The same records as a program would write them: dates of their own type, texts where texts are."""
    table = pa.table(columns())
    joined = table.column("joined").cast(pa.date32())
    member = table.column("member").dictionary_encode()
    return table.set_column(1, "joined", joined).set_column(4, "member", member)


@pytest.fixture(scope="module")
def expected():
    found = encoded(open_source(pd.DataFrame(columns())))
    assert found.shape == (ROWS - ROWS // 50, 10)
    return found


def written(folder, kind):
    """The table in a file of some kind."""
    path = folder / f"people.{kind}"
    if kind == "csv":
        pd.DataFrame(columns()).to_csv(path, index=False)
    elif kind == "parquet":
        pq.write_table(typed(), path, row_group_size=700)
    else:
        feather.write_feather(typed(), str(path))
    return path


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_every_format_gives_the_same_coordinates(tmp_path, kind, expected):
    source = open_source(written(tmp_path, kind))
    assert (encoded(source) == expected).all()
    parts = source.parts(DOMAIN)
    again = [DOMAIN.encode(batch) for part in parts for batch in part.batches(DOMAIN, 500)]
    assert (np.concatenate(again) == expected).all()


def test_tables_in_memory_give_the_same_coordinates(expected):
    frame = typed().to_pandas()
    frame["joined"] = pd.to_datetime(frame["joined"]) + pd.Timedelta(hours=5)
    assert (encoded(open_source(frame)) == expected).all()
    assert (encoded(open_source(typed())) == expected).all()
    assert (encoded(open_source(columns())) == expected).all()


def test_a_spreadsheet_column_of_numbers_and_words_is_read(expected):
    frame = pd.DataFrame(columns())
    frame["pay"] = [value if value == "n/a" else int(value.replace(",", "")) for value in frame["pay"]]
    source = open_source(frame)
    assert source.kind("pay") == "text"
    assert (encoded(source) == expected).all()


@pytest.mark.parametrize(
    "others", [[True, False], [1.0, 2], [datetime.datetime(2024, 1, 31)], [2.5, 3, float("inf")]], ids=str
)
@pytest.mark.parametrize("one", [7, "n/a", 1.5, False], ids=str)
def test_one_python_object_changes_how_no_other_is_read(others, one):
    """A 7 among truths made texts of all of them, which are no numbers; and a word of 1.0 what is not "1" any more."""
    columns = (
        Numeric("x", 0.0, 10.0, "", Reading()),
        Categorical("x", ("true", "1", "1.0", "other"), (), (), "other", "other"),
    )
    for column in columns:
        domain = Domain((column,), scale="none")
        read = []
        for values in (others, [*others, one]):
            try:
                batches = open_source(pd.DataFrame({"x": pd.Series(values, dtype=object)})).batches(domain)
                read.append([row.tolist() for batch in batches for row in domain.encode(batch)])
            except RequestError:
                break
        assert len(read) < 2 or read[1][: len(read[0])] == read[0]


@pytest.mark.thorough
def test_a_selection_by_person_reads_as_the_whole_does(tmp_path, expected):
    by_person = Domain(DOMAIN.columns, unit=PrivacyUnit("member", ROWS))
    for kind in ("csv", "parquet"):
        found = encoded(open_source(written(tmp_path, kind)), domain=by_person)
        assert (np.sort(found, axis=0) == np.sort(expected, axis=0)).all()


def test_a_file_can_be_read_from_the_middle_on(tmp_path, expected):
    source = open_source(written(tmp_path, "parquet"))
    later = np.concatenate([DOMAIN.encode(batch) for batch in source.batches(DOMAIN, 500, start=1_200)])
    assert (later == expected[-len(later) :]).all()


def test_instants_with_a_zone_are_read_alike_by_both_readers(tmp_path):
    instants = [datetime.datetime(2020, 6, 1, 23, 30, tzinfo=datetime.UTC)] * 3
    table = pa.table({"id": [1, 2, 3], "at": pa.array(instants, pa.timestamp("ms", "America/New_York"))})
    pq.write_table(table, tmp_path / "at.parquet")
    columns = (
        Dates("at", "2020-01-01", "2020-12-31", "hour", zone="Europe/Paris"),
        Cyclic("hour", part="hour", of="at"),
    )
    for unit in (PrivacyUnit(), PrivacyUnit("id", 1)):
        domain = Domain(columns, unit=unit)
        found = domain.decode_points(encoded(open_source(tmp_path / "at.parquet"), domain=domain))
        assert found["at"].astype(str).tolist() == ["2020-06-02 01:00:00"] * 3
        assert found["hour"].astype(str).tolist() == ["23"] * 3


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (Numeric("joined", 0, 1), "'joined' holds dates or times where numbers are expected: declare it as a date"),
        (Numeric("joined", 0, 1, "", Reading()), "holds dates or times where numbers are expected"),
        (Dates("lat", "2020-01-01", "2021-01-01"), "'lat' holds numbers where dates are expected"),
        (Numeric("income", 0, 1), "no column 'income'"),
        (Cyclic("hour", part="hour", of="left"), "no column 'left'"),
    ],
)
def test_a_wrong_declaration_is_refused_before_anything_is_read(tmp_path, column, sentence):
    for kind in ("csv", "parquet"):
        source = open_source(written(tmp_path, kind))
        with pytest.raises(RequestError, match=sentence):
            next(iter(source.batches(Domain((column,)))))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (Numeric("when", 0, 1, reading=Reading()), "'when' holds dates or times where numbers are expected"),
        (Dates("when", "2020-01-01", "2021-01-01"), "'when' can be read as a date: say how dates are written"),
        (Dates("age", "2020-01-01", "2021-01-01"), "'age' holds numbers where dates are expected"),
        (Dates("when", "2020-01-01", "2021-01-01", format="%d %b %Y"), ""),
        (Numeric("age", 0, 99, reading=Reading(("n/a",))), ""),
        (Numeric("rare", 0, 99, reading=Reading(("n/a",))), ""),
    ],
)
def test_texts_of_which_nothing_can_be_read_are_refused_before_anything_is_paid(tmp_path, column, sentence):
    days = pd.date_range("2020-01-01", periods=1_200, freq="6h").strftime("%d %b %Y")
    ages = ["n/a", *["30"] * 1_199]
    rare = [*["n/a"] * 1_190, *["none given"] * 9, "4"]
    pd.DataFrame({"when": days, "age": ages, "rare": rare}).to_csv(tmp_path / "w.csv", index=False)
    source = open_source(tmp_path / "w.csv")
    if not sentence:
        assert sum(batch.num_rows for batch in source.batches(Domain((column,)))) == 1_200
        return
    with pytest.raises(RequestError, match=sentence) as refused:
        next(iter(source.batches(Domain((column,)))))
    assert "2020" not in str(refused.value) and str(refused.value).count(". ") == 0


@pytest.mark.thorough
def test_questions_bear_the_names_of_the_domain_and_are_said_as_people_say_them(tmp_path):
    asked = {"pay": [1000], "joined": ["2020-02-01"], "weekday": ["Friday"], "lat": [45.75], "lon": [4.85]}
    asked |= {"member": ["unknown"], "words": [4], "note": ["kept"]}
    frame = pd.DataFrame(asked)
    frame.to_csv(tmp_path / "asked.csv", index=False)
    frame.to_parquet(tmp_path / "asked.parquet")
    for name in ("asked.csv", "asked.parquet"):
        table = read_queries(open_source(tmp_path / name), DOMAIN)
        assert table.column("note").to_pylist() == ["kept"]
        assert DOMAIN.encode_queries(table) == pytest.approx(DOMAIN.encode_queries(frame))


@pytest.mark.parametrize("place", [0, 40])
def test_a_zero_byte_in_one_record_says_nothing_of_the_others(place):
    """The whole table was no text, and only where it stood in the first megabyte; spreadsheets may hold one, too."""
    lines = [b"1,a\n"] * 40
    lines.insert(place, b"2,a\0\n")
    domain = Domain.of(x=(0, 2), c=["a", "b"])
    encoded = [
        domain.encode(batch) for batch in open_source(Upload("t.csv", b"x,c\n" + b"".join(lines))).batches(domain)
    ]
    assert np.concatenate(encoded)[:, 0].tolist() == [1.0] * 40
    with pytest.raises(RequestError, match="no text table"):
        open_source(Upload("t.csv", b"x,c\0\n1,a\n"))
