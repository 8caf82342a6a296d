"""Records that are named instead of uploaded: files by a path or pattern, or a table of a database."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePath

import streamlit as st

from ...errors import RequestError
from ...serving.owners import ADDRESS, check_found, check_named
from ...sources.databases import is_database, tables_of
from ...words.escapes import in_markdown
from ..frame.marks import note
from ..frame.owner import places

FIELD, TABLE = "data-path", "data-table"
DATABASE = "data-database"
"""Session state: the database whose tables are offered, and their names; None when no database was named."""
WANTED = "data-wanted"
"""Session state: what is to be opened in this run; a click sets it before the page is drawn."""
HOW = """
One file: `/data/visits.parquet`, also CSV, TSV, Arrow, Feather or NumPy.

Many files as one table: `/data/visits/*.parquet`, or `/data/**/*.csv` with all folders below.

A database: `/data/clinic.duckdb` or `/data/shop.sqlite`, whose tables you then pick from; or right away
`/data/clinic.duckdb::patients`.

Parquet in an object store: `s3://bucket/visits.parquet`.
"""


def pick_path() -> str | None:
    """Let the owner name data; what is to be opened now, or None."""
    with st.form("data-path-form", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.text_input(
                "Path, pattern or database table",
                key=FIELD,
                persist_state="session",
                help=HOW,
                placeholder="/data/visits/*.parquet or /data/clinic.duckdb",
            )
            st.form_submit_button("Open", on_click=_named)
    note(
        "It is read where it lies, in small pieces: nothing is copied or loaded, and it may be larger than memory. "
        "Until you release something, only the names and kinds of its columns are looked at."
    )
    if st.session_state.get(DATABASE) is not None:
        _pick_table(*st.session_state[DATABASE])
    return st.session_state.pop(WANTED, None)


def _pick_table(path: str, tables: tuple[str, ...]) -> None:
    st.selectbox(
        f"Which of the {len(tables):,} tables of {in_markdown(PurePath(path).name)}?"
        if len(tables) > 1
        else f"The table of {in_markdown(PurePath(path).name)}",
        tables,
        index=None,
        key=f"{TABLE}-{path}",
        placeholder="pick a table",
        on_change=_picked,
        args=(path,),
        persist_state="session",
        format_func=in_markdown,
    )


def _named() -> None:
    name = tidied(st.session_state[FIELD])
    if not may_name(name):  # what the page shows was decided in an earlier run
        st.session_state[DATABASE], st.session_state[WANTED] = None, name or None
        return
    st.session_state[DATABASE], st.session_state[WANTED] = None, name or None
    try:
        if name and is_database(path := Path(name).expanduser()):
            st.session_state[DATABASE], st.session_state[WANTED] = (name, tables_of(path)), None
    except (RequestError, OSError, RuntimeError):  # the last of a home that is nobody's
        return  # opening it says what is wrong


def _picked(path: str) -> None:
    if not may_name(path):
        return
    table = st.session_state[f"{TABLE}-{path}"]
    st.session_state[WANTED] = f"{path}::{table}" if table else None


def may_name(name: str) -> bool:
    """Whether the visitor may have this file of the server looked at."""
    try:
        check_place(name)
    except RequestError:
        return False
    return True


def check_place(name: str, files: Collection[str] | None = None) -> None:
    """Refuse what the visitor may not read on the server: by its name, and by the files that it has led to.

    Raises
    ------
    RequestError
        The same for what is elsewhere and for what is not there.
    """
    allowed = places()
    if allowed is None:
        return
    check_named(name, allowed)
    if files is None and not ADDRESS.match(name):
        files = [name.partition("::")[0]]
    check_found(files or (), allowed)


def tidied(name: str) -> str:
    """A name as it was copied from somewhere: without quotes around it, and without what makes a path an address."""
    name = name.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1].strip()
    return name.removeprefix("file://")


def title_of(name: str) -> str:
    """What named data is called on the page and, unless the owner says otherwise, in the ledger."""
    name = name.split("?")[0] if "://" in name else name
    path = PurePath(name)
    return f"{path.parent.name}/{path.name}" if any(sign in path.name for sign in "*?[") else path.name
