"""The axes of a figure: columns with the places at which they are asked, and targets for asking by clicking.

Maps of colours cannot be clicked, points can: targets are invisible, and the asked one shows as a ring. The ring moves
in the browser alone, so a figure stays the same, and its zoom with it, however often it is asked.

Outlines under a map of coordinates: the bundled coasts and borders of the world, or lines that a visitor brings.

The bundled ones are Natural Earth's at 1 : 110 million, in the public domain, and lie beside this file: a map needs no
network. They are drawn as thin lines and say nothing about the release.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from ..domain import Categorical, Column, Dates, Numeric, Ordered
from ..domain.round_columns import LATITUDE, Coordinate
from ..errors import RequestError
from ..formatting.escapes import in_plotly
from ..formatting.numbers import THOUSANDS_FROM, rounded, shortened, significant, with_unit
from ..releases.release import Release
from .palette import FAINT, INK, PAPER

THINNEST = 4.0  # How many times as long as wide a map may be whose units are equal.
MOST_TICKS = 7
# What marks of a time axis may stand at, from the finest: a unit of NumPy's, how many of them, and what is written.
CALENDAR = (
    *(("h", every, "%H:%M") for every in (1, 2, 3, 6)),
    *(("D", every, "%-d %b") for every in (1, 2)),
    ("W", 1, "%-d %b"),
    *(("M", every, "%b %Y") for every in (1, 2, 3, 6)),
    *(("Y", every, "%Y") for every in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
MOST_WORDS = 12  # Categories that are all named along an axis, whatever they are.
MIDNIGHT = "%-d %b"  # What is written at the first hour of a day.
ORIGIN = {"Y": -1970}  # Years are counted from the year 0, as those that are divisible are round.


@dataclass(frozen=True)
class Axis:
    """A column as an axis."""

    name: str
    values: np.ndarray  # float64 (n,), evenly spaced and increasing in the column's own unit; of categories 0 … n − 1.
    low: float  # Where the axis begins; it ends at ``high``.
    high: float
    unit: str = ""
    categories: tuple[str, ...] = ()  # The categories at ``values``; empty for a column of numbers.
    dates: Dates | None = None  # The column, where it is one of dates: ``values`` are numbers of its steps then.
    amounts: Numeric | None = None  # The same of one of amounts: ``values`` are its doublings.
    measure: str = ""  # In what lengths along the axis are told, such as "km"; "" where they have no unit.
    length: float = 0.0  # Of the whole axis, in that unit.
    is_longitude: bool = False  # Whether degrees beyond the antimeridian are counted on.

    @classmethod
    def of(cls, column: Column, values: np.ndarray) -> Axis:
        """The axis of a column: the ``values`` of a picture of it, in the column's own unit or its categories."""
        if isinstance(column, Dates):
            return cls(column.name, column.numbers_of(values), column.low, column.high, dates=column)
        if isinstance(column, (Categorical, Ordered)):
            places = np.arange(len(values), dtype=np.float64)
            return cls(column.name, places, -0.5, len(values) - 0.5, "", tuple(str(value) for value in values))
        if isinstance(column, Numeric) and column.scale:
            places, ends = column.placed(np.asarray(values, dtype=np.float64)), column.bounds(1.0)
            facts = {"amounts": column, "measure": column.measure, "length": column.span}
            return cls(column.name, places, *ends, column.said_unit, **facts)
        places, span = np.asarray(values, dtype=np.float64), column.high - column.low
        longitude = isinstance(column, Coordinate) and column.axis != LATITUDE
        if isinstance(column, Coordinate):
            span = column.kilometres[int(longitude)]
        measure = column.measure or f"from {column.low} to {column.high}"
        facts = {"measure": measure, "length": span, "is_longitude": longitude}
        return cls(column.name, places, column.low, column.high, column.said_unit, **facts)

    @property
    def title(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @cached_property
    def half_step(self) -> float:
        """Half the distance between neighbouring places."""
        if len(self.values) < 2:
            return (self.high - self.low) / 2.0
        return float(self.values[1] - self.values[0]) / 2.0

    def words(self, value: float) -> str:
        """A place on the axis in words: its category, or its number with unit, to a five-hundredth of the axis."""
        if self.categories:
            return str(self.value(value))
        if self.dates is not None:
            return self.dates.text(value)
        if self.amounts is not None:
            return with_unit(significant(self.value(value), 3), self.unit)
        own = value - 360.0 if self.is_longitude and value > 180.0 else value
        text = rounded(own, (self.high - self.low) / 500.0)
        if abs(own) < THOUSANDS_FROM:
            text = text.replace(",", "")
        return with_unit(text, self.unit)

    def place(self, value: object) -> float:
        """Where a value in natural units (a number, a date, or a category's text) lies on the axis."""
        if self.dates is not None:
            return float(self.dates.numbers_of([value])[0])
        if self.amounts is not None:
            return float(self.amounts.placed(np.array([value], dtype=np.float64))[0])
        return float(self.categories.index(str(value))) if self.categories else float(value)

    def value(self, place: float) -> object:
        """The value in natural units at a place on the axis: the nearest category or date, or the number."""
        if self.dates is not None:
            return self.dates.text(place)
        if self.amounts is not None:
            return float(self.amounts.between(np.array([place]))[0])
        return self.categories[min(max(round(place), 0), len(self.categories) - 1)] if self.categories else float(place)

    def layout(self) -> dict:
        facts: dict = {"title": {"text": in_plotly(self.title)}, "range": [self.low, self.high], "zeroline": False}
        if self.categories:
            some = marked(self.categories)
            labels = [in_plotly(shortened(category)) for category in self.categories[::some]]
            return facts | {"tickmode": "array", "tickvals": self.values[::some], "ticktext": labels, "showgrid": False}
        if self.dates is not None or self.amounts is not None:
            ticks = amount_ticks(self.amounts) if self.amounts is not None else date_ticks(self.dates)
            places, texts = zip(*ticks, strict=True)
            return facts | {"tickmode": "array", "tickvals": places, "ticktext": texts, "showgrid": False}
        large = max(abs(self.low), abs(self.high)) >= THOUSANDS_FROM
        return facts | {"tickformat": "," if large else "", "exponentformat": "none", "showgrid": False, "nticks": 7}


def marked(categories: Sequence[str]) -> int:
    """Every how many of the categories one has its mark: of many whole numbers in a row, such as hours, eight do."""
    if len(categories) <= MOST_WORDS or not all(re.fullmatch("[0-9]{1,4}", one) for one in categories):
        return 1
    if any(int(category) != int(categories[0]) + place for place, category in enumerate(categories)):
        return 1
    return next((every for every in (2, 3, 5, 10, 20, 50, 100, 200, 500) if len(categories) <= 8 * every), 1_000)


def amount_ticks(column: Numeric) -> list[tuple[float, str]]:
    """Where an axis of amounts has its marks, evenly in doublings, and what they say: powers of ten, and zero."""
    low, high = column.low, column.high
    finest = Decimal(column.doublings.finest) if column.doublings is not None else Decimal(1)
    sizes = [
        Decimal(10) ** power for power in range(finest.adjusted() + 1, Decimal(max(abs(low), abs(high))).adjusted() + 1)
    ]
    every = max(1, math.ceil(len(sizes) / (MOST_TICKS if low >= 0.0 or high <= 0.0 else MOST_TICKS / 2)))
    signed = [*(-size for size in sizes[::every][::-1]), Decimal(0), *sizes[::every]]
    inside = [float(size) for size in signed if low <= size <= high] or [low, high]
    places = column.placed(np.array(inside)).tolist()
    return [(place, significant(size, 3)) for place, size in zip(places, inside, strict=True)]


def date_ticks(column: Dates) -> list[tuple[float, str]]:
    """Where a time axis has its marks, and what they say: at most seven beginnings of years, months, days or hours."""
    first, last = (column.between(np.array([end]))[0] for end in (column.low, column.high))
    for unit, every, form in CALENDAR:
        if unit == "h" and column.step == "day":
            continue
        begins = np.arange(first.astype(f"M8[{unit}]"), last.astype(f"M8[{unit}]") + 1)
        begins = begins[(begins.astype(np.int64) - ORIGIN.get(unit, 0)) % every == 0].astype("M8[s]")
        begins = begins[(begins >= first) & (begins <= last)]
        if 2 <= len(begins) <= MOST_TICKS:
            places = column.numbers_of(begins)
            said = [f"{date:{MIDNIGHT if unit == 'h' and date.hour == 0 else form}}" for date in begins.tolist()]
            return list(zip(places.tolist(), said, strict=True))
    return [(end, column.text(end)) for end in (column.low, column.high)]


def apply(figure: go.Figure, x: Axis, y: Axis | None = None) -> None:
    """Give a figure its axes; where both tell the same unit, it is as long on one as on the other."""
    figure.update_xaxes(x.layout())
    if y is None:
        return
    figure.update_yaxes(y.layout())
    shape = equal_shape(x, y)
    if shape is not None:
        ratio = shape * (x.high - x.low) / (y.high - y.low)
        figure.update_xaxes(constrain="domain")
        figure.update_yaxes(scaleanchor="x", scaleratio=ratio, constrain="domain", constraintoward="top")


def equal_shape(x: Axis, y: Axis) -> float | None:
    """How many times as high as wide a map is on which a unit is as long either way; None where there is no such map.

    Numbers without a unit are taken to have the same one where they have the same bounds. A strip is no map.
    """
    if not x.measure or x.measure != y.measure:
        return None
    shape = y.length / x.length
    return shape if 1 / THINNEST <= shape <= THINNEST else None


@dataclass(frozen=True)
class View:
    """What a picture shows: one or two columns, and the others that are held at a value; the rest is averaged over.

    A picture of distances averages over nothing: what is not held otherwise is held at the nearest place.
    """

    columns: tuple[str, ...]
    held: tuple[tuple[str, object], ...] = ()

    def averages(self, release: Release) -> bool:
        """Whether any column of the release is neither drawn nor held."""
        return len(self.columns) + len(self.held) < len(release.domain.columns)


NAME = "The point that is asked"
# What keeps other points and bars of a figure as they are while a target is chosen.
UNFADED = {"marker": {"opacity": 1}}


def targets(
    x: np.ndarray, y: np.ndarray, words: Sequence[str], asked: tuple[float, float] | None = None, **where
) -> go.Scatter:
    """Points to be clicked. The ring is dark with a light middle, and so stands out from every shade of either theme.

    `x`, `y`: float64 (n,), in axis units. `words`: what hovering over each says. `asked`: x and y of one more point,
    which is ringed until another is clicked.
    """
    chosen = []
    if asked is not None:
        x, y, words = np.append(x, asked[0]), np.append(y, asked[1]), [*words, ""]
        chosen = [len(x) - 1]
    ring = {"symbol": "circle", "size": 12, "color": PAPER.light, "line": {"width": 3.5, "color": INK.light}}
    facts = {
        "mode": "markers",
        "marker": ring | {"opacity": 0},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0}},
        "selectedpoints": chosen,
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
        "name": NAME,
    }
    return go.Scatter(**({"x": x, "y": y, "text": list(words)} | facts | where))


