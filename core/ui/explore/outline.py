"""An outline that a visitor puts under the map: a GeoJSON file, which stays in the visitor's session."""

from __future__ import annotations

import numpy as np
import streamlit as st

from ...errors import RequestError
from ...figures.outlines import is_map, read_outlines
from ...words.escapes import in_markdown
from ..frame.marks import note
from ..frame.session import Opened

MOST_MEGABYTES = 20
READ = "explore-outline-read"
"""Session state: the outline that was read last, and the file it is of."""


def own_outline(opened: Opened, columns: tuple[str, ...]) -> tuple[np.ndarray, ...] | None:
    """Let the visitor drop an outline in, where the picture is a map; None for the bundled one."""
    domain = opened.release.domain
    drawn = [domain.columns[domain.names.index(name)] for name in columns]
    if len(drawn) != 2 or not is_map(*drawn):
        return None
    with st.popover("Outline"):
        dropped = st.file_uploader(
            "Your own outline (GeoJSON, in degrees)",
            type=["geojson", "json"],
            max_upload_size=MOST_MEGABYTES,
            key="explore-outline",
        )
        note("Districts, rivers, a fence: lines and areas are drawn in place of the bundled coasts. It stays with you.")
        if dropped is None:
            st.session_state.pop(READ, None)
            return None
        before, lines = st.session_state.get(READ, (None, None))
        if before != dropped.file_id:
            try:
                lines = read_outlines(dropped.getvalue())
            except RequestError as error:
                st.error(in_markdown(error))
            st.session_state[READ] = dropped.file_id, lines
        return lines
