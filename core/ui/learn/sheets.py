"""Sheets to print for a class, offered beside the plan for teachers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ...figures.lesson_sheets import Sheet, sheets_html
from .lesson import Lesson
from .questions import QUESTIONS


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
