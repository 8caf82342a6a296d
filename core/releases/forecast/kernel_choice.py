"""Which kernel suits how near "here" is, and whether an encoder in front would help, from public facts alone.

A kernel is closeness that is half gone at a distance. An encoder sums closeness in many columns in the few that public
records say matter. A grid has the least noise, and room for three columns at most. Where records lie near a plane in
many, distances along it are nearly those in all columns, so a grid of principal components (PCA) answers nearly the
same question. What it answers less exactly is measured on the public sample: one half of it teaches the components, and
of the other half, at places of its own, the closeness in all columns is compared with that along the plane. That
difference and the forecast of the encoded release together are its error; it is proposed where that is less than
without an encoder.

The public sample alone decides, so it costs nothing. See `core.domain.encoders` for what an encoder has to keep.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import cast

import numpy as np
import scipy

from ...domain import Cyclic, Domain, Scalar
from ...domain.encoders import Encoder
from ...domain.learned_encoders import rounded
from ...domain.numeric import Numeric, Vector
from ...errors import RequestError
from ...formatting.numbers import count, number, percent, significant
from ...geometry.kernels import Euclidean, Gaussian, Kernel, stationary
from ...privacy.budget import Budget
from ...sources.public_tables import Sample
from .one_trial import checked_records
from .recommendation import TIE, Closeness, Recommendation, recommend

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


LEAST, PLACES = 500, 100  # Public records that it takes; places at which closeness is compared.
MOST = 3  # Columns of a grid.


def recommend_encoder(
    domain: Domain,
    records: float | None,
    budget: Budget,
    question: Closeness,
    sample: object,
    otherwise: float | None = None,
) -> Recommendation | None:
    """A mechanism behind an encoder that is forecast to err less than any without one; None where none is.

    Parameters
    ----------
    domain, records, budget, question : Domain, float | None, Budget, Closeness
        As of `recommend`.
    sample : object
        500 public records or more, in random order: a table as `Domain.encode_queries` takes it.
    otherwise : float | None
        The error without an encoder, where that is known already.

    Returns
    -------
    Recommendation | None
        Its sketch is of the domain with the encoder, and its error has what closeness along the plane misses in it.
    """
    kernel = question.kernel
    if not isinstance(kernel, (Gaussian, Euclidean)) or question.finest != 1.0 or domain.scale != "none":
        return None
    if not all(type(one) in (Numeric, Vector) and _even(one) for one in domain.columns):
        return None
    points = np.asarray(domain.encode_queries(sample, "l2"), dtype=np.float64)
    width = points.shape[1]
    if width <= MOST or len(points) < LEAST:
        return None
    lengths = np.broadcast_to(np.asarray(kernel.bandwidth, dtype=np.float64), width)
    best = otherwise or recommend(domain, records, budget, question, sample=sample)[0].outlook.standard_error
    unit = replace(question, kernel=replace(kernel, bandwidth=1.0))
    half = len(points) // 2
    found: list[Recommendation] = []
    for dimensions in range(1, MOST + 1):
        encoder, images = _along(domain, points, lengths, dimensions, half)
        behind = replace(domain, columns=(encoder,))
        missed = _missed(unit, points[half:] / lengths, images[half:]) * checked_records(records)
        try:
            one = recommend(behind, records, budget, unit, sample=images[half:])[0]
        except RequestError:
            continue
        error = math.hypot(one.outlook.standard_error, missed)
        said = (
            f"Behind an encoder, {count(dimensions, 'number')} of {width} that the public sample teaches: an error of "
            f"{significant(error, 2)} with what that leaves away, against {significant(best, 2)} without it."
        )
        found.append(replace(one, forecast=replace(one.outlook, standard_error=error), reason=said))
    least = min(found, key=lambda one: one.outlook.standard_error, default=None)
    return least if least is not None and least.outlook.standard_error * TIE < best else None


def _even(column: object) -> bool:
    """Whether equal differences are equally far, as encoders read columns."""
    return not getattr(column, "scale", "")


def _along(
    domain: Domain, points: np.ndarray, lengths: np.ndarray, dimensions: int, half: int
) -> tuple[Encoder, np.ndarray]:
    """The encoder that the first half teaches, in units of the bandwidth, and the images of all, (n, dimensions)."""
    from sklearn.decomposition import PCA

    taught = PCA(dimensions, svd_solver="full").fit(points[:half] / lengths)
    matrix = taught.components_ / lengths
    offset = -taught.components_ @ taught.mean_
    images = points @ matrix.T + offset
    end = math.ceil(float(np.abs(images[:half]).max())) + 1.0
    digest = hashlib.sha256(np.ascontiguousarray(points[:half], dtype="<f8").tobytes()).hexdigest()
    steps = ({"matrix": rounded(matrix), "offset": rounded(offset)}, {"clip": [-end, end]})
    reads = tuple(cast(Numeric | Vector, one) for one in domain.columns)
    origin = f"PCA of {half:,} public records"
    made = Encoder("encoded", dimensions, -end, end, "", reads, steps, origin, digest)
    return made, np.clip(images, -end, end)


def _missed(question: Closeness, points: np.ndarray, images: np.ndarray) -> float:
    """How far mean closeness along the plane is from that in all columns, root mean square over places."""
    places, others = slice(PLACES), slice(PLACES, None)
    exact, along = (
        question.kernel.evaluate(one[places], one[others]).reshape(PLACES, -1).mean(axis=1) for one in (points, images)
    )
    return float(np.sqrt(np.mean((exact - along) ** 2)))
