"""The shared page in Chromium, opened from disk with the network off: its answers are the release's own."""

import re

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from scipy.special import ndtri

from core import Budget, Domain, load, release
from core.domain import Categorical, Cyclic, Numeric
from core.figures.share.shared_page import share_html
from core.geometry import kernels
from core.models.linear_models import LinearModel
from core.models.training_task import Task
from core.releases.comparison import Comparison
from core.sketches.grid_axes import Axis
from core.sketches.histogram import Histogram
from core.sketches.splines import POINTS_A_CELL, coefficients, fitting_points
from core.sketches.tables.tables import Tables
from tests.known_releases.make import FOLDER as KNOWN
from tests.releases_for_tests import small_release

HOSTILE = '</script><b>"'
DECODER = "frostglass.explorer.controls.decoder"
ASK = f"""places => places.map(place => {{
  const at = Object.fromEntries(place.map((value, axis) => [axis, value]));
  const found = {DECODER}.ask(at, at, 0, 1);
  return [found.estimate, found.low, found.high];
}})"""


LAYERS = """() => {
  const [{ canvas }, drawn, own] = [frostglass.explorer.chart, [], CanvasRenderingContext2D.prototype.drawImage];
  CanvasRenderingContext2D.prototype.drawImage = function (image, ...at) {
    drawn.push(image.width === canvas.width && image.height === canvas.height);
    return own.call(this, image, ...at);
  };
  dispatchEvent(new Event("beforeprint"));
  CanvasRenderingContext2D.prototype.drawImage = own;
  dispatchEvent(new Event("afterprint"));
  return [...new Set(drawn)];
}"""


