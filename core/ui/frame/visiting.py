"""Who the visitor of this run is, where the app is served to others; and what that opens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ...serving.door import STRANGER, TOKEN_HEADER, Visitor, the_door
from ...serving.settings import may_open
from ...words.escapes import in_html
from .markup import draw

if TYPE_CHECKING:
    from ...privacy.ledger.log import Did

PERSON = "frostglass-person"
"""Session state: the mark of the sign-in that the session belongs to."""
OUT = "Sign out"


def visitor_now() -> Visitor | None:
    """Who the visitor is, judged in this moment; None where the app serves its own computer alone."""
    door = the_door()
    if door is None:
        return None
    visitor = door.visitor(st.context.headers.get(TOKEN_HEADER))
    return visitor if st.session_state.get(PERSON, visitor.person.mark) == visitor.person.mark else STRANGER


def opens(page: str) -> bool:
    """Whether the visitor may open a page, by its file."""
    visitor = visitor_now()
    return visitor is None or may_open(page, visitor.roles)


def admit(page: str) -> None:
    """End the run here where the visitor may not open the page; the first thing that a page asks.

    A session belongs to one sign-in for good: nothing of it is shown to another one.
    """
    door = the_door()
    if door is None:
        return
    visitor = visitor_now()
    if not may_open(page, visitor.roles):
        st.error("This page is not for you: it needs another role than those you have here.")
        st.stop()
    st.session_state[PERSON] = visitor.person.mark
    door.bind(get_script_run_ctx().session_id, visitor.person)


def who_is_here() -> None:
    """The visitor's name, and the way out."""
    visitor = visitor_now()
    if visitor is None:
        return
    draw(f'<p class="fg-group">{in_html(visitor.name)}</p>')
    if the_door().started.sign_in is not None and st.button(OUT, key="sign-out", type="tertiary"):
        the_door().sign_out(visitor.person)
        st.logout()
        st.stop()


def write_down(did: Did, about: dict[str, Any]) -> None:
    """Have the log of a served app say what the visitor is about to do; nothing on one's own computer.

    Raises
    ------
    RequestError
        When it cannot be written down; the visitor must not do it then.
    """
    visitor = visitor_now()
    if visitor is not None:
        from ...serving.owners import served_ledger  # which takes a while to load, and every page comes through here

        served_ledger(the_door().started, visitor.name).log.write(visitor.name, did, about)
