"""Views of counts: of a released table Ask, by four lists or in SQL, answered with bands or refused, and its overview;
of counted local reports how many gave each answer, and what is promised to whoever reported.

The overview is drawn in the visitor's browser by what draws it on a shared page. What is picked in one picture is
answered by all others there, from the released counters alone; the server hears of it only so that a link leads to the
same view, and that it may add what a browser does not work out.
"""

import math
import re
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.sql import ask_sql
from ...analysis.table_profile import measured, missing_in_words
from ...domain import Coordinate, Cyclic, Dates
from ...domain.columns import as_places
from ...errors import RequestError
from ...figures.answer_sentences import SHARED_NOISE
from ...figures.local_figures import MOST_BARS, local_bars, local_in_words
from ...figures.meaning import left_out_in_words, pairs_left_out
from ...figures.traces import standalone
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import percent, shortened, significant
from ...local.local_answers import FoundRelease, LocalAnswers, SketchRelease
from ...local.post_processing import POST, said_of
from ...releases.release import Release
from ...sketches.tables.table_answers import TableAnswers
from ...sketches.tables.table_axes import Axis
from ..frame.marks import choose_one, draw, note, offer, refusals, show, side
from ..frame.session import Counted, Opened, Session
from ..released.chosen_view import PART
from ..released.public_answers import LEVEL, REMEMBERED, show_table

FOUND = (
    "Nobody listed these answers: they were found letter by letter, from reports alone. Others with fewer people may "
    "have been missed, and liars could also hide one."
)
LIARS = {"1 in 1,000": 0.001, "1 in 100": 0.01, "5 in 100": 0.05, "20 in 100": 0.2}


@refusals(st.info)
def ask_view(opened: Opened) -> None:
    key = f"explore-ask-{opened.identity[:12]}"
    by_lists = "Choose from lists"
    way = choose_one("How to ask", [by_lists, "Write SQL"], f"{key}-way", by_lists, persist_state="session")
    if way == by_lists:
        question = _chosen(opened.release, key)
        with st.expander("The same in SQL"):
            st.code(question, language="sql")
    else:
        question = st.text_area(
            "A question in SQL, to the table “records”",
            first_question(opened.release),
            key=key,
            persist_state="session",
            height=110,
        )
        note(
            "COUNT(*), SUM, AVG, MEDIAN and QUANTILE(column, share), with WHERE and GROUP BY. Each answer has the ends "
            "of its 95% interval beside it; where the low end is 0 or less, it cannot be told from none."
        )
    found = ask_sql(opened.release, question, LEVEL)
    shown = readable(found)
    if way == by_lists:
        shown = possible(shown, opened.release.domain.many_records)
        note("At least and at most: with 95% probability the true number lies between them.")
    st.dataframe(shown, hide_index=True, key="explore-asked", column_config=_headings(shown))
    offer("Answers (CSV)", lambda: found.to_csv(index=False).encode(), f"{opened.stem}-answers.csv", "explore-ask-csv")


ASKED = {"How many": "COUNT(*)", "The average of": "AVG", "The middle of": "MEDIAN", "The total of": "SUM"}
"""What the first list offers, the first of them with what is counted, and how SQL says it."""


def _chosen(release: Release, key: str) -> str:
    """The question in SQL that four lists say: what, of which column, for each of which group, among whom."""
    answers = release.asked(LEVEL)
    axes = {axis.name: axis for axis in answers.axes}
    ordered = sorted((name for name, axis in axes.items() if not axis.categories), key=_placed(answers).__contains__)
    summed = [name for name in ordered if not isinstance(axes[name].column, Dates)]
    counted = release.domain.many_records
    ways = [way for way in ASKED if way == "How many" or (summed if way == "The total of" else ordered)]
    what, *places = st.columns(4)
    keep = {"persist_state": "session"}
    words = {"How many": f"How many {counted}"}
    way = what.selectbox("What", ways, key=f"{key}-what", format_func=lambda way: words.get(way, way), **keep)
    names = summed if way == "The total of" else ordered
    column = None if way == "How many" else places.pop(0).selectbox("Of", names, key=f"{key}-of", **keep)
    each, among = places[:2]  # with no gap before them
    first = next((name for name, axis in axes.items() if axis.categories), next(iter(axes)))
    everyone = "everyone together"
    groups = [everyone, *(name for name in axes if name != column)]
    group = each.selectbox("For each", groups, groups.index(first) if first in groups else 0, key=f"{key}-by", **keep)
    others = ["everyone", *(name for name in axes if name != group)]
    which = among.selectbox("Among", others, key=f"{key}-among", **keep)
    condition = "" if which == "everyone" else _condition(axes[which], f"{key}-where-{others.index(which)}")
    asked = f"COUNT(*) AS {_quoted(counted)}" if column is None else f"{ASKED[way]}({_quoted(column)}) AS answer"
    listed = [asked] if group == everyone else [_quoted(group), asked]
    lines = [f"SELECT {', '.join(listed)}", "FROM records", condition and f"WHERE {condition}"]
    lines.append("" if group == everyone else f"GROUP BY {_quoted(group)}")
    return "\n".join(line for line in lines if line)


