"""Home in a real browser."""

import pytest

from tests.depth import deep

WATCH = """() => {
  window.drawn = [];
  (function look() {
    const headings = [...document.querySelectorAll("[data-testid=stMain] :is(h1, h2, h3)")];
    drawn.push(headings.filter(one => one.checkVisibility()).map(one => one.innerText));
    requestAnimationFrame(look);
  })();
}"""
"""Writes down which headings every frame shows."""


@pytest.mark.parametrize(
    ("width", "theme"),
    [deep("desktop", "light"), deep("desktop", "dark"), deep("phone", "light"), ("phone", "dark"), deep(3840, "light")],
)
def test_home_fits_and_shows_its_doors(visitor, width, theme):
    visit = visitor(width, theme)
    visit.go()
    assert "See the shape, not the people." in visit.text
    for door in ("Release a data set", "Explore a released file", "Try it on sample data", "Learn by touching"):
        assert visit.page.get_by_role("heading", name=door).is_visible()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.barriers() == [] and visit.errors == []


@pytest.mark.deep
def test_a_phone_has_its_links_in_a_line_and_the_menu_in_reach(visitor):
    visit = visitor("phone")
    visit.go()
    menu = visit.page.get_by_test_id("stMainMenuButton").bounding_box()
    assert menu["x"] + menu["width"] <= 360
    visit.click("link", "Data")
    assert visit.page.url.endswith("/data") and "Describe your data" in visit.text
    visit.click("link", "Home")
    assert "See the shape" in visit.text


@pytest.mark.deep
def test_a_place_to_drop_a_file_says_what_it_is(visitor):
    """It has a name, and so may not say that it has no meaning, as Streamlit's does."""
    visit = visitor()
    visit.go()
    drop = visit.page.get_by_test_id("stFileUploaderDropzone")
    assert drop.get_attribute("role") == "group" and drop.get_attribute("aria-label") == "A released file (.npz)"


@pytest.mark.deep
def test_every_picture_has_words(visitor):
    visit = visitor()
    visit.go()
    pictures = visit.page.locator("[data-testid=stMain] svg[role=img], [data-testid=stMain] img")
    assert pictures.count() >= 4
    for picture in pictures.all():
        assert len(picture.get_attribute("aria-label") or picture.get_attribute("alt") or "") > 15


@pytest.mark.deep
def test_the_theme_follows_the_visitor_in_the_drawings_too(visitor):
    colours = {}
    for theme in ("light", "dark"):
        visit = visitor(theme=theme)
        visit.go()
        colours[theme] = visit.page.evaluate(
            "() => ['.fg-lead', '.fg-private', '.fg-public'].map("
            "css => getComputedStyle(document.querySelector(css)).color)"
        )
    assert colours["light"] == ["rgb(85, 99, 106)", "rgb(134, 81, 0)", "rgb(11, 102, 96)"]
    assert colours["dark"] == ["rgb(159, 176, 182)", "rgb(240, 182, 94)", "rgb(94, 205, 194)"]


@pytest.mark.deep
def test_the_keyboard_alone_reaches_the_first_door_and_sees_where_it_is(visitor):
    visit = visitor()
    visit.go()
    for _ in range(30):
        visit.page.keyboard.press("Tab")
        focused = visit.page.evaluate("[document.activeElement.tagName, document.activeElement.innerText]")
        if focused == ["BUTTON", "Start with your data"]:
            break
    else:
        pytest.fail("the first door was not reached by Tab")
    outline, shadow = visit.page.evaluate(
        "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.boxShadow] }"
    )
    assert outline == "solid" or shadow != "none"
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/data")


@pytest.mark.deep
def test_a_file_that_is_no_release_is_refused_in_one_sentence(visitor):
    visit = visitor()
    visit.go()
    visit.drop("wrong.npz", b"PK\x05\x06" + b"\x00" * 18, "application/octet-stream")
    alert = visit.page.get_by_test_id("stAlert")
    assert alert.count() == 1 and alert.inner_text().count(".") <= 2
    assert visit.page.url.rstrip("/") == visit.address


@pytest.mark.deep
def test_no_frame_shows_parts_of_two_pages(visitor):
    """Streamlit empties the page before it draws another, so that no rule of the style sheet is needed."""
    visit = visitor()
    visit.go()
    visit.page.evaluate(WATCH)
    for title in ("Data", "Ledger", "Explore", "Home", "Learn", "Home"):
        before = visit.page.evaluate("drawn.splice(0, drawn.length - 1) && drawn[0]")
        visit.click("link", title)
        visit.page.wait_for_function("before => drawn.at(-1).some(one => !before.includes(one))", arg=before)
        frames = visit.page.evaluate("drawn")
        left, come = set(before) - set(frames[-1]), set(frames[-1]) - set(before)
        assert left, "each of the pages has headings of its own"
        assert not [one for one in frames if left & set(one) and come & set(one)], title
