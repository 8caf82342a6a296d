"""p-stable hashing: floor((a.x + b)/w) with b uniform on [0, w) (Datar, Immorlica, Indyk, Mirrokni 2004).

Normal a (2-stable) gives the Euclidean kernel, Cauchy a (1-stable) the Manhattan kernel. The power p concatenates p
hashes.
"""

from __future__ import annotations

import numpy as np

from .cells import Hashes
from .coverage import grouped_uniforms
from .directions import chi_lengths, directions, uniforms_for_direction


def euclidean_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """Hashes of points measured in bandwidths; a = length times direction, the offset last in the Sobol sequence."""
    angles = uniforms_for_direction(dimensions)
    each = angles + 2
    uniforms = grouped_uniforms(rows, groups, power * each, seed, family).reshape(rows, power, each)
    a = np.empty((rows, power, dimensions))
    for p in range(power):
        unit = directions(uniforms[:, p, 1:-1], dimensions, groups, seed, family * 1_000 + p)
        a[:, p] = chi_lengths(uniforms[:, p, :1], dimensions) * unit
    return Hashes.dense(a, uniforms[:, :, -1])


def manhattan_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """Hashes of points measured in bandwidths, with independent Cauchy coefficients."""
    uniforms = grouped_uniforms(rows, groups, power * (dimensions + 1), seed, family)
    uniforms = uniforms.reshape(rows, power, dimensions + 1)
    return Hashes.dense(np.tan(np.pi * (uniforms[:, :, :-1] - 0.5)), uniforms[:, :, -1])
