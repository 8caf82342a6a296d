"""Every lesson has a sheet to print, and every question an answer that only the teacher's has."""

import re
from html import unescape

import pytest

from core.figures.lesson_sheets import LINES, sheets_html
from core.ui.learn import plan as plan_module
from core.ui.learn.course import LESSONS
from core.ui.learn.questions import QUESTIONS
from core.ui.learn.sheets import sheet_of

SHEETS = [sheet_of(lesson, place, len(LESSONS), "http://host/learn?x=1") for place, lesson in enumerate(LESSONS, 1)]


def test_every_lesson_has_questions_and_no_other_has():
    assert list(QUESTIONS) == [lesson.name for lesson in LESSONS]
    assert {len(pairs) for pairs in QUESTIONS.values()} == {4}


@pytest.mark.parametrize("sheet", SHEETS, ids=list(QUESTIONS))
def test_a_sheet_has_its_questions_with_room_to_write_and_no_answers(sheet):
    page = sheets_html(sheet.title, [sheet])
    text = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL))
    assert page.count('class="line"') == 4 * LINES and page.count("<section>") == 1
    assert sheet.address.startswith("http://host/learn?lesson=") and sheet.address in text
    for question, answer in sheet.questions:
        assert question in text and answer not in text
    answered = unescape(sheets_html(sheet.title, [sheet], answers=True))
    assert all(answer in answered for _, answer in sheet.questions) and 'class="line"' not in answered


def test_a_sheet_needs_nothing_else():
    page = sheets_html("All", SHEETS)
    assert page.count("<section>") == len(LESSONS) and "src=" not in page and "url(" not in page


def test_the_plan_leads_to_the_tour_wherever_the_app_is_served(monkeypatch):
    written = []
    monkeypatch.setattr(plan_module.st, "markdown", written.append)
    plan_module.plan()
    assert "(./?tour=true)" in written[0] and "127.0.0.1" not in written[0]
