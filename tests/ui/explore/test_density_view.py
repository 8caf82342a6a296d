"""The picture of a density on Explore, and what is asked on it, without a browser.

Where the server draws, a coarse picture comes first, once, and takes a fraction of the work of the fine one.
"""

import base64
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import Budget, Domain, Numeric, release
from core.analysis import density, other_columns
from core.figures.exploration import Density, Exploration, Points
from core.figures.figure_axes import Axis, View
from core.figures.programs import script_for
from core.geometry import kernels
from core.lab.published.huang_roth import HuangRoth
from core.lab.published.mwem import MWEM
from core.releases.release import load
from core.ui.explore.density_view import steps
from core.ui.released import public_answers
from core.ui.released.asked_points import grain, label_of, tidy
from core.ui.released.chosen_view import ONE, PAIRS, THREE, TWO
from tests.depth import deep, draws
from tests.figures.explorations import report_of
from tests.releases_for_tests import small_release
from tests.ui.explore.visiting import (
    AGE,
    CITY,
    FACES,
    PAY,
    choose,
    explore,
    facts_of_picture,
    field,
    file_of,
    handed_over,
    hold,
    labels,
    options,
    shown,
    view,
)

SQUARE = Domain.of(x=(0, 10), y=(0, 10))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("columns", "choices"),
    [
        ((AGE,), None),
        deep((CITY,), None),
        deep((AGE, PAY), [TWO, ONE]),
        deep((AGE, CITY), [TWO, ONE]),
        deep((AGE, PAY, CITY), [PAIRS, TWO, THREE, ONE]),
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


@pytest.mark.thorough
def test_a_picture_is_handed_over_whole_and_what_is_asked_on_it_goes_into_the_program():
    file = file_of(AGE, PAY, records=5000)
    app = explore(file)
    given = handed_over(app)
    assert not app.exception and not app.get("plotly_chart")
    assert base64.b64decode(given["file"]) == file and (given["x"], given["y"], given["held"]) == (0, 1, {})
    facts = facts_of_picture(app)
    assert facts["kind"] == "live" and [column["name"] for column in facts["columns"]] == ["age", "pay"]
    made, drawn = load(file), View(("age", "pay"))
    shown_alone, asked = steps(made, drawn, (12.5, 300.0))
    assert steps(made, drawn, None) == (shown_alone,) == (Density(("age", "pay"), {}, shown_alone.size),)
    assert asked == Points({"age": [12.5], "pay": [300.0]})


@pytest.mark.thorough
def test_columns_that_are_not_drawn_are_averaged_over_or_held():
    app = explore(file_of(AGE, PAY, CITY))
    choose(app, "Picture of", TWO)
    assert handed_over(app)["held"] == {}
    hold(app, "city")
    field(app.selectbox, "city").set_value("Basel")
    app.run()
    assert not app.exception and handed_over(app)["held"] == {"city": "Basel"}
    choose(app, "Picture of", ONE)
    hold(app, "pay")
    given = handed_over(app)
    assert labels(app.slider) == ["pay"] and not app.exception
    assert (given["x"], given["y"], list(given["held"])) == (0, None, ["pay"])


@pytest.mark.deep
def test_the_columns_of_a_picture_come_back_after_another_view():
    app = explore(file_of(AGE, PAY, CITY))
    choose(app, "Picture of", TWO)
    field(app.selectbox, "Across").set_value("pay")
    app.run()
    view(app, "Anomalies")
    view(app, "Density")
    assert field(app.selectbox, "Across").value == "pay"


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-5, 20_000), (1e-9, 2e-9), (0, 1e15), (1900, 2100)])
def test_typed_numbers_are_fine_enough_and_stay_inside_the_bounds(low, high):
    column = Numeric("x", low, high)
    width = column.high - column.low
    assert width / 10_001 <= grain(column) <= width / 999
    for share in np.linspace(0, 1, 11):
        value = tidy(low + share * width, column)
        assert low <= value <= high and abs(value - (low + share * width)) <= grain(column)


