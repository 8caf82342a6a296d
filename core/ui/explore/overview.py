"""The overview of a released table: all columns side by side, and in each the part that is pointed at in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from ...analysis import table_profile
from ...analysis.table_profile import Association, Number, Part, Profile, Together, association
from ...figures.answer_sentences import SHARED_NOISE
from ...figures.report.meaning import left_out_in_words, pairs_left_out
from ...figures.table_figures import (
    MOST_PAIRS,
    association_words,
    column_figure,
    column_in_words,
    pairs_figure,
    place_figure,
    rows_of,
    share_words,
    together_figure,
    together_in_words,
)
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import listed, percent, rounded_range, shortened, significant
from ...releases.release import Release
from ...sketches.tables.table_answers import TableAnswers
from ...sketches.tables.table_axes import Axis
from ..frame.charts import show
from ..frame.marks import draw, note
from ..frame.session import Opened
from ..released.public_answers import LEVEL, REMEMBERED

FIRST, MOST = 12, 30  # Columns that are shown at first, and at most.
EVERYONE = "Everyone"
# The tools of a picture of numbers: to drag over a stretch, and to click again.
STRETCH = {"displaylogo": False, "modeBarButtons": [["select2d", "pan2d"]], "scrollZoom": False}
COLUMN, CELLS = "overview-column", "overview-cells"

if TYPE_CHECKING:
    Chosen = tuple[tuple[str, tuple[int, ...]], ...]
    """A part that can be remembered by."""


@st.cache_data(max_entries=4 * REMEMBERED, show_spinner=False)
def _profiles(identity: str, _release: Release, names: tuple[str, ...], part: Chosen) -> tuple[Profile, ...]:
    answers = _release.asked(LEVEL)
    return tuple(table_profile.profile(answers, name, dict(part)) for name in names)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _counted(identity: str, _release: Release, part: Chosen) -> tuple[float, float, float]:
    row = table_profile.everyone(_release.asked(LEVEL), dict(part))
    return float(row["estimate"]), float(row["low"]), float(row["high"])


@st.cache_data(max_entries=REMEMBERED, show_spinner="Comparing all pairs …")
def _strengths(identity: str, _release: Release) -> list[tuple[str, str, float, float, float]]:
    frame = _release.asked(LEVEL).strengths().head(MOST_PAIRS)
    return list(frame.itertuples(index=False, name=None))


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _association(identity: str, _release: Release, one: str, other: str) -> Association:
    return association(_release.asked(LEVEL), one, other)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _together(identity: str, _release: Release, across: str, up: str, part: Chosen) -> Together:
    return table_profile.together(_release.asked(LEVEL), across, up, dict(part))


def overview_view(opened: Opened) -> None:
    _pictures(opened)


@st.fragment
def _pictures(opened: Opened) -> None:
    answers = opened.release.asked(LEVEL)
    names = _columns(answers)
    state = _State(opened, answers)
    part = state.chosen
    _headline(opened, answers, state)
    profiles = _profiles(opened.identity, opened.release, names, part)
    whole = _profiles(opened.identity, opened.release, names, ()) if part else profiles
    with st.container(key="fg-overview"):
        for shown, all_of_it in zip(profiles, whole, strict=True):
            kind = "line" if table_profile.is_time(shown.axis) else "column"
            with st.container(key=f"fg-{kind}-{names.index(shown.name)}", gap=None):
                _column(state, shown, all_of_it if part else shown)
    note(f"{SHARED_NOISE} {table_profile.missing_in_words(opened.release.domain)}")
    _map(opened, answers, state)
    _pairs(opened, answers, state)


class _State:
    """Which part is pointed at, kept in the visitor's session for one file."""

    def __init__(self, opened: Opened, answers: TableAnswers):
        self.answers = answers
        self.mark = opened.fingerprint[:12] + (opened.question or "")
        self.kept: dict = st.session_state.setdefault(f"overview-{self.mark}", {"part": {}, "turn": 0})

    @property
    def part(self) -> dict[str, tuple[int, ...]]:
        """By column, the cells that are pointed at."""
        part: dict[str, tuple[int, ...]] = self.kept["part"]
        return part

    @property
    def chosen(self) -> Chosen:
        """The same, to remember answers by."""
        return tuple(sorted(self.part.items()))

    def key(self, name: str) -> str:
        """Of a column's picture; a new one where what was clicked there holds no more."""
        place = [axis.name for axis in self.answers.axes].index(name)
        return f"overview-{self.mark}-{place}-{self.kept['turn']}"

    def clicked(self, name: str) -> None:
        """Take what a visitor clicked, or dragged over, in the picture of a column."""
        points = st.session_state[self.key(name)].selection.points
        self.point_at(name, sorted({int(point["customdata"][0]) for point in points if "customdata" in point}))

    def point_at(self, name: str, cells: Sequence[int]) -> None:
        """Show a part; beside that of another column, where something was measured together with both."""
        others = {one: kept for one, kept in self.part.items() if one != name}
        part = others | ({name: tuple(cells)} if cells else {})
        if len(part) > 1 and not self._anything_with(part):
            part = {name: tuple(cells)}
            self.kept["turn"] += 1  # what was clicked elsewhere is not shown any more
        self.kept["part"] = part

    def show_all(self) -> None:
        """Point at nothing."""
        self.kept["part"], self.kept["turn"] = {}, self.kept["turn"] + 1

    def _anything_with(self, part: Part) -> bool:
        rest = [axis.name for axis in self.answers.axes if axis.name not in part]
        return any(table_profile.measured(self.answers, [name, *part]) for name in rest)


