"""From a kernel to the hashes that collide with its probability."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...errors import RequestError
from ..kernels import (
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
from .cells import Hashes, concatenated
from .p_stable import euclidean_hashes, manhattan_hashes
from .random_binning import laplacian_hashes, smooth_l1_hashes
from .random_slabs import smooth_hashes
from .signed import angular_hashes
from .uniforms import PublicRandom, group_sizes

FAMILIES: dict[type[Kernel], Callable[..., Hashes]] = {
    Euclidean: euclidean_hashes,
    Manhattan: manhattan_hashes,
    Laplacian: laplacian_hashes,
    Angular: angular_hashes,
    Smooth: smooth_hashes,
    SmoothL1: smooth_l1_hashes,
}

GRIDS = (Laplacian, SmoothL1)
"""Kernels whose rows have one hash for each coordinate, whatever the power."""

MAX_TERMS = 1 << 30
"""Coefficients that all rows together may have: 12 GiB would be more than a laptop has."""

MAX_TERMS_KEPT = 400_000
"""Coefficients of a draw that is remembered: a few megabytes."""

BYTES_A_TERM, BYTES_A_HASH = 64, 112
"""Memory at the peak of drawing hashes and giving them columns, rounded up from measurements of every family."""


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

    Parameters
    ----------
    kernel : Kernel
        Its collision probability.
    widths : tuple[int, ...]
        Coordinates of each column of the domain, their sum is the dimension d.
    rows, groups : int
        Rows R, drawn in that many independent groups.
    seed : int
        Public hash seed; the same seed gives the same hashes.

    Raises
    ------
    RequestError
        When the hashes would not fit into memory.
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


_drawn_again = lru_cache(maxsize=16)(_drawn)
"""The same, remembered: whoever tries bandwidths asks for the same directions again and again, and they are public."""


def mixture_choice(weights: tuple[float, ...], rows: int, groups: int, random: PublicRandom) -> np.ndarray:
    """Which part each row belongs to, int64 (rows,): part i with probability weights[i], evenly within a group.

    Systematic sampling: (shift + j * golden ratio) mod 1 is uniform for every j, as the group's shift is.
    """
    turns = np.concatenate([np.arange(size) for size in group_sizes(rows, groups)]) * (np.sqrt(5.0) - 1.0) / 2.0
    shifts = np.repeat(random.uniforms(groups), group_sizes(rows, groups))
    edges = np.cumsum(weights)[:-1]
    return np.searchsorted(edges, (turns + shifts) % 1.0, side="right")
