"""The public facts about the data, and the map from a record to coordinates, against a slow and obvious reference."""

from __future__ import annotations

import datetime
import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Items, Numeric, PrivacyUnit, Vector
from core.domain.column import NEAREST_BOUNDS
from core.domain.column_entries import columns_of
from core.domain.columns import column_from_dict, column_to_dict
from core.domain.declarations import stated
from core.errors import RequestError

LETTERS = ("a", "b", "ß c")


@pytest.mark.parametrize(
    ("latitude", "longitude", "drawn"),
    [
        (Numeric("lat", 41.3125, 51.125), Numeric("Lng", -5.1875, 8.25), True),
        (Numeric("start_latitude", -45, -8), Numeric("start_longitude", 110, 190), True),
        (Numeric("start_lat", 41, 51), Numeric("end_lon", -5, 8), False),
        (Numeric("lat", 41, 51), Numeric("x", -5, 8), False),
        (Numeric("lat", 41, 151), Numeric("lon", -5, 8), False),
        (Numeric("lat", 1, 51, scale="log"), Numeric("lon", -5, 8), False),
    ],
)
def test_numbers_whose_names_and_ends_are_those_of_a_place_are_drawn_as_one(latitude, longitude, drawn):
    """As discovery finds them; what is counted, and between which ends, stays as it is."""
    domain = Domain((longitude, Numeric("age", 0, 120), latitude))
    found = domain.drawn
    assert list(found) == list(domain.names) and found["age"] == domain.columns[1]
    assert [one.kind for one in found.values()].count("coordinate") == 2 * drawn
    assert all((found[one.name].low, found[one.name].high) == (one.low, one.high) for one in domain.columns)


bound = st.floats(-1e12, 1e12)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@st.composite
def intervals(draw):
    low, high = sorted((draw(bound), draw(bound)))
    return (low, high) if high - low >= NEAREST_BOUNDS else (low, low + abs(low) + 1.0)


@st.composite
def columns(draw, name):
    kind = draw(st.sampled_from(["numeric", "categorical", "vector"]))
    if kind == "categorical":
        return Categorical(name, tuple(draw(st.lists(texts, min_size=2, max_size=5, unique=True))))
    low, high = draw(intervals())
    if kind == "vector":
        return Vector(name, draw(st.integers(1, 4)), low, high, "m")
    return Numeric(name, low, high, "EUR")


@st.composite
def domains(draw):
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    return Domain(
        tuple(draw(columns(name)) for name in names),
        outside=draw(st.sampled_from(["clamp", "drop"])),
        missing=draw(st.sampled_from(["drop", "refuse"])),
        unit=draw(st.sampled_from([PrivacyUnit(), PrivacyUnit("id", 3)])),
        scale=draw(st.sampled_from(["none", "box"])),
        category_distance=draw(st.floats(1e-3, 1e3)),
    )


@st.composite
def tables(draw):
    """A domain and records for it, of which some miss values, lie outside, or have an unknown category."""
    domain = draw(domains())
    number = st.one_of(st.none(), bound, st.sampled_from([math.inf, -math.inf, math.nan]))
    rows = draw(st.integers(0, 6))
    values = {}
    for column in domain.columns:
        if isinstance(column, Categorical):
            one = st.one_of(st.none(), st.sampled_from(column.categories), st.just("not on the list"))
        elif isinstance(column, Vector):
            one = st.one_of(st.none(), st.lists(number, min_size=column.length, max_size=column.length))
        else:
            one = number
        values[column.name] = draw(st.lists(one, min_size=rows, max_size=rows))
    return domain, values


def as_batch(domain, values):
    kinds = {"numeric": pa.float64(), "categorical": pa.string(), "vector": pa.list_(pa.float64())}
    return pa.record_batch({c.name: pa.array(values[c.name], kinds[c.kind]) for c in domain.columns})


