"""The lessons in their order, going from one to the next, and what a teacher prints for a class."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ...figures.lesson_sheets import Sheet, sheets_html
from ...runtime.environment import APP
from ..frame.marks import main_action
from . import leak_lessons, promise_lessons, sketch_lessons
from .lesson import Lesson, show_lesson

# By the name of the lesson.
QUESTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "cells": (
        (
            "Add one person. How many numbers of the table change, and by how much?",
            "One in each row, each by one.",
        ),
        (
            "Ask in the middle of a crowd, and then where nobody is. Which numbers does the answer come from?",
            "From one in each row: the count of the cell that the question falls in.",
        ),
        (
            "Turn the noise on. Which counts change? Can a count below zero be there?",
            "All of them, empty ones too. Yes: noise is as often below zero as above, and is left so, because averages "
            "would be too high otherwise.",
        ),
        (
            "You hold the noisy table and know everyone but Ada. Can you tell whether she was counted?",
            "Not for certain: without her every count could have come out the same, nearly as likely.",
        ),
    ),
    "epsilon": (
        (
            "Write down how often a guesser can be right at most for ε = 0.1, for 1 and for 10.",
            "52.5%, 73.1% and more than 99.9%.",
        ),
        (
            "With 100 people: in how many of the fifty files does the busiest time stay, for ε = 0.1, 1 and 10?",
            "The page counts them: about one in five at 0.1, and all of them from 1 on.",
        ),
        (
            "Go from 100 people to 10,000 and leave ε. What happens to the noise, and what to the picture?",
            "The noise is as large as before. The crowd is a hundred times larger, so its shape comes through.",
        ),
        (
            "“Every number in the file is wrong, so the file is worth nothing.” What do you answer?",
            "Each is off by a little, and by how much is known. The shape of many is right, and no one shows.",
        ),
    ),
    "bounds": (
        (
            "Take the bounds from the data. What does the file say about the richest person?",
            "What they earn, exactly: bounds that are read off the data have no noise.",
        ),
        ("Make ε as small as it goes. Does it help? Why?", "No: ε adds noise to the counts, and none to the bounds."),
        (
            "Take the bounds from public knowledge, and move what the richest person earns. What moves in the file?",
            "No bound. Above the upper bound nothing at all: they are counted at its end, among others.",
        ),
        (
            "Find bounds without looking at anyone: for age, for a mark at school, for minutes online a day.",
            "Such as 0 to 125 years; the best and the worst mark there is; 0 to 1,440, as a day has no more.",
        ),
    ),
    "averaging": (
        (
            "Ask 1, 10, 100 and 1,000 times. Write down each average. When were you sure of the secret?",
            "The page shows them. Once the average is usually within a half of it, rounding gives the secret.",
        ),
        ("How many times as many questions does it take to halve the error?", "Four times: it falls like the root."),
        (
            "A hundred answers at ε = 0.5 each: how much has been spent? What does that promise?",
            "ε = 50, which promises nothing: a guesser may be as good as certain.",
        ),
        (
            "Why may a released file be asked a million times, at no further cost?",
            "Its noise was drawn once. All answers come from the file, which learns nothing new about anyone.",
        ),
    ),
    "rows": (
        ("Where is the ring for ε = 1, and where for 0.1?", "The smaller ε, the fewer rows are best."),
        (
            "Why does the error fall at first as rows are added?",
            "It is luck who shares a cell, and the average over more rows evens the luck out.",
        ),
        (
            "Why does it rise again?",
            "Everyone is counted in each row, so the rows share ε, and the noise grows like the root of their number.",
        ),
        (
            "Take fewer columns. What goes wrong, and does it cost any privacy?",
            "Strangers share a count with neighbours, so answers are less exact. It costs no privacy, only accuracy.",
        ),
    ),
    "delta": (
        (
            "With 4 rows, and with 10,000: which of the two needs less noise, ε alone or ε with δ?",
            "With 4 rows ε alone, with 10,000 rows ε with δ.",
        ),
        (
            "Say in your own words what δ = one in a million means.",
            "Whatever one looks for becomes at most e^ε times likelier by one person, plus one in a million.",
        ),
        (
            "Make δ a thousand times smaller. How far does the flat line move?",
            "Only a little: it depends on δ like the root of a logarithm.",
        ),
        (
            "A school of 800 wants to release with δ = one in a thousand. What do you say?",
            "Too large: δ should be far smaller than one over the number of people, such as one in a million.",
        ),
    ),
    "floating-point": (
        (
            "How often is the attacker certain with one file, with two, and with five?",
            "The page says it: mostly with one file already, and practically always with five.",
        ),
        (
            "Where does the leak come from, although the formula for the noise is right?",
            "A computer has only so many numbers between 0 and 1. So the noise has gaps, and they depend on the count.",
        ),
        ("Would a smaller ε have helped?", "No: a number that cannot come from the other count is certain proof."),
        (
            "What is different about the noise on the right?",
            "It is whole numbers from exact coins. Each can come from either count, as often as the proof says.",
        ),
    ),
    "flips": (
        (
            "ε = 1: with which chance does a phone send its owner's own answer?",
            "73.1%, which is e / (1 + e).",
        ),
        (
            "A phone says yes. Do you know what its owner thinks?",
            "No: it may be the flipped answer. At ε = 1 a guess is right 73 times in a hundred at best.",
        ),
        (
            "Try it: toss a coin. Heads: say the truth. Tails: toss again, and say yes for heads and no for tails. "
            "20 of 30 say yes. About how many mean it?",
            "25: half of all tell the truth and a quarter say yes by chance, so 20/30 = p/2 + 1/4 and p = 5/6.",
        ),
        (
            "From 100 phones to 10,000: how many times narrower is the band?",
            "Ten times: the root of a hundred.",
        ),
    ),
    "trust": (
        (
            "A share known to ± 1 point at ε = 1: how many people are enough with an owner, and how many without?",
            "The page says it; without an owner it is far more.",
        ),
        (
            "Ask for a tenth of the error. How many times as many people does each way need?",
            "Ten times with an owner, a hundred times without.",
        ),
        (
            "Why is that so?",
            "An owner adds noise once. Phones add noise each, and it grows with the root of their number.",
        ),
        (
            "Name a case in which you would trust an owner, and one in which you would trust nobody.",
            "Such as an office of statistics; and a keyboard that learns which words millions type.",
        ),
    ),
}


def sheet_of(lesson: Lesson, number: int, of: int, page: str) -> Sheet:
    """The sheet of a lesson; ``page`` is the address of the page Learn."""
    address = f"{page.partition('?')[0]}?lesson={lesson.name}"
    return Sheet(lesson.title, number, of, lesson.do, lesson.see, QUESTIONS[lesson.name], address)


def offer_sheets(lessons: Sequence[Lesson], place: int) -> None:
    """Buttons that save the sheet of one lesson, all of them, and the answers, each an HTML file to print."""
    page, of = st.context.url or "", len(lessons)
    sheets = [sheet_of(lesson, number, of, page) for number, lesson in enumerate(lessons, 1)]
    offers = (
        ("This lesson on one sheet (A4)", f"lesson-{place + 1}.html", sheets[place : place + 1], False),
        ("All sheets", "lessons.html", sheets, False),
        ("All answers, for teachers", "lessons-answers.html", sheets, True),
    )
    with st.container(horizontal=True, gap="small", key="fg-sheets"):
        for label, name, chosen, answers in offers:
            title = chosen[0].title if len(chosen) == 1 else "Lessons on privacy"
            st.download_button(
                label,
                sheets_html(title, chosen, answers),
                name,
                "text/html",
                key=f"learn-sheet-{name}",
                on_click="ignore",
                icon=":material/print:",
                type="tertiary",
            )


PLAN = APP / "docs" / "teaching.md"
HOME = "http://127.0.0.1:8501/"
# Where the document's links lead; on the page they lead to the page itself, wherever it is served.
ADDRESS = f"{HOME}learn"


def plan() -> None:
    """The document under its title, closed at first."""
    title, text = PLAN.read_text(encoding="utf-8").split("\n", 1)
    with st.expander(title.removeprefix("# ")):
        st.markdown(text.replace(ADDRESS, "").replace(HOME, "./"))


LESSON = "lesson"  # Key of the choice, and its name in the address.
GO = "learn-go"
LESSONS: tuple[Lesson, ...] = (
    sketch_lessons.CELLS_LESSON,
    promise_lessons.EPSILON_LESSON,
    leak_lessons.BOUNDS_LESSON,
    leak_lessons.AVERAGING_LESSON,
    sketch_lessons.ROWS_LESSON,
    promise_lessons.DELTA_LESSON,
    leak_lessons.FLOATING_POINT_LESSON,
    promise_lessons.FLIPS_LESSON,
    promise_lessons.TRUST_LESSON,
)
LINK = "The address of this page holds every setting: hand it out, and a class starts where you stand."


def course() -> bool:
    """The chosen lesson with a way to the next one; whether its last one was left by the main action."""
    names = [lesson.name for lesson in LESSONS]
    arrived = GO in st.session_state
    if arrived:
        st.session_state[LESSON] = st.session_state.pop(GO)
    # A choice that was made already needs no default, and Streamlit would warn that it has two values.
    default = None if arrived else names[0]
    chosen = st.segmented_control(
        "Lesson",
        names,
        default=default,
        required=True,
        key=LESSON,
        bind="query-params",
        label_visibility="collapsed",
        width="content",
    )
    place = names.index(chosen)
    if arrived:
        _to_the_top(chosen)
    show_lesson(LESSONS[place], place + 1, len(LESSONS))
    plan()
    offer_sheets(LESSONS, place)
    last = place + 1 == len(LESSONS)
    label = "Try it on sample data" if last else f"Next: {LESSONS[place + 1].title}"
    if not main_action(label, (), "learn-next", LINK):
        return False
    if not last:
        st.session_state[GO] = names[place + 1]
        st.rerun()
    return last


def _to_the_top(lesson: str) -> None:
    """Begin a lesson at its heading, however far down the last one was left; Streamlit has no call for it.

    The lesson's name makes it another script each time, as the browser runs the same one only once.
    """
    script = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
    st.html(f"<script>/* {lesson} */ {script}</script>", unsafe_allow_javascript=True)
