"""Columns whose values lie on a circle: the hour of the day, the weekday, the month, a direction of the wind.

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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_choice, check_text
from ..errors import RequestError
from ..machine.array_types import Floats, Integers
from .categorical import Categorical
from .column import Mask, describe_type, is_text, to_numpy
from .matching import is_number
from .moments import HOUR, checked_format, checked_zone, moments, part_of, whole_numbers_in

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
PARTS: dict[str, tuple[str, ...]] = {
    "hour": tuple(map(str, range(24))),
    "weekday": WEEKDAYS,
    "month": MONTHS,
    "day_of_year": tuple(map(str, range(1, 367))),
}
"""What may be taken of a date, and the values around the circle. A year without a 29th of February ends at 365."""
CLOCK = r"^\s*(?P<H>[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.]\d*)?)?\s*$"
"""A time of day without a date."""
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
    name : str
        Column name.
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
    def width(self) -> int:
        return 2

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
