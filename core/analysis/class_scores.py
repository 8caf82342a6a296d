"""What a release says about each class at a place, on a scale where more is better, and how far noise moves it.

Every rule of decision is a score a class and the class of the highest score:

likelihood   average closeness of a class's records (RACE as a density: Coleman, Shrivastava, CCS 2021, section 4)
posterior    closeness of all of a class's records together, which is the average times how frequent the class is; where
             the kernel is wider than the classes lie apart, averages hardly differ and the largest class always wins
distance     average distance from a class's records, less is better (Backurs et al., ICLR 2024, section 1)
mean         squared distance from the mean of a class's records, less is better
discriminant log of how likely a class is by the distance from its mean and by how frequent it is (Fisher 1936)
direction    cosine between a place and the mean direction of a class's records

The last three are nearest means: they ask what a class's records are on average. Sums of vectors
(`core.sketches.moments`, `core.sketches.directions`) know the mean of every class up to noise. The
noise moves every mean, and makes it look longer than it is: on average a squared length grows by the variance of the
noise in all coordinates together, which is known and taken off.
"""

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import log_ndtr

from ..errors import RequestError
from ..releases.forecast.reference_population import DEFAULT_SPREAD
from ..releases.release import Release
from ..runtime.parameters import check_choice
from ..sketches.ball import SHORTEST, row_products
from ..sketches.classes import Classes
from ..sketches.directions import Directions
from ..sketches.moments import Moments