def _columns(answers: TableAnswers) -> tuple[str, ...]:
    """The columns that are shown: all, or those that the visitor picks of very many."""
    names = [axis.name for axis in answers.axes]
    if len(names) <= FIRST + 4:
        return tuple(names)
    picked = st.multiselect("Columns", names, names[:FIRST], max_selections=MOST, format_func=in_markdown)
    return tuple(picked or names[:FIRST])


def _headline(opened: Opened, answers: TableAnswers, state: _State) -> None:
    """Who is shown, how many they are, and the way to everyone or to another part."""
    count, low, high = _counted(opened.identity, opened.release, state.chosen)
    ends = rounded_range(low, high, max((high - low) / 4.0, 0.5))
    axes = {axis.name: axis for axis in answers.axes}
    who = " and ".join(
        f"{in_html(shortened(name))}: {in_html(table_profile.words_for_cells(axes[name], cells))}"
        for name, cells in state.chosen
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="fg-part"):
        draw(
            f'<p class="fg-odds" role="status"><strong>{who or EVERYONE}</strong> · {count:,.0f} records '
            f"({ends[0]} to {ends[1]})</p>"
        )
        if state.chosen:
            st.button("Show all", key="overview-all", on_click=state.show_all, icon=":material/close:")
        with st.popover("Show a part"):
            _by_fields(answers, state)
    if state.chosen:
        note("Bars are shares of this part, and the grey line is everyone.")
    else:
        draw(
            '<p class="fg-note fg-mouse">Click a bar, and every other picture shows that part: several with Shift, and '
            "a stretch with the frame above a picture, or by “Show a part”.</p>"
            '<p class="fg-note fg-touch">Choose a part, and every picture shows it.</p>'
        )


def _by_fields(answers: TableAnswers, state: _State) -> None:
    """The same without pointing: a column, and some of its cells."""
    axes = {axis.name: axis for axis in answers.axes}
    name = st.selectbox("Column", list(axes), format_func=in_markdown, key=COLUMN)
    axis = axes[name]
    key = f"{CELLS}-{state.mark}-{list(axes).index(name)}-{state.kept['turn']}"
    if axis.categories:
        st.pills(
            "Of it",
            range(axis.cells),
            selection_mode="multi",
            default=list(state.part.get(name, ())),
            format_func=lambda cell: in_markdown(shortened(axis.categories[cell])),
            key=key,
            on_change=lambda: state.point_at(name, st.session_state[key]),
        )
        return
    mine = state.part.get(name, (0, axis.valued - 1))
    if axis.missing and _only_missing(state, axis, name, key):
        return
    begins, _ = axis.sides()
    st.select_slider(
        "From … to",
        range(axis.valued),
        (min(mine), max(mine)),
        format_func=lambda cell: (
            table_profile.written(axis, begins[cell])
            if table_profile.is_time(axis)
            else table_profile.words_for_cells(axis, [cell])
        ),
        help="Each mark stands for the cell that begins there, to its end.",
        key=key,
        on_change=lambda: state.point_at(name, _between(axis, st.session_state[key])),
    )


def _only_missing(state: _State, axis: Axis, name: str, key: str) -> bool:
    """Whether those who have no value of a column are to be shown; a switch for it."""
    return st.toggle(
        "Those without a value",
        axis.valued in state.part.get(name, ()),
        key=f"{key}-missing",
        on_change=lambda: state.point_at(name, [axis.valued] if st.session_state[f"{key}-missing"] else []),
    )


def _between(axis: Axis, ends: tuple[int, int]) -> list[int]:
    """The cells of a stretch; none where it is all of them."""
    return [] if ends == (0, axis.valued - 1) else list(range(ends[0], ends[1] + 1))


def _column(state: _State, shown: Profile, whole: Profile) -> None:
    """One column: its name, its picture and its numbers."""
    unit = (
        ""
        if table_profile.is_time(shown.axis) or shown.axis.categories
        else getattr(shown.axis.column, "said_unit", "")
    )
    draw(f'<h2 class="fg-name">{in_html(shortened(shown.name))} <small>{in_html(unit)}</small></h2>')
    if shown.missing:
        draw(f'<p class="fg-note fg-unmeasured">{in_html(shown.missing)}</p>')
    with st.container(key=f"fg-greyed-{state.key(shown.name)}" if shown.missing else None):
        st.plotly_chart(
            column_figure(shown, whole),
            key=state.key(shown.name),
            on_select=lambda: state.clicked(shown.name),
            selection_mode="points" if shown.axis.categories else ("points", "box"),
            alt=column_in_words(shown),
            config={"displayModeBar": False} if shown.axis.categories else STRETCH,
        )
    hidden = whole.axis.valued - len(rows_of(whole))
    if hidden:
        draw(f'<p class="fg-note">The {len(rows_of(whole))} most frequent; {hidden} more are in the table.</p>')
    if shown.numbers and not shown.missing:
        lines = "".join(_row(shown.axis, number) for number in shown.numbers)
        draw(f'<table class="fg-numbers"><tbody>{lines}</tbody></table>')


