"""Outlines under a map of coordinates: the bundled coasts and borders of the world, or lines that a visitor brings.

The bundled ones are Natural Earth's at 1 : 110 million, in the public domain, and lie beside this file: a map needs no
network. They are drawn as thin lines and say nothing about the release.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from ..domain import Column
from ..domain.round_columns import LATITUDE, Coordinate
from ..errors import RequestError
from .figure_axes import Axis
from .palette import FAINT

WORLD = Path(__file__).with_name("world.json")
# GeoJSON's geometries that have lines, and how deep their positions lie.
LINES = {"LineString": 1, "Polygon": 2, "MultiLineString": 2, "MultiPolygon": 3}
MOST_POSITIONS = 500_000
ASIDE = 0.05  # How far beyond a map its lines are kept, in shares of its sides.
NAME = "Coasts and borders"


def is_map(x: Column, y: Column) -> bool:
    """Whether two columns are a longitude across and a latitude up, or the other way round."""
    return isinstance(x, Coordinate) and isinstance(y, Coordinate) and x.axis != y.axis


@cache
def world() -> tuple[np.ndarray, ...]:
    """The bundled outlines: float64 (n, 2) longitudes and latitudes of every line."""
    return read_outlines(WORLD.read_bytes())


def read_outlines(data: bytes) -> tuple[np.ndarray, ...]:
    """The lines of a GeoJSON file: float64 (n, 2) longitudes and latitudes of each.

    Raises
    ------
    RequestError
        When it is no GeoJSON, or has no lines, or too many positions.
    """
    try:
        lines = tuple(np.array(line, dtype=np.float64)[:, :2] for line in _lines(json.loads(data)))
        if not all(line.shape[1] == 2 and np.isfinite(line).all() for line in lines):
            raise ValueError
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError):
        raise RequestError("This is no GeoJSON file of lines or areas in degrees, so no outline was drawn.") from None
    positions = sum(map(len, lines))
    if not lines or positions > MOST_POSITIONS:
        raise RequestError(f"An outline has from one to {MOST_POSITIONS:,} positions, and this one has {positions:,}.")
    return lines


def _lines(part: dict) -> Iterator[list]:
    if part["type"] == "FeatureCollection":
        for feature in part["features"]:
            yield from _lines(feature)
    elif part["type"] == "Feature":
        if part["geometry"] is not None:
            yield from _lines(part["geometry"])
    elif part["type"] == "GeometryCollection":
        for geometry in part["geometries"]:
            yield from _lines(geometry)
    elif part["type"] in LINES:
        yield from _at_depth(part["coordinates"], LINES[part["type"]])


def _at_depth(coordinates: list, depth: int) -> Iterator[list]:
    if depth == 1:
        yield coordinates
        return
    for part in coordinates:
        yield from _at_depth(part, depth - 1)


def outline(lines: tuple[np.ndarray, ...], x: Axis, y: Axis, columns: tuple[Column, Column]) -> go.Scatter:
    """The lines as one trace, those parts that lie on the map; longitudes on the turn of the globe that it shows."""
    across = columns[0].axis != LATITUDE
    longitude, latitude = (x, y) if across else (y, x)
    parts = [np.vstack([_turned(line, longitude), [[np.nan, np.nan]]]) for line in lines]
    places = np.vstack([np.empty((0, 2)), *parts])
    # A step of more than half the globe is where a line left the map on one side and came in on the other.
    jumps = np.flatnonzero(np.abs(np.diff(places[:, 0])) > 180.0) + 1
    places = np.insert(places, jumps, np.nan, axis=0)
    low, high = np.array([[axis.low, axis.high] for axis in (longitude, latitude)]).T
    aside = ASIDE * (high - low)
    outside = (places < low - aside) | (places > high + aside)
    places[outside.any(axis=1)] = np.nan
    xs, ys = places.T if across else places.T[::-1]
    return go.Scatter(
        x=xs,
        y=ys,
        mode="lines",
        line={"color": FAINT.shape, "width": 0.8},
        hoverinfo="skip",
        showlegend=False,
        name=NAME,
    )


def _turned(line: np.ndarray, longitude: Axis) -> np.ndarray:
    """A line whose longitudes lie within half a turn of the map's middle."""
    middle = (longitude.low + longitude.high) / 2.0
    turned = line.copy()
    turned[:, 0] -= 360.0 * np.rint((line[:, 0] - middle) / 360.0)
    return turned
