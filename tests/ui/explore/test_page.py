"""Explore without a browser: it needs a file and nothing else, and refuses a bad one in one sentence."""

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from core import Budget, Domain, Numeric, Release, Vector, release
from core.domain import Categorical, Dates
from core.figures.report.exploration import MOST_MODES, Density, Exploration, Points
from core.figures.report.html import report_html
from core.figures.report.script import script_for
from core.figures.sentences.answers import answer_sentence
from core.geometry import kernels
from core.sketches.classes import Classes
from core.sketches.making import distance
from core.sketches.published.distances.huang_roth import HuangRoth
from core.sketches.published.grids.mwem import MWEM
from core.sources.samples import bundled_groups, bundled_releases
from core.tasks.centres import nearest_place
from core.tasks.density import grid
from core.tasks.modes import Mode
from core.ui.explore import modes
from core.ui.explore.columns import ONE, PAIRS, TWO
from core.ui.explore.example import example_of
from core.ui.explore.export import overview
from core.ui.explore.groups import part_calls, part_of, whom
from core.ui.explore.point import STRONG
from core.ui.explore.points import answer_columns
from core.ui.explore.values import grain, tidy
from core.ui.frame.frame import EXPLORE
from core.ui.frame.session import KEY, Opened
from core.words.escapes import in_html
from tests.depth import deep
from tests.releases_for_tests import manifest_in, npy, small_release, with_manifest, with_table, zipped

ROOT = Path(__file__).parents[3]
AGE = Numeric("age", 0, 100, "years")
PAY = Numeric("pay", 0, 9000)
CITY = Categorical("city", ("Bern", "Basel"))
FACES = Vector("face", 5, 0, 1)


def file_of(*columns, **facts) -> bytes:
    return small_release(domain=Domain(columns, scale="box"), kernel=kernels.Euclidean(0.4), **facts).to_bytes()


def explore(content: bytes | None = None, name: str = "people.npz") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
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


def options(app: AppTest, label: str) -> list[str]:
    return list(field(app.segmented_control, label).options)


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
    [
        ((AGE,), None),
        deep((CITY,), None),
        deep((AGE, PAY), [TWO, ONE]),
        deep((AGE, CITY), [TWO, ONE]),
        deep((AGE, PAY, CITY), [PAIRS, TWO, ONE]),
        deep((AGE, FACES), None),
        deep((FACES,), None),
    ],
)
def test_every_kind_of_release_can_be_looked_at_in_every_view(columns, choices):
    app = explore(file_of(*columns))
    assert not app.exception and not app.error
    groups = {group.label: list(group.options) for group in app.segmented_control}
    assert groups.get("Picture of") == choices
    for name in reversed(options(app, "View")):
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
    return STRONG.sub(r"<strong>\1</strong>", in_html(sentence))


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


@pytest.mark.deep
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


@pytest.mark.parametrize(("sure", "words"), [(37, "**37 modes** stand out"), (MOST_MODES, "**At least 100 modes**")])
def test_no_number_of_modes_is_a_silent_limit(monkeypatch, sure, words):
    mode = Mode({"age": 5.0}, 9.0, 8.0, 10.0, 0.1, 9.0, 1.0, True)
    said = []
    monkeypatch.setattr(modes.st, "markdown", said.append)
    modes._say_how_many((mode,) * sure)
    assert words in said[0]


def test_a_map_marks_every_mode_that_stands_out_in_a_city():
    _, path = next((one, path) for one, path in bundled_releases() if one.name == "city")
    app = explore(path.read_bytes(), path.name)
    view(app, "Modes")
    said = app.dataframe[0].value["Against the noise"].str.startswith("stands out")
    assert said.sum() > 10 and f"**{said.sum()} modes** stand out" in shown(app)


@pytest.mark.deep
def test_what_was_chosen_for_one_file_is_not_chosen_for_the_next():
    app = explore(file_of(AGE, PAY), "one.npz")
    view(app, "Density")
    choose(app, "Picture of", ONE)
    view(app, "Sample")
    visitor = app.session_state[KEY]
    visitor.open("two.npz", file_of(PAY, AGE, records=77))
    app.run()
    assert not app.exception and field(app.segmented_control, "View").value == "Density"
    assert field(app.segmented_control, "Picture of").value == TWO
    assert field(app.selectbox, "Across").value == "pay"
    visitor.current = "one.npz"
    app.run()
    assert field(app.selectbox, "Across").value == "age" and not app.exception