def encode_slowly(domain, values, metric):
    """One record and one value at a time, as the documentation of Domain says it."""
    amplitude = domain.category_distance / (math.sqrt(2.0) if metric == "l2" else 2.0)
    rows = []
    for record in zip(*(values[column.name] for column in domain.columns), strict=True):
        point, keep = [], True
        for column, value in zip(domain.columns, record, strict=True):
            if isinstance(column, Categorical):
                unknown = value is not None and value not in column.categories
                if value is None or (unknown and domain.outside == "clamp"):
                    if domain.missing == "refuse":
                        return None
                    keep = False
                keep = keep and not unknown
                point += [amplitude if value == category else 0.0 for category in column.categories]
                continue
            entries = value if isinstance(column, Vector) and value is not None else [value]
            for entry in entries:
                if entry is None or math.isnan(entry):
                    if domain.missing == "refuse":
                        return None
                    keep = False
                    continue
                if not column.low <= entry <= column.high:
                    keep = keep and domain.outside == "clamp"
                    entry = min(max(entry, column.low), column.high)
                point.append((entry - column.low) / (column.high - column.low) if domain.scale == "box" else entry)
        if keep:
            rows.append(point)
    return np.array(rows).reshape(-1, domain.dimensions)


@given(tables(), st.sampled_from(["l1", "l2"]))
def test_encode_equals_the_slow_reference_and_stays_inside(case, metric):
    domain, values = case
    expected = encode_slowly(domain, values, metric)
    if expected is None:
        with pytest.raises(RequestError, match="refused"):
            domain.encode(as_batch(domain, values), metric)
        return
    points = domain.encode(as_batch(domain, values), metric)
    np.testing.assert_array_equal(points, expected)
    low, high = domain.bounds(metric)
    assert points.dtype == np.float64
    assert points.flags.f_contiguous
    assert (points >= low).all() and (points <= high).all()
    assert (points <= domain.high).all()


@given(intervals(), st.lists(st.floats(allow_nan=False), min_size=1))
def test_the_box_holds_exactly_for_every_float(interval, values):
    points = Domain.of(x=interval, scale="box").encode(pa.record_batch({"x": pa.array(values)}))
    assert points.min() >= 0.0 and points.max() <= 1.0


@given(domains())
def test_json_round_trip_is_exact(domain):
    again = Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert hash(again) == hash(domain)


def _spoil(record, path, value):
    record = json.loads(json.dumps(record))
    target = record
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return record


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("surprise",), 1),
        (("columns",), "abc"),
        (("columns",), []),
        (("columns",), [None] * 20_000),
        (("columns", 0, "kind"), "pickle"),
        (("columns", 0, "kind"), ["numeric"]),
        (("columns", 0, "low"), "0"),
        (("columns", 0, "low"), float("nan")),
        (("columns", 0, "low"), 10**400),
        (("columns", 0, "low"), True),
        (("columns", 0, "high"), -5),
        (("columns", 0, "name"), "c"),
        (("columns", 0, "name"), "\ud800"),
        (("columns", 0, "name"), "x" * 1001),
        (("columns", 0, "extra"), 1),
        (("columns", 1, "categories"), "ab"),
        (("columns", 1, "categories"), ["a"]),
        (("columns", 1, "categories"), ["a", "a"]),
        (("columns", 1, "categories"), ["a", 1]),
        (("columns", 1, "categories"), [str(i) for i in range(10_001)]),
        (("columns", 2, "length"), 10**9),
        (("columns", 2, "length"), 2.0),
        (("outside",), ["clamp"]),
        (("missing",), "ignore"),
        (("scale",), None),
        (("unit", "records"), 0),
        (("unit", "records"), 10**7),
        (("unit",), {"column": None, "records": 2}),
        (("unit",), None),
        (("category_distance",), 0),
        (("category_distance",), 1e300),
    ],
)
def test_a_strangers_description_is_refused(path, value):
    record = Domain((Numeric("x", 0, 1), Categorical("c", ("a", "b")), Vector("v", 3, 0, 1))).to_dict()
    assert Domain.from_dict(record)
    with pytest.raises(RequestError):
        Domain.from_dict(_spoil(record, path, value))