def clickable(figure: go.Figure) -> None:
    """Wherever a visitor points, the nearest target answers."""
    figure.update_layout(hovermode="closest", hoverdistance=-1, dragmode="pan")


WORLD = Path(__file__).with_name("world.json")
# GeoJSON's geometries that have lines, and how deep their positions lie.
LINES = {"LineString": 1, "Polygon": 2, "MultiLineString": 2, "MultiPolygon": 3}
MOST_POSITIONS = 500_000
ASIDE = 0.05  # How far beyond a map its lines are kept, in shares of its sides.
COASTS = "Coasts and borders"


def is_map(x: Column, y: Column) -> bool:
    """Whether two columns are a longitude across and a latitude up, or the other way round."""
    return isinstance(x, Coordinate) and isinstance(y, Coordinate) and x.axis != y.axis


@cache
def world() -> tuple[np.ndarray, ...]:
    """The bundled outlines: float64 (n, 2) longitudes and latitudes of every line."""
    return read_outlines(WORLD.read_bytes())


def read_outlines(data: bytes) -> tuple[np.ndarray, ...]:
    """The lines of a GeoJSON file: float64 (n, 2) longitudes and latitudes of each.

    RequestError when it is no GeoJSON, or has no lines, or too many positions.
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
    places = _on_map(lines, (longitude.low, longitude.high), (latitude.low, latitude.high))
    xs, ys = places.T if across else places.T[::-1]
    return go.Scatter(
        x=xs,
        y=ys,
        mode="lines",
        line={"color": FAINT.shape, "width": 0.8},
        hoverinfo="skip",
        showlegend=False,
        name=COASTS,
    )


def outlines(
    longitude: tuple[float, float], latitude: tuple[float, float], lines: tuple[np.ndarray, ...] | None = None
) -> list[np.ndarray]:
    """Those of the lines, or of the bundled ones, that lie on a map between these ends, float64 (n, 2) each."""
    places = _on_map(world() if lines is None else lines, longitude, latitude)
    gaps = np.flatnonzero(np.isnan(places).any(axis=1))
    pieces = (piece[~np.isnan(piece).any(axis=1)] for piece in np.split(places, gaps))
    return [piece for piece in pieces if len(piece) > 1]


def _on_map(lines: tuple[np.ndarray, ...], longitude: tuple[float, float], latitude: tuple[float, float]) -> np.ndarray:
    """Positions of lines on the turn of the globe that a map shows, float64 (n, 2); NaN between two lines."""
    parts = [np.vstack([_turned(line, sum(longitude) / 2.0), [[np.nan, np.nan]]]) for line in lines]
    places = np.vstack([np.empty((0, 2)), *parts])
    # A step of more than half the globe is where a line left the map on one side and came in on the other.
    jumps = np.flatnonzero(np.abs(np.diff(places[:, 0])) > 180.0) + 1
    places = np.insert(places, jumps, np.nan, axis=0)
    low, high = np.array([longitude, latitude]).T
    aside = ASIDE * (high - low)
    outside = (places < low - aside) | (places > high + aside)
    places[outside.any(axis=1)] = np.nan
    return places


def _turned(line: np.ndarray, middle: float) -> np.ndarray:
    """A line whose longitudes lie within half a turn of the map's middle."""
    turned = line.copy()
    turned[:, 0] -= 360.0 * np.rint((line[:, 0] - middle) / 360.0)
    return turned
