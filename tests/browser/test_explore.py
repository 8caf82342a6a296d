"""The journey of someone who was given a file: open it in a fresh app, ask it, take the answers along."""

import json
from pathlib import Path

import numpy as np
import pytest

from core import Categorical, Domain, Numeric, load
from core.analysis.centres import nearest_place
from core.figures.answer_sentences import answer_sentence
from core.geometry import kernels
from tests.browser.conftest import PATIENCE, QUIET, Visit
from tests.depth import deep
from tests.releases_for_tests import small_release

RELEASES = Path(__file__).parents[2] / "sample_data" / "releases"
PICTURE = ".st-key-explore-picture"
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
        visit.page.wait_for_selector(".stPlotlyChart .main-svg, .doors")
        visit.settle()
        return visit

    return open_file


def click(visit, across, up, chart=PICTURE, plot=0):
    """Click a plot at shares of its width and height."""
    area = visit.page.locator(f"{chart} .nsewdrag").nth(plot)
    box = area.bounding_box()
    where = {"x": across * box["width"], "y": (1 - up) * box["height"]}
    area.hover(position=where)
    visit.page.wait_for_timeout(150)
    area.click(position=where)
    visit.settle()


def answer(visit):
    return visit.page.locator("[role=status]").first.inner_text()


def asked(visit):
    return [float(field.input_value()) for field in visit.page.locator("[data-testid=stNumberInput] input").all()]


def save(visit, label):
    with visit.page.expect_download() as started:
        visit.page.get_by_text(label, exact=True).first.click()
    download = started.value
    return download.suggested_filename, Path(download.path()).read_bytes()


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
    assert f"'east': [{east:g}]".encode() in script
    name, notebook = save(visit, "Notebook")
    assert name.endswith(".ipynb") and json.loads(notebook)["nbformat"] == 4
    name, picture = save(visit, "Picture that zooms (HTML)")
    assert name == "city-density.html" and b"plotly" in picture
    visit.page.keyboard.press("Escape")
    assert visit.barriers() == [] and visit.errors == []


@pytest.mark.deep  # looking for all modes of a map takes most of a minute of a processor
def test_a_report_with_its_modes_is_saved(opened):
    visit = opened("city")
    name, report = save(visit, "Save the report")
    assert name == "city-report.html" and b"What is promised" in report and b"Modes" in report
    assert visit.errors == []


@pytest.mark.deep
def test_clicking_moves_the_ring_and_keeps_the_zoom(opened):
    visit = opened("city")

    def ticks():
        return visit.page.locator(f"{PICTURE} .xtick").all_text_contents()

    whole = ticks()
    zoom_in = visit.page.locator(f"{PICTURE} [data-title='Zoom in']")
    visit.page.locator(PICTURE).first.hover()
    zoom_in.click()
    visit.settle()
    zoomed = ticks()
    assert zoomed != whole
    click(visit, 0.4, 0.4)
    click(visit, 0.7, 0.6)
    rings = "el => [...el.querySelectorAll('.scatterlayer .point')].filter(p => getComputedStyle(p).opacity > 0).length"
    assert ticks() == zoomed
    plot = visit.page.locator(PICTURE).first
    assert plot.evaluate(rings) == 1
    ring = plot.locator(".scatterlayer .trace").last.locator(".point").bounding_box()
    area = plot.locator(".nsewdrag").bounding_box()
    for at, size, share in (("x", "width", 0.7), ("y", "height", 0.4)):  # within a target of where was clicked
        assert abs(ring[at] + ring[size] / 2 - area[at] - share * area[size]) < area[size] / 30
    assert plot.locator(".scatterlayer .point").count() < 50  # and no element for each target


