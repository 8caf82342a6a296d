"""Columns whose values lie on a circle or on the globe: hours, weekdays, directions, latitudes and longitudes.

A circle of k values, one step apart along it, lies in the plane with radius k / (2π):

    value j  ->  k / (2π) · (cos(2πj/k), sin(2πj/k)).

The straight-line distance of two values that are d steps apart is then (k/π) sin(πd/k), which is d(1 - (πd/k)²/6 + …):
steps are steps for near ones (1.1% less at a twelfth of the circle, 10% at a quarter), 23 and 0 o'clock are neighbours,
and values farther apart around the circle are farther apart in the plane, up to k/π for opposite ones. So every kernel
of the straight-line distance sees a circle as it is, with the same closeness for every pair that is d steps apart: the
embedding turns, and such distances do not change when it does. Sums of absolute differences are no such distance, as
their balls have corners, and a sum of distances along a circle is not separable in the plane: mechanisms of these
refuse the column. The least and greatest coordinates, ± k / (2π), are public, and a record lies inside them whatever
it says.

Latitude and longitude are compared in kilometres. The globe is laid flat by the local equirectangular projection about
the centre (φ0, λ0) of the public bounds:

    north = R (φ - φ0),    east = R cos(φ0) (λ - λ0),    R = 6371.0088 km, the mean radius of the earth.

Each of the two depends on one column alone, so a pair of columns is two ordinary coordinates in kilometres, and any
mechanism may have them; under the scale "box" both are divided by the longer side, so that a kilometre north stays a
kilometre east. A step due north is exact on a sphere. A step due east at latitude φ is R cos(φ) dλ on the sphere and
R cos(φ0) dλ here: off by the factor cos(φ0) / cos(φ), whose largest distance from 1 inside the bounds is `distortion`:
0.2% for a city of 20 km at 48° north, 2% for 200 km, 14% for France. The earth's flattening adds up to 0.6%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Floats, Integers
from ..runtime.parameters import check_choice, check_number, check_text
from .categorical import Categorical
from .column import Mask, Scalar, as_float64, describe_type, is_text, to_numpy
from .dates import checked_zone, moments, part_of
from .written import Reading, is_number
from .written_dates import HOUR, checked_format, whole_numbers_in

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
# What may be taken of a date, and the values around the circle. A year without a 29th of February ends at 365.
PARTS: dict[str, tuple[str, ...]] = {
    "hour": tuple(map(str, range(24))),
    "weekday": WEEKDAYS,
    "month": MONTHS,
    "day_of_year": tuple(map(str, range(1, 367))),
}
STEPS = {"hour": "hours", "weekday": "days", "month": "months", "day_of_year": "days"}
NUMBERED = {
    "hour": (),
    "weekday": (),  # whether a week begins with 0 or 1, and on which day, nobody can say
    "month": tuple((str(number),) for number in range(1, 13)),
    "day_of_year": (),
}


@dataclass(frozen=True)
class Cyclic(Categorical):
    """One of a public list of values around a circle, where the last is next to the first.

    Parameters
    ----------
    categories : tuple[str, ...]
        The values in the order of the circle; () where ``part`` says them.
    written, missing, missing_category : tuple[tuple[str, ...], ...], tuple[str, ...], str
        As of `Categorical`; a category of missing values has no place on a circle, so there can be none.
    part : str
        "hour", "weekday", "month" or "day_of_year" of a date; "" where the source has the values themselves.
    of : str
        The source's column, where that has another name.
    format, zone : str
        How dates are written and whose clock is read, as of `Dates`.
    """

    categories: tuple[str, ...] = ()
    part: str = ""
    of: str = ""
    format: str = ""
    zone: str = ""
    kind: ClassVar[str] = "cyclic"
    later: ClassVar[tuple[str, ...]] = (*Categorical.later, "categories", "part", "of", "format", "zone")
    width = 2

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        if self.part:
            check_choice(self.part, f"The part of a date that {self.name!r} is", tuple(PARTS))
            given = self.categories
            if not isinstance(given, list | tuple) or tuple(given) not in ((), PARTS[self.part]):
                raise RequestError(f"The values of {self.name!r} are those of its part, {self.part}, and no others.")
            object.__setattr__(self, "categories", PARTS[self.part])
            object.__setattr__(self, "written", self.written or NUMBERED[self.part])
        super().__post_init__()
        if len(self.categories) < 3:
            raise RequestError(f"The circle of {self.name!r} needs three values or more.")
        if self.missing_category:
            raise RequestError(f"Missing values of {self.name!r} have no place on a circle: leave them out, or refuse.")
        if self.unknown_category:
            raise RequestError(
                f"Unknown values of {self.name!r} have no place on a circle: list them, or leave them out."
            )
        if self.of != "":
            check_text(self.of, f"The source of {self.name!r}")
        checked_format(self.format, f"The way in which dates of {self.name!r} are written")
        checked_zone(self.zone, f"The zone of {self.name!r}")

    @property
    def measure(self) -> str:
        """The unit in which records are compared along it."""
        return STEPS.get(self.part, "steps")

    @property
    def radius(self) -> float:
        """Of the circle on which neighbours are one step apart, measured along it."""
        return len(self.categories) / (2.0 * math.pi)

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate, before any scaling; what the distance of categories is does not matter."""
        return -self.radius, self.radius

    @property
    def span(self) -> float:
        """Once around, in steps, where columns are compared in their own units."""
        return float(len(self.categories))

    def scaling(self, scale: str) -> tuple[float, float]:
        """Under "box", once around the circle is 1, as from bound to bound of a number."""
        return (0.0, float(len(self.categories))) if scale == "box" else (0.0, 1.0)

    @cached_property
    def circle(self) -> Floats:
        """The places of all values in the plane, float64 (values, 2)."""
        turns = 2.0 * math.pi * np.arange(len(self.categories)) / len(self.categories)
        places = self.radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        return np.clip(places, -self.radius, self.radius)

    def place(self, points: np.ndarray, rows: np.ndarray, codes: np.ndarray | int, amplitude: float) -> None:
        points[rows] = self.circle[codes]

    def nearest(self, points: np.ndarray) -> Integers:
        turns = np.arctan2(points[:, 1], points[:, 0]) / (2.0 * math.pi)
        count = len(self.categories)
        codes: Integers = np.rint(turns * count).astype(np.int64) % count
        return codes

    def codes(self, array: pa.Array) -> np.ndarray:
        """Index of each value in the list, of the value itself or of a date; -1 where it is neither."""
        if not self.part:
            return self.listed(array)
        kind = array.type
        if pa.types.is_dictionary(kind):
            by_code = np.append(self.codes(array.dictionary), -1).astype(np.int32)
            decoded: np.ndarray = by_code[to_numpy(pc.fill_null(array.indices, len(by_code) - 1))]
            return decoded
        if pa.types.is_time(kind):
            array = array.cast(pa.time32("s"), safe=False).cast(pa.int32())
            hours = to_numpy(pc.fill_null(array, -1)).astype(np.int64) // HOUR
            return self._hours(hours).astype(np.int32)
        if is_number(kind) and not self.format:
            if self.part == "weekday":
                raise RequestError(
                    f"The column {self.name!r} holds numbers where dates are expected, and which weekday a number "
                    "means is not known: declare a circle of values, such as 1, 2, 3, 4, 5, 6, 7."
                )
            return self.listed(array)
        if not (is_text(kind) or is_number(kind) or pa.types.is_null(kind) or pa.types.is_temporal(kind)):
            raise RequestError(f"The column {self.name!r} holds {describe_type(kind)} where dates are expected.")
        found = part_of(moments(self.name, array, self.format, self.zone), self.part)
        if is_text(kind):
            found = np.where(found < 0, self.listed(array), found)
            if self.part == "hour":
                clock = pc.extract_regex(array, r"^\s*(?P<H>[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.]\d*)?)?\s*$").field(
                    "H"
                )
                found = np.where(found < 0, whole_numbers_in(clock, -1), found)
        return found.astype(np.int32)

    def _hours(self, hours: Integers) -> Integers:
        if self.part != "hour":
            raise RequestError(f"The column {self.name!r} holds times of day, which have no {self.part}.")
        return np.where((hours >= 0) & (hours < 24), hours, -1)

    def absent(self, codes: np.ndarray, missing: Mask) -> tuple[Mask, Mask]:
        """Of a date nothing is unknown: what is no date is missing."""
        if not self.part:
            return super().absent(codes, missing)
        return (codes < 0 if (codes < 0).any() else None), None


