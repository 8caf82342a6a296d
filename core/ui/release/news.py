"""How far a release in the making is: its words, and the line about it on every other page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ...formatting.numbers import significant, time_left
from ..frame.marks import Visibility, mark

if TYPE_CHECKING:  # what makes a release takes a while to load, and every page asks whether one is being made
    from .release_task import ReleaseTask

KEY = "release-desk"  # Session state: the desk at which this visitor's release is made.
NEWS_EVERY = 2.0  # Seconds until another page looks again.
# Rows after which a bar is half full where nobody knows how many there are: it only says that it goes on.
UNKNOWN_TOTAL = 1_000_000


def progress(making: ReleaseTask) -> tuple[float, str]:
    """The share that is done, and how far it is in words: private, for the owner's eyes."""
    pace = making.pace
    if making.stage == "sealing":
        again = " and reading them once more for the release" if making.order.first is not None else ""
        return 1.0, f"All records are read. Drawing the noise{again}."
    if making.ahead:
        first = "another one has" if making.ahead == 1 else f"{making.ahead} others have"
        return 0.0, f"Waiting until {first} been made, as this server makes few at once; nothing is spent meanwhile."
    if not pace.rows:
        sorting = making.order.sketch.domain.unit.column is not None
        return 0.0, "Bringing the rows of each person together" if sorting else "Opening the data"
    done = min(1.0, pace.rows / pace.total) if pace.total else pace.rows / (pace.rows + UNKNOWN_TOTAL)
    words = [f"{pace.rows:,} of {pace.total:,} rows read" if pace.total else f"{pace.rows:,} rows read"]
    if pace.rate is not None:
        words.append(f"{significant(pace.rate, 2)} rows a second")
    if pace.seconds_left is not None:
        words.append(time_left(pace.seconds_left))
    return done, " · ".join(words)


def release_news(path: str) -> None:
    """Where a release is being made, or one is ready and was not seen yet: a line about it, with the way there."""
    desk = st.session_state.get(KEY)
    if desk is not None and desk.making is not None and not desk.seen:
        (_watch if desk.making.running else _line)(desk.making, path)


@st.fragment(run_every=NEWS_EVERY)
def _watch(making: ReleaseTask, path: str) -> None:
    _line(making, path)


def _line(making: ReleaseTask, path: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="fg-news"):
        if making.running:
            done, words = progress(making)
            far = f"{100 * done:.0f}%" if making.pace.total else words
            mark(Visibility.PRIVATE, f"A release is being made: {far}")
            st.page_link(path, label="Look at it")
        elif making.release is not None:
            mark(Visibility.PUBLIC, "Your release is ready")
            st.page_link(path, label="See and save it")
        else:
            mark(Visibility.PRIVATE, "Your release was not made")
            st.page_link(path, label="See why")
