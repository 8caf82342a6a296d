"""A public sample: records like the private ones that everybody may know, on which the forecast is tried."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

import streamlit as st

from ...domain import Domain
from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import shown
from ...releases.forecast.draft import Draft
from ...releases.forecast.public_records import PublicRecords
from ...releases.forecast.trial import check_sample
from ...sources import Upload, open_source
from ...sources.public_tables import public_table
from ...sources.source_opening import FILE_TYPES
from ..frame.marks import Visibility, note, rail
from ..own_data.picking_records import DECLARED, is_own_file
from .several import added

WHAT = (
    "Is there a published table of records like these: last year's, another town's, or that of volunteers? With 200 of "
    "them or more, in the same columns, the forecast and the best way to make the release are found on them and not on "
    "made-up records. What is chosen by them can be read off the file, so they are not kept secret. Never take a part "
    "of your own records, not even the first few."
)


def choose_sample(draft: Draft, number: int) -> Draft:
    """Let the owner drop a public sample, and say that it is public; what cannot be used is refused, and left out.

    Parameters
    ----------
    number : int
        Number of the pick on the Data page, part of every key.
    """
    kept, file, declared = (f"release-sample-{part}-{number}" for part in ("kept", "file", "declared"))
    with st.expander("I have a public sample of such records", type="compact", key=f"release-sample-{number}"):
        with rail(Visibility.PUBLIC, "sample", "A public sample"):
            note(WHAT)
            st.file_uploader("A public file", type=FILE_TYPES, key=file, on_change=_keep, args=(file, kept, declared))
            title, content = st.session_state.get(kept, ("", b""))
            public = st.checkbox(DECLARED, key=declared, disabled=not title, persist_state="session")
            if not (title and public):
                return draft
            try:
                found = _opened(title, content, _needed(draft, number))
            except RequestError as problem:
                st.error(in_markdown(problem))
                return draft
            note(f"The forecast is tried on {len(found.table):,} records of “{shown(title)}”.")
    return replace(draft, sample=found, density=None)


def _keep(file: str, kept: str, declared: str) -> None:
    """Keep what was dropped when the page is left, as the uploader does not; whether it is public is said anew."""
    dropped = st.session_state.get(file)
    st.session_state[kept] = ("", b"") if dropped is None else (dropped.name, dropped.getvalue())
    st.session_state[declared] = False


def _needed(draft: Draft, number: int) -> Domain:
    """The columns that the questions of the release have, all of them together."""
    asked = [draft.compared, *(one.draft.compared for one in added(number) if one.draft.has_places)]
    columns = {column.name: column for domain in asked for column in domain.columns}
    return replace(draft.compared, columns=tuple(columns.values()))


def _opened(title: str, content: bytes, domain: Domain) -> PublicRecords:
    if is_own_file(content):
        raise RequestError("That is your own private file from the Data page; nothing was read from it.")
    return _read(f"{sha256(content).hexdigest()} {json.dumps(domain.to_dict())}", title, content, domain)


@st.cache_resource(scope="session", max_entries=2, show_spinner="Reading the file …")
def _read(key: str, _title: str, _content: bytes, _domain: Domain) -> PublicRecords:
    found = PublicRecords(_title, public_table(open_source(Upload(_title, _content)), _domain))
    check_sample(found.encoded(_domain, "l2"))
    return found
