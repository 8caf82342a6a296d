"""Explore with dates, circles, ordered categories and places: fields and axes as people say them."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.analysis.density import line
from core.domain import Cyclic, Dates, Domain, Ordered
from core.domain.round_columns import position
from core.figures.answer_sentences import place_words
from core.figures.bandwidth_figures import kernel_figure, kernel_in_words
from core.figures.exploration import Exploration, Points
from core.figures.figure_axes import Axis, date_ticks
from core.figures.programs import script_for
from core.geometry import kernels
from core.privacy.budget import Budget
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.features import Features
from core.ui.released.asked_points import said, state_of
from tests.ui.explore.visiting import choose, explore, field, handed_over, hold, options, view

SINCE = Dates("since", "2020-01-01", "2024-12-31")
SCHOOL = Ordered("school", ("low", "mid", "high"))
HOUR = Cyclic("hour", part="hour")
DOMAIN = Domain((SINCE, HOUR, SCHOOL), scale="box")


@pytest.fixture(scope="module")
def release():
    random, n = np.random.default_rng(1), 2_000
    batch = pa.record_batch(
        {
            "since": pa.array(np.datetime64("2022-06-01") + random.integers(-200, 200, n).astype("m8[D]")),
            "hour": random.integers(7, 12, n),
            "school": random.choice(SCHOOL.categories, n),
        }
    )
    sketch = Features(DOMAIN, kernels.Gaussian(0.2), rows=300, seed=1)
    table, points = sketch.zeros(), DOMAIN.encode(batch)
    sketch.add(table, points)
    return seal(sketch, ExactTable(table, sketch.count(points)), Budget(20))


@pytest.mark.deep
def test_every_view_shows_them_and_dates_are_asked_as_dates(release):
    app = explore(release.to_bytes())
    assert not app.exception
    for name in options(app, "View"):
        assert not view(app, name).exception, name
    view(app, "Density")
    choose(app, "Picture of", "One column")
    assert not app.exception
    hold(app, "hour", "school")
    assert list(field(app.selectbox, "hour").options)[:2] == ["0", "1"]
    field(app.selectbox, "hour").set_value("22").run()
    assert not app.exception and (handed_over(app)["x"], handed_over(app)["held"]) == (
        0,
        {"hour": "22", "school": "low"},
    )
    field(app.selectbox, "Column").set_value("hour").run()
    hold(app, "since", "school")
    asked = field(app.date_input, "since")
    assert (asked.min, asked.max) == (datetime.date(2020, 1, 1), datetime.date(2024, 12, 31))
    asked.set_value(datetime.date(2020, 1, 1)).run()
    assert not app.exception
    assert (handed_over(app)["x"], handed_over(app)["held"]) == (1, {"since": "2020-01-01", "school": "low"})


def test_places_in_words_and_reports_say_dates(release):
    place = {"since": pd.Timestamp("2022-06-01"), "hour": "9", "school": "mid"}
    assert place_words(place, release) == {"since": "2022-06-01", "hour": "9", "school": "mid"}
    curve = line(release, "since", {"hour": "9", "school": "mid"})
    assert curve.values.dtype.kind == "M"
    assert pd.Timestamp(curve.values[int(curve.estimate.argmax())]).year in (2021, 2022)


@pytest.mark.parametrize(
    ("first", "last", "step", "ticks"),
    [
        ("2020-01-01", "2024-12-31", "day", ["2020", "2021", "2022", "2023", "2024"]),
        ("2024-01-15", "2024-06-20", "day", ["Feb 2024", "Mar 2024", "Apr 2024", "May 2024", "Jun 2024"]),
        ("2024-03-01", "2024-03-05", "day", ["1 Mar", "2 Mar", "3 Mar", "4 Mar", "5 Mar"]),
        ("2024-03-01T08:00", "2024-03-01T12:00", "minute", ["08:00", "09:00", "10:00", "11:00", "12:00"]),
        ("1900-01-01", "2099-12-31", "day", ["1900", "1950", "2000", "2050"]),
        ("2024-03-05", "2024-03-06", "day", ["5 Mar", "6 Mar"]),
        ("2024-03-05T12:00", "2024-03-06T12:00", "hour", ["12:00", "18:00", "6 Mar", "06:00", "12:00"]),
    ],
)
def test_a_time_axis_has_marks_where_calendars_have_them(first, last, step, ticks):
    column = Dates("d", first, last, step)
    places, texts = zip(*date_ticks(column), strict=True)
    assert list(texts) == ticks
    assert places[0] >= 0
    assert places[-1] <= column.high


def test_a_value_goes_through_its_field_and_back():
    for column, value in ((SINCE, "2021-03-04"), (HOUR, "7"), (SCHOOL, "mid")):
        assert said(column, state_of(column, value)) == value
    hours = Dates("d", "2024-01-01", "2024-01-03", "hour")
    assert said(hours, state_of(hours, "2024-01-02T05:00")) == "2024-01-02T05:00:00"
    axis = Axis.of(SINCE, pd.to_datetime(["2020-01-01", "2020-01-03"]))
    assert (axis.values.tolist(), axis.value(2.2), axis.place("2020-01-03")) == ([0, 2], "2020-01-03", 2)


def test_kernels_are_drawn_in_days_kilometres_and_steps_around_the_circle():
    domain = Domain((SINCE, *position("lat", "lon", 45, 46, 4, 5)))
    words = kernel_in_words(domain, kernels.Gaussian((30.0, 5.0, 5.0)))
    assert "days in since" in words
    assert "km in lat" in words
    figure = kernel_figure(Domain((HOUR, SINCE)), kernels.Gaussian((2.0, 30.0)))
    closeness = figure.data[0].y
    assert len(closeness) == 13
    assert (np.diff(closeness) < 0).all()


def test_a_script_holds_dates_that_python_reads(release):
    places = {"since": [pd.Timestamp("2022-06-01")], "hour": ["9"], "school": ["mid"]}
    exploration = Exploration("x.npz", "0" * 64, (Points(places),))
    assert "'2022-06-01T00:00:00'" in script_for(exploration)
