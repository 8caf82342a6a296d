"""Lessons on the promise: what ε does, what a tiny risk δ buys, and what it costs to trust nobody."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from ...figures.forecast_figures import dots, dots_in_words
from ...figures.lesson_figures import delta_figure, delta_figure_in_words, outcomes_figure
from ...figures.local_figures import polls_figure, trust_figure
from ...formatting.numbers import about, percent, significant
from ...lab.crowd_lessons import Outcomes, outcomes
from ...lab.local_lessons import POLLS, Polled, people_needed, polled
from ...lab.noise_lessons import ROWS, NoiseOfRows, noise_of_rows
from ..frame.marks import note, odds
from .lesson import choose_epsilon, picture, say, slide

CROWD = "crowd-size"
CROWDS = (30, 100, 300, 1000, 10_000)


def epsilon_experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = slide("People in the data", CROWDS, 100, CROWD)
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


SIZE, DELTA = "sketch-rows", "delta"
DELTAS = {
    "0.000000001": "one in a billion",
    "0.000001": "one in a million",
    "0.0001": "one in ten thousand",
}


def delta_experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        rows = slide("Rows R", ROWS, 1000, SIZE)
        delta = slide("Risk δ", list(DELTAS), "0.000001", DELTA)
        epsilon = choose_epsilon()
        note(delta_in_words(epsilon, delta))
    found = noise_of_rows(epsilon, delta)
    with drawn:
        say(*delta_findings(found, rows))
        picture(delta_figure(found, rows), "delta", delta_figure_in_words(found, rows))


def delta_in_words(epsilon: str, delta: str) -> str:
    """What δ means."""
    return (
        f"δ = {DELTAS[delta]} means: whatever someone looks for in the file, one person in the data makes it at most "
        f"e^ε = {significant(math.exp(float(epsilon)), 3)} times likelier, plus {DELTAS[delta]}. Take δ far smaller "
        "than one over the number of people."
    )


def delta_findings(found: NoiseOfRows, rows: int) -> tuple[str, str]:
    """What δ gains with so many rows, and from how many on it gains anything."""
    gain, start = found.gain(rows), found.pays_from
    if gain > 1:
        finding = f"With {rows:,} rows, allowing δ makes the noise {significant(gain, 2)} times smaller."
    else:
        finding = f"With {rows:,} rows, allowing δ gains nothing: ε alone needs less noise."
    meaning = "ε alone: noise grows like the root of the rows. With δ: rows cost nothing."
    return finding, meaning + (f" It pays from about {start} rows on." if start else "")


CLASS = "class-size"
CLASSES = (30, 100, 300, 1000, 10_000)


def flips_experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = slide("Phones that answer", CLASSES, 100, CLASS)
        note(coin_sentence(float(epsilon)))
    found = polled(people, epsilon)
    with drawn:
        say(*flips_findings(found))
        picture(polls_figure(found), "polls", f"{POLLS} polls of {people:,} phones. {' '.join(flips_findings(found))}")


def coin_sentence(epsilon: float) -> str:
    """What each phone does."""
    kept = 1 / (1 + math.exp(-epsilon))
    return f"Each phone sends its owner's answer with a chance of {percent(kept, 3)}, and the other one otherwise."


def flips_findings(found: Polled) -> tuple[str, str]:
    """How far off a poll is, and how often its band holds the truth."""
    reach = significant(float(100 * (found.high - found.low).mean() / 2), 2)
    return (
        f"Any one poll is good to about ± {reach} points.",
        f"{found.held} of {POLLS} bands hold the truth, and no phone told anyone what its owner thinks.",
    )


POINTS = "points"
ASKED = ("0.1", "0.3", "1", "3", "10")
PEOPLE = np.logspace(1, 7, 60)


def trust_experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        points = slide("A share known to ± points", ASKED, "1", POINTS)
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
