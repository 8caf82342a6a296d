"""The Ledger page in a real browser: legible and within the screen, and a registration by hand."""

import pytest

from tests.depth import deep


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "theme"), [deep("desktop", "dark"), ("phone", "light"), deep(800, "dark")])
def test_a_total_is_promised_and_looked_at(visitor, width, theme):
    visit = visitor(width, theme)
    visit.go("/ledger")
    name = f"Registered {width}"
    visit.fill("Name of the data set", name)
    visit.page.get_by_role("spinbutton", name="Its total budget, for ever (ε)").fill("4")
    visit.page.keyboard.press("Tab")
    visit.settle()
    visit.click("button", "Register for ε = 4.0")
    visit.page.get_by_text(f"Budget of {name}").wait_for()
    visit.settle()
    assert "ε = 4 in all" in visit.text and "left 4" in visit.text
    slider = visit.page.get_by_role("slider", name="One more release at ε =")
    slider.press("ArrowLeft")
    visit.page.get_by_text("By itself it promises ε = 0.8, and it adds 0.8 to what is spent").first.wait_for()
    visit.settle()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