def _condition(axis: Axis, key: str) -> str:
    """Who is meant, in SQL: of some categories, or from one number or day to another."""
    name = _quoted(axis.name)
    if axis.categories:
        label = f"Which {axis.name}"
        wanted = st.multiselect(label, axis.categories, [axis.categories[0]], key=key, persist_state="session")
        values = ", ".join("'" + one.replace("'", "''") + "'" for one in wanted or axis.categories[:1])
        return f"{name} IN ({values})"
    low, high = axis.sides()
    if isinstance(axis.column, Dates):
        first, last = (pd.Timestamp(one).date() for one in axis.column.between(np.array([low[0], high[-1]])))
        ends = st.slider(axis.name, first, last, (first, last), key=key, persist_state="session")
        return f"{name} BETWEEN '{ends[0]}' AND '{ends[1]}'"
    least, most = float(low[0]), float(high[-1])
    step = None if axis.steps is None else float(axis.steps.step)
    if step is not None and all(end == round(end) for end in (least, most, step)):
        least, most, step = int(least), int(most), int(step)
    ends = st.slider(axis.name, least, most, (least, most), step, key=key, persist_state="session")
    return f"{name} BETWEEN {ends[0]} AND {ends[1]}"


def first_question(release: Release) -> str:
    """A question to begin with: how many by a column of categories, and the mean of a number where there are both."""
    answers = release.asked(LEVEL)
    axes = answers.axes
    group = next((axis for axis in axes if axis.categories), axes[0])
    numbers = [axis for axis in axes if not axis.categories and axis is not group and axis.name not in _placed(answers)]
    number = next((axis for axis in numbers if measured(answers, [group.name, axis.name])), None)
    by = _quoted(group.name)
    mean = "" if number is None else f", AVG({_quoted(number.name)}) AS average"
    return f"SELECT {by}, COUNT(*) AS {_quoted(release.domain.many_records)}{mean}\nFROM records\nGROUP BY {by}"


def _placed(answers: TableAnswers) -> set[str]:
    """The columns that say when or where, of which nobody wants the average before they ask for it."""
    columns = as_places([axis.column for axis in answers.axes])
    return {column.name for column in columns if isinstance(column, (Coordinate, Cyclic, Dates))}


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def possible(shown: pd.DataFrame, counted: str) -> pd.DataFrame:
    """Numbers of what is counted as there can be: noise may say less than none, and nobody reads that."""
    counts = [name for name in (counted, f"{counted}_low", f"{counted}_high") if name in shown]
    return shown.assign(**{name: shown[name].clip(lower=0) for name in counts})


def _headings(shown: pd.DataFrame) -> dict[str, object]:
    """Numbers as the reader's country writes them, and the ends of intervals in words."""
    ends = {"_low": "at least", "_high": "at most"}
    numbers = [name for name in shown.columns if pd.api.types.is_numeric_dtype(shown[name])]
    words = {name: next((said for end, said in ends.items() if name.endswith(end)), name) for name in numbers}
    return {name: st.column_config.NumberColumn(said, format="localized") for name, said in words.items()}


def readable(found: pd.DataFrame) -> pd.DataFrame:
    """Groups as texts, and numbers in as many digits as their interval allows anyone to read."""
    shown = found.copy()
    for name in shown.columns:
        if isinstance(shown[name].dtype, pd.CategoricalDtype):
            shown[name] = shown[name].astype(str)
        elif pd.api.types.is_float_dtype(shown[name]):
            first = name.removesuffix("_low").removesuffix("_high")
            ends = [f"{first}_low", f"{first}_high"]
            width = (found[ends[1]] - found[ends[0]]).median() if set(ends) <= set(found.columns) else np.nan
            places = 3 if not width > 0 else int(np.clip(1 - np.floor(np.log10(width)), 0, 9))
            shown[name] = shown[name].round(places).astype("Int64" if places == 0 else float)
    return shown


MOST_WRITTEN = 4000  # Letters of it that are believed.
PAIR = re.compile(r"(?:^|;)pair:(\d{1,4})\.(\d{1,4})(?:;|$)")


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _association(identity: str, _release: Release, one: str, other: str) -> str:
    """χ² beside what noise alone would show, and bits, in a sentence."""
    found = _release.asked(LEVEL).associations(one, other).iloc[0]
    beside = "more than" if found["statistic"] > found["alone"] else "no more than"
    return (
        f"χ² with noise is {significant(found['statistic'], 3)}, {beside} the {significant(found['alone'], 3)} that "
        "noise and chance alone stay below in 19 of 20 releases. By the best guess, one tells "
        f"{significant(found['bits'], 2)} bits of the other."
    )


