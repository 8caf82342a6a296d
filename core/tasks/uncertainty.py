"""What an answer may be in truth, and how it might have come out: both as outcomes that are equally likely.

People read chances off countable outcomes better than off error bars (Kay, Kola, Hullman, Munson, CHI 2016).
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from ..checks import check_integer
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.answers import Answers
from .answerable import check_one_population
from .splitting import Splitting

MOST_OUTCOMES = 10_000


def quantile_dots(answers: Answers, index: int, count: int = 50) -> np.ndarray:
    """Equally likely values of one exact sum, given what the release says: quantiles at (i - 1/2) / count.

    The estimate less the exact sum, in standard errors, follows Student's t (the normal distribution where the error
    is known and not measured); so the exact sum is the estimate plus as many standard errors, and the interval of
    `Answers` at 95% holds 95% of a great many dots.

    Parameters
    ----------
    answers : Answers
        Of a release.
    index : int
        Which of its queries.
    count : int
        How many outcomes.

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

    Parameters
    ----------
    release : Release
        Any release of one population; of a grouped sketch, with two groups of rows or more.
    queries : object
        As `Release.answer` takes them; n of them.
    count : int
        How many outcomes.
    seed : int
        The same seed gives the same outcomes.

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