def _row(axis: Axis, number: Number) -> str:
    if number.share and number.low > 0.0:
        estimate, low, high = (percent(value, 2) for value in (number.estimate, number.low, number.high))
        return f'<tr><th scope="row">{number.name}</th><td>{estimate}</td><td>{low} to {high}</td></tr>'
    if number.share:
        words = share_words(number.estimate, number.low, number.high)
        return f'<tr><th scope="row">{number.name}</th><td colspan="2">{words}</td></tr>'
    error = (number.high - number.low) / 4.0
    ends = (table_profile.written(axis, value, error) for value in (number.estimate, number.low, number.high))
    estimate, low, high = map(in_html, ends)
    return f'<tr><th scope="row">{number.name}</th><td>{estimate}</td><td>{low} to {high}</td></tr>'


def _map(opened: Opened, answers: TableAnswers, state: _State) -> None:
    """Where everyone is, where there are coordinates."""
    places = table_profile.place_columns(answers)
    if places is None:
        return
    st.header("Where", anchor=False)
    others = _others(state.part, places)
    if others and not table_profile.measured(answers, [*places, *others]):
        note(f"Everyone: places were not measured together with {listed([shortened(one) for one in others])}.")
        others = {}
    found = _together(opened.identity, opened.release, *places, tuple(sorted(others.items())))
    show(place_figure(found), "overview-map", together_in_words(found))


def _others(part: Mapping[str, tuple[int, ...]], names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    return {name: cells for name, cells in part.items() if name not in names}


def _pairs(opened: Opened, answers: TableAnswers, state: _State) -> None:
    """Which columns go together, and the table of two of them."""
    ranked = _strengths(opened.identity, opened.release)
    if not ranked:
        note(left_out_in_words(opened.release) or "There is only one column.")
        return
    import pandas as pd

    frame = pd.DataFrame(ranked, columns=["column", "other", "estimate", "low", "high"])
    st.header("Which columns go together", anchor=False)
    key = f"overview-pairs-{state.mark}"
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        st.plotly_chart(
            pairs_figure(frame),
            key=key,
            on_select="rerun",
            selection_mode="points",
            alt=_pairs_in_words(ranked),
            config={"displayModeBar": False},
        )
        note(
            "Cramér's V of everyone: 0 where two columns have nothing to do with each other, 1 where one tells the "
            "other. What noise alone would add is taken off; lines show where it very likely is."
        )
    with right:
        offered = [(one, other) for one, other, *_ in ranked]
        points = st.session_state[key].selection.points if key in st.session_state else []
        clicked = tuple(points[0]["customdata"]) if points and "customdata" in points[0] else None
        names = st.selectbox(
            "Two columns",
            offered,
            offered.index(clicked) if clicked in offered else 0,
            format_func=lambda pair: in_markdown(" and ".join(shortened(one) for one in pair)),
            key=f"overview-pair-{state.mark}-{clicked}",
        )
        others = _others(state.part, names)
        if others and not table_profile.measured(answers, [*names, *others]):
            note(f"Everyone: the two were not measured together with {listed([shortened(one) for one in others])}.")
            others = {}
        found = _together(opened.identity, opened.release, *names, tuple(sorted(others.items())))
        show(together_figure(found), "overview-together", together_in_words(found))
        note(next(_told(*row) for row in ranked if row[:2] == names))
        note(association_words(_association(opened.identity, opened.release, *names)))
    _left_out(opened)


def _left_out(opened: Opened) -> None:
    """What is not in the file, and why; the pairs themselves where one looks for them."""
    words = left_out_in_words(opened.release)
    if not words:
        return
    note(words)
    with st.popover("Which are left out"):
        pairs = pairs_left_out(opened.release)
        st.dataframe(
            {"column": [one for one, _ in pairs], "was not counted with": [other for _, other in pairs]},
            key="overview-left-out",
            hide_index=True,
        )


def _told(one: str, other: str, value: float, low: float, high: float) -> str:
    """Whether two columns can be told from such as have nothing to do with each other, in a sentence."""
    both = in_markdown(f"{shortened(one)} and {shortened(other)}")
    if low > 0.0:
        ends = " to ".join(significant(end, 2) for end in (low, high))
        return f"{both} of everyone go together: {significant(value, 2)} ({ends}), more than noise alone would show."
    return f"Of everyone, {both} cannot be told from columns that have nothing to do with each other."


def _pairs_in_words(ranked: Sequence[tuple[str, str, float, float, float]]) -> str:
    named = [f"{one} and {other} ({significant(value, 2)})" for one, other, value, *_ in ranked[:3]]
    return f"Pairs of columns that go together, the strongest first: {listed(named)}."
