"""Work that takes seconds of a processor, such as forecasts: visitors of a served app wait for each other there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ...machine.waiting_line import Attendance, FairLine
from ...serving.door import the_door
from .visiting import visitor_now

LOOK_AGAIN = 0.05
"""Seconds until whoever waits looks again whether it is their turn."""


@contextmanager
def turn() -> Iterator[None]:
    """Work when it is the visitor's turn; at once on one's own computer, and within work whose turn has come."""
    if the_door() is None:
        yield
        return
    there = attendance()

    def wait() -> None:
        if there.ended:
            st.stop()
        sleep(LOOK_AGAIN)

    with _line().taken(visitor_now().name, wait):
        yield


def attendance() -> Attendance:
    """Whether this visitor's browser is connected; what it asks is made for being asked from any thread."""
    server, number = get_instance(), get_script_run_ctx().session_id
    return Attendance(lambda: server.is_active_session(number))


@st.cache_resource(show_spinner=False)
def _line() -> FairLine:
    return FairLine(the_door().started.limits.forecasts_at_once)
