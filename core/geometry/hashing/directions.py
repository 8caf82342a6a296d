"""Random directions that are each uniform on the sphere and together spread out evenly.

A standard normal vector is a uniform direction times an independent chi-distributed length. Keeping the two apart lets
the length, which moves a hash's cell width and so most of its error, be drawn from a low-discrepancy sequence, and the
directions be spread: over the half circle or half sphere in 2 and 3 dimensions (a hash and its mirror image partition
space alike), in orthogonal blocks above.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtri

from ...machine.threads import one_thread
from .uniforms import PublicRandom, group_sizes

LOW_DIMENSIONS = 3


def uniforms_for_direction(dimensions: int) -> int:
    """How many uniform numbers `directions` reads for a row: none above three dimensions, where blocks are better."""
    return dimensions - 1 if dimensions <= LOW_DIMENSIONS else 0


def directions(uniforms: np.ndarray, dimensions: int, groups: int, seed: int, family: int) -> np.ndarray:
    """Unit vectors, each uniform on the sphere up to sign, float64 (rows, dimensions).

    In one, two and three dimensions the given uniforms (rows, dimensions - 1) are mapped to the half sphere by
    equal-area coordinates. Above, every group is filled with independent blocks of ``dimensions`` orthonormal vectors:
    the rows of a Haar-distributed matrix, each of which is uniform on the sphere (Gram-Schmidt of independent normal
    vectors; Stewart 1980).
    """
    if dimensions == 1:
        return np.ones((len(uniforms), 1))
    if dimensions == 2:
        angle = np.pi * uniforms[:, 0]
        return np.column_stack([np.cos(angle), np.sin(angle)])
    if dimensions == LOW_DIMENSIONS:
        height, angle = uniforms[:, 0], 2.0 * np.pi * uniforms[:, 1]
        radius = np.sqrt(1.0 - height * height)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    return np.concatenate(
        [
            _orthogonal_blocks(int(size), dimensions, PublicRandom(seed, family, group, 1))
            for group, size in enumerate(group_sizes(len(uniforms), groups))
        ]
    )


def chi_lengths(uniforms: np.ndarray, dimensions: int) -> np.ndarray:
    """Lengths of standard normal vectors of that many dimensions, by inverting the chi distribution."""
    return np.sqrt(2.0 * gammaincinv(dimensions / 2.0, uniforms))


def _orthogonal_blocks(rows: int, dimensions: int, random: PublicRandom) -> np.ndarray:
    whole, rest = divmod(rows, dimensions)
    blocks = [np.empty((0, dimensions))]
    # One thread: two that wait for each other at every small matrix took 200 times as long where others were at work.
    with one_thread():
        for count, columns in ((whole, dimensions), (1, rest)):
            if count and columns:
                q, r = np.linalg.qr(ndtri(random.uniforms(count, dimensions, columns)))
                # With the diagonal of R made positive, Q is what Gram-Schmidt gives, however LAPACK went about it.
                signs = np.where(np.einsum("bii->bi", r) < 0, -1.0, 1.0)
                blocks.append((q * signs[:, None, :]).swapaxes(1, 2).reshape(-1, dimensions))
    return np.concatenate(blocks)
