"""The point that is asked: clicked on a figure or typed, and its answer in words and as fifty dots."""

from __future__ import annotations

import math
import re

import numpy as np
import streamlit as st

from ...domain import Column
from ...figures.answer_sentences import (
    answer_sentence,
    averaged_sentence,
    density_sentence,
    distance_sentence,
    kind_sentence,
    noun,
    root_sentence,
)
from ...figures.bandwidth_figures import kernel_in_words
from ...figures.density_figures import close_by
from ...figures.distance_figures import distance_title, distance_unit
from ...figures.figure_axes import Axis, View
from ...figures.forecast_figures import dots, dots_in_words
from ...releases.release import Release
from ...sketches.answers import Answers
from ...tasks.uncertainty import quantile_dots
from ...words.escapes import in_html
from ..frame.marks import note
from ..frame.markup import draw
from ..frame.session import Opened
from .answers import REMEMBERED, answer
from .values import said, state_of, value_field

STRONG = re.compile(r"\*\*(.+?)\*\*")
EACH_DOT = "Each dot is one of 50 equally likely truths."


class AskedPoint:
    """The asked value of each drawn column, held by the fields in which it can be typed.

    Clicking writes into the fields, so that both ways of asking are one. The figure rings the value of its last
    drawing; after that the ring moves in the browser, and the figure keeps its zoom.
    """

    def __init__(self, opened: Opened, view: View):
        self.release = opened.release
        self.view = view
        self.fingerprint = opened.fingerprint
        self.identity = opened.identity
        domain = opened.release.domain
        self.columns = tuple(domain.columns[domain.names.index(name)] for name in view.columns)

    def key(self, column: Column) -> str:
        return f"ask-{self.fingerprint[:12]}-{column.name}"

    @property
    def _ring_key(self) -> str:
        return f"ring-{self.fingerprint[:12]}"

    def start(self, values: tuple[object, ...]) -> None:
        """Ask a value of every drawn column, as far as nothing was asked yet."""
        for column, value in zip(self.columns, values, strict=True):
            if self.key(column) not in st.session_state:
                self._ask(column, value)

    def _ask(self, column: Column, value: object) -> None:
        st.session_state[self.key(column)] = state_of(column, value)

    @property
    def values(self) -> tuple[object, ...]:
        """What is asked, in the order of the drawn columns."""
        return tuple(said(column, st.session_state[self.key(column)]) for column in self.columns)

    def ringed(self) -> tuple[object, ...]:
        """What the figure rings when it is drawn: what was asked when the view changed, or was typed since."""
        view, ringed = st.session_state.get(self._ring_key, (None, ()))
        if view != self.view:
            ringed = self._ring()
        return ringed

    def _ring(self) -> tuple[object, ...]:
        st.session_state[self._ring_key] = (self.view, self.values)
        return self.values

    def clicked(self, chart: str, axes: tuple[Axis, ...]) -> None:
        """Take the point that was clicked on a figure; a click beside everything changes nothing."""
        points = st.session_state[chart].selection.points
        if points:
            places = (points[0]["x"], points[0]["y"])[: len(axes)]
            for column, axis, place in zip(self.columns, axes, places, strict=True):
                self._ask(column, axis.value(place))

    def fields(self) -> None:
        """Fields in which the point can be typed; they say what is asked."""
        for column in self.columns:
            value_field(column, self.key(column), self._ring)

    def show_answer(self) -> None:
        """The answer in words and as fifty dots."""
        at = dict(self.view.held) | dict(zip(self.view.columns, self.values, strict=True))
        answers = answer(self.release, at)
        if self.release.sketch.answers == "distance":
            _show_distance(self.release, answers)
            return
        estimate, low, high, density, error = (
            float(part[0])
            for part in (answers.estimate, answers.low, answers.high, answers.density, answers.standard_error)
        )
        counted = noun(self.release)
        say(answer_sentence(estimate, low, high, error, counted))
        known = math.isfinite(error)
        if known:
            _show_dots(quantile_dots(answers, 0), close_by(counted))
        words = density_sentence(density, low, estimate, error)
        averaged = tuple(name for name in self.release.domain.names if name not in at)
        note(" ".join(part for part in (EACH_DOT * known, words, averaged_sentence(averaged)) if part))
        with st.popover("What is closeness?"):
            note(closeness(self.identity, self.release))


def _show_distance(release: Release, answers: Answers) -> None:
    """How far everyone is on average."""
    number, sketch = release.records, release.sketch
    mean, low, high, error = (
        float(part[0]) / number for part in (answers.estimate, answers.low, answers.high, answers.standard_error)
    )
    say(distance_sentence(sketch, mean, low, high, error))
    note(kind_sentence(sketch))
    if not math.isfinite(error):
        return
    _show_dots(quantile_dots(answers, 0) / number, distance_title(distance_unit(sketch)))
    note(" ".join(part for part in (EACH_DOT, root_sentence(sketch, mean, error)) if part))


def say(sentence: str) -> None:
    """An answer, a sentence in Markdown. Screen readers speak a status when it changes: clicks and typing alike."""
    words = STRONG.sub(r"<strong>\1</strong>", in_html(sentence))
    draw(f'<p class="fg-odds" role="status">{words}</p>')


def _show_dots(outcomes: np.ndarray, name: str) -> None:
    st.plotly_chart(
        dots(outcomes, name), key="explore-dots", alt=dots_in_words(outcomes, name), config={"displayModeBar": False}
    )


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def closeness(identity: str, _release: Release) -> str:
    """What a kernel sum counts, for someone who never heard of one."""
    counted = noun(_release)
    one = _release.domain.one_record
    kernel = getattr(_release.sketch, "kernel", None)
    fading = f" {kernel_in_words(_release.domain, kernel)}" if kernel is not None else ""
    return (
        f"Every {one} counts a little: one exactly here counts as 1, and one farther away as less.{fading} "
        f"The sum is the number of {counted} close by. It was released with noise, so it is known only up to the "
        "interval, and it may even fall below zero where nobody is."
    )
