"""The journey of someone who was given a file: open it in a fresh app, ask it, take the answers along."""

import json
from pathlib import Path

import numpy as np
import pytest

from core import Categorical, Domain, Numeric, load
from core.analysis.centres import nearest_place
from core.formatting.numbers import rounded
from core.geometry import kernels
from tests.browser.conftest import PATIENCE, QUIET, Visit
from tests.depth import deep
from tests.releases_for_tests import small_release

RELEASES = Path(__file__).parents[2] / "sample_data" / "releases"
PICTURE = ".inside #picture"
FOLDED = "Columns and layers"
"""What a phone shows once this is clicked, so that the picture comes first."""


@pytest.fixture
def opened(visitor, nothing_kept):
    """Opens a bundled release in a fresh app by dropping its file."""

    def open_file(name, width="desktop", theme="light", path="/explore"):
        nothing_kept()
        visit = visitor(width, theme)
        visit.go(path)
        visit.drop(f"{name}.npz", (RELEASES / f"{name}.npz").read_bytes(), "application/octet-stream")
        visit.page.wait_for_selector(f"{DRAWN}, .doors")
        visit.settle()
        return visit

    return open_file


DRAWN = ".inside #answer:not(:empty)"  # the picture is there, and was asked where most is
PLOT = "place => place.explorer.chart.plot"


def place_on(visit, across, up):
    """Where shares of the width and the height of the picture are, in pixels of the canvas."""
    plot = visit.page.locator(".inside").evaluate(PLOT)
    return {"x": plot["left"] + across * plot["width"], "y": plot["top"] + (1 - up) * plot["height"]}


def click(visit, across, up):
    visit.page.locator(PICTURE).click(position=place_on(visit, across, up))
    visit.settle()


def answer(visit):
    return visit.page.locator("[role=status]").first.inner_text()


def asked(visit):
    return [float(field.input_value()) for field in visit.page.locator(".inside .asked input").all()]


def save(visit, label):
    with visit.page.expect_download() as started:
        visit.page.get_by_text(label, exact=True).first.click()
    download = started.value
    return download.suggested_filename, Path(download.path()).read_bytes()


@pytest.mark.thorough
def test_open_a_file_click_a_point_and_take_the_answers_along(opened):
    visit = opened("city")
    assert "city.npz · east and north of about" in visit.text and "ε = 1" in visit.text
    before = answer(visit)
    click(visit, 0.25, 0.75)
    assert answer(visit) != before
    east, north = asked(visit)
    assert abs(east - 5) < 0.4 and abs(north - 12) < 0.4
    visit.page.get_by_text("Take this along", exact=True).click()
    visit.settle()
    name, table = save(visit, "Answers (CSV)")
    assert name == "city-density.csv" and table.startswith(b"east,north,estimate,low,high,density")
    release = load(RELEASES / "city.npz")
    first = table.splitlines()[1].split(b",")
    estimate = release.answer(np.array([[float(first[0]), float(first[1])]])).estimate[0]
    assert np.isclose(float(first[2]), estimate)
    name, script = save(visit, "Python script")
    assert name == "city-density.py" and compile(script, name, "exec") and b"'east'" in script
    assert f"'east': [{east:g}".encode()[:-1] in script
    name, notebook = save(visit, "Notebook")
    assert name.endswith(".ipynb") and json.loads(notebook)["nbformat"] == 4
    name, picture = save(visit, "Picture that zooms (HTML)")
    assert name == "city-density.html" and b"plotly" in picture
    visit.page.keyboard.press("Escape")
    assert visit.barriers() == [] and visit.errors == []


@pytest.mark.thorough
def test_a_picture_that_is_laid_out_again_tells_nobody_that_it_was_asked(opened):
    visit = opened("salaries")
    assert visit.page.locator(".inside").evaluate(HEARD) == 0  # the server would send the whole view once more
    click(visit, 0.5, 0.5)
    assert visit.page.locator(".inside").evaluate("place => place.heard") == 1 and visit.errors == []


