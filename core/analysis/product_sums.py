"""A release of sums of products as a noisy matrix: what its coordinates mean, correlations and axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd

from ..domain import Categorical, Domain
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.sums_of_products import Products
from .answerable import check_one_population

ONE = 0  # The place of the coordinate that is always 1.


@dataclass(frozen=True)
class Term:
    """One coordinate of a record: a number between -1 and 1, or whether it is of a category."""

    # Its column, and which category; "" where it is a number.
    column: str
    category: str
    # The number in the column's own unit is middle + half · coordinate.
    middle: float
    half: float
    name: str


def terms_of(domain: Domain) -> tuple[Term, ...]:
    """The coordinates of a record after the 1 in front, in order."""
    terms: list[Term] = []
    for column in domain.columns:
        if isinstance(column, Categorical):
            terms += [Term(column.name, one, 0.0, 1.0, f"{column.name} = {one}") for one in column.categories]
        else:
            low, high = (float(getattr(column, end)) for end in ("low", "high"))
            names = [column.name] if column.width == 1 else [f"{column.name}[{i}]" for i in range(column.width)]
            terms += [Term(column.name, "", (low + high) / 2.0, (high - low) / 2.0, name) for name in names]
    return tuple(terms)


@dataclass(frozen=True, eq=False)
class Sums:
    """Noisy sums of the products of all coordinates."""

    sketch: Products
    matrix: np.ndarray  # The sum of z zᵀ with its noise, float64 (m, m), the number of records at its upper left.
    # Of the noise in each entry, and in the number of records.
    variance: float
    count_variance: float
    heavy: bool = False  # Whether the noise has longer tails than a normal number, at most those of Laplace's.

    @classmethod
    def of(cls, release: Release) -> Sums:
        """What a release says; of one with several parts, its only part of sums of products."""
        parts = [part for part in release.parts.values() if part.sketch.asked_for == "products"]
        release = parts[0] if len(parts) == 1 else release
        if release.sketch.one_answer[0].asked_for != "products":
            raise RequestError(
                f"Regressions are asked of a release of the mechanism 'products', and this is of "
                f"{release.sketch.name!r}."
            )
        check_one_population(release)
        sketch = cast(Products, release.sketch)
        matrix = sketch.matrix(np.asarray(release.counters))
        matrix[ONE, ONE] = release.records
        variance = sketch.entry_variance(release.privacy.counter_variance)
        heavy = any(scale.distribution != "discrete_gaussian" for scale in release.privacy.noise)
        return cls(sketch, matrix, variance, release.count_error**2, heavy)

    @property
    def records(self) -> float:
        """The number of records, at least 1."""
        return float(self.matrix[ONE, ONE])

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise in each entry."""
        return float(self.variance**0.5)

    @cached_property
    def terms(self) -> tuple[Term | None, ...]:
        """What each coordinate is; None for the 1 in front."""
        return (None, *terms_of(self.sketch.domain))

    def places(self, columns: Sequence[str]) -> list[int]:
        """Places of all coordinates of the named columns, in the order of the domain."""
        for name in columns:
            if name not in self.sketch.domain.names:
                known = ", ".join(self.sketch.domain.names)
                raise RequestError(f"There is no column {str(name)!r}; there are {known}.")
        return [place for place, term in enumerate(self.terms) if term is not None and term.column in columns]

    def target(self, column: str, category: str | None = None) -> int:
        """The place of what is to be predicted: a number, or how likely a category is."""
        places = self.places([column])
        known = {cast(Term, self.terms[place]).category: place for place in places}
        if category is None and len(places) == 1:
            return places[0]
        if category is None and len(known) == 2:
            return places[1]
        if category is not None and str(category) in known and str(category):
            return known[str(category)]
        if "" in known:
            raise RequestError(f"The column {column!r} is made of numbers, and a regression predicts a single one.")
        raise RequestError(f"Say which category of {column!r} is to be predicted: {', '.join(known)}.")

    def centred(self, places: Sequence[int]) -> np.ndarray:
        """The sums of products of offsets from the means, float64 (p, p)."""
        sums = self.matrix[np.ix_(places, places)]
        firsts = self.matrix[ONE, places]
        return sums - np.outer(firsts, firsts) / self.records

    def error_covariance(self, places: Sequence[int], weights: np.ndarray) -> np.ndarray:
        """Covariance of what the noise N adds to the entries ``places`` of M w, float64 (p, p).

        Every entry of M above its diagonal has noise of its own, which stands below it too. So entry i of N w has
        Σ_k N_ik w_k, and i and j share N_ij: it counts w_j in i and w_i in j. A category's square is its product with
        the 1 in front, whose noise therefore counts once more; two categories of a column have no noise between them.

        `places`: The entries that are looked at, the 1 in front first. `weights`: w, float64 (m,).
        """
        groups, squared = np.array(self.sketch.layout.groups), np.array(self.sketch.layout.squared)
        at = np.asarray(places)
        noisy = (groups[at][:, None] != groups[None, :]) * self.variance
        noisy[np.arange(len(at)), at] = np.where(squared[at], self.variance, 0.0)
        noisy[at == ONE, ONE] = self.count_variance
        spread = noisy[:, at] * np.outer(weights[at], weights[at])
        spread[np.diag_indices(len(at))] = noisy @ weights**2
        category = np.flatnonzero(~squared[at])
        first = np.flatnonzero(at == ONE)
        own, front = weights[at[category]], weights[ONE]
        spread[category, category] += self.variance * ((front + own) ** 2 - front**2)
        if len(first):
            spread[first[0], category] += self.variance * own**2
            spread[category, first[0]] += self.variance * own**2
        return spread


