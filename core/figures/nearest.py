"""Pictures of released distances: the nearest place to everyone, what is held there, and the table of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..releases.release import Release
from ..tasks.density import Curve, Heatmap
from ..words.phrases import listed, shown
from .answer_sentences import one_sided, place_words
from .axes import View
from .density_figures import Marks
from .report.exploration import table_of
from .report.pictures import axes_of, in_units

MOST_NAMED = 4


def nearest_values(
    release: Release, view: View, picture: Curve | Heatmap, centre: Mapping[str, object]
) -> tuple[object, ...]:
    """The values of the drawn columns where everyone is nearest, given what is held.

    Parameters
    ----------
    centre : Mapping[str, object]
        The nearest place of all; the picture's own nearest place is as coarse as its cells.
    """
    if all(centre[name] == value for name, value in view.held):
        return tuple(centre[name] for name in view.columns)
    axes = axes_of(release, picture)
    at = np.unravel_index(picture.estimate.argmin(), picture.estimate.shape)[::-1]
    return tuple(axis.value(axis.values[index]) for axis, index in zip(axes, at, strict=True))


def marked(release: Release, picture: Curve | Heatmap, places: Sequence[Sequence[object]]) -> Marks | None:
    """Places, values of the drawn columns each, as marks on a picture of average distances; none for one-sided ones."""
    if one_sided(release.sketch):
        return None
    axes = axes_of(release, picture)
    along = [np.array([axis.place(place[at]) for place in places], dtype=float) for at, axis in enumerate(axes)]
    if len(axes) == 2:
        return Marks(*along)
    return Marks(along[0], np.interp(along[0], axes[0].values, in_units(release, picture).estimate))


def held_sentence(release: Release, view: View, centre: Mapping[str, object]) -> str:
    """Where the columns that are not drawn are held because nobody held them elsewhere; "" when there are none."""
    kept = [name for name, value in view.held if centre[name] == value]
    if not kept:
        return ""
    said = place_words(dict(centre), release)
    places = listed([f"{name} at {shown(said[name])}" for name in kept], MOST_NAMED)
    return f"Where everyone is nearest: {places}. Hold them elsewhere to see what changes."


def picture_table(release: Release, picture: Curve | Heatmap) -> pd.DataFrame:
    """The answers of a picture as a table; of distances, their averages."""
    if release.sketch.answers == "closeness":
        return table_of(picture)
    return table_of(in_units(release, picture)).drop(columns="density").rename(columns={"estimate": "mean"})
