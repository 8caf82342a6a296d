"""Noise for tables of whole numbers: the only place where a release gets its randomness.

The noise is drawn exactly (`laplace`, `gaussian` and `rounded_l2` carry the proofs), on whole numbers, from bits keyed
by the operating system (`randomness`). Large tables are filled in chunks by all processors, each chunk from a stream
of its own, so nothing is shared and the extra memory does not grow with the table.

Sums beyond the ends of int64 are set to the ends. The noise itself is not rounded or cut before it is added, so this is
a function of the exact noisy sum alone: post-processing, which costs no privacy.
"""

from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

import numba
import numpy as np

from ..errors import RequestError
from ..threads import over_ranges
from .gaussian import LARGEST_SIGMA2, GaussianSampler, gaussian_sampler
from .laplace import LARGEST_SCALE, LaplaceSampler, laplace_sampler
from .randomness import Source, Stream, SystemSource
from .rounded_l2 import LARGEST_BLOCK, LARGEST_VARIANCE, RoundedL2Sampler

if TYPE_CHECKING:
    from .calibration import NoiseScale

CHUNK = 1 << 16
LEAST, MOST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)

Sampler = LaplaceSampler | GaussianSampler | RoundedL2Sampler


def discrete_laplace(size: int | tuple[int, ...], scale: Fraction, source: Source | None = None) -> np.ndarray:
    """Draw discrete Laplace noise, P(z) ∝ exp(-|z|/scale), exactly.

    Parameters
    ----------
    size
        Shape of the result.
    scale
        b = Δ1/ε for a table of L1 sensitivity Δ1, a whole number or fraction with 0 < b <= 2^56.
    source
        Where the random bits come from; the operating system unless this is a test or a lesson.

    Returns
    -------
    ndarray
        int64 (size); a draw beyond 64 bits is set to the nearer end.

    Raises
    ------
    RequestError
        When the scale is out of its range.
    """
    return _add(np.zeros(size, np.int64), _laplace(scale), source)


def discrete_gaussian(size: int | tuple[int, ...], sigma2: Fraction, source: Source | None = None) -> np.ndarray:
    """Draw discrete Gaussian noise, P(z) ∝ exp(-z²/(2 sigma2)), exactly.

    Parameters
    ----------
    size
        Shape of the result.
    sigma2
        σ² = Δ2²/(2ρ) for a table of squared L2 sensitivity Δ2² under ρ-zCDP, a whole number or fraction with
        0 < σ² < 2^112.
    source
        Where the random bits come from; the operating system unless this is a test or a lesson.

    Returns
    -------
    ndarray
        int64 (size); a draw beyond 64 bits is set to the nearer end.

    Raises
    ------
    RequestError
        When σ² is out of its range.
    """
    return _add(np.zeros(size, np.int64), _gaussian(sigma2), source)


def rounded_l2(size: int | tuple[int, ...], scale: Fraction, source: Source | None = None) -> np.ndarray:
    """Draw noise vectors with density proportional to exp(-|z|/scale), |z| the Euclidean length, rounded, exactly.

    Parameters
    ----------
    size
        Shape of the result; each line along its last axis is a vector of its own, of m numbers.
    scale
        b = Δ/ε for vectors that a person moves by Δ in length, a whole number or fraction above 0 with
        (m + 1) b² <= 2^112.
    source
        Where the random bits come from; the operating system unless this is a test or a lesson.

    Returns
    -------
    ndarray
        int64 (size); a draw beyond 64 bits is set to the nearer end.

    Raises
    ------
    RequestError
        When the scale is out of its range.
    """
    table = np.zeros(size, np.int64)
    return _add(table, _rounded_l2(scale, table.shape[-1]), source)


def add_noise(table: np.ndarray, scale: "NoiseScale", source: Source | None = None) -> np.ndarray:
    """Return a table with noise on every counter, independent between counters or, by the scale, between blocks.

    Parameters
    ----------
    table
        The exact sums, int64, any shape; left as it is.
    scale
        Distribution and scale, from `calibration`; its block, if it has one, is the size of the table's last axis, or
        of several last axes together.
    source
        Where the random bits come from; the operating system unless this is a test or a lesson.

    Returns
    -------
    ndarray
        int64, the table's shape; sums beyond 64 bits are set to the nearer end.

    Raises
    ------
    RequestError
        When the scale is too large for 64-bit counters.
    """
    if scale.distribution == "rounded_l2" and scale.block not in accumulate(reversed(table.shape), mul):
        raise ValueError(f"Noise for blocks of {scale.block} does not fit a table of shape {table.shape}.")
    return _add(table, _sampler(scale), source)


