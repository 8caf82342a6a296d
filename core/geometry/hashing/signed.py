"""Signed random projections: sign(a.x) for a random direction a, the angular kernel (Charikar 2002)."""

from __future__ import annotations

import numpy as np

from .cells import Hashes
from .coverage import grouped_uniforms
from .directions import directions, uniforms_for_direction
from .uniforms import PublicRandom


def angular_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """One plane through the origin for each of ``power`` hashes a row."""
    angles = uniforms_for_direction(dimensions)
    if angles == 0:
        uniforms = np.empty((rows, power, 0))
    else:
        uniforms = grouped_uniforms(rows, groups, power * angles, seed, family).reshape(rows, power, angles)
    a = np.stack(
        [directions(uniforms[:, p], dimensions, groups, seed, family * 1_000 + p) for p in range(power)], axis=1
    )
    # A point at the origin lies on every plane and counts as being on its positive side, so sides must be random too.
    signs = np.where(PublicRandom(seed, family, 1_000_000).uniforms(rows, power) < 0.5, -1.0, 1.0)
    return Hashes.dense(signs[:, :, None] * a, np.zeros((rows, power)), side=True)
