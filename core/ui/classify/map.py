"""One place: a map of decisions over two columns, and what is said of the place that is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from ...figures.answer_sentences import RULES, asked_domain, decision_sentence, drowned_sentence, rules
from ...figures.class_figures import decision_figure, decision_in_words, probability_figure, probability_in_words
from ...figures.figure_axes import Axis
from ...releases.release import Release
from ...tasks.decision_map import DecisionMap
from ...words.escapes import in_html
from ...words.phrases import listed
from ..explore.columns import choose_two, drawable, hold_others
from ..explore.export import take_along
from ..explore.point import STRONG, AskedPoint
from ..explore.values import value_field
from ..frame.charts import for_screen, picture_config
from ..frame.marks import note, side
from ..frame.markup import draw
from ..frame.session import Opened
from .answers import at_place, drawn_map

CHART = "classify-map"
LEVELS = {"80%": 0.8, "90%": 0.9, "95%": 0.95, "99%": 0.99}


def choose_decision(release: Release) -> tuple[str, float]:
    """Let the visitor say what decides, and how sure it must be that the noise did not."""
    with st.popover("How it decides"):
        offered = rules(release)
        rule = st.selectbox(
            "What decides",
            offered,
            format_func=lambda rule: RULES[rule][0],
            key="classify-rule",
            persist_state="session",
        )
        note(RULES[rule][1])
        chosen = st.select_slider(
            "Answer only when at least this sure that the noise did not decide",
            list(LEVELS),
            "95%",
            key="classify-level",
            persist_state="session",
        )
    return rule, LEVELS[chosen]


def say_decision(rule: str, level: float) -> None:
    """What decides, in one quiet line."""
    note(f"{RULES[rule][0]} Answered where it is at least {level:.0%} sure that the noise does not decide.")


def warn_of_largest(release: Release, rule: str, codes: np.ndarray) -> None:
    """Say where the rule hardly says anything but the largest group."""
    drowned = drowned_sentence(release, rule, codes)
    if drowned is not None:
        st.warning(drowned)


def map_view(opened: Opened, rule: str, level: float) -> None:
    """Everything under One place."""
    say_decision(rule, level)
    domain = asked_domain(opened.release)
    names = drawable(domain)
    if len(names) < len(domain.columns):
        st.info("A long list of numbers (a vector) has no axes to draw a map on. Bring vectors under **Your points**.")
        return
    if len(names) == 1:
        _one_column(opened, rule, level)
        return
    columns = choose_two(domain)
    _map(_without_groups(opened), opened.release, columns, rule, level)


def _without_groups(opened: Opened) -> Opened:
    """The file as one without groups: its columns are those of a place that can be asked."""
    return replace(opened, release=opened.release.of_class(0))


@st.fragment
def _map(opened: Opened, release: Release, columns: tuple[str, ...], rule: str, level: float) -> None:
    view = hold_others(opened, columns)
    drawn = drawn_map(opened.fingerprint, release, view, rule, level)
    warn_of_largest(release, rule, drawn.codes)
    asked = AskedPoint(opened, view)
    _start(asked, drawn)
    domain = asked_domain(release)
    axes = tuple(
        Axis.of(domain.columns[domain.names.index(name)], values)
        for name, values in ((drawn.x, drawn.x_values), (drawn.y, drawn.y_values))
    )
    main, aside = st.columns([2, 1], gap="large")
    title = f"Groups over {listed(columns)}"
    with main:
        figure = decision_figure(drawn, domain, asked.ringed())
        st.plotly_chart(
            for_screen(figure),
            key=CHART,
            selection_mode="points",
            on_select=lambda: asked.clicked(CHART, axes),
            alt=decision_in_words(title, drawn),
            config=picture_config(opened),
        )
        if drawn.averaged:
            note(f"Averaged over all values of {listed(drawn.averaged)}, likely or not.")
        take_along(opened, "groups", lambda: table_of_map(drawn), figure=figure, title=title)
    with aside, side("group"):
        st.header("Ask a place", anchor=False)
        note("Click on the map or type a place.")
        asked.fields()
        place = dict(view.held) | dict(zip(columns, asked.values, strict=True))
        _others(opened, domain, place)
        say_place(release, place, rule, level)


def _start(asked: AskedPoint, drawn: DecisionMap) -> None:
    """Ask the middle of the map, as far as nothing was asked yet."""
    asked.start((drawn.x_values[len(drawn.x_values) // 2], drawn.y_values[len(drawn.y_values) // 2]))


def _others(opened: Opened, domain, place: dict[str, object]) -> None:
    """Fields for the columns that are neither drawn nor held: a place has them all."""
    others = [column for column in domain.columns if column.name not in place]
    if not others:
        return
    with st.expander(f"The place's other {len(others)} columns" if len(others) > 1 else "The place's other column"):
        note("The map averages over them unless they are held; the place has a value for each.")
        for column in others:
            place[column.name] = value_field(column, f"classify-{opened.fingerprint[:12]}-{column.name}")


def _one_column(opened: Opened, rule: str, level: float) -> None:
    """A place of one column: no map, but the field and what is said."""
    (column,) = asked_domain(opened.release).columns
    place = {column.name: value_field(column, f"classify-{opened.fingerprint[:12]}-{column.name}")}
    say_place(opened.release, place, rule, level)


def say_place(release: Release, place: dict[str, object], rule: str, level: float) -> None:
    """What is said of a place, as a sentence and as bars."""
    found = at_place(release, place, rule, level)
    sentence = STRONG.sub(r"<strong>\1</strong>", in_html(decision_sentence(found)))
    draw(f'<p class="fg-odds" role="status">{sentence}</p>')
    certain = bool(found.certain[0])
    st.plotly_chart(
        probability_figure(found.classes, found.probabilities[0], certain),
        key="classify-bars",
        alt=probability_in_words(found.classes, found.probabilities[0], certain),
        config={"displayModeBar": False},
    )


def table_of_map(drawn: DecisionMap) -> pd.DataFrame:
    """The map as a table: a row a cell."""
    table = pd.DataFrame(
        {
            drawn.x: list(drawn.x_values) * len(drawn.y_values),
            drawn.y: [value for value in drawn.y_values for _ in drawn.x_values],
            "group": [drawn.classes[code] for code in drawn.codes.ravel()],
            "confidence": drawn.confidence.ravel(),
            "certain": drawn.certain.ravel(),
        }
    )
    for code, name in enumerate(drawn.classes):
        table[f"probability_{name}"] = drawn.probabilities[..., code].ravel()
    return table
