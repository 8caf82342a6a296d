"""Distance releases that could come out, of a crowd that nobody is part of."""

from __future__ import annotations

import math

import numpy as np

from ..sketches.linear import LinearSketch
from .forecast_figures import PLACES, SIMULATED, PossibleReleases, imagined_crowd

LARGEST_SIMULATED = 4_000_000
"""Counters that all simulated tables together may have; of larger tables fewer releases are drawn."""
LEAST_SIMULATED = 10


def possible_distances(
    low: float, high: float, sketch: LinearSketch, coordinates: np.ndarray, records: float, counter_variance: float
) -> PossibleReleases:
    """Simulate average distances from places along one column; no data and no privacy noise is touched.

    An answer is linear in the table, so what noise does to it is the answer to a table of noise alone. The draws are
    fixed ones (a public seed), so that moving a control changes the picture by its effect alone.

    Parameters
    ----------
    low, high : float
        Bounds of the column, in its unit.
    sketch : LinearSketch
        Of distances, with its size.
    coordinates : np.ndarray
        Encoded places along the column, float64 (PLACES, dimensions); the crowd stands on them.
    records : float
        How many the crowd has.
    counter_variance : float
        Of the noise in one counter.
    """
    share = np.linspace(0, 1, PLACES)
    people = imagined_crowd(share)
    distances = np.column_stack([sketch.exact(coordinates, coordinates[[place]]) for place in range(PLACES)])
    crowd = distances @ people / people.sum()
    draws = min(SIMULATED, max(LEAST_SIMULATED, LARGEST_SIMULATED // math.prod(sketch.shape)))
    random, deviation = np.random.default_rng(0), math.sqrt(counter_variance)
    releases = np.empty((draws, PLACES))
    without = _answers(sketch, sketch.zeros(), coordinates)
    for draw in range(draws):
        noise = np.rint(deviation * random.standard_normal(sketch.shape)).astype(np.int64)
        releases[draw] = crowd + (_answers(sketch, noise, coordinates) - without) / records
    moved = np.abs(share[releases.argmin(axis=1)] - share[crowd.argmin()])
    return PossibleReleases(low + share * (high - low), crowd, releases, int((moved <= 0.1).sum()))


def _answers(sketch: LinearSketch, table: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    return sketch.answer(table, 1.0, coordinates, 1.0, 0.95).estimate


def possible_distances_in_words(possible: PossibleReleases) -> str:
    """One sentence: how often the place that is nearest to everyone is found."""
    return (
        f"In {possible.kept} of {len(possible.releases)} simulated releases the place nearest to everyone, the lowest "
        "point, is found where it is, give or take a tenth of the bounds."
    )
