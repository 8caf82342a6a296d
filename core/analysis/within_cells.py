"""Values within the cells of made-up records, so that columns hang together there too, as they do from cell to cell.

Tables say which cell of each column a record is in. Spread evenly over its cells, a record that is long, wide and high
is as likely at the lower end of all three as at the upper, and numbers of .99 correlation come out at .8. So records
are taken to have a normal copula: scores z of a multivariate normal law, of which each column's values are a rising
function. Of the cells alone scores and correlations are found by turns (stochastic EM; Celeux, Diebolt 1985): with
P the inverse of the scores' correlations, a score given the others of its record is normal about

    - sum over j of P_ij z_j / P_ii    with variance    1 / P_ii,

cut off at the ends of its cell (Gibbs sampling). It is drawn for all records of a cell, and their values are dealt out
in that order. So every cell keeps its records, and every column its values: who has which of them is all that changes.

It is post-processing of public records and of public chance.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from ..runtime.counter_tables import Integers

SWEEPS = 5  # More bring no correlation nearer by a hundredth.
WORK = 2e7  # Records times columns times sweeps, at most, but for one sweep.
LEAST_ALONE = 1e-3  # Share of a score's variance that is its own at least, as correlations of 1 have no inverse.


def dealt_together(values: Sequence[np.ndarray], cells: Integers, random: np.random.Generator) -> list[np.ndarray]:
    """The values of some columns of records, dealt out anew within each cell.

    `values`: of each column float64 (n,), rising from cell to cell, NaN where a record has none, as in a cell of its
    own. `cells`: of each record along these columns, int64 (columns, n).
    """
    columns = [_Dealt(own, where) for own, where in zip(values, cells, strict=True)]
    if len(columns) < 2 or not cells.shape[1]:
        return list(values)
    scores = np.array([column.scores for column in columns])
    found = list(values)
    for _ in range(int(min(SWEEPS, max(1.0, WORK / scores.size)))):
        own = np.maximum(scores.std(axis=1, keepdims=True), 1e-9)
        among = (scores / own) @ (scores / own).T / scores.shape[1]
        precision = np.linalg.inv((1.0 - LEAST_ALONE) * among + LEAST_ALONE * np.eye(len(columns)))
        for i, column in enumerate(columns):
            spread = precision[i, i] ** -0.5
            expected = scores[i] - precision[i] @ scores * spread**2
            found[i], scores[i] = column.dealt(_cut_normal(expected, spread, column.ends, random))
    return found


class _Dealt:
    """The values of a column in the order of cells, with their scores."""

    def __init__(self, values: np.ndarray, cells: Integers):
        self.cells = cells
        order = np.lexsort((values, cells))
        known = int(np.count_nonzero(~np.isnan(values)))
        self.sorted = values[order]
        ranks = np.full(len(values), 0.5)
        ranks[np.argsort(values, kind="stable")[:known]] = (np.arange(known) + 0.5) / max(known, 1)
        self.scores = ndtri(ranks)
        self.sorted_scores = self.scores[order]
        first = np.searchsorted(cells[order], cells, side="left")
        last = np.searchsorted(cells[order], cells, side="right") - 1
        self.ends = self.sorted_scores[first], self.sorted_scores[last]

    def dealt(self, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values and their scores, in each cell in the order of what was drawn for its records."""
        order = np.lexsort((drawn, self.cells))
        values, scores = np.empty(len(drawn)), np.empty(len(drawn))
        values[order], scores[order] = self.sorted, self.sorted_scores
        return values, scores


def _cut_normal(
    expected: np.ndarray, spread: float, ends: tuple[np.ndarray, np.ndarray], random: np.random.Generator
) -> np.ndarray:
    """Normal numbers between two ends; evenly between them where these are so far off that none can be drawn."""
    low, high = ends
    even = random.random(len(expected))
    under, over = ndtr((low - expected) / spread), ndtr((high - expected) / spread)
    drawn = expected + spread * ndtri(under + even * (over - under))
    return np.where(np.isfinite(drawn), np.clip(drawn, low, high), low + even * (high - low))
