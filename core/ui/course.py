"""The lessons in their order, going from one to the next, and what a teacher prints for a class.

A sheet is one A4 page a lesson, with room to write; and the same with answers, for teachers.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ..figures.palette import FAINT, INK
from ..figures.traces import FONT
from ..formatting.escapes import in_html
from ..runtime.environment import APP
from . import promise_lessons, sketch_lessons
from .frame.marks import choose_one, main_action, offer
from .lesson import Lesson, show_lesson

EXPERIMENTS = {
    "cells": sketch_lessons.cells_experiment,
    "epsilon": promise_lessons.epsilon_experiment,
    "bounds": promise_lessons.bounds_experiment,
    "averaging": promise_lessons.averaging_experiment,
    "flips": promise_lessons.flips_experiment,
    "trust": promise_lessons.trust_experiment,
    "rows": sketch_lessons.rows_experiment,
    "delta": promise_lessons.delta_experiment,
    "floating-point": promise_lessons.floating_point_experiment,
}
WRITTEN = tomllib.loads(Path(__file__).with_name("lessons.toml").read_text(encoding="utf-8"))
LESSONS = tuple(Lesson(**one) for one in WRITTEN["lesson"])


LINES = 4  # Lines to write on, a question.
STYLE = f"""
@page {{ size: A4; margin: 16mm 18mm; }}
body {{ font: 11.5pt/1.4 {FONT}; color: {INK.light}; background: #fff; margin: 0 auto; max-width: 174mm; }}
section {{ break-after: page; padding-top: 4mm; }} section:last-child {{ break-after: auto; }}
h1 {{ font-size: 19pt; font-weight: 500; margin: 2mm 0 4mm; }}
header, footer {{ display: flex; justify-content: space-between; color: {FAINT.light}; font-size: 9.5pt; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 1mm 5mm; margin: 0 0 3mm; }}
dt {{ font-weight: 600; }} dd {{ margin: 0; }}
ol {{ padding-left: 6mm; margin: 0; }} li {{ margin-bottom: 3mm; break-inside: avoid; }}
li::marker {{ font-weight: 600; }} .line {{ border-bottom: 0.3mm solid {FAINT.light}; height: 8.5mm; }}
.answer {{ margin: 1mm 0 0; color: {FAINT.light}; }} footer {{ margin-top: 5mm; }}
@media screen {{ body {{ padding: 10mm; }}
  section + section {{ border-top: 1px solid {FAINT.light}; margin-top: 12mm; }} }}
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body><main>
{sheets}
</main></body></html>
"""


@dataclass(frozen=True)
class Sheet:
    """A lesson on one sheet: which of how many it is, and the address where it is found."""

    lesson: Lesson
    number: int
    of: int
    address: str


def sheets_html(title: str, sheets: Sequence[Sheet], answers: bool = False) -> str:
    """Sheets as one HTML file that prints a page a lesson.

    `answers`: whether the answers stand below the questions, in place of lines to write on.
    """
    body = "\n".join("\n".join(_sheet(sheet, answers)) for sheet in sheets)
    return PAGE.format(title=in_html(title), style=STYLE, sheets=body)


def _sheet(sheet: Sheet, answers: bool) -> Iterator[str]:
    name = "<span>For teachers</span>" if answers else "<span>Name: ______________________</span>"
    yield f"<section><header><span>Frostglass · lesson {sheet.number} of {sheet.of}</span>{name}</header>"
    yield f"<h1>{in_html(sheet.lesson.title)}</h1>"
    yield f"<dl><dt>Do</dt><dd>{in_html(sheet.lesson.do)}</dd><dt>See</dt><dd>{in_html(sheet.lesson.see)}</dd></dl><ol>"
    for question, answer in sheet.lesson.questions.items():
        below = f'<p class="answer">{in_html(answer)}</p>' if answers else '<div class="line"></div>' * LINES
        yield f"<li>{in_html(question)}{below}</li>"
    yield f"</ol><footer><span>{in_html(sheet.address)}</span></footer></section>"


def sheet_of(lesson: Lesson, number: int, of: int, page: str) -> Sheet:
    """The sheet of a lesson; ``page`` is the address of the page Learn."""
    address = f"{page.partition('?')[0]}?lesson={lesson.name}"
    return Sheet(lesson, number, of, address)


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
            title = chosen[0].lesson.title if len(chosen) == 1 else "Lessons on privacy"
            offer(
                label,
                sheets_html(title, chosen, answers),
                name,
                f"learn-sheet-{name}",
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
LINK = "The address of this page holds every setting: hand it out, and a class starts where you stand."


def course() -> bool:
    """The chosen lesson with a way to the next one; whether its last one was left by the main action."""
    names = [lesson.name for lesson in LESSONS]
    arrived = GO in st.session_state
    if arrived:
        st.session_state[LESSON] = st.session_state.pop(GO)
    # A choice that was made already needs no default, and Streamlit would warn that it has two values.
    default = None if arrived else names[0]
    chosen = choose_one("Lesson", names, LESSON, default, linked=True, silent=True, width="content")
    place = names.index(chosen)
    if arrived:
        _to_the_top(chosen)
    show_lesson(LESSONS[place], EXPERIMENTS[chosen], place + 1, len(LESSONS))
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
