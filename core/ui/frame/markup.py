"""The one door through which HTML reaches a page, and what foreign text needs to stay text."""

from __future__ import annotations

import re
from html import escape as _escape

import streamlit as st

__all__ = ["draw", "escape", "literal"]

_MARKDOWN = re.compile(r"([\\`*_\[\]<>~$|#:])")


def escape(text: object) -> str:
    """Text of unknown origin (a file's name, a column's) as it may stand inside HTML, line breaks as spaces."""
    return _escape(" ".join(str(text).split()))


def literal(text: object) -> str:
    """Text of unknown origin where Streamlit reads Markdown: labels, options, messages.

    A column named like a picture would otherwise make every visitor's browser fetch that picture from a stranger.
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))


def draw(markup: str) -> None:
    """Draw trusted markup whose every foreign part went through `escape`.

    Markdown ends an HTML block at the first blank line, and would read what follows as Markdown; so the markup is
    joined to one line. (``st.html`` would be stricter, but it removes SVG.)
    """
    one_line = " ".join(line.strip() for line in markup.splitlines())
    st.markdown(f'<div class="fg">{one_line}</div>', unsafe_allow_html=True, anchors=False)
