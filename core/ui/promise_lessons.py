"""Lessons on the promise: what ε does, what a risk δ buys, what trusting nobody costs, and what leaks in spite of it.

Lessons on the promise: what ε does, what a tiny risk δ buys, and what it costs to trust nobody.
"""

import math

import numpy as np
import streamlit as st

from ..figures.forecast_figures import dots, dots_in_words
from ..figures.lesson_figures import (
    NAMES,
    averages_figure,
    bounds_figure,
    bounds_in_words,
    delta_figure,
    delta_figure_in_words,
    files_figure,
    files_in_words,
    outcomes_figure,
)
from ..figures.local_figures import polls_figure, trust_figure
from ..formatting.escapes import in_html
from ..formatting.numbers import about, count, percent, rounded, significant
from ..lab.crowd_lessons import POLLS, Outcomes, Polled, outcomes, people_needed, polled
from ..lab.noise_lessons import FILES, ROWS, Asked, Files, NoiseOfRows, ask, exact_files, noise_of_rows, textbook_files
from ..lab.release_lessons import GAMES, PUBLIC_BOUNDS, Attack, attack
from ..sketches.histogram import SCALE as WHOLE
from .frame.marks import Visibility, bar, best_guess, choose_one, draw, note, odds, rail
from .lesson import advance, choose_epsilon, picture, play_button, playing, say, slide

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
DELTAS = {"0.000000001": "one in a billion", "0.000001": "one in a million", "0.0001": "one in ten thousand"}


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


TIMES, SECRET, EACH = "times", "secret", "each"
STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
AVERAGING_LOSSES = ("0.1", "0.2", "0.5", "1")


def averaging_experiment() -> None:
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
        each = slide("ε of each answer", AVERAGING_LOSSES, "0.5", EACH)
        secret = st.number_input("The secret: how many people are ill", 0, 1000, 52, key=SECRET, bind="query-params")
    asked = ask(secret, each, times)
    with controls:
        _price(asked)
    with drawn:
        say(*averaging_findings(asked))
        picture(averages_figure(asked), "averages", " ".join(averaging_findings(asked)))


def averaging_findings(asked: Asked) -> tuple[str, str]:
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


RICHEST, FROM = "richest", "bounds"
DATA, TYPED = "the data", "public knowledge"
PAYS = (100_000, 120_000, 150_000, 200_000, 300_000, 500_000, 800_000, 1_250_000, 2_000_000, 4_870_000, 9_000_000)


def bounds_experiment() -> None:
    controls, files = st.columns([1, 2], gap="large")
    with controls:
        source = choose_one("Smallest and largest pay are taken from", [DATA, TYPED], FROM, DATA, linked=True)
        richest = slide("What the richest person earns", PAYS, 1_250_000, RICHEST)
        epsilon = choose_epsilon()
    found = attack(richest, epsilon, source == DATA)
    with files:
        say(*_finding(found, richest))
        picture(bounds_figure(found), "bounds", bounds_in_words(found))
        _files(found)
    with controls:
        _games(found, epsilon)


def _finding(found: Attack, richest: int) -> tuple[str, str]:
    if found.given_away:
        return (
            f"The file says that someone earns exactly {richest:,}.",
            "It stands there in plain words, and no ε changes it. Without that person, the file says something else.",
        )
    return (
        f"The file says 0 to {PUBLIC_BOUNDS[1]:,.0f}, whoever is in the data.",
        "Move the pay: nothing in the bounds moves. Larger pay is counted at the upper end, among everyone else there.",
    )


def _files(found: Attack) -> None:
    for column, name, made, (low, high) in zip(
        st.columns(2, gap="medium"), NAMES, (found.with_richest, found.without_richest), found.bounds, strict=True
    ):
        kind = Visibility.PRIVATE if found.given_away else Visibility.PUBLIC
        with column, rail(kind, f"file-{name.split()[0]}", f"The file {name}"):
            counts = ", ".join(str(round(value / WHOLE)) for value in made.counters.tolist())
            counts = counts.replace("-", "\N{MINUS SIGN}")
            draw(
                f'<dl class="fg-file"><dt>smallest pay</dt><dd>{low:,.0f}</dd><dt>largest pay</dt><dd>{high:,.0f}</dd>'
                f"<dt>ε</dt><dd>{made.privacy.epsilon}</dd><dt>noisy counts</dt><dd>{in_html(counts)}</dd></dl>"
            )


def _games(found: Attack, epsilon: str) -> None:
    share, limit = found.right / GAMES, best_guess(float(epsilon))
    before = f"A guesser got one of the two files and told which, {GAMES} times. Right:"
    draw(f'<p class="fg-odds">{in_html(before)} <strong>{found.right} times ({percent(share, 3)}).</strong></p>')
    bar([2 * share - 1], f"{percent(share, 3)} on a scale from 50% to 100%", "50% a coin flip", "100% certain")
    promise = f"ε = {epsilon} promises at most {percent(limit, 3)} on average."
    words = f"{promise} The bounds break it." if found.given_away else f"{promise} It holds."
    draw(f'<p class="fg-note">{in_html(words)}</p>')


TRUTH, STOLEN, LOSS = "truth", "files", "loss"
LOSSES = ("0.1", "0.5", "1", "2")
MOST_FILES = 10


def floating_point_experiment() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        truth = choose_one("The exact count is", [0, 1], TRUTH, 1, linked=True)
        epsilon = st.select_slider("ε of each file", LOSSES, value="1", key=LOSS, bind="query-params", width=240)
        stolen = st.slider("Files an attacker gets", 1, MOST_FILES, 1, key=STOLEN, bind="query-params", width=240)
    bad, good = textbook_files(truth, epsilon), exact_files(truth, epsilon)
    say(*floating_point_findings(bad, stolen))
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


def floating_point_findings(bad: Files, stolen: int) -> tuple[str, str]:
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
