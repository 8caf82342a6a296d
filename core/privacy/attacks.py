"""What an attacker would compute from a noisy table to tell two neighbouring data sets apart.

An attack turns every output into one number; large values speak for one data set and small values for the other. The
attacks here know the exact tables of both data sets. By the lemma of Neyman and Pearson the likelihood ratio is the
best attack on correct noise of a known shape; the others look for what incorrect noise would give away.
"""

import numpy as np

from ..runtime.array_types import Integers

# Counters that are looked at one by one: those in which the exact tables differ most.
SINGLE_COUNTERS = 16


class Attacks:
    """The attacks on the pair of exact tables `first` and `second`, float64 (m,) each.

    Noise that is drawn for whole vectors has a likelihood ratio of its own: `block` is the length of such a vector.

    Attributes
    ----------
    names : tuple[str, ...]
        What each attack looks at, in words.
    """

    def __init__(self, first: np.ndarray, second: np.ndarray, block: int | None = None):
        self._first, self._second, self._block = first, second, block
        gap = np.abs(first - second)
        self._moved = np.flatnonzero(gap)
        self._single = np.sort(np.argsort(-gap, kind="stable")[: min(SINGLE_COUNTERS, len(self._moved))])
        self.names = (
            "the likelihood ratio for Laplace noise",
            "the likelihood ratio for Gaussian noise",
            *(() if block is None else ("the likelihood ratio for noise drawn as vectors",)),
            "how many counters equal the exact ones",
            "how many different values the noise has",
            "the largest counter",
            "the smallest counter",
            "the sum of all counters",
            *(f"counter {index}" for index in self._single.tolist()),
        )

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """Return the number that each attack makes of each output.

        Parameters
        ----------
        outputs : np.ndarray
            float64 (n, m), one noisy table a row.

        Returns
        -------
        ndarray
            float64 (n, attacks).
        """
        from_first, from_second = outputs - self._first, outputs - self._second
        near_first, near_second = from_first[:, self._moved], from_second[:, self._moved]
        return np.column_stack(
            (
                (np.abs(near_second) - np.abs(near_first)).sum(axis=1),
                (near_second + near_first) @ (self._first - self._second)[self._moved],
                *self._vector_scores(from_first, from_second),
                (from_first == 0).sum(axis=1) - (from_second == 0).sum(axis=1),
                _distinct(from_second) - _distinct(from_first),
                outputs.max(axis=1),
                outputs.min(axis=1),
                outputs.sum(axis=1),
                outputs[:, self._single],
            )
        )

    def _vector_scores(self, from_first: np.ndarray, from_second: np.ndarray) -> list[np.ndarray]:
        if self._block is None:
            return []
        lengths = [
            np.linalg.norm(rows.reshape(len(rows), -1, self._block), axis=2).sum(axis=1)
            for rows in (from_second, from_first)
        ]
        return [lengths[0] - lengths[1]]


def _distinct(rows: np.ndarray) -> Integers:
    """Number of different values in each row, int64 (n,): few when the same noise was used more than once."""
    ordered = np.sort(rows, axis=1)
    changes: Integers = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return 1 + changes
