"""Local reports: answers are randomised where they are given. Ask a class, be one person, be the collector."""

import streamlit as st

from core.ui.frame.navigation import LOCAL
from core.ui.local_page import collector_view, person_view, poll_view
from core.ui.surroundings import frame

VIEWS = {"Be one person": person_view, "Be the collector": collector_view, "Ask a class": poll_view}

with frame(LOCAL):
    view = st.segmented_control(
        "View",
        list(VIEWS),
        default="Be one person",
        required=True,
        key="local-view",
        bind="query-params",
        label_visibility="collapsed",
    )
    VIEWS[view]()
