"""Dates, circles, places on the earth, ordered categories and free text, against slow and obvious references."""

from __future__ import annotations

import datetime
import json
import math
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from core.domain import (
    Categorical,
    ChosenWords,
    Coordinate,
    Cyclic,
    Dates,
    Domain,
    Numeric,
    Ordered,
    Reading,
    TextLength,
)
from core.domain.columns import column_from_dict, column_to_dict
from core.domain.dates import moments, part_of
from core.domain.declarations import Declaration
from core.domain.round_columns import position
from core.domain.written_dates import NEVER
from core.errors import RequestError

LAST_YEARS = Dates("d", "2015-01-01", "2025-12-31")
WHENEVER = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
BEFORE_2037 = st.datetimes(datetime.datetime(1920, 1, 1), datetime.datetime(2037, 1, 1))
YES_NO = Categorical("s", ("no", "yes", "?"), (("0", "false"), ("1", "true"), ()), ("n/a",), "?")
EVERY_KIND = (
    Numeric("pay", 0, 100, "EUR", Reading(("n/a",), ",", ("euros",)), 0.5),
    Dates("since", "2020-01-01", "2020-12-31", "hour", "joined", "%d.%m.%Y", "Europe/Paris", ("never",)),
    Cyclic("hour", part="hour", of="joined"),
    Cyclic("wind", ("N", "E", "S", "W")),
    Coordinate("lat", "latitude", 45.7, 45.8, 4.8, 4.9),
    Ordered("school", ("low", "mid", "high"), (0, 9, 12.5), missing=("n/a",), missing_category="low"),
    TextLength("long", 100, "words", "said"),
    ChosenWords("about", ("refund", "broken", "other"), of="said"),
    YES_NO,
)


def codes(column, values):
    return column.codes(pa.array(values)).tolist()


@given(st.lists(WHENEVER, min_size=1))
def test_dates_become_whole_days_since_the_first_as_python_counts_them(dates):
    expected = [(date.date() - datetime.date(2015, 1, 1)).days for date in dates]
    for array in (
        pa.array(dates, pa.timestamp("us")),
        pa.array([date.isoformat() for date in dates]),
        pa.array([f"{date:%Y-%m-%d}" if date.year > 999 else str(date.date()) for date in dates]),
        pa.array([date.date() for date in dates], pa.date32()),
    ):
        assert LAST_YEARS.numbers(array).tolist() == expected
    assert (
        Dates("d", "2015-01-01", "2016-01-01", format="%d.%m.%Y")
        .numbers(pa.array([f"{date.day}.{date.month:02}.{date.year}" for date in dates]))
        .tolist()
        == expected
    )


@pytest.mark.parametrize(
    "text", ["2020-02-30", "2019-02-29", "2020-13-01", "2020-00-10", "20200131", "31.1.2020", "x", ""]
)
def test_what_is_no_date_is_missing(text):
    assert np.isnan(LAST_YEARS.numbers(pa.array([text]))).all()


@given(st.lists(BEFORE_2037, min_size=1), st.sampled_from(["Europe/Paris", "America/New_York", "Asia/Kolkata"]))
def test_an_instant_is_read_by_the_clock_of_the_declared_zone(dates, zone):
    instants = [date.replace(microsecond=0, tzinfo=datetime.UTC) for date in dates]
    on_clock = [instant.astimezone(ZoneInfo(zone)).replace(tzinfo=datetime.UTC) for instant in instants]
    expected = [int((clock - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)).total_seconds()) for clock in on_clock]
    assert moments("d", pa.array(instants, pa.timestamp("s", "Asia/Tokyo")), zone=zone).tolist() == expected
    assert moments("d", pa.array([instant.isoformat() for instant in instants]), zone=zone).tolist() == expected
    assert moments("d", pa.array([instant.timestamp() for instant in instants]), "unix", zone).tolist() == expected


