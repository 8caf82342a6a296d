"""The journey of a teacher who wants to see which method is best, and of an owner who may see forecasts only."""

from urllib.parse import urlencode

import pandas as pd
import pytest

OURS, THEIRS = "Fitted tree of distances", "Tree of intervals"
QUICK = {"question": "How far is everyone?", "methods": [OURS, THEIRS], "epsilons": ["1", "2"]}
"""A link to two methods that take a moment."""


@pytest.fixture
def compare(visitor):
    """Opens the page, by a link to some of its choices."""

    def open_it(width="desktop", theme="light", **chosen):
        visit = visitor(width, theme)
        visit.go("/compare?" + urlencode(QUICK | chosen, doseq=True))
        return visit

    return open_it


def words_of_both(visit, part, beginning):
    """The text alternative of a figure, once both methods are in it."""
    both = f"[aria-label^='{beginning}'][aria-label*='{OURS}'][aria-label*='{THEIRS}']"
    figure = visit.page.locator(f".st-key-fg-steady-{part} {both}").first
    figure.wait_for()
    return figure.get_attribute("aria-label")


@pytest.mark.deep
def test_a_link_opens_curves_costs_functions_and_what_tuning_costs(compare):
    visit = compare(sample="Salaries")  # of one column, whose functions are lines in one figure
    visit.click("button", "Measure it here")  # nothing is measured unasked on a sample
    assert "At ε = 1, from the least to the greatest" in words_of_both(visit, "results", "Error")
    before = words_of_both(visit, "functions", "Functions released")
    visit.page.get_by_text("Draw 1 of 8").wait_for()
    again = visit.page.get_by_role("button", name="Draw the noise again")
    again.focus()
    visit.page.keyboard.press("Enter")
    visit.page.get_by_text("Draw 2 of 8").wait_for()
    assert words_of_both(visit, "functions", "Functions released") != before
    visit.page.get_by_text("would cost ε =").first.wait_for()
    visit.settle()  # a button that the last run of the script replaces hands nothing out
    with visit.page.expect_download() as started:
        visit.page.get_by_role("button", name="Save the curves (CSV)").click()
    table = pd.read_csv(started.value.path())
    assert set(table.title) == {OURS, THEIRS} and set(table.setting) == {"public", "tuned"}
    assert (table.low <= table.error * 1.5).all() and visit.errors == []
    visit.settle()
    assert visit.overflow() <= 0 and visit.illegible() == []
    play = visit.page.get_by_text("Play", exact=True)
    assert play.is_visible()
    visit.page.emulate_media(reduced_motion="reduce")
    assert not play.is_visible(), "who wants less motion gets no player"


@pytest.mark.deep
def test_it_can_be_stopped_and_plays_on_a_phone_in_the_dark(compare):
    visit = compare("phone", "dark", sample="City bicycles", epsilons=["0.1", "10"])
    visit.click("button", "Measure it here")
    stop = visit.page.locator(".st-key-compare-stop button")
    stop.click()
    visit.page.get_by_text("Stopped. What was found stays.").wait_for()
    visit.click("button", "Go on")
    visit.page.locator(".st-key-fg-maps .main-svg").nth(3).wait_for()
    visit.page.get_by_text("Play", exact=True).click()
    visit.page.get_by_text("Draw 3 of 8").wait_for()
    visit.page.get_by_text("Play", exact=True).click()
    visit.settle()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []


@pytest.mark.deep
def test_a_file_counts_as_public_only_when_its_owner_says_so(compare):
    visit = compare()
    visit.choose("A public file")
    assert "Still missing: public data to compare on." in visit.text
    visit.drop("ages.csv", pd.DataFrame({"age": range(20, 80), "pay": range(60)}).to_csv(index=False).encode())
    assert "Error against ε" not in visit.text
    visit.page.get_by_text("Everyone may know every row of this file").click()
    visit.page.get_by_text("Error against ε").first.wait_for()


@pytest.mark.deep
def test_private_data_is_forecast_and_never_compared(compare):
    visit = compare()
    visit.choose("My data")
    assert "no record is read" in visit.text and "Still missing" in visit.text
