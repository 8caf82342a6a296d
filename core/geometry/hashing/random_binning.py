"""Random binning: a grid of random pitch and shift in every coordinate (Rahimi, Recht 2007, section 4).

With the pitch drawn from Gamma(2, sigma), two points share a bin of a coordinate with probability exp(-|x - y|/sigma),
exactly; all coordinates together give the Laplacian kernel. Its power p is the same kernel with sigma / p.

Measured in sigma / t, with one t of the Gamma(p) law for all coordinates of a row, they give the mean of
exp(-t ||x - y||_1 / sigma), which is the smooth kernel (1 + ||x - y||_1 / sigma)^-p.
"""

from __future__ import annotations

from scipy.special import gammaincinv

from .cells import Hashes
from .coverage import grouped_uniforms


def laplacian_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """Hashes of points measured in bandwidths: one interval number a coordinate."""
    uniforms = grouped_uniforms(rows, groups, 2 * dimensions, seed, family)
    pitch = gammaincinv(2.0, uniforms[:, :dimensions]) / power
    return Hashes.by_coordinate(1.0 / pitch, uniforms[:, dimensions:])


def smooth_l1_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """Hashes of points measured in bandwidths: one interval number a coordinate, of one random scale a row."""
    uniforms = grouped_uniforms(rows, groups, 2 * dimensions + 1, seed, family)
    scale = gammaincinv(power, uniforms[:, :1])
    pitch = gammaincinv(2.0, uniforms[:, 1 : dimensions + 1])
    return Hashes.by_coordinate(scale / pitch, uniforms[:, dimensions + 1 :])
