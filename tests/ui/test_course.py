"""Every lesson has a sheet to print, and every question an answer that only the teacher's has.

The Learn page: every lesson opens by its address, says what it shows, and leads to the next one.
"""

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from core.ui import course as plan_module
from core.ui.course import ADDRESS, EXPERIMENTS, LESSON, LESSONS, LINES, PLAN, sheet_of, sheets_html
from core.ui.frame.navigation import LEARN

SHEETS = [sheet_of(lesson, place, len(LESSONS), "http://host/learn?x=1") for place, lesson in enumerate(LESSONS, 1)]


def test_every_lesson_has_questions_and_no_other_has():
    assert list(EXPERIMENTS) == [lesson.name for lesson in LESSONS]
    assert {len(lesson.questions) for lesson in LESSONS} == {4} and {len(lesson.told) for lesson in LESSONS} == {3}


@pytest.mark.parametrize("sheet", SHEETS, ids=list(EXPERIMENTS))
def test_a_sheet_has_its_questions_with_room_to_write_and_no_answers(sheet):
    page = sheets_html(sheet.lesson.title, [sheet])
    text = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL))
    assert page.count('class="line"') == 4 * LINES and page.count("<section>") == 1
    assert sheet.address.startswith("http://host/learn?lesson=") and sheet.address in text
    for question, answer in sheet.lesson.questions.items():
        assert question in text and answer not in text
    answered = unescape(sheets_html(sheet.lesson.title, [sheet], answers=True))
    assert all(answer in answered for answer in sheet.lesson.questions.values()) and 'class="line"' not in answered


def test_a_sheet_needs_nothing_else():
    page = sheets_html("All", SHEETS)
    assert page.count("<section>") == len(LESSONS) and "src=" not in page and "url(" not in page


def test_the_plan_leads_to_the_tour_wherever_the_app_is_served(monkeypatch):
    written = []
    monkeypatch.setattr(plan_module.st, "markdown", written.append)
    plan_module.plan()
    assert "(./?tour=true)" in written[0] and "127.0.0.1" not in written[0]


APP = str(Path(__file__).parents[2] / "app.py")
NAMES = [lesson.name for lesson in LESSONS]


def page(**settings) -> AppTest:
    """The page, as its address opens it."""
    app = AppTest.from_file(APP, default_timeout=60).switch_page(LEARN.path)
    for name, value in settings.items():
        app.query_params[name] = value
    return app.run()


def words(app: AppTest) -> str:
    return unescape(" ".join(block.value for block in app.markdown))


def button(app: AppTest, label: str):
    return next(one for one in app.button if one.label == label)


@pytest.mark.few(4)
@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_every_lesson_opens_by_its_address(lesson):
    app = page(lesson=lesson.name)
    assert not app.exception and not app.error
    shown = words(app)
    assert lesson.title in shown and lesson.do in shown and lesson.see in shown
    assert all(heading in shown for heading in lesson.told)
    assert 'fg-finding" role="status"' in shown, "it says what it shows"


@pytest.mark.few(3)
@pytest.mark.parametrize("name", NAMES)
def test_an_address_that_makes_no_sense_opens_the_lesson_all_the_same(name):
    keys = ("epsilon", "rows", "people", "ask", "crowd", "bounds", "noise", "times", "secret", "records", "delta")
    app = page(lesson=name, **dict.fromkeys(keys, "<b>[x](y)</b>"))
    assert not app.exception and "<b>[x]" not in words(app)


@pytest.mark.deep
def test_the_main_action_leads_through_all_lessons_and_then_to_sample_data():
    app = page()
    for lesson in LESSONS[1:]:
        button(app, f"Next: {lesson.title}").click().run()
        assert not app.exception and app.session_state[LESSON] == lesson.name
        assert lesson.title in words(app)
    assert not button(app, "Try it on sample data").disabled


@pytest.mark.deep
def test_every_link_of_the_plan_opens_what_it_says():
    links = re.findall(re.escape(ADDRESS) + r"\?([^)]*)\)", PLAN.read_text())
    assert {dict(parse_qsl(link))["lesson"] for link in links} == set(NAMES)
    for link in links:
        settings = dict(parse_qsl(link))
        app = page(**settings)
        shown = {key: str(app.session_state[key]) for key in settings}
        assert shown == {key: value.replace(",", "") for key, value in settings.items()}, link
    assert any(f"](?{link})" in block.value for block in app.markdown), "the page shows the plan with links to itself"


def test_names_are_short_unlike_and_fit_an_address():
    assert len(set(NAMES)) == len(NAMES) and all(name.replace("-", "").isalpha() and name.islower() for name in NAMES)


def test_the_first_page_leads_to_the_lessons():
    app = AppTest.from_file(APP, default_timeout=60).run()
    button(app, "Open the lessons").click().run()
    assert not app.exception and LESSONS[0].title in words(app)


@pytest.mark.thorough
def test_cells_are_counted_row_by_row_and_a_question_is_their_average():
    shown = words(page(people="1 1, 1 1, 9 9", ask="1 1", rows="4"))
    assert "is the average of the framed counts" in shown and shown.count("fg-met") == 4
    assert "Nobody is counted yet." in words(page(rows="0"))
    assert "may be handed out" in words(page(rows="4", noise="1"))


def test_places_that_cannot_be_read_get_one_sentence():
    app = page(people="here and there")
    assert not app.exception and len(app.error) == 1 and "two numbers" in app.error[0].value
    assert not page(people="", ask="", rows="2").exception


@pytest.mark.thorough
def test_what_the_lessons_find_follows_their_controls():
    often = words(page(lesson="averaging", times="5,000", secret="812"))
    assert "5,000 answers are 811.95 on average" in often and "ε = 2,500" in often and "says 810 every time" in often
    assert "allowing δ gains nothing" in words(page(lesson="delta", **{"sketch-rows": "4"}))
    assert "allowing δ makes the noise 11 times smaller" in words(page(lesson="delta"))
    assert "nobody should do this" in words(page(lesson="floating-point"))
    few, many = (words(page(lesson="rows", records=records)) for records in ("100", "3,000"))
    assert "Best with" in few and few != many


def test_bounds_from_the_data_are_said_to_give_the_pay_away():
    assert "someone earns exactly 2,000,000" in words(page(lesson="bounds", richest="2,000,000"))
    app = page(lesson="bounds", bounds="public knowledge", richest="2,000,000")
    assert "2,000,000." not in words(app) and "It holds." in words(app)
