"""How unusual points are: a place that few people of a release are close to is an anomaly (CCS 2021, section 4)."""

import math
from dataclasses import dataclass

import numpy as np

from ..errors import RequestError
from ..releases.release import Release
from ..runtime.parameters import check_number
from ..sketches.linear import LinearSketch
from .answerable import check_closeness
from .sampling import sample

REFERENCE_POINTS = 10_000  # Synthetic people with whom a place is compared; a score is a multiple of one in so many.
SURE = 5.0  # Standard errors that the average closeness of two people must be above zero to say how many are made up.
# The largest table that a synthetic population is counted in, to be compared with the released one.
MOST_COUNTERS = 1 << 25
PAIRED = 1_000  # Synthetic people whose exact average closeness is taken, to as many others.
SHARE = 0.05  # The share of the population that is called anomalous unless said otherwise: the emptiest one in twenty.


@dataclass(frozen=True)
class AnomalyScores:
    """What a release says about n points; arrays (n,)."""

    density: np.ndarray  # Average closeness of a record to the point, about 0 to 1.
    low: np.ndarray
    high: np.ndarray
    # Share of the population that lies in a place at most as dense: 0.01 says that one person in a hundred lies where
    # it is as empty as here, or emptier. Small is unusual.
    score: np.ndarray
    # Whether the density lies below the threshold. Both are as noisy, so about the stated share of all people is called
    # anomalous.
    anomalous: np.ndarray
    # Whether even the upper end of the interval lies below it, as it seldom does by noise alone. Where the threshold is
    # not far above the noise, as at a small share, hardly any place can be called so.
    certain: np.ndarray
    threshold: float  # The density below which a place counts as anomalous.


def score(
    release: Release,
    table: object,
    level: float = 0.95,
    threshold: float | None = None,
    seed: int = 0,
    share: float = SHARE,
    population: np.ndarray | None = None,
) -> AnomalyScores:
    """Score points by how dense the released population is around them, and flag those in the emptiest places.

    The population is a synthetic one of ten thousand points that explains the release
    (`core.analysis.sampling.sample`), so a score is right as far as that population is. Noise makes some of it up in
    empty places: as far as a release of random rows tells how close two of its own people are on average, the emptiest
    are left out until the others are as close. In made-up crowds of 2 to 8 columns .03 to .07 of all were then called
    anomalous where .05 were asked for. A release without a kernel is compared with draws from its smoothed density
    instead, which calls fewer places unusual. Nobody can make up sets of unknown items, so sets are compared with the
    others that are asked about.

    `level`: Probability with which each interval holds the exact density. `threshold`: A density below which places are
    anomalous; by default the one that `share` of the population lies below. `share`: Of the population, whose emptiest
    places are anomalous: those that score at most so much. `population`: What `synthetic_population` returns for the
    seed, where it is at hand: to make it takes seconds.
    """
    if not 0.0 < check_number(share, "The share of the population") < 1.0:
        raise RequestError("The share of the population that is anomalous must lie strictly between 0 and 1.")
    if threshold is not None and check_number(threshold, "The density threshold") <= 0.0:
        raise RequestError("The density threshold must be above zero, as no density lies below that.")
    check_closeness(release, "measure of what is unusual")
    answers = release.answer(table, level)
    if release.domain.holds_sets:
        population = np.sort(answers.density)
    densities = synthetic_population(release, seed) if population is None else population
    if threshold is None:
        # So a place lies below it exactly when its score is at most the share, whatever ties there are.
        threshold = float(densities[int(share * len(densities) + 1e-9)])
    high = answers.high / release.records
    return AnomalyScores(
        answers.density,
        answers.low / release.records,
        high,
        np.searchsorted(densities, answers.density, side="right") / len(densities),
        answers.density < threshold,
        high < threshold,
        threshold,
    )


def synthetic_population(release: Release, seed: int = 0) -> np.ndarray:
    """Densities where the people of a synthetic population are, in ascending order; see `score`."""
    return np.sort(_population(release, seed))


def _population(release: Release, seed: int) -> np.ndarray:
    """Densities where the people of a synthetic population are, without most of those that only explain noise.

    How close two of a release's own people are on average says how many to leave out. What a table tells of that is a
    little off, such as by the harmonics of its waves, and as much so for the people who are left, whose average is
    known: so they are chosen once more.
    """
    sharpen = hasattr(release.sketch, "point_kernel")
    # A lattice has too few people in the emptiest places: of a stated 5% of everyone it made 11%.
    made_up = sample(release, REFERENCE_POINTS, seed, sharpen=sharpen, lattice=False).points
    people = release.domain.encode_queries(made_up, release.sketch.metric)
    density = release.estimates_at(people) / max(release.records, 1.0)
    order = np.argsort(-density, kind="stable")
    people, density = np.asfortranarray(people[order]), density[order]
    sketch, variance = release.sketch, release.privacy.counter_variance
    if math.prod(sketch.shape) > MOST_COUNTERS:
        return density
    told = sketch.crowding(release.counters, release.records, variance, people)
    if told is None or told[0] < SURE * told[1]:
        return density
    kept = np.asfortranarray(people[: crowded(density, told[0])])
    return density[: crowded(density, told[0] * _exact_to_told(sketch, kept))]


def _exact_to_told(sketch: LinearSketch, people: np.ndarray) -> float:
    """The average closeness of known people, encoded (n, d), over what their own table tells of it."""
    table = sketch.zeros()
    sketch.add(table, people)
    told = sketch.crowding(table, len(people), 0.0, people)
    every = np.random.default_rng(0).permutation(len(people))
    one, other = (np.asfortranarray(people[every[start::2][:PAIRED]]) for start in (0, 1))
    return 1.0 if told is None else float(sketch.exact(one, other).mean()) / len(other) / told[0]


def crowded(density: np.ndarray, average: float) -> int:
    """How many of a population, whose densities descend, to keep so that these average so much; half of it at least.

    What is made up to explain noise lies where hardly anyone is, and adds next to nothing to the average.
    """
    averages = np.cumsum(density) / np.arange(1.0, len(density) + 1.0)
    return max(int(np.searchsorted(-averages, -average, side="right")), len(density) // 2)
