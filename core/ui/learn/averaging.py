"""Lesson: why averaging breaks noise that is fresh for every question."""

from __future__ import annotations

import streamlit as st

from ...experiments.noise_lessons import Asked, ask
from ...figures.noise_lesson_figures import averages_figure
from ...words.escapes import in_html
from ...words.numbers import percent, rounded, significant
from ..frame.bars import bar
from ..frame.markup import draw
from ..frame.odds import best_guess
from .lesson import Lesson, picture, say
from .playing import advance, play_button, playing

TIMES, SECRET, EACH = "times", "secret", "each"
STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
LOSSES = ("0.1", "0.2", "0.5", "1")


def experiment() -> None:
    st.fragment(_experiment, run_every=playing(TIMES))()


def _experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            play_button(TIMES, STEPS)
            advance(TIMES, STEPS)
            times = st.select_slider(
                "Questions asked", STEPS, key=TIMES, bind="query-params", format_func=lambda number: f"{number:,}"
            )
        each = st.select_slider("ε of each answer", LOSSES, value="0.5", key=EACH, bind="query-params")
        secret = st.number_input("The secret: how many people are ill", 0, 1000, 52, key=SECRET, bind="query-params")
    asked = ask(secret, each, times)
    with controls:
        _price(asked)
    with drawn:
        say(*findings(asked))
        picture(averages_figure(asked), "averages", " ".join(findings(asked)))


def findings(asked: Asked) -> tuple[str, str]:
    """What whoever asks knows by now, of either server."""
    times = len(asked.answers)
    average = float(asked.averages[-1])
    says, secret = rounded(average, asked.error), f"and the secret is {asked.secret}."
    if times == 1:
        finding = f"With fresh noise: one answer says {says}, {secret}"
    else:
        finding = f"With fresh noise: {times:,} answers are {says} on average, {secret}"
    reach = f"The average is usually within {significant(2 * asked.error, 2)} of the secret."
    found = asked.found_from
    if found is not None and times >= 10:
        reach += f" From question {found:,} on, rounding it gives the secret itself."
    release = f" The release says {asked.released} every time: asking again teaches nothing."
    return finding, reach + release


def _price(asked: Asked) -> None:
    """What the two servers really promise after so many answers."""
    spent, once = float(asked.spent), float(asked.epsilon)
    # Floating point would say 100%; certainty is never reached.
    share = min(best_guess(spent), 1.0 - 1e-9)
    draw(
        f'<p class="fg-odds">Spent with fresh noise: <strong>ε = {in_html(significant(spent, 3))}</strong></p>'
        f'<p class="fg-note">A coin-flip guess about one person can rise to {in_html(percent(share, 3))}.</p>'
    )
    bar([2 * share - 1], f"{percent(share, 3)} on a scale from 50% to 100%", "50% a coin flip", "100% certain")
    draw(
        f'<p class="fg-odds">Spent by the release: <strong>ε = {in_html(significant(once, 3))}</strong></p>'
        f'<p class="fg-note">However often it is asked: {in_html(percent(best_guess(once), 3))} at most.</p>'
    )


LESSON = Lesson(
    "averaging",
    "Can I ask again?",
    "Press Play: the same question is asked up to 5,000 times. Then choose another secret, and play again.",
    "Fresh noise averages out, and the secret appears. The release gives the same answer every time.",
    (
        (
            "Two ways to answer",
            "Somebody guards a number: how many people are ill. A careless server adds fresh noise to every answer, "
            "and "
            "thinks that each answer is safe. A release draws its noise once, writes the result into a file, and "
            "answers "
            "from the file for ever.",
        ),
        (
            "Noise goes away",
            "Fresh noise is as often too high as too low. The average of k answers is off by about one answer's noise "
            "divided by the root of k: four times the questions, half the error. No one has to break anything. It is "
            "enough to be patient.",
        ),
        (
            "Privacy losses add up",
            "Every fresh answer costs its own ε, and the costs add up: a hundred answers at 0.5 have spent 50, and "
            "promise nothing any more. That is why the ledger of Frostglass counts releases and not questions. Asking "
            "a "
            "released file is free, because it knows nothing that it has not said already.",
        ),
    ),
    experiment,
)