def test_two_categories_are_at_the_stated_distance():
    domain = Domain.of(c=LETTERS, category_distance=3.0)
    for metric, order in (("l2", 2), ("l1", 1)):
        points = domain.encode_queries({"c": list(LETTERS)}, metric)
        distances = [np.linalg.norm(points[i] - points[j], ord=order) for i in range(3) for j in range(i)]
        np.testing.assert_allclose(distances, 3.0)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, 2, None, 3]), [0, 1]),
        (pa.array([1.0, 2.0, math.nan, 3.0]), [0, 1]),
        (pa.array(["2", "1", "", None]), [1, 0]),
        (pa.array(["2", None, "2", "x"]).dictionary_encode(), [1, 1]),
        (pa.array([2.0, 1.0]).dictionary_encode(), [1, 0]),
        (pa.array([None, None]), []),
        (pa.array(["1"], pa.string_view()), [0]),
        (pa.array(["1", "2"], pa.large_string()), [0, 1]),
    ],
)
def test_categories_match_their_text_whatever_the_type(array, expected):
    points = Domain.of(c=["1", "2"]).encode(pa.record_batch({"c": array}))
    assert points.argmax(axis=1).tolist() == expected


@pytest.mark.parametrize("categories", [("01", "02"), ("1", "2"), ("1.0", "02"), ("01", "1", "2"), ("1e0", "2e0")])
def test_whole_numbers_belong_where_they_did_before_one_was_missing(categories):
    """pandas makes a column of whole numbers one of floating point as soon as one person's is missing."""
    domain = Domain.of(month=list(categories))
    whole = domain.encode(pa.record_batch({"month": pa.array([1, 2, 3])}))
    gap = domain.encode(pa.record_batch({"month": pa.array([1.0, 2.0, 3.0, None])}))
    assert len(whole) == 2
    np.testing.assert_array_equal(whole, gap)


def test_whole_numbers_beyond_floating_point_match_their_digits():
    codes = Categorical("id", (str(2**53), str(2**53 + 1))).codes(pa.array([2**53 + 1, 2**53, 2**53 + 2, 1]))
    assert codes.tolist() == [1, 0, -1, -1]


@pytest.mark.parametrize("low", [0.0, -0.0, -1.0])
def test_zeros_are_encoded_alike_wherever_they_stand(low):
    """Clamping -0.0 to 0.0 depends on a number's place in the batch, in some builds of NumPy."""
    domain = Domain.of(x=(low, 1.0), y=(-1.0, -low))
    batch = pa.RecordBatch.from_pydict({"x": np.tile([0.0, -0.0], 41), "y": np.tile([-0.0, -0.0], 41)})
    encoded = domain.encode(batch)
    assert not encoded.any() and not np.signbit(encoded).any()


def test_booleans_are_the_categories_true_and_false_and_the_numbers_0_and_1():
    batch = pa.record_batch({"b": pa.array([True, False, None])})
    assert Domain.of(b=["false", "true"]).encode(batch).argmax(axis=1).tolist() == [1, 0]
    assert Domain.of(b=(0, 1)).encode(batch)[:, 0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2, 3], pa.int8()),
        pa.array([1, 2, 3], pa.uint64()),
        pa.array([1, 2, 3], pa.float16()),
        pa.array([1, 2, 3], pa.decimal128(5, 2)),
        pa.array([1.0, 2.0, 3.0]).dictionary_encode(),
    ],
)
def test_every_type_of_number_is_a_number(array):
    assert Domain.of(x=(0, 10)).encode(pa.record_batch({"x": array}))[:, 0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (pa.array(["1", "2"]), "text where numbers are expected"),
        (pa.array([datetime.date(2026, 1, 1)]), "dates or times where numbers are expected: declare it as a date"),
        (pa.array([[1.0]]), "lists where numbers are expected"),
        (pa.array([b"\x00"]), "binary where numbers are expected"),
    ],
)
def test_what_is_not_a_number_gets_one_sentence(array, sentence):
    with pytest.raises(RequestError, match=sentence):
        Domain.of(x=(0, 10)).encode(pa.record_batch({"x": array}))


