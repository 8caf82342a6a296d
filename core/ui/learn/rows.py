"""Lesson: where R and W come from."""

from __future__ import annotations

import streamlit as st

from ...experiments.crowd_lessons import AMPLE, MOST, RowErrors, curve
from ...figures.plane_lesson_figures import curve_figure, curve_in_words
from ...words.numbers import significant
from ..frame.marks import note
from .lesson import EPSILONS, Lesson, choose_epsilon, picture, say

PEOPLE, NEARBY, WIDTH = "records", "nearby", "width"
CROWDS = (100, 300, 1000, 3000)
HOURS = {"15 minutes": 0.25, "30 minutes": 0.5, "an hour": 1.0, "two hours": 2.0, "four hours": 4.0}
WIDTHS = (2, 4, 8, 16, AMPLE)


def experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = st.select_slider(
            "People in the data",
            CROWDS,
            value=1000,
            key=PEOPLE,
            bind="query-params",
            format_func=lambda number: f"{number:,}",
        )
        nearby = st.select_slider(
            "Near means within about", list(HOURS), value="an hour", key=NEARBY, bind="query-params"
        )
        width = st.select_slider("Columns W", WIDTHS, value=AMPLE, key=WIDTH, bind="query-params")
        note(
            "R is the number of rows: how many times everyone is cut into cells. W is how many counts a row may keep; "
            "with too few, strangers have to share them."
        )
    found = curve(epsilon, people, HOURS[nearby], width)
    with drawn:
        say(*findings(found))
        picture(curve_figure(found), "rows", curve_in_words(found))


def findings(found: RowErrors) -> tuple[str, str]:
    """Where the least error is; what columns have to do with it where they are few, and else what the paper says."""
    typical, error = significant(found.typical, 2), significant(found.error_with(found.best), 2)
    rows = f"{found.best:,} rows" + (" or more" if found.best >= MOST else "")
    finding = f"Best with {rows}: about {error} people off, where the truth is {typical}."
    if found.width < AMPLE:
        return finding, (
            f"With {found.width} columns, about {significant(found.strangers, 2)} people from far away share a column "
            "with those who are near. So many are subtracted, but luck decides how many there were. With "
            f"{AMPLE} columns (the thin teal line) the best is {significant(found.least_if_ample, 2)} people off."
        )
    return finding, (
        f"The paper on RACE has the rule R = f̃ε/√2, here {found.rule:,}; f̃ adds up the square roots of how close "
        "everyone is. It is the best for a bound (the thin line) that is on the safe side. Dots are real sketches."
    )


LESSON = Lesson(
    "rows",
    "How many rows, and how many columns?",
    f"Move ε from 1 down to {EPSILONS[1]} and back. Do the same with the people, what is near, and the columns.",
    "The ring, where the error is least, moves to fewer rows; with fewer columns to more, and up.",
    (
        (
            "Luck of the cuts",
            "With one row it is a matter of luck who shares your cell. The average over R rows evens that luck out: "
            "four "
            "times the rows, half the error. That is the falling line. Without any noise, more rows would always be "
            "better.",
        ),
        (
            "Price of a row",
            "But everyone is counted once in each row, so R counts must hide each person. They share ε, and each gets "
            "noise R times as large as one alone would. Averaging R of them gives back a factor of √R, not of R. So "
            "noise grows like √R: the rising line. Where the two lines cross, their sum is lowest.",
        ),
        (
            "And columns",
            "A row may have more cells than there is room for. Then cells share a column, and one in W strangers is "
            "counted as a neighbour. That can be subtracted on average, but the luck involved cannot, and subtracting "
            "stretches the noise as well: both lines move up. Columns cost no privacy, only space, so take enough.",
        ),
    ),
    experiment,
)
