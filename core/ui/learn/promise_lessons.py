"""Lessons on the promise: what ε does, what a tiny risk δ buys, and what it costs to trust nobody."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from ...figures.forecast_figures import dots, dots_in_words
from ...figures.noise_lesson_figures import delta_figure, delta_figure_in_words
from ...figures.promise_lesson_figures import outcomes_figure, polls_figure, trust_figure
from ...formatting.numbers import about, percent, significant
from ...lab.crowd_lessons import Outcomes, outcomes
from ...lab.local_lessons import POLLS, Polled, people_needed, polled
from ...lab.noise_lessons import ROWS, NoiseOfRows, noise_of_rows
from ..frame.marks import note, odds
from .lesson import Lesson, choose_epsilon, picture, say

CROWD = "crowd-size"
CROWDS = (30, 100, 300, 1000, 10_000)


def epsilon_experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = st.select_slider(
            "People in the data",
            CROWDS,
            value=100,
            key=CROWD,
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


EPSILON_LESSON = Lesson(
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
    epsilon_experiment,
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
        rows = st.select_slider(
            "Rows R", ROWS, value=1000, key=SIZE, bind="query-params", format_func=lambda number: f"{number:,}"
        )
        delta = st.select_slider("Risk δ", list(DELTAS), value="0.000001", key=DELTA, bind="query-params")
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


DELTA_LESSON = Lesson(
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
    delta_experiment,
)


CLASS = "class-size"
CLASSES = (30, 100, 300, 1000, 10_000)


def flips_experiment() -> None:
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


FLIPS_LESSON = Lesson(
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
    flips_experiment,
)


POINTS = "points"
ASKED = ("0.1", "0.3", "1", "3", "10")
PEOPLE = np.logspace(1, 7, 60)


def trust_experiment() -> None:
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


TRUST_LESSON = Lesson(
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
    trust_experiment,
)
