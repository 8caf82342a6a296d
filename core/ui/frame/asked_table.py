"""A visitor's own table, with which a released file is asked: dropped on a page, and kept in the visitor's session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ...domain import Domain
from ...sources import Upload, open_source
from ...sources.public_tables import read_queries
from ...words.escapes import in_markdown
from ...words.phrases import listed, plural
from .marks import note
from .session import Opened

FILE_TYPES = ["csv", "tsv", "parquet", "arrow", "feather", "npy", "npz"]
MAX_MEGABYTES = 50
MOST_RECORDS = 200_000
LISTED = 200
"""Of them, how many are shown on the page."""


def dropped_table(what: str, names: Sequence[str], key: str) -> UploadedFile | None:
    """The field for a table of points or sets, which must have these columns, and what was dropped there."""
    wanted = f"A table of {what}, with the {plural(len(names), 'column')} {listed(names, 6)}"
    return st.file_uploader(in_markdown(wanted), FILE_TYPES, max_upload_size=MAX_MEGABYTES, key=key)


def read_table(dropped: UploadedFile, domain: Domain) -> pa.Table:
    """The table; RequestError when it is not one that a file of this domain can be asked with."""
    return read_queries(open_source(Upload(dropped.name, dropped.getvalue())), domain, MOST_RECORDS)


def worked_out(
    opened: Opened,
    dropped: UploadedFile,
    key: str,
    words: str,
    work: Callable[[pa.Table], Any],
    asked: object = None,
) -> tuple[pa.Table, Any]:
    """The table and what the file says of it, worked out once and kept in the session, as the table may be private.

    Parameters
    ----------
    key : str
        Of the session's state, under which both are kept.
    words : str
        What is shown while it is worked out.
    work : Callable[[pa.Table], Any]
        Asks the file.
    asked : object
        What the visitor chose that the work depends on.
    """
    known = (dropped.file_id, opened.identity, asked)
    if st.session_state.get(key, (None,))[0] != known:
        table = read_table(dropped, opened.release.domain)
        with st.spinner(words):
            st.session_state[key] = (known, table, work(table))
    return st.session_state[key][1:]


def note_rest(count: int) -> None:
    """Say so where there are more than are listed."""
    if count > LISTED:
        note(f"The first {LISTED} are listed; the file has all {count:,}.")