LATITUDE, LONGITUDE = "latitude", "longitude"
KM_A_DEGREE = 6371.0088 * math.pi / 180.0
FARTHEST = 85.0  # Degrees of latitude beyond which no map with straight axes is of use.


@dataclass(frozen=True)
class Coordinate(Scalar):
    """A latitude or a longitude in degrees, inside a public box; records are compared in kilometres.

    Parameters
    ----------
    axis : str
        "latitude" or "longitude".
    south, north, west, east : float
        The box in degrees. One that holds the antimeridian has a ``west`` greater than its ``east``, as 170 and -170.
    reading : Reading | None
        How numbers and their absence are written, where they may be texts.
    """

    name: str
    axis: str
    south: float
    north: float
    west: float
    east: float
    reading: Reading | None = None
    kind: ClassVar[str] = "coordinate"
    unit: ClassVar[str] = "°"
    later: ClassVar[tuple[str, ...]] = ("reading",)
    measure = "km"

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        check_choice(self.axis, f"The axis of {self.name!r}", (LATITUDE, LONGITUDE))
        for side in ("south", "north", "west", "east"):
            value = check_number(getattr(self, side), f"The {side} of {self.name!r}")
            object.__setattr__(self, side, value)
        if not -FARTHEST <= self.south < self.north <= FARTHEST:
            raise RequestError(
                f"The south of {self.name!r} must lie below its north, both between -{FARTHEST:g} and {FARTHEST:g} "
                "degrees."
            )
        if not (-180.0 <= self.west <= 180.0 and -180.0 <= self.east <= 180.0 and self.west != self.east):
            raise RequestError(
                f"The west and the east of {self.name!r} must be different degrees between -180 and 180."
            )
        if self.reading is not None and not isinstance(self.reading, Reading):
            raise RequestError(f"How the numbers of {self.name!r} are written must be a Reading.")

    @property
    def low(self) -> float:
        return self.south if self.axis == LATITUDE else self.west

    @property
    def high(self) -> float:
        """The other end; an east beyond the antimeridian is counted on."""
        if self.axis == LATITUDE:
            return self.north
        return self.east if self.east > self.west else self.east + 360.0

    @property
    def characters(self) -> int:
        return super().characters + (0 if self.reading is None else self.reading.characters)

    @property
    def as_written(self) -> bool:
        return self.reading is not None

    @property
    def kilometres(self) -> tuple[float, float]:
        """The sides of the box from south to north, and from west to east along the middle."""
        turn = (self.east - self.west) % 360.0
        return KM_A_DEGREE * (self.north - self.south), KM_A_DEGREE * turn * self._middle_cosine

    @property
    def _middle_cosine(self) -> float:
        return math.cos(math.radians((self.south + self.north) / 2.0))

    @property
    def distortion(self) -> float:
        """The largest share by which a short way east is longer or shorter than on a sphere, inside the bounds."""
        cosines = [math.cos(math.radians(latitude)) for latitude in (self.south, self.north)]
        if self.south < 0.0 < self.north:
            cosines.append(1.0)
        return max(abs(self._middle_cosine / cosine - 1.0) for cosine in cosines)

    def scaling(self, scale: str) -> tuple[float, float]:
        """Kilometres from the middle of the bounds; under "box", shares of the longer side from the lower bound."""
        km = KM_A_DEGREE * (1.0 if self.axis == LATITUDE else self._middle_cosine)
        if scale == "box":
            return self.low, max(self.kilometres) / km
        return (self.low + self.high) / 2.0, 1.0 / km

    def numbers(self, array: pa.Array) -> Floats:
        """Degrees, those of longitude on the turn that is nearest to the box; NaN where there is no such place."""
        plain = as_float64(self.name, array) if self.reading is None else self.reading.numbers(self.name, array)
        return self._turned(plain)

    def asked(self, array: pa.Array) -> Floats:
        return self._turned(as_float64(self.name, array))

    def present(self, numbers: Floats) -> Any:
        """Degrees between -180 and 180."""
        return numbers - 360.0 * (numbers > 180.0) if self.axis == LONGITUDE else numbers

    def _turned(self, degrees: Floats) -> Floats:
        if self.axis == LATITUDE:
            return np.where(np.abs(degrees) <= 90.0, degrees, np.nan)
        middle = (self.low + self.high) / 2.0
        turns = np.rint((degrees - middle) / 360.0)
        return np.where(np.abs(degrees) <= 360.0, degrees - 360.0 * turns, np.nan)

    @property
    def as_asked(self) -> Coordinate:
        """The column of a table of questions, where values are numbers."""
        return Coordinate(self.name, self.axis, self.south, self.north, self.west, self.east)


def position(
    latitude: str, longitude: str, south: float, north: float, west: float, east: float, reading: Reading | None = None
) -> tuple[Coordinate, Coordinate]:
    """The two columns of a place: latitude and longitude in one box."""
    first, second = (
        Coordinate(name, axis, south, north, west, east, reading)
        for name, axis in ((latitude, LATITUDE), (longitude, LONGITUDE))
    )
    return first, second