def test_other_ways_to_write_dates():
    assert LAST_YEARS.numbers(pa.array(["2015-01", "2015/1/2", "2015-01-02T23:59:59.9Z"])).tolist() == [0, 1, 1]
    several = Declaration.of(
        "columns: {d: {kind: date, first: 2020-01-01, last: 2020-12-31, format: ['%d.%m.%Y', '%m/%d/%Y', '%Y-%m-%d']}}"
    ).domain
    written = pa.array(["31.01.2020", "01/31/2020", "2020-01-31", "31/01/2020"])
    assert several.columns[0].numbers(written).tolist()[:3] == [30.0] * 3
    assert np.isnan(several.columns[0].numbers(written)[3])
    assert Declaration.of(Declaration(several).text()).domain == several
    named = Dates("d", "2020-01-01", "2020-12-31", format="%d %b %y")
    assert named.numbers(pa.array(["5 March 20", "6 dec 20", "6 foo 20"])).tolist()[:2] == [64, 340]
    compact = Dates("d", "2020-01-01", "2020-12-31", format="%Y%m%d")
    assert compact.numbers(pa.array([20200131])).tolist() == compact.numbers(pa.array(["20200131"])).tolist() == [30]
    known = Dates("d", "2020-01-01", "2020-12-31", missing=("2020-02-02",)).numbers(
        pa.array(["2020-02-02", "2020-01-02"])
    )
    assert np.isnan(known[0])
    assert known[1] == 1


def test_a_last_day_that_says_no_time_is_meant_to_its_end():
    assert (
        Dates("d", "2020-01-01", "2020-01-02", "hour").low,
        Dates("d", "2020-01-01", "2020-01-02", "hour").high,
    ) == (0, 47)
    assert Dates("d", "2020-01-01T06:00", "2020-01-01T07:00", "minute").high == 60


def test_dates_outside_are_moved_to_the_first_and_the_last():
    domain = Domain((LAST_YEARS,))
    points = domain.encode(pa.record_batch({"d": ["1000-01-01", "9999-01-01", "2015-01-03", "soon"]}))
    assert points.ravel().tolist() == [0, LAST_YEARS.high, 2]
    assert domain.decode_points(points)["d"].astype(str).tolist() == ["2015-01-01", "2025-12-31", "2015-01-03"]


@pytest.mark.parametrize("asked", [["2020-05-01"], [datetime.date(2020, 5, 1)], [pd.Timestamp("2020-05-01")], [1947]])
def test_dates_are_asked_about_in_any_way_they_are_said(asked):
    assert Domain((LAST_YEARS,)).encode_queries({"d": asked}).tolist() == [[1947.0]]
    assert LAST_YEARS.text(1947) == "2020-05-01"


def test_a_question_that_is_no_date_is_refused():
    with pytest.raises(RequestError, match="'d' in row 1 is missing or not a date"):
        Domain((LAST_YEARS,)).encode_queries({"d": ["soon"]})


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (("2020-01-02", "2020-01-01"), "must come before"),
        (("2020-01-01", "2020-01-01"), "more than one day"),
        (("01.01.2020", "2020-01-02"), "written as 2024-12-31"),
        (("2020-02-30", "2020-03-02"), "days that there are"),
        (("2020-01-01", "\udcf6"), "written as 2024-12-31"),
        ((0, 1), "written as"),
        (("2020-01-01", "2021-01-01", "week"), "'day' or 'hour'"),
        (("2020-01-01", "2021-01-01", "day", "", "%d.%q"), "directives"),
        (("2020-01-01", "2021-01-01", "day", "", "%H"), "year and month"),
        (("2020-01-01", "2021-01-01", "day", "", "", "Mars/Crater"), "time zone"),
    ],
)
def test_wrong_dates_are_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(RequestError, match=sentence):
        Dates("d", *wrong)


@given(st.lists(WHENEVER, min_size=1))
def test_parts_of_dates_are_those_of_python(dates):
    seconds = moments("d", pa.array(dates, pa.timestamp("us")))
    assert part_of(seconds, "hour").tolist() == [date.hour for date in dates]
    assert part_of(seconds, "weekday").tolist() == [date.weekday() for date in dates]
    assert part_of(seconds, "month").tolist() == [date.month - 1 for date in dates]
    assert part_of(seconds, "day_of_year").tolist() == [date.timetuple().tm_yday - 1 for date in dates]
    assert part_of(np.array([NEVER]), "hour").tolist() == [-1]


