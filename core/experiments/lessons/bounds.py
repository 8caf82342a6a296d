"""Why bounds must be public: a file whose bounds were read off the data gives the richest person's pay away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...domain import Domain
from ...geometry.kernels import Laplacian
from ...privacy.budget import Budget
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import SeededSource
from ...releases.job import release
from ...releases.release import Release
from ...sketches.grids.histogram import Histogram
from ...sketches.plan import plan

OTHERS = (
    18_500,
    23_000,
    26_400,
    29_900,
    31_200,
    34_800,
    36_500,
    39_000,
    42_700,
    47_300,
    52_000,
    61_500,
    74_000,
    98_000,
)
"""What fourteen made-up people earn in a year; the richest one comes on top."""
PUBLIC_BOUNDS = (0.0, 200_000.0)
"""What anyone could type without having seen these people; larger pay is counted as the upper end."""
CELLS = 8
GAMES = 400


@dataclass(frozen=True)
class Attack:
    """A guesser who knows everyone else's pay and gets one of two files, with the richest person or without.

    Attributes
    ----------
    with_richest, without_richest : Release
        The file of either data set.
    right : int
        In how many of `GAMES` games the guesser was right.
    """

    with_richest: Release
    without_richest: Release
    right: int

    @property
    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The bounds that the two files state: with the richest person and without."""
        first, second = (made.domain.columns[0] for made in (self.with_richest, self.without_richest))
        return first.bounds(1.0), second.bounds(1.0)

    @property
    def given_away(self) -> bool:
        """Whether the two files differ before a single count is looked at."""
        return self.with_richest.domain != self.without_richest.domain


def attack(richest: int, epsilon: str, from_data: bool) -> Attack:
    """Release both data sets, and let the guesser play.

    Parameters
    ----------
    richest : int
        Pay of the richest person, above everyone else's.
    epsilon : str
        Of the release.
    from_data : bool
        Whether the owner takes the bounds from the data, which no mechanism of this library does by itself.
    """
    with_richest, without_richest = (
        release(
            _sketch(pays, from_data),
            {"pay": np.array(pays, dtype=np.float64)},
            Budget(epsilon),
            noise_source=SeededSource(draw),
        )
        for draw, pays in enumerate(((*OTHERS, richest), OTHERS))
    )
    told_apart = with_richest.domain != without_richest.domain
    return Attack(with_richest, without_richest, GAMES if told_apart else _games_won(richest, epsilon))


def _sketch(pays: tuple[float, ...], from_data: bool) -> Histogram:
    low, high = (min(pays), max(pays)) if from_data else PUBLIC_BOUNDS
    return Histogram(Domain.of(pay=(low, high)), Laplacian((high - low) / CELLS), (CELLS,))


def _games_won(richest: int, epsilon: str) -> int:
    """Games that the best guesser wins by the counts alone: by the likelihood ratio (Neyman and Pearson)."""
    sketch, budget = _sketch(OTHERS, from_data=False), Budget(epsilon)
    noise, tables = plan(sketch, budget).noise, []
    for pays in ((*OTHERS, richest), OTHERS):
        points = np.clip(np.array(pays, dtype=np.float64), *PUBLIC_BOUNDS)
        table = sketch.zeros()
        sketch.add(table, np.asfortranarray(points[:, None]))
        tables.append(table)
    truth = np.arange(GAMES) % 2
    shown = add_noise(np.stack(tables)[truth], noise, SeededSource(7))
    far = [np.abs(shown - table).reshape(GAMES, -1).sum(axis=1, dtype=np.float64) for table in tables]
    guess = np.where(far[0] < far[1], 0, 1)
    return int((guess == truth).sum())
