"""Lesson: how textbook noise in floating point leaks."""

from __future__ import annotations

import streamlit as st

from ...experiments.textbook_noise import FILES, Files, exact_files, textbook_files
from ...figures.noise_lesson_figures import files_figure, files_in_words
from ...words.numbers import percent
from ...words.phrases import count
from ..frame.marks import Visibility, note, rail
from ..frame.odds import best_guess
from .lesson import Lesson, picture, say

TRUTH, STOLEN, LOSS = "truth", "files", "loss"
LOSSES = ("0.1", "0.5", "1", "2")
MOST_FILES = 10


def experiment() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        truth = st.segmented_control(
            "The exact count is", [0, 1], default=1, required=True, key=TRUTH, bind="query-params"
        )
        epsilon = st.select_slider("ε of each file", LOSSES, value="1", key=LOSS, bind="query-params", width=240)
        stolen = st.slider("Files an attacker gets", 1, MOST_FILES, 1, key=STOLEN, bind="query-params", width=240)
    bad, good = textbook_files(truth, epsilon), exact_files(truth, epsilon)
    say(*findings(bad, stolen))
    left, right = st.columns(2, gap="large")
    with left, rail(Visibility.PRIVATE, "textbook", "Textbook noise in floating point: nobody should do this"):
        picture(files_figure(bad), "textbook", files_in_words(bad))
        note(
            f"{int(bad.betrayed.sum())} of {FILES} files give the count away, for certain. One of them: {example(bad)}"
        )
    with right, rail(Visibility.PUBLIC, "exact", "Exact noise in whole numbers: what Frostglass draws"):
        picture(files_figure(good), "exact", files_in_words(good))
        limit = percent(best_guess(float(epsilon)), 3)
        note(
            f"{int(good.betrayed.sum())} of {FILES} files give the count away: every whole number can come from "
            f"either count. A guesser with one file gets at most what ε = {epsilon} promises, {limit}."
        )


def findings(bad: Files, stolen: int) -> tuple[str, str]:
    """How sure an attacker is, and how they know."""
    known = percent(bad.certain_after(stolen), 3)
    files = count(stolen, "file")
    return (
        f"With {files}, an attacker knows the count for certain in {known} of all cases.",
        f"For each of {FILES} released numbers, every random number that could lead to it was tried, for 0 and for 1. "
        f"For many, one of the two has none.",
    )


def example(bad: Files) -> str:
    """One released number that gives the truth away, in all its digits."""
    if not bad.betrayed.any():
        return "none."
    digits = repr(float(bad.outputs[bad.betrayed][0])).replace("-", "\N{MINUS SIGN}")
    return f"{digits} cannot come from {1 - bad.truth}."


LESSON = Lesson(
    "floating-point",
    "Can the last digits betray you?",
    "Hand the attacker a second file, and a third. Then switch the exact count between 0 and 1.",
    "Amber files could have come from one count only. On the right there are none, whatever you choose.",
    (
        (
            "Noise from the textbook",
            "Take a random number between 0 and 1, take its logarithm, add it to the count: that is Laplace noise as "
            "every textbook has it, and on paper it is perfect. A computer, however, has only so many numbers between "
            "0 "
            "and 1, and rounds after every step.",
        ),
        (
            "The attack",
            "So the noise has gaps: most decimal numbers cannot come out at all, and which ones can depends on the "
            "count "
            "that was added. The attacker looks at all digits of a released number, and tries which count could have "
            "led "
            "to it. Often only one can. Then no ε matters: it is certain. Ilya Mironov found this in 2012, in most of "
            "the systems of the day.",
        ),
        (
            "The way out",
            "Frostglass adds noise to whole numbers only, and draws it by tossing exact coins, without any logarithm. "
            "Every whole number can come out for every count, each with exactly the chance that the proof asks for. "
            "There are no last digits left to look at.",
        ),
    ),
    experiment,
)
