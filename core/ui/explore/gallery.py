"""The released files that come with the app, as small pictures."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ...sources.samples import bundled_distances, bundled_releases
from ..frame.frame import EXPLORE
from ..frame.session import Session


def gallery(visitor: Session) -> None:
    """Draw the bundled releases; picking one opens it and goes to Explore."""
    row = st.container(horizontal=True, gap="small", key="fg-pictures")
    for one, path in bundled_releases():
        with row:
            _one(visitor, path, one.name, one.title, f"Density picture of the released sketch of: {one.title}")
    for one, path in bundled_distances():
        with row:
            title = f"{one.title}: distances"
            _one(
                visitor,
                path,
                f"{one.name}-distance",
                title,
                f"Picture of average distances, strongest where everyone is nearest, of: {one.title}",
            )


def _one(visitor: Session, path: Path, name: str, title: str, words: str) -> None:
    """A picture with a button."""
    with st.container(key=f"gallery-{name}", gap="xsmall"):
        st.image(path.with_suffix(".png"), width="stretch", alt=words)
        if st.button(title, key=f"gallery-open-{name}", type="tertiary"):
            visitor.open(path.name, path.read_bytes())
            st.switch_page(EXPLORE.path)
