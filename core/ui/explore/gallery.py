"""The released files that come with the app, as small pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from ...figures.pictures import density_picture
from ...machine.small_matrices import one_thread
from ...releases.release import load
from ...sources.samples import Sample, bundled_distances, bundled_releases
from ..frame.frame import EXPLORE
from ..frame.session import Session


@st.cache_data(show_spinner=False)
def _picture(path: str, changed: float, show: tuple[str, ...]) -> np.ndarray:
    """A bundled release is public, so all visitors share its picture; it is drawn again when the file changes."""
    with one_thread():  # small matrices; see explore_answers
        return density_picture(load(Path(path)), show)


def gallery(visitor: Session) -> None:
    """Draw the bundled releases; picking one opens it and goes to Explore."""
    row = st.container(horizontal=True, gap="small", key="fg-pictures")
    for one, path in bundled_releases():
        with row:
            _one(visitor, one, path, one.name, one.title, f"Density picture of the released sketch of: {one.title}")
    for one, path in bundled_distances():
        with row:
            title = f"{one.title}: distances"
            _one(
                visitor,
                one,
                path,
                f"{one.name}-distance",
                title,
                f"Picture of average distances, strongest where everyone is nearest, of: {one.title}",
            )


def _one(visitor: Session, one: Sample, path: Path, name: str, title: str, words: str) -> None:
    """A picture with a button."""
    with st.container(key=f"gallery-{name}", gap="xsmall"):
        st.image(_picture(str(path), path.stat().st_mtime, one.show), width="stretch", alt=words)
        if st.button(title, key=f"gallery-open-{name}", type="tertiary"):
            visitor.open(path.name, path.read_bytes())
            st.switch_page(EXPLORE.path)
