"""Where the records come from: a bundled sample, a dropped file, or a path or database table."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...sources import Source, Upload, open_source
from ...sources.numpy_arrays import ArraySource
from ...sources.samples import sample
from ...sources.source_opening import Found, named_files
from ...words.escapes import in_markdown
from ..frame.marks import note
from ..frame.owner import places, stranger
from ..frame.session import OwnData, Records, Session
from .picking_path import check_place, pick_path, title_of
from .sample_cards import PICKED, pick_sample

ORIGIN = "data-origin"
"""Session state of the choice between the three; Home sets it to `SAMPLE` behind its third door."""
SAMPLE, FILE, PATH = "A sample", "My file", "A path or database"
OWN_FILE = "data-file"
"""Session state of the private file as it was dropped."""
MOST_UNNAMED = 24
"""Columns without names that are still shown one by one."""
DECLARED = "Everyone may know every row of this file"
"""What an owner says of a public file, before it is read."""
FILE_TYPES = ["csv", "tsv", "parquet", "arrow", "feather", "npy", "npz"]


def pick_records(visitor: Session) -> Records | None:
    """Let the visitor pick records; what was picked last, or None."""
    why, allowed = stranger(), places()
    origins = [SAMPLE, FILE] if allowed == () else [SAMPLE, FILE, PATH]
    if st.session_state.setdefault(ORIGIN, FILE) not in origins:
        st.session_state[ORIGIN] = FILE
    origin = st.segmented_control("Where are the records?", origins, required=True, key=ORIGIN, persist_state="session")
    if why is not None:
        note(f"Others may reach this app ({why}), so it opens no paths and no databases of the computer it runs on.")
    {SAMPLE: _pick_sample, FILE: _pick_file, PATH: _pick_path}[origin](visitor)
    return visitor.records


def _pick_sample(visitor: Session) -> None:
    name = pick_sample()
    picked = visitor.records
    if name is not None and (picked is None or picked.sample != name):
        chosen = sample(name)
        visitor.pick(chosen.title, open_source(chosen.path), sample=name)


def take_sample(visitor: Session, name: str) -> None:
    """Pick a sample and declare it as its catalogue does, so that it can be released at once."""
    chosen = sample(name)
    source = open_source(chosen.path)
    visitor.pick(chosen.title, source, sample=name)
    visitor.own = OwnData(chosen.title, source, chosen.domain, name)
    st.session_state[ORIGIN], st.session_state[PICKED] = SAMPLE, name


def _pick_file(visitor: Session) -> None:
    dropped = st.file_uploader("Your file", type=FILE_TYPES, key=OWN_FILE, on_change=_forget_read_file)
    note("It goes to the computer that runs this app, for this session only, and nowhere else.")
    # The uploader hands its file over again on every run; it is opened once.
    if dropped is not None and st.session_state.get("data-file-read") != dropped.file_id:
        _open(visitor, dropped.name, Upload(dropped.name, dropped.getvalue()))
        st.session_state["data-file-read"] = dropped.file_id


def is_own_file(content: bytes) -> bool:
    """Whether this is the private file that was dropped on the Data page."""
    private = st.session_state.get(OWN_FILE)
    return private is not None and private.getvalue() == content


def _forget_read_file() -> None:
    st.session_state.pop("data-file-read", None)


def _pick_path(visitor: Session) -> None:
    name = pick_path()
    if name is not None:
        with st.spinner("Looking at it"):
            _open(visitor, title_of(name), name)


def _open(visitor: Session, title: str, where: str | Upload) -> None:
    try:
        named = isinstance(where, str)
        if named:
            check_place(where)
            check_place(where, named_files(where))
        source = _named_source(where)
        found = Found.of(source, named_files(where) if named else (), named and "::" in where)
        visitor.pick(title, source, found=found)
    except RequestError as error:
        st.error(in_markdown(error))


def _named_source(where: str | Upload) -> Source:
    """The source; an array's columns get the names they are shown by, so that one may use only some of them.

    An array of very many columns that have no names is one of embeddings, spectra or pictures: one vector a row.
    """
    source = open_source(where)
    if isinstance(source, ArraySource) and source.names is None:
        if len(source.columns) > MOST_UNNAMED:
            return source.as_vectors("vector")
        return open_source(where, [column.name for column in source.columns])
    return source
