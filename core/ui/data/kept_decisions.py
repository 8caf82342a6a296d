"""What an owner decided about columns, kept beside the ledger: whoever loads the page again begins where they were.

Only what was typed and chosen is kept, which is public with the first release anyway, and what was found with noise,
with its price; never the records, which have to be picked again. It is known by the names of the columns, so that next
month's file of the same columns begins with it, too. Of strangers, and where others are served, nothing is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st

from ...privacy.ledger.ledger_store import default_place
from ...releases.purchases import Purchase
from ...sources import ColumnInfo
from ..frame.marks import note
from ..frame.session import Records, Session
from ..frame.visiting import stranger, visitor_now
from ..own_data.paying import VARIABLE

PARTS = ("as", "low", "high", "unit", "step", "numbers", "missing", "categories", "others", "first", "last", "format")
PARTS += ("longest", "declared", "further", "found", "why")
WHOLE = ("data-who", "data-id", "data-rows", "data-record", "data-outside", "data-missing")
MOST_KEPT = 50  # Files; those that were not used for longest go.


def restore(visitor: Session, records: Records) -> None:
    """Begin with what was decided about the same columns before; once for every pick, before anything is drawn."""
    done = f"decisions-of-{records.number}"
    if records.sample is not None or (place := _place(records)) is None:
        return
    if not st.session_state.setdefault(done, False):
        st.session_state[done] = True
        _restore(visitor, records, place)
    if st.session_state.get(f"{done}-again"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            note("What was decided about these columns before is here again.")
            st.button("Begin afresh", key="decisions-forget", on_click=_forget, args=(records,), type="tertiary")


def _restore(visitor: Session, records: Records, place: Path) -> None:
    try:
        kept = json.loads(place.read_text())
        state = {f"{part}-{records.number}": value for part, value in kept["table"].items() if part in WHOLE}
        places = {column.name: at for at, column in enumerate(records.columns)}
        for name, fields in kept["columns"].items():
            state |= {f"{part}-{records.number}-{places[name]}": fields[part] for part in PARTS if part in fields}
        same = kept.get("of", records.title) == records.title  # of next month's file nothing was bought yet
        bought = [Purchase.from_dict(one) for one in kept["bought"]] if same else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # there is none, or another program has written there
    for one in bought:
        visitor.purchases.restore(records.number, one)
    st.session_state.update(state)
    st.session_state[f"decisions-of-{records.number}-again"] = True


def keep(visitor: Session, records: Records) -> None:
    """Keep what is decided now, where it is not kept already."""
    if records.sample is not None or (place := _place(records)) is None:
        return
    number = records.number
    bought = [one.to_dict() for one in visitor.purchases.made_of(number)]
    text = json.dumps(_decided(records.columns, number) | {"bought": bought, "of": records.title})
    if st.session_state.get("decisions-kept") == text:
        return
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = place.with_suffix(".new")
        with open(fresh, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
        fresh.replace(place)
        st.session_state["decisions-kept"] = text
        for old in sorted(place.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)[:-MOST_KEPT]:
            old.unlink()


def _decided(columns: Sequence[ColumnInfo], number: int) -> dict[str, Any]:
    """Everything that was decided, for JSON."""
    state = st.session_state
    fields = {
        column.name: {part: state[key] for part in PARTS if (key := f"{part}-{number}-{at}") in state}
        for at, column in enumerate(columns)
    }
    table = {part: state[key] for part in WHOLE if (key := f"{part}-{number}") in state}
    return {"table": table, "columns": fields}


def _forget(records: Records) -> None:
    """Begin with nothing decided; in a callback."""
    number = records.number
    for key in list(st.session_state):
        if any(str(key) == f"{part}-{number}" for part in WHOLE) or any(
            str(key).startswith(f"{part}-{number}-") for part in PARTS
        ):
            del st.session_state[key]
    st.session_state[f"decisions-of-{number}-again"] = False
    if (place := _place(records)) is not None:
        place.unlink(missing_ok=True)


def _place(records: Records) -> Path | None:
    """Where decisions about these columns are kept; None where nothing is."""
    ledger = os.environ.get(VARIABLE) or default_place()
    if stranger() is not None or visitor_now() is not None or "://" in str(ledger):
        return None
    described = json.dumps([[column.name, column.kind] for column in records.columns])
    return Path(ledger).expanduser().parent / "decisions" / f"{sha256(described.encode()).hexdigest()[:32]}.json"
