"""Opening a released file with groups: one dropped, one made or opened before, or one that comes with the app."""

from __future__ import annotations

import streamlit as st

from ...sources.samples import bundled_groups
from ...words.escapes import in_markdown
from ...words.phrases import listed
from ..explore.groups import grouped
from ..explore.opening import drop_zone, where_it_goes
from ..frame.marks import Visibility, facts, note, rail
from ..frame.session import Session
from .beside import open_model_here

PICTURE = 176
"""Pixels of a side of the picture of a file."""
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
        note(where_it_goes())
        _opened_before(visitor)
        open_model_here("first")
    with what, rail(Visibility.PUBLIC, "groups", "What a file with groups is"):
        facts(WHAT_IT_SHOWS)
    st.space("medium")
    st.header("Or look at one of these", anchor=False)
    bundled = bundled_groups()
    for place, (one, path) in zip(st.columns(max(1, len(bundled)), gap="medium"), bundled, strict=False):
        with place:
            picture = path.with_suffix(".png")
            if picture.is_file():  # lists of numbers have none
                st.image(picture, width=PICTURE, alt=f"Map of groups of {one.title}: {listed(one.label.categories)}")
            if st.button(in_markdown(one.title), key=f"classify-open-{one.name}", type="tertiary"):
                visitor.open(path.name, path.read_bytes())
                st.rerun()
            note(f"{one.story} Groups: {', '.join(one.label.categories)}.")


def _opened_before(visitor: Session) -> None:
    for name, opened in reversed(visitor.opened.items()):
        if grouped(opened) and st.button(f"Open {in_markdown(name)}", key=f"classify-again-{name}"):
            visitor.current = name
            st.rerun()
