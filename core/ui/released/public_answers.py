"""Answers of released files, remembered for all visitors: the files are public, and so are answers computed from them.

Every function takes an `Opened.identity`, by which the answer is remembered, and the release, which is not hashed.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import combinations
from typing import Any

import numpy as np
import streamlit as st

from ...analysis import density
from ...analysis.anomalies import synthetic_population
from ...analysis.answerable import READS, Box, map_size, places_along
from ...analysis.centres import Centre, find_centres, nearest_place
from ...analysis.classification import Classification, DecisionMap, classify, decision_map
from ...analysis.densest_cells import Intersection, intersect_partitions
from ...analysis.density import Volume, marginal_volume
from ...analysis.kept_answers import Kept
from ...analysis.modes import Mode, find_modes
from ...analysis.other_columns import FEWEST_PLACES, averaged_answers, averaging
from ...analysis.sampling import Sample, sample
from ...figures.answer_sentences import noun
from ...figures.bandwidth_figures import kernel_in_words
from ...figures.exploration import MOST_MODES
from ...figures.figure_axes import Axis, View
from ...figures.label import PrivacyLabel, describe, privacy_label
from ...figures.share.shared_page import INSIDE_PLACE, inside, inside_script, inside_style, pictured, worked_out
from ...figures.share.shared_pictures import drawn_names
from ...geometry.kernels import stationary
from ...releases.release import Release
from ...runtime.environment import one_thread
from ...sketches.answers import Answers
from ...sources.public_tables import ANSWERS
from ..frame.session import Opened, read_release

REMEMBERED = 64
LEVEL = 0.95
CURVE = 400  # Places along a curve, or more where the kernel is narrow.
MAP_SIZE, AVERAGED_MAP_SIZE = 200, 64  # Cells along a side; an average reads many points a cell.
FRAMES, MOST_FRAMES = 12, 24  # Pictures of a film, of numbers and of steps in order.
VOLUME_SIZE = 24  # Cells along a side of a picture in three dimensions.
# Of the work of an average, how much a first map of it takes, and its cells along a side.
COARSE, COARSE_SIZE = 1 / 20, 28
# Average distances change slowly from place to place, and reading one may take as long as a hundred of closeness.
DISTANCE_MAP_SIZE, SMALL_DISTANCE_MAP_SIZE = 24, 16


def kept_first(work: Callable[..., Any]) -> Callable[..., Any]:
    """Answer from what comes with a bundled file where that holds the answer; else work it out.

    ``work`` takes the identity of what is asked, the release, and what is asked of it.
    """

    @wraps(work)
    def answer(identity: str, _release: Release, *asked: object) -> object:
        return _shelf_of(identity).answer(_name(work, identity, asked), lambda: work(identity, _release, *asked))

    return answer


def at_hand(work: Callable[..., object], identity: str, *asked: object) -> bool:
    """Whether an answer need not be worked out, as it comes with the app or somebody asked the same before."""
    return _shelf_of(identity).holds(_name(work, identity, asked))


def _shelf_of(identity: str) -> Kept:
    return shelf(identity.partition(" ")[0])


def _name(work: Callable[..., object], identity: str, asked: tuple[object, ...]) -> str:
    return f"{work.__name__} {identity.partition(' ')[2]} {asked!r}"


@st.cache_resource(max_entries=4 * REMEMBERED, show_spinner=False)
def shelf(fingerprint: str) -> Kept:
    """The answers that come with the app for a file, which is one of its own; none for any other."""
    return Kept(ANSWERS / f"{fingerprint[:16]}.npz")


@st.cache_resource(max_entries=REMEMBERED, show_spinner=False)
def kept_open(fingerprint: str, _data: bytes) -> Release:
    """A release that comes with the app, open for good: what it worked out for one visitor it has for all."""
    return read_release(_data)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def label(identity: str, _opened: Opened) -> tuple[PrivacyLabel, list[str]]:
    """The privacy label of a file, and the same in sentences."""
    found = privacy_label(_opened.release, _opened.data)
    return found, describe(_opened.release, _opened.data, found)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
@kept_first
def picture(identity: str, _release: Release, view: View) -> density.Curve | density.Heatmap:
    """The curve or map of a view."""
    held, size = dict(view.held), picture_size(_release, view)
    if len(view.columns) == 1:
        if view.averages(_release):
            return density.marginal_line(_release, *view.columns, held, level=LEVEL)
        return density.line(_release, *view.columns, held, size, LEVEL)
    if view.averages(_release):
        return density.marginal_grid(_release, *view.columns, held, size, LEVEL)
    if _release.sketch.answers == "closeness":
        return density.grid(_release, *view.columns, held, size, LEVEL)
    # Distances are read with matrices so small that threads spend ten times longer waiting for each other.
    with one_thread():
        return density.grid(_release, *view.columns, held, size, LEVEL)


def picture_size(release: Release, view: View) -> int:
    """Places along the longer side of the picture of a view."""
    if len(view.columns) == 1:
        return places_along(release.sketch, view.columns[0], CURVE)
    if view.averages(release):
        return map_size(release, AVERAGED_MAP_SIZE, FEWEST_PLACES)
    return map_size(release, MAP_SIZE) if release.sketch.answers == "closeness" else DISTANCE_MAP_SIZE


@st.cache_data(max_entries=REMEMBERED, show_spinner="Making the film …")
@kept_first
def film(identity: str, _release: Release, view: View, column: str) -> tuple[np.ndarray, list[density.Heatmap]]:
    """The values along a column, and the map of a view at each of them."""
    places = density.axis(Box.of(_release.sketch), column, FRAMES, ends=False)
    drawn = _release.domain.drawn[column]
    places = places[:: -(-len(places) // MOST_FRAMES)]  # of steps in order there may be many
    axis, size = Axis.of(drawn, places), map_size(_release, AVERAGED_MAP_SIZE, len(places))
    held = [dict(view.held) | {column: axis.value(place)} for place in axis.values]
    (x, y), reads = view.columns, READS / len(places)
    return places, [density.marginal_grid(_release, x, y, at, size, LEVEL, reads) for at in held]


@st.cache_data(max_entries=REMEMBERED, show_spinner="Building the picture in three dimensions …")
@kept_first
def volume(identity: str, _release: Release, view: View) -> Volume:
    return marginal_volume(_release, *view.columns, dict(view.held), VOLUME_SIZE, LEVEL)


def coarse_picture(release: Release, view: View) -> density.Heatmap | None:
    """A first map of a view, in a fraction of the time; None where the map itself is quick."""
    if len(view.columns) == 1 or release.sketch.answers != "closeness" or not view.averages(release):
        return None
    return density.marginal_grid(release, *view.columns, dict(view.held), COARSE_SIZE, LEVEL, READS * COARSE)


def coarse_pictures(release: Release, columns: tuple[str, ...]) -> density.Pairs | None:
    """A first matrix, in a fraction of the time; None where no column is averaged over."""
    if release.sketch.answers != "closeness" or len(columns) < 3:
        return None
    return density.pairs(release, columns, COARSE_SIZE // 2, LEVEL, density.PAIRS_READS * COARSE)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
@kept_first
def small_pictures(identity: str, _release: Release, columns: tuple[str, ...]) -> density.Pairs:
    """The matrix to start exploring from; of distances, through the nearest place."""
    if _release.sketch.answers == "closeness":
        return density.pairs(_release, columns, level=LEVEL)
    centre = nearest(identity, _release)

    def rest(*drawn: str) -> dict[str, object]:
        return {name: value for name, value in centre.items() if name not in drawn}

    size = SMALL_DISTANCE_MAP_SIZE
    with one_thread():
        return density.Pairs(
            columns,
            {name: density.line(_release, name, rest(name), 4 * size, LEVEL) for name in columns},
            {(x, y): density.grid(_release, x, y, rest(x, y), size, LEVEL) for x, y in combinations(columns, 2)},
        )


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
@kept_first
def suited(identity: str, _release: Release) -> float:
    """The bandwidth that suits what was released, as a share of the file's own."""
    kernels = [getattr(one.sketch, "kernel", None) for one in (_release, _release.smoothed())]
    own, found = (np.mean(np.log(stationary(kernel).bandwidth)) for kernel in kernels)
    return float(np.exp(found - own))


