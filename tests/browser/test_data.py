"""The Data page in a real browser: an owner's journey, on wide and narrow screens, in both themes, by keyboard."""

import pytest

from tests.depth import deep

CSV = b"salary,city,member\n7341.25,Grubenmann,true\n8812.5,Bern,false\n"


def describe(visit):
    visit.page.get_by_text("salary", exact=True).first.click()
    visit.settle()
    visit.fill("Smallest salary", "0")
    visit.fill("Largest salary", "20000")
    visit.fill("Unit of salary", "CHF")


@pytest.mark.parametrize(
    ("width", "theme"),
    [deep("desktop", "light"), deep("desktop", "dark"), deep("phone", "light"), ("phone", "dark"), deep(800, "light")],
)
def test_an_owner_describes_a_file(visitor, width, theme):
    visit = visitor(width, theme)
    visit.go("/data")
    button = visit.page.get_by_role("button", name="Use this data")
    assert button.is_disabled() and "Still missing: some records." in visit.page.inner_text("body")
    visit.drop("people.csv", CSV)
    assert "7341.25" not in visit.page.content() and "Grubenmann" not in visit.page.content()
    describe(visit)
    assert "between 0 and 20,000 CHF" in visit.text and button.is_enabled()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []


@pytest.mark.deep
def test_what_was_typed_is_still_there_after_a_visit_elsewhere(visitor):
    visit = visitor()
    visit.go("/data")
    visit.drop("people.csv", CSV)
    describe(visit)
    visit.click("link", "Home")
    visit.click("link", "Data")
    assert visit.page.get_by_label("Largest salary", exact=True).input_value() == "20000"
    assert "between 0 and 20,000 CHF" in visit.text


@pytest.mark.deep
def test_another_visitor_sees_nothing_of_it(visitor):
    owner, stranger = visitor(), visitor()
    owner.go("/data")
    owner.drop("secret-name.csv", CSV)
    stranger.go("/data")
    assert "secret-name" not in stranger.page.content() and "salary" not in stranger.text


@pytest.mark.deep
def test_rows_are_filled_by_keyboard_alone(visitor):
    visit = visitor()
    visit.go("/data")
    visit.drop("people.csv", CSV)
    box = visit.page.get_by_role("checkbox", name="salary")
    box.focus()
    visit.page.keyboard.press("Space")
    visit.page.get_by_label("Unit of salary", exact=True).wait_for()
    visit.settle()
    for typed in (None, "10", "900", "CHF"):
        visit.page.keyboard.press("Tab")
        if typed:
            visit.page.keyboard.type(typed)
    visit.page.keyboard.press("Tab")
    visit.page.get_by_text("between 10 and 900 CHF").first.wait_for()


@pytest.mark.deep
def test_a_sample_is_ready_at_once(visitor):
    visit = visitor()
    visit.go("/")
    visit.click("button", "Pick a sample")
    visit.page.locator("[data-testid=stRadio] [role=radiogroup] label").first.click()
    visit.settle()
    assert visit.page.get_by_role("button", name="Use this data").is_enabled()


@pytest.mark.deep
def test_every_field_has_a_name_of_its_own(visitor):
    visit = visitor()
    visit.go("/data")
    visit.drop("people.csv", CSV)
    for column in ("salary", "city", "member"):
        visit.page.get_by_text(column, exact=True).first.click()
        visit.settle()
    fields = visit.page.locator("[class*=st-key-fg-rows-] :is(input, textarea)")
    names = [field.get_attribute("aria-label") for field in fields.all()]
    assert len(names) >= 8 and all(names) and len(set(names)) == len(names)


@pytest.mark.deep
def test_bounds_are_bought_once_however_often_the_button_is_pressed(visitor, ledger):
    visit = visitor()
    visit.go("/data")
    salaries = b"salary\n" + b"\n".join(b"%d" % (2000 + i % 4000) for i in range(300_000)) + b"\n"
    visit.drop("bought.csv", salaries)
    visit.page.get_by_text("salary", exact=True).first.click()
    visit.settle()
    visit.page.get_by_text("I do not know the bounds").click()
    visit.settle()
    visit.fill("Its total budget, for ever (ε)", "2")
    visit.select("Surely nobody is further from zero than", "a million")
    buy = visit.page.get_by_role("button", name="Buy the bounds of salary for ε = 0.1")
    buy.dblclick(delay=30)
    visit.settle()
    name = next(one for one in ledger().names() if "bought" in one)
    assert len(ledger().status(name).releases) == 1
    assert float(visit.page.get_by_label("Largest salary", exact=True).input_value()) > 5_500
    assert visit.errors == []