def overview_view(opened: Opened) -> None:
    """All pictures of a table, beginning with the view that the address names."""
    _pictures(opened, st.query_params.get(PART, "")[:MOST_WRITTEN])


@st.fragment
def _pictures(opened: Opened, begun: str) -> None:
    view = show_table(opened, "overview", begun)
    if 0 < len(view) <= MOST_WRITTEN:
        st.query_params[PART] = view
    else:
        st.query_params.pop(PART, None)
    _pair(opened, view)
    note(f"{SHARED_NOISE} {missing_in_words(opened.release.domain)}")
    _left_out(opened)


def _pair(opened: Opened, view: str) -> None:
    """How surely the two columns that were picked go together, and how much one tells of the other."""
    asked, answers = PAIR.search(view), opened.release.asked(LEVEL)
    places = sorted({int(place) for place in asked.groups()}) if asked else []
    if tuple(places) in answers.reading.noise.by_columns and len(places) == 2:
        one, other = (answers.axes[place].name for place in places)
        words = _association(opened.identity, opened.release, one, other)
        note(f"{in_markdown(f'{shortened(one)} and {shortened(other)}')} of everyone: {words}")


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


def local_view(visitor: Session, counted: Counted) -> None:
    release = counted.release
    people = release.people
    draw(
        f'<p class="fg-odds"><strong>{in_html(counted.name)}</strong> · {people:,} local reports, '
        f"ε = {release.epsilon:f} each</p>"
    )
    st.header(in_markdown(release.question), anchor=False)
    main, aside = st.columns([2, 1], gap="large")
    with main:
        if isinstance(release, SketchRelease):
            release = _asked(release)
        ways = [name for name, way in POST.items() if way in release.ways]
        how = st.selectbox("Estimates", ways, key="explore-local-post", width=300)
        table = release.table(POST[how])
        show(
            local_bars(table, people),
            "explore-local",
            local_in_words(table, people),
            {"displaylogo": False, "modeBarButtons": [["toImage"]]},
        )
        if len(table) > MOST_BARS:
            note(f"The {MOST_BARS} largest of {len(table):,} answers are drawn; the file of estimates has all.")
        note(said_of(POST[how]))
        _take_along(counted, release, table)
    with aside, side("what"):
        st.markdown(_promise(float(release.epsilon), release.title))
        if isinstance(release, FoundRelease):
            note(FOUND)
        if release.refused:
            note(f"{release.refused:,} further reports were left out, as no device that follows the survey sends them.")
        _liars(counted)
        if st.button("Close this file", key="explore-local-close"):
            visitor.counted = None
            st.rerun()


def _promise(epsilon: float, title: str) -> str:
    odds = math.exp(epsilon)
    guess = odds / (1 + odds)
    return (
        f"**Nobody was trusted.** Every answer was randomised where it was given, by {title}. Whoever sees a report "
        f"and thought before that two answers were equally likely is right about which one it was in at most "
        f"**{percent(guess, 3)}** of cases: no report is more than {significant(odds, 3)} times likelier for one "
        "answer than for another."
    )


def _asked(release: SketchRelease) -> SketchRelease:
    """The sketch, asked about the texts that the file names or those that are typed here."""
    with st.popover("Ask about other answers"):
        typed = st.text_area(
            "Answers, one a line", key="explore-local-ask", placeholder="\n".join(release.candidates[:3]), height=160
        )
        note("Everyone answered in their own words. Ask about any answer here, as often as you like: it costs nothing.")
    asked = [line.strip() for line in typed.splitlines() if line.strip()]
    if not asked:
        return release
    try:
        return release.asked(asked)
    except RequestError as error:
        st.error(in_markdown(error))
        return release


def _liars(counted: Counted) -> None:
    chosen = st.select_slider("If so many of the reports were lies", list(LIARS), "1 in 100", key="explore-local-liars")
    down, up = counted.release.poisoned(LIARS[chosen])
    people = counted.release.people
    st.markdown(
        f"Told by all as one, they could make an answer's share seem up to **{_points(up / people)}** larger, or "
        f"**{_points(down / people)}** smaller, than it is."
    )


def _points(share: float) -> str:
    return f"{significant(100 * share, 2)} points"


def _take_along(counted: Counted, release: LocalAnswers, table: pd.DataFrame) -> None:
    with st.popover("Take this along"):
        stem = counted.name.removesuffix(".npz")
        offer("Estimates (CSV)", lambda: table.to_csv(index=False), f"{stem}-answers.csv", "explore-local-csv")
        picture = partial(standalone, local_bars(table, release.people), release.question)
        offer("Picture that zooms (HTML)", picture, f"{stem}-answers.html", "explore-local-html")
