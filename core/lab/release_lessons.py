"""Lessons on releases: what ε does to a picture, what a sketch counts, and why bounds must be public.

A file whose bounds were read off the data gives the richest person's pay away. A picture of a bundled sample dissolves
into noise as ε falls, and comes back as it rises: a histogram's answer is a sum of counters, so the picture at ε is the
exact picture plus that of the noise. The noise is drawn once, from a seed, as a release at the smallest ε has it, and
made smaller in proportion to 1/ε: the scale of a Laplace noise is its sensitivity over ε. So two readings give all
pictures, and moving ε shows what ε does and not another roll of the dice. The exact counts of the sample are behind it,
which is why it is made of public records alone.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd

from ..analysis.answerable import Box, reach_together
from ..analysis.density import Heatmap, axis
from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Euclidean, Laplacian
from ..privacy.budget import Budget
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import SeededSource
from ..releases.engine.building import TableBuilder
from ..releases.job import release
from ..releases.release import Release
from ..sketches.answers import Answers
from ..sketches.grid_axes import is_product_of_columns
from ..sketches.histogram import Histogram
from ..sketches.plan import plan
from ..sketches.race import Race
from ..sketches.registry import card
from ..sources import open_source
from ..sources.public_tables import Sample, sample

SIDE = 10.0  # The plane reaches from 0 to this in both directions.
ROWS = 4
BANDWIDTH = 4.0
WIDTH = 16  # More columns than any row of the draws below has cells, so that every cell keeps a column of its own.
DRAWS = 99
MOST_PEOPLE = 60


@dataclass(frozen=True)
class Plane:
    """A small RACE sketch of the plane, and the people who are on it."""

    people: np.ndarray  # float64 (n, 2), where they are.
    draw: int = 1
    crowd: int = 1
    side: ClassVar[float] = SIDE

    @cached_property
    def sketch(self) -> Race:
        """Rows of one Euclidean (2-stable) hash each: every row cuts the plane into stripes."""
        return Race(Domain.of(x=(0, SIDE), y=(0, SIDE)), Euclidean(BANDWIDTH), ROWS, WIDTH, seed=self.draw, groups=2)

    @cached_property
    def table(self) -> np.ndarray:
        """The exact counts, int64 (ROWS, columns)."""
        table = self.sketch.zeros()
        if len(self.people):
            self.sketch.add(table, np.asfortranarray(self.people))
        return table * self.crowd

    @property
    def cells(self) -> np.ndarray:
        """How many cells each row has, int64 (ROWS,); the table has as many columns as the longest row."""
        return self.sketch.columns.reachable

    def fallen(self, place: tuple[float, float]) -> np.ndarray:
        """The cell of each row that a place falls in, int64 (ROWS,): where one record there would be counted."""
        alone = self.sketch.zeros()
        self.sketch.add(alone, np.asfortranarray([place], dtype=np.float64))
        return alone.argmax(axis=1)

    def released(self, epsilon: str, draw: int) -> Release:
        """A release of these people with noise that can be drawn again; it is marked as not private."""
        places = np.repeat(self.people, self.crowd, axis=0)
        records = {"x": places[:, 0], "y": places[:, 1]}
        return release(self.sketch, records, Budget(epsilon), noise_source=SeededSource(draw))

    def exact(self, place: tuple[float, float]) -> float:
        """The kernel sum that the average of the counts estimates: everyone counted by how close they are."""
        if not len(self.people):
            return 0.0
        return float(self.sketch.exact(np.array([place], dtype=np.float64), self.people)[0]) * self.crowd

    def stripe(self, row: int, cell: int) -> np.ndarray:
        """Corners of the part of the plane that is one cell of a row, float64 (corners, 2); none where it is empty."""
        hashes = self.sketch.columns.hashes
        direction = hashes.coefficient[2 * row : 2 * row + 2]
        corners = np.array([(0, 0), (SIDE, 0), (SIDE, SIDE), (0, SIDE)], dtype=np.float64)
        for sign, edge in ((1.0, cell), (-1.0, cell + 1)):
            corners = _clipped(corners, sign * (corners @ direction + hashes.offset[row] - edge))
        return corners


def _clipped(corners: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """The part of a polygon where the depth, known at its corners and linear, is not below zero."""
    kept = []
    for index in range(len(corners)):
        here, after = corners[index], corners[(index + 1) % len(corners)]
        inside, ahead = depth[index], depth[(index + 1) % len(corners)]
        if inside >= 0:
            kept.append(here)
        if (inside < 0) != (ahead < 0):
            kept.append(here + (after - here) * inside / (inside - ahead))
    return np.array(kept).reshape(-1, 2)


def places(text: str, most: int = MOST_PEOPLE) -> np.ndarray:
    """Places as a person types them, "2 3, 4.5 6": float64 (n, 2).

    RequestError for what is no list of places on the plane, or too long a one.
    """
    try:
        found = [[float(number) for number in pair.split()] for pair in text.split(",") if pair.strip()]
        array = np.array(found, dtype=np.float64).reshape(-1, 2)
    except ValueError as error:
        raise RequestError(
            "Each place is two numbers with a space between them, and a comma stands between places: 2 3, 4.5 6."
        ) from error
    if len(found) != len(array) or not ((array >= 0) & (array <= SIDE)).all():
        raise RequestError(f"Every place lies on the plane: two numbers from 0 to {SIDE:g} each.")
    if len(array) > most:
        raise RequestError(f"There is room for {most} places here, and {len(array)} were given.")
    return array


def in_text(points: np.ndarray) -> str:
    """Places as `places` reads them."""
    return ", ".join(f"{x:g} {y:g}" for x, y in points)


# What fourteen made-up people earn in a year; the richest one comes on top.
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
# What anyone could type without having seen these people; larger pay is counted as the upper end.
PUBLIC_BOUNDS = (0.0, 200_000.0)
CELLS = 8
GAMES = 400


@dataclass(frozen=True)
class Attack:
    """A guesser who knows everyone else's pay and gets one of two files, with the richest person or without."""

    # The file of either data set.
    with_richest: Release
    without_richest: Release
    right: int  # In how many of `GAMES` games the guesser was right.

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

    `from_data`: whether the owner takes the bounds from the data, which no mechanism of this library does by itself.
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


