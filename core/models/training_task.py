"""Records as whole-number vectors for training: read once, and each a function of that record and public facts alone.

z = (1, numbers between -1 and 1, categories as one 1 among zeros), as in `core.sketches.sums_of_products`. A record
whose numbers and categories are longer than a public radius is shortened to it; the 1 in front is not.

**Curves.** What a model adds up may bend: a number v is then read as v itself and as tents, which stand side by side
in levels. Level l = 1, 2, ... L has 2^(l-1) of them, as wide as the bounds together, each of height 2^(-(l-1)/2).
Weights of v and of all tents are every continuous line with 2^L + 1 knots at equal distances, but for its constant,
which the 1 in front has; lower levels have the longer coordinates, so what is smooth is learnt first.

*They are no longer than numbers are.* At v one tent a level, at most, is above 0. With t_1 = 1 - |v|, its share of its
height is t_l with t_(l+1) = 1 - |2 t_l - 1|. So v² + t_1² = 1 - 2 t_1 (1 - t_1). As T = 1 - |2t - 1| is twice the
smaller of t and 1 - t, 2t(1 - t) = T - T²/2 = (T² + 2T(1 - T))/2, and by doing this again and again

    v² + Σ_l 2^(-(l-1)) t_l² = 1 - 2^(-(L-1)) 2 t_L (1 - t_L) <= 1.

The squared length of a record's features is thus at most what it is in a corner of the bounds, however often they are
halved: each number adds no more than 1. The radius, and every sensitivity that is proved from it, is the same for
curves as for straight lines; records are shortened to it all the same (`whole_vectors`), so it holds whatever rounds.
Every coordinate is a function of one number of one record, element by element.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.linalg import block_diag

from ..analysis.product_sums import Term, terms_of
from ..domain import Categorical, Column, Cyclic, Domain, Numeric, Scalar
from ..errors import RequestError
from ..runtime.parameters import Number, Resolved, Text, Validated, Whole, parameter
from ..sketches.sums_of_products import Products

if TYPE_CHECKING:
    from ..sources import Source

MAX_NUMBERS = 1 << 27  # Records times coordinates that are held in memory, as they are all needed at every step.
MAX_COORDINATES = 4_000
MOST_HALVINGS = 5
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
    curves : int
        How often the bounds of a number are halved by the knots of its curve; 0 for a straight line.

    Raises
    ------
    RequestError
        When there is no such column, or no other.
    """

    domain: Domain
    label: str = parameter(Text("The column to predict"))
    radius: Resolved[float] = parameter(RADIUS, None)
    curves: int = parameter(Whole("How often a curve halves the bounds", 0, MOST_HALVINGS), 0, kw_only=True)
    described: ClassVar[str] = "task"

    def _check(self) -> None:
        if not isinstance(self.domain, Domain):
            raise RequestError("A model is made of a domain and the name of the column that it predicts.")
        self.domain.check_coordinates()
        self._settle(domain=self.domain.by_differences)  # slopes are by the unit, also those of amounts
        if self.label not in self.domain.names or len(self.domain.columns) < 2:
            raise RequestError("A model predicts one column of the domain from at least one other.")
        if self.width >= MAX_COORDINATES:
            raise RequestError(f"A model takes at most {MAX_COORDINATES - 1:,} coordinates.")
        self._settle(radius=min(self.radius or math.inf, math.sqrt(self._corner)))

    @cached_property
    def features(self) -> Domain:
        """The columns without what is predicted."""
        return self.domain.without(self.label)

    def written(self) -> dict[str, Any]:
        """As files of earlier versions have it, where no line bends."""
        facts = super().written()
        return facts if self.curves else {name: fact for name, fact in facts.items() if name != "curves"}

    @classmethod
    def read(cls, value: object) -> dict[str, Any]:
        """What `written` wrote down; straight lines where nothing is said of curves."""
        if isinstance(value, dict) and "curves" not in value:
            value = value | {"curves": 0}
        return super().read(value)

    @cached_property
    def flat(self) -> Domain:
        """The features with two numbers, its cosine and its sine, where one has its values around a circle."""

        def sides(column: Column) -> tuple[Column, ...]:
            if not isinstance(column, Cyclic):
                return (column,)
            low, high = column.bounds(1.0)
            return tuple(Numeric(f"{column.name}, {side}", low, high) for side in ("cosine", "sine"))

        columns = tuple(side for column in self.features.columns for side in sides(column))
        return replace(self.features, columns=columns) if self.features.circles else self.features

    @cached_property
    def encoding(self) -> Products:
        """How features become coordinates between -1 and 1, before any of them bends."""
        return Products(self.flat)

    @cached_property
    def bent(self) -> np.ndarray:
        """Which of those coordinates have a curve, bool (d,): numbers with a value between the ends of their bounds."""
        low, high = self.flat.bounds()
        spacings = np.asarray(self.flat.spacings)
        several = (spacings == 0.0) | (2.0 * spacings <= high - low)
        return np.array(self.encoding.layout.squared)[1:] & several & (self.curves > 0)

    def halvings(self) -> dict[str, int]:
        """How often the knots of each column halve its bounds."""
        names = [column.name for column in self._columns]
        return {name: self.curves * int(bent) for name, bent in zip(names, self.bent.tolist(), strict=True)}

    @cached_property
    def width(self) -> int:
        """How many coordinates features have."""
        return self.features.dimensions + int(self.bent.sum()) * ((1 << self.curves) - 1)

    def vectors(self, points: np.ndarray) -> np.ndarray:
        """Features that are encoded by their domain, (n, d), as (1, coordinates between -1 and 1), (n, width + 1)."""
        vectors = self.encoding.vectors(points)
        if not self.bent.any():
            return vectors
        ends = np.cumsum(np.where(self.bent, 1 << self.curves, 1))
        found = np.empty((len(vectors), self.width + 1))
        found[:, 0] = vectors[:, 0]
        for end, bent, column in zip(ends.tolist(), self.bent.tolist(), vectors[:, 1:].T, strict=True):
            if bent:
                found[:, end + 1 - (1 << self.curves) : end + 1] = curved(column, self.curves)
            else:
                found[:, end] = column
        return found

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What can be said of features: a line's slope, a category, or a knot of a curve as if it were a category."""
        found: list[Term] = []
        columns = [column for column in self.flat.columns for _ in range(column.width)]
        for term, bent, column in zip(terms_of(self.flat), self.bent, columns, strict=True):
            if bent:
                told = getattr(column, "text", "{:.6g}".format)  # of dates
                texts = [told(term.middle + term.half * knot) for knot in knots(self.curves).tolist()]
                found += [Term(term.name, text, 0.0, 1.0, f"{term.name} = {text}") for text in texts]
            else:
                found.append(term)
        return tuple(found)

    @cached_property
    def curves_of(self) -> dict[str, tuple[list[int], np.ndarray]]:
        """Of each number with a curve: the places of its knots among `terms`, and where they are in its own unit."""
        found, place = {}, 0
        for term, bent in zip(terms_of(self.flat), self.bent, strict=True):
            several = (1 << self.curves) + 1 if bent else 1
            if bent:
                places = term.middle + term.half * knots(self.curves)
                found[term.name] = list(range(place, place + several)), places
            place += several
        return found

    @cached_property
    def reading(self) -> tuple[np.ndarray, np.ndarray]:
        """What weights say of `terms`, float64 (terms, width), and what they add to the intercept, float64 (width,).

        A slope is of a number in its own unit, and a knot is told from the mean of its curve's knots. Where there are
        curves a category is told from the mean of its column's, as what all of them add alike nobody can tell from the
        intercept.
        """
        blocks, offsets = [], []
        for term, bent in zip(terms_of(self.flat), self.bent, strict=True):
            block = curved(knots(self.curves), self.curves) if bent else np.array([[1.0 / term.half]])
            offset = block.mean(axis=0) if bent else np.array([-term.middle / term.half])
            blocks.append(block - offset if bent else block)
            offsets.append(offset)
        told, added = block_diag(*blocks), np.concatenate(offsets)
        columns = np.array([term.column if term.category else "" for term in terms_of(self.flat)])
        for column in set(columns.tolist()) - {""} if self.curves else ():
            own = np.flatnonzero(np.array([term.column == column for term in self.terms]))
            mean = told[own].mean(axis=0)
            told[own] -= mean
            added += mean
        return told, added

    @cached_property
    def _columns(self) -> list[Column]:
        """The column of each coordinate before any of them bends."""
        return [column for column in self.features.columns for _ in range(column.width)]

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
            held += len(points) * (self.width + 1)
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
        empty = np.empty((0, self.width + 1), np.int64)
        return np.concatenate([empty, *parts]), np.concatenate([np.empty(0, np.int64), *codes])

    def encoded(self, points: np.ndarray, unit: int) -> tuple[np.ndarray, np.ndarray]:
        """What `gather` gives of records that the domain has encoded, float64 (n, d)."""
        vectors = self.vectors(points[:, ~self.places])
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


def knots(halvings: int) -> np.ndarray:
    """Where a curve may bend, both ends of the bounds among them, float64 (2^halvings + 1,) between -1 and 1."""
    return np.linspace(-1.0, 1.0, (1 << halvings) + 1)


def tents(halvings: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the tops of all tents are, one over half their width, and their heights: float64 (2^halvings - 1,) each."""
    levels = np.concatenate([np.full(1 << level, level) for level in range(halvings)])
    places = np.concatenate([np.arange(1 << level) for level in range(halvings)])
    return (2.0 * places + 1.0) / 2.0**levels - 1.0, 2.0**levels, 2.0 ** (-levels / 2.0)


def curved(numbers: np.ndarray, halvings: int) -> np.ndarray:
    """Numbers between -1 and 1 (n,) with their tents, float64 (n, 2^halvings); see the module."""
    tops, steep, heights = tents(halvings)
    shares = np.maximum(0.0, 1.0 - np.abs(numbers[:, None] - tops) * steep)
    return np.column_stack((numbers, shares * heights))


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
