"""Files that are kept: on the visitor's own shelf beside the ledger, and what is on show there for everybody else."""

import os
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import day, size
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.ledger_store import default_place
from ...releases.release_store import WRITTEN, Entry, Shelf, public_name, shelf_beside, shelf_of
from ..frame.marks import Visibility, note, offer, rail
from ..frame.navigation import EXPLORE, TRAIN
from ..frame.session import Session
from ..frame.visiting import stranger, visitor_now
from ..own_data.paying import VARIABLE, known_ledger, open_sandbox
from ..serving.door import the_door
from ..serving.owners import all_shelves

# Session state: where what may be changed about a file is open, and the file that was asked to be removed, once.
CHANGING, REMOVING = "shelf-changing", "shelf-removing"


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
    return f"{entry.title} · {day(entry.created)}, {entry.created:%H:%M} UTC · {size(entry.size)}"


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


MODEL = "train-model"  # Session state: the model that is shown.
# Session state: that the last release was opened for this visitor, who may since have closed it.
GREETED = "kept-greeted"
MOST_LISTED = 12


def on_the_shelves(visitor: Session) -> list[tuple[Shelf, Entry]]:
    """What is kept and where, the latest first: the owner's releases, and the visitor's of samples."""
    mine = my_shelf()
    shelves = [*([] if mine is None else [mine]), open_sandbox(visitor).shelf]
    found = [(shelf, entry) for shelf in shelves for entry in shelf.entries()]
    return sorted(found, key=lambda kept: (kept[1].created, kept[1].name), reverse=True)


def open_any(visitor: Session, name: str, data: bytes, keep: bool = True, title: str = "") -> None:
    """Open a released sketch or counted local reports, and keep the file; RequestError when it is neither.

    `title`: what its owner calls it, which is shown to the owner in place of the file's name and is in no file.
    """
    from ...local.local_release import is_local  # not every visitor has one

    if is_local(data):
        visitor.open_counted(name, data)
    else:
        visitor.open(name, data, title)
    if keep:
        keep_opened(name, data)


def open_kept(visitor: Session, shelf: Shelf, entry: Entry, mine: bool = True) -> None:
    """Open one, as if its owner had dropped its file; RequestError when it is gone or damaged.

    `mine`: whether the visitor is its owner, who alone is shown the name of the data set.
    """
    title = entry.title if mine else ""
    open_any(visitor, public_name(entry.name), shelf.path(entry.name).read_bytes(), keep=False, title=title)


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

    `key`: of the page, part of every key. `title`: what stands above the list, which only its owner sees: it names data
    sets. `ledger`: the only ledger whose releases are listed; None lists all. `dataset`: the only data set that is
    listed; None lists all. `most`: So many are listed, the latest.
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
                    open_kept(visitor, shelf, entry, mine=False)
                except (RequestError, OSError) as error:
                    st.error(in_markdown(error))
                else:
                    st.switch_page(EXPLORE.path)
        if len(shelves) > most:
            note(f"And {len(shelves) - most:,} earlier ones.")


def _line(visitor: Session, shelf: Shelf, entry: Entry, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        said = in_markdown(said_of(entry))
        if st.button(said, key=f"kept-{key}-{entry.name}", type="tertiary", help="Explore it"):
            _explore(visitor, shelf, entry)
        offer(
            "Save",
            shelf.path(entry.name).read_bytes,
            public_name(entry.name),
            f"kept-{key}-{entry.name}-save",
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
            from ...models.linear_models import load_model

            st.session_state[MODEL], page = load_model(shelf.path(entry.name)), TRAIN
        else:
            open_kept(visitor, shelf, entry)
    except (RequestError, OSError) as error:
        st.error(in_markdown(error))
    else:
        st.switch_page(page.path)
