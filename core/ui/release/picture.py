"""The picture that suits a release: where people are many, how far everyone is, which group, or what goes together."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from ...domain import Vector
from ...figures.answer_sentences import place_words
from ...figures.class_figures import decision_figure, decision_in_words
from ...figures.model_figures import correlation_figure, correlations_in_words
from ...figures.report.release_pictures import MOST_NAMED, picture_figure
from ...figures.table_figures import column_figure, column_in_words
from ...releases.release import Release
from ...sketches.products.products import Products
from ...sketches.tables.tables import Tables
from ...tasks.answerable import map_size
from ...tasks.decision_map import DecisionMap, decision_map
from ...tasks.density import Curve, Heatmap, grid, line, marginal_grid, marginal_line
from ...tasks.other_columns import FEWEST_PLACES, densest_place
from ...tasks.product_sums import correlations
from ...tasks.table_profile import profile
from ...words.phrases import listed, shown

MAP_SIZE = 48


def release_picture(name: str, release: Release, contents: str) -> tuple[go.Figure, str, str] | None:
    """A figure over the first one or two columns that can be an axis, its words, and what is to be said below it.

    None where there is no picture.

    Parameters
    ----------
    name : str
        Of the released file, by which the picture is remembered.
    release : Release
        Of anything.
    contents : str
        What the release holds, in words.
    """
    if release.sketch.name == Tables.name:
        answers = release.asked()
        first = profile(answers, answers.axes[0].name, {})
        return column_figure(first, first), column_in_words(first), ""
    if release.sketch.name == Products.name:
        found = correlations(release)
        return correlation_figure(found), correlations_in_words(found), ""
    picture = _picture(name, release)
    if picture is None:
        return None
    if isinstance(picture, DecisionMap):
        words = decision_in_words(f"Which group each place is like, in {contents}", picture)
        return decision_figure(picture, release.sketch.query_domain), words, ""
    what = "Density" if release.sketch.answers == "closeness" else "Average distance"
    return picture_figure(release, picture), f"{what} of {contents}.", _cut(release, picture)


def _cut(release: Release, picture: Curve | Heatmap) -> str:
    """Where the columns that are not drawn are held, if they are."""
    if not picture.at:
        return ""
    said = place_words(dict(picture.at), release)
    held = listed([f"{name} near {shown(said[name])}" for name in picture.at], MOST_NAMED)
    return f"A cut through the densest place: {held}. Explore shows other columns and places."


@st.cache_data(scope="session", max_entries=4, show_spinner=False)
def _picture(name: str, _release: Release) -> Curve | Heatmap | DecisionMap | None:
    columns = _release.sketch.query_domain.columns
    axes = [column.name for column in columns if not isinstance(column, Vector)][:2]
    averaged = len(axes) < len(columns)
    if _release.sketch.classes:
        return decision_map(_release, *axes) if len(axes) == 2 else None
    if not axes:
        return None
    if len(axes) == 1:
        return marginal_line(_release, *axes) if averaged else line(_release, *axes)
    x, y = axes
    held = {name: value for name, value in densest_place(_release).items() if name not in axes}
    if held:
        return grid(_release, x, y, held, size=map_size(_release, MAP_SIZE))
    if not averaged:
        return grid(_release, x, y, size=map_size(_release, MAP_SIZE))
    return marginal_grid(_release, x, y, size=map_size(_release, MAP_SIZE, FEWEST_PLACES))
