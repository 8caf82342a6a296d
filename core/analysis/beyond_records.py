"""Conclusions beyond the records: what a release says of the population that they were drawn from at random.

A released answer is about the records, and its band is as long as noise makes it. Who asks about a larger population,
of which the records are a sample, has the luck of the draw besides, which is often the larger part. It needs no more
than the release itself: how far closeness varies from record to record is estimated on records that are made up from it
(`core.analysis.sampling`), and what noise leaves of counts says the rest (`core.sketches.answers.SamplingLuck`).

Meant is a simple random sample with replacement, or one so small beside its population that this makes no difference.
What is weighted, or drawn by groups other than the persons of the privacy unit, has other luck.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..errors import RequestError
from ..geometry.kernels import Kernel
from ..releases.release import Release
from ..runtime.parameters import check_number
from ..sketches.answers import SamplingLuck
from .sampling import sample

MADE_UP = 1_000  # Records that closeness is compared on.
AT_ONCE = 1 << 22  # Pairs of a place and a record that are compared at a time.
FEW = 0.02  # Closeness, as a share of the mean over all places, that weighs as much as the ratio over all of them.


@dataclass(frozen=True)
class DrawnAtRandom:
    """The population of which the records are a random sample."""

    luck: SamplingLuck

    def ratio(self, release: Release, points: np.ndarray, averaged: int = 1) -> float | np.ndarray:
        """The mean square of a record's closeness to encoded points over its mean, float64 (n,); at most 1.

        Where nothing can be made up from a release, it is taken to be 1, which makes bands a little long. Where points
        are ``averaged``, so many blocks of n of them follow each other, and closeness is the mean over the blocks.
        """
        kernel = _kernel(release)
        people = None if kernel is None else _made_up(replace(release, population=None))
        if kernel is None or people is None:
            return 1.0
        blocks = points.reshape(averaged, -1, points.shape[1])
        squares, sums = np.empty(blocks.shape[1]), np.empty(blocks.shape[1])
        step = max(1, AT_ONCE // len(people))
        for start in range(0, len(sums), step):
            some = [kernel.evaluate(np.asfortranarray(block[start : start + step]), people) for block in blocks]
            close = np.mean(some, axis=0)
            squares[start : start + step], sums[start : start + step] = (close**2).sum(axis=1), close.sum(axis=1)
        few = FEW * max(float(sums.mean()), 1e-300)
        return (squares + few * squares.sum() / max(float(sums.sum()), 1e-300)) / (sums + few)


def for_population(release: Release, alike: float = 1.0) -> Release:
    """The same release with bands for the population that its records were drawn from at random.

    Everything that asks it has the longer bands: sums, densities, pictures, counts, shares, means, quantiles and
    comparisons. A sum is then what a new draw of as many records would have on average.

    Parameters
    ----------
    alike : float
        Where a person has several records, the correlation of two records of one person, between 0 and 1; unless
        somebody knows better, they are taken to be all alike.

    Raises
    ------
    RequestError
        When the release is of distances or of products, which do not tell how far records vary.
    """
    alike = check_number(alike, "How alike the records of one person are")
    if not 0.0 <= alike <= 1.0:
        raise RequestError("How alike the records of one person are is a correlation between 0 and 1.")
    for one in release.parts.values() or (release,):
        if one.sketch.asked_for not in ("places", "tables") or one.sketch.answers != "closeness":
            raise RequestError(
                f"A release of {one.sketch.name} says nothing of the population that its records were drawn from, as "
                "it does not tell how far they vary; tables and densities do."
            )
    design = 1.0 + (release.domain.unit.records - 1) * alike
    return replace(release, population=DrawnAtRandom(SamplingLuck(design)))


@lru_cache(maxsize=16)
def _made_up(release: Release) -> np.ndarray | None:
    """Encoded records made up from a release; None where there are none."""
    if release.domain.holds_sets:
        return None
    try:
        drawn = sample(release, MADE_UP).points
        return release.sketch.query_domain.encode_queries(drawn, release.sketch.metric)
    except RequestError:  # noise drowns everything, or it cannot be drawn from
        return None


def _kernel(release: Release) -> Kernel | None:
    """What closeness is, point by point; None where a mechanism has no kernel."""
    return getattr(release.sketch, "point_kernel", None) or getattr(release.sketch, "kernel", None)
