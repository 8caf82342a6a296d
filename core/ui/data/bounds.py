"""Help for those who do not know a column's bounds: a public file that has them, or a purchase with a share of ε."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...sources import Upload, open_source
from ...sources.public_tables import public_facts
from ...words.escapes import in_markdown
from ..frame.marks import Visibility, note, rail
from ..frame.session import Records, Session
from .bounds_purchase import purchase
from .column_form import fill_row, used_key
from .declaration import Declaration
from .picking import FILE_TYPES, is_own_file

TROUBLE = "bounds-trouble"


def unknown_bounds(visitor: Session, records: Records, declared: Declaration) -> None:
    """Offer to fill the empty bounds of the used columns."""
    if trouble := st.session_state.pop(TROUBLE, None):
        st.error(in_markdown(trouble))
    help_wanted = st.expander(
        "I do not know the bounds", type="compact", key=f"unknown-{records.number}", on_change="rerun"
    )
    if not help_wanted.open:  # nobody's ledger is opened, or made, before it is needed
        return
    with help_wanted:
        with rail(Visibility.PUBLIC, "bounds", "From a public file"):
            _public_file(records)
        st.space("small")
        with rail(Visibility.PRIVATE, "bounds", "Bought with a share of ε"):
            purchase(visitor, records, declared)


def _public_file(records: Records) -> None:
    note(
        "Is there a published table with the same columns, last year's perhaps? What it holds is public already, so "
        "its smallest and largest values may be. Never use your own file for this."
    )
    key = f"public-file-{records.number}"
    st.file_uploader("A public file", type=FILE_TYPES, key=key, on_change=_fill_from_public, args=(records, key))


def _fill_from_public(records: Records, key: str) -> None:
    """Fill what is empty; a callback runs before the page is drawn, while widgets may still be given values."""
    dropped = st.session_state.get(key)
    if dropped is None:
        return
    if is_own_file(dropped.getvalue()):
        st.session_state[TROUBLE] = (
            "That is your own file, whose smallest and largest values would give people away; nothing was read from it."
        )
        return
    places = {
        column.name: place
        for place, column in enumerate(records.source.columns)
        if st.session_state.get(used_key(records.number, place))
    }
    try:
        facts = public_facts(open_source(Upload(dropped.name, dropped.getvalue())), list(places))
    except RequestError as error:
        st.session_state[TROUBLE] = str(error)
        return
    for name, fact in facts.items():
        fill_row(records.number, places[name], fact)