def test_a_circle_may_be_written_as_what_it_is():
    assert codes(Cyclic("h", part="hour"), ["13", "14:05", "2020-01-01 15:30", "24", "x", None]) == [
        13,
        14,
        15,
        -1,
        -1,
        -1,
    ]
    assert codes(Cyclic("h", part="hour"), [datetime.time(7, 59), None]) == [7, -1]
    assert codes(Cyclic("m", part="month"), [1, 12, 13]) == [0, 11, -1]
    assert codes(Cyclic("w", part="weekday"), ["Monday", "2026-11-23"]) == [0, 0]
    assert codes(Cyclic("wind", ("N", "E", "S", "W")), ["W", "N"]) == [3, 0]
    with pytest.raises(RequestError, match="which weekday a number means"):
        codes(Cyclic("w", part="weekday"), [1])


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [3, 7, 12, 24, 366])
@pytest.mark.parametrize("scale", ["none", "box"])
def test_distances_on_a_circle_depend_on_the_steps_between_alone_and_are_steps_nearby(count, scale):
    column = Cyclic("c", tuple(map(str, range(count))))
    domain = Domain((column,), scale=scale)
    points = domain.encode(pa.record_batch({"c": list(column.categories)}))
    low, high = domain.bounds()
    assert (points >= low).all()
    assert (points <= high).all()
    apart = np.abs(np.subtract.outer(range(count), range(count)))
    steps = np.minimum(apart, count - apart)
    unit = 1.0 if scale == "none" else 1.0 / count
    distances = cdist(points, points)
    assert distances == pytest.approx(unit * count / math.pi * np.sin(math.pi * steps / count), abs=1e-9)
    near = (steps > 0) & (steps <= count / 12)
    assert (np.abs(distances[near] / (unit * steps[near]) - 1) < 0.0115).all()
    assert domain.decode_points(points)["c"].astype(str).tolist() == list(column.categories)
    assert (domain.encode_queries({"c": list(column.categories)}) == points).all()