def direction_scores(
    sketch: Directions, tables: np.ndarray, counter_variance: float, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cosines with the mean direction of every class, and the variance that noise gives them; float64 (n, K) each.

    Noise e in a sum S of d coordinates, of variance v each, moves the cosine c = <q, S>/|S| by <q - c S/|S|, e>/|S|:
    a variance of v (1 - c^2) / |S|^2. What the squared length with its noise is off by, 2 d v^2 and more, adds
    c^2 d v^2 / (2 |S|^4).

    `tables`: Noisy sums, int64 (K, dimensions). `points`: Encoded places, float32 or float64 (n, d); scores are not
    finite where they are not.
    """
    lengths = np.array([max(sketch.length(table, counter_variance), 1e-9) for table in tables])
    cosines = sketch.cosine_sums(tables, points) / lengths
    noise = np.asarray(sketch.noise_variance(counter_variance, points))[:, None] / lengths**2
    squares = np.minimum(cosines**2, 1.0)
    return cosines, noise * (1.0 - squares) + squares * sketch.dimensions * noise**2 / 2.0


SQUARE_SPREAD = {"discrete_gaussian": 2.0, "rounded_l2": 4.0, "discrete_laplace": 5.0, "shared_laplace": 5.0}
"""Variance of the squared length of noise, divided by its dimensions and its squared variance a coordinate.

Independent coordinates with fourth moment k v^2 have k - 1. A vector of d coordinates and density exp(-|z|/b) has
E|z|^2 = d (d+1) b^2 and E|z|^4 = d (d+1) (d+2) (d+3) b^4, so its square varies by 4 d v^2, and a little more.
"""


def mean_scores(
    sketch: Moments,
    tables: np.ndarray,
    numbers: np.ndarray,
    counter_variance: float,
    points: np.ndarray,
    square_spread: float = SQUARE_SPREAD["discrete_gaussian"],
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances to the mean of every class, with a minus, and the variance that noise gives them.

    With mean m + e and independent errors e of variance v in d coordinates, ||q - m - e||^2 - d v is unbiased and has
    variance 4 v ||q - m||^2 + s d v^2, s the spread of the noise's squares.

    `numbers`: float64 (K,), the number of records of every class as well as it is known. `square_spread`: Of the
    noise's distribution.
    """
    means = np.array([sketch.moments(table)[1] / number for table, number in zip(tables, numbers, strict=True)])
    noise, d = sketch.sum_variance(counter_variance) / np.asarray(numbers) ** 2, means.shape[1]
    # |q - m|^2 as |q|^2 - 2 <q, m> + |m|^2: the places are read once for all classes.
    products, squares = row_products(points, sketch.origin, means)
    distance = squares[:, None] - 2.0 * products + np.einsum("kj,kj->k", means, means) - d * noise
    return -distance, 4.0 * noise * np.maximum(distance, 0.0) + square_spread * d * noise**2


TRIED, NARROWEST = 129, 1e-8  # Spreads of the means that are tried, down to which share of the widest.
LEAST_WITHIN = 0.05  # Of the variance of all records, what is at least within classes.
# Standard errors below zero at which the expectation, about one error divided by as many, would lose its digits.
FAR_BELOW = -1e4
SEEN = 3.0  # Standard errors from which the number of records of a class is told from none.


def non_negative(value: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Expectation of a number that is not negative, given it plus normal noise: value + deviation * phi(z) / Phi(z)."""
    deviation = np.maximum(deviation, np.finfo(float).tiny)
    z = np.maximum(value / deviation, FAR_BELOW)
    hazard = np.exp(-0.5 * z**2 - log_ndtr(z)) / np.sqrt(2.0 * np.pi)
    return deviation * (z + hazard)


@dataclass(frozen=True)
class Held:
    """What is known of how many records the classes have."""

    # float64 (K,): the numbers that means are made with, and how far one may be off.
    number: np.ndarray
    variance: float
    # float64 (K,): what to expect of each number by its noisy count alone, and the variance of that count.
    expected: np.ndarray
    noise: float
    counter: float  # Variance of the noise in one counter.


def discriminant_scores(
    sketch: Moments, tables: np.ndarray, held: Held, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log of how likely every class is at a place, up to what all share, and the variance that noise gives it.

    Fisher's linear discriminant for classes that scatter alike in all directions, with variance s: log n_k less
    |q - m_k|^2 / 2s, where 2 sqrt(d) coordinates count in place of d, as coordinates depend on each other (see
    `core.analysis.classification`). The mean m_k is not known: noise and few records give it a variance t_k a
    coordinate. So it is moved towards the mean of all means, the farther the less is known of it: with b the variance
    of the true means a coordinate, by Paule and Mandel (1982), m_k keeps the share c_k = b/(b + t_k) of its distance.
    Nothing is taken off for the noise that is left in |m_k|^2: c_k^2 d (b + t_k) = c_k d b is what halves the way
    between the projections of classes. A class whose mean the noise hides so can win only where it is frequent, and
    where all are hidden the largest wins everywhere. All of it is post-processing.

    `sketch`, `tables`, `points`: As in `mean_scores`. `held`: How many records the classes have.
    """
    numbers, d, classes = held.number, points.shape[1], len(tables)
    _, firsts, seconds = zip(*(sketch.moments(table) for table in tables), strict=True)
    means, everyone = np.array(firsts) / numbers[:, None], numbers.sum()
    middle = np.sum(firsts, axis=0) / everyone
    # How widely everyone is spread, as measured and as anybody would guess, each by how far it may be off.
    low, high = sketch.domain.bounds(sketch.metric)
    guess = min(float(np.mean((DEFAULT_SPREAD * (high - low)) ** 2)), sketch.radius**2 / (4.0 * d))
    noise = sketch.sum_variance(held.counter)
    measured = (sum(seconds) / everyone - middle @ middle) / d + classes * noise / everyone**2
    off = sketch.squares_variance(held.counter) * classes / (everyone * d) ** 2
    sure = guess**2 / (guess**2 + off)
    spread = max(sure * measured + (1.0 - sure) * guess, guess / 1e4)
    # How well every mean is known, and how far the true ones lie apart.
    gram = means @ means.T
    unknown = (noise + np.diag(gram) / d * held.variance) / numbers**2 + spread / numbers
    between, weights = _spread_of_means(gram, unknown, d, sketch.radius**2)
    kept = between / (between + unknown) if between else np.zeros(classes)
    common = weights @ means
    moved = common + kept[:, None] * (means - common)
    shares = held.expected / held.expected.sum()
    apart = float(shares @ ((moved - shares @ moved) ** 2).sum(axis=1)) / d
    within = max(spread - apart, LEAST_WITHIN * spread)
    scale = min(1.0, 2.0 / math.sqrt(d)) / within
    products, squares = row_products(points, sketch.origin, moved)
    short = np.minimum(1.0, sketch.radius / np.sqrt(np.maximum(squares, SHORTEST)))  # as records were
    products, squares = products * short[:, None], squares * short**2
    lengths = np.einsum("kj,kj->k", moved, moved)
    value = np.log(shares) + scale * (products - 0.5 * lengths)
    distance = np.maximum(squares[:, None] - 2.0 * products + lengths, 0.0)
    return value, (scale * kept) ** 2 * (unknown - spread / numbers) * distance + held.noise / held.expected**2


def _spread_of_means(gram: np.ndarray, unknown: np.ndarray, d: int, widest: float) -> tuple[float, np.ndarray]:
    """The variance b of the true means a coordinate, and the weights of the mean of all means, float64 (K,).

    At the right b the squared distances from that mean, divided by d (b + t_k), add up to K - 1; they fall as b grows.
    """
    tried = np.concatenate([np.geomspace(widest, widest * NARROWEST, TRIED - 1), [0.0]])
    known = 1.0 / (tried[:, None] + unknown)
    weights = known / known.sum(axis=1, keepdims=True)
    products = weights @ gram
    distance = np.diag(gram) - 2.0 * products + (weights * products).sum(axis=1, keepdims=True)
    enough = (known * distance).sum(axis=1) / d >= len(gram) - 1
    place = int(enough.argmax()) if enough.any() else TRIED - 1
    return float(tried[place]), weights[place]


@dataclass(frozen=True)
class Scores:
    """Scores of K classes at n places; arrays (n, K)."""

    # Closeness of the class, or its distance with a minus: the class of the largest value is the answer.
    value: np.ndarray
    variance: np.ndarray  # That the noise of the release gives each value; independent from class to class.


def classes_of(release: Release) -> Classes:
    """The release's sketch, which must have classes; RequestError otherwise."""
    if not release.sketch.classes:
        raise RequestError("The release tells no classes apart: it was made without a column of classes.")
    return cast(Classes, release.sketch)


def rules_of(sketch: Classes) -> tuple[str, ...]:
    """The rules that suit a sketch with classes, the usual one first."""
    return sketch.class_rules


def checked_rule(release: Release, rule: str | None) -> str:
    """The rule that is meant: the usual one for the release when None."""
    rules = rules_of(classes_of(release))
    if rule is None:
        return rules[0]
    check_choice(rule, f"The rule for a release of the mechanism {release.sketch.one_answer[0].name!r}", rules)
    return rule


def class_scores(release: Release, points: np.ndarray, rule: str) -> Scores:
    """Scores of every class at encoded points.

    The noise of a sum is that of its counters. An average is a sum divided by a number of records that is noisy itself:
    to first order its variance is (v + r^2 w) / N^2, with v and w the variances of the sum and of the number N, and r
    the average.

    `points`: float64 (n, dimensions), in the release's `query_domain`.
    """
    sketch = classes_of(release)
    counter = release.privacy.counter_variance
    if rule == "direction":
        return Scores(*direction_scores(cast(Directions, sketch.inner), release.counters, counter, points))
    if rule == "discriminant":
        sizes = class_sizes(release)
        expected = non_negative(sizes.noisy, np.full(len(sizes.noisy), release.count_error))
        held = Held(sizes.number, sizes.variance, expected, release.count_error**2, counter)
        return Scores(*discriminant_scores(cast(Moments, sketch.inner), release.counters, held, points))
    if rule == "mean":
        numbers, spread = class_sizes(release).number, max(SQUARE_SPREAD[n.distribution] for n in release.privacy.noise)
        return Scores(*mean_scores(cast(Moments, sketch.inner), release.counters, numbers, counter, points, spread))
    return scores_of_sums(release, *class_sums(release, points), rule)


def class_sums(release: Release, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the records of each class at encoded points, and the variance of their noise, float64 (n, K) each."""
    sketch, counter = classes_of(release), release.privacy.counter_variance
    sums = np.column_stack(
        [
            sketch.inner.answer(slab, float(records), points, counter, 0.95).estimate
            for slab, records in zip(release.counters, release.counts, strict=True)
        ]
    )
    variance = np.asarray(sketch.inner.noise_variance(counter, points))[:, None]
    return sums, np.broadcast_to(variance, sums.shape)


def scores_of_sums(release: Release, sums: np.ndarray, variance: np.ndarray, rule: str) -> Scores:
    """The scores that sums over the records of each class make, float64 (n, K), and the variance of their noise."""
    if rule == "posterior":
        return Scores(sums, variance)
    sizes = class_sizes(release)
    number = sizes.number
    if rule == "likelihood":
        # Noise divided by hardly anything would win everywhere: a class that may have no records is taken for as
        # frequent as the largest, so that it has to be close to more of them.
        number = np.where(sizes.seen, number, number.max())
    average = sums / number
    variance = (variance + average**2 * sizes.variance) / number**2
    return Scores(-average if rule == "distance" else average, variance)


@dataclass(frozen=True)
class Sizes:
    """How many records the classes have."""

    noisy: np.ndarray  # float64 (K,), as they were released.
    number: np.ndarray  # float64 (K,), at least 1 each, moved towards their mean.
    # Of what the noise leaves unknown of how far a number is from their mean; what it moves all of them by changes no
    # comparison.
    variance: float
    seen: np.ndarray  # bool (K,), whether noise leaves no doubt that the class has records.


def class_sizes(release: Release) -> Sizes:
    """Numbers of records, moved towards their mean as far as noise is what sets them apart.

    An average divides by a number: where noise alone may have halved it, the class would seem twice as close
    everywhere. Noisy numbers that differ by no more than their noise are best taken as equal (empirical Bayes; Efron,
    Morris 1973); without noise, or for numbers that clearly differ, nothing changes.
    """
    noise = release.count_error**2
    known = np.asarray(
        release.sketch.total(release.counters) if release.counted is None else release.counted, np.float64
    )
    scatter = float(np.var(known, ddof=1))
    kept = 1.0 - noise / scatter if scatter > noise else 0.0
    middle = known.mean()
    number = np.maximum(middle + kept * (known - middle), 1.0)
    return Sizes(known, number, kept * noise, known > SEEN * release.count_error)
