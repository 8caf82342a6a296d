"""Frequent candidates are taken off the cells that they share with others, before these are read.

Rows of cells hold the counts of everyone whose value falls into them, so a frequent value is an error of all others in
its cells. Where it is among the candidates, it need not be: the collector looks for counts of candidates that explain
all cells of all rows at once, a regression without negative coefficients that leaves out what noise alone could bring
(a Lasso), and then least squares over what it kept. Such counts are biased by what was left out. So each row then says
of each candidate what its cells hold beyond the counts of the *other* candidates, and beyond what values that nobody
asked for bring on average (a de-biased Lasso; Zhang, Zhang 2014; Javanmard, Montanari 2014). What rows say is
independent, alike and without bias, so intervals around their sum come from how far they lie apart.

Both regressions are non-negative least squares in the candidates alone: with G = X'X and c = X'y, the β >= 0 of the
least β'Gβ/2 - (c - λ)'β is that of the least |L'β - L⁻¹(c - λ)| where G = LL'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from ...runtime.array_types import Floats, Integers

MOST_EXPLAINING = 400
"""Candidates that the regression tries, those that cells speak for most."""
MOST_ENTRIES = 1 << 24
"""Cells that are explained together at most."""
STEADY = 1e-9
"""Of its diagonal, what is added to a matrix: two candidates may lie in the same cells."""


@dataclass(frozen=True, eq=False)
class Cells:
    """What rows of cells hold, and where candidates lie in them.

    Attributes
    ----------
    told : np.ndarray
        Estimated counts of cells, float64 (rows, width).
    people : np.ndarray
        How many people each row has, float64 (rows,).
    noise : np.ndarray
        Standard deviation of a cell by the coins, float64 (rows,).
    places : np.ndarray
        The cells of each candidate, int64 (rows, h, k).
    signs : np.ndarray | None
        With which sign each candidate is counted in a row, (rows, k); None where all are counted with one.
    """

    told: Floats
    people: Floats
    noise: Floats
    places: Integers
    signs: Integers | None = None

    @property
    def density(self) -> float:
        """How often any other value falls into one cell; with either sign, it brings nothing on average."""
        if self.signs is not None:
            return 0.0
        return density(self.told.shape[1], self.places.shape[1])

    def alone(self, told: Floats | None = None, people: Floats | None = None) -> Floats:
        """What the cells of each candidate hold beyond so many others, whoever they are: float64 (rows, k)."""
        cells, others = self.told if told is None else told, self.people if people is None else people
        held = np.stack([cells[row][mine].mean(axis=0) for row, mine in enumerate(self.places)])
        if self.signs is not None:
            held *= self.signs
        beyond: Floats = (held - others[:, np.newaxis] * self.density) / (1 - self.density)
        return beyond

    def beyond_others(self) -> Floats:
        """How many people of each row have each candidate, less what other candidates explain: float64 (rows, k)."""
        counts = self._explaining()
        chosen = np.flatnonzero(counts)
        if not len(chosen):
            return self.alone()
        share = self.people / max(self.people.sum(), 1.0)
        told = self.told.copy()
        for row, mine in enumerate(self.places):
            told[row] -= share[row] * self._brought(row, mine[:, chosen], counts[chosen], chosen)
        left = self.people - share * counts.sum()
        found: Floats = self.alone(told, left) + share[:, np.newaxis] * counts
        return found

    def _brought(self, row: int, places: Integers, counts: Floats, chosen: Integers) -> Floats:
        """What so many people of these candidates bring to each cell of a row: float64 (width,)."""
        weights = np.broadcast_to(counts if self.signs is None else counts * self.signs[row, chosen], places.shape)
        weights = np.where(_again(places), 0.0, weights)
        brought = np.bincount(places.reshape(-1), weights.reshape(-1), minlength=self.told.shape[1])
        return np.asarray(brought, np.float64)

    def _explaining(self) -> Floats:
        """Counts of the candidates that explain the cells, 0 for all others: float64 (k,)."""
        counts = np.zeros(self.places.shape[2])
        if self.told.size > MOST_ENTRIES:
            return counts
        tried = np.argsort(-self.alone().sum(axis=0), kind="stable")[:MOST_EXPLAINING]
        design = self._design(tried)
        target = (self.told / self.noise[:, np.newaxis]).reshape(-1)
        gram, told = (design.T @ design).toarray(), design.T @ target
        penalty = math.sqrt(2 * math.log(max(len(counts), 2))) * np.sqrt(np.diag(gram))
        if self.density:
            penalty[-1] = 0.0
        kept = np.flatnonzero(_least(gram, told - penalty)[: len(tried)])
        columns = np.append(kept, len(tried)) if self.density else kept
        if len(kept):
            counts[tried[kept]] = _least(gram[np.ix_(columns, columns)], told[columns])[: len(kept)]
        return counts

    def _design(self, tried: Integers) -> sparse.csc_matrix:
        """What one person of a value adds to each cell on average and, last, one of any value nobody asked for."""
        places = self.places[:, :, tried]
        weight = self.people / max(self.people.sum(), 1.0) / self.noise
        entries = np.broadcast_to(weight[:, np.newaxis, np.newaxis], places.shape)
        if self.signs is not None:
            entries = entries * self.signs[:, np.newaxis, tried]
        entries = np.where(np.stack([_again(mine) for mine in places]), 0.0, entries)
        rows, width = self.told.shape
        cells = places + width * np.arange(rows)[:, np.newaxis, np.newaxis]
        columns = np.broadcast_to(np.arange(len(tried)), places.shape)
        shape = (rows * width, len(tried))
        added = sparse.coo_matrix((entries.reshape(-1), (cells.reshape(-1), columns.reshape(-1))), shape).tocsc()
        if not self.density:
            return added
        anyone = sparse.csc_matrix(np.repeat(weight * self.density, width)[:, np.newaxis])
        return sparse.csc_matrix(sparse.hstack([added, anyone]))


def density(width: int, hashes: int) -> float:
    """The share of cells that a value falls into on average."""
    return float(1 - (1 - 1 / width) ** hashes)


def _again(places: Integers) -> np.ndarray:
    """Which cells of a value another hash of it led to already, bool (h, k)."""
    repeated = np.zeros(places.shape, np.bool_)
    for h in range(1, len(places)):
        repeated[h] = (places[:h] == places[h]).any(axis=0)
    return repeated


def _least(gram: Floats, told: Floats) -> Floats:
    """The β >= 0 of the least β'Gβ/2 - c'β."""
    triangle = np.linalg.cholesky(gram + STEADY * np.diag(np.diag(gram) + 1e-300))
    found: Floats = optimize.nnls(triangle.T, np.linalg.solve(triangle, told), maxiter=30 * len(gram) + 100)[0]
    return found
