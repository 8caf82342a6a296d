"""Of a file with groups: everyone together, or one group, which is then explored like any other file."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ...figures.answer_sentences import has_groups
from ...figures.report.exploration import Call
from ...releases.release import Release
from ...sketches.classes import Classes
from ...words.escapes import in_markdown
from ..frame.frame import CLASSIFY
from ..frame.session import Opened

EVERYONE = ""
"""The part of a file with groups that is all of them; no group has an empty name."""


def choose_question(opened: Opened) -> Opened:
    """Let the visitor say which question of a file of several is asked; any other file is taken as it is."""
    names = list(opened.release.parts)
    if not names:
        return opened
    name = st.selectbox(
        "Question",
        names,
        format_func=in_markdown,
        key=f"explore-question-{opened.fingerprint[:12]}",
        persist_state="session",
        width=420,
        help="The file answers several questions under one promise; each has its own share of it.",
    )
    return question_of(opened, name)


def question_of(opened: Opened, name: str) -> Opened:
    """One question of a file of several, as a file of its own."""
    return replace(opened, release=opened.release.parts[name], question=name, several=opened.release)


def grouped(opened: Opened) -> list[Opened]:
    """Those questions of a file that tell groups apart; the file itself where it has one question."""
    each = [question_of(opened, name) for name in opened.release.parts] or [opened]
    return [one for one in each if has_groups(one.release)]


def choose_grouped(opened: Opened) -> Opened:
    """The question that tells groups apart; the visitor says which, where there are several."""
    each = {one.question: one for one in grouped(opened)}
    if len(each) < 2:
        return next(iter(each.values()), opened)
    name = st.selectbox(
        "Question",
        list(each),
        format_func=in_markdown,
        key=f"classify-question-{opened.fingerprint[:12]}",
        persist_state="session",
        width=420,
    )
    return each[name]


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
            key=f"explore-part-{opened.identity}",
            persist_state="session",
            width=260,
        )
        st.page_link(CLASSIFY.path, label="Which group is a place like?", icon=":material/arrow_forward:")
    return part_of(opened, part)


def part_of(opened: Opened, part: str) -> Opened:
    """A part of a file with groups as a file of its own: one group, or `EVERYONE`."""
    release = opened.release.of_everyone() if part == EVERYONE else opened.release.of_class(part)
    return replace(opened, release=release, part=part, grouped=opened.release)


def part_calls(opened: Opened) -> tuple[Call, ...]:
    """How a program gets from the file to the part of it that is asked: the question, and then the group."""
    calls = [] if opened.question is None else [Call(Release.part, {"name": opened.question})]
    if opened.part is not None:
        everyone = opened.part == EVERYONE
        calls.append(Call(Release.of_everyone, {}) if everyone else Call(Release.of_class, {"which": opened.part}))
    if opened.bandwidth is not None:
        calls.append(Call(Release.smoothed, {"bandwidth": opened.bandwidth}))
    return tuple(calls)


def whom(opened: Opened) -> str:
    """Question and group in words, for a heading; "" for a file of one question without groups."""
    group = None if opened.part is None else opened.part or "everyone together"
    return ", ".join(words for words in (opened.question, group) if words)
