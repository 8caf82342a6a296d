"""Outlines: those of the world lie where they are, lines are cut where a map ends, and foreign files are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.domain import Numeric
from core.domain.round_columns import position
from core.errors import RequestError
from core.figures.figure_axes import Axis
from core.figures.outlines import is_map, outline, read_outlines, world


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
