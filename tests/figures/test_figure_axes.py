"""Axes carry a column's name, unit and bounds, and never a stranger's markup."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from core.domain import Categorical, Numeric
from core.domain.round_columns import position
from core.errors import RequestError
from core.figures.figure_axes import Axis, apply, equal_shape, is_map, outline, read_outlines, world
from core.formatting.escapes import in_plotly
from core.formatting.numbers import shortened

AGE = Axis.of(Numeric("age", 0, 120, "years"), np.linspace(0, 120, 13))
CITY = Axis.of(Categorical("city", ("Bern", "Basel", "Chur")), np.array(["Bern", "Basel", "Chur"], dtype=object))


def test_a_column_of_numbers_keeps_its_unit_and_its_bounds():
    layout = AGE.layout()
    assert layout["title"]["text"] == "age (years)" and layout["range"] == [0, 120]
    assert AGE.half_step == 5 and AGE.place(34) == 34.0 and AGE.value(34.5) == 34.5
    assert AGE.words(34.1234) == "34.1 years"


def test_a_column_of_categories_is_one_step_each():
    layout = CITY.layout()
    assert layout["range"] == [-0.5, 2.5] and list(layout["ticktext"]) == ["Bern", "Basel", "Chur"]
    assert CITY.place("Basel") == 1.0 and CITY.value(0.9) == "Basel" and CITY.words(2) == "Chur"
    assert [CITY.value(place) for place in (-5, 99)] == ["Bern", "Chur"]


@pytest.mark.parametrize(("low", "high", "separated"), [(1900, 2100, False), (0, 250_000, True), (-50_000, 0, True)])
def test_only_large_numbers_get_separators_so_that_years_stay_years(low, high, separated):
    axis = Axis.of(Numeric("x", low, high), np.linspace(low, high, 5))
    assert (axis.layout()["tickformat"] == ",") is separated
    assert axis.words(2000 if high > 0 else -20_000).count(",") == (high <= 0)


def test_names_of_a_strangers_file_are_text_and_no_markup():
    axis = Axis.of(Numeric("<b>x</b>", 0, 1, "<a href='x'>"), np.array([0.0, 1.0]))
    assert "<" not in axis.layout()["title"]["text"]
    nasty = Axis.of(Categorical("c", ("<i>a", "b&c")), np.array(["<i>a", "b&c"], dtype=object))
    assert nasty.layout()["ticktext"] == ["&lt;i&gt;a", "b&amp;c"]
    assert in_plotly("a<b>&") == "a&lt;b&gt;&amp;"


def test_long_labels_are_shortened_in_figures_only():
    long = "x" * 80
    assert len(shortened(long)) == 24 and shortened(long).endswith("…")
    axis = Axis.of(Categorical("c", (long, "b")), np.array([long, "b"], dtype=object))
    assert axis.words(0) == long and len(axis.layout()["ticktext"][0]) == 24


def axis(column):
    return Axis.of(column, np.linspace(column.low, column.high, 3))


EAST, NORTH = Numeric("east", 0, 20, "km"), Numeric("north", 4, 20, "km")


def test_a_kilometre_is_as_long_north_as_east():
    figure = go.Figure()
    apply(figure, axis(EAST), axis(NORTH))
    assert figure.layout.yaxis.scaleanchor == "x" and figure.layout.yaxis.scaleratio == 1.0
    assert equal_shape(axis(EAST), axis(NORTH)) == 0.8


def test_a_degree_east_is_shorter_than_one_north_where_records_are_compared_in_kilometres():
    north, east = position("lat", "lon", south=45.0, north=46.0, west=4.0, east=5.0)
    figure = go.Figure()
    apply(figure, axis(east), axis(north))
    assert figure.layout.yaxis.scaleratio == pytest.approx(1 / np.cos(np.radians(45.5)))


@pytest.mark.parametrize(
    "other",
    [
        Numeric("age", 0, 20, "years"),
        Numeric("deep", 0, 0.1, "km"),
        Numeric("bare", 0, 19),
        Categorical("c", ("a", "b")),
    ],
)
def test_nothing_is_forced_upon_axes_of_two_units_or_onto_strips(other):
    values = np.array(other.categories, dtype=object) if isinstance(other, Categorical) else np.linspace(0, 1, 3)
    figure = go.Figure()
    apply(figure, axis(EAST), Axis.of(other, values))
    assert figure.layout.yaxis.scaleanchor is None


def test_numbers_without_units_are_alike_where_their_bounds_are():
    assert equal_shape(axis(Numeric("red", 0, 255)), axis(Numeric("green", 0, 255))) == 1.0


@pytest.mark.parametrize(
    ("categories", "shown"),
    [
        (tuple(map(str, range(24))), ("0", "3", "6", "9", "12", "15", "18", "21")),
        (tuple(map(str, range(1, 13))), tuple(map(str, range(1, 13)))),
        (tuple(f"{place}9" for place in range(20)), tuple(f"{place}9" for place in range(20))),
    ],
)
def test_of_many_numbers_in_a_row_some_are_named(categories, shown):
    axis = Axis.of(Categorical("hour", categories), np.array(categories, dtype=object))
    layout = axis.layout()
    assert tuple(layout["ticktext"]) == shown and len(layout["tickvals"]) == len(shown)
    assert [categories[int(place)] for place in layout["tickvals"]] == list(shown)


def test_the_world_is_bundled_and_has_iceland():
    places = np.vstack(world())
    assert len(places) > 5_000 and np.abs(places[:, 0]).max() <= 180 and np.abs(places[:, 1]).max() <= 90
    iceland = (np.abs(places - [-18.5, 65]) < [6, 2]).all(axis=1)
    assert 10 < iceland.sum() < 100


def test_a_map_is_a_longitude_and_a_latitude():
    latitude, longitude = position("lat", "lon", 40, 60, 0, 20)
    assert is_map(longitude, latitude) and is_map(latitude, longitude)
    assert not is_map(latitude, latitude) and not is_map(longitude, Numeric("age", 0, 100))


@pytest.mark.parametrize("west", [170, -169])
def test_lines_lie_on_the_turn_that_the_map_shows_and_end_with_it(west):
    latitude, longitude = position("lat", "lon", -50, 50, west, west - 1 if west < 0 else -170)
    x, y = (Axis.of(column, np.linspace(column.low, column.high, 9)) for column in (longitude, latitude))
    line = np.array([[175.0, 0.0], [-175.0, 0.0], [-175.0, 80.0]])
    drawn = outline((line,), x, y, (longitude, latitude))
    assert drawn.x[0] == 175 and drawn.x[1] == 185 and np.isnan(drawn.x[2])
    across = outline((line,), y, x, (latitude, longitude))
    assert np.array_equal(across.y, drawn.x, equal_nan=True)


def test_every_kind_of_geometry_with_lines_is_read():
    ring = [[0, 0, 5], [1, 0, 5], [0, 1, 5], [0, 0, 5]]
    kinds = {"LineString": ring, "Polygon": [ring], "MultiLineString": [ring], "MultiPolygon": [[ring]]}
    features = [
        {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}}
        for kind, coordinates in kinds.items()
    ]
    features.append({"type": "Feature", "geometry": {"type": "GeometryCollection", "geometries": []}})
    lines = read_outlines(json.dumps({"type": "FeatureCollection", "features": features}).encode())
    assert [line.shape for line in lines] == [(4, 2)] * 4


@pytest.mark.parametrize(
    "data", [b"no", b"[]", b"{}", b'{"type": "Point", "coordinates": [0, 0]}', b"\xff", b"[" * 9999]
)
def test_what_is_no_outline_is_refused(data):
    with pytest.raises(RequestError, match=r"outline|GeoJSON"):
        read_outlines(data)


@pytest.mark.parametrize(
    "positions",
    ["[[1" + "0" * 400 + ", 1], [2, 3]]", "[[1e400, 1], [2, 3]]", "[[NaN, 1], [2, 3]]", "[[1], [2]]", "[[]]"],
)
def test_positions_that_are_no_two_finite_numbers_are_refused(positions):
    with pytest.raises(RequestError, match="GeoJSON"):
        read_outlines(b'{"type": "LineString", "coordinates": %s}' % positions.encode())
