"""Explore without a browser: it needs a file and nothing else, and refuses a bad one in one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import Budget, Domain, Numeric, Vector, kernels
from core.columns import Categorical
from core.release_file import to_bytes
from core.tasks.density import grid
from core.ui.explore_columns import ONE, PAIRS, TWO, grain, tidy
from core.ui.explore_point import STRONG
from core.ui.explore_words import answer_sentence
from core.ui.frame import EXPLORE
from core.ui.markup import escape
from core.ui.session import KEY
from tests.releases_for_tests import manifest_in, npy, small_release, with_manifest, with_table, zipped

ROOT = Path(__file__).parents[2]
AGE = Numeric("age", 0, 100, "years")
PAY = Numeric("pay", 0, 9000)
CITY = Categorical("city", ("Bern", "Basel"))
FACES = Vector("face", 5, 0, 1)


def file_of(*columns, **facts) -> bytes:
    return to_bytes(small_release(domain=Domain(columns, scale="box"), kernel=kernels.Euclidean(0.4), **facts))


def explore(content: bytes | None = None, name: str = "people.npz") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.run()
    app.switch_page(EXPLORE.path).run()
    if content is not None:
        app.file_uploader[0].set_value((name, content, "application/octet-stream"))
        app.run()
    return app


def field(widgets, label: str):
    return next(widget for widget in widgets if widget.label == label)


def shown(app: AppTest) -> str:
    return "\n".join(element.value for kind in (app.markdown, app.caption, app.info, app.warning) for element in kind)


def labels(widgets) -> list[str]:
    return [widget.label for widget in widgets]


def choose(app: AppTest, label: str, value: str) -> AppTest:
    field(app.segmented_control, label).set_value(value)
    return app.run()


def hold(app: AppTest, *names: str) -> AppTest:
    field(app.pills, "Hold at a value").set_value(list(names))
    return app.run()


def view(app: AppTest, name: str) -> AppTest:
    return choose(app, "View", name)


def test_without_a_file_it_says_what_one_is_and_what_is_missing():
    app = explore()
    assert not app.exception and "Still missing: a released file." in shown(app)
    assert "nothing that runs" in shown(app) and field(app.button, "Save the report").disabled
    assert {"Salaries", "City bicycles"} <= set(labels(app.button))


def test_a_bundled_release_opens_from_the_gallery():
    app = explore()
    field(app.button, "Salaries").click().run()
    assert not app.exception and "<strong>salaries.npz</strong> · salary of about" in shown(app)


@pytest.mark.parametrize(
    ("columns", "choices"),
    [((AGE,), None), ((CITY,), None), ((AGE, PAY), [TWO, ONE]), ((AGE, CITY), [TWO, ONE]),
     ((AGE, PAY, CITY), [PAIRS, TWO, ONE]), ((AGE, FACES), None), ((FACES,), None)],
)  # fmt: skip
def test_every_kind_of_release_can_be_looked_at_in_every_view(columns, choices):
    app = explore(file_of(*columns))
    assert not app.exception and not app.error
    groups = {group.label: list(group.options) for group in app.segmented_control}
    assert groups.get("Picture of") == choices
    for name in ("Modes", "Anomalies", "Sample", "Density"):
        view(app, name)
        assert not app.exception and not app.error, name


def test_it_asks_where_most_people_are_and_any_typed_point():
    app = explore(file_of(AGE, PAY, records=5000))
    assert len(app.get("plotly_chart")) == 2
    release = app.session_state[KEY].shown.release
    picture = grid(release, "age", "pay")
    row, column = np.unravel_index(picture.estimate.argmax(), picture.estimate.shape)
    asked = [field(app.number_input, label).value for label in ("age (years)", "pay")]
    assert np.allclose(asked, [picture.x_values[column], picture.y_values[row]], atol=10)
    assert said(release, asked) in shown(app)
    field(app.number_input, "age (years)").set_value(12.5)
    field(app.number_input, "pay").set_value(300.0)
    app.run()
    assert not app.exception and said(release, [12.5, 300.0]) in shown(app)


def said(release, point: list[float]) -> str:
    """The answer at a point as the page writes it."""
    answers = release.answer(np.array([point]))
    parts = (answers.estimate, answers.low, answers.high, answers.standard_error)
    sentence = answer_sentence(*(float(part[0]) for part in parts), "people")
    return STRONG.sub(r"<strong>\1</strong>", escape(sentence))


def test_columns_that_are_not_drawn_are_averaged_over_or_held():
    app = explore(file_of(AGE, PAY, CITY))
    choose(app, "Picture of", TWO)
    assert "Averaged over all values of city" in shown(app)
    hold(app, "city")
    assert "Averaged over" not in shown(app)
    field(app.selectbox, "city").set_value("Basel")
    app.run()
    assert not app.exception
    choose(app, "Picture of", ONE)
    assert "Averaged over all values of pay and city" in shown(app)
    hold(app, "pay")
    assert labels(app.slider) == ["pay"] and not app.exception


def test_the_columns_of_a_picture_come_back_after_another_view():
    app = explore(file_of(AGE, PAY, CITY))
    choose(app, "Picture of", TWO)
    field(app.selectbox, "Across").set_value("pay")
    app.run()
    view(app, "Anomalies")
    view(app, "Density")
    assert field(app.selectbox, "Across").value == "pay"


def test_modes_are_listed_with_their_interval_and_compared_with_the_noise():
    app = explore(file_of(AGE, PAY, records=5000))
    view(app, "Modes")
    table = app.dataframe[0].value
    assert list(table.columns) == ["Mode", "age", "pay", "People close by", "Very likely between", "Against the noise"]
    assert "years" in table["age"][0] and len(table) >= 1
    field(app.toggle, "Ask the cells too").set_value(True)
    app.run()
    assert not app.exception and ("rows overlap at age" in shown(app) or app.info)


def test_points_are_scored_and_further_columns_come_back():
    app = explore(file_of(AGE, CITY, records=5000))
    view(app, "Anomalies")
    points = b"id,age,city\n7,50,Bern\n8,2000,Basel\n"
    field(app.file_uploader, "A table of points, with the columns age and city").set_value(
        ("points.csv", points, "text/csv")
    )
    app.run()
    assert not app.exception and not app.error
    table = app.dataframe[0].value
    assert set(table["id"].astype(str)) == {"7", "8"} and str(table["id"].iloc[0]) == "8"
    assert "of 2 points" in shown(app)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"age\n1\n", "no column 'city'"),
        (b"age,city\n1,Chur\n", "row 1 is not on the public list"),
        (b"", "points.csv"),
    ],
)
def test_points_that_cannot_be_read_get_one_sentence(content, why):
    app = explore(file_of(AGE, CITY))
    view(app, "Anomalies")
    app.file_uploader[-1].set_value(("points.csv", content, "text/csv"))
    app.run()
    assert not app.exception and len(app.error) == 1 and why in app.error[0].value


def test_a_sample_says_that_it_is_nobody_and_is_the_same_for_the_same_number():
    app = explore(file_of(AGE, PAY))
    view(app, "Sample")
    field(app.number_input, "How many").set_value(50)
    app.run()
    assert "These points are **nobody**" in shown(app) and not app.exception
    field(app.selectbox, "Drawn from").set_value("The file's own smooth density")
    app.run()
    assert not app.exception


def hostile_files() -> dict[str, bytes]:
    good = file_of(AGE, CITY)
    forged = manifest_in(good)
    forged["privacy"]["epsilon"] = "0.001"
    return {
        "nothing": b"",
        "cut short": good[: len(good) // 2],
        "a flipped bit": bytes([*good[:400], good[400] ^ 64, *good[401:]]),
        "no archive": b"PK\x03\x04 but not really",
        "a pickle": zipped({"manifest.npy": npy(np.array([{"a": 1}], dtype=object))}),
        "another table": with_table(good, np.zeros((3, 3), dtype=np.int64)),
        "a forged promise": with_manifest(good, forged),
        "no JSON": with_manifest(good, "{"),
    }


@pytest.mark.parametrize("kind", hostile_files())
def test_a_hostile_file_gets_one_sentence_and_leaves_what_is_open(kind):
    app = explore(file_of(AGE))
    app.file_uploader[-1].set_value(("bad.npz", hostile_files()[kind], "application/octet-stream"))
    app.run()
    assert not app.exception
    assert len(app.error) == 1 and app.error[0].value.endswith(".") and "Traceback" not in app.error[0].value
    assert app.session_state[KEY].shown.name == "people.npz"


def test_names_of_a_strangers_file_are_text_and_no_markup():
    nasty = Numeric("<img src=x onerror=alert(1)>", 0, 1, "<b>")
    app = explore(file_of(nasty, Categorical("a|b`c", ("<i>x", "**y**"))), name="<script>alert(1)</script>.npz")
    for name in ("Density", "Modes", "Sample"):
        view(app, name)
        assert not app.exception
        for element in app.markdown:
            assert "<img" not in element.value and "<script" not in element.value and "<i>x" not in element.value


def test_a_teaching_file_says_that_it_protects_nobody():
    from core.privacy.randomness import SeededSource

    release = small_release(Budget(epsilon=1), noise_source=SeededSource(1))
    app = explore(to_bytes(release, teaching=True))
    assert "protects nobody" in app.warning[0].value


def test_two_files_can_be_open_and_the_last_one_closed():
    app = explore(file_of(AGE), "first.npz")
    app.file_uploader[-1].set_value(("second.npz", file_of(CITY), "application/octet-stream"))
    app.run()
    assert app.session_state[KEY].shown.name == "second.npz"
    field(app.button, "first.npz").click().run()
    assert app.session_state[KEY].shown.name == "first.npz" and not app.exception
    for _ in range(2):
        field(app.button, "Close this file").click().run()
    assert app.session_state[KEY].shown is None and "Still missing: a released file." in shown(app)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-5, 20_000), (1e-9, 2e-9), (0, 1e15), (1900, 2100)])
def test_typed_numbers_are_fine_enough_and_stay_inside_the_bounds(low, high):
    column = Numeric("x", low, high)
    width = column.high - column.low
    assert width / 10_001 <= grain(column) <= width / 999
    for share in np.linspace(0, 1, 11):
        value = tidy(low + share * width, column)
        assert low <= value <= high and abs(value - (low + share * width)) <= grain(column)


UNESCAPED = re.compile(r"(?<!\\)[\[\]]")
FOREIGN = "![x](http://stranger.example/x.png) **b** `c` $d$ :red[e]"


def test_names_of_a_strangers_file_are_no_markdown_either():
    """A picture in a column's name would be fetched by the browser of everyone who opens the file."""
    columns = (Numeric(FOREIGN, 0, 1), Numeric("y", 0, 1), Categorical("z" + FOREIGN, (FOREIGN, "q")))
    app = explore(file_of(*columns), name=f"{FOREIGN}.npz")
    choose(app, "Picture of", TWO)
    hold(app, columns[2].name)
    for name in ("Density", "Modes", "Anomalies", "Sample"):
        view(app, name)
        assert not app.exception
        widgets = [*app.number_input, *app.selectbox, *app.button, *app.file_uploader, *app.slider]
        for text in [*labels(widgets), *(option for group in app.pills for option in group.options)]:
            assert not UNESCAPED.search(text), text
        for element in app.markdown:
            assert not UNESCAPED.search(element.value) or element.value.startswith('<div class="fg">')
    bad = with_manifest(file_of(*columns), manifest_in(file_of(*columns)) | {"mechanism": FOREIGN})
    app.file_uploader[0].set_value(("bad.npz", bad, "application/octet-stream"))
    app.run()
    assert app.error and not UNESCAPED.search(app.error[0].value)


def test_each_column_may_have_a_bandwidth_of_its_own():
    kernel = kernels.Laplacian((0.2, 0.3, 1.0))
    app = explore(to_bytes(small_release(domain=Domain((AGE, PAY, CITY), scale="box"), kernel=kernel)))
    for name in ("Modes", "Anomalies", "Sample", "Density"):
        view(app, name)
        assert not app.exception and not app.error, name
    choose(app, "Picture of", TWO)
    assert not app.exception and "Someone counts half at a distance of" in shown(app)
