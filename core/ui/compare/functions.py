"""Released functions over the exact one, with the noise drawn again and again.

Only ever of public records: one release of private ones drawn many times would be many releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import streamlit as st

from ...figures.comparison_figures import curves_figure, distance, functions_in_words, map_ends, map_figure, swatch
from ...formatting.escapes import in_html
from ...formatting.numbers import listed, percent, significant
from ...lab.comparison_methods import METHODS
from ...lab.comparison_plan import Outcome, Step
from ...lab.comparison_work import Bench
from ..frame.charts import show
from ..frame.marks import draw, note
from .choosing_methods import Chosen, choose_several, first_drawn, marks, plainly
from .results import LOOK_EVERY
from .subject import Picture

NEXT_EVERY = 1.2  # Seconds that a draw is shown while they play.
AT, PLAYING, DRAW, LINES = "at", "compare-playing", "compare-draw", "compare-lines"
MOST_LINES = 4  # Curves that are drawn at first: more of them hide each other.


def choose_epsilon(epsilons: tuple[Decimal, ...]) -> Decimal:
    """The ε at which functions are drawn; the one nearest to 1 at first."""
    start = first_drawn(epsilons)
    if len(epsilons) == 1:
        return start
    others = st.session_state.get(AT, start) not in epsilons
    if others:  # chosen within another range; what is set here needs no second value below
        st.session_state[AT] = start
    return st.select_slider(
        "Released at ε =",
        epsilons,
        None if others else start,
        format_func=plainly,
        key=AT,
        bind="query-params",
        width=380,
    )


def functions(chosen: Chosen, desk: Bench) -> None:
    """The functions, and what draws their noise again."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        again = st.button("Draw the noise again", key="compare-again")
        # Nothing moves unless asked to; who asked the system for less motion is not even offered it (style sheet).
        playing = st.toggle("Play", key=PLAYING, help="A new draw of the noise every second.")
    if again:
        st.session_state[DRAW] = st.session_state.get(DRAW, 0) + 1
    picture = chosen.subject.picture
    methods = list(chosen.plan.methods)
    if len(picture.axes) == 1 and len(methods) > MOST_LINES:
        methods = choose_several("Drawn", methods, methods[:MOST_LINES], LINES)
    waiting = desk.running and _waiting(chosen, methods, desk.known(chosen.subject.identity))
    every = NEXT_EVERY if playing else LOOK_EVERY if waiting else None
    st.fragment(_drawn, run_every=every)(chosen, desk, picture, methods, playing)


def _waiting(chosen: Chosen, methods: list[str], known: Mapping[Step, Outcome]) -> list[str]:
    """Methods of which nothing was drawn yet."""
    plan, undrawn = chosen.plan, chosen.plan.undrawn(known)
    return [key for key in methods if key not in undrawn and plan.drawing(key) not in known]


def _drawn(chosen: Chosen, desk: Bench, picture: Picture, methods: list[str], playing: bool) -> None:
    with st.container(key="fg-steady-functions"):
        _draw(chosen, desk, picture, methods, playing)


def _draw(chosen: Chosen, desk: Bench, picture: Picture, methods: list[str], playing: bool) -> None:
    number = st.session_state.get(DRAW, 0) + playing
    st.session_state[DRAW] = number
    known = desk.known(chosen.subject.identity)
    plan = chosen.plan
    draws = {key: known.get(plan.drawing(key)) for key in methods}
    released = {
        key: picture.shaped(outcome.value[number % len(outcome.value)])
        for key, outcome in draws.items()
        if outcome is not None and outcome.value is not None
    }
    (_lines if len(picture.axes) == 1 else _maps)(picture, released, float(plan.shown_at), chosen.subject.answers)
    undrawn = plan.undrawn(known)
    slow = [METHODS[key].title for key in methods if key in undrawn and key not in released]
    if slow:
        note(f"Too slow to be drawn here: {listed(slow, len(slow))}.")
    waiting = _waiting(chosen, methods, known)
    if waiting and desk.running:
        note(f"{len(waiting)} of {len(methods)} are on their way.")
    most = max((len(outcome.value) for outcome in draws.values() if outcome and outcome.value is not None), default=0)
    drawn = f"Draw {number % most + 1} of {most}: the same hashes, other noise." if most else ""
    held = f" Held at what is usual: {picture.held}." if picture.held else ""
    note(drawn + held)


def _lines(picture: Picture, released: Mapping[str, np.ndarray], epsilon: float, answers: str) -> None:
    words = functions_in_words(picture.exact, released, marks(), epsilon)
    show(curves_figure(picture.axes[0], picture.exact, released, marks(), picture.answer), "compare-functions", words)


def _maps(picture: Picture, released: Mapping[str, np.ndarray], epsilon: float, answers: str) -> None:
    """Small maps in the same colours, each with its name above."""
    ends = map_ends(picture.exact, answers)
    x, y = picture.axes
    with st.container(key="fg-maps"):
        for key, values in ({"exact": picture.exact} | dict(released)).items():
            with st.container(key=f"compare-map-{key.replace(' ', '-')}", gap=None):
                if key == "exact":
                    title, words, mark = "exact", "The exact function.", ""
                else:
                    title, mark = METHODS[key].title, swatch(marks()[key])
                    words = functions_in_words(picture.exact, {key: values}, marks(), epsilon)
                draw(f'<p class="fg-map-title">{mark}{in_html(title)}</p>')
                show(map_figure(x, y, values, ends, picture.answer), f"compare-map-{key}-figure", words)
                if key != "exact":
                    note(f"off by {percent(distance(picture.exact, values))}")
    least, most = (significant(end, 3) for end in ends)
    note(f"{x.title} across, {y.title} upwards. The colours of all maps go from {least} to {most} {picture.answer}.")
