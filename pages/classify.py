"""Classify: which group is a place like? It needs a released file with groups and nothing else."""

import streamlit as st

from core.ui.asked_groups import no_points_yet
from core.ui.beside_model import groups_view, model_alone, open_groups
from core.ui.frame.navigation import CLASSIFY
from core.ui.released.chosen_view import choose_grouped, grouped
from core.ui.released.kept_files import MODEL
from core.ui.released.opening_files import about, headline
from core.ui.surroundings import frame

with frame(CLASSIFY) as visitor:
    if visitor.shown is None or not grouped(visitor.shown):
        if MODEL in st.session_state:
            model_alone(st.session_state[MODEL])
        open_groups(visitor)
        no_points_yet("a released file with groups")
    else:
        headline(visitor.shown)
        opened = visitor.shown
        groups_view(choose_grouped(opened), lambda: about(visitor, opened, grouped))
