"""Three columns at once: shells that a visitor turns, and the point that is asked beside them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ...figures.answer_sentences import SHARED_NOISE, noun
from ...figures.report.exploration import Dense, table_of
from ...figures.third_column import axes_of_volume, heights, shells_figure, shells_in_words
from ...words.phrases import listed
from ..frame.charts import on_a_phone, picture_config
from ..frame.marks import note, side
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import AskedPoint
from ..released.chosen_view import hold_others
from ..released.taking_along import take_along

WHAT = (
    "Everywhere inside a shell at least so many are very likely close by; the densest lie inside. Drag to turn it, and "
    "scroll to come nearer. What the noise hides lies in no shell."
)


def volume_view(opened: Opened, columns: tuple[str, ...], held: Sequence[str]) -> None:
    """Everything under three columns."""
    view = hold_others(opened, columns, None, held)
    volume = public_answers.volume(opened.identity, opened.release, view)
    domain, counted, title = opened.release.domain, noun(opened.release), f"Density over {listed(columns)}"
    figure = shells_figure(volume, domain, counted)
    asked = AskedPoint(opened, view)
    sure = heights(volume)
    at = divmod(int(sure.argmax()), sure.shape[1] * sure.shape[2])
    place = (at[1] % sure.shape[2], at[1] // sure.shape[2], at[0])
    asked.start(
        tuple(axis.value(axis.values[index]) for axis, index in zip(axes_of_volume(volume, domain), place, strict=True))
    )
    main, aside = st.columns([2.6, 1], gap="large")
    height = "content" if on_a_phone() else "stretch"
    with main:
        stage = st.container(key="fg-stage", height=height)
        stage.plotly_chart(
            figure,
            key="explore-volume",
            height=height,
            alt=shells_in_words(title, volume, domain, counted),
            config=picture_config(opened) | {"scrollZoom": True},
        )
        note(WHAT)
        note(SHARED_NOISE)
        step = Dense(columns, dict(view.held), public_answers.VOLUME_SIZE)
        take_along(opened, "density", lambda: table_of(volume), (step,), figure, title)
    with aside, side("answer"):
        st.header("Ask a point", anchor=False)
        asked.fields()
        asked.show_answer()
