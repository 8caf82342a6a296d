"""What a release can be asked (closeness or distances, of one population or of classes), and how much work that is.

And what of an answer stands out from the noise, wherever one looks.

Pictures and searches choose their numbers of places by the work, so that they stay within what a person waits for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.special import ndtri_exp

from ..domain import Categorical
from ..errors import RequestError
from ..privacy.calibration import NoiseScale
from ..releases.release import Release
from ..sketches.linear import LinearSketch
from .box import Box, half_widths

LISTED = 6


def check_one_population(release: Release) -> None:
    """RequestError for a release of several classes, as each of them is a population by itself."""
    if not release.sketch.count_shape:
        return
    hidden = set(release.domain.names) - set(release.sketch.query_domain.names)
    labels = [column for column in release.domain.columns if column.name in hidden and isinstance(column, Categorical)]
    classes = [category for column in labels for category in column.categories]
    shown = ", ".join(classes[:LISTED]) + (" …" if len(classes) > LISTED else "")
    raise RequestError(f"This release holds several classes, each by itself; say which of them is asked: {shown}.")


def check_closeness(release: Release, wanted: str) -> None:
    """RequestError unless the release sums closeness, of one population.

    `wanted`: What for, such as "modes"; the sentence says that distances have none.
    """
    if release.sketch.answers != "closeness":
        raise RequestError(
            f"This release says how far everyone is from a place, which gives no {wanted}, as being far from a place "
            "says little about who is at it; ask for its centre, or release a density."
        )
    check_one_population(release)


READS = 5e8  # Counters that one picture may read: about half a second on two cores.
WHOLE_TABLE = 16.0  # Reads that a counter is worth where every answer weighs all counters of a table.
FEWEST_CELLS = 16  # Cells along a side of a map, below which it says nothing.


def counters_read(release: Release, queries: float) -> float:
    """Work of that many queries, in reads of a counter; a long projection costs more than the read itself."""
    sketch = release.sketch
    if sketch.in_groups:
        return queries * sketch.shape[0] * (1.0 + release.domain.dimensions / 16.0)
    return queries * WHOLE_TABLE * math.prod(sketch.shape)


def map_size(release: Release, most: int, places: int = 1) -> int:
    """Cells along a side of a map: ``most``, or as many as may be read where answers are expensive.

    `most`: More would not be seen. `places`: Answers that are averaged for each cell, at least.
    """
    if places == 1 and release.sketch.by_axis:
        return most
    affordable = READS / counters_read(release, places)
    return int(min(most, max(FEWEST_CELLS, math.isqrt(int(affordable)))))


def reach_together(sketch: LinearSketch, noise: Iterable[NoiseScale], level: float = 0.95) -> float:
    """How many standard deviations noise alone lifts a place at most, wherever one looks, with probability ``level``.

    Bonferroni over the places that the kernel tells apart: boxes of one half-width a side, and all categories. Of noise
    drawn for single counters the tail is Laplace's, as where one counter decides: a weighted sum of several has a
    lighter one. Of other noise, and of means over the groups of a sketch, it is the normal one.
    """
    box = Box.of(sketch)
    low, high = box.bounds
    sides = (high - low)[box.numeric] / half_widths(sketch)
    places = float(np.log(np.maximum(sides, 1.0)).sum() + np.log(np.maximum(box.choices, 1)).sum())
    chance = math.log(1.0 - level) - places
    if not sketch.in_groups and any(scale.distribution == "discrete_laplace" for scale in noise):
        return (-chance - math.log(2.0)) / math.sqrt(2.0)
    return -float(ndtri_exp(chance))


def noise_alone(release: Release) -> float:
    """Standard deviation that noise gives a typical answer, where it is known apart from all else; else infinite.

    Errors of a grid are a share of what is there, and lift nothing where nobody is. Of groups, whose spread shows all,
    nothing is known apart.
    """
    sketch = release.sketch
    return math.inf if sketch.in_groups else math.sqrt(sketch.noise_variance(release.privacy.counter_variance))


def stands_out(estimate: np.ndarray, standard_error: np.ndarray, together: float, noise: float) -> np.ndarray:
    """Which answers lie higher than noise alone lifts any place: the one rule of pictures, reports and modes."""
    return np.isfinite(standard_error) & (estimate > together * np.minimum(standard_error, noise))