def test_refusing_names_column_and_row_but_no_value():
    domain = Domain.of(x=(0, 10), c=["a", "b"], missing="refuse")
    batch = pa.record_batch({"x": [1.0, None], "c": ["a", "b"]}).replace_schema_metadata({"first_row": "1000"})
    with pytest.raises(RequestError, match=r"column 'x' in row 1,002 is missing"):
        domain.encode(batch)
    with pytest.raises(RequestError, match=r"column 'c' in row 2 of its batch is not on") as refusal:
        domain.encode(pa.record_batch({"x": [1.0, 2.0], "c": ["a", "secret"]}))
    assert "secret" not in str(refusal.value)
    with pytest.raises(RequestError, match="one column 'c'"):
        domain.encode(pa.record_batch({"x": [1.0]}))


def test_vectors_of_another_length_are_refused():
    domain = Domain((Vector("v", 3, 0, 1),))
    for array in (
        pa.array([[1.0, 2.0]]),
        pa.array([[0.0] * 3, [0.0] * 4]),
        pa.array([[0.0] * 2], pa.list_(pa.float32(), 2)),
    ):
        with pytest.raises(RequestError, match="lists of 3 numbers"):
            domain.encode(pa.record_batch({"v": array}))


def test_queries_by_array_frame_table_and_mapping_agree():
    domain = Domain.of(x=(0, 10), y=(0, 1), scale="box")
    expected = [[-0.1, 0.5], [2.0, 0.25]]
    array = np.array([[-1, 0.5], [20, 0.25]])
    frame = pd.DataFrame({"other": ["p", "q"], "y": array[:, 1], "x": array[:, 0]})
    for queries in (array, array.tolist(), frame, pa.Table.from_pandas(frame), frame.to_dict("list"), dict(frame)):
        points = domain.encode_queries(queries)
        np.testing.assert_array_equal(points, expected)
        assert points.flags.f_contiguous
    embeddings = Domain((Vector("v", 2, 0, 1), Numeric("x", 0, 1)))
    by_name = embeddings.encode_queries({"v": np.arange(4.0).reshape(2, 2), "x": [7, 8]})
    np.testing.assert_array_equal(by_name, embeddings.encode_queries([[0, 1, 7], [2, 3, 8]]))


@pytest.mark.parametrize(
    "queries",
    [
        {"x": [1.0]},
        {"x": [1.0, math.nan], "c": ["a", "a"]},
        {"x": [1.0, math.inf], "c": ["a", "a"]},
        {"x": [1.0, 2.0], "c": ["a", "z"]},
        {"x": [1.0, 2.0], "c": ["a", None]},
        {"x": [1.0, 2.0], "c": ["a"]},
        {"x": [1.0, "2"], "c": ["a", "b"]},
        pd.DataFrame([[1, 2, "a"]], columns=["x", "x", "c"]),
        [[1.0, 2.0]],
        "x",
    ],
)
def test_queries_that_are_no_points_are_refused(queries):
    with pytest.raises(RequestError):
        Domain.of(x=(0, 10), c=["a", "b"]).encode_queries(queries)


@pytest.mark.parametrize("queries", [[1.0, 2.0], [[1.0]], [["a", "b"]], [[1.0, math.nan]], [[1.0], [2.0, 3.0]], None])
def test_arrays_that_do_not_fit_are_refused(queries):
    with pytest.raises(RequestError):
        Domain.of(x=(0, 10), y=(0, 10)).encode_queries(queries)


