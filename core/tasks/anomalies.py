"""How unusual points are: a place that few people of a release are close to is an anomaly (CCS 2021, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import check_number
from ..errors import RequestError
from ..releases.release import Release
from .answerable import check_closeness
from .sampling import sample

REFERENCE_POINTS = 10_000
"""Synthetic people with whom a place is compared; a score is a multiple of one in so many."""
SHARE = 0.05
"""Of the population that is called anomalous unless said otherwise: the emptiest one in twenty."""


@dataclass(frozen=True)
class Scores:
    """What a release says about n points; arrays (n,).

    Attributes
    ----------
    density : np.ndarray
        Average closeness of a record to the point, about 0 to 1.
    low, high : np.ndarray
        Interval for the density.
    score : np.ndarray
        Share of the population that lies in a place at most as dense: 0.01 says that one person in a hundred lies where
        it is as empty as here, or emptier. Small is unusual.
    anomalous : np.ndarray
        Whether the density lies below the threshold. Both are as noisy, so about the stated share of all people is
        called anomalous; fewer by random rows, as some of the population that explains them is made up in empty places.
    certain : np.ndarray
        Whether even the upper end of the interval lies below it, as it seldom does by noise alone. Where the threshold
        is not far above the noise, as at a small share, hardly any place can be called so.
    threshold : float
        The density below which a place counts as anomalous.
    """

    density: np.ndarray
    low: np.ndarray
    high: np.ndarray
    score: np.ndarray
    anomalous: np.ndarray
    certain: np.ndarray
    threshold: float


def score(
    release: Release,
    table: object,
    level: float = 0.95,
    threshold: float | None = None,
    seed: int = 0,
    share: float = SHARE,
) -> Scores:
    """Score points by how dense the released population is around them, and flag those in the emptiest places.

    The population is a synthetic one of ten thousand points that explains the release (`core.tasks.sampling.sample`),
    so a score is right as far as that population is; a release without a kernel is compared with draws from its
    smoothed density instead, which calls fewer places unusual. Nobody can make up sets of unknown items, so sets are
    compared with the others that are asked about.

    Parameters
    ----------
    release : Release
        Any release.
    table : object
        Points, as `Release.answer` takes them.
    level : float
        Probability with which each interval holds the exact density.
    threshold : float | None
        A density below which places are anomalous; by default the one that `share` of the population lies below.
    seed : int
        Of the synthetic population.
    share : float
        Of the population, whose emptiest places are anomalous: those that score at most so much.

    Raises
    ------
    RequestError
        When a point cannot be read, the threshold is not a number above zero, or the share not between 0 and 1.
    """
    if not 0.0 < check_number(share, "The share of the population") < 1.0:
        raise RequestError("The share of the population that is anomalous must lie strictly between 0 and 1.")
    if threshold is not None and check_number(threshold, "The density threshold") <= 0.0:
        raise RequestError("The density threshold must be above zero, as no density lies below that.")
    check_closeness(release, "measure of what is unusual")
    answers = release.answer(table, level)
    densities = np.sort(answers.density if release.domain.holds_sets else _population(release, seed))
    if threshold is None:
        # So a place lies below it exactly when its score is at most the share, whatever ties there are.
        threshold = float(densities[int(share * len(densities) + 1e-9)])
    high = answers.high / release.records
    return Scores(
        answers.density,
        answers.low / release.records,
        high,
        np.searchsorted(densities, answers.density, side="right") / len(densities),
        answers.density < threshold,
        high < threshold,
        threshold,
    )


def _population(release: Release, seed: int) -> np.ndarray:
    """Densities where the people of a synthetic population are."""
    people = sample(release, REFERENCE_POINTS, seed, sharpen=hasattr(release.sketch, "point_kernel")).points
    return release.answer(people).density
