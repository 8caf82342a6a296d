"""The released files that come with the app, as small density pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from ..figures.pictures import density_picture
from ..release_file import load
from ..samples import bundled_releases
from .frame import EXPLORE
from .session import Session


@st.cache_data(show_spinner=False)
def _picture(path: str, changed: float, show: tuple[str, ...]) -> np.ndarray:
    """A bundled release is public, so all visitors share its picture; it is drawn again when the file changes."""
    return density_picture(load(Path(path)), show)


def gallery(visitor: Session) -> None:
    """Draw the bundled releases; picking one opens it and goes to Explore."""
    row = st.container(horizontal=True, gap="medium", key="fg-pictures")
    for one, path in bundled_releases():
        with row, st.container(key=f"gallery-{one.name}", gap="xsmall"):
            picture = _picture(str(path), path.stat().st_mtime, one.show)
            st.image(picture, width="stretch", alt=f"Density picture of the released sketch of: {one.title}")
            if st.button(one.title, key=f"gallery-open-{one.name}", type="tertiary"):
                visitor.open(path.name, path.read_bytes())
                st.switch_page(EXPLORE.path)
