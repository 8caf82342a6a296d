"""What a release says about each class at a place, on a scale where more is better, and how far noise moves it.

Every rule of decision is a score a class and the class of the highest score:

likelihood   average closeness of a class's records (RACE as a density: Coleman, Shrivastava, CCS 2021, section 4)
posterior    closeness of all of a class's records together, which is the average times how frequent the class is; where
             the kernel is wider than the classes lie apart, averages hardly differ and the largest class always wins
distance     average distance from a class's records, less is better (Backurs et al., ICLR 2024, section 1)
mean         squared distance from the mean of a class's records, less is better
direction    cosine between a place and the mean direction of a class's records

The last two are the nearest mean: they ask what a class's records are on average. Sums of vectors
(`core.sketches.distances.moments`, `core.sketches.distances.directions`) know the mean of every class up to noise. The
noise moves every mean, and makes it look longer than it is: on average a squared length grows by the variance of the
noise in all coordinates together, which is known and taken off.


"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ..checks import check_choice
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.classes import Classes
from ..sketches.distances.directions import Directions
from ..sketches.distances.moments import Moments
from ..sketches.distances.row_products import row_products


def direction_scores(
    sketch: Directions, tables: np.ndarray, counter_variance: float, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cosines with the mean direction of every class, and the variance that noise gives them; float64 (n, K) each.

    Noise e in a sum S of d coordinates, of variance v each, moves the cosine c = <q, S>/|S| by <q - c S/|S|, e>/|S|:
    a variance of v (1 - c^2) / |S|^2. What the squared length with its noise is off by, 2 d v^2 and more, adds
    c^2 d v^2 / (2 |S|^4).

    Parameters
    ----------
    sketch : Directions
        Of one class.
    tables : np.ndarray
        Noisy sums, int64 (K, dimensions).
    counter_variance : float
        Of the noise in one counter.
    points : np.ndarray
        Encoded places, float32 or float64 (n, d); scores are not finite where they are not.
    """
    lengths = np.array([max(sketch.length(table, counter_variance), 1e-9) for table in tables])
    cosines = sketch.cosine_sums(tables, points) / lengths
    noise = np.asarray(sketch.noise_variance(counter_variance, points))[:, None] / lengths**2
    squares = np.minimum(cosines**2, 1.0)
    return cosines, noise * (1.0 - squares) + squares * sketch.dimensions * noise**2 / 2.0


SQUARE_SPREAD = {"discrete_gaussian": 2.0, "rounded_l2": 4.0, "discrete_laplace": 5.0}
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

    Parameters
    ----------
    sketch, tables, counter_variance, points : Moments, np.ndarray, float, np.ndarray
        As in `direction_scores`.
    numbers : np.ndarray
        float64 (K,), the number of records of every class as well as it is known.
    square_spread : float
        Of the noise's distribution.
    """
    means = np.array([sketch.moments(table)[1] / number for table, number in zip(tables, numbers, strict=True)])
    noise, d = sketch.sum_variance(counter_variance) / np.asarray(numbers) ** 2, means.shape[1]
    # |q - m|^2 as |q|^2 - 2 <q, m> + |m|^2: the places are read once for all classes.
    products, squares = row_products(points, sketch.origin, means)
    distance = squares[:, None] - 2.0 * products + np.einsum("kj,kj->k", means, means) - d * noise
    return -distance, 4.0 * noise * np.maximum(distance, 0.0) + square_spread * d * noise**2


SEEN = 3.0
"""Standard errors from which the number of records of a class is told from none."""


@dataclass(frozen=True)
class Scores:
    """Scores of K classes at n places; arrays (n, K).

    Attributes
    ----------
    value : np.ndarray
        Closeness of the class, or its distance with a minus: the class of the largest value is the answer.
    variance : np.ndarray
        That the noise of the release gives each value; independent from class to class.
    """

    value: np.ndarray
    variance: np.ndarray


def classes_of(release: Release) -> Classes:
    """The release's sketch, which must have classes; RequestError otherwise."""
    if not release.sketch.classes:
        raise RequestError("The release tells no classes apart: it was made without a column of classes.")
    return cast(Classes, release.sketch)


def rules_of(sketch: Classes) -> tuple[str, ...]:
    """The rules that suit a sketch with classes, the usual one first."""
    return sketch.class_rules


def checked_rule(release: Release, rule: str | None) -> str:
    """The rule that is meant: the usual one for the release when None.

    Raises
    ------
    RequestError
        When the rule does not suit the release.
    """
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

    Parameters
    ----------
    release : Release
        With classes.
    points : np.ndarray
        float64 (n, dimensions), in the release's `query_domain`.
    rule : str
        A rule that suits the release.
    """
    sketch = classes_of(release)
    counter = release.privacy.counter_variance
    if rule == "direction":
        return Scores(*direction_scores(cast(Directions, sketch.inner), release.counters, counter, points))
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
    """How many records the classes have.

    Attributes
    ----------
    number : np.ndarray
        float64 (K,), at least 1 each.
    variance : float
        Of what the noise leaves unknown of how far a number is from their mean; what it moves all of them by changes no
        comparison.
    seen : np.ndarray
        bool (K,), whether noise leaves no doubt that the class has records.
    """

    number: np.ndarray
    variance: float
    seen: np.ndarray


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
    return Sizes(number, kept * noise, known > SEEN * release.count_error)
