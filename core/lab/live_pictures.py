"""One picture of a bundled sample at many ε: how it dissolves into noise as ε falls, and comes back as it rises.

A histogram's answer is a sum of counters, so the picture at ε is the exact picture plus that of the noise. The noise is
drawn once, from a seed, as a release at the smallest ε has it, and made smaller in proportion to 1/ε: the scale of a
Laplace noise is its sensitivity over ε. So two readings give all pictures, and moving ε shows what ε does and not
another roll of the dice. The exact counts of the sample are behind it, which is why it is made of public records alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from ..analysis.answerable import Box, reach_together
from ..analysis.density import Heatmap, axis
from ..errors import RequestError
from ..privacy.budget import Budget
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import SeededSource
from ..releases.engine.building import TableBuilder
from ..releases.job import release
from ..releases.release import Release
from ..sketches.answers import Answers
from ..sketches.grids.grid_axes import is_product_of_columns
from ..sketches.grids.histogram import Histogram
from ..sketches.plan import plan
from ..sketches.registry import card
from ..sources import open_source
from ..sources.public_tables import Sample, sample

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