def test_numbers_of_a_declared_step_are_offered_in_it():
    age, pay = Numeric("age", 17.5, 90, "years", step=1), Numeric("pay", 0, 100_000, step=1)
    assert grain(age) == 1 and tidy(58.9, age) == 58.5 and tidy(99, age) == 90
    assert grain(pay) == 100, "a finer step is not asked for"


@pytest.mark.parametrize(("name", "unit"), [("hour", "hour of the day"), ("minutes", "minutes")])
def test_a_unit_that_says_the_name_again_is_left_out(name, unit):
    column = Numeric(name, 0, 24, unit)
    assert label_of(column) == Axis.of(column, np.arange(3)).title == name
    assert label_of(Numeric("delay", 0, 24, unit)) == f"delay ({unit})"


@pytest.mark.deep
def test_each_column_may_have_a_bandwidth_of_its_own():
    kernel = kernels.Laplacian((0.2, 0.3, 1.0))
    app = explore(small_release(domain=Domain((AGE, PAY, CITY), scale="box"), kernel=kernel).to_bytes())
    for name in ("Anomalies", "Sample", "Density"):
        view(app, name)
        assert not app.exception and not app.error, name
    choose(app, "Picture of", TWO)
    assert not app.exception and "Each person counts half at a distance of" in shown(app)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mechanism", "first", "kind"),
    [
        (MWEM(SQUARE, kernels.Laplacian(2.0), rounds=2, cells=(8, 8), seed=1), "Density", "close by"),
        (HuangRoth(SQUARE, 4), "Distance", "away on average"),
    ],
    ids=["mwem", "huang-roth"],
)
def test_answers_whose_error_nobody_knows_are_drawn_and_said_without_one(mechanism, first, kind, monkeypatch):
    monkeypatch.setattr(other_columns, "MOST_PLACES", draws(16, other_columns.MOST_PLACES))
    people = np.random.default_rng(0).normal(5, 1, (300, 2))
    made = release(mechanism, people, Budget(4))
    app = explore(made.to_bytes(), "rival.npz")
    assert not app.exception and options(app, "View")[0] == first
    about = rf"about <strong>\d[\d,.]*</strong>.*{kind}\. No formula says how far off it may be\."
    assert re.search(about, shown(app), re.IGNORECASE)
    assert "equally likely truths" not in shown(app) and "∞" not in shown(app)
    steps = (Density(("x",), {"y": 5.0}, 20), Density(("x", "y"), {}, 12), Points({"x": [5.0], "y": [5.0]}))
    report = report_of(made, steps)
    assert "No formula says how far off it may be." in report and "inf" not in re.sub(r"<[^>]*>", "", report).split()
    done = Exploration("rival.npz", "0" * 64, steps)
    assert "answer" in script_for(done)


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


WIDE = small_release(domain=Domain.of(a=(0, 1), b=(0, 1), c=(0, 1)), kernel=kernels.Euclidean(0.4))


@pytest.mark.thorough
def test_it_takes_a_fraction_of_the_places(monkeypatch):
    asked = []
    real = density.averaging
    monkeypatch.setattr(density, "averaging", lambda *given: asked.append(given[3]) or real(*given))
    public_answers.coarse_picture(WIDE, View(("a", "b")))
    public_answers.coarse_pictures(WIDE, ("a", "b", "c"))
    coarse, asked[:] = list(asked), []
    density.marginal_grid(WIDE, "a", "b")
    density.pairs(WIDE, ("a", "b", "c"))
    assert len(coarse) == len(asked) == 7
    assert all(some <= every / 19 for some, every in zip(coarse, asked, strict=True))


def test_nothing_is_drawn_twice_where_it_is_quick():
    assert public_answers.coarse_picture(WIDE, View(("a", "b"), (("c", 0.5),))) is None
    assert public_answers.coarse_picture(WIDE, View(("a",))) is None
    assert public_answers.coarse_pictures(WIDE, ("a", "b")) is None


def page():
    import streamlit as st

    from core.ui.explore.density_view import coarse_first

    drawn = st.session_state.setdefault("drawn", [])
    coarse_first("one", lambda: drawn.append(1), lambda first: first)


def test_it_is_drawn_once_a_session():
    app = AppTest.from_function(page).run()
    assert not app.run().exception and app.session_state["drawn"] == [1]