INERT = """
const own = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "inert");
window.seen = [];
Object.defineProperty(HTMLElement.prototype, "inert", { ...own, set(value) {
  const { decoder } = this.explorer.controls;
  seen.push([value, this.querySelector("#answer").textContent, Boolean(decoder.own)]);
  own.set.call(this, value);
} });
"""


@pytest.mark.thorough
def test_a_map_that_comes_along_is_painted_and_says_its_first_answer_before_the_file_is_opened(visitor, nothing_kept):
    """To open a file takes a browser up to a tenth of a second, and the map waited for it."""
    nothing_kept()
    visit = visitor()
    visit.page.add_init_script(INERT)
    visit.go("/explore?release=city")
    visit.page.wait_for_selector(DRAWN)
    visit.settle()
    first = answer(visit)
    assert visit.page.evaluate("seen") == [[True, first, False], [False, first, True]]
    click(visit, 0.25, 0.75)
    assert answer(visit) != first and visit.errors == []


HEARD = """place => {
  const { told } = place.explorer;
  place.heard = 0;
  place.explorer.told = (at) => { place.heard++; told(at); };
  place.explorer.update();
  return place.heard;
}"""


@pytest.mark.deep  # looking for all modes of a map takes most of a minute of a processor
def test_a_report_with_its_modes_is_saved(opened):
    visit = opened("city")
    name, report = save(visit, "Save the report")
    assert name == "city-report.html" and b"What is promised" in report and b"Modes" in report
    assert visit.errors == []


@pytest.mark.deep
def test_clicking_keeps_the_zoom_and_a_box_is_counted(opened):
    visit = opened("city")
    window = "place => place.explorer.chart.window.x"
    visit.page.get_by_role("button", name="Zoom in").click()
    zoomed = visit.page.locator(".inside").evaluate(window)
    assert zoomed[1] - zoomed[0] < 20
    click(visit, 0.4, 0.4)
    click(visit, 0.7, 0.6)
    assert visit.page.locator(".inside").evaluate(window) == zoomed
    visit.page.get_by_role("button", name="Box").click()
    begin, end = place_on(visit, 0.3, 0.3), place_on(visit, 0.6, 0.6)
    visit.page.locator(PICTURE).drag_to(visit.page.locator(PICTURE), source_position=begin, target_position=end)
    assert "in here" in answer(visit) and visit.errors == []


@pytest.mark.deep
def test_a_point_can_be_typed_instead(opened):
    visit = opened("city")
    visit.fill("east (km)", "3")
    visit.fill("north (km)", "2.5")
    release = load(RELEASES / "city.npz")
    release = release.smoothed(visit.page.locator(".inside").evaluate(BANDWIDTH) or release.sketch.kernel.bandwidth)
    about = rounded(*(float(part[0]) for part in said_at(release, [3.0, 2.5])))
    assert about in answer(visit) and asked(visit) == [3.0, 2.5]


BANDWIDTH = "place => place.explorer.controls.decoder.reading.bandwidth"


def said_at(release, place):
    """Answer and error at a place."""
    answers = release.answer(np.array([place]))
    return answers.estimate, answers.standard_error


@pytest.mark.deep
def test_a_curve_is_asked_by_clicking_too(opened):
    visit = opened("salaries")
    before = answer(visit)
    click(visit, 0.5, 0.5)
    assert answer(visit) != before and abs(asked(visit)[0] - 10_000) < 200


@pytest.mark.deep
def test_a_small_picture_opens_large_and_the_address_says_so(opened):
    visit = opened("colours")
    assert visit.barriers() == [] and visit.illegible() == [] and visit.overflow() <= 0
    visit.page.get_by_role("button", name="Open green and blue").press("Enter")
    visit.page.wait_for_selector(DRAWN)
    visit.settle()
    assert "show=Two+columns" in visit.page.url and "x=green" in visit.page.url and "y=blue" in visit.page.url
    assert "Density over green and blue" in visit.page.locator(PICTURE).get_attribute("aria-label")
    again = opened("colours", path="/explore?show=Two+columns&x=green&y=blue")
    assert "Density over green and blue" in again.page.locator(PICTURE).get_attribute("aria-label")


