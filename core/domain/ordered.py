"""Columns of categories that have an order, and places on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from ..checks import check_number
from ..errors import RequestError
from ..machine.array_types import Floats, Integers
from .categorical import Categorical
from .column import Mask, checked_bounds
from .scalar import Scalar


@dataclass(frozen=True)
class Ordered(Scalar):
    """One of a public list of categories in ascending order, such as school degrees, or "never" to "always".

    Its coordinate is the category's position: 0, 1, 2 … without other ones, so that neighbours on the list are one
    apart. A value that is not on the list is of unknown category, as for `Categorical`.

    Parameters
    ----------
    name : str
        Column name.
    categories : tuple[str, ...]
        The public list, in ascending order.
    positions : tuple[float, ...]
        A position for each, ascending, such as years at school; () for 0, 1, 2 ….
    written, missing, missing_category, unknown_category : tuple[tuple[str, ...], ...], tuple[str, ...], str, str
        As of `Categorical`; a category of missing values has the place on the list, and so the distances, that it was
        given.
    """

    name: str
    categories: tuple[str, ...]
    positions: tuple[float, ...] = ()
    written: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()
    missing_category: str = ""
    unknown_category: str = ""
    kind: ClassVar[str] = "ordered"
    unit: ClassVar[str] = ""
    later: ClassVar[tuple[str, ...]] = ("positions", "written", "missing", "missing_category", "unknown_category")

    def __post_init__(self) -> None:
        plain = self.list
        for part in ("categories", "written", "missing"):
            object.__setattr__(self, part, getattr(plain, part))
        if isinstance(self.positions, str) or not isinstance(self.positions, Sequence):
            raise RequestError(f"The positions of {self.name!r} must be a list of numbers.")
        positions = tuple(check_number(one, f"A position of {self.name!r}") for one in self.positions)
        if len(positions) not in (0, len(self.categories)) or (positions and min(np.diff(positions)) <= 0.0):
            raise RequestError(f"The positions of {self.name!r} must be ascending numbers, one for each category.")
        if positions:
            checked_bounds(self.name, positions[0], positions[-1])
        object.__setattr__(self, "positions", positions)

    @cached_property
    def list(self) -> Categorical:
        """The same categories without their order."""
        return Categorical(
            self.name, self.categories, self.written, self.missing, self.missing_category, self.unknown_category
        )

    @cached_property
    def places(self) -> Floats:
        """The position of each category, float64 (categories,)."""
        return np.array(self.positions or range(len(self.categories)), dtype=np.float64)

    @property
    def low(self) -> float:
        return float(self.places[0])

    @property
    def high(self) -> float:
        return float(self.places[-1])

    @property
    def spacing(self) -> float:
        """What lies between two neighbouring places, where they are evenly spaced."""
        gaps = np.diff(self.places)
        return float(gaps[0]) if gaps.size and (gaps == gaps[0]).all() else 0.0

    @property
    def measure(self) -> str:
        return "" if self.positions else "steps"

    @property
    def characters(self) -> int:
        return self.list.characters + 24 * len(self.positions)

    def codes(self, array: pa.Array) -> np.ndarray:
        """Index of each value in the list of categories, int32 (n,); -1 where it is not on the list."""
        return self.list.codes(array)

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        return self._places_into(out, *self.list.coded(array))

    def ask_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        return self._places_into(out, *self.list.coded_question(array))

    def _places_into(self, out: np.ndarray, codes: np.ndarray, missing: Mask) -> tuple[Mask, Mask]:
        out[:, 0] = np.append(self.places, np.nan)[codes]
        return self.list.absent(codes, missing)

    def nearest(self, points: np.ndarray) -> Integers:
        """The places in the list of the categories nearest to positions (n, 1), int64 (n,)."""
        middles = (self.places[1:] + self.places[:-1]) / 2.0
        codes: Integers = np.searchsorted(middles, points[:, 0])
        return codes

    def present(self, numbers: Floats) -> Any:
        """The categories nearest to positions, in pandas' ordered type."""
        codes = self.nearest(np.asarray(numbers)[:, None])
        return pd.Categorical.from_codes(codes, categories=list(self.categories), ordered=True)

    @property
    def as_asked(self) -> Categorical:
        """The column of a table of questions, where values are categories."""
        return self.list.as_asked