@pytest.mark.parametrize("name", ["Your points", "Anomalies"])
def test_it_begins_with_an_example_that_is_nobody(name):
    app = view(explore(file_of(AGE, CITY, records=5000)), name)
    assert not app.exception and not app.error and "These places are an example" in shown(app)
    assert len(app.dataframe[0].value) == 12
    assert app.dataframe[0].value["age"].between(0, 100).all()


def test_places_of_an_example_lie_inside_the_public_bounds():
    days = Dates("day", "2020-01-01", "2020-12-31", "day")
    domain = Domain((AGE, CITY, days))
    table = pd.read_csv(io.BytesIO(example_of(domain, "x").getvalue()))
    assert len(domain.encode_queries(table)) == 12 and set(table["city"]) == {"Bern", "Basel"}
    assert example_of(Domain((FACES,)), "x") is None


def test_answers_count_what_the_owner_calls_a_record():
    domain = Domain((AGE, PAY), scale="box", record="loan")
    app = explore(small_release(domain=domain, kernel=kernels.Euclidean(0.4), records=5000).to_bytes())
    view(app, "Modes")
    assert "Loans close by" in app.dataframe[0].value and "with more loans than anywhere" in shown(app)


@pytest.mark.deep
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


@pytest.mark.deep
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"age\n1\n", "no column 'city'"),
        deep(b"age,city\n1,Chur\n", "row 1 is not on the public list"),
        deep(b"", "points.csv"),
    ],
)
def test_points_that_cannot_be_read_get_one_sentence(content, why):
    app = explore(file_of(AGE, CITY))
    view(app, "Anomalies")
    app.file_uploader[-1].set_value(("points.csv", content, "text/csv"))
    app.run()
    assert not app.exception and len(app.error) == 1 and why in app.error[0].value


@pytest.mark.deep
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


@pytest.mark.deep
def test_names_of_a_strangers_file_are_text_and_no_markup():
    nasty = Numeric("<img src=x onerror=alert(1)>", 0, 1, "<b>")
    app = explore(file_of(nasty, Categorical("a|b`c", ("<i>x", "**y**"))), name="<script>alert(1)</script>.npz")
    for name in ("Density", "Modes", "Sample"):
        view(app, name)
        assert not app.exception
        for element in app.markdown:
            assert "<img" not in element.value and "<script" not in element.value and "<i>x" not in element.value


def test_a_teaching_file_says_that_it_protects_nobody():
    from core.privacy.noise.randomness import SeededSource

    release = small_release(Budget(epsilon=1), noise_source=SeededSource(1))
    app = explore(release.to_bytes(teaching=True))
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


@pytest.mark.deep
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


@pytest.mark.deep
def test_each_column_may_have_a_bandwidth_of_its_own():
    kernel = kernels.Laplacian((0.2, 0.3, 1.0))
    app = explore(small_release(domain=Domain((AGE, PAY, CITY), scale="box"), kernel=kernel).to_bytes())
    for name in ("Modes", "Anomalies", "Sample", "Density"):
        view(app, name)
        assert not app.exception and not app.error, name
    choose(app, "Picture of", TWO)
    assert not app.exception and "Each person counts half at a distance of" in shown(app)


def released(columns, norm: str, budget=None, label: Categorical | None = None, **facts) -> Release:
    """A release of distances of 3,000 records, most of them young and poor, where these columns are."""
    domain = Domain(columns, **facts)
    random = np.random.default_rng(3)
    values = {}
    for column in columns:
        if isinstance(column, Categorical):
            values[column.name] = random.choice(column.categories, 3000, p=[0.8, 0.2]).tolist()
        elif isinstance(column, Vector):
            values[column.name] = list(random.random((3000, column.length)))
        else:
            values[column.name] = column.low + (column.high - column.low) * random.beta(2, 6, 3000)
    sketch = distance(domain, norm)
    if label is not None:
        values[label.name] = random.choice(label.categories, 3000).tolist()
        sketch = Classes(Domain((*columns, label), **facts), label.name, sketch)
    return release(sketch, pd.DataFrame(values), budget or Budget(5), records=3000)


