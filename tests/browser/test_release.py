"""The owner's whole journey in a real browser: from an own file over the forecast to a saved release, paid for once."""

import io

import numpy as np
import pytest

from core.analysis.classification import classify
from core.releases.release import load
from tests.depth import deep

COUNT = 4_000


def csv(seed=0):
    values = np.random.default_rng(seed).normal(40, 12, COUNT).clip(0, 100)
    return ("age\n" + "\n".join(f"{value:.3f}" for value in values)).encode()


def unfold(visit, column, kind=None):
    """Unfold the line of a column on the page Data, and say what it is read as."""
    visit.page.locator("[class*=st-key-fg-row-] summary").filter(has_text=column).first.click()
    visit.settle()
    if kind is not None:
        visit.select(f"Read {column} as", kind)


def describe(visit, name, content=None):
    visit.go("/data")
    visit.drop(f"{name}.csv", csv() if content is None else content)
    unfold(visit, "age", "number")
    visit.fill("Smallest age", "0")
    visit.fill("Largest age", "100")
    assert "0 to 100" in visit.text and visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
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


def without_risk(visit):
    """Switch off the risk that own files are released with, so that what is left is a plain difference."""
    visit.page.get_by_text("Less noise, for a one-in-a-million risk").first.click()
    visit.settle()


def wait_released(visit):
    visit.page.get_by_text("It is released").wait_for()
    visit.settle()


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "theme"), [deep("desktop", "light"), ("phone", "dark")])
def test_from_an_own_file_to_a_saved_release(visitor, ledger, width, theme):
    visit = visitor(width, theme)
    name = f"journey-{width}"
    describe(visit, name)
    assert price(visit).is_disabled() and "the total budget of the data set" in visit.text
    total(visit, "3")
    assert price(visit).inner_text() == "Release for ε = 1.0 with a one-in-a-million risk, leaving 2.0"
    assert visit.overflow() <= 0 and visit.illegible() == []
    forecast = visit.page.locator(".fg-figure").inner_text()
    visit.page.get_by_role("slider", name="Privacy loss ε").press("ArrowLeft")
    visit.settle()
    assert price(visit).inner_text() == "Release for ε = 0.8 with a one-in-a-million risk, leaving 2.19"
    assert visit.page.locator(".fg-figure").inner_text() != forecast

    price(visit).dblclick()
    visit.settle()
    dialog = visit.page.get_by_role("dialog")
    assert "at the price of ε = 0.8" in dialog.inner_text() and visit.illegible() == []
    visit.page.get_by_role("button", name="Yes, release it").dblclick(delay=30)
    wait_released(visit)
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.barriers() == [] and visit.errors == []
    with visit.page.expect_download() as saved:
        visit.page.get_by_role("button", name="Save the file").click()
    release = load(io.BytesIO(saved.value.path().read_bytes()))
    assert release.private and float(release.privacy.epsilon) == 0.8 and name not in saved.value.suggested_filename
    assert abs(release.records - COUNT) < 1_000
    middle, edge = release.density([[40.0], [95.0]])
    assert middle > 5 * edge

    visit.page.get_by_role("button", name="Explore it").click()
    visit.settle()
    assert "age" in visit.text and visit.errors == []

    for title in ("Ledger", "Release"):
        visit.click("link", title)
    wait_released(visit)
    visit.page.reload()
    visit.settle()
    # Once, however often it was clicked, looked for again and loaded; whether records fit and how many came first.
    entries = ledger().status(next(one for one in ledger().names() if name in one)).releases
    assert [float(entry.cost.epsilon) for entry in entries] == [0.008, 0.01584, 0.77616]


@pytest.mark.deep
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
    noted = [entry.note["mechanism"] for entry in ledger().status(name).releases]
    assert len(noted) == 3 and noted[:2] == ["fitting", "count"]


@pytest.mark.deep
def test_not_yet_and_escape_spend_nothing(visitor, ledger):
    visit = visitor()
    describe(visit, "unsure")
    total(visit, "5")
    price(visit).click()
    visit.settle()
    visit.click("button", "Not yet")
    visit.page.get_by_role("dialog").wait_for(state="hidden")
    price(visit).click()
    visit.settle()
    visit.page.keyboard.press("Escape")
    visit.settle()
    visit.page.get_by_role("dialog").wait_for(state="hidden")
    assert price(visit).is_enabled() and not any("unsure" in one for one in ledger().names())


