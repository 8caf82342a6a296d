"""Pictures that are worked out beforehand: what a shared page shows of a release that it cannot decode itself.

A page says on how many places each is drawn; between them it reads along straight lines.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...domain import Categorical, Items, Ordered, Vector
from ...machine.small_matrices import one_thread
from ...releases.release import Release
from ...tasks import density
from ...tasks.answerable import map_size
from ...tasks.box import Box, places_along
from ...tasks.centres import nearest_place
from ...tasks.other_columns import FEWEST_PLACES
from ..report.pictures import in_units
from .columns import column_facts

LEVEL = 0.95
MOST_COLUMNS = 8
CURVE, DISTANCE_CURVE, MOST_CURVE = 400, 96, 2_000
MOST_SIDE, AVERAGED_SIDE, DISTANCE_SIDE, LEAST_SIDE = 128, 64, 24, 16
"""Places along a side of a map: of two columns, of more, whose others are averaged over, of distances, and at least."""
NUMBERS = 150_000
"""Of all pictures of a page together, with both ends of their intervals: some 600 KB."""


def lattice_facts(release: Release, share: float = 1.0) -> dict[str, Any] | None:
    """Curves and maps of a release of closeness or distances; None where no column can be drawn.

    Parameters
    ----------
    release : Release
        Of one population.
    share : float
        Of the room that a page has for numbers, where there are several populations.
    """
    if release.domain.holds_sets:
        return None
    names = [c.name for c in release.domain.columns if not isinstance(c, (Items, Vector))][:MOST_COLUMNS]
    if not names:
        return None
    near = release.sketch.answers == "closeness"
    averaged = near and len(release.domain.names) > 2
    # Average distances are read with matrices so small that threads spend ten times longer waiting for each other.
    with one_thread():
        held = {} if near else nearest_place(release)
        side = _side(release, names, averaged, share)
        pictures = {str(place): _curve(release, name, held, side, share) for place, name in enumerate(names)}
        for (i, x), (j, y) in combinations(enumerate(names), 2):
            pictures[f"{i},{j}"] = _map(release, x, y, held, side, share / max(1, math.comb(len(names), 2)))
    box = Box.of(release.sketch)
    return {
        "kind": "lattice",
        "columns": [column_facts(box, name) for name in names],
        "pictures": {key: numbers(in_units(release, picture)) for key, picture in pictures.items()},
        "averaged": near and len(release.domain.names) > 1,
    }


def numbers(picture: density.Curve | density.Heatmap) -> dict[str, Any]:
    """The estimates of a picture and both ends of their intervals, float32; nothing of ends that nobody knows."""
    arrays = [picture.estimate] + ([picture.low, picture.high] if picture.errors_known else [])
    return packed(arrays)


def packed(arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """Arrays of one shape as text."""
    stacked = np.ascontiguousarray(arrays, dtype="<f4")
    return {"shape": list(stacked.shape[1:]), "numbers": base64.b64encode(stacked.tobytes()).decode()}


def _side(release: Release, names: Sequence[str], averaged: bool, share: float) -> int:
    """Places along a side of each map."""
    pairs = max(1, math.comb(len(names), 2))
    room = math.isqrt(int(share * NUMBERS / (3 * pairs)))
    if release.sketch.answers != "closeness":
        return max(LEAST_SIDE, min(DISTANCE_SIDE, room))
    most = min(AVERAGED_SIDE if averaged else MOST_SIDE, room)
    return max(LEAST_SIDE, map_size(release, most, FEWEST_PLACES * pairs if averaged else 1))


def _curve(release: Release, name: str, held: Mapping[str, object], side: int, share: float) -> density.Curve:
    if release.sketch.answers != "closeness":
        return density.line(release, name, _without(held, name), DISTANCE_CURVE, LEVEL)
    if len(release.domain.names) == 1:
        points = min(MOST_CURVE, places_along(release.sketch, name, CURVE))
        return density.line(release, name, None, points, LEVEL)
    return density.marginal_line(
        release, name, None, 4 * side, LEVEL, share * density.READS / len(release.domain.names)
    )


def _map(release: Release, x: str, y: str, held: Mapping[str, object], side: int, share: float) -> density.Heatmap:
    if release.sketch.answers == "closeness" and len(release.domain.names) > 2:
        return density.marginal_grid(release, x, y, None, side, LEVEL, share * density.PAIRS_READS)
    # Categories are cells of their own, however few there are.
    apart = all(isinstance(Box.of(release.sketch).column(name), (Categorical, Ordered)) for name in (x, y))
    return density.grid(release, x, y, _without(held, x, y), 2 if apart else side, LEVEL)


def _without(held: Mapping[str, object], *drawn: str) -> dict[str, object]:
    return {name: value for name, value in held.items() if name not in drawn}