HIDDEN = 2.0  # Deviations of noise that a sum of squares must have to be told from none.


@dataclass(frozen=True, eq=False)
class Correlations:
    """Correlations of all pairs of coordinates."""

    terms: tuple[Term, ...]
    # float64 (p, p), between -1 and 1; and the deviation that noise gives them, to first order. NaN where a coordinate
    # varies less than noise hides.
    values: np.ndarray
    errors: np.ndarray

    def frame(self) -> pd.DataFrame:
        """The correlations with names."""
        names = [term.name for term in self.terms]
        return pd.DataFrame(self.values, index=names, columns=names)


@dataclass(frozen=True, eq=False)
class Components:
    """The axes along which records differ most, one at a right angle to the other."""

    terms: tuple[Term, ...]
    means: np.ndarray  # Of the coordinates, between -1 and 1, float64 (p,).
    axes: np.ndarray  # float64 (k, p), each of length 1, for coordinates between -1 and 1.
    variances: np.ndarray  # Along each axis, float64 (k,), largest first; never below zero.
    noise: float  # How much of a variance may be noise: those that are no larger say nothing.
    total: float  # Variance of all coordinates together.

    @property
    def told(self) -> int:
        """How many axes, from the first, have more variance than noise may make."""
        below = np.flatnonzero(self.variances <= self.noise)
        return int(below[0]) if len(below) else len(self.variances)

    def frame(self) -> pd.DataFrame:
        """One row an axis: its variance, its share of all, and what each coordinate has to do with it."""
        names = [term.name for term in self.terms]
        share = self.variances / max(self.total, 1e-300)
        return pd.DataFrame({"variance": self.variances, "share": share}).join(
            pd.DataFrame(self.axes, columns=names), how="left"
        )


def correlations(release: Release | Sums, columns: Sequence[str] | None = None) -> Correlations:
    """Correlations of the named columns, or of all; each category is a coordinate of its own."""
    sums, places, terms = _chosen(release, columns)
    inner = sums.centred(places)
    variances = np.diag(inner).copy()
    variances[variances <= HIDDEN * sums.deviation] = np.nan
    scale = np.sqrt(np.outer(variances, variances))
    values = np.clip(inner / scale, -1.0, 1.0)
    errors = sums.deviation / scale * np.sqrt(1.0 + values**2)
    known = ~np.isnan(variances)
    values[known, known], errors[known, known] = 1.0, 0.0
    return Correlations(terms, values, errors)


def components(release: Release | Sums, columns: Sequence[str] | None = None, number: int | None = None) -> Components:
    """The principal components of the named columns, or of all, with coordinates between -1 and 1."""
    sums, places, terms = _chosen(release, columns)
    values, axes = np.linalg.eigh(sums.centred(places) / sums.records)
    order = np.argsort(values)[::-1][:number]
    axes = axes[:, order].T
    axes *= np.where(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] < 0.0, -1.0, 1.0)[:, None]
    noise = HIDDEN * sums.deviation * np.sqrt(len(places)) / sums.records
    positive = np.maximum(values, 0.0)
    means = sums.matrix[0, places] / sums.records
    return Components(terms, means, axes, positive[order], float(noise), float(positive.sum()))


def _chosen(release: Release | Sums, columns: Sequence[str] | None) -> tuple[Sums, list[int], tuple[Term, ...]]:
    sums = release if isinstance(release, Sums) else Sums.of(release)
    places = sums.places(sums.sketch.domain.names if columns is None else columns)
    return sums, places, tuple(term for place in places if (term := sums.terms[place]) is not None)
