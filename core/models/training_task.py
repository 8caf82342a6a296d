"""Records as whole-number vectors for training: read once, and each a function of that record and public facts alone.

z = (1, numbers between -1 and 1, categories as one 1 among zeros), as in `core.sketches.sums_of_products`. A record
whose numbers and categories are longer than a public radius is shortened to it; the 1 in front is not.

What a model adds up may bend: coordinates are then lines with curves and waves beside them (`bending`), which are no
longer together, so the radius and every sensitivity that is proved from it are the same.
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
from .bending import curved, frequencies, knots, lines_beside, mean_waves, multiplied, waved
from .record_vectors import gathered, longest_features, whole_vectors

if TYPE_CHECKING:
    from ..sources import Source

MAX_COORDINATES = 4_000
MOST_HALVINGS, MOST_WAVES = 5, 1_000
DRAWN = 3  # Halvings of the knots by which waves are told.
BENDS = ("curves", "waves", "products")  # Parameters that files of straight lines do not have.
RADIUS = Number("The radius of the features", 1e-3, 1e3)


@dataclass(frozen=True)
class Task(Validated):
    """What is to be predicted from what.

    RequestError when there is no such column, or no other.
    """

    domain: Domain  # The public facts about the records, what is predicted among them.
    label: str = parameter(Text("The column to predict"))  # The column that is predicted.
    # A public length of the coordinates between -1 and 1; None is that of a corner of the bounds.
    radius: Resolved[float] = parameter(RADIUS, None)
    # How often the bounds of a number are halved by the knots of its curve; 0 for a straight line.
    curves: int = parameter(Whole("How often a curve halves the bounds", 0, MOST_HALVINGS), 0, kw_only=True)
    # How many waves of all columns together stand beside them; 0 where each column adds something of its own alone.
    waves: int = parameter(Whole("The number of waves", 0, MOST_WAVES), 0, kw_only=True)
    # 1 where the products of each two numbers stand beside them, otherwise 0.
    products: int = parameter(Whole("Products of two numbers", 0, 1), 0, kw_only=True)
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
        self._settle(radius=min(self.radius or math.inf, math.sqrt(self.corner)))

    @property
    def bends_by(self) -> dict[str, Any]:
        """What lets it bend, by name."""
        return {name: getattr(self, name) for name in BENDS}

    @cached_property
    def features(self) -> Domain:
        """The columns without what is predicted."""
        return self.domain.without(self.label)

    def written(self) -> dict[str, Any]:
        """As files of earlier versions have it, where no line bends."""
        without = {name for name in BENDS if not getattr(self, name)}
        return {name: fact for name, fact in super().written().items() if name not in without}

    @classmethod
    def read(cls, value: object) -> dict[str, Any]:
        """What `written` wrote down; straight lines where nothing is said of curves and waves."""
        return super().read(dict.fromkeys(BENDS, 0) | value if isinstance(value, dict) else value)

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
    def _bendable(self) -> np.ndarray:
        """Which of those coordinates are numbers with a value between the ends of their bounds, bool (d,)."""
        low, high = self.flat.bounds()
        spacings = np.asarray(self.flat.spacings)
        several = (spacings == 0.0) | (2.0 * spacings <= high - low)
        return np.array(self.encoding.layout.squared)[1:] & several

    @property
    def bent(self) -> np.ndarray:
        """Which of those coordinates have a curve, bool (d,)."""
        return self._bendable & (self.curves > 0)

    @property
    def drawn(self) -> np.ndarray:
        """Which of those coordinates are told by knots: numbers with a curve, or with waves, bool (d,)."""
        return self._bendable & (self.curves + self.waves > 0)

    @property
    def _knots(self) -> np.ndarray:
        """The knots that drawn numbers are told by."""
        return knots(max(self.curves, DRAWN) if self.waves else self.curves)

    def halvings(self) -> dict[str, int]:
        """How often the knots of each column halve its bounds."""
        names = [column.name for column in self._columns]
        return {name: self.curves * int(bent) for name, bent in zip(names, self.bent.tolist(), strict=True)}

    @cached_property
    def width(self) -> int:
        """How many coordinates features have."""
        return self.features.dimensions + int(self.bent.sum()) * ((1 << self.curves) - 1) + self.together

    @property
    def together(self) -> int:
        """How many coordinates look at several columns: waves, then products. They come last."""
        return 2 * self.waves + len(self.pairs)

    @cached_property
    def pairs(self) -> np.ndarray:
        """Places of the two numbers of each product among the coordinates before any of them bends, int64 (P, 2)."""
        numbers = np.flatnonzero(np.array(self.encoding.layout.squared)[1:] & (self.products > 0))
        one, other = np.triu_indices(len(numbers), 1)
        return np.column_stack((numbers[one], numbers[other]))

    @property
    def shortened_by(self) -> float:
        """What lines and curves are multiplied by."""
        return lines_beside(self.waves, len(self.pairs))

    @cached_property
    def _groups(self) -> tuple[int, ...]:
        """Of each coordinate before any of them bends the column whose category it is, from 1; 0 of numbers."""
        layout = self.encoding.layout
        return tuple(0 if number else group for number, group in zip(layout.squared, layout.groups, strict=True))[1:]

    @cached_property
    def frequencies(self) -> np.ndarray:
        """Turns that each wave takes a unit of each coordinate before any of them bends, float64 (waves, d)."""
        return frequencies(self.waves, self._groups)

    def vectors(self, points: np.ndarray) -> np.ndarray:
        """Features that are encoded by their domain, (n, d), as (1, coordinates between -1 and 1), (n, width + 1)."""
        vectors = self.encoding.vectors(points)
        if not self.bent.any() and not self.together:
            return vectors
        vectors = np.clip(vectors, -1.0, 1.0)  # queries may be outside the bounds, and a wave has no end there
        ends = np.cumsum(np.where(self.bent, 1 << self.curves, 1))
        found = np.empty((len(vectors), self.width + 1))
        found[:, 0] = vectors[:, 0]
        for end, bent, column in zip(ends.tolist(), self.bent.tolist(), vectors[:, 1:].T, strict=True):
            if bent:
                found[:, end + 1 - (1 << self.curves) : end + 1] = curved(column, self.curves)
            else:
                found[:, end] = column
        end = ends[-1] + 1
        found[:, 1:end] *= self.shortened_by
        if self.waves:
            found[:, end : end + 2 * self.waves] = waved(vectors[:, 1:], self.frequencies, self.corner)
        if len(self.pairs):
            found[:, end + 2 * self.waves :] = multiplied(vectors[:, 1:], self.pairs, self.corner)
        return found

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What can be said of features: a line's slope, a category, or a knot of a curve as if it were a category."""
        found: list[Term] = []
        columns = [column for column in self.flat.columns for _ in range(column.width)]
        for term, drawn, column in zip(terms_of(self.flat), self.drawn, columns, strict=True):
            if drawn:
                told = getattr(column, "text", "{:.6g}".format)  # of dates
                texts = [told(term.middle + term.half * knot) for knot in self._knots.tolist()]
                found += [Term(term.name, text, 0.0, 1.0, f"{term.name} = {text}") for text in texts]
            else:
                found.append(term)
        return tuple(found)

    @cached_property
    def curves_of(self) -> dict[str, tuple[list[int], np.ndarray]]:
        """Of each number with a curve: the places of its knots among `terms`, and where they are in its own unit."""
        found, place = {}, 0
        for term, drawn in zip(terms_of(self.flat), self.drawn, strict=True):
            several = len(self._knots) if drawn else 1
            if drawn:
                places = term.middle + term.half * self._knots
                found[term.name] = list(range(place, place + several)), places
            place += several
        return found

    @cached_property
    def reading(self) -> tuple[np.ndarray, np.ndarray]:
        """What weights say of `terms`, float64 (terms, width), and what they add to the intercept, float64 (width,).

        A slope is of a number in its own unit, and a knot is told from the mean of its curve's knots. Where there are
        curves a category is told from the mean of its column's, as what all of them add alike nobody can tell from the
        intercept. Waves are told by what they are on average over all other columns (`mean_waves`).
        """
        blocks, offsets = [], []
        for term, bent, drawn in zip(terms_of(self.flat), self.bent, self.drawn, strict=True):
            at = self._knots if drawn else np.array([1.0 / term.half])
            block = curved(at, self.curves) if bent else at[:, None]
            offset = block.mean(axis=0) if drawn else np.array([-term.middle / term.half])
            blocks.append(block - offset if drawn else block)
            offsets.append(offset)
        told, added = block_diag(*blocks), np.concatenate(offsets)
        if self.curves or self.waves:
            for own in self._categories_of_columns():
                mean = told[own].mean(axis=0)
                told[own] -= mean
                added += mean
        if not self.together:
            return told, added
        none = np.zeros((len(told), len(self.pairs)))  # what products say of one column
        waves, everywhere = self._waves_told() if self.waves else (none[:, :0], none[0, :0])
        told, added = told * self.shortened_by, added * self.shortened_by
        return np.hstack((told, waves, none)), np.concatenate((added, everywhere, none[0]))

    def _waves_told(self) -> tuple[np.ndarray, np.ndarray]:
        """What the weights of waves say of `terms`, float64 (terms, 2 waves), and of the intercept."""
        terms = terms_of(self.flat)
        ends = np.array([-1.0, 1.0])
        places = [
            self._knots if drawn else np.ones(1) if term.category else ends
            for term, drawn in zip(terms, self.drawn, strict=True)
        ]
        blocks, everywhere = mean_waves(places, self.frequencies, self._groups, self.corner)
        for place, (term, drawn) in enumerate(zip(terms, self.drawn, strict=True)):
            if drawn:
                blocks[place] = blocks[place] - blocks[place].mean(axis=0)
            elif not term.category:
                blocks[place] = (blocks[place][1:] - blocks[place][:1]) / (2.0 * term.half)
        told = np.concatenate(blocks)
        for own in self._categories_of_columns():
            told[own] -= told[own].mean(axis=0)
        return told, everywhere

    def _categories_of_columns(self) -> list[np.ndarray]:
        """The places among `terms` of the categories of each column."""
        columns = np.array([term.column if term.category else "" for term in terms_of(self.flat)])
        every = np.array([term.column for term in self.terms])
        return [np.flatnonzero(every == column) for column in sorted(set(columns.tolist()) - {""})]

    @cached_property
    def _columns(self) -> list[Column]:
        """The column of each coordinate before any of them bends."""
        return [column for column in self.features.columns for _ in range(column.width)]

    @property
    def corner(self) -> int:
        """Squared length of a corner of the bounds, without the 1 in front."""
        return self.encoding.layout.numbers + self.encoding.layout.labels

    def usual_length(self, deviations: float = 2.0) -> float:
        """What hardly any record is longer than whose numbers lie evenly between their bounds: of v² in those a third
        is the mean and 4/45 the variance, and so many standard deviations of their sum are added.
        """
        numbers, labels = self.encoding.layout.numbers, self.encoding.layout.labels
        return math.sqrt(min(self.corner, labels + numbers / 3.0 + deviations * math.sqrt(4.0 * numbers / 45.0)))

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

        `unit`: What 1 counts; units are cut toward zero, and those of features together are no longer than radius ·
        unit. RequestError when the records cannot be read, or are too many to be held.
        """
        return gathered(source, self.domain, self.width, lambda points: self.encoded(points, unit))

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