@given(tables(), st.sampled_from(["l1", "l2"]))
def test_decoding_gives_back_what_was_encoded(case, metric):
    domain, values = case
    if encode_slowly(domain, values, metric) is None:
        return
    points = domain.encode(as_batch(domain, values), metric)
    frame = domain.decode_points(points, metric)
    assert list(frame.columns) == list(domain.names)
    again = domain.encode_queries(frame, metric) if len(frame) else points
    np.testing.assert_allclose(again, points, rtol=1e-9, atol=1e-9 * np.abs(domain.high).max())


def test_every_record_is_kept_only_when_nothing_can_leave_one_out():
    facts = dict(x=(0, 1))
    assert Domain.of(**facts, outside="clamp", missing="refuse").keeps_every_record
    assert not Domain.of(**facts, outside="clamp", missing="drop").keeps_every_record
    assert not Domain.of(**facts, outside="drop", missing="refuse").keeps_every_record
    assert not Domain.of(**facts, outside="clamp", missing="refuse", unit=PrivacyUnit("id", 1)).keeps_every_record


def test_domains_that_make_no_sense_are_refused():
    for columns in [
        (),
        (Numeric("x", 0, 1), Numeric("x", 0, 2)),
        ("x",),
        (Vector("v", 100_000, 0, 1), Numeric("x", 0, 1)),
    ]:
        with pytest.raises(RequestError):
            Domain(columns)
    for facts in [
        {"x": (1, 1)},
        {"x": (2, 1)},
        {"x": (0, math.inf)},
        {"x": (-1e308, 1e308)},
        {"x": (1e308, 1.7e308)},  # their middle overflows
        {"x": (-1.1e100, 0)},
        {"x": "ab"},
        {"x": (0, 1, 2)},
        {"x": 3},
    ]:
        with pytest.raises(RequestError):
            Domain.of(**facts)


def test_the_owner_says_what_a_record_is_and_files_keep_the_word():
    stars = replace(Domain.of(x=(0, 1)), record=" red  star ")
    assert (stars.one_record, stars.many_records) == ("red star", "red stars")
    again = Domain.from_dict(json.loads(json.dumps(stars.to_dict())))
    assert again.record == "red star" and again == Domain.of(x=(0, 1)), "files of several owners may be merged"
    assert "record" not in Domain.of(x=(0, 1)).to_dict(), "as in files of earlier versions"
    assert Domain.of(x=(0, 1)).many_records == "people"
    assert Domain.of(x=(0, 1), unit=PrivacyUnit("id", 2)).many_records == "records"
    assert Domain((Items("basket"),)).one_record == "set"


@pytest.mark.parametrize("record", [3, None, "x" * 41, "a\nb", "a\x1b[31m"])
def test_what_a_record_is_called_is_a_word_or_two(record):
    with pytest.raises(RequestError, match="a word or two"):
        replace(Domain.of(x=(0, 1)), record=record)
    with pytest.raises(RequestError, match="a word or two"):
        Domain.from_dict(Domain.of(x=(0, 1)).to_dict() | {"record": record})


def test_equal_ratios_of_amounts_are_equally_far_apart_and_zero_and_debts_have_places():
    pay = Numeric("pay", -1e9, 1e9, "EUR", step=1.0, scale="log")
    amounts = np.array([-1e9, -3.0, 0.0, 1.0, 241.0, 482.0, 1e6, 2e6, 1e9])
    places = pay.placed(amounts)
    assert (np.diff(places) > 0).all()
    assert places[2] == 0.0
    assert places[-1] == -places[0]
    assert places[[5, 7]] - places[[4, 6]] == pytest.approx([1.0, 1.0], abs=0.02)
    assert np.abs(np.abs(places) - np.log2(1.0 + np.abs(amounts))).max() < 0.01
    assert pay.between(places) == pytest.approx(amounts, rel=1e-12)
    shuffled = np.random.default_rng(3).permutation(np.concatenate([amounts, np.geomspace(1, 1e9, 10_001)]))
    assert (np.argsort(pay.placed(shuffled), kind="stable") == np.argsort(shuffled, kind="stable")).all()
    assert (pay.placed(shuffled)[7::3] == pay.placed(shuffled[7::3])).all()  # whatever stands beside a number


