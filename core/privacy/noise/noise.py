"""Noise for tables of whole numbers: the only place where a release gets its randomness.

The noise is drawn exactly (`laplace`, `gaussian` and `vector_noise` carry the proofs), on whole numbers, from bits
keyed by the operating system (`randomness`). Large tables are filled in chunks by all processors, each chunk from a
stream of its own, so nothing is shared and the extra memory does not grow with the table.

Sums beyond the ends of the counters' type are set to the ends. The noise itself is not rounded or cut before it is
added, so this is a function of the exact noisy sum alone: post-processing, which costs no privacy. Which type the
counters have is decided from the noise alone (`has_room`): a decision by the exact sums would tell something of them.
"""

import math
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Protocol

import numpy as np

from ...errors import RequestError
from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Integers
from ...runtime.environment import over_ranges
from ..calibration import LARGEST_BLOCK, NoiseScale
from ..replay.laws import CounterNoise, PureNoise
from ..replay.tape import drawn
from .discrete_samplers import (
    LARGEST_SCALE,
    LARGEST_SIGMA2,
    Draws,
    GaussianSampler,
    LaplaceSampler,
    gaussian_sampler,
    laplace_sampler,
)
from .randomness import Source, Stream, SystemSource
from .vector_noise import LARGEST_VARIANCE, RoundedL2Sampler

CHUNK = 1 << 16
LEAST, MOST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)

REACH = 64  # Standard deviations that a counter has room for: Laplace noise passes them with probability e^-90.


