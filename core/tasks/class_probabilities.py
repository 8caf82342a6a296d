"""From scores of classes to probabilities of classes.

Closeness is a density, so the classes share a place as their densities do (Bayes' rule, with even priors under the rule
of likelihood). A noisy density may fall below zero, which no true one does: each is replaced by its expectation, given
the noisy one and that it is not negative. Where there is nothing but noise, all classes become equally likely.

Distances are no densities. They become some as if coordinates were independent: a class whose d coordinates scatter
alike around its middle has a density that falls with its average distance D at a place like D^-d, to first order where
the classes are about as far as they are wide, and whatever the distance is (half of d for squares). Coordinates that
depend on each other make these probabilities too bold; the order of the classes does not depend on it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, softmax

from ..releases import Release
from .class_scores import Scores

FAR_BELOW = -1e4
"""Standard errors below zero at which the expectation, about one error divided by as many, would lose its digits."""


def class_probabilities(release: Release, scores: Scores, rule: str) -> np.ndarray:
    """Probabilities of the classes, float64 (n, K); each row adds up to 1."""
    if rule == "distance":
        return _by_distance(scores, release.sketch.query_domain.dimensions)
    share = non_negative(scores.value, np.sqrt(scores.variance))
    return share / share.sum(axis=1, keepdims=True)


def non_negative(value: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Expectation of a number that is not negative, given it plus normal noise: value + deviation * phi(z) / Phi(z)."""
    deviation = np.maximum(deviation, np.finfo(float).tiny)
    z = np.maximum(value / deviation, FAR_BELOW)
    hazard = np.exp(-0.5 * z**2 - log_ndtr(z)) / np.sqrt(2.0 * np.pi)
    return deviation * (z + hazard)


def _by_distance(scores: Scores, dimensions: int) -> np.ndarray:
    """The sharper the distances are known, the bolder the odds: the probit approximation of MacKay (1992)."""
    distance = np.maximum(-scores.value, np.finfo(float).tiny)
    blur = np.sqrt(1.0 + np.pi / 8.0 * scores.variance * (dimensions / distance) ** 2)
    return softmax(-dimensions * np.log(distance) / blur.max(axis=1, keepdims=True), axis=1)
