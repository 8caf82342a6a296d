"""The overview of a released table in a browser: a bar that is touched is shown in every other picture, at once."""

import re

import numpy as np
import pytest

from tests.depth import crossed
from tests.tables_for_tests import TOWNS, table_release

# What draws is inside a root of its own, through which Playwright sees and a page's own questions do not.
SHARES = "place => [...place.overview.cards[{}].found.est]"


@pytest.fixture(scope="module")
def made():
    return table_release(places=True)


@pytest.fixture
def opened(visitor, made, nothing_kept):
    """Opens the table in a fresh app."""

    def open_it(width="desktop", theme="light"):
        nothing_kept()
        visit = visitor(width, theme)
        visit.go("/explore")
        visit.drop("people.npz", made.to_bytes(teaching=True), "application/octet-stream")
        visit.page.wait_for_selector(".inside .card .solid[d^=M]", state="attached")
        visit.page.wait_for_selector(".inside .pair-row")  # the last to come
        visit.settle()
        return visit

    return open_it


def touch(visit, column, presses=1):
    """Pick a bar of a column by keys."""
    visit.page.locator(".card", has=visit.page.get_by_role("heading", name=column)).locator(".picture").focus()
    for _ in range(presses):
        visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    visit.page.locator(".chip", has_text=column).wait_for()
    visit.settle()


@pytest.mark.thorough
def test_a_bar_that_is_touched_is_shown_in_every_other_picture_as_in_python_and_the_address_keeps_it(opened, made):
    visit = opened()
    answers = made.asked()
    touch(visit, "town")
    (town,) = [name for name in TOWNS if name in visit.page.locator(".chip").inner_text()]
    place = visit.page.locator(".inside")
    cards = place.evaluate("place => place.overview.cards.map(({ axis }) => axis.name)")
    for name in ("age", "pay"):
        drawn = place.evaluate(SHARES.format(cards.index(name)))
        np.testing.assert_allclose(drawn, answers.shares(name, where={"town": [town]}).estimate, rtol=1e-9)
    assert "Not counted together with town" in visit.page.locator(".card.map").inner_text()
    visit.page.wait_for_url(lambda address: re.search(r"part=1(:|%3A)\d", address))

    # Whoever follows the link meets the same view, and the server the pair that was asked for.
    visit.page.locator(".pair-row", has_text="age").first.click()
    visit.page.get_by_text("χ² with noise is").wait_for()
    visit.page.goto(visit.page.evaluate("location.href"))
    visit.page.locator(".chip", has_text=town).wait_for()
    visit.page.get_by_text("χ² with noise is").wait_for()
    visit.page.get_by_role("button", name="Everyone").click()
    visit.page.wait_for_url(lambda address: not re.search(r"part=1(:|%3A)\d", address))
    assert not visit.errors


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), crossed(["phone", "desktop"], ["dark", "light"]))
def test_it_fits_and_is_legible(opened, width, theme):
    visit = opened(width, theme)
    for presses in (0, 1):
        if presses:
            touch(visit, "town", presses)
        assert visit.overflow() <= 0 and not visit.illegible() and not visit.barriers() and not visit.errors
