"""The look that Streamlit's configuration cannot express: one style sheet, for both themes.

``light-dark()`` picks its colour by the theme the visitor chose, because Streamlit sets ``color-scheme`` on the app,
and ``browser_scripts.py`` on what opens over it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ...figures.drawings import (
    density_picture,
    distance_picture,
    group_picture,
    model_picture,
    picture_style,
    regression_picture,
    table_picture,
)
from ...figures.palette import AMBER, FAINT, INK, PAPER, RED, TEAL

VARIABLES = "".join(
    f"--{name}: light-dark({colour.light}, {colour.dark}); --{name}-shape: {colour.shape};"
    for name, colour in zip(
        ("amber", "teal", "ink", "faint", "paper", "wrong"), (AMBER, TEAL, INK, FAINT, PAPER, RED), strict=True
    )
)

QUESTIONS = picture_style(
    "release-question",
    [
        (table_picture(), "Bars of three columns; in each the bars of one part stand out."),
        (density_picture(), "A hilly outline; a dashed line asks how high it is at one place."),
        (distance_picture(), "Lines from many points to one place among them."),
        (group_picture(), "Two groups of points, and a place between them with an arrow to the nearer group."),
        (regression_picture(), "Points about a rising line with a band around it."),
        (model_picture(), "Three bars that lead to one dot."),
    ],
)
# The app, and what opens over it, which lies beside it: lists, help, dialogs.
ANYWHERE = ':is(.stApp, [id="stFloatingOverlayPortal"], [data-testid="portal"])'
FOLDER = Path(__file__).parent
STYLE = f"""
.stApp {{ {VARIABLES} --hairline: light-dark(#DCE3E4, #2A3439); }}
{QUESTIONS}
{(FOLDER / "theme.css").read_text(encoding="utf-8")}
""".replace(".stApp ", f"{ANYWHERE} ")


def apply() -> None:
    """Put the style sheet into the page; the frame does it once a run."""
    st.html(f"<style>{STYLE}</style>")