@pytest.fixture
def page(browser):
    """A page without a network; what it reports as wrong, and what it asks of anyone, fails the test."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    wrong = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("request", lambda sent: None if sent.url.startswith(("file:", "blob:")) else wrong.append(sent.url))
    yield opened
    assert not wrong
    context.close()


def show(page, made, folder, name="shared.npz"):
    """Open the page of a release, and wait until it has decoded it."""
    data = made.to_bytes()
    (folder / "shared.html").write_text(share_html(made, data, name), encoding="utf-8")
    page.goto((folder / "shared.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    return data


def people(records: int = 3_000) -> pd.DataFrame:
    random = np.random.default_rng(7)
    return pd.DataFrame(
        {
            HOSTILE: np.clip(random.normal(20, 12, records), -20, 80),
            "hours": random.integers(1, 26, records).astype(float),
            "kind": random.choice(["a", "=1+1", "</script>"], records, p=[0.5, 0.3, 0.2]),
        }
    )


def mixed(kernel, finest: float = 1.0, halvings: int = 0, scale: str = "none"):
    """A release of a column on a grid, one whose values have counters of their own, and categories."""
    columns = (
        Numeric(HOSTILE, 0, 100),
        Numeric("hours", 0, 24, step=1),
        Categorical("kind", ("a", "=1+1", "</script>")),
    )
    fine = 0.5 if halvings else 1.0
    sketch = Histogram(Domain(columns, scale=scale), kernel, (32, 0), halvings=halvings, fine=fine, finest=finest)
    return release(sketch, people(), Budget(epsilon=1))


def asked_as_in_python(page, made):
    """Points all over the bounds, and on them, have the same answers and intervals but for rounding."""
    random = np.random.default_rng(3)
    places = np.column_stack([random.uniform(-20, 80, 40), random.uniform(1, 25, 40), random.integers(0, 3, 40)])
    places[0], places[1] = (-20, 1, 0), (80, 25, 2)
    kinds = np.array(["a", "=1+1", "</script>"])
    queries = {HOSTILE: places[:, 0], "hours": places[:, 1], "kind": kinds[places[:, 2].astype(int)]}
    bandwidth = page.evaluate(f"{DECODER}.reading.bandwidth")
    if bandwidth is not None:
        made = made.smoothed(tuple(bandwidth) if isinstance(bandwidth, list) else bandwidth)
    answers = made.answer(queries)
    expected = np.column_stack([answers.estimate, answers.low, answers.high])
    found = np.array(page.evaluate(ASK, places.tolist()))
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


def counted_in_python(made, low: float, high: float, kinds: list[int]) -> tuple[float, float]:
    """How many are between two places of the first column, by the splines closest to that stretch, and the noise."""
    sketch = made.sketch
    axis: Axis = sketch.axes[0]
    at, half = axis.low + axis.pitch * fitting_points(axis.cells, POINTS_A_CELL), axis.pitch / POINTS_A_CELL / 2
    inside = np.clip(np.minimum(high, at + half) - np.maximum(low, at - half), 0, None) / (2 * half)
    weights = coefficients(inside[None], axis.cells, POINTS_A_CELL)[0]
    (grid,) = sketch.grids(made.counters / sketch.scale)
    gain = (weights**2).sum() * grid.shape[1] * len(kinds)
    error = np.sqrt(gain * made.privacy.counter_variance) / sketch.scale
    return float(weights @ grid[:, :, kinds].sum(axis=(1, 2))), float(error)


def test_a_picture_is_painted_once_as_it_opens_and_says_its_own_answer(page, tmp_path):
    """It was painted before it was asked and again after it, and who hears it heard the answer asked before."""
    page.add_init_script("window.painted = 0; addEventListener('drawn', () => { painted += 1; }, true);")
    show(page, small_release(), tmp_path)
    assert page.evaluate("painted") == 1
    first = page.evaluate("[frostglass.explorer.first.x, frostglass.explorer.first.y]")
    asked = page.evaluate(ASK, [[place for place in first if place is not None]])[0]
    found = page.evaluate("Object.values(frostglass.explorer.found())")
    assert asked == pytest.approx(found[:3], rel=1e-9), "the picture has the answer to what is asked first"
    for key in ("", "ArrowUp"):
        if key:
            page.locator("#picture").press(key)
        answer = page.locator("#answer").inner_text()
        assert len(answer) > 20 and page.locator("#picture").get_attribute("aria-label").endswith(answer)


@pytest.mark.thorough
def test_a_grid_is_asked_as_in_python_without_a_network(page, tmp_path):
    made = mixed(kernels.Gaussian(6.0), finest=0.5)
    data = show(page, made, tmp_path)
    assert page.evaluate(f"{DECODER}.kind") == "live"
    asked_as_in_python(page, made)

    # A box is fitted in the mean square, and its noise is exactly that of the counters that it adds up.
    found = page.evaluate(f"{DECODER}.box({{0: [10, 30], 2: [-0.5, 1.5]}})")
    estimate, noise = counted_in_python(made, 10, 30, [0, 1])
    assert abs(found["estimate"] - estimate) <= 1e-9 * estimate
    assert found["error"] >= noise * (1 - 1e-9)
    records = people()
    truth = (records[HOSTILE].between(10, 30) & records["kind"].isin(["a", "=1+1"])).sum()
    assert abs(found["estimate"] - truth) <= -ndtri(1e-9) * found["error"]  # false alarms below 1e-8
    everyone = page.evaluate(f"{DECODER}.box({{}})")
    assert abs(everyone["estimate"] - made.counters.sum() / made.sketch.scale) < 1e-6

    # Paper gets a map that is smoothed already: what is drawn right on the canvas came out as squares.
    assert page.evaluate(LAYERS) == [True] and "close by" in page.inner_text("#answer")

    # What people see and take along.
    page.focus("#picture")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert "in here" in page.inner_text("#answer")
    page.select_option("#choose-up", label="kind")
    with page.expect_download() as saved:
        page.get_by_role("button", name="The file itself").click()
    assert saved.value.path().read_bytes() == data
    with page.expect_download() as saved:
        page.get_by_role("button", name="What the picture shows").click()
    table = pd.read_csv(saved.value.path(), skipinitialspace=False)
    assert list(table.columns) == [HOSTILE, "kind", "estimate", "low", "high"]
    assert set(table["kind"]) == {"a", "'=1+1", "</script>"}


@pytest.mark.deep
@pytest.mark.parametrize(
    "facts",
    [
        (kernels.Laplacian(6.0), 1.0, 0),
        (kernels.Gaussian(0.1), 0.5, 0, "box"),
        (kernels.Gaussian(6.0), 1.0, 2),
        (kernels.Exponential(9.0), 1.0, 0),
        (kernels.Exponential(9.0), 1.0, 1),
        (kernels.Smooth(6.0), 1.0, 0),
        (kernels.Gaussian((4.0, 3.0, 0.7)), 0.5, 0),
        (kernels.Product((kernels.Gaussian(9.0), kernels.Laplacian(12.0))), 1.0, 0),
    ],
)
def test_every_kernel_that_pages_decode_is_read_as_in_python(page, tmp_path, facts):
    made = mixed(*facts)
    show(page, made, tmp_path)
    assert page.evaluate(f"{DECODER}.kind") == "live"
    asked_as_in_python(page, made)


@pytest.mark.deep
def test_a_model_predicts_as_in_python(page, tmp_path):
    columns = (Numeric("age", 10, 90), Numeric("pay", -5, 5), Categorical("sex", ("</script>", "m")))
    task = Task(Domain((*columns, Categorical("income", ("low", "mid", "high")))), "income", radius=1.2)
    rows = np.random.default_rng(1).integers(-(2**20), 2**20, (3, task.features.dimensions + 1))
    model = LinearModel(task, "multinomial", 3.0, rows, Budget(epsilon=1), "a method", "A theorem.")
    (tmp_path / "model.html").write_text(share_html(model, model.to_bytes(), "model.json"), encoding="utf-8")
    page.goto((tmp_path / "model.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.fill("#record-0", "80")
    page.fill("#record-1", "4")
    page.select_option("#record-2", label="m")
    (expected,) = model.probabilities(pd.DataFrame({"age": [80.0], "pay": [4.0], "sex": ["m"]}))
    shown = [float(text.rstrip("%")) / 100 for text in page.locator(".classes dd").all_inner_texts()]
    assert np.abs(shown - expected).max() < 0.006  # two digits are shown
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []


def table_made(records: int = 2_000, epsilon: float = 4):
    columns = (Numeric(HOSTILE, -20, 80), Numeric("hours", 1, 25), Categorical("kind", ("a", "=1+1", "</script>")))
    return release(Tables.of(Domain(columns), 6), people(records), Budget(epsilon=epsilon))


SHARES = "[...frostglass.overview.cards[{}].found.est]"


@pytest.mark.deep
def test_bars_of_coefficients_are_of_what_a_column_makes_over_its_range(page, tmp_path):
    """Bars of one unit each hid pay, the only column that surely counts, beside a category."""
    show(page, load(KNOWN / "products-1.npz"), tmp_path)
    first = page.get_by_role("region", name="Coefficients of age").locator("tbody tr").first
    assert first.locator("th").inner_text() == "pay"
    assert first.locator("path.solid").evaluate("one => one.getBBox().width") > 40


@pytest.mark.thorough
def test_a_phone_shows_all_of_a_table_of_coefficients_and_leaves_to_the_label_who_is_protected(page, tmp_path):
    """Ends of intervals lay beyond the edge, and four lines about whom it is stood before the first picture."""
    page.set_viewport_size({"width": 390, "height": 844})
    show(page, load(KNOWN / "products-1.npz"), tmp_path)
    assert page.locator(".wide").evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")
    assert page.locator(".made").inner_text().endswith("ε = 2")
    assert page.get_by_text("each person whom the column id tells apart").filter(visible=True).count() == 1


@pytest.mark.deep
def test_of_two_answers_that_noise_leaves_open_none_is_said_to_be_given_most(page, tmp_path):
    show(page, load(KNOWN / "counted-1.npz"), tmp_path)
    card = page.locator(".card", has=page.get_by_role("heading", name="city"))
    assert re.match(r"No answer stands out: none is above \d+%", card.locator(".says").inner_text())


@pytest.mark.thorough
def test_a_map_of_a_long_sum_is_brought_along_and_asked_where_the_fine_one_that_follows_is_highest(page, tmp_path):
    random = np.random.default_rng(4)
    places = np.concatenate([random.normal((2.2, 7.3), 0.1, (3_000, 2)), random.uniform(0, 10, (500, 2))])
    sketch = Histogram(Domain.of(a=(0, 10), b=(0, 10)), kernels.Euclidean(1.5, 4))
    made = release(sketch, dict(zip("ab", places.clip(0, 10).T, strict=True)), Budget(epsilon=2))
    show(page, made, tmp_path)
    assert page.evaluate("frostglass.explorer.chart.decoder.takesLong")
    page.evaluate(
        "new Promise((done) => { const { canvas, shown } = frostglass.explorer.chart;"
        " if (shown.shape[0] > 36) done(0); else canvas.addEventListener('finer', () => done(0)); })"
    )
    found = page.evaluate("[frostglass.explorer.chart.point, frostglass.explorer.peak()]")
    assert found[0] == found[1] and [found[0]["x"], found[0]["y"]] == pytest.approx([2.2, 7.3], abs=0.3)
    # A field in which somebody is about to type stays as it is when the finer picture comes.
    typed = page.locator("form.asked input").first
    typed.fill("4.5")
    page.evaluate("frostglass.explorer.canvas.dispatchEvent(new CustomEvent('finer'))")
    assert typed.input_value() == "4.5"


@pytest.mark.thorough
def test_two_fingers_zoom_a_picture_and_one_asks(browser, tmp_path):
    made = mixed(kernels.Gaussian((4.0, 3.0, 0.7)), 0.5, 0)
    (tmp_path / "small.html").write_text(share_html(made, made.to_bytes(), "a.npz"), encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto((tmp_path / "small.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.locator("#picture").scroll_into_view_if_needed()
    box, session = page.locator("#picture").bounding_box(), context.new_cdp_session(page)
    across, up = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    ends = "frostglass.explorer.chart.window.x"
    low, high = page.evaluate(ends)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchEnd", None)):
        places = (
            [] if apart is None else [{"x": across - apart, "y": up, "id": 0}, {"x": across + apart, "y": up, "id": 1}]
        )
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
    first, last = page.evaluate(ends)
    assert last - first == pytest.approx((high - low) / 2, rel=0.05) and low < first < last < high
    before = page.locator("#where").inner_text()
    page.touchscreen.tap(across + 30, up + 20)
    assert page.locator("#where").inner_text() != before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


@pytest.mark.thorough
def test_a_touch_of_a_bar_is_answered_by_every_other_picture_as_in_python(page, tmp_path):
    made = table_made()
    data = show(page, made, tmp_path)
    answers = made.asked()
    names = [axis.name for axis in answers.axes]
    assert page.locator(".card h3").all_inner_texts() == names
    page.locator(".card .picture").nth(2).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "view=2:" in address)
    (cell,) = page.evaluate("frostglass.overview.picked.get(2)")
    where = {"kind": [answers.axes[2].categories[cell]]}
    for place in (0, 1):
        np.testing.assert_allclose(
            page.evaluate(SHARES.format(place)), answers.shares(names[place], where=where).estimate, rtol=1e-9
        )
    assert page.locator(".chip").inner_text().startswith("kind")

    # A second one needs a table of three, which was not made: grey with the reason, or the best guess.
    page.evaluate("frostglass.overview.pickCells(1, [1, 2], true)")
    first = page.locator(".card").first
    first.get_by_text("Not counted together with hours and kind").wait_for()
    first.get_by_role("button", name="Show the best guess").click()
    first.get_by_text("Best guess").wait_for()
    guess = made.guessed().guess.counts((0, 1, 2))[:, 1:3, cell].sum(axis=1)
    np.testing.assert_allclose(page.evaluate(SHARES.format(0)), guess / guess.sum(), rtol=1e-6)

    # The link leads to this state, and what the page carries is the file.
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("[...frostglass.overview.picked.keys()]") == [2, 1]
    with page.expect_download() as saved:
        page.get_by_role("button", name="The file itself").click()
    assert saved.value.path().read_bytes() == data
    with page.expect_download() as saved:
        page.get_by_role("button", name="(CSV)").click()
    assert set(pd.read_csv(saved.value.path())["column"]) == set(names)


@pytest.mark.thorough
def test_while_somebody_drags_words_follow_what_is_drawn_and_nothing_is_left_to_say(page, tmp_path):
    show(page, table_made(), tmp_path)
    said = "() => [...document.querySelectorAll('.card .says, .card .numbers')].map(one => one.textContent)"
    before = page.evaluate(said)
    page.evaluate("frostglass.overview.pickCells(2, [0], false)")
    page.evaluate("""() => new Promise(done => {
      const { overview } = frostglass;
      const look = () => overview.frame || overview.unsaid.size ? requestAnimationFrame(look) : done();
      look();
    })""")
    moving = page.evaluate(said)
    page.evaluate("frostglass.overview.pickCells(2, [0], true)")
    page.wait_for_url(lambda address: "view=2:0" in address)
    assert before != moving == page.evaluate(said)


@pytest.mark.thorough
def test_places_that_were_found_are_a_map_without_specks_that_noise_makes_in_many_cells(page, tmp_path):
    """It was two histograms; and in a map of thousands of cells one of forty seemed to have somebody."""
    place = np.random.default_rng(4).normal((48.85, 2.35), 0.3, (5_000, 2))
    columns = (Numeric("lat", 41.3125, 51.125), Numeric("lng", -5.1875, 8.25))
    made = release(Tables.of(Domain(columns), 40), pd.DataFrame(place, columns=["lat", "lng"]), Budget(epsilon=2))
    show(page, made, tmp_path)
    assert re.match(r"Densest around 4[89]\.\d° north, 2\.\d° east", page.locator(".card.map .says").inner_text())
    shaded = page.evaluate("""() => {
      const { map } = frostglass.overview;
      const hidden = [...map.hidden(map.found)];
      return hidden.flatMap((one, i) => one ? [] : [[i % 40, Math.floor(i / 40)]]);
    }""")
    far = [cell for cell in shaded if np.hypot(cell[0] - 22, cell[1] - 30) > 9]
    assert len(shaded) > 20 and not far
    # While somebody drags over other pictures nothing is worked out again of a map that stays the same.
    asked = """() => {
      const { overview } = frostglass;
      let times = 0;
      overview.map.hidden = () => { times += 1; };
      overview.drawMap();
      return times;
    }"""
    assert page.evaluate(asked) == 0
    assert page.evaluate("frostglass.overview.map.lines.getAttribute('d').length") > 200


@pytest.mark.thorough
def test_while_somebody_drags_few_pictures_follow_in_a_frame_and_nothing_is_measured(page, tmp_path):
    """On a slow machine, where words make a card higher, which was taken for another width: all was drawn and kept."""
    show(page, table_made(), tmp_path)
    page.wait_for_function("frostglass.overview.strengths && !frostglass.overview.frame")
    followed = page.evaluate("""async () => {
      const { overview } = frostglass;
      const frame = () => new Promise((next) => requestAnimationFrame(next));
      const [drawn, measured] = [[], []];
      overview.cards.forEach((card) => {
        const draw = card.draw.bind(card);
        card.draw = (quick) => { drawn.push(card.place); draw(quick); };
      });
      overview.measure = () => measured.push(true);
      overview.cost = 1000;
      overview.pickCells(2, [0], false);
      await frame();
      const first = [...drawn];
      overview.cards[0].sentence.style.minHeight = "200px";
      while (overview.waiting.size || overview.unsaid.size || drawn.length < 3) await frame();
      await frame();
      return { first, drawn, measured: measured.length };
    }""")
    assert followed["first"][0] == 2 and len(followed["first"]) == 2
    assert sorted(followed["drawn"]) == [0, 1, 2] and followed["measured"] == 0
    assert "view=" not in page.url


@pytest.mark.thorough
def test_the_page_of_a_table_prints_as_a_report_of_all_columns_on_white_paper(page, tmp_path):
    """Every column is drawn for the paper's width, and what only a screen can do is not printed."""
    page.emulate_media(color_scheme="dark")
    show(page, table_made(), tmp_path)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(17, 23, 26)"
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    for words in ("Privacy label", "What is promised", "How to read it", "What goes together", "Means and quartiles"):
        assert page.get_by_role("heading", name=words).is_visible()
    assert not page.locator(".tools, #take, .controls").filter(visible=True).count()
    assert page.locator(".card svg .solid[d^=M]").count() == 3
    assert page.evaluate("Math.max(...[...document.querySelectorAll('.card svg')].map(one => one.clientWidth))") < 400
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(paper) == "rgb(17, 23, 26)"


