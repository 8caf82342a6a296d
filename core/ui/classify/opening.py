"""Opening a released file with groups: one dropped, one made or opened before, or one that comes with the app."""

from __future__ import annotations

import streamlit as st

from ...sources.samples import bundled_groups
from ...words.escapes import in_markdown
from ..explore.groups import grouped
from ..explore.opening import drop_zone
from ..frame.marks import Visibility, facts, note, rail
from ..frame.session import Session
from .beside import open_model_here

WHAT_IT_SHOWS = (
    ("A table for every group", "Made once from labelled private records: who is healthy and who is ill, say."),
    ("Where each group lives", "Ask any place which group it is like. No answer costs anyone any more privacy."),
    ("When it does not know", "Where the noise could have turned the answer round, it says so."),
)


def open_groups(visitor: Session) -> None:
    """What the page shows while no file with groups is open."""
    drop, what = st.columns([1.2, 1], gap="large")
    with drop:
        if visitor.shown is not None:
            st.info(in_markdown(f"{visitor.shown.name} tells no groups apart: its records were released without them."))
        drop_zone(visitor, "classify-file")
        note("It is read in this session only. You need nothing else: no data, no password, no connection.")
        _opened_before(visitor)
        open_model_here("first")
    with what, rail(Visibility.PUBLIC, "groups", "What a file with groups is"):
        facts(WHAT_IT_SHOWS)
    st.space("medium")
    st.header("Or look at one of these", anchor=False)
    for place, (one, path) in zip(st.columns(3, gap="large"), bundled_groups(), strict=False):
        with place:
            if st.button(f"Open {in_markdown(one.title)}", key=f"classify-open-{one.name}"):
                visitor.open(path.name, path.read_bytes())
                st.rerun()
            note(f"{one.story} Groups: {', '.join(one.label.categories)}.")


def _opened_before(visitor: Session) -> None:
    for name, opened in reversed(visitor.opened.items()):
        if grouped(opened) and st.button(f"Open {in_markdown(name)}", key=f"classify-again-{name}"):
            visitor.current = name
            st.rerun()
