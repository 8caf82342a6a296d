"""Layers on the picture of Explore, without a browser: modes, groups, distances, a film; and three columns at once."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from core import Domain, Numeric
from core.analysis.beyond_records import for_population
from core.analysis.modes import Mode, find_modes
from core.figures.answer_sentences import MODES_OF_RECORDS
from core.figures.exploration import MOST_MODES
from core.geometry import kernels
from core.sources.public_tables import bundled_groups, bundled_releases
from core.ui.explore import picture_layers
from core.ui.frame.navigation import EXPLORE
from core.ui.released import public_answers
from core.ui.released.chosen_view import THREE, TWO
from core.ui.released.public_answers import FRAMES
from tests.releases_for_tests import small_release
from tests.ui.explore.visiting import (
    AGE,
    PAY,
    ROOT,
    choose,
    explore,
    field,
    file_of,
    follow,
    handed_over,
    hold,
    labels,
    layer,
    shown,
)


@pytest.mark.thorough
def test_modes_are_listed_with_their_interval_and_compared_with_the_noise():
    app = explore(file_of(AGE, PAY, records=5000))
    layer(app, "Modes")
    table = app.dataframe[0].value
    assert list(table.columns) == ["Mode", "age", "pay", "People close by", "Very likely between", "Stands out by"]
    assert "years" in table["age"][0] and len(table) >= 1
    field(app.toggle, "Ask the cells too").set_value(True)
    app.run()
    assert not app.exception and ("rows overlap at age" in shown(app) or app.info)


@pytest.mark.deep
def test_modes_of_a_sample_of_more_have_longer_bands_and_stand_out_among_the_records_only():
    made = small_release(domain=Domain((AGE, PAY), scale="box"), kernel=kernels.Euclidean(0.4), records=5000)
    alone, beyond = (find_modes(one, 3, starts=8) for one in (made, for_population(made)))
    assert [one.position for one in alone] == [one.position for one in beyond]
    assert all(b.high - b.low > a.high - a.low for a, b in zip(alone, beyond, strict=True))
    app = explore(made.to_bytes())
    layer(app, "Modes")
    assert MODES_OF_RECORDS not in shown(app)
    field(app.toggle, "A sample of more").set_value(True)
    app.run()
    assert not app.exception and MODES_OF_RECORDS in shown(app)


@pytest.mark.parametrize(("sure", "words"), [(37, "**37 modes** stand out"), (MOST_MODES, "**At least 100 modes**")])
def test_no_number_of_modes_is_a_silent_limit(monkeypatch, sure, words):
    mode = Mode({"age": 5.0}, 9.0, 8.0, 10.0, 0.1, 9.0, 1.0, True)
    said = []
    monkeypatch.setattr(picture_layers.st, "markdown", said.append)
    picture_layers._say_how_many((mode,) * sure)
    assert words in said[0]


def test_as_many_modes_are_looked_for_as_can_be_listed(monkeypatch):
    monkeypatch.setattr(public_answers, "find_modes", lambda _, count, **__: (count,))
    assert public_answers.modes("of no bundled file", None) == (MOST_MODES,)


@pytest.mark.deep
def test_a_map_marks_every_mode_that_stands_out_in_a_city():
    _, path = next((one, path) for one, path in bundled_releases() if one.name == "city")
    app = explore(path.read_bytes(), path.name)
    layer(app, "Modes")
    said = app.dataframe[0].value["Stands out by"].str.endswith("times the noise")
    assert [sure for *_, sure in handed_over(app)["marks"]] == said.tolist()
    assert said.sum() > 10 and f"**{said.sum()} modes** stand out" in shown(app)


@pytest.mark.thorough
def test_answers_count_what_the_owner_calls_a_record():
    domain = Domain((AGE, PAY), scale="box", record="loan")
    app = explore(small_release(domain=domain, kernel=kernels.Euclidean(0.4), records=5000).to_bytes())
    layer(app, "Modes")
    assert "Loans close by" in app.dataframe[0].value and "with more loans than anywhere" in shown(app)


@pytest.fixture(scope="module")
def three() -> AppTest:
    return choose(explore(file_of(AGE, PAY, Numeric("day", 0, 30), records=5000)), "Picture of", TWO)


def test_a_link_to_the_modes_of_old_shows_them_on_the_picture():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).switch_page(EXPLORE.path)
    app.query_params["release"], app.query_params["view"] = "salaries", "Modes"
    app.run()
    assert not app.exception and field(app.segmented_control, "View").value == "Density"
    assert field(app.pills, "On the picture").value == ["Modes"] and "out from the noise" in shown(app)


@pytest.mark.deep
def test_a_film_goes_along_a_column_that_is_not_drawn(three):
    layer(three, "Film")
    assert not three.exception and list(field(three.selectbox, "Along").options) == ["day"]
    figure = json.loads(three.get("plotly_chart")[0].proto.spec)
    assert len(figure["frames"]) == FRAMES and figure["layout"]["updatemenus"][0]["buttons"][0]["label"] == "▶"
    hold(three, "day")
    assert "Film" not in field(three.pills, "On the picture").options and not three.exception


@pytest.mark.thorough
def test_three_columns_are_shells_of_what_is_surely_there(three):
    hold(three)
    choose(three, "Picture of", THREE)
    assert not three.exception and "inside a shell at least so many" in shown(three)
    (shells, _) = three.get("plotly_chart")
    assert json.loads(shells.proto.spec)["data"][0]["type"] == "isosurface"
    assert labels(three.number_input) == ["age (years)", "pay", "day"]


@pytest.mark.thorough
def test_groups_are_outlined_where_one_is_surely_the_answer():
    path = next(path for one, path in bundled_groups() if one.name == "health")
    app = layer(explore(path.read_bytes(), path.name), "Groups")
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert not app.exception and {"female", "male"} <= {trace.get("name") for trace in figure["data"]}
    assert "surely the answer" in shown(app)


@pytest.mark.deep
def test_the_distances_of_another_file_lie_over_the_picture_of_one():
    app = explore()
    follow(app, "City bicycles")
    layer(app, "Distances")
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert not app.exception and "city-distance.npz, a released file with a promise of its own" in shown(app)
    assert "Average distance (km)" in [trace.get("name") for trace in figure["data"]]


@pytest.mark.thorough
def test_an_outline_of_ones_own_takes_the_place_of_the_coasts():
    app = explore()
    follow(app, "Towns of the world")
    square = {"type": "LineString", "coordinates": [[0, 0], [10, 0], [10, 10], [0, 0]]}
    drop = field(app.file_uploader, "Your own outline (GeoJSON, in degrees)")
    drop.set_value(("fence.geojson", json.dumps(square).encode(), "application/json"))
    app.run()
    assert not app.exception and not app.error
    assert handed_over(app)["lines"] == [[[0, 0], [10, 0], [10, 10], [0, 0]]]
    drop = field(app.file_uploader, "Your own outline (GeoJSON, in degrees)")
    drop.set_value(("bad.geojson", b"{}", "application/json"))
    app.run()
    assert not app.exception and "no GeoJSON file" in app.error[0].value
