"""A model from a release of tables, at no further price: curves that follow from released pairs of columns.

**Sums.** A model needs sums over the records: of its coordinates z, of their products z zᵀ, and of z where the target
has a value. A pair of columns that was counted cell by cell says its part of all three, with the mean of a coordinate
in a cell for the coordinate: of columns j and k with N_jk records in pairs of cells, Σ z_j z_kᵀ = P_jᵀ N_jk P_k, P_j
the means in the cells of j (its fine cells say where in a cell records lie). N is the best guess (`best_guess`), which
is not negative and agrees with itself; what no table has together is guessed from what others have. Guessed sums do
better than unbiased ones here, as what divides by them must not be near 0.

**Numbers** are predicted by least squares: (S + λ) w = c, with S the centred sums of products and c those with the
target. λ is a deviation of the noise of a cell of a pair.

**Classes** are told by the linear discriminant in the same coordinates: w_c = n (S_w + λ)⁻¹ (m_c - m), with S_w what is
left of S within classes and m_c the mean of a class. The score of a class is its logarithm of odds, up to a constant,
where coordinates vary in all classes alike.

**Bands.** The guess is shrunk towards what margins say, so what is left of its noise follows no formula. Bands are
told by what more noise does: made-up noise of the same law on top of the released one, of which it is told that there
is twice the variance, and so a guess and a model that are off once more. The mean square of that over `AGAIN` draws of
public chance, at a term and over its column half and half, is taken for that of the first time. What shrinking itself
takes off a curve is more the first time than the second, so bands are `LONGER` as long. Of four sets (classes and
numbers that bend, made up; diabetes and wine) they hold 97 to 100 of 100 with a delta, where they could be shorter.
They are of what the tables would say without noise. Under a pure promise the guess hides whole curves, of which more
noise says nothing (of a bent truth in eight columns of 4,000 people 49 of 100 such bands held), so there are none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..domain import Vector
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.tables.best_guess import BestGuess
from ..sketches.tables.reading import Reading
from ..sketches.tables.table_axes import METRIC, Axis
from .linear_models import LinearModel, Model, NumberModel
from .model_file import BITS, LARGEST
from .monotone import Declared, directions_of, monotone
from .training_task import Task

USUAL, PLACES = 3, 16  # Halvings of curves, and places at which coordinates are looked up in a cell.
AGAIN, LONGER = 6, 4.0  # Draws of more noise, and how much longer bands are than these say.
LEAST = 1e-9  # Records in a fine cell, so that nothing is divided by 0.
FROM_PAIRS = "least squares on released pairs of columns"
FROM_CLASSES = "a linear discriminant of released pairs of columns"
THEOREM = "It follows from a release of tables that keeps this promise, and from nothing else: it cost nothing more."


def train_from(
    release: Release, label: str, *, curves: int | None = None, monotonic_cst: Declared = None
) -> LinearModel | NumberModel:
    """Predict a column from all others by what a release of tables says of pairs: nothing is spent.

    Parameters
    ----------
    release : Release
        Of tables, with pairs of columns; of several parts, the one that is tables.
    label : str
        The column to predict: of categories, numbers or dates.
    curves : int | None
        How often the bounds of a number are halved by the knots of its curve; None takes nine knots, fewer where
        columns have fewer than 16 cells.
    monotonic_cst : Mapping[str, int] | Sequence[int] | None
        See `train`.

    Raises
    ------
    RequestError
        When the release holds no tables, or such a column cannot be predicted.
    """
    reading = release.asked().reading
    missing = next((axis.name for axis in reading.layout.axes if axis.missing), None)
    if missing is not None:
        raise RequestError(f"The column {missing!r} counts missing values apart, which no curve has a place for.")
    if any(isinstance(column, Vector) for column in release.domain.columns):
        raise RequestError("Columns of vectors have no curves; leave them out of the tables.")
    numbers = [axis.cells for axis in reading.layout.axes if not axis.categories]
    halvings = min([USUAL, *((cells // 2).bit_length() - 1 for cells in numbers)]) if curves is None else curves
    task = Task(release.domain, label, curves=max(0, halvings))
    directions = directions_of(task, monotonic_cst)
    sums = PairSums(task, reading, BestGuess(reading))
    if not any(label in pair for pair in sums.measured):
        raise RequestError(f"No table has {label!r} together with another column, so nothing is known of what says it.")
    return monotone(sums.model(release), directions)


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights of coordinates between -1 and 1."""

    intercepts: np.ndarray  # float64 (rows,).
    slopes: np.ndarray  # float64 (rows, d).
    told: dict[str, Any]  # What else a model knows of them.


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of a task's coordinates and of their products, as tables have them."""

    task: Task
    reading: Reading
    guess: BestGuess

    @cached_property
    def axes(self) -> dict[str, int]:
        """Places of the columns among the axes."""
        return {axis.name: place for place, axis in enumerate(self.reading.layout.axes)}

    @cached_property
    def measured(self) -> set[tuple[str, ...]]:
        """Names of the columns of each table that was measured, of several."""
        names = list(self.axes)
        return {tuple(names[i] for i in which) for which in self.reading.noise.by_columns if len(which) > 1}

    @cached_property
    def spans(self) -> dict[str, slice]:
        """Of each column its coordinates, the 1 in front counted."""
        found, place, bent = {}, 1, iter(self.task.bent.tolist())
        for column in self.task.features.columns:
            wide = sum(1 << self.task.curves if next(bent) else 1 for _ in range(column.width))
            found[column.name] = slice(place, place + wide)
            place += wide
        return found

    @cached_property
    def _cells(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Of each column its coordinates' means in cells, (cells, width), and sums of products, (width, width)."""
        return {name: self._cells_of(name, span) for name, span in self.spans.items()}

    def _cells_of(self, name: str, span: slice) -> tuple[np.ndarray, np.ndarray]:
        place = self.axes[name]
        axis = self.reading.layout.axes[place]
        values, cell, weight = _inside(axis, self.guess, place)
        frame = pd.DataFrame(
            {one: [_any(self.reading.layout.axes[self.axes[one]])] * len(values) for one in self.spans}
        )
        features = self.task.features
        frame[name] = values
        found = self.task.vectors(features.encode_queries(frame, METRIC))[:, span]
        total = np.bincount(cell, weight, axis.cells)
        means = np.zeros((axis.cells, found.shape[1]))
        np.add.at(means, cell, (weight / total[cell])[:, None] * found)
        own = weight * (self.guess.counts((place,)) / total)[cell]
        return means, (found * own[:, None]).T @ found

    @cached_property
    def goals(self) -> np.ndarray:
        """What each cell of the target stands for: its class as one 1 among zeros, or its number; (cells, goals)."""
        place = self.axes[self.task.label]
        axis = self.reading.layout.axes[place]
        if self.task.categories:
            return np.eye(axis.cells)
        values, cell, weight = _inside(axis, self.guess, place)
        alone = replace(self.task.domain, columns=(self.task.target,))
        found = self.task.between(alone.encode_queries(pd.DataFrame({self.task.label: values}), METRIC))
        return np.asarray(np.bincount(cell, weight * found, axis.cells) / np.bincount(cell, weight, axis.cells))[
            :, None
        ]

    def together(self, one: str, other: str) -> np.ndarray:
        """Guessed counts of two columns, a row a cell of the first."""
        i, j = self.axes[one], self.axes[other]
        counts = self.guess.counts((min(i, j), max(i, j)))
        return counts if i < j else counts.T

    @cached_property
    def centred(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means of the coordinates, (d,), their centred products, (d, d), and sums with the goals, (d, goals)."""
        width, n = self.task.width, self.guess.records
        means, products = np.zeros(width), np.zeros((width, width))
        sums = np.zeros((width, self.goals.shape[1]))
        names = list(self.spans)
        for first, name in enumerate(names):
            own = slice(self.spans[name].start - 1, self.spans[name].stop - 1)
            inside, squares = self._cells[name]
            means[own] = self.guess.counts((self.axes[name],)) @ inside / n
            products[own, own] = squares
            sums[own] = inside.T @ self.together(name, self.task.label) @ self.goals
            for other in names[first + 1 :]:
                theirs = slice(self.spans[other].start - 1, self.spans[other].stop - 1)
                products[own, theirs] = inside.T @ self.together(name, other) @ self._cells[other][0]
                products[theirs, own] = products[own, theirs].T
        return means, products - n * np.outer(means, means), sums

    @cached_property
    def ridge(self) -> float:
        """A deviation of the noise of a cell of a pair, in records."""
        noise, told = self.reading.noise, [1.0]
        for pair in (which for which in noise.variances if len(which) == 2):
            told.append(noise.variances[pair] * math.prod(float(noise.axis_spread(place).mean()) for place in pair))
        return math.sqrt(max(one for one in told if math.isfinite(one)))

    def fitted(self) -> Fit:
        """What the sums say."""
        of_target = self.guess.counts((self.axes[self.task.label],))
        means, products, sums = self.centred
        n, totals = self.guess.records, of_target @ self.goals
        apart = sums - np.outer(means, totals)  # sums with the goals, centred
        if not self.task.categories:
            slopes = self._divided(products, apart).T
            spread = float(of_target @ self.goals[:, 0] ** 2) - float(totals[0]) ** 2 / n
            left = spread - 2.0 * float(slopes[0] @ apart[:, 0]) + float(slopes[0] @ products @ slopes[0])
            off, of_mean = (min(2.0, math.sqrt(max(0.0, one) / n)) for one in (left, spread))
            return Fit(totals / n - slopes @ means, slopes, {"residual": off, "of_mean": of_mean})
        each = np.maximum(totals, LEAST)
        centres = (apart / each).T  # of the classes, from the mean of all
        slopes = n * self._divided(products - (apart / each) @ apart.T, centres.T).T
        intercepts = np.log(each / n) - (slopes * centres).sum(axis=1) / 2.0 - slopes @ means
        if len(each) == 2:
            return Fit(intercepts[1:] - intercepts[:1], slopes[1:] - slopes[:1], {})
        return Fit(intercepts, slopes, {})

    def _divided(self, products: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """(S + λ)⁻¹ c, with S moved to where no eigenvalue is below 0."""
        values, ways = np.linalg.eigh(products)
        return np.asarray((ways / (np.maximum(values, 0.0) + self.ridge)) @ (ways.T @ sums))

    def noisier(self, random: np.random.Generator) -> PairSums:
        """The same of tables with once more as much noise; see the module."""
        noise = self.reading.noise
        more = random.normal(size=self.reading.table.shape) * math.sqrt(noise.variance)
        noise = replace(noise, variance=2.0 * noise.variance)
        reading = replace(self.reading, noise=noise, table=self.reading.table + more)
        return PairSums(self.task, reading, BestGuess(reading))

    def model(self, release: Release) -> Model:
        """The model, with bands under a delta."""
        fit, random, errors = self.fitted(), np.random.default_rng(0), None  # public chance, which hides nothing
        if not release.privacy.budget.pure:
            moved = [self.noisier(random).fitted().slopes - fit.slopes for _ in range(AGAIN)]
            errors = _deviations(self.task, np.array(moved))
        most = (LARGEST >> 1) / (1 << BITS)
        rows = np.column_stack((fit.intercepts, fit.slopes))
        rows = np.rint(np.clip(rows, -most, most) * (1 << BITS)).astype(np.int64)
        kind = "number" if not self.task.categories else "logistic" if len(rows) == 1 else "multinomial"
        made, by = (LinearModel, FROM_CLASSES) if self.task.categories else (NumberModel, FROM_PAIRS)
        budget, details = release.privacy.budget, {"ridge": f"{self.ridge:.6g}"}
        told: dict[str, Any] = {**fit.told, "term_errors": errors}
        return made(self.task, kind, 1.0, rows, budget, by, THEOREM, details, release.private, **told)


def _deviations(task: Task, moved: np.ndarray) -> np.ndarray:
    """Of terms, float64 (rows, terms), by how slopes were moved, (draws, rows, d)."""
    squares = ((moved @ task.reading[0].T) ** 2).mean(axis=0)
    columns = np.array([term.column for term in task.terms])
    for column in set(columns.tolist()):
        own = columns == column
        squares[:, own] = (squares[:, own] + squares[:, own].mean(axis=1, keepdims=True)) / 2.0
    return LONGER * np.sqrt(squares)


def _any(axis: Axis) -> object:
    """A value that an axis has."""
    return axis.categories[0] if axis.categories else _values(axis, np.array([axis.low]))[0]


def _values(axis: Axis, numbers: np.ndarray) -> Any:
    present = getattr(axis.column, "present", None)
    return numbers if present is None else np.asarray(present(numbers))


def _inside(axis: Axis, guess: BestGuess, place: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Values that stand for those in the cells of an axis: each with its cell, and how many records it stands for."""
    if axis.categories:
        return list(axis.categories), np.arange(axis.cells), np.ones(axis.cells)
    least, greatest = axis.sides(fine=True)
    each = max(1, PLACES >> axis.halvings)
    shares = (np.arange(each) + 0.5) / each
    values = (least[:, None] + (greatest - least)[:, None] * shares).ravel()
    weight = np.repeat(np.maximum(guess.fine_counts(place), LEAST) / each, each)
    return _values(axis, values), np.repeat(np.arange(len(least)) >> axis.halvings, each), weight
