"""A link opens its file and its view, and nothing that is not on show."""

from hashlib import sha256
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.figures.answer_sentences import BEYOND_RECORDS
from core.privacy.ledger.ledger_store import default_place
from core.releases.release_store import shelf_beside
from core.sources.public_tables import bundled_releases
from core.ui.frame.session import KEY
from core.ui.released.taking_along import DIGITS, RELEASE, address_of
from tests.depth import sampled
from tests.releases_for_tests import small_release
from tests.ui.explore.visiting import explore

APP = str(Path(__file__).parents[3] / "app.py")


def linked(**address) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=240).switch_page("pages/explore.py")
    for name, value in address.items():
        at.query_params[name] = value
    return at.run()


@pytest.fixture
def kept():
    made = small_release()
    shelf = shelf_beside(default_place())
    return shelf, shelf.keep(made, "people"), made.to_bytes()


def test_a_link_opens_a_file_with_its_view_and_stays_in_the_address():
    path = next(path for one, path in bundled_releases() if one.name == "salaries")
    at = linked(release="salaries", view="Sample")
    opened = at.session_state[KEY].shown
    assert not at.exception and opened.data == path.read_bytes()
    assert at.session_state["view"] == "Sample"
    assert at.query_params[RELEASE] == opened.fingerprint[:DIGITS]
    (link,) = [one.value for one in at.code if "iframe" not in one.value]
    assert f"release={opened.fingerprint[:DIGITS]}" in link and "view=Sample" in link


def test_the_owner_reaches_what_is_kept_and_a_stranger_what_is_on_show(kept, request_headers):
    shelf, path, data = kept
    digest = sha256(data).hexdigest()
    assert linked(release=digest[:16]).session_state[KEY].shown.data == data
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    at = linked(release=digest[:16])
    assert at.session_state[KEY].shown is None and len(at.error) == 1 and "not on the shelf here" in at.error[0].value
    shelf.rename(path.name, "Everyone")
    for address in (digest[:16], "Everyone"):
        at = linked(release=address)
        assert at.session_state[KEY].shown.data == data and not at.exception
        assert not [button for button in at.button if "change" in str(button.key)], "only the owner changes it"


@pytest.mark.thorough
def test_what_is_kept_is_removed_when_that_was_asked_twice(kept):
    shelf, path, _ = kept
    at = linked()
    change = next(button for button in at.button if button.label == "Change")
    change.click().run()
    at.button(key="change-remove").click().run()
    assert "There is no way back" in " ".join(one.value for one in at.markdown) and path.exists()
    at.button(key="change-remove-no").click().run()
    assert path.exists() and not [one for one in at.button if one.key == "change-remove-yes"]
    at.button(key="change-remove").click().run()
    at.button(key="change-remove-yes").click().run()
    assert not at.exception and shelf.entries() == ()


@pytest.mark.parametrize("address", ["../../etc/passwd", "<script>", "x" * 5000, "0" * 64])
def test_a_link_to_nothing_says_so_in_a_sentence(address):
    at = linked(release=address)
    assert not at.exception and len(at.error) == 1 and at.session_state[KEY].shown is None


def test_an_address_is_escaped():
    assert address_of("http://localhost:8501/explore?x=1", [("x", "a&b"), ("view", '"<')]) == (
        "http://localhost:8501/explore?x=a%26b&view=%22%3C"
    )


@pytest.mark.thorough
def test_a_link_holds_columns_at_its_values_and_says_so_again():
    at = linked(release="colours", show="Two columns", held=["blue:120", "green:7", "nobody:3"])
    assert not at.exception and [slider.value for slider in at.slider if slider.label == "blue"] == [120.0]
    assert at.query_params["held"] == "blue:120.0", "green is drawn, and there is no other column"
    at.slider[0].set_value(60.0).run()
    assert at.query_params["held"] == "blue:60.0"
    (link,) = [one.value for one in at.run().code if "iframe" not in one.value]
    assert link.count("held=") == 1 and "held=blue%3A60.0" in link


@pytest.mark.parametrize("held", sampled(["blue:nan", "blue:", "blue:red", ":", "blue:1e999"], "blue:nan"))
def test_a_link_that_holds_nonsense_holds_nothing(held):
    at = linked(release="colours", show="Two columns", held=held)
    assert not at.exception and not [slider for slider in at.slider if slider.label == "blue"]


@pytest.mark.parametrize(("detail", "kept"), [("2", True), ("nonsense", False)])
def test_a_link_looks_as_closely_as_it_was_looked(detail, kept):
    at = linked(release="health", detail=detail)
    assert not at.exception and ("detail" in at.query_params) == kept


@pytest.mark.thorough
def test_a_link_says_that_the_records_are_a_sample_of_more():
    """It led to shorter bands than those that were looked at."""
    at = linked(release="salaries", population="yes")
    (switch,) = [one for one in at.toggle if one.label == "A sample of more"]
    assert not at.exception and switch.value and BEYOND_RECORDS in notes(at)
    (link,) = [one.value for one in at.code if "iframe" not in one.value]
    assert "population=yes" in link
    switch.set_value(False).run()
    assert "population" not in at.query_params and BEYOND_RECORDS not in notes(at)
    assert not [one for one in at.run().code if "population" in one.value]
    at = linked(release="salaries", population="perhaps")
    assert not at.exception and BEYOND_RECORDS not in notes(at) and "population" not in at.query_params


@pytest.mark.thorough
def test_what_one_file_is_a_sample_of_is_not_taken_for_the_next_file_too():
    at = linked(release="salaries", population="yes")
    at.file_uploader[0].set_value(("next.npz", small_release().to_bytes(), "application/octet-stream")).run()
    assert at.session_state[KEY].shown.name == "next.npz"
    assert not at.exception and BEYOND_RECORDS not in notes(at) and "population" not in at.query_params


def notes(app) -> str:
    return " ".join(one.value for one in (*app.caption, *app.markdown))


def test_papers_are_offered_and_say_what_they_still_need():
    app = explore(small_release().to_bytes())
    assert not app.exception
    assert "kind of curator, intended use and region" in notes(app)
    for key, text in (("curator", "The town"), ("use", "Plans"), ("region", "Here")):
        app.text_input(key=f"passport-{key}").set_value(text)
    app.selectbox(key="passport-kind").set_value("Government")
    app.run()
    assert not app.exception and "there is no entry for the registry" not in notes(app)
