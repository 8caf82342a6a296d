"""What ε does: fifty releases of the same made-up crowd that could come out, all equally likely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...geometry.hashing.uniforms import PublicRandom
from ...geometry.kernels import Laplacian
from ...privacy.budget import Budget
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import SeededSource
from ...sketches.grids.histogram import Histogram
from ...sketches.plan import plan

RELEASES = 50
LATEST = 24.0
"""The crowd arrives during a day, from hour 0 to this."""
BUMPS = ((8.0, 1.1, 0.55), (17.5, 1.8, 0.45))
"""When the made-up people arrive: the middle of a bump and its spread in hours, and its share of the people."""
BANDWIDTH = 1.5
CELLS = 64
PLACES = 97
"""Times at which a release is asked: every quarter of an hour."""
NEARBY = 1.0
"""Hours within which a peak counts as found."""
LARGEST_CROWD = 100_000


@dataclass(frozen=True)
class Outcomes:
    """Releases that could come out.

    Attributes
    ----------
    hours : np.ndarray
        float64 (PLACES,).
    exact : np.ndarray
        float64 (PLACES,), how many people's worth of closeness there is really.
    releases : np.ndarray
        float64 (RELEASES, PLACES), the same as fifty releases say it.
    """

    hours: np.ndarray
    exact: np.ndarray
    releases: np.ndarray

    @property
    def peak(self) -> float:
        """The hour at which most people are."""
        return float(self.hours[self.exact.argmax()])

    @property
    def peaks(self) -> np.ndarray:
        """The hour at which each release has most people, float64 (RELEASES,)."""
        return self.hours[self.releases.argmax(axis=1)]

    @property
    def kept(self) -> int:
        """In how many releases the peak is where it is, within an hour."""
        return int((np.abs(self.peaks - self.peak) <= NEARBY).sum())

    @property
    def at_peak(self) -> np.ndarray:
        """What each release says of the busiest hour, float64 (RELEASES,)."""
        return self.releases[:, self.exact.argmax()]

    @property
    def error(self) -> float:
        """Standard deviation of an answer from the truth over all releases and hours, in people."""
        return float(np.sqrt(np.mean((self.releases - self.exact) ** 2)))


def crowd(people: int) -> np.ndarray:
    """The hours at which made-up people arrive, float64 (people, 1) in order of their draw; the same every time."""
    uniforms = PublicRandom(0, 40).uniforms(LARGEST_CROWD, 2)[:people]
    early = uniforms[:, 0] < BUMPS[0][2]
    middle, spread = (np.where(early, first, second) for first, second in zip(BUMPS[0][:2], BUMPS[1][:2], strict=True))
    return np.asfortranarray(np.clip(middle + spread * ndtri(uniforms[:, 1]), 0.0, LATEST)[:, None])


@lru_cache(maxsize=8)
def _counted(people: int) -> tuple[Histogram, np.ndarray, np.ndarray, np.ndarray]:
    """The sketch, its exact table, the hours that are asked and the exact sums there; all of it made up, so public."""
    sketch = Histogram(Domain.of(hour=(0, LATEST)), Laplacian(BANDWIDTH), (CELLS,))
    records, hours = crowd(people), np.linspace(0.0, LATEST, PLACES)
    table = sketch.zeros()
    sketch.add(table, records)
    return sketch, table, hours, sketch.exact(hours[:, None], records)


def outcomes(epsilon: str, people: int) -> Outcomes:
    """Fifty releases of the crowd, each with the noise of a real one.

    The draws are the same for every ε, so that moving ε shows what ε does and not another roll of the dice.
    """
    sketch, table, hours, exact = _counted(people)
    noise = plan(sketch, Budget(epsilon)).noise
    points = np.asfortranarray(hours[:, None])
    releases = [
        sketch.answer(add_noise(table, noise, SeededSource(draw)), people, points, noise.variance, 0.95).estimate
        for draw in range(RELEASES)
    ]
    return Outcomes(hours, exact, np.array(releases))
