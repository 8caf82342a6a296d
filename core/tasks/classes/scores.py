"""What a release says about each class at a place, on a scale where more is better, and how far noise moves it.

Every rule of decision is a score a class and the class of the highest score:

likelihood   average closeness of a class's records (RACE as a density: Coleman, Shrivastava, CCS 2021, section 4)
posterior    closeness of all of a class's records together, which is the average times how frequent the class is; where
             the kernel is wider than the classes lie apart, averages hardly differ and the largest class always wins
distance     average distance from a class's records, less is better (Backurs et al., ICLR 2024, section 1)
mean         squared distance from the mean of a class's records, less is better
direction    cosine between a place and the mean direction of a class's records
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ...checks import check_choice
from ...errors import RequestError
from ...releases.release import Release
from ...sketches.classes import Classes
from ...sketches.distances.directions import Directions
from ...sketches.distances.moments import Moments
from .means import SQUARE_SPREAD, direction_scores, mean_scores

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
