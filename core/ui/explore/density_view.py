"""The Density and Distance views: small pictures to start from, and a large one that answers wherever it is clicked.

A coarse picture is there while the fine one is worked out. Figures are made once for everyone who looks at the same
part of the same file: making one takes ten times as long as anything else that a click does. What differs from visitor
to visitor is the ring around the point that is asked on a map, which is put on it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...analysis.density import Curve, Heatmap, Pairs
from ...figures.answer_sentences import SHARED_NOISE, noun
from ...figures.density_figures import Marks
from ...figures.figure_axes import View, for_areas, ring
from ...figures.map_layers import axes_of_volume, heights, shells_figure, shells_in_words
from ...figures.release_pictures import (
    axes_of,
    drawn,
    held_sentence,
    in_words,
    marked,
    nearest_values,
    pairs_facts,
    picture_figure,
    picture_table,
)
from ...figures.report.exploration import Dense, Density, Points, Step, table_of
from ...figures.share.shared_page import INSIDE_PLACE, inside_script, inside_style
from ...formatting.numbers import listed
from ...releases.release import Release
from ..frame.charts import fit_stage, for_screen, on_a_phone, picture_config
from ..frame.marks import note, side
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import AskedPoint
from ..released.chosen_view import (
    MOST_PAIRED,
    choices,
    choose_columns,
    choose_held,
    drawable,
    hold_others,
    open_picture,
)
from ..released.public_answers import REMEMBERED
from ..released.taking_along import take_along
from .asking_on_pictures import MODES as KINDS
from .asking_on_pictures import POINT, AskedArea, choose_asking, few_elements, follow_clicks
from .picture_layers import Layers, add_layers, below, choose_layers, film_of, marks_of

SMALL = st.components.v2.component(
    "frostglass_pairs", html=INSIDE_PLACE, css=inside_style(), js=inside_script("matrix")
)
SEEN = "explore-seen"  # Session state: what was worked out before, and is remembered.
PICTURE = TypeVar("PICTURE")


def coarse_first(
    what: object, coarse: Callable[[], PICTURE | None], draw: Callable[[PICTURE], object]
) -> DeltaGenerator:
    """The place for a picture, in which a coarse one is shown unless the fine one was worked out before.

    `what`: Tells pictures apart. `coarse`: Works the coarse one out; None where the fine one is as quick.
    """
    place, seen = st.empty(), st.session_state.setdefault(SEEN, set())
    if what not in seen:
        seen.add(what)
        first = coarse()
        if first is not None:
            with place.container():
                draw(first)
    return place


def drawing(
    opened: Opened,
    view: View,
    picture: Curve | Heatmap,
    marks: Marks | None,
    asked: tuple[object, ...],
    lines: tuple[np.ndarray, ...] | None = None,
) -> go.Figure:
    """The figure of a picture, with a ring around what is asked; it may be changed.

    `opened`, `view`: what is looked at: `answers.picture` of them is the ``picture``. `lines`: an outline that the
    visitor brought; a figure with it is made for them alone.
    """
    if isinstance(picture, Curve) or lines is not None:
        return picture_figure(opened.release, picture, marks, asked, lines)
    # It was checked when it was made.
    figure = go.Figure(_map(opened.identity, opened.release, picture, view, marks), _validate=False)
    x, y = (axis.place(value) for axis, value in zip(axes_of(opened.release, picture), asked, strict=True))
    return figure.add_trace(ring(x, y))


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _map(identity: str, _release: Release, _picture: Heatmap, view: View, marks: Marks | None) -> dict[str, Any]:
    figure: dict[str, Any] = picture_figure(_release, _picture, marks).to_dict()
    return figure


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


CHART, MATRIX, COARSE = "explore-picture", "explore-pairs", "explore-pairs-coarse"


@st.fragment
def density_view(opened: Opened) -> None:
    """Everything under Density, or under Distance; a change in it draws nothing else of the page again."""
    with choices():
        columns = choose_columns(opened.release.domain, three=_near(opened))
        held = () if columns is None else choose_held(opened, columns, _near(opened))
        layers = Layers() if columns is None or len(columns) > 2 else choose_layers(opened, columns, held)
    if columns is None:
        _matrix(opened)
    elif len(columns) > 2:
        volume_view(opened, columns, held)
    else:
        _picture(opened, columns, held, layers)


def _matrix(opened: Opened) -> None:
    """Small pictures of all pairs; clicking one opens it."""
    domain = opened.release.domain
    names = drawable(domain)
    if len(names) > MOST_PAIRED:
        names = tuple(
            st.multiselect("Columns", names, names[:MOST_PAIRED], max_selections=MOST_PAIRED, key="explore-paired")
        )
        if not names:
            note("Pick the columns to pair.")
            return
    note("Click or tap a picture to open it.")
    columns = {column.name: column for column in domain.columns}

    def draw(pictures: Pairs, key: str) -> None:
        facts = pairs_facts(pictures, columns, _near(opened)) | {"identity": f"{key} {opened.identity} {names}"}
        SMALL(key=key, data=facts, on_opened_change=lambda: _open(st.session_state[key].opened, names))

    place = coarse_first(
        (opened.identity, names), lambda: _coarse_pairs(opened, names), lambda pictures: draw(pictures, COARSE)
    )
    pairs = public_answers.small_pictures(opened.identity, opened.release, names)
    with place.container():
        draw(pairs, MATRIX)
    note(
        "Each has a scale of its own; what is not drawn is averaged over."
        if _near(opened)
        else "Each has a scale of its own, strongest where everyone is nearest; what is not drawn is held there."
    )


def _open(asked: object, names: Sequence[str]) -> None:
    """Show the picture large that was clicked: of one column, or of two."""
    if isinstance(asked, list) and 1 <= len(asked) <= 2 and all(name in names for name in asked):
        open_picture(tuple(asked))


def _picture(opened: Opened, columns: tuple[str, ...], held: Sequence[str], layers: Layers) -> None:
    centre = None if _near(opened) else public_answers.nearest(opened.identity, opened.release)
    view = hold_others(opened, columns, centre, held)
    main, aside = st.columns([2.6, 1], gap="large")
    with aside, side("answer"):
        kind, asking = choose_asking(opened, view), st.container()
    height: Literal["content", "stretch"] = "content" if on_a_phone() else "stretch"
    with main, st.container(key="fg-stage", height=height):
        place = coarse_first(
            (opened.identity, view),
            lambda: _coarse(opened, view),
            lambda first: st.plotly_chart(
                for_screen(picture_figure(opened.release, first)),
                height=height,
                config={"displayModeBar": False},
                alt="A coarse picture, to begin with",
            ),
        )
    picture = public_answers.picture(opened.identity, opened.release, view)
    asked = AskedPoint(opened, view)
    marks = marks_of(opened, picture, layers)
    if centre is not None:
        nearest = nearest_values(opened.release, view, picture, centre)
        marks = marked(opened.release, picture, [nearest])
        asked.start(nearest if marks is not None else middle(opened.release, picture))
    else:
        asked.start(peak(opened.release, picture))
    axes = axes_of(opened.release, picture)
    with main:
        if layers.film is None:
            figure = drawing(opened, view, picture, marks, asked.ringed(), layers.lines)
        else:
            figure = film_of(opened, view, layers.film, marks)
        if isinstance(picture, Heatmap):
            add_layers(figure, opened, view, layers)
        fit_stage(figure)
        area = AskedArea(opened, view, kind)
        chart = CHART if kind == POINT else f"{CHART}-{KINDS[kind]}"
        place.plotly_chart(
            few_elements(for_screen(figure if kind == POINT else for_areas(figure, KINDS[kind]))),
            key=chart,
            height=height,
            selection_mode=KINDS[kind],
            on_select=lambda: asked.clicked(chart, axes) if kind == POINT else area.drawn(chart),
            alt=in_words(opened.release, picture),
            config=picture_config(opened),
        )
        follow_clicks()
        note(SHARED_NOISE)
        below(opened, layers)
        if centre is not None and (held := held_sentence(opened.release, view, centre)):
            note(held)
        take_along(
            opened,
            drawn(opened.release).split()[-1].lower(),
            lambda: picture_table(opened.release, picture),
            steps(view, picture, asked.values),
            figure,
            f"{drawn(opened.release)} over {listed(columns)}",
        )
    with asking:
        if kind != POINT:
            st.header("Ask an area", anchor=False)
            area.ask()
            return
        st.header("Ask a point", anchor=False)
        note("Type the point to be asked." if layers.film else "Click or tap anywhere on the picture, or type a point.")
        asked.fields()
        asked.show_answer()


def _coarse_pairs(opened: Opened, names: tuple[str, ...]) -> Pairs | None:
    at_hand = public_answers.at_hand(public_answers.small_pictures, opened.identity, names)
    return None if at_hand else public_answers.coarse_pictures(opened.release, names)


def _coarse(opened: Opened, view: View) -> Heatmap | None:
    at_hand = public_answers.at_hand(public_answers.picture, opened.identity, view)
    return None if at_hand else public_answers.coarse_picture(opened.release, view)


def peak(release: Release, picture: Curve | Heatmap) -> tuple[object, ...]:
    """The values of the drawn columns where most people are."""
    at = np.unravel_index(picture.estimate.argmax(), picture.estimate.shape)[::-1]
    return tuple(axis.value(axis.values[index]) for axis, index in zip(axes_of(release, picture), at, strict=True))


def middle(release: Release, picture: Curve | Heatmap) -> tuple[object, ...]:
    """The values in the middle of a picture."""
    return tuple(axis.value(axis.values[len(axis.values) // 2]) for axis in axes_of(release, picture))


def _near(opened: Opened) -> bool:
    """Whether the file says how many are near, and not how far everyone is."""
    return opened.release.sketch.answers == "closeness"


def steps(view: View, picture: Curve | Heatmap, asked: tuple[object, ...]) -> tuple[Step, ...]:
    """What was asked, for a program: the picture, and the point where no column is averaged over."""
    size = len(picture.values) if isinstance(picture, Curve) else max(picture.estimate.shape)
    shown = Density(view.columns, dict(view.held), size)
    if picture.averaged:
        return (shown,)
    at = dict(view.held) | dict(zip(view.columns, asked, strict=True))
    return shown, Points({name: [value] for name, value in at.items()})