# Steps of ε, about equally far apart on a logarithmic scale; the smallest first.
EPSILONS = tuple("0.01 0.015 0.02 0.03 0.05 0.08 0.1 0.15 0.2 0.3 0.5 0.8 1 2 4 8".split())
SIZE = 96  # Cells along a side.
# Heaps of made-up people: where, in shares of the bounds, and which share of them; how wide, and how many at most.
HEAPS = ((0.25, 0.3, 0.35), (0.4, 0.7, 0.25), (0.55, 0.4, 0.2), (0.7, 0.75, 0.12), (0.8, 0.25, 0.08))
HEAP, MOST_MADE_UP = 1.0 / 40.0, 100_000
LEVEL, SEED = 0.95, 16


@dataclass(frozen=True)
class LivePicture:
    """A picture at every ε."""

    sample: Sample
    # float64 (SIZE, SIZE): the exact answers, what the noise of the smallest ε adds to them, and the squared errors
    # that come from that noise and from the grid.
    exact: np.ndarray
    noise: np.ndarray
    gain: np.ndarray
    missed: np.ndarray
    # Middles of the cells, in natural units.
    x_values: np.ndarray
    y_values: np.ndarray
    records: float
    together: float  # How many standard deviations noise alone lifts a place at most.

    def at(self, epsilon: str) -> Heatmap:
        """The picture that a release under ε would give, were its noise the one that was drawn."""
        share = float(EPSILONS[0]) / float(epsilon)
        error = np.sqrt(share**2 * self.gain + self.missed)
        answers = Answers.of_errors(self.exact + share * self.noise, error, self.records, LEVEL)
        x, y = self.sample.show
        return Heatmap(
            x=x,
            y=y,
            x_values=self.x_values,
            y_values=self.y_values,
            estimate=answers.estimate,
            low=answers.low,
            high=answers.high,
            density=answers.density,
            standard_error=answers.standard_error,
            at={},
            averaged=(),
            averaging_places=1,
            together=self.together,
            noise=share * math.sqrt(float(np.median(self.gain))),
        )

    @property
    def typical(self) -> tuple[float, float]:
        """A typical answer where records are, as forecasts take it, and its standard error at the smallest ε.

        The answer is how many are close to a record on average: cells count by how many are there.
        """
        there = self.exact >= np.median(self.exact[self.exact > 0.01 * self.exact.max()])
        stated = self.sample.density_guess
        answer = np.average(self.exact, weights=self.exact) if stated is None else stated * self.sample.records_guess
        return float(answer), math.sqrt(float(np.median(self.gain[there])))


