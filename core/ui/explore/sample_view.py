"""The Sample view: synthetic points that look like the released population and are nobody."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...analysis.sampling import MOST_POINTS, Sample, drawn_together, nearness_words, not_meant_for
from ...errors import RequestError
from ...figures.map_layers import MAX_DRAWN, sample_figure
from ...figures.report.exploration import Sampled
from ...formatting.numbers import listed
from ..frame.marks import Visibility, for_screen, mark, note, picture_config, refusals, show
from ..frame.session import Opened
from ..released import public_answers
from ..released.chosen_view import choose_two, drawable
from ..released.taking_along import take_along

WHAT_THEY_ARE = (
    "These points are **nobody**. They were made from the released file alone, never from a person's record, so they "
    "cost no one any privacy. Together they agree with the file within its noise; one by one they mean nothing. Detail "
    "finer than the closeness that was released, and how many columns hang together, is partly invented."
)
OF_TABLES = (
    "These records are **nobody**. They were made from the released file alone, never from a person's record, so they "
    "cost no one any privacy. Their counts are those of the file's best guess, as nearly as whole records can be."
)
OF_BOTH = (
    "These records are **nobody**. They were made from the released file alone, never from a person's record, so they "
    "cost no one any privacy. Their counts are those of the tables, as nearly as whole records can be. Within cells "
    "they lie where the densities say."
)
SHARP, SMOOTH = "A population that explains the file", "The file's own smooth density"
ALONE, TOGETHER = "The tables alone", "Tables and density together"
POOR_FIT = 1.5  # A population whose misfit is larger than this does not explain the release well.
UNMIXED = 1.05


@refusals(st.info)
def sample_view(opened: Opened) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        count = st.number_input(
            "How many", 1, MOST_POINTS, 1000, key="explore-sample-count", persist_state="session", width=160
        )
        draw = st.number_input(
            "Draw number",
            0,
            1_000_000,
            0,
            key="explore-sample-seed",
            persist_state="session",
            width=160,
            help="The same number gives the same points, so that others can check them.",
        )
        kinds = kinds_of(opened)
        kind = kinds[0]
        if len(kinds) > 1:
            kind = st.selectbox(
                "Drawn from", kinds, key=f"explore-sample-kind-{len(kinds)}", persist_state="session", width=320
            )
    if kind == TOGETHER:
        opened = replace(opened, release=opened.several, several=None, question=None, part=None, bandwidth=None)
    drawn = public_answers.synthetic(opened.identity, opened.release, int(count), int(draw), kind != SMOOTH)
    mark(Visibility.PUBLIC, "Synthetic points: safe to hand out")
    st.markdown({ALONE: OF_TABLES, TOGETHER: OF_BOTH}.get(kind, WHAT_THEY_ARE))
    if drawn.nearness is not None:
        note(nearness_words(drawn.nearness))
    caution = not_meant_for(opened.release, drawn)
    if caution is not None:
        st.warning(caution)
    figure = None
    if drawable(opened.release.domain):
        figure = _show(opened, drawn.points)
    warn_of(drawn)
    step = Sampled(int(count), int(draw), kind != SMOOTH)
    take_along(opened, "sample", lambda: drawn.points, (step,), figure, "Synthetic points", typed=True)


def kinds_of(opened: Opened) -> tuple[str, ...]:
    """What can be drawn from, the usual first: of a file with tables and densities, both together too."""
    counted = opened.release.sketch.asked_for == "tables"
    own = (ALONE,) if counted else (SHARP, SMOOTH)
    if opened.several is None:
        return own
    try:
        _, densities = drawn_together(opened.several)
    except RequestError:  # no tables, or more than one
        return own
    if counted and densities:
        return TOGETHER, *own
    return (*own, TOGETHER) if opened.question in densities else own


def warn_of(drawn: Sample) -> None:
    """Say when the points are not what they should be."""
    if drawn.misfit is not None and drawn.misfit > POOR_FIT:
        st.warning(
            f"The file knows more than these points show: they differ from it by {drawn.misfit:.1f} times its own "
            "noise, as too few places were tried for so fine a picture. Take numbers from the other views."
        )
    if drawn.r_hat is not None and drawn.r_hat > UNMIXED:
        st.warning(
            "The chains that draw these points have not met, so some places may be drawn too often or too rarely; "
            "draw more points, or take numbers from the other views."
        )


def _show(opened: Opened, points: pd.DataFrame) -> go.Figure:
    domain = opened.release.domain
    columns = choose_two(domain)
    axes = tuple(domain.columns[domain.names.index(name)] for name in columns)
    shown = min(len(points), MAX_DRAWN) if len(columns) == 2 else len(points)
    figure = sample_figure(points, axes)
    show(
        for_screen(figure),
        "explore-sample",
        f"{shown:,} synthetic points over {listed(columns)}",
        picture_config(opened),
    )
    if shown < len(points):
        note(f"The first {shown:,} points are drawn.")
    return figure