@pytest.mark.deep
def test_the_second_release_is_paid_from_what_the_first_one_left(visitor, ledger):
    first = visitor()
    describe(first, "again")
    without_risk(first)
    total(first, "1.5")
    price(first).click()
    first.settle()
    first.click("button", "Yes, release it")
    wait_released(first)
    second = visitor()
    describe(second, "again")
    without_risk(second)
    assert price(second).is_disabled() and "a smaller ε, as 0.5 is left" in second.text
    for _ in range(3):
        second.page.get_by_role("slider", name="Privacy loss ε").press("ArrowLeft")
        second.settle()
    assert price(second).inner_text() == "Release for ε = 0.5, leaving nothing"


@pytest.mark.deep
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


@pytest.mark.deep
def test_another_visitor_sees_neither_the_choices_nor_the_release(visitor):
    owner, stranger = visitor(), visitor()
    describe(owner, "mine")
    stranger.go("/release")
    assert "There is nothing to release yet" in stranger.text and "mine" not in stranger.text


GROUPS = ("age,kind\n" + "\n".join(f"{30 + i % 7},young\n{70 + i % 7},old" for i in range(1_500))).encode()


def ask(visit, question):
    visit.page.get_by_text(question, exact=True).first.click()
    visit.settle()


def confirm(visit):
    price(visit).click()
    visit.settle()
    visit.click("button", "Yes, release it")
    wait_released(visit)


def saved(visit):
    with visit.page.expect_download() as file:
        visit.page.get_by_role("button", name="Save the file").click()
    return load(io.BytesIO(file.value.path().read_bytes()))


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), [("desktop", "dark"), deep("phone", "light")])
def test_how_far_everyone_is_from_the_question_to_the_file(visitor, ledger, width, theme):
    visit = visitor(width, theme)
    name = f"distances-{width}"
    describe(visit, name)
    total(visit, "3")
    ask(visit, "How far is everyone from here?")
    assert "the median place" in visit.text and "The average distance of everyone" in visit.text
    visit.choose("Squared")
    assert "the mean place" in visit.text and "The average distance from a typical place will be" in visit.text
    visit.choose("City blocks")
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
    confirm(visit)
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
    release = saved(visit)
    exact = np.abs(np.loadtxt(io.BytesIO(csv()), skiprows=1) - 40).mean()
    assert release.sketch.answers == "distance" and abs(release.density([[40.0]])[0] - exact) < 0.5
    paid = ledger().status(next(one for one in ledger().names() if name in one)).releases
    # How many fit what is declared, and how many there are, was counted first.
    assert [float(entry.cost.epsilon) for entry in paid] == [0.01, 0.0198, 0.9702]


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "theme"), [deep("desktop", "light"), deep("phone", "dark")])
def test_which_group_someone_is_like_from_the_question_to_the_file(visitor, width, theme):
    visit = visitor(width, theme)
    visit.go("/data")
    visit.drop(f"groups-{width}.csv", GROUPS)
    for column, kind in (("age", "number"), ("kind", "category")):
        unfold(visit, column, kind)
    visit.fill("Smallest age", "0")
    visit.fill("Largest age", "100")
    visit.fill("Categories of kind", "young, old")
    visit.click("button", "Use this data")
    visit.page.get_by_text("How much privacy?").wait_for()
    visit.settle()
    total(visit, "3")
    ask(visit, "Which group is this like?")
    assert "Which column says the group?" in visit.text and price(visit).is_enabled()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
    confirm(visit)
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
    release = saved(visit)
    assert classify(release, [[33.0], [73.0]]).labels.tolist() == ["young", "old"]
    visit.click("button", "Explore it")
    visit.page.get_by_role("heading", name="Which group is this like?").wait_for()
    visit.settle()
    assert visit.errors == []


@pytest.mark.deep
def test_questions_are_chosen_by_arrow_keys_and_stay_chosen(visitor):
    visit = visitor()
    describe(visit, "arrows")
    visit.page.get_by_role("radio", name="How dense is it here?").focus()
    visit.page.keyboard.press("ArrowDown")
    visit.settle()
    chosen = visit.page.get_by_role("radio", name="How far is everyone from here?")
    assert chosen.is_checked() and "How is distance measured?" in visit.text
    for title in ("Ledger", "Release"):
        visit.click("link", title)
    assert chosen.is_checked()


@pytest.mark.deep
def test_another_way_to_do_it_is_a_click_away(visitor):
    visit = visitor()
    describe(visit, "ways")
    assert "Made with: A grid of counts (histogram)." in visit.text
    visit.page.get_by_text("Fine-tune").click()
    visit.page.get_by_text("Other ways to do it").click()
    visit.settle()
    visit.page.get_by_text("Random waves (random features)", exact=True).click()
    visit.settle()
    assert "Made with: Random waves (random features)." in visit.text and visit.errors == []