def test_amounts_outside_their_bounds_or_without_end_are_clamped_like_any_number():
    domain = Domain((Numeric("pay", 0, 1e9, scale="log"), Numeric("age", 0, 100)))
    batch = pa.record_batch({"pay": [-5.0, math.inf, None, 1e12, 7.0], "age": [1.0, 2, 3, 4, 5]})
    low, high = domain.bounds()
    points = domain.encode(batch)
    assert points[:3, 0].tolist() == [low[0], high[0], high[0]]
    assert domain.decode_points(points, inside=True).pay.tolist() == pytest.approx([0, 1e9, 1e9, 7])
    dropped = replace(domain, outside="drop").encode(batch)
    assert dropped[:, 1].tolist() == [5.0]
    assert domain.encode_queries(np.array([[7.0, 5.0]])).tolist() == points[3:].tolist()
    boxed = replace(domain, scale="box").encode(batch)
    assert boxed.min() >= 0.0
    assert boxed.max() <= 1.0


def test_a_scale_is_written_where_it_is_one_and_files_without_are_as_they_were():
    plain, amounts = (Domain((Numeric("pay", 0, 9, scale=scale),)) for scale in ("", "log"))
    assert "scale" not in plain.to_dict()["columns"][0]
    assert Domain.from_dict(amounts.to_dict()) == amounts != plain
    assert amounts.by_differences == plain
    with pytest.raises(RequestError, match="scale"):
        Numeric("pay", 0, 9, scale="cubic")


def test_values_off_the_list_count_as_other_instead_of_leaving_half_of_a_table_out():
    entry = {"kind": "category", "values": {1: "bus", 2: "train"}, "on_missing": "category", "on_unknown": "category"}
    (column,) = columns_of("by", entry)
    assert column.categories == ("bus", "train", "missing", "other")
    batch = pa.RecordBatch.from_pydict({"by": ["1", "ferry", None, "train", "other"]})
    codes, _ = column.coded(batch.column("by"))
    assert codes.tolist() == [0, 3, 2, 1, 3]
    for outside in ("clamp", "drop"):
        assert len(Domain((column,), outside=outside).encode(batch)) == 5
    assert columns_of("by", stated((column,))["by"]) == (column,)
    assert column_from_dict(column_to_dict(column)) == column
    named = {"kind": "category", "values": ["bus", "else"], "unknown_category": "else"}
    assert columns_of("by", named)[0] == Categorical("by", ("bus", "else"), unknown_category="else")


def test_lists_without_a_category_for_other_values_are_written_and_read_as_they_were():
    plain = Categorical("by", ("bus", "train"))
    assert "unknown_category" not in column_to_dict(plain) and "unknown_category" not in stated((plain,))["by"]
    assert len(Domain((plain,)).encode(pa.RecordBatch.from_pydict({"by": ["bus", "ferry"]}))) == 1
    with pytest.raises(RequestError, match="one of its categories"):
        Categorical("by", ("bus", "train"), unknown_category="ferry")
    with pytest.raises(RequestError, match="on_unknown"):
        columns_of("by", {"kind": "category", "values": ["bus", "train"], "on_unknown": "keep"})


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e308, -1e308])
def test_a_record_that_is_warned_of(value):
    """NumPy's warning of one infinite or huge number stood on the owner's screen, and in a server's log."""
    columns = (Numeric("x", 0, 10, step=1), Numeric("y", 1e-3, 1e3, scale="log"))
    batch = pa.record_batch([pa.array([3.0, value]), pa.array([value, 2.0])], names=["x", "y"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Domain(columns).faults(batch).tolist() == [1, 0]
        assert Domain(columns).encode(batch).shape == (2, 2)
