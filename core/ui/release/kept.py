"""Releases that are kept beside the owner's ledger: they are there whatever happens to a browser or to the app."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...releases.shelf import Entry, Shelf, shelf_of
from ...words.escapes import in_markdown
from ...words.phrases import day
from ...words.quantities import size
from ..frame.frame import EXPLORE
from ..frame.marks import Visibility, note, rail
from ..frame.session import Opened, Session
from ..ledger.opening import known_ledger

GREETED = "kept-greeted"
"""Session state: that the last release was opened for this visitor, who may since have closed it."""
MOST_LISTED = 12


def on_the_shelf() -> tuple[Shelf | None, tuple[Entry, ...]]:
    """The owner's shelf and what is on it, the latest first; nothing for strangers, nor where no ledger is kept."""
    try:
        ledger = known_ledger()
    except RequestError:  # the page of the ledger says what is wrong
        ledger = None
    if ledger is None:
        return None, ()
    shelf = shelf_of(ledger)
    return shelf, shelf.entries()


def public_name(name: str) -> str:
    """The name under which a kept release is handed out; it says nothing of the data, as that on the shelf does."""
    return "-".join(["release", *name.rsplit("-", 2)[1:]])


def open_kept(visitor: Session, shelf: Shelf, entry: Entry) -> Opened:
    """Open one, as if its owner had dropped its file; RequestError when it is gone or damaged."""
    return visitor.open(public_name(entry.name), shelf.path(entry.name).read_bytes())


def open_last(visitor: Session) -> None:
    """Open the last release made, once a session: it is where its owner was before the page was loaded again."""
    greeted, st.session_state[GREETED] = st.session_state.get(GREETED), True
    if visitor.shown is not None or greeted:
        return
    shelf, entries = on_the_shelf()
    for entry in entries[:1]:
        try:
            open_kept(visitor, shelf, entry)
        except RequestError:
            return  # it is listed, and opening it says what is wrong


def kept_releases(
    visitor: Session, key: str, title: str = "Releases kept beside your ledger", dataset: str | None = None
) -> None:
    """List what is kept, with the ways to explore and to save each; nothing where nothing is.

    Parameters
    ----------
    key : str
        Of the page, part of every key.
    title : str
        What stands above the list, which only its owner sees: it names data sets.
    dataset : str | None
        The only data set that is listed; None lists all.
    """
    shelf, entries = on_the_shelf()
    entries = [entry for entry in entries if dataset in (None, entry.dataset)]
    if not entries:
        return
    with rail(Visibility.PRIVATE, f"kept-{key}", title):
        note("Each file is public and may be handed out. This list is yours: it names your data sets.")
        for entry in entries[:MOST_LISTED]:
            _line(visitor, shelf, entry, key)
        if len(entries) > MOST_LISTED:
            note(f"And {len(entries) - MOST_LISTED} earlier ones in {shelf.folder}.")


def _line(visitor: Session, shelf: Shelf, entry: Entry, key: str) -> None:
    """One of them."""
    said = f"{entry.dataset} · {day(entry.created)}, {entry.created:%H:%M} UTC · {size(entry.size)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(in_markdown(said), key=f"kept-{key}-{entry.name}", type="tertiary", help="Explore it"):
            try:
                open_kept(visitor, shelf, entry)
            except (RequestError, OSError) as error:
                st.error(in_markdown(error))
            else:
                st.switch_page(EXPLORE.path)
        st.download_button(
            "Save",
            shelf.path(entry.name).read_bytes,
            public_name(entry.name),
            "application/octet-stream",
            key=f"kept-{key}-{entry.name}-save",
            on_click="ignore",
            type="tertiary",
        )