@pytest.mark.deep
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_use_the_page_of_a_table(page, tmp_path, width, theme):
    """No rule of axe is broken, in either theme and width, also with a part picked; nothing moves sideways."""
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    show(page, table_made(), tmp_path)
    (tmp_path / "later.npz").write_bytes(table_made().to_bytes())
    for state in ("", "frostglass.overview.pickCells(1, [1, 2], true)", "frostglass.overview.enlarge('c0')", "beside"):
        if state == "beside":
            page.locator("#other").set_input_files(tmp_path / "later.npz")
            page.locator(".compared .card").nth(2).wait_for()
            state = ""
        page.evaluate(f"{state or 0}; new Promise(requestAnimationFrame)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page)
        assert [one["id"] for one in found.response["violations"]] == []


def differences(page) -> dict[str, list[str]]:
    """The rows of all tables behind the compared columns, by their first cell."""
    cells = "row => [...row.children].map(cell => cell.textContent)"
    rows = page.evaluate(f"[...document.querySelectorAll('.compared tbody tr')].map({cells})")
    return {name: cells for name, *cells in rows}


@pytest.mark.thorough
def test_of_a_list_that_cannot_be_read_the_line_is_said(page, tmp_path):
    """One wrong cell of two thousand refused the list, and nobody could tell which."""
    sketch = Histogram(Domain.of(age=(0, 85), height=(50, 220)), kernels.Gaussian(0.1), (30, 30))
    many = np.random.default_rng(5).uniform((29, 169), (31, 171), (2_000, 2))
    show(page, release(sketch, {"age": many[:, 0], "height": many[:, 1]}, Budget(epsilon=2)), tmp_path)
    page.get_by_text("Ask a list").click()
    page.locator("#list").fill("age,height\n30,170\nabc,4")
    page.get_by_role("button", name="Ask", exact=True).click()
    assert page.locator(".list:not(.beside) .note").inner_text().startswith("Line 2 of the list: The column")
    page.locator("#list").fill("age,height\n30,170\n3,170")
    page.get_by_role("button", name="Ask", exact=True).click()
    assert page.locator(".list tbody th").all_inner_texts() == ["3", "30"]


@pytest.mark.thorough
def test_another_file_that_is_dropped_is_compared_with_both_bands_or_refused_in_a_sentence(page, tmp_path):
    made, later, other = table_made(), table_made(), small_release()
    show(page, made, tmp_path)
    for name, one in (("later.npz", later), ("other.npz", other)):
        (tmp_path / name).write_bytes(one.to_bytes())
    page.locator("#other").set_input_files(tmp_path / "later.npz")
    page.locator(".compared .card").nth(2).wait_for()
    found, expected = differences(page), Comparison(made, later).table("kind")
    for row in expected.itertuples():
        here, there, difference = found[str(row.kind)]
        assert abs(float(here.rstrip("%")) - 100 * row.first) < 0.6
        assert abs(float(there.rstrip("%")) - 100 * row.second) < 0.6
        said = float(difference.split(" ")[0].replace("\u2212", "-").replace("+", ""))
        assert abs(said - 100 * row.estimate) <= 25 * (row.high - row.low)
    for file, words in (
        ("other.npz", "These releases cannot be compared: the first is of"),
        ("shared.html", "not a release"),
    ):
        page.locator("#other").set_input_files(tmp_path / file)
        page.locator(".beside .note").first.filter(has_text=words).wait_for()
        assert not page.locator(".compared > *").count()


@pytest.mark.deep
def test_no_hour_of_a_day_is_left_out_and_a_drag_goes_on_past_midnight(page, tmp_path):
    """Of 24 hours the twelve most frequent were drawn below each other: 17:00 stood below 04:00."""
    hours = tuple(f"{hour:02d}:00" for hour in range(24))
    names = np.array(hours)[(np.random.default_rng(3).normal(23, 3, 4_000) % 24).astype(int)]
    columns = (Cyclic("hour", hours), Categorical("kind", ("a", "b")))
    show(page, release(Tables.of(Domain(columns)), {"hour": names, "kind": ["a", "b"] * 2_000}, Budget(4)), tmp_path)
    picture = page.locator(".card .picture").first
    box = picture.locator("svg").bounding_box()
    places = [box["x"] + 40 + (box["width"] - 48) * (hour + 0.5) / 24 for hour in (21, 22, 25)]
    page.mouse.move(places[0], box["y"] + 80)
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(place, box["y"] + 80)
    page.mouse.up()
    page.wait_for_url(lambda address: "view=0:21.22.23.0.1" in address)
    assert page.locator(".chip").inner_text().startswith("hour 21:00 to 01:00")


@pytest.mark.deep
def test_a_room_is_shown_view_after_view_and_a_picture_alone_is_embedded(page, tmp_path):
    show(page, table_made(), tmp_path)
    page.get_by_role("button", name="Present").click()
    assert page.locator("[data-view]").filter(visible=True).count() == 1
    page.keyboard.press("ArrowRight")
    assert page.locator(".card h3").filter(visible=True).all_inner_texts() == ["hours"]
    for _ in range(8):  # to the last view: groups, which were out of sight until now, and are drawn when they are seen
        page.keyboard.press("ArrowRight")
    page.locator("[data-view=groups] .groups svg .value").first.wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".card").filter(visible=True).count() == 3
    page.goto((tmp_path / "shared.html").as_uri() + "?embed=hours")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("[data-view]").filter(visible=True).count() == 1
    assert page.locator("h2:not(.unseen)").filter(visible=True).count() == 0
    for part, drawn in (("groups", ".groups svg .value"), ("numbers", "tbody tr")):
        page.goto((tmp_path / "shared.html").as_uri() + f"?embed={part}")
        page.locator(f"[data-view={part}] {drawn}").first.wait_for()
