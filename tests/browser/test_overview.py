"""The overview of a released table in a browser: a bar that is clicked is shown in every other picture."""

import re

import pytest

from tests.depth import crossed
from tests.tables_for_tests import table_release

BARS = "[class*=st-key-fg-column-] .nsewdrag"
PART = ".st-key-fg-part"


@pytest.fixture(scope="module")
def file():
    return table_release(places=True).to_bytes(teaching=True)


@pytest.fixture
def opened(visitor, file, nothing_kept):
    """Opens the table in a fresh app."""

    def open_it(width="desktop", theme="light"):
        nothing_kept()
        visit = visitor(width, theme)
        visit.go("/explore")
        visit.drop("people.npz", file, "application/octet-stream")
        visit.page.wait_for_selector(".stPlotlyChart .main-svg")
        visit.settle()
        return visit

    return open_it


def click(visit, place, across, up):
    """Click the picture of a column at shares of its width and height."""
    area = visit.page.locator(BARS).nth(place)
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    where = {"x": across * box["width"], "y": (1 - up) * box["height"]}
    area.hover(position=where)
    visit.page.wait_for_timeout(200)
    area.click(position=where)
    visit.settle()


def bars(visit, place) -> str:
    """The outlines of the bars of a column, as they are drawn."""
    drawn = visit.page.locator("[class*=st-key-fg-column-] .bars").nth(place)
    return drawn.evaluate("element => [...element.querySelectorAll('path')].map(path => path.getAttribute('d')).join()")


def records(visit) -> int:
    return int(re.search(r"· ([\d,]+) records", visit.page.locator(PART).inner_text())[1].replace(",", ""))


@pytest.mark.deep
def test_a_bar_that_is_clicked_is_shown_in_every_other_picture(opened):
    visit = opened()
    everyone, before = records(visit), bars(visit, 1)
    click(visit, 0, 0.1, 0.17)  # the lowest of three towns, which are the first column after the time line
    visit.page.wait_for_function(f"document.querySelector('{PART}').innerText.includes('town: Paris')")
    visit.settle()
    assert records(visit) < 0.6 * everyone and bars(visit, 1) != before
    assert "places were not measured together with town" in visit.text
    click(visit, 1, 0.4, 0.1)  # another column takes its place, as no table has three
    visit.page.wait_for_function(f"document.querySelector('{PART}').innerText.includes('age: ')")
    assert "town: Paris" not in visit.page.locator(PART).inner_text()
    visit.click("button", "Show all")
    assert records(visit) == everyone and not visit.errors


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), crossed(["phone", "desktop"], ["dark", "light"]))
def test_it_fits_and_is_legible(opened, width, theme):
    visit = opened(width, theme)
    assert visit.overflow() <= 0 and not visit.illegible() and not visit.barriers() and not visit.errors
    if width == "phone":
        visit.page.get_by_text("Show a part", exact=True).first.click()
        visit.settle()
        assert visit.page.get_by_text("From … to").count() and visit.overflow() <= 0
        assert not visit.illegible() and not visit.barriers()
