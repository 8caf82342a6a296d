"""How uncertain an answer is: outcomes that are equally likely, and independent estimates out of one release.

People read chances off countable outcomes better than off error bars (Kay, Kola, Hullman, Munson, CHI 2016).

Searches need independent estimates as judges, and averages need them for an error. Grouped sketches are made of them. A
table that is not (a histogram, a tree of distances) is split by its noise instead: with T the released table, Z_k fresh
noise of the same law and Z their mean, T_k = T + sqrt(K) (Z_k - Z). The noise of T_k has K times the variance, the
covariance of two of them is v + K v (0 - 1/K) = 0, and their mean is T again (data thinning; Neufeld, Dharamshi, Gao,
Witten 2024). Gaussian noises that are uncorrelated are independent; Laplace noises are nearly so once an answer adds up
some counters. All of it is post-processing, with a public seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from scipy.special import stdtrit

from ..checks import check_integer
from ..errors import RequestError
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import SeededSource
from ..releases.release import Release
from ..sketches.answers import Answers
from ..sketches.grouped import GroupedSketch
from .answerable import check_one_population

ROOT = 3
PARTS = ROOT * ROOT  # K, a square, so that whole numbers stay whole.
SEED = 2  # Public seed of the splitting noise.


@dataclass(frozen=True, eq=False)
class Splitting:
    """Independent, equally distributed estimates of what a release answers."""

    release: Release

    @property
    def grouped(self) -> bool:
        """Whether the sketch itself is made of independent groups, whose spread shows all of the error."""
        return self.release.sketch.in_groups

    @property
    def readings(self) -> int:
        """How often a table is read for estimates and their error."""
        return 1 if self.grouped else PARTS + 2

    def estimates(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimates at encoded points (n, d), float64 (G, n), and the weights (G,) with which they make the answer."""
        release = self.release
        if self.grouped:
            return cast(GroupedSketch, release.sketch).group_estimates(release.counters, release.records, points)
        variance = PARTS * release.privacy.counter_variance
        return release.sketch.estimates(self._tables, release.counts, points, variance), np.full(PARTS, 1.0 / PARTS)

    def mean(self, points: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The mean of the chosen estimates, bool (G,), at encoded points (n, d), float64 (n,)."""
        if self.grouped:
            estimates, weights = self.estimates(points)
            return weights[chosen] @ estimates[chosen] / weights[chosen].sum()
        key = chosen.tobytes()
        if key not in self._means:
            tables = [table for table, wanted in zip(self._tables, chosen, strict=True) if wanted]
            self._means[key] = np.rint(np.mean(tables, axis=0)).astype(np.int64)
        release, variance = self.release, PARTS / chosen.sum() * self.release.privacy.counter_variance
        return release.sketch.estimates((self._means[key],), release.counts, points, variance)[0]

    def unseen_variance(self, points: np.ndarray) -> np.ndarray:
        """Variance of the answers that the spread of the estimates does not show, float64 (n,): that of a grid, say."""
        if self.grouped:
            return np.zeros(len(points))
        variance = self.release.privacy.counter_variance
        noise = self.release.sketch.noise_variance(variance, points)
        return np.maximum(self.release.answer_points(points).standard_error ** 2 - noise, 0.0)

    @cached_property
    def _means(self) -> dict[bytes, np.ndarray]:
        """Means of chosen parts, as an answer is linear in the table: one reading in place of many."""
        return {}

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        """The parts T_k, int64; the last one makes up for what the others were rounded by."""
        table = self.release.counters
        source = SeededSource(SEED)
        noises = [like_noise(self.release, source) for _ in range(PARTS)]
        mean = np.rint(np.mean(noises, axis=0)).astype(np.int64)
        parts = [table + ROOT * (noise - mean) for noise in noises[:-1]]
        return [*parts, PARTS * table - np.sum(parts, axis=0)]


def like_noise(release: Release, source: SeededSource) -> np.ndarray:
    """Fresh noise of the law that the release's table has, int64 of its shape.

    What local reports leave is a sum over thousands of people, which is normal as nearly as matters here.
    """
    noise = np.zeros_like(release.counters)
    for scale in release.privacy.noise:
        law = NoiseScale("discrete_gaussian", scale.parameter) if scale.local else scale
        noise = add_noise(noise, law, source)
    return noise


MOST_OUTCOMES = 10_000


def quantile_dots(answers: Answers, index: int, count: int = 50) -> np.ndarray:
    """Equally likely values of one exact sum, given what the release says: quantiles at (i - 1/2) / count.

    The estimate less the exact sum, in standard errors, follows Student's t (the normal distribution where the error
    is known and not measured); so the exact sum is the estimate plus as many standard errors, and the interval of
    `Answers` at 95% holds 95% of a great many dots.

    Returns
    -------
    np.ndarray
        float64 (count,), increasing: sums, as the answers are.

    Raises
    ------
    RequestError
        When there is no such query, or a single group of rows leaves the error unknown.
    """
    check_integer(count, "The number of outcomes", 1, MOST_OUTCOMES)
    check_integer(index, "The query", 0, len(answers.estimate) - 1)
    if answers.degrees < 1:
        raise RequestError("A release with a single group of rows does not know its own error.")
    steps = stdtrit(answers.degrees, (np.arange(count) + 0.5) / count)
    return answers.estimate[index] + answers.standard_error[index] * steps


def possible_releases(release: Release, queries: object, count: int = 50, seed: int = 0) -> np.ndarray:
    """How the same answers might have come out, had hashes and noise been drawn again; nothing private is touched.

    Each outcome shifts the groups of rows by independent normal numbers along their own deviations from the mean, so it
    varies as the estimates do, and answers that move together in truth move together here (a multiplier bootstrap;
    Chernozhukov, Chetverikov, Kato 2013). Its scale is drawn from the inverse chi distribution, as the spread of a few
    groups is itself uncertain: each answer by itself follows Student's t around the estimate.

    Returns
    -------
    np.ndarray
        float64 (count, n): sums, as the answers are.

    Raises
    ------
    RequestError
        When a query cannot be read, or a single group of rows leaves the error unknown.
    """
    check_integer(count, "The number of outcomes", 1, MOST_OUTCOMES)
    check_integer(seed, "The seed", 0, (1 << 63) - 1)
    check_one_population(release)
    points = release.domain.encode_queries(queries, release.sketch.metric)
    estimates, weights = Splitting(release).estimates(points)
    degrees = len(weights) - 1
    if not degrees:
        raise RequestError("A release with a single group of rows does not know its own error.")
    random = np.random.default_rng(seed)
    mean = weights @ estimates
    deviations = np.sqrt(weights / degrees)[:, None] * (estimates - mean)
    scale = np.sqrt(degrees / random.chisquare(degrees, size=(count, 1)))
    return mean + scale * (random.standard_normal((count, len(weights))) @ deviations)
