"""From a kernel to the hashes that collide with its probability; of four families.

Signed random projections: sign(a.x) for a random direction a, the angular kernel (Charikar 2002).

p-stable hashing: floor((a.x + b)/w) with b uniform on [0, w) (Datar, Immorlica, Indyk, Mirrokni 2004).

Normal a (2-stable) gives the Euclidean kernel, Cauchy a (1-stable) the Manhattan kernel. The power p concatenates p
hashes.

Random binning: a grid of random pitch and shift in every coordinate (Rahimi, Recht 2007, section 4).

With the pitch drawn from Gamma(2, sigma), two points share a bin of a coordinate with probability exp(-|x - y|/sigma),
exactly; all coordinates together give the Laplacian kernel. Its power p is the same kernel with sigma / p.

Measured in sigma / t, with one t of the Gamma(p) law for all coordinates of a row, they give the mean of
exp(-t ||x - y||_1 / sigma), which is the smooth kernel (1 + ||x - y||_1 / sigma)^-p.

Random slabs: floor(u.x / pitch + b) for a uniform direction u and a random pitch, the smooth kernel exactly.

Slabs of random pitch across one coordinate share two points at distance s with probability E max(0, 1 - s / pitch),
which can be any convex profile profile(s) that falls from 1 to 0: the pitch then has the survival function
profile(s) - s profile'(s). Across a random direction of D dimensions s = |u.(x - y)|, so the collision probability is
K(c) = E profile(c |u_1|), c the distance. Which profile gives K(c) = 1/(1 + c)? By Mellin's transform, for odd D,

    profile = sum over k of weight_k (1 + s)^-k,    starting from (1 + s)^-1 at D = 1, where a step of two dimensions
    takes (1 + s)^-k to (k / a) (1 + s)^-(k + 1) + (1 - k / a) (1 + s)^-k,    a = 1, 3, 5, ..., D - 2:

E |u_1|^-z = Gamma((1 - z)/2) Gamma(D/2) / (sqrt(pi) Gamma((D - z)/2)), so two dimensions more divide the profile's
transform by a/(a - z); and (1 + s)^-k has the transform Gamma(z) Gamma(k - z) / Gamma(k). As k <= (a + 1)/2 <= a, all
weights are positive and every profile is convex: one interval number a row is enough in any number of dimensions, even
ones being a part of the next odd space. In three dimensions the profile is (1 + s)^-2. (The exponential kernel and
1/(1 + c^2) have no such profile above one dimension; the latter, like the Gaussian, is no collision probability at all:
1 - k, the probability of falling apart, would have to obey the triangle inequality.)
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import gammaincinv

from ..errors import RequestError
from .hash_cells import Hashes, concatenated
from .kernels import (
    Angular,
    Euclidean,
    Kernel,
    Laplacian,
    Manhattan,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    coordinate_bandwidths,
    stationary,
)
from .uniforms import PublicRandom, chi_lengths, directions, group_sizes, grouped_uniforms, uniforms_for_direction


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


HALVINGS = 60


def smooth_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """Hashes of points measured in bandwidths: ``power`` slabs a row, each of its own pitch and direction."""
    space = dimensions + 1 - dimensions % 2
    weights = profile_weights(space)
    angles = uniforms_for_direction(space)
    each = angles + 2
    uniforms = grouped_uniforms(rows, groups, power * each, seed, family).reshape(rows, power, each)
    a = np.empty((rows, power, dimensions))
    for p in range(power):
        unit = directions(uniforms[:, p, 1:-1], space, groups, seed, family * 1_000 + p)
        a[:, p] = unit[:, :dimensions] / slab_pitches(uniforms[:, p, :1], weights)
    return Hashes.dense(a, uniforms[:, :, -1])


def profile_weights(space: int) -> np.ndarray:
    """Weights of (1 + s)^-1, (1 + s)^-2, ... in the profile, for an odd number of dimensions; they add up to 1."""
    weights = np.ones(1)
    for a in range(1, space, 2):
        k = np.arange(1, len(weights) + 1)
        weights = np.append(weights * (1.0 - k / a), 0.0) + np.append(0.0, weights * k / a)
    return weights


def slab_pitches(uniforms: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pitches by inverting their survival function, a polynomial in y = 1/(1 + pitch), by halving.

    (1 + s)^-k gives (k + 1) y^k - k y^(k + 1), which rises from 0 to 1.
    """
    k = np.arange(1, len(weights) + 1)
    survival = np.append(0.0, np.append(weights * (k + 1), 0.0)) - np.append([0.0, 0.0], weights * k)
    low, high = np.zeros_like(uniforms), np.ones_like(uniforms)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        above = np.polynomial.polynomial.polyval(middle, survival) > uniforms
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return 1.0 / high - 1.0


FAMILIES: dict[type[Kernel], Callable[..., Hashes]] = {
    Euclidean: euclidean_hashes,
    Manhattan: manhattan_hashes,
    Laplacian: laplacian_hashes,
    Angular: angular_hashes,
    Smooth: smooth_hashes,
    SmoothL1: smooth_l1_hashes,
}

