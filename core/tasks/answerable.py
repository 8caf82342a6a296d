"""What a release can be asked: whether it sums closeness or distances, of one population or of several classes."""

from __future__ import annotations

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
    release : Release
        What is asked.
    wanted : str
        What for, such as "modes"; the sentence says that distances have none.
    """
    if release.sketch.answers != "closeness":
        raise RequestError(
            f"This release says how far everyone is from a place, which gives no {wanted}, as being far from a place "
            "says little about who is at it; ask for its centre, or release a density."
        )
    check_one_population(release)
