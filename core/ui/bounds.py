"""Help for those who do not know a column's bounds: a public file that has them."""

from __future__ import annotations

import streamlit as st

from ..errors import RequestError
from ..public_sample import public_facts
from ..sources import Upload, open_source
from .marks import Visibility, note, rail
from .picking import FILE_TYPES
from .rows import fill_row, used_key
from .session import Records

TROUBLE = "bounds-trouble"


def unknown_bounds(records: Records) -> None:
    """Offer to fill empty bounds and categories of the used columns from a public file."""
    help_wanted = st.expander("I do not know the bounds", type="compact")
    with help_wanted, rail(Visibility.PUBLIC, "bounds", "From a public file"):
        note(
            "Is there a published table with the same columns, last year's perhaps? What it holds is public already, "
            "so its smallest and largest values may be. Never use your own file for this."
        )
        key = f"public-file-{records.number}"
        st.file_uploader("A public file", type=FILE_TYPES, key=key, on_change=_fill, args=(records, key))
        if trouble := st.session_state.pop(TROUBLE, None):
            st.error(trouble)


def _fill(records: Records, key: str) -> None:
    """Fill what is empty; it runs before the page is drawn, while widgets may still be given values."""
    dropped = st.session_state.get(key)
    if dropped is None:
        return
    places = {
        column.name: place for place, column in enumerate(records.source.columns)
        if st.session_state.get(used_key(records.number, place))
    }
    try:
        facts = public_facts(open_source(Upload(dropped.name, dropped.getvalue())), list(places))
    except RequestError as error:
        st.session_state[TROUBLE] = str(error)
        return
    for name, fact in facts.items():
        fill_row(records.number, places[name], fact)

