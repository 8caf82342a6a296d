"""Explore: ask a released file anything. It needs the file and nothing else."""

import streamlit as st

from core.figures.answer_sentences import BEYOND_RECORDS, has_groups
from core.sketches.sums_of_products import Products
from core.sketches.tables.tables import Tables
from core.ui.beside_model import groups_view
from core.ui.explore.density_view import density_view
from core.ui.explore.difference_view import COMPARE, difference_view
from core.ui.explore.own_points import anomalies_view, points_view
from core.ui.explore.picture_layers import follow_old_address, modes_view
from core.ui.explore.population_views import (
    axes_view,
    centres_view,
    has_centres,
    regression_view,
    sample_view,
    together_view,
)
from core.ui.explore.sets_view import one_set_view, sets_view
from core.ui.explore.table_views import ask_view, local_view, overview_view
from core.ui.frame.marks import choose_one, note
from core.ui.frame.navigation import EXPLORE
from core.ui.frame.session import Opened, Session
from core.ui.released.chosen_view import (
    VIEW,
    choose_bandwidth,
    choose_part,
    choose_population,
    choose_question,
    choose_run,
    drawable,
    of_same_population,
    start_with,
)
from core.ui.released.kept_files import open_last
from core.ui.released.live_samples import released_live_view, sample_of
from core.ui.released.opening_files import about, headline, open_first
from core.ui.released.taking_along import dress_embedded, keep_address, no_report_yet, open_linked, report_action
from core.ui.surroundings import frame

VIEWS = {
    "Overview": overview_view,
    "Ask": ask_view,
    "Density": density_view,
    "Modes": modes_view,
    "Anomalies": anomalies_view,
    "Sample": sample_view,
    "Distance": density_view,
    "Centres": centres_view,
    "Your points": points_view,
    "Live ε": released_live_view,
    "Regression": regression_view,
    "What goes together": together_view,
    "Main axes": axes_view,
    "One set": one_set_view,
    "Your sets": sets_view,
}
GROUPS = "Groups"
PICTURED = ("Density", "Distance")
"""Views whose pictures can be compared with those of another file."""


def views_of(opened: Opened) -> tuple[str, ...]:
    """The views that a file can give, the one to begin with first."""
    release = opened.release
    if release.domain.holds_sets:
        return "One set", "Your sets"
    if release.sketch.name == Products.name:
        return "Regression", "What goes together", "Main axes"
    if release.sketch.name == Tables.name:
        return "Overview", "Ask", "Sample"
    pictured = bool(drawable(release.domain))
    if release.sketch.answers == "distance":
        views = ("Distance", "Centres", "Your points")
        return tuple(view for view in views if has_centres(release) or view != "Centres") if pictured else views[:0:-1]
    live = ("Live ε",) * (sample_of(release) is not None)
    return (
        ("Density", "Anomalies", "Sample", *live, "Your points")
        if pictured
        else ("Your points", "Anomalies", "Modes", "Sample")
    )


def explore(visitor: Session, opened: Opened) -> None:
    headline(opened)
    opened = choose_run(opened)
    question = choose_question(opened)
    part = choose_part(question)
    views = (*views_of(part), *(GROUPS,) * has_groups(question.release))
    if len(visitor.opened) > 1 and not part.release.domain.holds_sets and views[0] in ("Overview", *PICTURED):
        views = (*views, COMPARE)
    start_with(part, views[0])
    follow_old_address(views, VIEW)
    if st.session_state.get(VIEW, views[0]) not in views:  # of another part of the file
        del st.session_state[VIEW]
    with st.container(horizontal=True, gap="small", key="fg-views"):
        view = choose_one("View", views, VIEW, views[0], linked=True, silent=True)
        st.space("stretch")
        asked = choose_population(choose_bandwidth(part))
        whole = of_same_population(opened, asked)
        about(visitor, whole)
    if view == GROUPS:
        groups_view(question)
        return
    if asked.release.population is not None:
        note(BEYOND_RECORDS)
    compared = None
    if view == COMPARE:
        compared = difference_view(visitor, asked)
    else:
        VIEWS[view](asked)
    report_action(whole, asked, compared)


with frame(EXPLORE) as visitor:
    dress_embedded()
    open_linked(visitor)
    open_last(visitor)
    keep_address(visitor)
    if visitor.counted is not None:
        local_view(visitor, visitor.counted)
    elif visitor.shown is None:
        open_first(visitor)
        no_report_yet()
    else:
        explore(visitor, visitor.shown)
