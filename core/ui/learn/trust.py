"""Lesson: what it costs to trust nobody."""

from __future__ import annotations

import numpy as np
import streamlit as st

from ...experiments.local_lessons import people_needed
from ...figures.promise_lesson_figures import trust_figure
from ...words.numbers import about
from .lesson import Lesson, choose_epsilon, picture, say

POINTS = "points"
ASKED = ("0.1", "0.3", "1", "3", "10")
PEOPLE = np.logspace(1, 7, 60)


def experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        points = st.select_slider("A share known to ± points", ASKED, value="1", key=POINTS, bind="query-params")
        epsilon = choose_epsilon()
    asked = float(points) / 100
    owner, phones = people_needed(float(epsilon), asked)
    with drawn:
        finding = finding_sentence(points, owner, phones)
        say(finding, "This is the error of the noise alone, as a standard deviation.")
        # One person's error with an owner, and without: it falls like 1/n, and like its root.
        one_owner, one_phone = (part * asked**power for part, power in ((owner, 1), (phones, 2)))
        figure = trust_figure(PEOPLE, one_owner / PEOPLE, np.sqrt(one_phone / PEOPLE), asked)
        picture(figure, "trust", finding)


def finding_sentence(points: str, owner: float, phones: float) -> str:
    """How many people each way needs."""
    needed = [about(max(people, 1.0)) for people in (owner, phones)]
    return (
        f"For ± {points} points, {needed[0]} people are enough where an owner is trusted, and {needed[1]} where nobody "
        "is."
    )


LESSON = Lesson(
    "trust",
    "What does trusting nobody cost?",
    "Ask for a tenth of the error.",
    "With an owner it takes ten times as many people. Without one it takes a hundred times as many.",
    (
        (
            "Noise once, or noise each",
            "An owner adds noise once, to the sum. It is as large for ten people as for a million, so the error of a "
            "share falls like one over their number. Phones add noise each, and it all ends in the sum.",
        ),
        (
            "The root of n",
            "Independent noise partly cancels out: for n phones together it grows like the root of n, so the error "
            "of a share falls like one over that root. No cleverer report can change that.",
        ),
        (
            "When it pays",
            "Where there are millions of phones, as with a keyboard or a browser, the price is small. A class of "
            "thirty learns little from it, except how it works.",
        ),
    ),
    experiment,
)
