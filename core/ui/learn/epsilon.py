"""Lesson: what ε does."""

from __future__ import annotations

import streamlit as st

from ...experiments.crowd_lessons import Outcomes, outcomes
from ...figures.forecast_figures import dots, dots_in_words
from ...figures.promise_lesson_figures import outcomes_figure
from ...words.numbers import significant
from ..frame.marks import note
from ..frame.odds import odds
from .lesson import Lesson, choose_epsilon, picture, say

PEOPLE = "crowd-size"
CROWDS = (30, 100, 300, 1000, 10_000)


def experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = st.select_slider(
            "People in the data",
            CROWDS,
            value=100,
            key=PEOPLE,
            bind="query-params",
            format_func=lambda number: f"{number:,}",
        )
        odds(float(epsilon))
    possible = outcomes(epsilon, people)
    with drawn:
        say(kept_sentence(possible), error_sentence(possible))
        picture(outcomes_figure(possible), "outcomes", kept_sentence(possible))
    with controls:
        name = "people near the busiest hour"
        picture(dots(possible.at_peak, name), "peak", dots_in_words(possible.at_peak, name))
        note(f"One dot a file: what it says of the busiest hour. The truth is {possible.exact.max():,.0f}.")


def kept_sentence(possible: Outcomes) -> str:
    """How often the busiest hour is found."""
    hour = f"{int(possible.peak)}:{60 * (possible.peak % 1):02.0f}"
    return f"The busiest time stays near {hour} in {possible.kept} of {len(possible.releases)} possible releases."


def error_sentence(possible: Outcomes) -> str:
    """How far an answer usually is from the truth."""
    return (
        "Near means within an hour. Ask one of them about any hour: it is usually within "
        f"{significant(2 * possible.error, 2)} people of the truth."
    )


LESSON = Lesson(
    "epsilon",
    "What does ε do?",
    "Move ε from 10 down to 0.05, and then change how many people there are.",
    "As a guesser's odds sink, the fifty lines spread. With more people the noise is the same, and matters less.",
    (
        (
            "Fifty files that could come out",
            "Made-up people come to a place during a day. The thick amber line is how many really are there around "
            "each "
            "hour. The owner releases it once, with noise. Noise is random, so any of the fifty thin lines could have "
            "been the file, and all are equally likely. Whoever gets the file sees one line, and never the thick one.",
        ),
        (
            "What ε promises",
            "Take away any one person, and no file becomes more than e^ε times likelier or less likely (e is about "
            "2.72). Someone who tosses a coin to guess whether you are in the data is right half of the time. With the "
            "file, and knowing everyone else, they can be right at most as often as the bar says.",
        ),
        (
            "Large crowds come through",
            "How much noise it takes depends on how much one person can change, not on how many there are. So the same "
            "noise that hides thirty people altogether is hardly seen beside ten thousand: the shape of a crowd "
            "survives, and no single person shows.",
        ),
    ),
    experiment,
)
