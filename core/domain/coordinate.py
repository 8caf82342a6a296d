"""Columns of geographical latitude and longitude, compared in kilometres.

The globe is laid flat by the local equirectangular projection about the centre (φ0, λ0) of the public bounds:

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
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..checks import check_choice, check_number, check_text
from ..errors import RequestError
from ..machine.array_types import Floats
from .column import as_float64
from .scalar import Scalar
from .written import Reading

LATITUDE, LONGITUDE = "latitude", "longitude"
KM_A_DEGREE = 6371.0088 * math.pi / 180.0
FARTHEST = 85.0
"""Degrees of latitude beyond which no map with straight axes is of use."""


@dataclass(frozen=True)
class Coordinate(Scalar):
    """A latitude or a longitude in degrees, inside a public box; records are compared in kilometres.

    Parameters
    ----------
    name : str
        Column name.
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
    def measure(self) -> str:
        return "km"

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
    latitude: str,
    longitude: str,
    south: float,
    north: float,
    west: float,
    east: float,
    reading: Reading | None = None,
) -> tuple[Coordinate, Coordinate]:
    """The two columns of a place: latitude and longitude in one box."""
    first, second = (
        Coordinate(name, axis, south, north, west, east, reading)
        for name, axis in ((latitude, LATITUDE), (longitude, LONGITUDE))
    )
    return first, second
