"""How columns hang together: correlations, and the axes along which records differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...releases.release import Release
from .sums import Sums, Term

HIDDEN = 2.0
"""Deviations of noise that a sum of squares must have to be told from none."""


@dataclass(frozen=True, eq=False)
class Correlations:
    """Correlations of all pairs of coordinates.

    Attributes
    ----------
    terms : tuple[Term, ...]
        The coordinates.
    values, errors : np.ndarray
        float64 (p, p), between -1 and 1; and the deviation that noise gives them, to first order. NaN where a
        coordinate varies less than noise hides.
    """

    terms: tuple[Term, ...]
    values: np.ndarray
    errors: np.ndarray

    def frame(self) -> pd.DataFrame:
        """The correlations with names."""
        names = [term.name for term in self.terms]
        return pd.DataFrame(self.values, index=names, columns=names)


@dataclass(frozen=True, eq=False)
class Components:
    """The axes along which records differ most, one at a right angle to the other.

    Attributes
    ----------
    terms : tuple[Term, ...]
        The coordinates.
    means : np.ndarray
        Of the coordinates, between -1 and 1, float64 (p,).
    axes : np.ndarray
        float64 (k, p), each of length 1, for coordinates between -1 and 1.
    variances : np.ndarray
        Along each axis, float64 (k,), largest first; never below zero.
    noise : float
        How much of a variance may be noise: those that are no larger say nothing.
    total : float
        Variance of all coordinates together.
    """

    terms: tuple[Term, ...]
    means: np.ndarray
    axes: np.ndarray
    variances: np.ndarray
    noise: float
    total: float

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
    """Correlations of the named columns, or of all; each category is a coordinate of its own.

    Raises
    ------
    RequestError
        When there is no such column, or the release is of another mechanism.
    """
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
    """The principal components of the named columns, or of all, with coordinates between -1 and 1.

    Parameters
    ----------
    release, columns : Release | Sums, Sequence[str] | None
        What is asked, and about which columns.
    number : int | None
        How many axes; None for all.

    Raises
    ------
    RequestError
        When there is no such column, or the release is of another mechanism.
    """
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
