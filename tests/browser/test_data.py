"""The Data page in a real browser: an owner's journey, on wide and narrow screens, in both themes, by keyboard."""

import pytest

from tests.browser.test_release import unfold

CSV = b"salary,city,member\n7341.25,Grubenmann,true\n8812.5,Bern,false\n"


def describe(visit):
    for column in ("city", "member"):
        unfold(visit, column, "left out")
    unfold(visit, "salary", "number")
    visit.fill("Smallest salary", "0")
    visit.fill("Largest salary", "20000")
    visit.fill("Unit of salary", "CHF")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("width", "theme"),
    [("desktop", "light"), ("desktop", "dark"), ("phone", "light"), ("phone", "dark"), (800, "light")],
)
def test_an_owner_describes_a_file(visitor, width, theme):
    visit = visitor(width, theme)
    visit.go("/data")
    button = visit.page.get_by_role("button", name="Use this data")
    assert button.is_disabled() and "Still missing: some records." in visit.page.inner_text("body")
    visit.drop("people.csv", CSV)
    assert "7341.25" not in visit.page.content() and "Grubenmann" not in visit.page.content()
    describe(visit)
    assert "0 to 20,000 CHF" in visit.text and button.is_enabled()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []


@pytest.mark.deep
def test_what_was_typed_is_still_there_after_a_visit_elsewhere(visitor):
    visit = visitor()
    visit.go("/data")
    visit.drop("people.csv", CSV)
    describe(visit)
    visit.click("link", "Home")
    visit.click("link", "Data")
    assert "0 to 20,000 CHF" in visit.text
    unfold(visit, "salary")
    assert visit.page.get_by_label("Largest salary", exact=True).input_value() == "20000"
    assert "0 to 20,000 CHF" in visit.text


@pytest.mark.deep
def test_another_visitor_sees_nothing_of_it(visitor):
    owner, stranger = visitor(), visitor()
    owner.go("/data")
    owner.drop("secret-name.csv", CSV)
    stranger.go("/data")
    assert "secret-name" not in stranger.page.content() and "salary" not in stranger.text


@pytest.mark.deep
def test_a_line_is_unfolded_and_filled_by_keyboard_alone(visitor):
    """Typing changes the line that the fields stand in, and the focus goes on to the next field all the same."""
    visit = visitor()
    visit.go("/data")
    visit.drop("people.csv", CSV)
    for column in ("city", "member"):
        unfold(visit, column, "left out")
    unfold(visit, "salary", "number")
    visit.page.get_by_label("Smallest salary", exact=True).focus()
    for typed in ("10", "900", None, "CHF"):
        if typed:
            visit.page.keyboard.type(typed)
        visit.page.keyboard.press("Tab")
        visit.settle()
    visit.page.get_by_text("10 to 900 CHF").first.wait_for()


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
    for column, kind in (("salary", "number"), ("city", "category"), ("member", "date")):
        unfold(visit, column, kind)
    fields = visit.page.locator("[class*=st-key-fg-entry-] :is(input, textarea)")
    names = [field.get_attribute("aria-label") for field in fields.all()]
    assert len(names) >= 10 and all(names) and len(set(names)) == len(names)


@pytest.mark.deep
def test_it_is_found_out_once_however_often_the_button_is_pressed_and_a_reload_keeps_it(visitor, ledger):
    visit = visitor()
    visit.go("/data")
    salaries = b"salary\n" + b"\n".join(b"%d" % (2000 + i % 4000) for i in range(300_000)) + b"\n"
    visit.drop("bought.csv", salaries)
    visit.choose("2")
    visit.page.get_by_role("button", name="Find out, for a tenth of ε = 1.0").dblclick(delay=30)
    visit.page.get_by_text("· found").first.wait_for()
    visit.settle()
    assert len(ledger().status("bought").releases) == 1 and visit.errors == []
    visit.go("/data")
    visit.drop("bought.csv", salaries)
    assert "What was decided about these columns before is here again." in visit.text
    assert visit.page.get_by_text("· found").count() == 1
    assert visit.page.get_by_role("button", name="Use this data").is_enabled()
