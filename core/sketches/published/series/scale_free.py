"""How records lie, as far as anybody may know: alike at every scale, as most of nature and most of what people do.

What a cut-off series misses of an answer depends on the power of the records at the frequencies it leaves out, and
nobody may look at that. Independent places have the same power at all frequencies and one smooth heap has none at high
ones; records have streets in districts in towns. So every octave of scales is taken to have as much power as any other:
power falls as the inverse of the volume of frequencies, |m|^-d in d coordinates, where |m| counts turns in the width of
the bounds. How crowded a typical place is, beside the average one, follows from it for every kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .torus import Torus, full_sum

POWER = 0.35
"""Squared share of the records that a wave of one turn in the width of the bounds has. Heaps of equal values have more
and smooth records less: no size suits both, and this one is between."""


@dataclass(frozen=True, eq=False)
class ScaleFree:
    """Records of average closeness that have as much structure at every scale.

    Attributes
    ----------
    power : np.ndarray
        Squared magnitudes of the mean wave over the records, for the frequencies of the kernel's spectrum.
    total : float
        Sum over all frequencies of power times the kernel's squared coefficients.
    crowding : float
        Average closeness of two records over that of evenly spread ones.
    """

    power: np.ndarray
    total: float
    crowding: float

    def missed(self, kernel: np.ndarray, weights: np.ndarray) -> float:
        """Mean squared error of a record's share in an answer where records are, if a series has other weights.

        The mean square over evenly spread queries is the sum of power times squared differences of coefficients, by
        Parseval; where records are, it is taken to be larger as answers are.

        Parameters
        ----------
        kernel, weights : np.ndarray
            The kernel's own coefficients and those of the series, float64 (M + 1,) * d.
        """
        power = self.power[tuple(map(slice, kernel.shape))]
        kept = full_sum(power * kernel**2) - full_sum(power * (kernel - weights) ** 2)
        return self.crowding * max(self.total - kept, 0.0)


@lru_cache(maxsize=8)
def scale_free(torus: Torus) -> ScaleFree:
    """On a torus; kept for the many sizes of a sketch that are tried there."""
    spectrum = torus.spectrum
    turns = np.indices(spectrum.shape).T / np.array(torus.period)
    squares = (turns**2).sum(axis=-1).T
    squares.flat[0] = 1.0
    power = POWER * squares ** (-torus.dimensions / 2.0)
    power.flat[0] = 1.0  # every record
    crowding = full_sum(power * np.abs(spectrum)) / float(spectrum.flat[0])
    return ScaleFree(power, full_sum(power * spectrum**2), crowding)
