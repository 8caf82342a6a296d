"""Classify: which group is a place like? It needs a released file with groups and nothing else."""

import streamlit as st

from core.ui.classify.asked_groups import choose_decision, has_map, map_view, no_points_yet, points_view
from core.ui.classify.beside_model import beside_view, model_alone, open_groups
from core.ui.frame.marks import choose_one
from core.ui.frame.navigation import CLASSIFY
from core.ui.frame.session import Opened, Session
from core.ui.released.chosen_view import choose_grouped, grouped
from core.ui.released.kept_files import MODEL
from core.ui.released.opening_files import about, headline
from core.ui.surroundings import frame

PLACES, POINTS, BESIDE = "One place", "Your points", "Beside a model"


def classify(visitor: Session, opened: Opened) -> None:
    headline(opened)
    asked = choose_grouped(opened)
    with st.container(horizontal=True, gap="small"):
        # A vector has no axes to draw a map on, so a file of vectors begins with points.
        views = [PLACES, POINTS, BESIDE] if has_map(asked.release) else [POINTS, BESIDE]
        key = "classify-view" if PLACES in views else "classify-view-of-vectors"
        view = choose_one("View", views, key, views[0], silent=True, persist_state="session")
        rule, level = choose_decision(asked.release)
        st.space("stretch")
        about(visitor, opened, grouped)
    if view == PLACES:
        map_view(asked, rule, level)
        no_points_yet()
    elif view == BESIDE:
        beside_view(asked, rule, level)
        no_points_yet()
    else:
        points_view(asked, rule, level)


with frame(CLASSIFY) as visitor:
    if visitor.shown is None or not grouped(visitor.shown):
        if MODEL in st.session_state:
            model_alone(st.session_state[MODEL])
        open_groups(visitor)
        no_points_yet("a released file with groups")
    else:
        classify(visitor, visitor.shown)
