"""Layers on a picture: modes, groups and distances over the same places, an outline, and a film along a column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...analysis.densest_cells import can_be_intersected
from ...analysis.density import Curve, Heatmap
from ...analysis.modes import Mode
from ...domain import Categorical, Domain
from ...domain.round_columns import LONGITUDE
from ...errors import RequestError
from ...figures.answer_sentences import MODES_OF_RECORDS, noun, place_words, rules, standing_out
from ...figures.density_figures import Marks, close_by
from ...figures.distance_figures import distance_unit
from ...figures.exploration import MOST_MODES, Modes, table_of
from ...figures.figure_axes import Axis, View, is_map, outlines, read_outlines
from ...figures.map_layers import add_distances, add_groups, film_figure, with_buttons
from ...figures.release_pictures import axes_of, in_units
from ...formatting.escapes import in_markdown, in_plotly
from ...formatting.numbers import percent, plural, rounded, rounded_range
from ...releases.release import load
from ...sources.public_tables import bundled_distances
from ..frame.marks import note, refusals
from ..frame.session import Opened, session
from ..released import public_answers
from ..released.chosen_view import LAYERS, drawable
from ..released.public_answers import drawn_map
from ..released.taking_along import take_along

MOST_MEGABYTES = 20
READ = "explore-outline-read"  # Session state: the outline that was read last, and the file it is of.


def own_outline(opened: Opened, columns: tuple[str, ...]) -> tuple[np.ndarray, ...] | None:
    """Let the visitor drop an outline in, where the picture is a map; None for the bundled one."""
    drawn = [opened.release.domain.drawn[name] for name in columns]
    if len(drawn) != 2 or not is_map(*drawn):
        return None
    with st.popover("Outline"):
        dropped = st.file_uploader(
            "Your own outline (GeoJSON, in degrees)",
            type=["geojson", "json"],
            max_upload_size=MOST_MEGABYTES,
            key="explore-outline",
        )
        note("Districts, rivers, a fence: lines and areas are drawn in place of the bundled coasts. It stays with you.")
        if dropped is None:
            st.session_state.pop(READ, None)
            return None
        before, lines = st.session_state.get(READ, (None, None))
        if before != dropped.file_id:
            try:
                lines = read_outlines(dropped.getvalue())
            except RequestError as error:
                st.error(in_markdown(error))
            st.session_state[READ] = dropped.file_id, lines
        return lines


@refusals(st.info)
def modes_view(opened: Opened) -> None:
    """Everything that is said about the modes: under a picture that marks them, or where there is none."""
    found = public_answers.modes(opened.identity, opened.release)
    _say_how_many(found)
    st.dataframe(_table(opened, found), hide_index=True, key="explore-modes", alt="The modes, the densest first")
    note(
        f"A mode is a place with more {noun(opened.release)} than anywhere just around it. To tell it from a bump of "
        "noise, one part of the rows found it and another part, which knows nothing of the search, judged how far it "
        "rises above the way to a denser place."
    )
    if opened.release.population is not None:
        note(MODES_OF_RECORDS)
    take_along(opened, "modes", lambda: table_of(found), (Modes(MOST_MODES),), label="Take the modes along")
    if can_be_intersected(opened.release):
        _second_opinion(opened)


def _say_how_many(found: tuple[Mode, ...]) -> None:
    sure = sum(mode.significant for mode in found)
    doubtful = len(found) - sure
    least = "At least " if len(found) == MOST_MODES and sure else ""
    words = f"**{least}{sure or 'No'} {plural(sure, 'mode')}** {plural(sure, 'stands', 'stand')} out from the noise"
    st.markdown(words + (f"; {doubtful} more, faint on the picture, could be noise." if doubtful else "."))


def _table(opened: Opened, found: tuple[Mode, ...]) -> pd.DataFrame:
    counted = noun(opened.release)
    rows = []
    for number, mode in enumerate(found, 1):
        error = _error(mode)
        least, most = rounded_range(mode.low, mode.high, error)
        rows.append(
            {"Mode": str(number)}
            | place_words(mode.position, opened.release)
            | {
                close_by(counted).capitalize(): rounded(mode.estimate, error),
                "Very likely between": f"{least} and {most}",
                "Stands out by": standing_out(mode),
            }
        )
    return pd.DataFrame(rows)


def _error(mode: Mode) -> float:
    """The scale to which a mode's numbers are rounded: a quarter of its 95% interval is about one standard error."""
    return (mode.high - mode.low) / 4.0


