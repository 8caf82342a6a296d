"""Answers as tables, one row a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...sketches.answers import Answers
from ...tasks.anomalies import Scores
from ...tasks.centres import Centre
from ...tasks.density import Curve, Heatmap, Volume
from ...tasks.modes import Mode
from ...tasks.sampling import Sample

ANSWERS = ("estimate", "low", "high", "density", "standard_error")
SCORES = ("density", "low", "high", "score", "anomalous", "certain")
PEAKS = ("estimate", "low", "high", "density", "prominence", "prominence_error", "significant")
FIGURES = ("share", "mean", "mean_low", "mean_high")

Answer = Answers | Scores | Curve | Heatmap | Volume | Sample | Sequence[Mode] | Sequence[Centre]


def table_of(answer: Answer, places: Mapping[str, Sequence] | None = None) -> pd.DataFrame:
    """Places and what a release says about them, side by side.

    Parameters
    ----------
    answer : Answer
        Of a release or of a task.
    places : Mapping[str, Sequence] | None
        Values by column, where the asker chose them.

    Returns
    -------
    frame
        The columns of the release, then those of the answer; one whose name is taken is called ``answer_NAME``.
    """
    if isinstance(answer, Sample):
        return answer.points
    if isinstance(answer, Curve):
        return _beside({answer.column: answer.values}, answer, ANSWERS)
    if isinstance(answer, Heatmap):
        across = np.tile(answer.x_values, len(answer.y_values))
        up = np.repeat(answer.y_values, len(answer.x_values))
        return _beside({answer.x: across, answer.y: up}, answer, ANSWERS)
    if isinstance(answer, Volume):
        up, back, across = (part.ravel() for part in np.meshgrid(*reversed(answer.places), indexing="ij"))
        return _beside({answer.x: across, answer.y: back, answer.z: up}, answer, ANSWERS)
    if isinstance(answer, (Answers, Scores)):
        return _beside(places or {}, answer, ANSWERS if isinstance(answer, Answers) else SCORES)
    if answer and isinstance(answer[0], Centre):
        return _of_centres(answer)
    positions = pd.DataFrame([mode.position for mode in answer])
    peaks = {name: [getattr(mode, name) for mode in answer] for name in PEAKS}
    return pd.concat([positions, pd.DataFrame(_renamed(peaks, positions.columns))], axis=1)


def _of_centres(centres: Sequence[Centre]) -> pd.DataFrame:
    """A row a centre: every column with the ends of its interval, then what is known of the records around it."""
    places: dict[str, Sequence] = {}
    for name in centres[0].position:
        # A vector as a list: an array would be written with its middle left out.
        places[name] = [np.asarray(centre.position[name]).tolist() for centre in centres]
    for name in centres[0].low:
        places |= _renamed(
            {f"{name}_{end}": [getattr(centre, end)[name] for centre in centres] for end in ("low", "high")}, places
        )
    figures = {name: np.array([getattr(centre, name) for centre in centres]) for name in FIGURES}
    known = {name: values for name, values in figures.items() if not np.isnan(values).any()}
    return pd.DataFrame(places | _renamed(known, places))


def _beside(places: Mapping[str, Sequence], answer: object, names: Sequence[str]) -> pd.DataFrame:
    values = {name: np.ravel(getattr(answer, name)) for name in names}
    return pd.DataFrame({**places, **_renamed(values, places)})


def _renamed(values: Mapping[str, Sequence], taken) -> dict[str, Sequence]:
    return {f"answer_{name}" if name in taken else name: column for name, column in values.items()}
