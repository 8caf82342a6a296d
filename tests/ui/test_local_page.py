"""The page Local reports, without a browser."""

import socket
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.figures.local_figures import local_bars
from core.lab.crowd_lessons import people_needed, polled, told
from core.local.oracles.oracle import oracle
from core.local.poll_server import serves
from core.local.poll_store import Polls
from core.ui import local_page
from core.ui.frame.navigation import LOCAL
from tests.local.oracles.written_out import all_reports
from tests.ui.explore.visiting import field, labels, shown

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr("core.ui.local_page.usual_file", lambda: tmp_path / "polls.sqlite")
    monkeypatch.setenv("FROSTGLASS_ALLOW_PATHS", "1")
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).switch_page(LOCAL.path).run()


def view(app, name: str):
    field(app.segmented_control, "View").set_value(name)
    return app.run()


def test_one_person_sees_the_report_and_what_it_tells(page):
    assert not page.exception and "Your phone sends:" in shown(page)
    for way in field(page.segmented_control, "Your phone sends").options:
        field(page.segmented_control, "Your phone sends").set_value(way)
        assert not page.run().exception
    field(page.button, "Flip the coins again").click().run()
    assert not page.exception


@pytest.mark.deep
def test_the_collector_gets_a_recommendation(page):
    assert not view(page, "Be the collector").exception
    assert len(page.dataframe[0].value) >= 9
    assert "Local reports need" in shown(page) and "in random order among" in shown(page)
    field(page.select_slider, "Answers").set_value(10_000)
    assert not page.run().exception
    page.select_slider(key="words-people").set_value(10_000)
    field(page.button, "Ask everyone").click().run()
    assert not page.exception and "most frequent words were found" in shown(page)


def made(page):
    """The page after the poll "Did *you*?" was made."""
    view(page, "Ask a class")
    assert not page.exception and field(page.button, "Make the poll").disabled
    field(page.text_input, "Question").set_value("Did *you*?")
    field(page.text_area, "Answers, one a line").set_value("Yes\nNo\n\nYes")
    page.run()
    assert not page.exception and not field(page.button, "Make the poll").disabled
    field(page.button, "Make the poll").click().run()
    assert not page.exception
    return page


@pytest.mark.thorough
def test_a_teacher_makes_a_poll_and_sees_it_fill(page, tmp_path):
    made(page)
    polls = Polls(tmp_path / "polls.sqlite")
    (name,) = polls.every()
    assert polls.poll(name).survey.answers == ("Yes", "No")
    assert polls.take(name, "token-0001", [1])
    page.run()
    assert not page.exception
    field(page.button, "Close this poll").click().run()
    assert polls.poll(name).closed and "Closed" in labels(page.button)


@pytest.mark.deep
def test_a_button_serves_the_poll_in_a_process_of_its_own_and_its_code_appears_when_it_answers(
    page, tmp_path, monkeypatch
):
    """It told to run `frostglass poll`, which is not there after `make app`, and showed the code of nothing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(local_page, "PORT", port)
    monkeypatch.setattr(local_page, "own_address", lambda: "127.0.0.1")
    made(page)
    (name,) = Polls(tmp_path / "polls.sqlite").every()
    assert not page.code and "frostglass poll" not in shown(page)
    field(page.button, "Serve polls in this network").click().run()
    server = local_page._servers()["127.0.0.1"]
    try:
        for _ in range(600):
            if serves("127.0.0.1", port, name):
                break
            time.sleep(0.1)
        page.run()
        assert not page.exception and any(name in code.value for code in page.code)
        assert page.image[0].proto.imgs[0].alt == "QR code of the first address"
        field(page.button, "Stop serving polls").click().run()
        assert server.poll() is not None and not page.code and not page.error
    finally:
        server.kill()
        server.wait()
        local_page._servers.clear()


def test_the_axis_of_a_result_ends_at_everybody():
    """A band that reaches beyond all of them made an axis of 120%."""
    table = pd.DataFrame({"value": ["yes", "no"], "estimate": [28.0, 2.0], "low": [19.0, -7.0], "high": [37.0, 11.0]})
    low, high = local_bars(table, 30).layout.xaxis.range
    assert high == 100 and low == pytest.approx(-100 * 7 / 30)
    assert local_bars(table, 300).layout.xaxis.range[1] == pytest.approx(1.05 * 37 / 3)


def test_strangers_make_no_polls(page, tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_ALLOW_PATHS", "0")
    assert not view(page, "Ask a class").exception
    assert field(page.button, "Make the poll").disabled and not (tmp_path / "polls.sqlite").exists()


@pytest.mark.parametrize("name", ["de", "ss", "oue"])
def test_what_a_report_tells_is_bayes(name):
    one = oracle(name, 4, "1")
    matrix = np.array([[float(chance) for chance in row] for row in one.transition_matrix()])
    reports = all_reports(one).reshape(-1).tolist()
    for flips in range(6):
        sent = told(name, 4, "1", 2, flips)
        code = sent.named[0] if name == "de" else sum(1 << place for place in sent.named)
        likely = matrix[:, reports.index(code)]
        np.testing.assert_allclose(sent.chances, likely / likely.sum())


def test_local_surveys_need_the_square_of_the_people():
    central, local = people_needed(1.0, 0.01)
    again, more = people_needed(1.0, 0.001)
    assert more / local == pytest.approx(100) and again / central == pytest.approx(10)


def test_bands_of_polls_hold_the_truth_about_as_often_as_they_say():
    """Fifty seeded polls each: a binomial with 0.95 would have fewer than 38 once in 10^6."""
    for people, epsilon in ((30, "1"), (1000, "0.3"), (10_000, "3")):
        found = polled(people, epsilon)
        assert found.truth == 0.3 and found.held >= 38


@pytest.mark.thorough
def test_a_made_up_class_is_revealed(page, tmp_path):
    view(page, "Ask a class")
    field(page.text_input, "Question").set_value("Did you?")
    field(page.text_area, "Answers, one a line").set_value("Yes\nNo")
    page.run()
    field(page.button, "Try it with a made-up class").click().run()
    assert not page.exception
    polls = Polls(tmp_path / "polls.sqlite")
    (name,) = polls.every()
    assert polls.poll(name).made_up and len(polls.reports(name)) == 30 and polls.truth(name) is None
    field(page.button, "Reveal what they said").click().run()
    assert not page.exception and sum(polls.truth(name)) == 30 and "What they really said lies in" in shown(page)