def marks(opened: Opened, picture: Curve | Heatmap, found: tuple[Mode, ...]) -> Marks:
    """Where the modes lie on a picture."""
    axes = axes_of(opened.release, picture)
    places = [np.array([axis.place(mode.position[axis.name]) for mode in found], dtype=float) for axis in axes]
    sure = np.array([mode.significant for mode in found], dtype=bool)
    if len(axes) == 2:
        return Marks(*places, sure)
    return Marks(places[0], np.interp(places[0], axes[0].values, picture.estimate), sure)


@refusals(st.info)
def _second_opinion(opened: Opened) -> None:
    asked = st.toggle(
        "Ask the cells too",
        key="explore-cells",
        help="Another way to find the densest place: every row names its fullest cell, and where most of these cells "
        "overlap, the densest place should be (Coleman and Shrivastava 2021, section 4).",
    )
    if not asked:
        return
    found = public_answers.intersection(opened.identity, opened.release)
    place = ", ".join(f"{name} {words}" for name, words in place_words(found.position, opened.release).items())
    wide = (found.high - found.low) / 4.0
    note(
        f"The fullest cells of {found.satisfied:,} out of {found.rows:,} rows overlap at {place}, with about "
        f"{rounded(found.estimate, wide)} {close_by(noun(opened.release))}. They hold {percent(found.weight)} of "
        "what the fullest cells count: the nearer to 100%, the more one place has them all."
    )


MODES_LAYER, GROUPS, DISTANCES, FILM = "Modes", "Groups", "Distances", "Film"
FIRST = "explore-film-column"  # Key of the column that a film goes along.
WHAT = {
    MODES_LAYER: "Modes: where most are, numbered from the densest.",
    GROUPS: "Groups: where one of them is surely the answer.",
    DISTANCES: "Distances: lines from which everyone is equally far on average, of another released file.",
    FILM: "Film: the picture along another column, such as time.",
}


@dataclass(frozen=True)
class Layers:
    """What lies on the picture.

    ``far`` is the released file of distances that its lines are of, ``film`` the column that a film goes along.
    ``lines`` are those of an outline that the visitor brought; None for the bundled one.
    """

    modes: bool = False
    groups: bool = False
    far: Opened | None = None
    film: str | None = None
    lines: tuple | None = None

    @property
    def of_server(self) -> bool:
        """Whether a browser cannot draw them by itself."""
        return self.groups or self.far is not None or self.film is not None


def choose_layers(opened: Opened, columns: tuple[str, ...], held: Sequence[str]) -> Layers:
    """Let the visitor put layers on the picture of some columns; there are as many as the file can give."""
    far = _distances(opened, columns)
    along = [name for name in _ordered(opened, columns) if name not in held]
    offers = {
        MODES_LAYER: not isinstance(_column(opened, columns[0]), Categorical) or len(columns) == 2,
        GROUPS: opened.grouped is not None and len(columns) == 2,
        DISTANCES: far is not None,
        FILM: bool(along),
    }
    offered = [name for name, offer in offers.items() if offer and opened.release.sketch.answers == "closeness"]
    if not offered:
        return Layers(lines=own_outline(opened, columns))
    if LAYERS in st.session_state:  # of another file, perhaps
        st.session_state[LAYERS] = [name for name in st.session_state[LAYERS] if name in offered]
    chosen = st.pills(
        "On the picture",
        offered,
        selection_mode="multi",
        key=LAYERS,
        bind="query-params",
        persist_state="session",
        help=" ".join(WHAT[name] for name in offered),
    )
    film = None
    if FILM in chosen:
        film = st.selectbox("Along", along, format_func=in_markdown, key=FIRST, persist_state="session", width=160)
    return Layers(
        MODES_LAYER in chosen,
        GROUPS in chosen,
        far if DISTANCES in chosen else None,
        film,
        own_outline(opened, columns),
    )


def _column(opened: Opened, name: str):
    domain = opened.release.domain
    return domain.columns[domain.names.index(name)]


def _ordered(opened: Opened, columns: tuple[str, ...]) -> list[str]:
    """Columns that a film of two columns can go along: numbers, dates, and steps in order."""
    others = [name for name in drawable(opened.release.domain) if name not in columns]
    return [name for name in others if not isinstance(_column(opened, name), Categorical)] if len(columns) == 2 else []