def test_distances_are_explored_from_the_nearest_place_on():
    made = released((AGE,), "l1")
    app = explore(made.to_bytes())
    assert not app.exception and options(app, "View") == ["Distance", "Centres", "Your points"]
    nearest = nearest_place(made)["age"]
    assert field(app.number_input, "age (years)").value == pytest.approx(nearest, abs=0.06)
    assert "away on average; very likely between" in shown(app) and "difference in age" in shown(app)
    assert "closeness" not in shown(app)
    field(app.number_input, "age (years)").set_value(80.0)
    app.run()
    mean = made.answer(np.array([[80.0]])).density[0]
    said = re.search(r"Everyone is <strong>([\d.]+) years</strong> away", shown(app))
    assert abs(float(said.group(1)) - mean) < 0.2 and len(app.get("plotly_chart")) == 2


@pytest.mark.deep
def test_the_centre_is_the_median_and_there_may_be_several_of_one_column():
    made = released((AGE,), "l1")
    app = explore(made.to_bytes())
    view(app, "Centres")
    assert not app.exception and "median" in shown(app) and "From there, everyone is" in shown(app)
    assert list(app.dataframe[0].value.columns) == ["Column", "Centre", "Very likely between"]
    field(app.number_input, "How many centres").set_value(3)
    app.run()
    assert not app.exception and len(app.dataframe[0].value) == 3 and "nearest of 3 places" in shown(app)


@pytest.mark.parametrize(
    ("columns", "norm", "views"),
    [
        deep((AGE, PAY), "l2", ["Distance", "Centres", "Your points"]),
        ((AGE, PAY, CITY), "l1", None),
        deep((AGE, PAY), "squared", None),
        deep((AGE, CITY), "squared", None),
        deep((AGE, FACES), "l1", None),
        deep((AGE,), "above", ["Distance", "Your points"]),
        deep((FACES,), "l2", ["Your points", "Centres"]),
    ],
)
def test_distances_of_every_kind_can_be_looked_at_in_every_view(columns, norm, views):
    app = explore(released(columns, norm, scale="box").to_bytes())
    assert not app.exception and not app.error
    assert views is None or options(app, "View") == views
    for name in reversed(options(app, "View")):
        view(app, name)
        assert not app.exception and not app.error, name
    if len(columns) == 3:
        choose(app, "Picture of", TWO)
        assert "Where everyone is nearest: city at Bern" in shown(app) and "counts as 1" in shown(app)
        hold(app, "city")
        field(app.selectbox, "city").set_value("Basel")
        app.run()
        assert not app.exception and "Where everyone is nearest" not in shown(app)


@pytest.mark.parametrize("norm", ["l1", deep(None)])
def test_every_release_answers_at_points_that_are_brought(norm):
    made = released((AGE, CITY), norm) if norm else small_release(domain=Domain((AGE, CITY)), records=3000)
    app = explore(made.to_bytes())
    view(app, "Your points")
    app.file_uploader[-1].set_value(("points.csv", b"id,age,city\n7,50,Bern\n8,20,Basel\n", "text/csv"))
    app.run()
    assert not app.exception and not app.error and "2 points" in shown(app)
    one = app.session_state["explore-asked-read"][2]
    field(app.toggle, "Intervals that all hold at once").set_value(True).run()
    both = app.session_state["explore-asked-read"][2]
    assert not app.exception and (both.high - both.low > one.high - one.low).all()
    table = app.dataframe[0].value
    assert list(table["id"].astype(str)) == ["7", "8"] and "very likely between" in table
    table = pa.table({"age": [50.0, 20.0], "city": ["Bern", "Basel"]})
    found = made.answer(table)
    columns = answer_columns(made, found)
    assert set(columns) == ({"mean", "low", "high"} if norm else {"estimate", "low", "high", "density"})
    assert np.allclose(columns["mean"] if norm else columns["density"], found.density)
    app.file_uploader[-1].set_value(("points.csv", b"age\n1\n", "text/csv"))
    app.run()
    assert len(app.error) == 1 and "no column 'city'" in app.error[0].value


