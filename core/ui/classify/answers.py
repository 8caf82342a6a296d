"""What released files say about groups, remembered for all visitors: the files are public, and so are such answers."""

from __future__ import annotations

import streamlit as st

from ...figures.figure_axes import View
from ...releases.release import Release
from ...tasks.classification import Classification, classify
from ...tasks.decision_map import DecisionMap, decision_map
from ..explore.answers import REMEMBERED, kept_first

RESOLUTION, AVERAGED_RESOLUTION = 96, 48
"""Cells along a side; an average reads many points a cell."""


@st.cache_data(max_entries=REMEMBERED, show_spinner="Drawing the map …")
@kept_first
def drawn_map(fingerprint: str, _release: Release, view: View, rule: str, level: float) -> DecisionMap:
    """The map of a view, over two columns."""
    drawn = len(view.columns) + len(view.held)
    cells = RESOLUTION if drawn == len(_release.sketch.query_domain.columns) else AVERAGED_RESOLUTION
    return decision_map(_release, *view.columns, dict(view.held), cells, rule, level)


def at_place(release: Release, place: dict[str, object], rule: str, level: float) -> Classification:
    """What is said of one place, a value for every column."""
    return classify(release, {name: [value] for name, value in place.items()}, rule, level)
