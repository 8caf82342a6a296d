"""The guided tour on Home, without a browser: it can be begun by a link, stepped through, paused and left."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.sources.public_tables import bundled_releases
from core.ui.frame.navigation import EXPLORE
from core.ui.frame.session import KEY
from core.ui.tour import ASKED, SECONDS, SHOWN, STEPS

APP = str(Path(__file__).parents[2] / "app.py")


@pytest.fixture
def app() -> AppTest:
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params["tour"] = "true"
    return at.run()


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=f"tour-{key}").click().run()


def said(app: AppTest) -> str:
    return " ".join(element.value for element in app.markdown)


def test_it_takes_a_minute_and_a_half():
    assert len(STEPS) * SECONDS == 90


def test_epsilon_is_introduced_before_it_is_slid_and_less_of_it_reads_as_more_privacy():
    """Step five, "How much privacy?", said that "with less of it" odds sink, of a letter that nobody had explained."""
    words = [told for _, told, _ in STEPS]
    first, slid = (next(place for place, one in enumerate(words) if part in one) for part in ("(epsilon)", "larger"))
    assert first < slid and not any("ε" in f"{title} {told}" for title, told, _ in STEPS[:first])
    assert "the smaller it is, the more noise, and the more privacy" in words[first]
    assert words[slid].startswith("A smaller ε is more privacy")


@pytest.mark.thorough
def test_every_step_is_reached_and_the_last_one_leads_to_the_release(app):
    for title, words, _ in STEPS[:-1]:
        assert not app.exception and title in said(app) and words.replace("'", "&#x27;") in said(app)
        assert "fg-tour-plays" in said(app)
        press(app, "next")
    assert "fg-tour-plays" not in said(app) and app.button(key="tour-next").disabled
    press(app, "explore")
    path = next(path for one, path in bundled_releases() if one.name == SHOWN)
    assert not app.exception and app.session_state[KEY].shown.data == path.read_bytes()
    assert "tour" not in app.session_state and f"{path.name}" in said(app)


@pytest.mark.thorough
def test_its_answer_is_the_file_s_own(app):
    from core.releases.release import load

    path = next(path for one, path in bundled_releases() if one.name == SHOWN)
    for _ in range(3):
        press(app, "next")
    answer = load(path.read_bytes()).answer({name: [value] for name, value in ASKED.items()})
    assert f"about <strong>{answer.estimate[0]:.0f}</strong>" in said(app)


def test_it_waits_while_it_is_paused_and_ends_when_it_is_told_to(app):
    press(app, "pause")
    assert "fg-tour-plays" not in said(app) and app.button(key="tour-pause").label == "Go on"
    press(app, "next")
    assert "fg-tour-plays" not in said(app) and STEPS[1][0] in said(app)
    press(app, "back")
    press(app, "pause")
    assert "fg-tour-plays" in said(app)
    press(app, "end")
    assert not app.exception and "tour" not in app.query_params
    assert app.button(key="tour-begin").label == "Watch the tour: 90 seconds"
    assert EXPLORE.path and app.title[0].value == "See the shape, not the people."
