"""What a release can be asked (closeness or distances, of one population or of classes), and how much work that is.

Pictures and searches choose their numbers of places by the work, so that they stay within what a person waits for.
"""

from __future__ import annotations

import math

from ..domain import Categorical
from ..errors import RequestError
from ..releases.release import Release

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

    Parameters
    ----------
    wanted : str
        What for, such as "modes"; the sentence says that distances have none.
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

    Parameters
    ----------
    most : int
        More would not be seen.
    places : int
        Answers that are averaged for each cell, at least.
    """
    if places == 1 and release.sketch.by_axis:
        return most
    affordable = READS / counters_read(release, places)
    return int(min(most, max(FEWEST_CELLS, math.isqrt(int(affordable)))))
