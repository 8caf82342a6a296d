"""The Anomalies view: a visitor's own points, and how unusual each is among the people of a released file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from ...errors import RequestError
from ...figures.answer_sentences import counted_close_by, noun
from ...figures.density_figures import close_by
from ...figures.figure_axes import View
from ...figures.map_layers import MAX_DRAWN, add_points
from ...figures.report.exploration import MAX_PLACES, SCORES, Anomalies, Step
from ...figures.report.release_pictures import in_words, picture_figure
from ...releases.release import Release
from ...sources.public_tables import beside
from ...tasks.anomalies import REFERENCE_POINTS, AnomalyScores, score
from ...words.escapes import in_markdown
from ...words.numbers import rounded_all
from ...words.phrases import count, listed, plural
from ..frame.charts import for_screen, picture_config
from ..frame.marks import Visibility, mark, note
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import LISTED, dropped_table, worked_out
from ..released.chosen_view import choose_two, drawable
from ..released.taking_along import take_along
from .example import example_of

FILE, READ = "explore-points", "explore-points-read"
SHARES = {"1 in 100": 0.01, "2 in 100": 0.02, "5 in 100": 0.05, "10 in 100": 0.1, "20 in 100": 0.2}
"""Shares of people in the emptiest places, as they are asked for."""


def anomalies_view(opened: Opened) -> None:
    """Everything under Anomalies."""
    mark(Visibility.PRIVATE, "Your points stay in this session; they are compared with the file, never added to it")
    dropped = dropped_table("points", opened.release.domain.names, FILE)
    example = None if dropped else example_of(opened.release.domain, opened.identity)
    if dropped is None:
        note("Further columns, such as a number that tells the points apart, are handed back as they are.")
        if example is None:
            return
        note(example.words)
    share = _choose_share(noun(opened.release))
    try:
        table, scores = worked_out(
            opened,
            dropped or example,
            READ,
            "Comparing …",
            lambda points: score(
                opened.release,
                points,
                public_answers.LEVEL,
                share=share,
                population=public_answers.population(opened.identity, opened.release),
            ),
            share,
        )
    except RequestError as error:
        st.error(in_markdown(error))
        return
    _say(scores, share, noun(opened.release))
    estimate = scores.density * opened.release.records
    result = beside(table, {"estimate": estimate} | {name: getattr(scores, name) for name in SCORES}).to_pandas()
    figure, title = None, ""
    if drawable(opened.release.domain):
        figure, title = _show(opened, table, scores)
    st.dataframe(
        _most_unusual(opened.release, result, scores),
        hide_index=True,
        key="explore-anomalies",
        alt="The points, the most unusual first",
    )
    if len(result) > LISTED:
        note(f"The {LISTED} most unusual are listed; the file has all {len(result):,}.")
    take_along(
        opened,
        "anomalies",
        lambda: result,
        _steps(opened.release, table, share),
        figure,
        title,
        "They hold your points.",
    )


def _choose_share(counted: str) -> float:
    """Let the visitor say how many are to be called unusual."""
    chosen = st.select_slider(
        f"Call so many {counted} unusual",
        list(SHARES),
        "5 in 100",
        key="explore-anomalies-share",
        persist_state="session",
        width=360,
        help=f"A point is called unusual where it lies in an emptier place than all but so many {counted} do. More "
        "finds more of what is truly odd, and calls as many more ordinary ones unusual.",
    )
    return SHARES[chosen]


def _steps(release: Release, table: pa.Table, share: float) -> tuple[Step, ...]:
    """The comparison for a program, unless there are more points than a program should hold."""
    if table.num_rows > MAX_PLACES:
        return ()
    return (Anomalies({name: table.column(name).to_pylist() for name in release.domain.names}, share=share),)


def _say(scores: AnomalyScores, share: float, counted: str) -> None:
    unusual, sure, every = int(scores.anomalous.sum()), int(scores.certain.sum()), len(scores.score)
    st.markdown(how_many_unusual(unusual, sure, every, share, counted))
    note(
        f"The score is the share of {counted} that lie in places as empty as the point's or emptier, counted over "
        f"{REFERENCE_POINTS:,} synthetic ones: 0.01 says one in a hundred. Of all {counted}, up to about "
        f"{100 * share:.0f} in 100 are called unusual, ordinary ones too. A point is surely so when even the upper end "
        "of its interval says it, which noise alone seldom brings about."
    )


def how_many_unusual(unusual: int, sure: int, every: int, share: float, counted: str) -> str:
    """How many of so many points are unusual, how many of them surely, and what that means; Markdown."""
    points, rest = count(every, "point"), f"{100 * (1 - share):.0f} in 100 {counted} of the file"
    if unusual == 0:
        return f"**None of {points}** is unusual: none lies in an emptier place than {rest} do."
    which = f"All {points}" if unusual == every > 1 else f"{unusual:,} of {points}"
    surely = {0: "none of them surely", unusual: "surely so"}.get(sure, f"{sure:,} of them surely")
    return f"**{which}** {plural(unusual, 'is', 'are')} unusual, {surely}: in emptier places than {rest}."


def _show(opened: Opened, table: pa.Table, scores: AnomalyScores) -> tuple[go.Figure, str]:
    """Draw the points on the density; the figure and its title."""
    domain = opened.release.domain
    columns = choose_two(domain)
    picture = public_answers.picture(opened.identity, opened.release, View(columns))
    axes = tuple(domain.columns[domain.names.index(name)] for name in columns)
    figure = add_points(picture_figure(opened.release, picture), table.to_pandas(), axes, scores.anomalous)
    st.plotly_chart(
        for_screen(figure),
        key="explore-anomalies-picture",
        alt=in_words(opened.release, picture),
        config=picture_config(opened),
    )
    if table.num_rows > MAX_DRAWN:
        note(f"{MAX_DRAWN:,} points are drawn, unusual ones first.")
    return figure, f"Points on the density over {listed(columns)}"


def _most_unusual(release: Release, result: pd.DataFrame, scores: AnomalyScores) -> pd.DataFrame:
    """The points to be listed, the most unusual first, their answers in the digits that their errors support."""
    order = scores.score.argsort(kind="stable")[:LISTED]
    error = (scores.high - scores.low)[order] / 4.0 * release.records
    answered = result.columns[-len(SCORES) - 1 :]
    shown = result.iloc[order].drop(columns=answered)
    low, high = scores.low[order] * release.records, scores.high[order] * release.records
    shown[close_by(noun(release))] = counted_close_by(scores.density[order] * release.records, low, high, error)
    shown["score"] = rounded_all(scores.score[order], np.full(len(order), 1.0 / REFERENCE_POINTS))
    shown["unusual"] = np.where(scores.certain[order], "surely", np.where(scores.anomalous[order], "yes", ""))
    return shown
