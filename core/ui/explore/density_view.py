"""The Density and Distance views: small pictures to start from, and a large one that answers wherever it is clicked.

The large one is drawn and asked in the visitor's browser, by what does so on a shared page; the server hears where it
was asked. It draws itself what a browser cannot: files of a mechanism that no page decodes, bands for a population,
groups, distances and films on the picture, and three columns. There a coarse picture comes first.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeVar

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...analysis.density import Curve, Heatmap, Pairs
from ...figures.answer_sentences import SHARED_NOISE, kind_sentence, noun, one_sided
from ...figures.exploration import Dense, Density, Points, Step, table_of
from ...figures.figure_axes import View
from ...figures.map_layers import axes_of_volume, heights, shells_figure, shells_in_words
from ...figures.release_pictures import (
    axes_of,
    axes_of_columns,
    drawn,
    held_sentence,
    in_words,
    marked,
    nearest_values,
    pairs_facts,
    picture_figure,
    picture_table,
)
from ...figures.share.shared_page import INSIDE_PLACE, inside_script, inside_style
from ...formatting.numbers import listed
from ...releases.release import Release
from ..frame.marks import BARE, fit_stage, for_screen, note, on_a_phone, picture_config, side
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
from ..released.public_answers import closeness
from ..released.taking_along import take_along
from .picture_layers import Layers, add_layers, below, choose_layers, film_of, marks_of, modes_on, own_lines

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


MATRIX, COARSE = "explore-pairs", "explore-pairs-coarse"


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
    columns = domain.drawn

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
    """Curve or map, drawn and asked in the visitor's browser where that can do so, and else by the server."""
    centre = None if _near(opened) else public_answers.nearest(opened.identity, opened.release)
    view = hold_others(opened, columns, centre, held)
    title = f"{drawn(opened.release)} over {listed(columns)}"
    if layers.of_server or not public_answers.can_be_pictured(opened, view):
        asked, figure = _by_server(opened, view, layers, centre)
    else:
        asked = _by_browser(opened, view, layers, centre)
        figure = partial(_figure, opened, view, layers, centre, asked)
    below(opened, layers)
    if centre is not None and (words := held_sentence(opened.release, view, centre)):
        note(words)
    take_along(
        opened,
        drawn(opened.release).split()[-1].lower(),
        lambda: picture_table(opened.release, public_answers.picture(opened.identity, opened.release, view)),
        steps(opened.release, view, asked),
        figure,
        title,
    )


def _by_browser(
    opened: Opened, view: View, layers: Layers, centre: Mapping[str, object] | None
) -> tuple[object, ...] | None:
    """The picture that answers where it is clicked; what was asked last on it, None before anything was."""
    release, axes = opened.release, axes_of_columns(opened.release.domain, view.columns)
    marks = modes_on(opened, axes, layers)
    if centre is not None and not one_sided(release.sketch) and all(centre[name] == at for name, at in view.held):
        marks = [[*(axis.place(centre[axis.name]) for axis in axes), *[None] * (2 - len(axes)), True]]
    asked = public_answers.show_picture(opened, view, marks, own_lines(release.domain, view.columns, layers))
    if _near(opened):
        with st.popover("What is closeness?"):
            note(closeness(opened.identity, release))
    else:
        note(kind_sentence(release.sketch))
    return None if asked is None else tuple(axis.value(at) for axis, at in zip(axes, asked, strict=True))


def _by_server(
    opened: Opened, view: View, layers: Layers, centre: Mapping[str, object] | None
) -> tuple[tuple[object, ...], Callable[[], go.Figure]]:
    """The picture that a browser cannot draw by itself, with the typed point beside it."""
    main, aside = st.columns([2.6, 1], gap="large")
    height: Literal["content", "stretch"] = "content" if on_a_phone() else "stretch"
    with main, st.container(key="fg-stage", height=height):
        place = coarse_first(
            (opened.identity, view),
            lambda: _coarse(opened, view),
            lambda first: st.plotly_chart(
                for_screen(picture_figure(opened.release, first)),
                height=height,
                config=BARE,
                alt="A coarse picture, to begin with",
            ),
        )
    picture = public_answers.picture(opened.identity, opened.release, view)
    asked = AskedPoint(opened, view)
    asked.start(peak(opened.release, picture) if centre is None else middle(opened.release, picture))
    figure = _figure(opened, view, layers, centre, asked.values)
    with main:
        fit_stage(figure)
        place.plotly_chart(
            for_screen(figure),
            key="explore-picture",
            height=height,
            alt=in_words(opened.release, picture),
            config=picture_config(opened),
        )
        note(SHARED_NOISE)
    with aside, side("answer"):
        st.header("Ask a point", anchor=False)
        asked.fields()
        asked.show_answer()
    return asked.values, lambda: figure


def _figure(
    opened: Opened, view: View, layers: Layers, centre: Mapping[str, object] | None, asked: tuple[object, ...] | None
) -> go.Figure:
    """The picture of a view with its layers, as the server draws it."""
    picture = public_answers.picture(opened.identity, opened.release, view)
    marks = marks_of(opened, picture, layers)
    if centre is not None:
        marks = marked(opened.release, picture, [nearest_values(opened.release, view, picture, centre)])
    if layers.film is not None:
        return film_of(opened, view, layers.film, marks)
    figure = picture_figure(opened.release, picture, marks, asked, layers.lines)
    return add_layers(figure, opened, view, layers) if isinstance(picture, Heatmap) else figure


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


def steps(release: Release, view: View, asked: tuple[object, ...] | None) -> tuple[Step, ...]:
    """What was asked, for a program: the picture, and the point where no column is averaged over."""
    shown = Density(view.columns, dict(view.held), public_answers.picture_size(release, view))
    if asked is None or view.averages(release):
        return (shown,)
    at = dict(view.held) | dict(zip(view.columns, asked, strict=True))
    return shown, Points({name: [value] for name, value in at.items()})