def test_vectors_alone_have_no_picture_and_say_what_can_be_done():
    app = explore(released((FACES,), "l2").to_bytes())
    assert "there is no picture to draw" in app.info[0].value and not app.get("plotly_chart")


@pytest.mark.deep
@pytest.mark.parametrize("name", ["heart", deep("stars")])
def test_groups_are_explored_together_or_one_by_one(name):
    path = next(path for one, path in bundled_groups() if one.name == name)
    app = explore(path.read_bytes(), path.name)
    choose(app, "Picture of", ONE)
    whole = app.session_state[KEY].shown.release
    who = field(app.selectbox, "Who")
    assert not app.exception and list(who.options) == ["Everyone together", *whole.sketch.categories]
    everyone = shown(app)
    who.set_value(whole.sketch.categories[1])
    app.run()
    assert not app.exception and shown(app) != everyone
    for page in ("Your points", "Density"):
        view(app, page)
        assert not app.exception and not app.error, page


@pytest.mark.deep
def test_groups_of_distances_are_explored_as_distances():
    app = explore(released((AGE, PAY), "l1", label=CITY, scale="box").to_bytes())
    assert not app.exception and options(app, "View") == ["Distance", "Centres", "Your points"]
    field(app.selectbox, "Who").set_value("Basel")
    app.run()
    view(app, "Centres")
    assert not app.exception and "Everyone is nearest to" in shown(app)


@pytest.mark.deep
def test_a_program_asks_the_part_that_was_explored():
    release = released((AGE, PAY), "l1", label=CITY, scale="box")
    opened = Opened("people.npz", release.to_bytes(), release)
    for part, line in (("Basel", "release = release.of_class(which='Basel')"), ("", "release = release.of_everyone()")):
        asked = part_of(opened, part)
        assert asked.fingerprint == opened.fingerprint and asked.identity != opened.identity
        steps = overview(asked.release)
        assert line in script_for(Exploration("people.npz", opened.fingerprint, steps, part_calls(asked)))
    assert part_calls(opened) == () and whom(opened) == "" and whom(asked) == "everyone together"
    report = report_html(release, overview(asked.release), opened.data, asked.release, whom(asked))
    assert "(everyone together)" in report and "Centres" in report


@pytest.mark.deep
def test_the_view_of_another_kind_of_file_is_not_kept():
    app = explore(file_of(AGE))
    view(app, "Sample")
    app.file_uploader[0].set_value(("far.npz", released((AGE,), "l1").to_bytes(), "application/octet-stream"))
    app.run()
    assert not app.exception and field(app.segmented_control, "View").value == "Distance"


SQUARE = Domain.of(x=(0, 10), y=(0, 10))


@pytest.mark.parametrize(
    ("mechanism", "first", "kind"),
    [
        (MWEM(SQUARE, kernels.Gaussian(2.0), rounds=2, seed=1), "Density", "close by"),
        (HuangRoth(SQUARE, 4), "Distance", "away on average"),
    ],
    ids=["mwem", "huang-roth"],
)
def test_answers_whose_error_nobody_knows_are_drawn_and_said_without_one(mechanism, first, kind):
    people = np.random.default_rng(0).normal(5, 1, (300, 2))
    made = release(mechanism, people, Budget(4))
    app = explore(made.to_bytes(), "rival.npz")
    assert not app.exception and options(app, "View")[0] == first
    about = rf"about <strong>\d[\d,.]*</strong>.*{kind}\. No formula says how far off it may be\."
    assert re.search(about, shown(app), re.IGNORECASE)
    assert "equally likely truths" not in shown(app) and "∞" not in shown(app)
    steps = (Density(("x",), {"y": 5.0}, 20), Density(("x", "y"), {}, 12), Points({"x": [5.0], "y": [5.0]}))
    report = report_html(made, steps)
    assert "No formula says how far off it may be." in report and "inf" not in re.sub(r"<[^>]*>", "", report).split()
    assert not re.search(r'[dyxh]\w*="[^"]*(?:nan|inf)', report)
    done = Exploration("rival.npz", "0" * 64, steps)
    assert "answer" in script_for(done)
