"""Records as whole-number vectors for training: read once, and each a function of that record and public facts alone.

z = (1, numbers between -1 and 1, categories as one 1 among zeros), as in `core.sketches.sums_of_products`. A record
whose numbers and categories are longer than a public radius is shortened to it; the 1 in front is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..analysis.product_sums import Term, terms_of
from ..domain import Categorical, Column, Cyclic, Domain, Numeric, Scalar
from ..errors import RequestError
from ..parameters import Number, Resolved, Text, Validated, parameter
from ..sketches.sums_of_products import Products

if TYPE_CHECKING:
    from ..sources import Source

MAX_NUMBERS = 1 << 27
"""Records times coordinates that are held in memory, as they are all needed at every step."""
MAX_COORDINATES = 4_000
RADIUS = Number("The radius of the features", 1e-3, 1e3)


@dataclass(frozen=True)
class Task(Validated):
    """What is to be predicted from what.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, what is predicted among them.
    label : str
        The column that is predicted.
    radius : float | None
        A public length of the coordinates between -1 and 1; None is that of a corner of the bounds.

    Raises
    ------
    RequestError
        When there is no such column, or no other.
    """

    domain: Domain
    label: str = parameter(Text("The column to predict"))
    radius: Resolved[float] = parameter(RADIUS, None)
    described: ClassVar[str] = "task"

    def _check(self) -> None:
        if not isinstance(self.domain, Domain):
            raise RequestError("A model is made of a domain and the name of the column that it predicts.")
        self.domain.check_coordinates()
        if self.label not in self.domain.names or len(self.domain.columns) < 2:
            raise RequestError("A model predicts one column of the domain from at least one other.")
        if self.features.dimensions >= MAX_COORDINATES:
            raise RequestError(f"A model takes at most {MAX_COORDINATES - 1:,} coordinates.")
        self._settle(radius=min(self.radius or math.inf, math.sqrt(self._corner)))

    @cached_property
    def features(self) -> Domain:
        """The columns without what is predicted."""
        return self.domain.without(self.label)

    @cached_property
    def encoding(self) -> Products:
        """How features become coordinates between -1 and 1."""
        return Products(self.features)

    @property
    def _corner(self) -> int:
        """Squared length of a corner of the bounds, without the 1 in front."""
        return self.encoding.layout.numbers + self.encoding.layout.labels

    @property
    def reach(self) -> float:
        """The longest that features are, in lengths between -1 and 1: the radius, settled."""
        return self.radius

    @property
    def categories(self) -> tuple[str, ...]:
        """The public list of classes; none where a number is predicted."""
        column = self.target
        return column.categories if isinstance(column, Categorical) and not isinstance(column, Cyclic) else ()

    @cached_property
    def target(self) -> Column:
        """The column that is predicted."""
        return next(column for column in self.domain.columns if column.name == self.label)

    @cached_property
    def goal(self) -> Term:
        """How numbers that are predicted lie between -1 and 1."""
        return terms_of(self._alone)[0]

    @cached_property
    def _alone(self) -> Domain:
        """The domain of what is predicted and nothing else."""
        return replace(self.domain, columns=(self.target,))

    @property
    def rows(self) -> int:
        """Rows of coefficients: one for a number or for the second of two classes, otherwise one a class."""
        return 1 if len(self.categories) in (0, 2) else len(self.categories)

    @cached_property
    def places(self) -> np.ndarray:
        """Which coordinates of an encoded record are of what is predicted, bool (d,)."""
        names = [column.name for column in self.domain.columns for _ in range(column.width)]
        return np.array([name == self.label for name in names])

    @property
    def is_count(self) -> bool:
        """Whether a number from 0 on is predicted."""
        return isinstance(self.target, Numeric) and self.target.low == 0.0

    def check_classes(self) -> None:
        """RequestError unless a class is predicted."""
        if not self.categories:
            raise RequestError(
                f"This method predicts a column of categories, the public list of classes, and {self.label!r} is none."
            )

    def check_number(self) -> None:
        """RequestError unless a number is predicted."""
        if not isinstance(self.target, Scalar):
            raise RequestError(f"This method predicts a column of numbers or dates, and {self.label!r} is none.")

    def gather(self, source: Source, unit: int) -> tuple[np.ndarray, np.ndarray]:
        """All records: units of their coordinates, int64 (n, d + 1), and what is predicted, int64 (n,).

        That is the places of their classes, or units of their numbers between -1 and 1.

        Parameters
        ----------
        source : Source
            The private records.
        unit : int
            What 1 counts; units are cut toward zero, and those of features together are no longer than radius · unit.

        Raises
        ------
        RequestError
            When the records cannot be read, or are too many to be held.
        """
        before, parts, codes, held = source.fingerprint(), [], [], 0
        for batch in source.batches(self.domain):
            points = np.asarray(self.domain.encode(batch))
            held += len(points) * (self.features.dimensions + 1)
            if held > MAX_NUMBERS:
                raise RequestError(
                    f"Training holds all records in memory, at most {MAX_NUMBERS:,} numbers: give it fewer records or "
                    "columns."
                )
            found = self.encoded(points, unit)
            parts.append(found[0])
            codes.append(found[1])
        if source.fingerprint() != before:
            raise RequestError(f"What is in {source.label} has changed while it was read; start again.")
        empty = np.empty((0, self.features.dimensions + 1), np.int64)
        return np.concatenate([empty, *parts]), np.concatenate([np.empty(0, np.int64), *codes])

    def encoded(self, points: np.ndarray, unit: int) -> tuple[np.ndarray, np.ndarray]:
        """What `gather` gives of records that the domain has encoded, float64 (n, d)."""
        vectors = self.encoding.vectors(points[:, ~self.places])
        return whole_vectors(vectors, self.radius, unit), self._told(points[:, self.places], unit)

    def _told(self, points: np.ndarray, unit: int) -> np.ndarray:
        """What is predicted: the places of classes, or numbers in units that are cut toward zero, int64 (n,)."""
        if self.categories:
            return np.argmax(points, axis=1)
        return np.asarray(self.between(points) * unit, np.int64)

    def between(self, points: np.ndarray) -> np.ndarray:
        """Encoded numbers that are predicted, between -1 and 1, float64 (n,)."""
        return np.asarray(np.clip(Products(self._alone).vectors(points)[:, 1], -1.0, 1.0))

    def longest(self, unit: int) -> int:
        """The largest squared length of what `gather` gives, in units, the 1 in front included."""
        return unit**2 + longest_features(self.radius, unit)


def longest_features(radius: float, unit: int) -> int:
    """The largest squared length of features in units."""
    return math.floor((radius * unit) ** 2)


def whole_vectors(vectors: np.ndarray, radius: float, unit: int) -> np.ndarray:
    """Vectors (n, d + 1) in whole units, cut toward zero, features no longer than the radius.

    Each is a function of that record alone, bit for bit: sums are taken coordinate by coordinate, in their order. What
    is still too long by rounding moves one unit toward zero in every entry until it is not.
    """
    features = np.clip(vectors[:, 1:], -1.0, 1.0)
    squares = np.zeros(len(features))
    for column in features.T:
        squares += column * column
    factor = unit * np.minimum(1.0, radius / np.maximum(np.sqrt(squares), 1e-300))
    units = np.empty(vectors.shape, np.int64)
    units[:, 0] = unit
    for place, column in enumerate(features.T):
        units[:, place + 1] = column * factor
    most = longest_features(radius, unit)
    while (long := np.flatnonzero((units[:, 1:] ** 2).sum(axis=1) > most)).size:
        units[long, 1:] -= np.sign(units[long, 1:])
    return units
