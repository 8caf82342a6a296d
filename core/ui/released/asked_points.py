"""What a released file is asked about: a value in its field, a point typed or clicked, or a visitor's own table."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ...analysis.uncertainty import quantile_dots
from ...domain import Categorical, Column, Dates, Domain, Ordered
from ...figures.answer_sentences import (
    answer_sentence,
    averaged_sentence,
    density_sentence,
    distance_sentence,
    kind_sentence,
    noun,
    root_sentence,
)
from ...figures.density_figures import close_by
from ...figures.distance_figures import distance_title, distance_unit
from ...figures.figure_axes import Axis, View
from ...figures.forecast_figures import dots, dots_in_words
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import listed, plural
from ...releases.release import Release
from ...sketches.answers import Answers
from ...sources import Upload, open_source
from ...sources.public_tables import read_queries
from ...sources.source_opening import FILE_TYPES
from ..frame.marks import BARE, draw, note, show
from ..frame.session import Opened
from .public_answers import answer, closeness

STEPS = 1000  # Numbers typed or slid go in steps of this part of a column's range, or finer.
SHORTEST = "%.15g"  # Numbers are written with the digits that they have: 59, and 59.25.
SHOWN_DATE = "YYYY-MM-DD"


def value_field(column: Column, key: str, on_change: Callable | None = None, slides: bool = False) -> object:
    """A field for a value of a column, in natural units; a date comes back as its text in ISO 8601."""
    label, state = label_of(column), {"key": key, "persist_state": "session", "on_change": on_change}
    if isinstance(column, (Categorical, Ordered)):
        return st.selectbox(label, column.categories, **state)
    if isinstance(column, Dates):
        return said(column, _date_field(column, label, state))
    step, form, middle = grain(column), SHORTEST, tidy((column.low + column.high) / 2, column)
    known = {} if key in st.session_state else {"value": middle}  # one that starts with a value twice is warned about
    field = st.slider if slides else st.number_input
    return field(label, column.low, column.high, step=step, format=form, **known, **state)


def _date_field(column: Dates, label: str, state: dict) -> date | datetime:
    low, middle, high = column.present(np.array([column.low, (column.low + column.high) // 2, column.high])).tolist()
    if column.step != "day":
        low, middle, high = (moment.replace(second=0) for moment in (low, middle, high))
    known = {} if state["key"] in st.session_state else {"value": middle}
    if column.step == "day":
        days = {name: moment.date() for name, moment in known.items()}
        return st.date_input(label, **days, min_value=low.date(), max_value=high.date(), format=SHOWN_DATE, **state)
    return st.datetime_input(
        label, **known, min_value=low, max_value=high, format=SHOWN_DATE, step=STEPS_OF[column.step], **state
    )


STEPS_OF = {"hour": 3600, "minute": 60, "second": 60}  # Seconds that times are typed to.


def state_of(column: Column, value: object) -> object:
    """What a field holds for a value in natural units."""
    if isinstance(column, (Categorical, Ordered)):
        return str(value)
    if isinstance(column, Dates):
        place = np.clip(column.numbers_of([value]), column.low, column.high)
        moment = column.present(place)[0].item()
        return moment.date() if column.step == "day" else moment.replace(second=0)
    return tidy(float(value), column)


def read_value(column: Column, text: str) -> object:
    """What a field holds for a value that was written as text; ValueError or RequestError where it cannot be one."""
    if isinstance(column, (Categorical, Ordered)):
        if text not in column.categories:
            raise ValueError(text)
        return text
    if isinstance(column, Dates):
        return state_of(column, text)
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return state_of(column, float(text))


def said(column: Column, state: Any) -> object:
    """The value in natural units that a field holds."""
    return state.isoformat() if isinstance(column, Dates) else state


def label_of(column: Column) -> str:
    """The label of a field for a value of a column: its name, with its unit."""
    unit = "" if isinstance(column, Dates) else getattr(column, "said_unit", "")
    return in_markdown(f"{column.name} ({unit})" if unit else column.name)


def grain(column: Column) -> float:
    """The step of numbers of a column: its own, or a power of ten, at most a thousandth of its range, where finer."""
    return max(_fine(column), column.spacing)


def _fine(column: Column) -> float:
    apart = (column.high - column.low) / STEPS
    doublings = getattr(column, "doublings", None)  # of amounts, small ones matter too
    return 10.0 ** math.floor(math.log10(apart if doublings is None else min(apart, doublings.finest)))


def tidy(value: float, column: Column) -> float:
    """A number rounded to the grain of its column, inside its bounds."""
    if grain(column) > _fine(column):  # numbers that anyone could have
        return float(column.present(np.float64(value)))
    digits = -round(math.log10(_fine(column)))
    return min(max(round(value, digits), column.low), column.high)


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
        averaged = tuple(name for name in self.release.domain.names if name not in at)
        say(answer_sentence(estimate, low, high, error, counted, averaged))
        known = math.isfinite(error)
        if known:
            _show_dots(quantile_dots(answers, 0), close_by(counted, averaged))
        words = density_sentence(density, low, estimate, error)
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
    show(dots(outcomes, name), "explore-dots", dots_in_words(outcomes, name), BARE)


MAX_MEGABYTES = 50
MOST_RECORDS = 200_000
LISTED = 200  # Of them, how many are shown on the page.


def dropped_table(what: str, names: Sequence[str], key: str) -> UploadedFile | None:
    """The field for a table of points or sets, which must have these columns, and what was dropped there."""
    wanted = f"A table of {what}, with the {plural(len(names), 'column')} {listed(names, 6)}"
    return st.file_uploader(in_markdown(wanted), FILE_TYPES, max_upload_size=MAX_MEGABYTES, key=key)


def read_table(dropped: UploadedFile, domain: Domain) -> pa.Table:
    """The table; RequestError when it is not one that a file of this domain can be asked with."""
    return read_queries(open_source(Upload(dropped.name, dropped.getvalue())), domain, MOST_RECORDS)


def worked_out(
    opened: Opened, dropped: UploadedFile, key: str, words: str, work: Callable[[pa.Table], Any], asked: object = None
) -> tuple[pa.Table, Any]:
    """The table and what the file says of it, worked out once and kept in the session, as the table may be private.

    `key`: of the session's state, under which both are kept. `words`: what is shown while it is worked out. `asked`:
    what the visitor chose that the work depends on.
    """
    known = (dropped.file_id, opened.identity, asked)
    if st.session_state.get(key, (None,))[0] != known:
        table = read_table(dropped, opened.release.domain)
        with st.spinner(words):
            st.session_state[key] = (known, table, work(table))
    return st.session_state[key][1:]


def note_rest(count: int) -> None:
    """Say so where there are more than are listed."""
    if count > LISTED:
        note(f"The first {LISTED} are listed; the file has all {count:,}.")
