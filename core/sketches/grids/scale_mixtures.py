"""Kernels of a distance as sums of a few kernels that are products of their columns, which grids are read fast through.

A kernel of the Euclidean distance that is positive definite in every number of dimensions is a mixture of Gaussians of
different bandwidths (Schoenberg 1938); one of the Manhattan distance that falls like a mixture of exponentials is one
of Laplacians (Bernstein 1928). Every kernel of `core.geometry.kernels` that is made of a distance is such a mixture,
and so are its powers. A non-negative least-squares fit finds a few dozen bandwidths that stand for all of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import nnls

from ...geometry.kernels import (
    Euclidean,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Manhattan,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
)
from .axes import is_product_of_columns

LARGEST_ERROR = 3e-5
"""How far a sum of products is from its kernel at any distance, at most."""
MAX_TERMS = 96
"""Terms of a sum at most: noise is known from all pairs of them."""
RATIOS = (2.0, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.05)
"""Ratios of consecutive bandwidths that are tried, until the error is small enough."""
_MIXTURES = (Euclidean, Exponential, Smooth, SmoothSquared, Manhattan, SmoothL1)
_DISTANCES = np.concatenate([[0.0], np.geomspace(1e-7, 1e6, 1300)])
"""Distances in bandwidths at which a kernel is fitted."""

Terms = tuple[tuple[float, Kernel], ...]


def product_terms(kernel: Kernel) -> Terms | None:
    """A kernel as a sum of weighted products of one factor a column.

    Parameters
    ----------
    kernel : Kernel
        Of encoded points.

    Returns
    -------
    Terms | None
        Pairs of a weight above zero and a product; their sum is the kernel up to `LARGEST_ERROR` at every distance
        (times the number of factors, for a product of kernels). None where there is no such sum, or too long a one.
    """
    terms = _terms(kernel)
    return terms if terms is not None and len(terms) <= MAX_TERMS else None


def _terms(kernel: Kernel) -> Terms | None:
    if is_product_of_columns(kernel):
        return ((1.0, kernel),)
    if isinstance(kernel, (Product, Mixture)):
        parts = [part for part in map(product_terms, kernel.parts) if part is not None]
        if len(parts) < len(kernel.parts):
            return None
        if isinstance(kernel, Mixture):
            return tuple((a * w, k) for a, part in zip(kernel.weights, parts, strict=True) for w, k in part)
        return _multiplied(parts)
    if not isinstance(kernel, _MIXTURES):
        return None
    bandwidth = np.asarray(kernel.bandwidth)
    fitted = _fitted(replace(kernel, bandwidth=1.0))
    if fitted is None:
        return None
    made: type[Stationary] = Laplacian if kernel.metric == "l1" else Gaussian
    return tuple((weight, made((scale * bandwidth).tolist())) for weight, scale in fitted)


def _multiplied(parts: list[Terms]) -> Terms | None:
    """The product of sums, multiplied out."""
    terms = parts[0]
    for part in parts[1:]:
        if len(terms) * len(part) > MAX_TERMS:
            return None
        terms = tuple((a * b, Product((one, other))) for a, one in terms for b, other in part)
    return terms


@cache
def _fitted(kernel: Stationary) -> tuple[tuple[float, float], ...] | None:
    """Weights and bandwidths of the mixture that a kernel of bandwidth 1 is, the fewest that are close enough."""
    truth = kernel.evaluate(np.zeros((1, 1)), _DISTANCES[:, None])[0]
    narrowest = 0.5 * _DISTANCES[np.flatnonzero(truth < 1.0 - LARGEST_ERROR / 2.0)[0]]
    widest = _DISTANCES[np.flatnonzero(truth > LARGEST_ERROR / 2.0)[-1]]
    for ratio in RATIOS:
        scales = np.geomspace(narrowest, widest, int(np.ceil(np.log(widest / narrowest) / np.log(ratio))) + 1)
        steps = _DISTANCES[:, None] / scales
        profiles = np.exp(-steps) if kernel.metric == "l1" else np.exp(-0.5 * steps**2)
        weights, _ = nnls(profiles, truth, maxiter=100 * len(scales))
        if np.abs(profiles @ weights - truth).max() < LARGEST_ERROR:
            return tuple((float(w), float(s)) for w, s in zip(weights, scales, strict=True) if w > 0.0)
    return None
