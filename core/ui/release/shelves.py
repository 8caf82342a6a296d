"""Which shelves a visitor's pages show: the owner's own, and what is on show there for everybody else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from ...errors import RequestError
from ...privacy.ledger.store import default_place
from ...releases.shelf import Entry, Shelf, shelf_beside, shelf_of
from ...serving.door import the_door
from ...serving.owners import all_shelves
from ...words.escapes import in_markdown
from ...words.numbers import size
from ...words.phrases import day
from ..frame.marks import Visibility, note, rail
from ..frame.owner import stranger
from ..frame.visiting import visitor_now
from ..ledger.opening import VARIABLE, known_ledger

CHANGING, REMOVING = "shelf-changing", "shelf-removing"
"""Session state: where what may be changed about a file is open, and the file that was asked to be removed, once."""


def my_shelf() -> Shelf | None:
    """The visitor's own shelf, where the visitor is an owner; it need not be there."""
    if stranger() is not None:
        return None
    if visitor_now() is None:  # what was opened is kept before there is any ledger
        return _shelf_of_this_computer()
    try:
        ledger = known_ledger()
    except RequestError:  # the page of the ledger says what is wrong
        return None
    return None if ledger is None else shelf_of(ledger)


def _shelf_of_this_computer() -> Shelf:
    return shelf_beside(os.environ.get(VARIABLE) or default_place())


def open_to_all() -> Iterator[tuple[Shelf, bool]]:
    """Shelves that the visitor may open files of, with whether only those that are on show.

    Where people sign in, whatever anyone has released there is for all of them. Elsewhere strangers reach only what
    its owner has given a name.
    """
    door = the_door()
    if door is None:
        yield _shelf_of_this_computer(), stranger() is not None
        return
    for _, shelf in all_shelves(door.started):
        yield shelf, False


def keeps_opened() -> bool:
    """Whether files that the visitor opens are kept: on one's own computer alone."""
    return stranger() is None and visitor_now() is None


def keep_opened(name: str, data: bytes) -> None:
    """Keep a file that was opened on one's own computer; what cannot be kept is open anyway.

    Where others are served it stays in the session, as a shelf there is for all of them.
    """
    if not keeps_opened():
        return
    place = Path(name)
    try:
        _shelf_of_this_computer().put(place.stem, place.suffix, data)
    except RequestError:
        return


def said_of(entry: Entry) -> str:
    """A file in a line."""
    return f"{entry.dataset} · {day(entry.created)}, {entry.created:%H:%M} UTC · {size(entry.size)}"


def manage(shelf: Shelf, entry: Entry, key: str) -> None:
    """Rename, describe or remove a file of one's own, in a window over the page: lists of files stand at edges too."""
    here = f"change-{key}-{entry.name}"
    if st.button("Change", key=here, type="tertiary"):
        st.session_state[CHANGING] = here
    if st.session_state.get(CHANGING) == here:
        changing(shelf, entry)


def _close() -> None:
    for name in (CHANGING, REMOVING):
        st.session_state.pop(name, None)


@st.dialog("Change what is kept", on_dismiss=_close)
def changing(shelf: Shelf, entry: Entry) -> None:
    """What may be changed about a file; it is removed only when that was asked twice."""
    note(said_of(entry))
    with st.form("change-form", border=False):
        title = st.text_input("Name", entry.dataset if entry.shown else "", help="What has a name is on show.")
        words = st.text_input("Description", entry.description)
        if st.form_submit_button("Keep it so"):
            _change(shelf, entry, title.strip(), words)
    note("Whoever reaches this app may open what has a name here; without one, only you.")
    if st.session_state.get(REMOVING) != entry.name:
        if st.button("Remove it for ever", key="change-remove"):
            st.session_state[REMOVING] = entry.name
            st.rerun()
        return
    st.markdown("Remove it for ever? There is no way back, and what it cost of a budget stays spent.")
    with st.container(horizontal=True):
        if st.button("Yes, remove it", key="change-remove-yes", type="primary"):
            _remove(shelf, entry)
        if st.button("No, keep it", key="change-remove-no"):
            del st.session_state[REMOVING]
            st.rerun()


def _remove(shelf: Shelf, entry: Entry) -> None:
    try:
        shelf.remove(entry.name)
    except (RequestError, OSError) as error:
        st.error(in_markdown(error))
    else:
        _close()
        st.rerun()


def _change(shelf: Shelf, entry: Entry, title: str, words: str) -> None:
    try:
        shelf.describe(entry.name, words)
        if title and title != Path(entry.name).stem:
            shelf.rename(entry.name, title)
    except (RequestError, OSError) as error:
        st.error(in_markdown(error))
    else:
        _close()
        st.rerun()


def shown_to_strangers(key: str, pick) -> None:
    """List what is on show to whoever is not the owner; ``pick`` opens a file of a shelf."""
    if stranger() is None or the_door() is not None:
        return
    shelf = _shelf_of_this_computer()
    entries = [entry for entry in shelf.entries() if entry.shown]
    if not entries:
        return
    with rail(Visibility.PUBLIC, f"shown-{key}", "On this app's shelf"):
        for entry in entries:
            if st.button(in_markdown(said_of(entry)), key=f"shown-{key}-{entry.name}", type="tertiary"):
                pick(shelf, entry)
            if entry.description:
                note(entry.description)
