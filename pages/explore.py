"""Explore: ask a released file anything. It needs the file and nothing else."""

import streamlit as st

from core.ui.explore_anomalies import anomalies_view
from core.ui.explore_density import density_view
from core.ui.explore_export import no_report_yet, report_action
from core.ui.explore_modes import modes_view
from core.ui.explore_opening import about, headline, open_first
from core.ui.explore_sample import sample_view
from core.ui.frame import EXPLORE, frame
from core.ui.session import Opened, Session

DENSITY = "Density"
VIEWS = {DENSITY: density_view, "Modes": modes_view, "Anomalies": anomalies_view, "Sample": sample_view}


def explore(visitor: Session, opened: Opened) -> None:
    headline(opened)
    with st.container(horizontal=True, gap="small"):
        view = st.segmented_control(
            "View", list(VIEWS), default=DENSITY, required=True, key="view", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        st.space("stretch")
        about(visitor, opened)
    VIEWS[view](opened)
    report_action(opened)


with frame(EXPLORE) as visitor:
    if visitor.shown is None:
        open_first(visitor)
        no_report_yet()
    else:
        explore(visitor, visitor.shown)