GRIDS = (Laplacian, SmoothL1)  # Kernels whose rows have one hash for each coordinate, whatever the power.

MAX_TERMS = 1 << 30  # Coefficients that all rows together may have: 12 GiB would be more than a laptop has.

MAX_TERMS_KEPT = 400_000  # Coefficients of a draw that is remembered: a few megabytes.

# Memory at the peak of drawing hashes and giving them columns, rounded up from measurements of every family.
BYTES_A_TERM, BYTES_A_HASH = 64, 112


def check_kernel(kernel: Kernel) -> None:
    """RequestError unless the kernel is the collision probability of a hash family."""
    if isinstance(kernel, (Product, Mixture)):
        for part in kernel.parts:
            check_kernel(part)
    elif type(kernel) not in FAMILIES:
        names = ", ".join(kind.name for kind in FAMILIES)
        raise RequestError(
            f"The {kernel.name} kernel is not the collision probability of a known hash, so the mechanism 'race' does "
            f"not have it; it can be released by the mechanism 'features', and 'race' has the kernels {names}."
        )


def draw_hashes(kernel: Kernel, widths: tuple[int, ...], rows: int, groups: int, seed: int) -> Hashes:
    """The hash functions of every row, from public facts alone.

    RequestError when the hashes would not fit into memory.

    `kernel`: Its collision probability. `widths`: Coordinates of each column of the domain, their sum is the dimension
    d. `rows`, `groups`: Rows R, drawn in that many independent groups. `seed`: Public hash seed; the same seed gives
    the same hashes.
    """
    if rows * sum(widths) * _hashes_a_row(kernel) > MAX_TERMS:
        raise RequestError(
            f"{rows:,} rows over {sum(widths):,} coordinates need more than {MAX_TERMS:,} hash coefficients, which is "
            "the most that fits into memory; use fewer rows or project the data first."
        )
    return _draw(kernel, widths, rows, groups, seed, iter(range(1, 1_000_000)))


def drawing_bytes(kernel: Kernel, dimensions: int, rows: int) -> int:
    """Memory that drawing the hashes of every row takes at its peak, from above and without drawing any."""
    terms = rows * dimensions * _hashes_a_row(kernel)
    return BYTES_A_TERM * terms + BYTES_A_HASH * rows * atomic_hashes(kernel, dimensions)


def atomic_hashes(kernel: Kernel, dimensions: int) -> int:
    """Atomic hashes of a row, those of all parts of a composite kernel."""
    if isinstance(kernel, (Product, Mixture)):
        return sum(atomic_hashes(part, dimensions) for part in kernel.parts)
    return dimensions if isinstance(kernel, GRIDS) else _power(kernel)


def _hashes_a_row(kernel: Kernel) -> int:
    if isinstance(kernel, (Product, Mixture)):
        return sum(_hashes_a_row(part) for part in kernel.parts)
    return 1 if isinstance(kernel, GRIDS) else _power(kernel)


def _power(kernel: Kernel) -> int:
    return kernel.power if isinstance(kernel, Angular) else stationary(kernel).power


def _draw(kernel: Kernel, widths: tuple[int, ...], rows: int, groups: int, seed: int, families) -> Hashes:
    """``families`` numbers the parts of a composite kernel, so that each has randomness of its own."""
    if isinstance(kernel, (Product, Mixture)):
        parts = [_draw(part, widths, rows, groups, seed, families) for part in kernel.parts]
        if isinstance(kernel, Mixture):
            choice = mixture_choice(kernel.weights, rows, groups, PublicRandom(seed, next(families)))
            parts = [part.only_rows(choice == i) for i, part in enumerate(parts)]
        return concatenated(parts)
    draw = _drawn_again if rows * sum(widths) * _power(kernel) <= MAX_TERMS_KEPT else _drawn
    hashes = draw(type(kernel), rows, groups, sum(widths), _power(kernel), seed, next(families))
    if isinstance(kernel, Angular):
        return hashes
    return hashes.measured_in(coordinate_bandwidths(stationary(kernel).bandwidth, widths))


def _drawn(kernel: type[Kernel], rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    return FAMILIES[kernel](rows, groups, dimensions, power, seed, family)


# The same, remembered: whoever tries bandwidths asks for the same directions again and again, and they are public.
_drawn_again = lru_cache(maxsize=16)(_drawn)


def mixture_choice(weights: tuple[float, ...], rows: int, groups: int, random: PublicRandom) -> np.ndarray:
    """Which part each row belongs to, int64 (rows,): part i with probability weights[i], evenly within a group.

    Systematic sampling: (shift + j * golden ratio) mod 1 is uniform for every j, as the group's shift is.
    """
    turns = np.concatenate([np.arange(size) for size in group_sizes(rows, groups)]) * (np.sqrt(5.0) - 1.0) / 2.0
    shifts = np.repeat(random.uniforms(groups), group_sizes(rows, groups))
    edges = np.cumsum(weights)[:-1]
    return np.searchsorted(edges, (turns + shifts) % 1.0, side="right")
