"""The one door through which HTML reaches a page."""

from __future__ import annotations

import streamlit as st


def draw(markup: str) -> None:
    """Draw trusted markup whose every foreign part went through `core.words.escapes.in_html`.

    Markdown ends an HTML block at the first blank line, and would read what follows as Markdown; so the markup is
    joined to one line. (``st.html`` would be stricter, but it removes SVG.)
    """
    one_line = " ".join(line.strip() for line in markup.splitlines())
    st.markdown(f'<div class="fg">{one_line}</div>', unsafe_allow_html=True, anchors=False)
