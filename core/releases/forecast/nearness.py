"""Which kernel suits how near "here" is: closeness that is half gone at a distance, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import scipy

from ...domain import Cyclic, Domain, Scalar, Vector
from ...formatting.numbers import number, percent, significant
from ...geometry.kernels import Euclidean, Gaussian, Kernel, stationary
from ...sources.public_tables import Sample

# Steps of nearness: the distance at which closeness is half gone, in shares of the widest column's range.
SHARES = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
DEFAULT_SHARE = 0.05
# Steps of nearness where a kernel is suggested: what its bandwidths are multiplied by.
FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0)
POWER = 4  # Power of the Euclidean kernel: a single hash lets far records count, and four of them hardly do.
# Bandwidths of more columns than a grid is for, in shares of how far two records are typically apart.
NARROW, USUAL, WIDE = 0.25, 0.5, 1.0
# Up to here a grid of counts serves best, and it serves the Gaussian kernel most quickly; beyond, random cells do.
FEW_DIMENSIONS = 3


def widest_range(domain: Domain) -> float:
    """The largest range of a column in the coordinates that the kernel sees; 1 when all columns are categories."""
    ranges = [
        1.0 if domain.scale == "box" else column.span
        for column in domain.columns
        if isinstance(column, (Cyclic, Scalar, Vector))
    ]
    return max(ranges, default=domain.category_distance)


def distance_at(domain: Domain, share: float) -> float:
    """The distance that is this share of the widest range, in four digits."""
    return float(f"{share * widest_range(domain):.4g}")


def kernel_at(domain: Domain, share: float) -> Gaussian | Euclidean:
    """The kernel that is offered first, with closeness half gone at a distance of this share of the widest range."""
    return falling_to_half(domain, distance_at(domain, share))


def falling_to_half(domain: Domain, distance: float) -> Gaussian | Euclidean:
    """The kernel that suits the dimensions, with closeness half gone at a distance in a straight line."""
    if domain.dimensions <= FEW_DIMENSIONS:
        return Gaussian(float(f"{distance / math.sqrt(2 * math.log(2)):.4g}"))
    return Euclidean(float(f"{distance / half_distance(POWER):.4g}"), POWER)


@cache
def half_distance(power: int) -> float:
    """The distance, in bandwidths, at which the Euclidean kernel of this power is a half."""
    kernel, here = Euclidean(1.0, power), np.zeros((1, 1))
    return float(
        scipy.optimize.brentq(lambda distance: kernel.evaluate(here, np.array([[distance]]))[0, 0] - 0.5, 1e-3, 10.0)
    )


def length_apart(domain: Domain, spread: float) -> float:
    """How far two records are typically apart in a straight line, in shares of the bounds.

    `spread`: standard deviation of a column in shares of its bounds; see `core.releases.stages`.
    """
    return math.sqrt(2.0 * domain.dimensions) * spread


def kernel_apart(domain: Domain, spread: float, share: float = USUAL) -> Gaussian:
    """The kernel whose bandwidth is a share of how far two records are typically apart, in the units of each column."""
    length = share * length_apart(domain, spread)
    low, high = domain.bounds("l2")
    ends = np.cumsum([column.width for column in domain.columns])[:-1]
    each = tuple(float(f"{length * span.max():.3g}") for span in np.split(high - low, ends))
    return Gaussian(each[0] if len(set(each)) == 1 else each)


def suggested_kernel(domain: Domain, sample: Sample) -> Kernel | None:
    """The kernel that a sample comes with, for those of its columns that are used.

    In few dimensions another one with the same half distance takes the place of a Euclidean one. None where the sample
    says nothing: with a column that it does not know, or columns that are measured otherwise.
    """
    known = sample.domain
    if domain.scale != known.scale or not set(domain.names) <= set(known.names):
        return None
    kernel = stationary(sample.kernel)
    bandwidth = kernel.bandwidth
    if isinstance(bandwidth, tuple):
        of_column = dict(zip(known.names, bandwidth, strict=True))
        return replace(kernel, bandwidth=tuple(of_column[name] for name in domain.names))
    if isinstance(kernel, Euclidean):
        return falling_to_half(domain, bandwidth * half_distance(kernel.power))
    return kernel


def radius_of(domain: Domain, longest: Mapping[str, float]) -> float | None:
    """What no record is further than from the middle of the bounds, where all columns are vectors of bounded length.

    Vectors that are bounded by their length are so around zero, which is the middle of their bounds.
    """
    vectors = [column for column in domain.columns if isinstance(column, Vector) and column.name in longest]
    if len(vectors) < len(domain.columns):
        return None
    shares = [longest[column.name] / (column.high - column.low if domain.scale == "box" else 1.0) for column in vectors]
    return math.hypot(*shares)


def stretched(kernel: Kernel, factor: float) -> Kernel:
    """The kernel with every bandwidth so many times as long, in four digits."""
    plain = stationary(kernel)
    longer = np.array(plain.bandwidth) * factor
    return replace(plain, bandwidth=np.vectorize(lambda value: float(f"{value:.4g}"))(longer).tolist())


def factor_words(factor: float) -> str:
    """A step of nearness where a kernel is suggested."""
    return "as suggested" if factor == 1 else f"{number(factor)} times as far"


def distance_words(domain: Domain, share: float) -> str:
    """A step of nearness as a person would say it: "5% of the bounds" or, where columns share a unit, "1 km (5% …)"."""
    of_bounds = f"{percent(share)} of the bounds"
    units = {column.measure for column in domain.columns if isinstance(column, (Scalar, Vector))}
    if domain.scale == "box" or not units:
        return of_bounds
    unit = f" {units.pop()}" if len(units) == 1 and units != {""} else ""
    return f"{significant(distance_at(domain, share), 4)}{unit} ({of_bounds})"
