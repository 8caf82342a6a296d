"""A class of five minutes: the lessons in a browser, by mouse, by keyboard, by link, on a projector and on a phone."""

import pytest

from core.ui.course import LESSONS


@pytest.fixture
def lesson(visitor):
    """Opens a lesson by its link; ``lesson("cells", rows=2)`` is a `Visit`."""

    def open_it(name, width="desktop", theme="light", **settings):
        visit = visitor(width, theme)
        visit.go("/learn?" + "&".join(f"{key}={value}" for key, value in {"lesson": name, **settings}.items()))
        return visit

    return open_it


def says(visit, words):
    """Wait until the lesson's finding holds the words."""
    visit.page.locator(".fg-finding", has_text=words).first.wait_for()


@pytest.mark.deep
def test_playing_counts_row_by_row_and_clicking_asks_and_adds(lesson):
    visit = lesson("cells", rows=2)
    page = visit.page
    assert page.locator(".fg-met").count() == 2
    visit.click("button", "Play")
    page.get_by_role("rowheader", name="Row 4").and_(page.locator(".fg-now th")).wait_for()
    says(visit, "is the average of the framed counts")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert page.locator(".fg-met").count() == 4 and "rows=4" in page.url
    area = page.locator(".st-key-learn-plane .nsewdrag")
    box = area.bounding_box()
    for choice, share, param in (("asks there", 0.7, "ask="), ("adds a person", 0.6, "people=")):
        visit.choose(choice)
        where = {"x": share * box["width"], "y": (1 - share) * box["height"]}
        area.hover(position=where)
        page.wait_for_timeout(150)
        area.click(position=where)
        page.wait_for_function(f"location.search.includes('{param}')")
        visit.settle()
    counts = [int(cell) for cell in page.locator("tr.fg-now td.fg-one").all_inner_texts()]
    assert sum(counts) == 13, "twelve people and the one who was added"
    assert visit.errors == []


@pytest.mark.deep
def test_a_tap_on_the_plane_of_lesson_one_adds_a_person_on_a_phone(browser, url):
    """The lesson says "click", and a finger on the picture did nothing but scroll."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        page.goto(f"{url}/learn?lesson=cells")
        area = page.locator(".st-key-learn-plane .nsewdrag")
        area.scroll_into_view_if_needed()
        box = area.bounding_box()
        page.touchscreen.tap(box["x"] + 0.7 * box["width"], box["y"] + 0.3 * box["height"])
        page.wait_for_function("location.search.includes('people=')")
    finally:
        context.close()


@pytest.mark.deep
def test_the_whole_course_by_keyboard_on_a_projector(lesson):
    """From lesson to lesson with Enter, and an experiment moved with the arrow keys."""
    visit = lesson("epsilon", width=1920, epsilon="10")
    page = visit.page
    says(visit, "in 50 of 50 possible releases")
    page.get_by_role("slider").first.focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function("location.search.includes('epsilon=0.3')")
    page.locator(".fg-finding", has_not_text="in 50 of 50").first.wait_for()
    for following in LESSONS[2:]:
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 9999)")
        page.get_by_role("button", name=f"Next: {following.title}").focus()
        page.keyboard.press("Enter")
        arrived(visit, following)
        assert f"lesson={following.name}" in page.url
        assert page.locator(".fg-lesson").bounding_box()["y"] > 0, "it begins at its heading"
        assert page.get_by_role("button", name=f"Next: {following.title}").count() == 0
    page.get_by_role("button", name="Try it on sample data").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Describe your data").wait_for()
    assert visit.errors == []


@pytest.mark.deep
def test_an_experiment_is_in_view_on_a_small_projector(lesson):
    visit = lesson("rows")
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 720})
    says(visit, "Best with 85 rows")
    figure = page.locator("[data-testid=stMain] .stPlotlyChart").bounding_box()
    assert figure["y"] < 300 and page.locator(".st-key-lesson").bounding_box()["y"] >= 0
    page.locator(".st-key-lesson").get_by_text("delta", exact=True).click()
    page.get_by_role("heading", level=1, name="What does a one-in-a-million risk buy?").wait_for()
    assert visit.errors == []


@pytest.mark.deep
def test_every_lesson_fits_a_phone(lesson):
    visit = lesson("cells", "phone", "dark", rows=3)
    within = "all => all.every(one => one.scrollWidth <= one.clientWidth)"
    assert visit.page.get_by_role("rowheader").evaluate_all(within), "Row 1 stands beside its counts, not below them"
    for each in LESSONS:
        if each is not LESSONS[0]:
            visit.page.locator(".st-key-lesson").get_by_text(each.name, exact=True).click()
        arrived(visit, each)
    assert visit.errors == []


@pytest.mark.deep
def test_texts_of_a_lesson_stand_below_their_headings_on_a_phone(lesson):
    """They stood beside them in two narrow columns, by a class that lines of columns have, too."""
    visit = lesson("trust", "phone")
    texts = visit.page.locator(".fg-meaning p")
    texts.first.wait_for()
    for heading, text in zip(visit.page.locator(".fg-meaning h2").all(), texts.all(), strict=True):
        above, below = heading.bounding_box(), text.bounding_box()
        assert above["y"] + above["height"] <= below["y"] and below["width"] > 280


def arrived(visit, lesson):
    """Wait for a lesson; everything on it fits and is legible, and every figure has words."""
    visit.page.get_by_role("heading", level=1, name=lesson.title).wait_for()
    visit.page.locator(".stPlotlyChart .main-svg").first.wait_for()
    visit.settle()
    assert visit.overflow() <= 0 and visit.illegible() == [], lesson.name
    for figure in visit.page.locator("[data-testid=stMain] .stPlotlyChart").all():
        assert len(figure.get_attribute("aria-label") or "") > 30, lesson.name