@pytest.mark.deep
def test_the_map_takes_the_shades_of_the_theme_and_says_what_is_hidden(opened):
    pictures = {}
    for theme in ("light", "dark"):
        visit = opened("city", theme=theme)
        pictures[theme] = visit.page.locator(PICTURE).evaluate("canvas => canvas.toDataURL()")
        assert "Hidden by the noise: may be empty" in visit.page.locator(".inside .legend").inner_text()
    assert pictures["light"] != pictures["dark"]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("width", "theme"), [("desktop", "light"), ("desktop", "dark"), ("phone", "light"), ("phone", "dark")]
)
def test_every_view_fits_and_is_legible(opened, width, theme):
    visit = opened("visits", width, theme)
    if width == "phone":
        visit.choose(FOLDED)
    for view in ("Density", "Modes", "Anomalies", "Sample"):
        visit.choose(view)
        assert visit.overflow() <= 0 and visit.illegible() == [], view
    assert visit.errors == []


@pytest.mark.deep
def test_what_a_phone_folds_is_there_again_once_it_is_turned(opened):
    visit = opened("visits", "phone")
    modes = visit.page.get_by_text("Modes", exact=True)
    for (across, up), state in (((360, 860), "hidden"), ((860, 360), "visible")) * 2:
        visit.page.set_viewport_size({"width": across, "height": up})
        modes.wait_for(state=state)
    visit.page.set_viewport_size({"width": 360, "height": 860})
    modes.wait_for(state="hidden")
    visit.choose(FOLDED)
    visit.choose("Modes")
    assert modes.first.is_visible() and visit.errors == []


@pytest.mark.deep
def test_every_figure_has_words(opened):
    visit = opened("colours")
    assert "one for each pair of these columns" in visit.page.locator(".doors").get_attribute("aria-label")
    visit.choose("Two columns")
    assert len(visit.page.locator(PICTURE).get_attribute("aria-label") or "") > 25
    for view in ("Film", "Three columns", "Sample"):
        visit.choose(view)
        visit.page.wait_for_selector(".stPlotlyChart .main-svg")
        for figure in visit.page.locator(".stPlotlyChart").all():
            assert len(figure.get_attribute("aria-label") or "") > 25, view


@pytest.mark.deep
def test_nothing_is_fetched_for_a_strangers_file(visitor, nothing_kept):
    """Names may look like pictures and markup; they stay text wherever they are shown."""
    foreign = "![x](http://stranger.example/a.png) <img src='http://stranger.example/b.png'> $x$"
    columns = (Numeric(foreign, 0, 1, foreign[:40]), Numeric("y", 0, 1), Categorical("z" + foreign, (foreign, "q")))
    release = small_release(domain=Domain(columns, scale="box"), kernel=kernels.Euclidean(0.4), records=5000)
    visit = visitor()
    requests = []
    visit.page.on("request", lambda request: requests.append(request.url))
    visit.go("/explore?show=Two+columns")
    visit.drop(f"{foreign.replace('/', '')}.npz", release.to_bytes(), "application/octet-stream")
    for view in ("Density", "Modes", "Anomalies", "Sample"):
        visit.choose(view)
    assert "stranger.example" in visit.text and visit.errors == []
    assert not [url for url in requests if "stranger" in url.split("?")[0]]


