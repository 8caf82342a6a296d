"""Would an encoder in front help? Closeness in many columns, summed in the few that public records say matter.

A grid has the least noise, and room for three columns at most. Where records lie near a plane in many, distances along
it are nearly those in all columns, so a grid of principal components (PCA) answers nearly the same question. What it
answers less exactly is measured on the public sample: one half of it teaches the components, and of the other half, at
places of its own, the closeness in all columns is compared with that along the plane. That difference and the forecast
of the encoded release together are its error; it is proposed where that is less than without an encoder.

The public sample alone decides, so it costs nothing. See `core.domain.encoders` for what an encoder has to keep.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import cast

import numpy as np

from ...domain import Domain
from ...domain.encoders import Encoder
from ...domain.learned_encoders import rounded
from ...domain.numeric import Numeric, Vector
from ...errors import RequestError
from ...formatting.numbers import count, significant
from ...geometry.kernels import Euclidean, Gaussian
from ...privacy.budget import Budget
from .one_trial import checked_records
from .recommendation import TIE, Closeness, Recommendation, recommend

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
