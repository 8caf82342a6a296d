"""Releases that are kept beside the owner's ledger: they are there whatever happens to a browser or to the app."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...privacy.ledger.ledger import Ledger
from ...releases.shelf import Entry, Shelf, public_name, shelf_of
from ...releases.shelf_files import WRITTEN
from ...serving.door import the_door
from ...serving.owners import all_shelves
from ...words.escapes import in_markdown
from ...words.numbers import size
from ..frame.frame import EXPLORE, TRAIN
from ..frame.marks import Visibility, note, rail
from ..frame.session import Session
from ..ledger.opening import open_sandbox
from .shelves import manage, my_shelf, said_of, shown_to_strangers

GREETED = "kept-greeted"
"""Session state: that the last release was opened for this visitor, who may since have closed it."""
MOST_LISTED = 12


def on_the_shelves(visitor: Session) -> list[tuple[Shelf, Entry]]:
    """What is kept and where, the latest first: the owner's releases, and the visitor's of samples."""
    mine = my_shelf()
    shelves = [*([] if mine is None else [mine]), open_sandbox(visitor).shelf]
    found = [(shelf, entry) for shelf in shelves for entry in shelf.entries()]
    return sorted(found, key=lambda kept: (kept[1].created, kept[1].name), reverse=True)


def open_kept(visitor: Session, shelf: Shelf, entry: Entry) -> None:
    """Open one, as if its owner had dropped its file; RequestError when it is gone or damaged."""
    from ..explore.opening import open_any  # which lists what is kept

    open_any(visitor, public_name(entry.name), shelf.path(entry.name).read_bytes(), keep=False)


def open_last(visitor: Session) -> None:
    """Open the last release made, once a session: it is where its owner was before the page was loaded again."""
    greeted, st.session_state[GREETED] = st.session_state.get(GREETED), True
    if visitor.shown is not None or greeted:
        return
    releases = [(shelf, entry) for shelf, entry in on_the_shelves(visitor) if not entry.name.endswith(WRITTEN)]
    for shelf, entry in releases[:1]:
        try:
            open_kept(visitor, shelf, entry)
        except RequestError:
            return  # it is listed, and opening it says what is wrong


def kept_releases(
    visitor: Session,
    key: str,
    title: str = "Releases kept beside your ledger",
    ledger: Ledger | None = None,
    dataset: str | None = None,
    most: int = MOST_LISTED,
) -> None:
    """List what is kept, with the ways to explore and to save each; nothing where nothing is.

    Parameters
    ----------
    key : str
        Of the page, part of every key.
    title : str
        What stands above the list, which only its owner sees: it names data sets.
    ledger : Ledger | None
        The only ledger whose releases are listed; None lists all.
    dataset : str | None
        The only data set that is listed; None lists all.
    most : int
        So many are listed, the latest.
    """
    if ledger is None and dataset is None:
        shown_to_strangers(key, lambda shelf, entry: _explore(visitor, shelf, entry))
    place = None if ledger is None else shelf_of(ledger).folder
    kept = [
        (shelf, entry)
        for shelf, entry in on_the_shelves(visitor)
        if place in (None, shelf.folder) and dataset in (None, entry.dataset)
    ]
    if not kept:
        return
    with rail(Visibility.PRIVATE, f"kept-{key}", title):
        note("Each file is public and may be handed out. This list is yours: it names your data sets.")
        for shelf, entry in kept[:most]:
            _line(visitor, shelf, entry, key)
        if len(kept) > most:
            note(f"And {len(kept) - most} earlier ones in {kept[-1][0].folder}.")


def released_here(visitor: Session, key: str, most: int = MOST_LISTED) -> None:
    """List what everybody has released on a server that several use; nothing on one's own computer.

    Whose each is is shown, and under which public name; which data set it was made of is its owner's business.
    """
    door = the_door()
    if door is None:
        return
    shelves = [(owner, shelf, entry) for owner, shelf in all_shelves(door.started) for entry in shelf.entries()]
    shelves.sort(key=lambda one: (one[2].created, one[2].name), reverse=True)
    if not shelves:
        return
    with rail(Visibility.PUBLIC, f"here-{key}", "Released here"):
        for owner, shelf, entry in shelves[:most]:
            said = f"{public_name(entry.name)} · {owner} · {size(entry.size)}"
            if st.button(in_markdown(said), key=f"here-{key}-{public_name(entry.name)}", type="tertiary"):
                try:
                    open_kept(visitor, shelf, entry)
                except (RequestError, OSError) as error:
                    st.error(in_markdown(error))
                else:
                    st.switch_page(EXPLORE.path)
        if len(shelves) > most:
            note(f"And {len(shelves) - most:,} earlier ones.")


def _line(visitor: Session, shelf: Shelf, entry: Entry, key: str) -> None:
    """One of them."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        said = in_markdown(said_of(entry))
        if st.button(said, key=f"kept-{key}-{entry.name}", type="tertiary", help="Explore it"):
            _explore(visitor, shelf, entry)
        st.download_button(
            "Save",
            shelf.path(entry.name).read_bytes,
            public_name(entry.name),
            "application/octet-stream",
            key=f"kept-{key}-{entry.name}-save",
            on_click="ignore",
            type="tertiary",
        )
        manage(shelf, entry, key)
    if entry.description:
        note(entry.description)


def _explore(visitor: Session, shelf: Shelf, entry: Entry) -> None:
    """Show one on the page for its kind: models have their own."""
    page = EXPLORE
    try:
        if entry.name.endswith(WRITTEN):
            from ...models.opening import load_model
            from ..train.choosing import MODEL

            st.session_state[MODEL], page = load_model(shelf.path(entry.name)), TRAIN
        else:
            open_kept(visitor, shelf, entry)
    except (RequestError, OSError) as error:
        st.error(in_markdown(error))
    else:
        st.switch_page(page.path)