@pytest.mark.deep
def test_on_a_phone_a_finger_scrolls_the_page_and_a_tap_on_the_picture_asks_there(browser, url, nothing_kept):
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    context.add_init_script(QUIET)
    try:
        visit = Visit(context.new_page(), url)
        visit.page.set_default_timeout(PATIENCE)
        visit.go("/explore")
        visit.drop("visits.npz", (RELEASES / "visits.npz").read_bytes(), "application/octet-stream")
        visit.page.wait_for_selector(DRAWN)
        area = visit.page.locator(PICTURE)
        area.scroll_into_view_if_needed()
        visit.settle()
        box = area.bounding_box()
        look = "() => [document.querySelector('[data-testid=stMain]').scrollTop]"
        (before,) = visit.page.evaluate(look)
        finger = context.new_cdp_session(visit.page)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind, step in [("touchStart", 0), *(("touchMove", step) for step in range(1, 10)), ("touchEnd", None)]:
            points = [] if step is None else [{"x": x, "y": y - 15 * step}]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            visit.page.wait_for_timeout(16)
        visit.settle()
        (after,) = visit.page.evaluate(look)
        assert after > before + 50
        box, said = area.bounding_box(), asked(visit)
        visit.page.touchscreen.tap(box["x"] + 0.4 * box["width"], box["y"] + 0.4 * box["height"])
        visit.page.wait_for_timeout(500)
        assert asked(visit) != said
    finally:
        context.close()


@pytest.mark.deep
def test_distances_start_at_the_nearest_place_and_answer_wherever_they_are_asked(opened):
    visit = opened("city-distance")
    release = load(RELEASES / "city-distance.npz")
    nearest = nearest_place(release)
    assert np.allclose(asked(visit), [nearest["east"], nearest["north"]], atol=0.2)
    before = answer(visit)
    assert " km away on average; very likely between" in before
    assert "as the crow flies" in visit.text and "closeness" not in visit.text
    click(visit, 0.1, 0.1)
    east, north = asked(visit)
    assert abs(east - 2) < 0.4 and abs(north - 1.6) < 0.4
    mean = release.answer(np.array([[east, north]])).density[0]
    assert abs(float(answer(visit).split()[1]) - mean) < 0.1 and answer(visit) != before
    visit.page.get_by_text("Take this along", exact=True).click()
    visit.settle()
    name, table = save(visit, "Answers (CSV)")
    assert name == "city-distance-distance.csv" and table.startswith(b"east,north,mean,low,high")
    name, script = save(visit, "Python script")
    assert compile(script, name, "exec")
    visit.page.keyboard.press("Escape")
    visit.choose("Centres")
    visit.page.wait_for_selector(".st-key-explore-centres-picture .main-svg")
    assert "geometric median" in visit.text and "From there, everyone is" in visit.text
    name, report = save(visit, "Save the report")
    assert name == "city-distance-report.html" and b"Average distance" in report and b"Centres" in report
    assert visit.errors == []


@pytest.mark.deep
def test_points_in_average_distances_out(opened):
    visit = opened("city-distance")
    visit.choose("Your points")
    visit.drop("points.csv", b"id,east,north\n1,3,4\n2,10,9\n")
    visit.page.get_by_text("Take this along", exact=True).click()
    visit.settle()
    name, table = save(visit, "Answers (CSV)")
    rows = table.decode().splitlines()
    assert name == "city-distance-points.csv" and rows[0] == "east,north,id,mean,low,high" and len(rows) == 3
    mean = load(RELEASES / "city-distance.npz").answer(np.array([[3.0, 4.0]])).density[0]
    assert np.isclose(float(rows[1].split(",")[3]), mean)


@pytest.mark.deep
def test_a_file_with_groups_is_explored_together_or_one_by_one(opened):
    visit = opened("heart-groups", path="/explore?show=One+column")
    together = answer(visit)
    visit.select("Who", "ill")
    assert answer(visit) != together and visit.errors == []
    visit.choose("Groups")
    visit.settle()
    visit.page.wait_for_selector("text=Ask a place")
    assert "heart-groups.npz" in visit.text


@pytest.mark.deep
@pytest.mark.parametrize(("width", "theme"), [deep("desktop", "dark"), ("phone", "light")])
def test_every_view_of_distances_fits_and_is_legible(opened, width, theme):
    visit = opened("city-distance", width, theme)
    for view in ("Distance", "Centres", "Your points"):
        visit.choose(view)
        assert visit.overflow() <= 0 and visit.illegible() == [], view
        for figure in visit.page.locator(".stPlotlyChart").all():
            assert len(figure.get_attribute("aria-label") or "") > 25, view
    assert visit.errors == []
