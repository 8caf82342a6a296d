"""Every page for everybody: axe finds nothing, of any severity, wide and narrow, light and dark.

The quick tests of the pages ask axe too, where they have a page open anyway; here is every page, view and lesson.
"""

import pytest

from core.ui.course import LESSONS
from tests.browser.conftest import LOOKS
from tests.browser.test_release import describe, price, total, wait_released

PAGES = (
    "/",
    "/?tour=true",
    "/?present=true",
    "/data",
    "/release",
    "/train",
    "/ledger",
    "/explore",
    "/classify",
    "/compare",
    "/local",
    "/combine",
    "/approve",
)
VIEWS = (
    "release=flights",
    "release=flights&view=Anomalies",
    "release=flights&view=Sample",
    "release=flights&view=Live+ε",
    "release=flights&view=Your+points",
    "release=flights&show=One+column",
    "release=towns&layers=Modes",
    "release=colours",
    "release=colours&show=Two+columns&layers=Film",
    "release=colours&show=Three+columns",
    "release=health-groups&layers=Groups",
    "release=salaries",
    "release=stars",
    "release=city&embed=true",
    "release=city-distance",
    "release=city-distance&view=Centres",
    "release=city-distance&view=Your+points",
    "release=photographs-groups",
    "release=none-such",
)
IN_SIGHT = """() => {
  const here = document.activeElement, {left, width, top, height} = here.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  const covering = there?.closest("[data-testid=stBottom], header");
  return here === document.body || !covering || covering.contains(here);
}"""
"""Whether what has the focus lies under neither the header nor the main action."""
ADDRESSES = [*PAGES, *(f"/explore?{view}" for view in VIEWS), *(f"/learn?lesson={lesson.name}" for lesson in LESSONS)]


def barriers_at(visit, addresses):
    found = {}
    for address in addresses:
        visit.go(address)
        found[address] = visit.barriers()
    return {address: barriers for address, barriers in found.items() if barriers}


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_axe_finds_nothing_on_any_page(visitor, width, theme):
    visit = visitor(width, theme)
    assert barriers_at(visit, ADDRESSES) == {} and visit.errors == []


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_what_opens_over_a_page_is_legible_and_for_everybody(visitor, width, theme):
    visit, found = visitor(width, theme), {}
    visit.go("/explore?release=towns")
    for button in visit.page.get_by_test_id("stPopover").get_by_role("button").locator("visible=true").all():
        button.click()
        visit.settle()
        found[button.inner_text()] = [*visit.barriers(), *visit.illegible()]
        visit.page.keyboard.press("Escape")
        visit.settle()
    assert len(found) >= 4 and {name: faults for name, faults in found.items() if faults} == {} and visit.errors == []


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_axe_finds_nothing_on_the_way_to_a_release(visitor, width, theme):
    visit, found = visitor(width, theme), {}
    describe(visit, f"axe-{width}-{theme}")
    found["to be chosen"] = visit.barriers()
    total(visit, "3")
    found["ready"] = visit.barriers()
    price(visit).click()
    visit.settle()
    found["asked once more"] = visit.barriers()
    visit.click("button", "Yes, release it")
    wait_released(visit)
    found["released"] = visit.barriers()
    visit.click("link", "See what is left of the budget")
    found["its ledger"] = visit.barriers()
    visit.click("link", "Release")
    visit.click("button", "Make another release")
    visit.choose("Fine-tune")
    assert visit.page.get_by_role("radio", name="That someone is in the data at all").is_disabled()
    found["another one"] = visit.barriers()
    visit.go("/classify")
    visit.click("button", "Heart check-ups")
    visit.page.wait_for_selector(".stPlotlyChart .main-svg")
    found["groups"] = visit.barriers()
    visit.go("/data")
    visit.choose("A sample")
    found["samples"] = visit.barriers()
    visit.page.get_by_test_id("stRadioOption").filter(has_text="Heart check-ups").click()
    visit.settle()
    found["a described sample"] = visit.barriers()
    assert {stage: barriers for stage, barriers in found.items() if barriers} == {} and visit.errors == []


@pytest.mark.deep
@pytest.mark.parametrize("address", ["/ledger", "/local?local-view=Ask+a+class"])
def test_what_the_keyboard_comes_to_is_in_sight(visitor, address):
    visit = visitor()
    visit.go(address)
    visit.page.set_viewport_size({"width": 640, "height": 400})  # a window of 1280 by 800, enlarged twice
    come_to = []
    for key in ("Tab",) * 24 + ("Shift+Tab",) * 12:
        visit.page.keyboard.press(key)
        come_to.append(visit.page.evaluate(IN_SIGHT))
    assert all(come_to), come_to
