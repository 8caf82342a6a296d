"""Modes: where people gather, what the noise leaves of it, and a second opinion by another method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from ...errors import RequestError
from ...figures.answer_sentences import noun, place_words, standing_out
from ...figures.density_figures import Marks, close_by
from ...figures.report.exploration import MOST_MODES, Modes, table_of
from ...figures.report.release_pictures import axes_of
from ...tasks.density import Curve, Heatmap
from ...tasks.modes import Mode
from ...words.escapes import in_markdown
from ...words.numbers import percent, rounded, rounded_range
from ...words.phrases import plural
from ..frame.marks import note
from ..frame.session import Opened
from ..released import public_answers
from ..released.taking_along import take_along


def modes_view(opened: Opened) -> None:
    """Everything that is said about the modes: under a picture that marks them, or where there is none."""
    try:
        found = public_answers.modes(opened.identity, opened.release)
    except RequestError as error:
        st.info(in_markdown(error))
        return
    _say_how_many(found)
    st.dataframe(_table(opened, found), hide_index=True, key="explore-modes", alt="The modes, the densest first")
    note(
        f"A mode is a place with more {noun(opened.release)} than anywhere just around it. To tell it from a bump of "
        "noise, one part of the rows found it and another part, which knows nothing of the search, judged how far it "
        "rises above the way to a denser place."
    )
    take_along(opened, "modes", lambda: table_of(found), (Modes(MOST_MODES),), label="Take the modes along")
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


def _second_opinion(opened: Opened) -> None:
    asked = st.toggle(
        "Ask the cells too",
        key="explore-cells",
        help="Another way to find the densest place: every row names its fullest cell, and where most of these cells "
        "overlap, the densest place should be (Coleman and Shrivastava 2021, section 4).",
    )
    if not asked:
        return
    try:
        found = public_answers.intersection(opened.identity, opened.release)
    except RequestError as error:
        st.info(in_markdown(error))
        return
    place = ", ".join(f"{name} {words}" for name, words in place_words(found.position, opened.release).items())
    wide = (found.high - found.low) / 4.0
    note(
        f"The fullest cells of {found.satisfied:,} out of {found.rows:,} rows overlap at {place}, with about "
        f"{rounded(found.estimate, wide)} {close_by(noun(opened.release))}. They hold {percent(found.weight)} of "
        "what the fullest cells count: the nearer to 100%, the more one place has them all."
    )
