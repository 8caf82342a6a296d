"""Lesson: randomised response, where nobody is trusted."""

from __future__ import annotations

import math

import streamlit as st

from ...experiments.local_lessons import POLLS, Polled, polled
from ...figures.promise_lesson_figures import polls_figure
from ...words.numbers import percent, significant
from ..frame.marks import note
from .lesson import Lesson, choose_epsilon, picture, say

CLASS = "class-size"
CLASSES = (30, 100, 300, 1000, 10_000)


def experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = st.select_slider(
            "Phones that answer",
            CLASSES,
            value=100,
            key=CLASS,
            bind="query-params",
            format_func=lambda number: f"{number:,}",
        )
        note(coin_sentence(float(epsilon)))
    found = polled(people, epsilon)
    with drawn:
        say(*findings(found))
        picture(polls_figure(found), "polls", f"{POLLS} polls of {people:,} phones. {' '.join(findings(found))}")


def coin_sentence(epsilon: float) -> str:
    """What each phone does."""
    kept = 1 / (1 + math.exp(-epsilon))
    return f"Each phone sends its owner's answer with a chance of {percent(kept, 3)}, and the other one otherwise."


def findings(found: Polled) -> tuple[str, str]:
    """How far off a poll is, and how often its band holds the truth."""
    reach = significant(float(100 * (found.high - found.low).mean() / 2), 2)
    return (
        f"Any one poll is good to about ± {reach} points.",
        f"{found.held} of {POLLS} bands hold the truth, and no phone told anyone what its owner thinks.",
    )


LESSON = Lesson(
    "flips",
    "What if nobody is trusted?",
    "Let more phones answer, and then move ε.",
    "Each report may be a lie. The more there are, the closer every poll comes to the line, and no report says more.",
    (
        (
            "Honest by chance",
            "Everyone has a secret coin. Now and then it says: send the wrong answer. Whoever sees a yes cannot tell "
            "whether it was meant. This is how embarrassing questions were asked in interviews long before there were "
            "phones (Warner 1965).",
        ),
        (
            "Lies that add up",
            "Everyone knows how often the coins lie. Even if nobody meant yes, that share would say it. What goes "
            "beyond it comes from those who meant it, and is scaled up: that is the estimate, with its band.",
        ),
        (
            "Nothing to be stolen",
            "The collector has reports only. Nobody can leak, sell or be forced to hand over what they do not have: "
            "the answer never left the phone.",
        ),
    ),
    experiment,
)
