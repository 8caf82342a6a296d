"""How strong a ridge should be, from nothing but what was released.

Noise in the sums of products has the spectral norm 2 s √p or so (s its deviation in an entry, p coordinates), and least
squares that divide by sums smaller than that say nothing. A ridge λ is added to all of them. The choice is a function
of what was released and of public facts, so it is post-processing and costs no privacy.

*least-error.* Of ridges from 2 s √p on, each √2 times the last, the one whose fit takes most off the sum of squares, as
far as is known. It seems to take off 2 θᵀb - θᵀSθ. Noise alone makes that look larger by 2 s² |u|² tr (S + λ)⁻¹ (as
Mallows' C_p has it for sampling errors; to first order, the noise of the normal equations has the covariance s² |u|²
I), where u = (-w₀, -θ, 1) has the residual's own coefficients, w₀ the intercept. The rest is known but for the noise
of uᵀNu - u₀ᵀNu₀, u₀ = (-mean, 0, 1), in which a pair of coordinates counts twice: √2 s ‖uuᵀ - u₀u₀ᵀ‖ at most, at a
fixed u. A ridge whose gain over the mean is not `SURELY` times that is not taken. Where there is none the ridge is
infinite: the mean of the released sums is predicted, as slopes would say more of the noise than of the records. So it
is where `SURELY` s is beyond the number of records, which no sum of their products can pass.

*What choosing does to intervals.* Slopes that are taken by little more than `SURELY` deviations are more often those
that noise has flattered than those that it has hidden (the winner's curse). What is `BARELY` taken gets intervals
`LONGER` times as long: as long as it takes, by measurement, on sets where slopes are taken once in ten draws.

*adassp.* The rule of AdaSSP (Wang 2018): λ = max(0, s √(p log(2 p²/.05)) - λ_min), where λ_min is what the least
eigenvalue of the sums surely is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

RULES = ("least-error", "adassp")
LEAST, BESIDE = 2.0, 0.5
STEPS = np.arange(0.0, 12.0, 0.5)
FAILURE = 0.05
SURELY = 2.0
"""Deviations of noise by which slopes must be better than the mean."""
BARELY, LONGER = 2.25, 1.25
"""Deviations up to which they are flattered by having been taken, and how much longer intervals are then."""


class Ridge(NamedTuple):
    """A ridge that was chosen.

    Attributes
    ----------
    size : float
        λ, in units of records; infinite where slopes say nothing.
    longer : float
        How many times as long intervals must be because slopes were taken for what noise made of them, too.
    """

    size: float
    longer: float = 1.0


def choose_ridge(
    rule: str,
    sums: np.ndarray,
    products: np.ndarray,
    deviation: float,
    means: np.ndarray | None = None,
    records: float = math.inf,
) -> Ridge:
    """The ridge by a rule, infinite where nothing can be told from noise.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    sums, products : np.ndarray
        The noisy centred sums of products of the p coordinates, and those with the target: S and b.
    deviation : float
        s, of the noise in each.
    means : np.ndarray | None
        Of the p coordinates and, last, of the target; 0 when None.
    records : float
        How many there are, as released.
    """
    values, axes = np.linalg.eigh(sums)
    size = len(sums)
    if rule == "adassp":
        surely = max(0.0, values[0] - 2.0 * deviation * math.sqrt(size))
        return Ridge(max(0.0, deviation * math.sqrt(size * math.log(2.0 * size**2 / FAILURE)) - surely))
    if SURELY * deviation > records:
        return Ridge(math.inf)
    noise = deviation * math.sqrt(size) * 2.0**STEPS
    ridges = np.maximum(LEAST * noise, BESIDE * noise - values[0])
    along = axes.T @ products
    shares = 1.0 / (values + ridges[:, None])
    fitted = along * shares
    taken = 2.0 * fitted @ along - fitted**2 @ values
    means = np.zeros(size + 1) if means is None else np.clip(means, -1.0, 1.0)
    intercepts = means[-1] - fitted @ (axes.T @ means[:-1])
    length = intercepts**2 + (fitted**2).sum(axis=1) + 1.0
    by_noise = 2.0 * deviation**2 * length * shares.sum(axis=1)
    apart = length**2 + (means[-1] ** 2 + 1.0) ** 2 - 2.0 * (intercepts * means[-1] + 1.0) ** 2
    gain, known = taken - by_noise, deviation * np.sqrt(2.0 * np.maximum(apart, 0.0))
    surely = gain > SURELY * known
    if not surely.any():
        return Ridge(math.inf)
    best = int(np.argmax(np.where(surely, gain, -np.inf)))
    return Ridge(float(ridges[best]), LONGER if gain[best] < BARELY * known[best] else 1.0)
