"""The plan of a class, for teachers: one document, read on the page and in the repository."""

from __future__ import annotations

import streamlit as st

from ...machine.installation import APP

PLAN = APP / "docs" / "teaching.md"
HOME = "http://127.0.0.1:8501/"
ADDRESS = f"{HOME}learn"
"""Where the document's links lead; on the page they lead to the page itself, wherever it is served."""


def plan() -> None:
    """The document under its title, closed at first."""
    title, text = PLAN.read_text(encoding="utf-8").split("\n", 1)
    with st.expander(title.removeprefix("# ")):
        st.markdown(text.replace(ADDRESS, "").replace(HOME, "./"))
