"""The owner's whole journey in a real browser: from an own file over the forecast to a saved release, paid for once."""

import io

import numpy as np
import pytest

from core.release_file import load

COUNT = 4_000


def csv(seed=0):
    values = np.random.default_rng(seed).normal(40, 12, COUNT).clip(0, 100)
    return ("age\n" + "\n".join(f"{value:.3f}" for value in values)).encode()


def describe(visit, name, content=None):
    visit.go("/data")
    visit.drop(f"{name}.csv", csv() if content is None else content)
    visit.page.get_by_text("age", exact=True).first.click()
    visit.settle()
    visit.fill("Smallest age", "0")
    visit.fill("Largest age", "100")
    visit.click("button", "Use this data")
    visit.page.get_by_text("How much privacy?").wait_for()
    visit.settle()


def total(visit, epsilon):
    field = visit.page.get_by_role("spinbutton", name="Its total budget, for ever (ε)")
    field.fill(epsilon)
    field.press("Tab")
    visit.settle()


def price(visit):
    return visit.page.get_by_test_id("stBottom").get_by_role("button").first


def wait_released(visit):
    visit.page.get_by_text("It is released").wait_for(timeout=60_000)
    visit.settle()


@pytest.mark.parametrize(("width", "theme"), [("desktop", "light"), ("phone", "dark")])
def test_from_an_own_file_to_a_saved_release(visitor, ledger, width, theme):
    visit = visitor(width, theme)
    name = f"journey-{width}"
    describe(visit, name)
    assert price(visit).is_disabled() and "the total budget of the data set" in visit.text
    total(visit, "3")
    assert price(visit).inner_text() == "Release for ε = 1.0, leaving 2.0"
    assert visit.overflow() <= 0 and visit.illegible() == []
    forecast = visit.page.locator(".fg-figure").inner_text()
    visit.page.get_by_role("slider", name="Privacy loss ε").press("ArrowLeft")
    visit.settle()
    assert price(visit).inner_text() == "Release for ε = 0.8, leaving 2.2"
    assert visit.page.locator(".fg-figure").inner_text() != forecast

    price(visit).click()
    visit.settle()
    dialog = visit.page.get_by_role("dialog")
    assert "at the price of ε = 0.8" in dialog.inner_text() and visit.illegible() == []
    visit.click("button", "Yes, release it")
    wait_released(visit)
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
    with visit.page.expect_download() as saved:
        visit.page.get_by_role("button", name="Save the file").click()
    release = load(io.BytesIO(saved.value.path().read_bytes()))
    assert release.private and float(release.privacy.epsilon) == 0.8 and name not in saved.value.suggested_filename
    assert abs(release.records - COUNT) < 1_000
    middle, edge = release.density([[40.0], [95.0]])
    assert middle > 5 * edge

    entries = ledger().status(next(one for one in ledger().names() if name in one)).releases
    assert [float(entry.cost.epsilon) for entry in entries] == [0.8]
    visit.page.get_by_role("link", name="Explore it, as anyone can who gets the file").click()
    visit.settle()
    assert "age" in visit.text and visit.errors == []


def test_clicks_that_come_twice_and_a_refresh_release_once(visitor, ledger):
    visit = visitor()
    describe(visit, "twice")
    total(visit, "5")
    price(visit).dblclick()
    visit.settle()
    visit.page.get_by_role("button", name="Yes, release it").dblclick(delay=30)
    wait_released(visit)
    name = next(one for one in ledger().names() if "twice" in one)
    for title in ("Ledger", "Release"):
        visit.click("link", title)
    wait_released(visit)
    visit.page.reload()
    visit.settle()
    assert len(ledger().status(name).releases) == 1


def test_not_yet_and_escape_spend_nothing(visitor, ledger):
    visit = visitor()
    describe(visit, "unsure")
    total(visit, "5")
    price(visit).click()
    visit.settle()
    visit.click("button", "Not yet")
    assert visit.page.get_by_role("dialog").count() == 0
    price(visit).click()
    visit.settle()
    visit.page.keyboard.press("Escape")
    visit.settle()
    assert visit.page.get_by_role("dialog").count() == 0
    assert price(visit).is_enabled() and not any("unsure" in one for one in ledger().names())


def test_the_second_release_is_paid_from_what_the_first_one_left(visitor, ledger):
    first = visitor()
    describe(first, "again")
    total(first, "1.5")
    price(first).click()
    first.settle()
    first.click("button", "Yes, release it")
    wait_released(first)
    second = visitor()
    describe(second, "again")
    assert price(second).is_disabled() and "a smaller ε, as 0.5 is left" in second.text
    for _ in range(3):
        second.page.get_by_role("slider", name="Privacy loss ε").press("ArrowLeft")
        second.settle()
    assert price(second).inner_text() == "Release for ε = 0.5, leaving 0.0"


def test_it_is_released_by_keyboard_alone(visitor):
    visit = visitor()
    describe(visit, "keys")
    total(visit, "2")
    price(visit).focus()
    visit.page.keyboard.press("Enter")
    visit.settle()
    yes = visit.page.get_by_role("button", name="Yes, release it")
    for _ in range(6):
        if yes.evaluate("button => button === document.activeElement"):
            break
        visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    wait_released(visit)


def test_another_visitor_sees_neither_the_choices_nor_the_release(visitor):
    owner, stranger = visitor(), visitor()
    describe(owner, "mine")
    stranger.go("/release")
    assert "There is nothing to release yet" in stranger.text and "mine" not in stranger.text
