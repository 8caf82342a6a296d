"""How strong a ridge should be, from nothing but what was released.

Noise in the sums of products has the spectral norm 2 s √p or so (s its deviation in an entry, p coordinates), and least
squares that divide by sums smaller than that say nothing. A ridge λ is added to all of them. It costs no privacy.

*least-error.* Of ridges from 2 s √p on, each twice the last one or less, the one with the least of

    -(2 θᵀb - θᵀSθ) + 2 s² (1 + |w|²) tr (S + λ)⁻¹,

what the fit takes off the sum of squares, and by how much noise alone makes that look larger (as Mallows' C_p does for
sampling errors; to first order, the noise of the normal equations has the covariance s² (1 + |w|²) I).

*adassp.* The rule of AdaSSP (Wang 2018): λ = max(0, s √(p log(2 p²/.05)) - λ_min), where λ_min is what the least
eigenvalue of the sums surely is.
"""

from __future__ import annotations

import math

import numpy as np

RULES = ("least-error", "adassp")
LEAST, BESIDE = 2.0, 0.5
STEPS = np.arange(0.0, 12.0, 0.5)
FAILURE = 0.05


def choose_ridge(rule: str, sums: np.ndarray, products: np.ndarray, deviation: float) -> float:
    """The ridge by a rule.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    sums, products : np.ndarray
        The noisy centred sums of products of the p coordinates, and those with the target: S and b.
    deviation : float
        s, of the noise in each.
    """
    values, axes = np.linalg.eigh(sums)
    size = len(sums)
    if rule == "adassp":
        surely = max(0.0, values[0] - 2.0 * deviation * math.sqrt(size))
        return max(0.0, deviation * math.sqrt(size * math.log(2.0 * size**2 / FAILURE)) - surely)
    noise = deviation * math.sqrt(size) * 2.0**STEPS
    ridges = np.maximum(LEAST * noise, BESIDE * noise - values[0])
    along = axes.T @ products
    shares = 1.0 / (values + ridges[:, None])
    fitted = along * shares
    taken = 2.0 * fitted @ along - fitted**2 @ values
    by_noise = 2.0 * deviation**2 * (1.0 + (fitted**2).sum(axis=1)) * shares.sum(axis=1)
    return float(ridges[int(np.argmin(by_noise - taken))])
