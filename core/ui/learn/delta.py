"""Lesson: why a tiny risk δ buys so much here."""

from __future__ import annotations

import math

import streamlit as st

from ...experiments.noise_lessons import ROWS, NoiseOfRows, noise_of_rows
from ...figures.noise_lesson_figures import delta_figure, delta_figure_in_words
from ...words.numbers import significant
from ..frame.marks import note
from .lesson import Lesson, choose_epsilon, picture, say

SIZE, DELTA = "sketch-rows", "delta"
DELTAS = {
    "0.000000001": "one in a billion",
    "0.000001": "one in a million",
    "0.0001": "one in ten thousand",
}


def experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        rows = st.select_slider(
            "Rows R", ROWS, value=1000, key=SIZE, bind="query-params", format_func=lambda number: f"{number:,}"
        )
        delta = st.select_slider("Risk δ", list(DELTAS), value="0.000001", key=DELTA, bind="query-params")
        epsilon = choose_epsilon()
        note(delta_in_words(epsilon, delta))
    found = noise_of_rows(epsilon, delta)
    with drawn:
        say(*findings(found, rows))
        picture(delta_figure(found, rows), "delta", delta_figure_in_words(found, rows))


def delta_in_words(epsilon: str, delta: str) -> str:
    """What δ means."""
    return (
        f"δ = {DELTAS[delta]} means: whatever someone looks for in the file, one person in the data makes it at most "
        f"e^ε = {significant(math.exp(float(epsilon)), 3)} times likelier, plus {DELTAS[delta]}. Take δ far smaller "
        "than one over the number of people."
    )


def findings(found: NoiseOfRows, rows: int) -> tuple[str, str]:
    """What δ gains with so many rows, and from how many on it gains anything."""
    gain, start = found.gain(rows), found.pays_from
    if gain > 1:
        finding = f"With {rows:,} rows, allowing δ makes the noise {significant(gain, 2)} times smaller."
    else:
        finding = f"With {rows:,} rows, allowing δ gains nothing: ε alone needs less noise."
    meaning = "ε alone: noise grows like the root of the rows. With δ: rows cost nothing."
    return finding, meaning + (f" It pays from about {start} rows on." if start else "")


LESSON = Lesson(
    "delta",
    "What does a one-in-a-million risk buy?",
    "Move the rows from 4 to 10,000, and watch the two marks. Then ask for a smaller δ.",
    "One line rises with every row, the other stays flat. A risk a thousand times smaller moves it only a little.",
    (
        (
            "Hiding in many counts at once",
            "A person adds one to a count in each of R rows. To hide all R of them under ε alone, the worst case "
            "counts: all R noises together may betray them, so each must be R times as wide, and the average of R rows "
            "is √R times noisier than one count.",
        ),
        (
            "Why δ helps",
            "That worst case needs nearly all R noises to fall the same way, which practically never happens: they are "
            "independent, and mostly cancel. If we may leave out what is rarer than δ, bell-shaped (Gaussian) noise √R "
            "times as wide on each count is enough, and averaging R rows gives exactly that √R back. Rows become free.",
        ),
        (
            "What it is not",
            "δ is no licence to publish one person in a million: bell-shaped noise has no such switch, and says only a "
            "little more in the rarest cases. But it is a weaker promise, and it must be chosen before. With very few "
            "rows, ε alone needs less noise, and Frostglass takes that noise even where δ is allowed.",
        ),
    ),
    experiment,
)