@given(
    st.floats(-80, 80),
    st.floats(0.01, 4),
    st.floats(-180, 179),
    st.floats(0.01, 5),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
def test_distances_between_places_are_those_on_a_sphere_up_to_the_stated_distortion(south, tall, west, wide, shares):
    east = west + wide if west + wide <= 180 else west + wide - 360
    lat, lon = position("lat", "lon", south, south + tall, west, east)
    domain = Domain((lat, lon))
    places = np.array([(south + a * tall, west + b * wide) for a, b in (shares[:2], shares[2:])])
    turned = np.where(places > 180, places - 360, places)
    points = domain.encode(pa.record_batch({"lat": turned[:, 0], "lon": turned[:, 1]}))
    flat = float(np.hypot(*(points[0] - points[1])))
    first, second = np.radians(places)
    half = np.sin((second - first) / 2.0) ** 2
    sphere = 2 * 6371.0088 * math.asin(math.sqrt(half[0] + math.cos(first[0]) * math.cos(second[0]) * half[1]))
    # Great circles bend towards the poles, too: by the square of how wide the box is.
    bent = math.radians(wide) ** 2 * (0.05 + math.tan(math.radians(max(abs(south), abs(south + tall)))) ** 2 / 8)
    assert flat == pytest.approx(sphere, rel=lat.distortion + bent + 1e-6, abs=1e-6)


def test_a_place_keeps_its_shape_when_columns_are_compared_by_their_bounds():
    columns = (*position("lat", "lon", 45.7, 45.8, 4.8, 5.0), Numeric("age", 0, 100))
    low, high = Domain(columns, scale="box").bounds()
    tall, wide = columns[0].kilometres
    assert high - low == pytest.approx([tall / wide, 1.0, 1.0])
    assert Domain(columns).decode_points(Domain(columns).encode_queries({"lat": [45.7], "lon": [5], "age": [3]})).iloc[
        0
    ].tolist() == pytest.approx([45.7, 5.0, 3.0])
    assert Domain(columns[:2]).encode_queries(np.array([[45.75, 4.9]])).tolist() == [[0.0, pytest.approx(0, abs=1e-9)]]


def test_what_is_no_place_is_missing_and_what_is_outside_is_moved():
    lat, lon = position("lat", "lon", -10, 10, 170, -170)
    batch = pa.record_batch({"lat": [91.0, 20.0, 0.0], "lon": [180.0, 179.0, 165.0]})
    assert Domain((lat, lon)).decode_points(Domain((lat, lon)).encode(batch)).to_numpy().tolist() == [
        [pytest.approx(10), pytest.approx(179)],
        [pytest.approx(0), pytest.approx(170)],
    ]


@pytest.mark.parametrize("box", [(46, 45, 4, 5), (45, 46, 5, 5), (-90, 0, 0, 1), (0, 1, 0, 181)])
def test_a_box_that_is_none_is_refused(box):
    with pytest.raises(RequestError, match="degrees"):
        position("lat", "lon", *box)


def test_ordered_categories_have_positions():
    school = EVERY_KIND[5]
    domain = Domain((school,))
    assert domain.encode(pa.record_batch({"school": ["high", "n/a", "what", "mid"]})).ravel().tolist() == [
        12.5,
        0,
        0,
        9,
    ]
    assert domain.decode_points(np.array([[12.0], [4.0], [5.0]]))["school"].tolist() == ["high", "low", "mid"]
    assert domain.encode_queries({"school": ["mid"]}).tolist() == [[9.0]]
    with pytest.raises(RequestError, match="not on the public list"):
        domain.encode_queries({"school": ["what"]})
    for wrong in ((1, 2), (1, 3, 2), (1, 1, 2), "abc"):
        with pytest.raises(RequestError, match="positions"):
            Ordered("x", ("a", "b", "c"), wrong)


def test_missing_values_may_be_a_category_of_their_own():
    batch = pa.record_batch({"s": pa.array(["0", "true", "n/a", None, "zz"])})
    assert YES_NO.coded(batch.column("s"))[0].tolist() == [0, 1, 2, 2, 2]
    assert len(Domain((YES_NO,), missing="refuse").encode(batch)) == 5
    with pytest.raises(RequestError, match="one of its categories"):
        Categorical("s", ("a", "b"), missing_category="c")
    with pytest.raises(RequestError, match="one category of 's' only"):
        Categorical("s", ("a", "b"), (("1",), ("1",)))


def test_codes_of_a_code_book_are_read_as_numbers_and_as_texts():
    sex = Categorical("sex", ("male", "female"), (("1",), ("2",)), ("9",))
    assert codes(sex, ["1", "2", "male", "3"]) == codes(sex, pa.array(["1", "2", "male", "3"]).dictionary_encode())
    assert codes(sex, ["1", "2", "male", "3"]) == [0, 1, 0, -1]
    assert codes(sex, [1.0, 2.0]) == [0, 1]
    assert sex.coded(pa.array([1, 9, 3]))[1].tolist() == [False, True, False]


def test_of_free_text_its_length_or_chosen_words_are_kept():
    texts = ["I want a REFUND", "thing's unbroken", "it is broken: a refund", "", None]
    batch = pa.record_batch({"said": pa.array(texts)})
    assert Domain((EVERY_KIND[6],)).encode(batch).ravel().tolist() == [4, 2, 5]
    assert EVERY_KIND[7].codes(batch.column("said")).tolist() == [0, 2, 0, -1, -1]
    assert Domain((TextLength("said", 10),)).encode(batch).ravel().tolist() == [10, 10, 10]
    with pytest.raises(RequestError, match="where text is expected"):
        Domain((TextLength("said", 10),)).encode(pa.record_batch({"said": [1, 2]}))


def test_every_kind_is_written_down_and_read_again_and_files_of_before_are():
    domain = Domain(EVERY_KIND)
    assert Domain.from_dict(json.loads(json.dumps(domain.to_dict()))) == domain
    old = Domain.of(x=(0, 1), c=["a", "b"]).to_dict()["columns"]
    assert old == [
        {"kind": "numeric", "name": "x", "low": 0.0, "high": 1.0, "unit": ""},
        {"kind": "categorical", "name": "c", "categories": ["a", "b"]},
    ]
    for column in domain.to_dict()["columns"]:
        with pytest.raises(RequestError):
            Domain.from_dict(domain.to_dict() | {"columns": [column | {"other": 1}]})


def test_several_columns_may_come_from_one():
    domain = Domain(EVERY_KIND)
    assert domain.fields == ("pay", "joined", "wind", "lat", "school", "said", "s")
    record = ("3,5 euros", "31.12.2020", "S", 45.75, "mid", "a b", "true")
    batch = pa.record_batch({name: [value] for name, value in zip(domain.fields, record, strict=True)})
    hours = Domain((EVERY_KIND[1],)).encode(batch)
    assert hours.tolist() == [[365 * 24]]
    without = Domain(tuple(column for column in EVERY_KIND if column.name != "hour"))
    point = without.encode(batch)
    assert without.encode_queries(without.decode_points(point)) == pytest.approx(point)


@pytest.mark.parametrize("wrong", [0.5, 7, "Mo", {"": ""}, [0.5], [[]]])
@pytest.mark.parametrize("field", ["categories", "written"])
def test_values_of_another_kind_in_a_file_are_refused(field, wrong):
    for column in (Categorical("c", ("a", "b")), Cyclic("c", part="weekday", of="day")):
        with pytest.raises(RequestError):
            column_from_dict(column_to_dict(column) | {field: wrong})