@pytest.mark.deep
def test_a_point_can_be_typed_instead(opened):
    visit = opened("city")
    visit.fill("east (km)", "3")
    visit.fill("north (km)", "2.5")
    answers = load(RELEASES / "city.npz").answer(np.array([[3.0, 2.5]]))
    parts = (answers.estimate, answers.low, answers.high, answers.standard_error)
    sentence = answer_sentence(*(float(part[0]) for part in parts), "bicycles").replace("**", "")
    visit.page.locator("[role=status]", has_text=sentence).wait_for()
    assert asked(visit) == [3.0, 2.5]


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
    visit.page.wait_for_selector(PICTURE)
    visit.settle()
    assert "show=Two+columns" in visit.page.url and "x=green" in visit.page.url and "y=blue" in visit.page.url
    assert visit.page.locator(PICTURE).count() == 1
    again = opened("colours", path="/explore?show=Two+columns&x=green&y=blue")
    assert again.page.locator(f"{PICTURE} .xtitle").first.text_content() == "green"
    assert again.page.locator(f"{PICTURE} .ytitle").first.text_content() == "blue"


@pytest.mark.deep
def test_what_the_noise_hides_is_hatched_in_both_themes(opened):
    for theme in ("light", "dark"):
        visit = opened("city", theme=theme)
        hatched = visit.page.locator(f"{PICTURE} .scatterlayer .fills path, {PICTURE} .scatterlayer .js-fill")
        fills = [path.evaluate("p => getComputedStyle(p).fill") for path in hatched.all()]
        assert any(fill.startswith("url(") for fill in fills)
        legend = visit.page.locator(f"{PICTURE} .legendtext").all_text_contents()
        assert "Hidden by the noise: may be empty" in legend


@pytest.mark.deep
def test_the_map_takes_the_shades_of_the_theme(opened):
    pictures = {}
    for theme in ("light", "dark"):
        visit = opened("city", theme=theme)
        pictures[theme] = visit.page.locator(f"{PICTURE} .heatmaplayer image").first.get_attribute("href")
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
    for view in ("Two columns", "Modes", "Film", "Three columns", "Sample"):
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
        area = visit.page.locator(f"{PICTURE} .nsewdrag").first
        area.scroll_into_view_if_needed()
        visit.settle()
        box = area.bounding_box()
        look = (
            "() => [document.querySelector('[data-testid=stMain]').scrollTop,"
            f" [...document.querySelectorAll('{PICTURE} .ytick')].map(tick => tick.textContent).join()]"
        )
        before, ticks = visit.page.evaluate(look)
        finger = context.new_cdp_session(visit.page)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind, step in [("touchStart", 0), *(("touchMove", step) for step in range(1, 10)), ("touchEnd", None)]:
            points = [] if step is None else [{"x": x, "y": y - 15 * step}]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            visit.page.wait_for_timeout(16)
        visit.settle()
        after, same = visit.page.evaluate(look)
        assert after > before + 50 and same == ticks
        box = area.bounding_box()
        answer = "[...document.querySelectorAll('.st-key-fg-side-answer input')].map(one => one.value).join()"
        asked = visit.page.evaluate(answer)
        visit.page.touchscreen.tap(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
        visit.page.wait_for_function(f"before => {answer} !== before", arg=asked, timeout=PATIENCE / 4)
    finally:
        context.close()


@pytest.mark.deep
def test_distances_start_at_the_nearest_place_and_answer_wherever_they_are_asked(opened):
    visit = opened("city-distance")
    release = load(RELEASES / "city-distance.npz")
    nearest = nearest_place(release)
    assert np.allclose(asked(visit), [nearest["east"], nearest["north"]], atol=0.01)
    before = answer(visit)
    assert before.startswith("Everyone is ") and " km away on average; very likely between" in before
    assert "as the crow flies" in visit.text and "closeness" not in visit.text
    click(visit, 0.1, 0.1)
    east, north = asked(visit)
    assert abs(east - 2) < 0.4 and abs(north - 1.6) < 0.4
    mean = release.answer(np.array([[east, north]])).density[0]
    assert abs(float(answer(visit).split()[2]) - mean) < 0.1 and answer(visit) != before
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
    assert name == "city-distance-report.html" and b"Average distance over" in report and b"Centres" in report
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
