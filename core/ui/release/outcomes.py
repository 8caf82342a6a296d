"""Releases that could come out: fifty of an imagined crowd, and fifty of one answer."""

from __future__ import annotations

from typing import cast

import numpy as np
import streamlit as st

from ...domain import Domain, Scalar
from ...figures.distance_figures import possible_distances, possible_distances_in_words
from ...figures.forecast_figures import (
    PLACES,
    PossibleReleases,
    dots,
    dots_in_words,
    normal_outcomes,
    possible_releases,
    possible_releases_figure,
    possible_releases_in_words,
)
from ...forecast.draft import Draft
from ...forecast.words import typical_answer
from ...sketches.grouped import GroupedSketch
from ...words.escapes import in_plotly
from ..frame.charts import show
from ..frame.marks import note


def possible_outcomes(draft: Draft) -> None:
    """Fifty releases that could come out, of an imagined crowd and of one answer."""
    axis = next((column for column in draft.one.domain.columns if isinstance(column, Scalar)), None)
    answer = typical_answer(draft, draft.forecast)
    *before, counts = st.columns([1] if axis is None else 2, gap="medium")
    for lines in before:
        with lines:
            possible, words = _of_a_crowd(draft, axis)
            title = "answer" if draft.measures_closeness else "average distance"
            show(possible_releases_figure(possible, in_plotly(axis.name), title), "release-possible", words)
            note(f"Fifty possible releases of an imagined crowd (thick line). {words}")
    with counts:
        outcomes = normal_outcomes(answer.value, answer.error)
        words = dots_in_words(outcomes, answer.name)
        show(dots(outcomes, in_plotly(answer.name)), "release-dots", words)
        note("One answer in fifty possible releases, all of them equally likely.")


def _of_a_crowd(draft: Draft, axis: Scalar) -> tuple[PossibleReleases, str]:
    """Possible releases along a column, and what they come to."""
    one, forecast = draft.one, draft.forecast
    places = _places(one.domain, one.metric, axis)
    if draft.measures_closeness:
        kernel = cast(GroupedSketch, one).point_kernel
        possible = possible_releases(axis.low, axis.high, kernel, places, forecast.estimate, forecast.standard_error)
        return possible, possible_releases_in_words(possible)
    variance = draft.noise.variance
    possible = possible_distances(axis.low, axis.high, one, places, forecast.records, variance)
    return possible, possible_distances_in_words(possible)


def _places(domain: Domain, metric: str, axis: Scalar) -> np.ndarray:
    """Encoded places along a column, all other columns in the middle of their bounds."""
    low, high = domain.bounds(metric)
    place = 0
    for column in domain.columns:
        if column is axis:
            break
        place += column.width
    points = np.tile((low + high) / 2, (PLACES, 1))
    points[:, place] = np.linspace(low[place], high[place], PLACES)
    return np.asfortranarray(points)
