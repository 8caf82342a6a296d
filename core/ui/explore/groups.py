"""Of a file with groups: everyone together, or one group, which is then explored like any other file."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ...figures.report.exploration import Call
from ...figures.sentences.decisions import has_groups
from ...releases.release import Release
from ...sketches.classes import Classes
from ...words.escapes import in_markdown
from ..frame.frame import CLASSIFY
from ..frame.session import Opened

EVERYONE = ""
"""The part of a file with groups that is all of them; no group has an empty name."""


def choose_part(opened: Opened) -> Opened:
    """Let the visitor say who is explored; a file without groups is taken as it is."""
    if not has_groups(opened.release):
        return opened
    sketch: Classes = opened.release.sketch
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        part = st.selectbox(
            "Who",
            (EVERYONE, *sketch.categories),
            format_func=lambda part: in_markdown(part or "Everyone together"),
            key=f"explore-part-{opened.fingerprint[:12]}",
            persist_state="session",
            width=260,
        )
        st.page_link(CLASSIFY.path, label="Which group is a place like?", icon=":material/arrow_forward:")
    return part_of(opened, part)


def part_of(opened: Opened, part: str) -> Opened:
    """A part of a file with groups as a file of its own: one group, or `EVERYONE`."""
    release = opened.release.of_everyone() if part == EVERYONE else opened.release.of_class(part)
    return replace(opened, release=release, part=part)


def part_call(opened: Opened) -> Call | None:
    """How a program gets from the file to the part of it that is asked."""
    if opened.part is None:
        return None
    return Call(Release.of_everyone, {}) if opened.part == EVERYONE else Call(Release.of_class, {"which": opened.part})


def whom(opened: Opened) -> str:
    """The part in words, for a heading; "" for a file without groups."""
    return "" if opened.part is None else opened.part or "everyone together"
