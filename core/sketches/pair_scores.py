"""How far the counts of a pair of columns are from what is expected of them, in whole numbers, for private choices.

One record adds 1 to one cell of a pair's counts, so it moves their L1 distance from anything that does not depend on
records by 1 at most; a replaced one, which leaves a cell for another, by 2.
"""

from __future__ import annotations

import numpy as np

from ..privacy.neighbours import Neighbours

SCALE = 1 << 8
"""Parts of a record in which scores are counted."""
LARGEST_TOTAL = float(1 << 50)
"""Records that are expected at most, whatever the noise says, so that scores fit 64 bits."""


def pair_score(counts: np.ndarray, expected: np.ndarray) -> int:
    """L1 distance of a pair's counts from what is expected of it, in SCALEths of a record.

    Parameters
    ----------
    counts : np.ndarray
        Exact, int64.
    expected : np.ndarray
        int64 of the same shape, in SCALEths of a record; the same for all neighbours.
    """
    return int(np.abs(SCALE * counts - expected).sum())


def score_sensitivity(neighbours: Neighbours, records: int) -> int:
    """How far a person of so many records moves the score of any pair."""
    return SCALE * (1 if neighbours is Neighbours.ADD_REMOVE else 2) * records
