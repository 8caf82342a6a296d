"""Lesson: why bounds must be public."""

from __future__ import annotations

import streamlit as st

from ...experiments.release_lessons import GAMES, OTHERS, PUBLIC_BOUNDS, Attack, attack
from ...figures.promise_lesson_figures import NAMES, bounds_figure, bounds_in_words
from ...sketches.grids.histogram import SCALE as WHOLE
from ...words.escapes import in_html
from ...words.numbers import percent
from ..frame.bars import bar
from ..frame.marks import Visibility, rail
from ..frame.markup import draw
from ..frame.odds import best_guess
from .lesson import Lesson, choose_epsilon, picture, say

RICHEST, FROM = "richest", "bounds"
DATA, TYPED = "the data", "public knowledge"
PAYS = (100_000, 120_000, 150_000, 200_000, 300_000, 500_000, 800_000, 1_250_000, 2_000_000, 4_870_000, 9_000_000)


def experiment() -> None:
    controls, files = st.columns([1, 2], gap="large")
    with controls:
        source = st.segmented_control(
            "Smallest and largest pay are taken from",
            [DATA, TYPED],
            default=DATA,
            required=True,
            key=FROM,
            bind="query-params",
        )
        richest = st.select_slider(
            "What the richest person earns",
            PAYS,
            value=1_250_000,
            key=RICHEST,
            bind="query-params",
            format_func=lambda pay: f"{pay:,}",
        )
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
    """What stands in the two files."""
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
    """How the guesser did."""
    share, limit = found.right / GAMES, best_guess(float(epsilon))
    before = f"A guesser got one of the two files and told which, {GAMES} times. Right:"
    draw(f'<p class="fg-odds">{in_html(before)} <strong>{found.right} times ({percent(share, 3)}).</strong></p>')
    bar([2 * share - 1], f"{percent(share, 3)} on a scale from 50% to 100%", "50% a coin flip", "100% certain")
    promise = f"ε = {epsilon} promises at most {percent(limit, 3)} on average."
    words = f"{promise} The bounds break it." if found.given_away else f"{promise} It holds."
    draw(f'<p class="fg-note">{in_html(words)}</p>')


LESSON = Lesson(
    "bounds",
    "Why must bounds be public?",
    "Move what the richest person earns. Then take the bounds from public knowledge, and move it again.",
    "Bounds from the data follow the richest person to the last coin. Public bounds stay where they are.",
    (
        (
            "A small leak with everything in it",
            f"{len(OTHERS) + 1} made-up people tell what they earn. To count pay in steps, one has to say from where "
            f"to "
            "where. It is tempting to take the smallest and the largest value in the data: many programs do, and do it "
            "without saying so. Then the counts have their noise, but the bounds beside them have none.",
        ),
        (
            "The attack",
            "You need no mathematics: read the file. And whoever only wants to know whether the richest person is in "
            "the data compares the bounds with those of everyone else. They are right every single time, although the "
            "owner believed in ε.",
        ),
        (
            "What to do instead",
            "Type what anyone could know without having seen these people: pay is at least 0, and above some round "
            "number we only say “that or more”. That costs nothing. If nobody knows, bounds can be bought with a "
            "stated "
            "share of ε. Frostglass never reads them off the data.",
        ),
    ),
    experiment,
)