@st.cache_data(max_entries=REMEMBERED, show_spinner="Looking for modes …")
@kept_first
def modes(identity: str, _release: Release) -> tuple[Mode, ...]:
    """Where the density has its peaks."""
    return find_modes(_release, MOST_MODES, level=LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner="Making up people to compare with …")
@kept_first
def population(identity: str, _release: Release) -> np.ndarray | None:
    """How dense it is around the people of a synthetic population; None for sets, which cannot be made up."""
    return None if _release.domain.holds_sets else synthetic_population(_release)


@st.cache_data(max_entries=REMEMBERED, show_spinner="Looking for the centre …")
@kept_first
def centres(identity: str, _release: Release, count: int) -> tuple[Centre, ...]:
    """Where everyone is least far away."""
    with one_thread():
        return find_centres(_release, count, LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
@kept_first
def nearest(identity: str, _release: Release) -> dict[str, object]:
    """The place that is nearest to everyone, a value by column."""
    with one_thread():
        place = nearest_place(_release)
    return {name: tuple(value.tolist()) if isinstance(value, np.ndarray) else value for name, value in place.items()}


@st.cache_data(max_entries=REMEMBERED, show_spinner="Intersecting cells …")
@kept_first
def intersection(identity: str, _release: Release) -> Intersection:
    """The densest place by the paper's method."""
    return intersect_partitions(_release, LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner="Drawing points …")
@kept_first
def synthetic(identity: str, _release: Release, count: int, seed: int, sharpen: bool) -> Sample:
    return sample(_release, count, seed, sharpen=sharpen)


def answer(release: Release, at: dict[str, object]) -> Answers:
    """The answer at one point; columns that it does not name are averaged over. Arrays of shape (1,)."""
    box = Box.of(release.sketch)
    held = box.encode_fixed(at)
    others = tuple(name for name in box.columns if name not in held)
    first = next(iter(held))
    drawn = {first: held.pop(first)[np.newaxis]}
    return averaged_answers(release, drawn, held, averaging(release, others, 1), LEVEL)


RESOLUTION, AVERAGED_RESOLUTION = 96, 48  # Cells along a side; an average reads many points a cell.


@st.cache_data(max_entries=REMEMBERED, show_spinner="Drawing the map …")
@kept_first
def drawn_map(fingerprint: str, _release: Release, view: View, rule: str, level: float) -> DecisionMap:
    """The map of a view, over two columns."""
    drawn = len(view.columns) + len(view.held)
    cells = RESOLUTION if drawn == len(_release.sketch.query_domain.columns) else AVERAGED_RESOLUTION
    return decision_map(_release, *view.columns, dict(view.held), cells, rule, level)


def at_place(release: Release, place: dict[str, object], rule: str, level: float) -> Classification:
    """What is said of one place, a value for every column."""
    return classify(release, {name: [value] for name, value in place.items()}, rule, level)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def closeness(identity: str, _release: Release) -> str:
    """What a kernel sum counts, for someone who never heard of one."""
    counted = noun(_release)
    one = _release.domain.one_record
    kernel = getattr(_release.sketch, "kernel", None)
    fading = kernel_in_words(_release.domain, kernel) if kernel is not None else "One farther away counts as less."
    return (
        f"Every {one} exactly here counts as 1. {fading} The sum is the number of {counted} close by. It has noise, so "
        "it is known only up to the interval, and may even fall below zero where nobody is."
    )


TABLE = st.components.v2.component("frostglass_table", html=INSIDE_PLACE, css=inside_style(), js=inside_script())


def show_table(opened: Opened, key: str, view: str = "", alone: bool = False) -> str:
    """Draw a released table in the visitor's browser, where every picture answers what is picked in another.

    `view`: what is picked and which pictures, as `overview.js` writes it, to begin with. `alone`: draw the first
    picture and nothing else. What comes back is the view that the visitor has come to since.
    """
    handed_over = _handed_over(opened.identity, opened.release, opened)
    found = TABLE(
        key=f"{key}-{opened.identity}",
        data={**handed_over, "view": view, "alone": alone},
        default={"view": view},
        on_view_change=lambda: None,  # the view is what it gives back
    )
    return found.view if isinstance(found.view, str) else ""


PICTURE = st.components.v2.component(
    "frostglass_picture", html=INSIDE_PLACE, css=inside_style(), js=inside_script("pictured")
)


def can_be_pictured(opened: Opened, view: View) -> bool:
    """Whether a visitor's browser can draw and ask a file by itself."""
    return bool(_to_picture(opened.identity, opened.release, opened, view))


def show_picture(opened: Opened, view: View, marks: Sequence[Sequence[object]], lines: object) -> list[float] | None:
    """Draw a view of a release in the visitor's browser, where it is asked.

    `marks`: of each of the places that are marked, where it is on the axes, and whether that is sure. `lines`: an
    outline in degrees; None for coasts and borders. What comes back is where the visitor has asked on it, on its axes.
    """
    columns = drawn_names(opened.release)
    across, up = (*(columns.index(name) for name in view.columns), None)[:2]
    held = {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in view.held}
    more = {"x": across, "y": up, "held": held, "marks": marks, "lines": lines}
    more["given"] = _map_at_hand(opened.identity, opened.release, view) if _as_it_is(opened, view) else ""
    handed_over = _to_picture(opened.identity, opened.release, opened, view)
    key = f"explore-picture-{opened.identity}-{view.columns}"
    found = PICTURE(key=key, data={**handed_over, **more}, on_asked_change=lambda: None)
    asked = found.asked
    return asked if isinstance(asked, list) and len(asked) == len(view.columns) else None


def _as_it_is(opened: Opened, view: View) -> bool:
    """Whether a map is at hand that has the places which a browser would work out, no column of it averaged over."""
    near = len(view.columns) == 2 and opened.release.sketch.answers == "closeness"
    return near and not view.averages(opened.release) and at_hand(picture, opened.identity, view)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _map_at_hand(identity: str, _release: Release, view: View) -> str:
    return worked_out(picture(identity, _release, view))


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _to_picture(identity: str, _release: Release, _opened: Opened, _view: View) -> dict[str, str]:
    known = None
    if at_hand(picture, identity, _view):  # what says where noise decides takes a second; a kept picture has it
        one = picture(identity, _release, _view)
        known = one.together, one.noise
    asked = (_opened.question or "", _opened.part or "", _opened.bandwidth)
    return pictured(_release, _opened.data, identity, asked, known)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _handed_over(identity: str, _release: Release, _opened: Opened) -> dict[str, str]:
    return inside(_release, _opened.data, _opened.stem, identity, _opened.question or "")