def _distances(opened: Opened, columns: tuple[str, ...]) -> Opened | None:
    """What knows the distances over the same two columns: a question of this file, another open one, or a bundled."""
    if len(columns) < 2:
        return None
    drawn = [_column(opened, name) for name in columns]
    visitor = session()
    whole = visitor.shown
    parts = [] if whole is None else [Opened(whole.name, whole.data, one, question=name) for name, one in _parts(whole)]
    for one in (*parts, *reversed(visitor.opened.values())):
        domain = one.release.domain
        if one.release.sketch.answers == "distance" and all(column in domain.columns for column in drawn):
            return one
    for bundled, path in bundled_distances():
        if bundled.domain.columns == opened.release.domain.columns:
            data = path.read_bytes()
            return Opened(path.name, data, load(data))
    return None


def _parts(whole: Opened):
    return whole.release.parts.items()


def marks_of(opened: Opened, picture: Curve | Heatmap, layers: Layers) -> Marks | None:
    """The modes as marks, where they are wanted and can be found."""
    if not layers.modes:
        return None
    try:
        return marks(opened, picture, public_answers.modes(opened.identity, opened.release))
    except RequestError:
        return None  # it is said below the picture


def modes_on(opened: Opened, axes: tuple[Axis, ...], layers: Layers) -> list[list[object]]:
    """The modes that are wanted: where each is on the axes of a picture, and whether it stands out."""
    try:
        found = public_answers.modes(opened.identity, opened.release) if layers.modes else ()
    except RequestError:
        return []  # it is said below the picture
    nothing = [None] * (2 - len(axes))
    return [[*(axis.place(one.position[axis.name]) for axis in axes), *nothing, bool(one.significant)] for one in found]


def own_lines(domain: Domain, columns: tuple[str, ...], layers: Layers) -> list[list[list[float]]] | None:
    """The outline that the visitor brought, as far as it lies on a map of two columns; None for the bundled one."""
    if layers.lines is None:
        return None
    drawn = (domain.drawn[name] for name in columns)
    longitude, latitude = sorted(drawn, key=lambda one: one.axis != LONGITUDE)
    found = outlines((longitude.low, longitude.high), (latitude.low, latitude.high), layers.lines)
    return [np.round(line, 5).tolist() for line in found]


def film_of(opened: Opened, view: View, column: str, found: Marks | None) -> go.Figure:
    """The film of a view along a column that is neither drawn nor held, with the modes on it that were found."""
    values, pictures = public_answers.film(opened.identity, opened.release, view, column)
    axis = Axis.of(opened.release.domain.drawn[column], values)
    names = [axis.words(value) for value in axis.values]
    start, prefix = len(names) // 2, in_plotly(f"{axis.name}: ")
    domain, wordless = opened.release.domain, [""] * len(names)
    figure = film_figure(pictures, wordless, names, start, domain, noun(opened.release), prefix, marks=found)
    return with_buttons(figure)


def add_layers(figure: go.Figure, opened: Opened, view: View, layers: Layers) -> go.Figure:
    """Draw the lines of the layers on a figure of a view."""
    if layers.groups and opened.grouped is not None:
        rule = rules(opened.grouped)[0]
        decided = drawn_map(opened.fingerprint, opened.grouped, view, rule, public_answers.LEVEL)
        axes = tuple(Axis.of(opened.release.domain.drawn[name], values) for name, values in _places(decided))
        add_groups(figure, decided, axes)
    if layers.far is not None:
        far = layers.far
        centre = public_answers.nearest(far.identity, far.release)
        held = tuple((name, value) for name, value in centre.items() if name not in view.columns)
        picture = public_answers.picture(far.identity, far.release, View(view.columns, held))
        add_distances(
            figure, in_units(far.release, picture), axes_of(far.release, picture), distance_unit(far.release.sketch)
        )
    return figure


def _places(decided) -> tuple:
    return (decided.x, decided.x_values), (decided.y, decided.y_values)


def below(opened: Opened, layers: Layers) -> None:
    """What there is to say about the layers, under the picture."""
    if layers.groups:
        note("A group is outlined where it is surely the answer; the page Classify says how surely, and for any place.")
    if layers.far is not None:
        note(f"The lines are from {layers.far.name}, a released file with a promise of its own.")
    if layers.modes:
        modes_view(opened)


def follow_old_address(views: Sequence[str], view: str) -> None:
    """Modes were a view of their own once; a link to it shows them on the picture."""
    if st.query_params.get(view) == MODES_LAYER and MODES_LAYER not in views:
        st.query_params[view] = views[0]
        st.query_params[LAYERS] = MODES_LAYER
        st.session_state.pop(view, None)
        st.session_state[LAYERS] = [MODES_LAYER]