class Sampler(Protocol):
    """Draws of one law, exactly."""

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` draws."""


def discrete_laplace(size: int | tuple[int, ...], scale: Fraction, source: Source | None = None) -> np.ndarray:
    """Draw discrete Laplace noise, P(z) ∝ exp(-|z|/scale), exactly.

    `size`: Shape of the result. `scale`: b = Δ1/ε for a table of L1 sensitivity Δ1, a whole number or fraction with 0 <
    b <= 2^56.

    Returns int64 (size); a draw beyond 64 bits is set to the nearer end.
    """
    return _fill(np.zeros(size, np.int64), "discrete_laplace", scale, _laplace(scale), source)


def discrete_gaussian(size: int | tuple[int, ...], sigma2: Fraction, source: Source | None = None) -> np.ndarray:
    """Draw discrete Gaussian noise, P(z) ∝ exp(-z²/(2 sigma2)), exactly.

    `size`: Shape of the result. `sigma2`: σ² = Δ2²/(2ρ) for a table of squared L2 sensitivity Δ2² under ρ-zCDP, a whole
    number or fraction with 0 < σ² < 2^112.

    Returns int64 (size); a draw beyond 64 bits is set to the nearer end.
    """
    return _fill(np.zeros(size, np.int64), "discrete_gaussian", sigma2, _gaussian(sigma2), source)


def rounded_l2(size: int | tuple[int, ...], scale: Fraction, source: Source | None = None) -> np.ndarray:
    """Draw noise vectors with density proportional to exp(-|z|/scale), |z| the Euclidean length, rounded, exactly.

    `size`: Shape of the result; each line along its last axis is a vector of its own, of m numbers. `scale`: b = Δ/ε
    for vectors that a person moves by Δ in length, a whole number or fraction above 0 with (m + 1) b² <= 2^112.

    Returns int64 (size); a draw beyond 64 bits is set to the nearer end.
    """
    table = np.zeros(size, np.int64)
    return _fill(table, "rounded_l2", scale, _rounded_l2(scale, table.shape[-1]), source)


def add_noise(
    table: np.ndarray, scale: "NoiseScale", source: Source | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return a table with noise on every counter, independent between counters or, by the scale, between blocks.

    `table`: The exact sums, int64 or int32, any shape; left as it is unless it is `out` as well. `scale`: Distribution
    and scale, from `calibration`; its block, if it has one, is the size of the table's last axis, or of several last
    axes together. `out`: Where the noisy counters go: of the table's shape, int64 or int32, in C order. The table
    itself may be it, and then no second one is held in memory; a new array of int64 if None. The draws are the same in
    every case.

    Returns `out`; sums beyond the ends of its type are set to the nearer end.
    """
    if scale.distribution == "rounded_l2" and scale.block not in accumulate(reversed(table.shape), mul):
        raise ValueError(f"Noise for blocks of {scale.block} does not fit a table of shape {table.shape}.")
    noisy = np.empty(table.shape, np.int64) if out is None else out
    law = CounterNoise(scale.distribution, scale.parameter, table.shape, scale.block, str(noisy.dtype))

    def draw() -> np.ndarray:
        add_drawn(table, _sampler(scale), source, noisy)
        return noisy

    if table.size:
        np.copyto(noisy, drawn(law, table, draw, is_private(source)))
    return noisy


def has_room(counter_type: np.dtype, scale: "NoiseScale") -> bool:
    """Whether noise stays inside a type of counters: 64 standard deviations of it do.

    Noise that does not is added to int64 counters, which are the widest there are.
    """
    return REACH * math.sqrt(scale.variance) <= np.iinfo(counter_type).max


def check_drawable(*scales: "NoiseScale | None") -> None:
    """Refuse noise that could not be drawn, before anything is spent on it."""
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
        if scale.block is None:
            raise ValueError("Noise for whole vectors needs their length.")
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


def _fill(
    zeros: np.ndarray, distribution: str, parameter: Fraction, sampler: Sampler, source: Source | None
) -> np.ndarray:
    def draw() -> np.ndarray:
        add_drawn(zeros, sampler, source, zeros)
        return zeros

    if not zeros.size:
        return zeros
    return drawn(PureNoise(distribution, Fraction(parameter), zeros.shape), None, draw, is_private(source))


def is_private(source: Source | None) -> bool:
    """Whether noise from a source protects anybody."""
    return source is None or source.private


def add_drawn(table: np.ndarray, sampler: Sampler, source: Source | None, out: np.ndarray) -> None:
    """Write a table with noise to an array, which may be the table itself, chunk by chunk, on all processors."""
    for array in (table, out):
        if array.dtype not in (np.int64, np.int32):
            raise TypeError(f"Noise is added to tables of int64 or int32, not {array.dtype}.")
    if out.shape != table.shape or not (out.flags.c_contiguous and out.flags.writeable):
        raise TypeError("Noisy counters are written to an array of the table's shape, in C order.")
    source = SystemSource() if source is None else source
    exact_sums, sums = np.ravel(table), out.reshape(-1)
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


def _add_chunk(exact_sums: np.ndarray, sampler: Sampler, stream: Stream, sums: np.ndarray) -> None:
    """The exact sums may be the array of sums itself, so each is read before it is written."""
    noise, ends = sampler.draw(len(exact_sums), stream), np.iinfo(sums.dtype)
    far = {index: int(exact_sums[index]) + value for index, value in noise.exact.items()}
    # Into the noise's own memory, as nothing else is there: where two arrays may be one, a loop goes number by number.
    _add_saturating(exact_sums, noise.values, ends.min, ends.max)
    sums[:] = noise.values
    for index, value in far.items():
        sums[index] = min(max(value, ends.min), ends.max)


@njit(nogil=True, cache=True)
def _add_saturating(sums: np.ndarray, noise: Integers, least: int, most: int) -> None:
    """Add sums to noise, in its place; what is beyond the ends of 64 bits, or of a type, is set to the end."""
    for i in range(noise.size):
        one, other = np.int64(sums[i]), noise[i]
        wrapped = one + other
        # The sum of two numbers has wrapped round when its sign is that of neither.
        wrapped = (MOST ^ (one >> 63)) if (one ^ wrapped) & (other ^ wrapped) < 0 else wrapped
        noise[i] = min(max(wrapped, least), most)