def has_live_picture(sample: Sample) -> bool:
    """Whether a sample has a map of two columns that a histogram answers axis by axis."""
    kind = card(sample.release).sketch
    on_grid = kind is not None and kind.on_grid
    return on_grid and len(sample.domain.columns) == 2 and is_product_of_columns(sample.kernel)


def of_made_up(sketch: Histogram, budget: Budget, records: float) -> Release:
    """What a map of two columns of numbers would be of people in five places, who are made up; nothing is read."""
    random, domain, n = np.random.default_rng(SEED), sketch.domain, int(min(records, MOST_MADE_UP))
    heaps = np.array(HEAPS)
    shares = heaps[random.choice(len(heaps), n, p=heaps[:, 2]), :2] + random.normal(0.0, HEAP, (n, 2))
    people: dict[str, np.ndarray] = {} if domain.unit.column is None else {domain.unit.column: np.arange(n)}
    people |= {
        column.name: column.low + np.clip(share, 0.0, 1.0) * (column.high - column.low)  # type: ignore[union-attr]
        for column, share in zip(domain.columns, shares.T, strict=True)
    }
    return release(sketch, pd.DataFrame(people), budget, noise_source=SeededSource(SEED))


@lru_cache(maxsize=8)
def bundled_live_picture(name: str) -> LivePicture:
    """`live_picture` of the bundled sample of a name, worked out once: it is everyone's, and the same at every ε."""
    return live_picture(sample(name))


def live_picture(sample: Sample) -> LivePicture:
    """The picture of a sample at every ε; RequestError when it has no map of two columns, or no histogram suits it."""
    if not has_live_picture(sample):
        raise RequestError(f"The sample {sample.name!r} has no live picture, which is a map of two columns.")
    smallest = Budget(EPSILONS[0])
    sketch = Histogram(sample.domain, sample.kernel).sized_for(Budget(1), sample.records_guess)
    building = TableBuilder(sketch, open_source(sample.path))
    for _ in building:
        pass
    counted = building.exact
    noise = plan(sketch, smallest).noise
    drawn = add_noise(sketch.zeros(), noise, SeededSource(SEED))
    box = Box.of(sketch)
    x_values, y_values = (axis(box, name, SIZE, ends=False) for name in sample.show)
    points = np.empty((SIZE * SIZE, 2), order="F")
    points[:, box.places[sample.show[0]]] = np.tile(box.encode(sample.show[0], x_values), (SIZE, 1))
    points[:, box.places[sample.show[1]]] = np.repeat(box.encode(sample.show[1], y_values), SIZE, axis=0)
    exact, gain, missed = (
        part.reshape(SIZE, SIZE) for part in sketch.smoothing.read(sketch.grids(counted.table), points)
    )
    added = sketch.smoothing.read(sketch.grids(drawn), points)[0].reshape(SIZE, SIZE)
    return LivePicture(
        sample,
        exact,
        added,
        gain * noise.variance,
        missed,
        x_values,
        y_values,
        float(np.sum(counted.records)),
        reach_together(sketch, (noise,), LEVEL),
    )
