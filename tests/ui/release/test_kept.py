"""What was released is kept: found again after a reload, by its owner alone, and refused when it was damaged."""

import pytest
from streamlit.testing.v1 import AppTest

from core.formatting.numbers import listed
from core.ui.frame.session import DESK, KEY
from tests.ui.release.visiting import APP, PATIENCE, confirmed, visit, with_total, words


def reloaded(page):
    """A page as the browser shows it after F5: everything that the session held is gone."""
    return AppTest.from_file(APP, default_timeout=PATIENCE).switch_page(page).run()


def of_the_list(at, name):
    """The buttons of the list of kept releases on a page."""
    return [button for button in at.button if (button.key or "").startswith(f"kept-{name}-")]


@pytest.mark.thorough
def test_a_release_is_still_there_after_the_page_was_loaded_again(ledger):
    made = confirmed(with_total(visit()))
    opened = made.session_state[KEY].shown
    assert "A copy is kept beside your ledger" in words(made)
    explored = made.button(key="release-explore")
    assert explored.label == "Explore it" and explored.proto.type == "primary"

    at = reloaded("pages/release.py")
    assert not at.exception and "What you released is still here" in words(at)
    assert [button.label[:6] for button in of_the_list(at, "release")] == ["visits"]

    at = reloaded("app.py")
    assert not at.exception and len(of_the_list(at, "home")) == 1, "where a visit begins"
    at = reloaded("pages/explore.py")
    assert not at.exception and at.session_state[KEY].shown.data == opened.data
    assert at.session_state[KEY].shown.name == opened.name and "visits" not in opened.name
    at.button(key="explore-close").click().run()
    assert at.session_state[KEY].shown is None, "what was closed stays closed"
    of_the_list(at, "explore")[0].click().run()
    assert at.session_state[KEY].shown.data == opened.data and not at.exception

    ledger.register("others", 1)
    at = reloaded("pages/ledger.py")
    assert not of_the_list(at, "ledger"), "it lists the releases of the data set that is shown"
    at.selectbox(key="ledger-dataset").set_value("visits").run()
    assert len(of_the_list(at, "ledger")) == 1 and not at.exception
    assert f"How dense it is of {listed(list(opened.release.domain.names))}, file {opened.name}" in words(at)


@pytest.mark.thorough
def test_explore_and_shelf_called_a_release_by_its_time_and_a_number_instead_of_its_data_and_question(ledger):
    opened = confirmed(with_total(visit())).session_state[KEY].shown
    assert opened.called == "visits: how dense it is"
    at = reloaded("pages/explore.py")
    again = at.session_state[KEY].shown
    assert not at.exception and again.called == opened.called and f">{opened.called}</strong>" in words(at)
    at = reloaded("app.py")
    assert of_the_list(at, "home")[0].label.startswith("visits: how dense it is · ")
    assert "visits" not in again.name and b"how dense" not in again.data, "what is handed out names no data set"


@pytest.mark.thorough
def test_who_comes_through_a_proxy_finds_nothing_that_is_kept(ledger, request_headers):
    confirmed(with_total(visit()))
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    for page in ("release", "explore", "ledger"):
        at = reloaded(f"pages/{page}.py")
        assert not at.exception and not of_the_list(at, page) and "visits" not in words(at)
        assert at.session_state[KEY].shown is None


@pytest.mark.deep
def test_a_kept_file_that_was_damaged_is_refused_in_a_sentence(ledger):
    kept = confirmed(with_total(visit())).session_state[DESK].making.kept
    kept.write_bytes(kept.read_bytes()[:-100])
    at = reloaded("pages/explore.py")
    assert not at.exception and at.session_state[KEY].shown is None
    of_the_list(at, "explore")[0].click().run()
    assert not at.exception and len(at.error) == 1


def test_looking_at_what_is_kept_makes_no_ledger(tmp_path):
    reloaded("pages/explore.py")
    assert not (tmp_path / "data" / "frostglass").exists()


@pytest.mark.thorough
def test_more_is_spent_on_a_release_once_and_the_file_of_both_opens(ledger):
    at = confirmed(with_total(visit()))
    at.number_input(key="release-more").set_value(0.5).run()
    assert not at.exception and "one release made at once for the same promise" in words(at)
    before = len(ledger.entries("visits"))  # what came first, and the release
    at.button(key="release-pay-more").click().run()
    both = at.session_state[KEY].shown.release
    assert not at.exception and str(both.privacy.epsilon) == "1.5" and len(both.combined.releases) == 2
    (paid,) = ledger.entries("visits")[before:]
    assert paid.cost.describe() == "ε = 0.5" and "tops_up" in paid.note