def check_drawable(*scales: "NoiseScale | None") -> None:
    """Refuse noise that could not be drawn, before anything is spent on it.

    Raises
    ------
    RequestError
        When a scale is too large for 64-bit counters.
    """
    for scale in scales:
        if scale is not None:
            _sampler(scale)


def warm() -> None:
    """Compile the samplers, or load what an earlier run compiled, so that the first release need not wait for it."""
    discrete_laplace(1, Fraction(1))
    discrete_gaussian(1, Fraction(1))
    rounded_l2(1, Fraction(1))


def _sampler(scale: "NoiseScale") -> Sampler:
    if scale.distribution == "discrete_laplace":
        return _laplace(scale.parameter)
    if scale.distribution == "discrete_gaussian":
        return _gaussian(scale.parameter)
    if scale.distribution == "rounded_l2":
        return _rounded_l2(scale.parameter, scale.block)
    raise ValueError(f"There is no noise called {scale.distribution!r}.")


def _laplace(scale: Fraction) -> LaplaceSampler:
    if not isinstance(scale, (int, Fraction)):
        raise TypeError("The scale of noise is a whole number or a fraction: a float would not say which exactly.")
    if not 0 < scale <= LARGEST_SCALE:
        raise RequestError(
            "The scale of Laplace noise must be above 0 and at most 2^56, as larger noise would not fit the table's "
            "64-bit counters; a larger epsilon needs less noise."
        )
    return laplace_sampler(Fraction(scale))


def _gaussian(sigma2: Fraction) -> GaussianSampler:
    if not isinstance(sigma2, (int, Fraction)):
        raise TypeError("The scale of noise is a whole number or a fraction: a float would not say which exactly.")
    if not 0 < sigma2 <= LARGEST_SIGMA2:
        raise RequestError(
            "The variance of Gaussian noise must be above 0 and below 2^112, as larger noise would not fit the table's "
            "64-bit counters; a larger epsilon needs less noise."
        )
    return gaussian_sampler(Fraction(sigma2))


def _rounded_l2(scale: Fraction, block: int) -> RoundedL2Sampler:
    if not isinstance(scale, (int, Fraction)):
        raise TypeError("The scale of noise is a whole number or a fraction: a float would not say which exactly.")
    if not 1 <= block <= LARGEST_BLOCK:
        raise RequestError(f"Noise is drawn for vectors of 1 to {LARGEST_BLOCK:,} counters.")
    if not (0 < scale and (block + 1) * scale**2 <= LARGEST_VARIANCE):
        raise RequestError(
            "The variance of noise for vectors must be above 0 and at most 2^112, as larger noise would not fit the "
            "table's 64-bit counters; a larger epsilon needs less noise."
        )
    return RoundedL2Sampler(Fraction(scale), block)


def _add(table: np.ndarray, sampler: Sampler, source: Source | None) -> np.ndarray:
    """Add noise chunk by chunk, on all processors."""
    if table.dtype != np.int64:
        raise TypeError(f"Noise is added to tables of int64, not {table.dtype}.")
    source = SystemSource() if source is None else source
    noisy = np.empty(table.shape, np.int64)
    exact_sums, sums = np.ravel(table), noisy.reshape(-1)
    # A vector of noise is drawn as a whole.
    block = sampler.block if isinstance(sampler, RoundedL2Sampler) else 1
    step = max(CHUNK - CHUNK % block, block)
    chunks = [slice(start, start + step) for start in range(0, table.size, step)]
    # Made here, in order, so that a seeded source gives the same noise on any number of processors.
    streams = [source.stream() for _ in chunks]

    def fill(first: int, last: int) -> None:
        for chunk, stream in zip(chunks[first:last], streams[first:last], strict=True):
            _add_chunk(exact_sums[chunk], sampler, stream, sums[chunk])

    over_ranges(len(chunks), fill)
    return noisy


def _add_chunk(exact_sums: np.ndarray, sampler: Sampler, stream: Stream, sums: np.ndarray) -> None:
    noise = sampler.draw(len(exact_sums), stream)
    _add_saturating(exact_sums, noise.values, sums)
    for index, value in noise.exact.items():
        sums[index] = min(max(int(exact_sums[index]) + value, LEAST), MOST)


@numba.njit(nogil=True, cache=True)
def _add_saturating(left, right, total):
    for i in range(total.size):
        wrapped = left[i] + right[i]
        # The sum of two numbers has wrapped round when its sign is that of neither.
        if (left[i] ^ wrapped) & (right[i] ^ wrapped) < 0:
            wrapped = LEAST if left[i] < 0 else MOST
        total[i] = wrapped
