"""Queries by their coordinates: what is the same along an axis is computed once, and pictures are products of axes.

The places of a heatmap are all pairs of a few hundred values, and its 40,000 answers are then two products of small
matrices. Queries that stand anywhere are read by the same sums, one row for each.

Kernels of a distance as sums of a few kernels that are products of their columns, which grids are read fast through.

A kernel of the Euclidean distance that is positive definite in every number of dimensions is a mixture of Gaussians of
different bandwidths (Schoenberg 1938); one of the Manhattan distance that falls like a mixture of exponentials is one
of Laplacians (Bernstein 1928). Every kernel of `core.geometry.kernels` that is made of a distance is such a mixture,
and so are its powers. A non-negative least-squares fit finds a few dozen bandwidths that stand for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
import scipy

from ..geometry.kernels import (
    Euclidean,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Manhattan,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
)
from .grid_axes import is_product_of_columns


class Placed(Protocol):
    """An axis of any grid: where its coordinates are, and how many it takes."""

    @property
    def coordinate(self) -> int: ...

    @property
    def coordinates(self) -> int: ...


@dataclass(frozen=True)
class Places:
    """Queries, with the distinct values that they have along each axis."""

    values: tuple[np.ndarray, ...]  # One array an axis, float64 (distinct, d): a query of each value along that axis.
    which: tuple[np.ndarray, ...]  # One array an axis, int64 (n,): the value that each query has.

    @classmethod
    def of(cls, points: np.ndarray, axes: Sequence[Placed]) -> Places:
        """The places of encoded queries, float64 (n, d), n > 0."""
        values, which = [], []
        for axis in axes:
            along = points[:, axis.coordinate]
            if axis.coordinates > 1:
                along = points[:, axis.coordinate : axis.coordinate + axis.coordinates]
            _, first, inverse = np.unique(along, axis=0, return_index=True, return_inverse=True)
            values.append(points[first])
            which.append(inverse.reshape(-1))
        return cls(tuple(values), tuple(which))

    @classmethod
    def pieces(
        cls, points: np.ndarray, axes: Sequence[Placed], at_once: int, fits: Callable[[Places], bool]
    ) -> Iterator[Places]:
        """The places of as many queries at a time as fit, neighbours in a picture together; any single one fits."""
        for start in range(0, len(points), at_once):
            yield from cls._halved(points[start : start + at_once], axes, fits)

    @classmethod
    def _halved(cls, points: np.ndarray, axes: Sequence[Placed], fits: Callable[[Places], bool]) -> Iterator[Places]:
        places, half = cls.of(points, axes), len(points) // 2
        if not half or fits(places):
            yield places
            return
        yield from cls._halved(points[:half], axes, fits)
        yield from cls._halved(points[half:], axes, fits)

    @property
    def count(self) -> int:
        return len(self.which[0])

    @property
    def distinct(self) -> tuple[int, ...]:
        return tuple(map(len, self.values))

    @property
    def crossed(self) -> bool:
        """Whether the queries are, or nearly are, all combinations of their values."""
        return math.prod(self.distinct) <= 2 * self.count

    def sums(self, table: np.ndarray, factors: list[np.ndarray]) -> np.ndarray:
        """Sum over all counters of count times the product of the factors, float64 (n,).

        `table`: float64, one axis each. `factors`: one an axis, float64 (distinct, counters).
        """
        if (
            self.count == 1
        ):  # as held-out records are asked about: from the first axis on, nothing of the table is moved
            for factor in factors:
                table = factor[0] @ table.reshape(factor.shape[1], -1)
            return table.reshape(1)
        order = self._order(table.shape)
        if self.crossed:
            for axis in order:
                table = np.moveaxis(np.tensordot(factors[axis], table, (1, axis)), 0, axis)
            return table[self.which]
        first, rest = order[0], sorted(order[1:])
        sums = np.tensordot(factors[first], table, (1, first))[self.which[first]]
        for axis in rest:
            sums = np.einsum("nm,nm...->n...", factors[axis][self.which[axis]], sums)
        return sums

    def combined(self, weights: np.ndarray, factors: list[np.ndarray]) -> np.ndarray:
        """Sum over terms of weight times the product of the factors, float64 (n,).

        `weights`: float64 (terms,). `factors`: one an axis, float64 (distinct, terms).
        """
        if not self.crossed:
            return math.prod(factor[which] for factor, which in zip(factors, self.which, strict=True)) @ weights
        *others, longest = sorted(range(len(factors)), key=lambda axis: len(factors[axis]))
        products = weights[None]
        for axis in others:
            products = (products[:, None] * factors[axis][None]).reshape(-1, len(weights))
        everywhere = (products @ factors[longest].T).reshape([len(factors[axis]) for axis in (*others, longest)])
        return everywhere[tuple(self.which[axis] for axis in (*others, longest))]

    def squares(self, weights: np.ndarray, terms: list[list[np.ndarray]]) -> np.ndarray:
        """Sum over all counters of the square of a weighted sum of products of factors, float64 (n,).

        The square of the sum is a sum over pairs of terms, and each of them again the product of one sum an axis.
        `weights`: float64 (terms,). `terms`: the factors of each, one an axis, float64 (distinct, counters).
        """
        first, second = np.triu_indices(len(terms))
        along_axes = []
        for factors in zip(*terms, strict=True):
            stacked = np.stack(factors, axis=1)
            along_axes.append((stacked @ stacked.swapaxes(1, 2))[:, first, second])
        twice = np.where(first == second, 1.0, 2.0)
        return np.maximum(self.combined(twice * weights[first] * weights[second], along_axes), 0.0)

    def numbers(self, shape: tuple[int, ...], terms: int) -> int:
        """How many numbers the intermediate results of `sums` and `combined` have at most.

        `shape`: of the table. `terms`: of a combination.
        """
        if not self.crossed:
            return self.count * max(math.prod(shape) // shape[self._order(shape)[0]], terms)
        sizes, most = list(shape), 0
        for axis in self._order(shape):
            sizes[axis] = self.distinct[axis]
            most = max(most, math.prod(sizes))
        return max(most, math.prod(sorted(self.distinct)[:-1]) * terms)

    def _order(self, shape: tuple[int, ...]) -> list[int]:
        """Axes in the order in which a table is summed over them: first those that leave the least of it."""
        return sorted(range(len(shape)), key=lambda axis: self.distinct[axis] / shape[axis])


LARGEST_ERROR = 3e-5  # How far a sum of products is from its kernel at any distance, at most.
MAX_TERMS = 96  # Terms of a sum at most: noise is known from all pairs of them.
# Ratios of consecutive bandwidths that are tried, until the error is small enough.
RATIOS = (2.0, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.05)
_MIXTURES = (Euclidean, Exponential, Smooth, SmoothSquared, Manhattan, SmoothL1)
# Distances in bandwidths at which a kernel is fitted.
_DISTANCES = np.concatenate([[0.0], np.geomspace(1e-7, 1e6, 1300)])

Terms = tuple[tuple[float, Kernel], ...]


def product_terms(kernel: Kernel) -> Terms | None:
    """A kernel as a sum of weighted products of one factor a column.

    Returns pairs of a weight above zero and a product; their sum is the kernel up to `LARGEST_ERROR` at every distance
    (times the number of factors, for a product of kernels). None where there is no such sum, or too long a one.
    `kernel`: of encoded points.
    """
    terms = _terms(kernel)
    return terms if terms is not None and len(terms) <= MAX_TERMS else None


def _terms(kernel: Kernel) -> Terms | None:
    if is_product_of_columns(kernel):
        return ((1.0, kernel),)
    if isinstance(kernel, (Product, Mixture)):
        parts = [part for part in map(product_terms, kernel.parts) if part is not None]
        if len(parts) < len(kernel.parts):
            return None
        if isinstance(kernel, Mixture):
            return tuple((a * w, k) for a, part in zip(kernel.weights, parts, strict=True) for w, k in part)
        return _multiplied(parts)
    if not isinstance(kernel, _MIXTURES):
        return None
    bandwidth = np.asarray(kernel.bandwidth)
    fitted = _fitted(replace(kernel, bandwidth=1.0))
    if fitted is None:
        return None
    made: type[Stationary] = Laplacian if kernel.metric == "l1" else Gaussian
    return tuple((weight, made((scale * bandwidth).tolist())) for weight, scale in fitted)


def _multiplied(parts: list[Terms]) -> Terms | None:
    terms = parts[0]
    for part in parts[1:]:
        if len(terms) * len(part) > MAX_TERMS:
            return None
        terms = tuple((a * b, Product((one, other))) for a, one in terms for b, other in part)
    return terms


@cache
def _fitted(kernel: Stationary) -> tuple[tuple[float, float], ...] | None:
    """Weights and bandwidths of the mixture that a kernel of bandwidth 1 is, the fewest that are close enough."""
    truth = kernel.evaluate(np.zeros((1, 1)), _DISTANCES[:, None])[0]
    narrowest = 0.5 * _DISTANCES[np.flatnonzero(truth < 1.0 - LARGEST_ERROR / 2.0)[0]]
    widest = _DISTANCES[np.flatnonzero(truth > LARGEST_ERROR / 2.0)[-1]]
    for ratio in RATIOS:
        scales = np.geomspace(narrowest, widest, int(np.ceil(np.log(widest / narrowest) / np.log(ratio))) + 1)
        steps = _DISTANCES[:, None] / scales
        profiles = np.exp(-steps) if kernel.metric == "l1" else np.exp(-0.5 * steps**2)
        weights, _ = scipy.optimize.nnls(profiles, truth, maxiter=100 * len(scales))
        if np.abs(profiles @ weights - truth).max() < LARGEST_ERROR:
            return tuple((float(w), float(s)) for w, s in zip(weights, scales, strict=True) if w > 0.0)
    return None
