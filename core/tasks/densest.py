"""Where records are densest: the place at which a picture of a few of many columns holds the others.

The average over all values of many columns is an average over places that are nearly all empty, so noise hides it where
the release itself knows much. A cut through the densest place shows what there is to see.
"""

from __future__ import annotations

from ..domain import Vector
from ..errors import RequestError
from ..releases.release import Release
from .modes import find_modes

MOST_AVERAGED = 3
"""Columns up to which a picture averages over those that it does not show."""
STARTS = 24
"""Places to search from: the highest hill is wanted, and it has the widest foot."""


def densest_place(release: Release) -> dict[str, object]:
    """A value by column, where there are more columns than a picture averages over and a mode stands out from noise.

    Returns
    -------
    dict[str, object]
        In natural units; empty where a picture should average, or nothing stands out.
    """
    columns = release.sketch.query_domain.columns
    if release.sketch.answers != "closeness" or len(columns) <= MOST_AVERAGED:
        return {}
    if any(isinstance(column, Vector) for column in columns):
        return {}
    try:
        found = find_modes(release, 1, STARTS)
    except RequestError:  # too few groups of rows to tell a mode from noise
        return {}
    return dict(found[0].position) if found and found[0].significant else {}
