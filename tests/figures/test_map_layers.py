"""Layers outline what is surely so, and shells hold what is surely there.

Synthetic points by themselves, and a visitor's own points on a density.
"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from core.analysis.classification import DecisionMap
from core.analysis.density import Heatmap, Volume
from core.domain import Categorical, Dates, Domain, Numeric
from core.figures.figure_axes import Axis
from core.figures.map_layers import (
    JITTER,
    MAX_DRAWN,
    add_distances,
    add_groups,
    add_points,
    film_figure,
    heights,
    round_step,
    sample_figure,
    shell_levels,
    shells_figure,
    shells_in_words,
    with_buttons,
)
from core.figures.palette import TEAL
from tests.figures.test_density_figures import facts

SQUARE = Domain.of(x=(0, 10), y=(0, 10), z=(0, 10))
PLACES = np.arange(20) / 2 + 0.25
X, Y, Z = (Axis.of(column, PLACES) for column in SQUARE.columns)


def decided(sure: np.ndarray) -> DecisionMap:
    """The left half is a's, the right half b's, as far as it is sure."""
    codes = np.tile((PLACES > 5).astype(np.int64), (20, 1))
    probabilities = np.stack([1 - codes, codes], axis=-1).astype(float)
    found = ("posterior", codes, sure * 1.0, sure, probabilities)
    return DecisionMap("x", "y", PLACES, PLACES, ("a", "<b>"), *found, {}, ())


def test_a_group_is_outlined_where_it_is_sure_and_named_inside():
    sure = np.tile(np.abs(PLACES - 5) > 2, (20, 1))
    figure = add_groups(go.Figure(), decided(sure), (X, Y))
    left, right = figure.data
    assert np.array_equal(left.z > 0.5, sure & (PLACES < 5)) and left.line.color != right.line.color
    first, second = figure.layout.annotations
    assert first.x < 3 < 7 < second.x and "<" not in second.text.replace("&lt;", "")


def test_what_the_noise_decides_has_no_outline():
    figure = add_groups(go.Figure(), decided(np.zeros((20, 20), bool)), (X, Y))
    assert not figure.data and not figure.layout.annotations


@pytest.mark.parametrize(("width", "step"), [(0.7, 1.0), (1.0, 1.0), (3.0, 5.0), (0.02, 0.02), (60, 100), (0, 1.0)])
def test_lines_of_distance_stand_at_round_numbers(width, step):
    assert round_step(width) == pytest.approx(step)


def test_lines_of_distance_say_how_far():
    away = np.hypot(*np.meshgrid(PLACES - 5, PLACES - 5))
    heatmap = Heatmap(x="x", y="y", x_values=PLACES, y_values=PLACES, **facts(away))
    (lines,) = add_distances(go.Figure(), heatmap, (X, Y), "km").data
    assert lines.contours.showlabels and lines.name == "Average distance (km)"
    assert lines.contours.start % lines.contours.size == pytest.approx(0)


def ball(height: float, error: float) -> Volume:
    z, y, x = np.meshgrid(PLACES, PLACES, PLACES, indexing="ij")
    estimate = height * np.exp(-((x - 2.75) ** 2 + (y - 4.75) ** 2 + (z - 6.75) ** 2) / 4)
    return Volume(x="x", y="y", z="z", x_values=PLACES, y_values=PLACES, z_values=PLACES, **facts(estimate, error))


def test_shells_hold_only_what_is_surely_there():
    volume = ball(1000.0, 20.0)
    (shells,) = shells_figure(volume, SQUARE, "people").data
    inside = np.asarray(shells.value) >= shells.isomin
    assert inside.any() and (volume.low.ravel()[inside] >= shells.isomin - 1).all()
    peak = np.argmax(shells.value)
    assert (shells.x[peak], shells.y[peak], shells.z[peak]) == pytest.approx((2.75, 4.75, 6.75))
    assert "It is surely highest at x 2.75, y 4.75, z 6.75." in shells_in_words("It", volume, SQUARE, "people")


def test_what_the_noise_hides_lies_in_no_shell():
    volume = ball(10.0, 20.0)
    assert not heights(volume).any() and shell_levels(heights(volume))[0] > 0
    assert shells_in_words("It", volume, SQUARE, "people") == "It. The noise hides all of it."


def test_a_film_shows_one_scale_and_plays_when_it_is_told_to():
    pictures = []
    for height in (200.0, 1000.0):
        estimate = height * np.exp(-np.add.outer((PLACES - 5) ** 2, (PLACES - 5) ** 2) / 8)
        pictures.append(Heatmap(x="x", y="y", x_values=PLACES, y_values=PLACES, **facts(estimate)))
    figure = with_buttons(film_figure(pictures, ["", ""], ["1", "2"], 0, SQUARE, "people", "z: "))
    assert figure.data[0].zmax == pytest.approx(pictures[1].estimate.max(), rel=0.01)
    play, stop = figure.layout.updatemenus[0].buttons
    assert (play.args[0] is None and stop.args[0] == [None]) or stop.args[0] == (None,)
    assert [frame.name for frame in figure.frames] == [step.label for step in figure.layout.sliders[0].steps]


AGE = Numeric("age", 0, 100, "years")
PAY = Numeric("pay", 0, 9)
CITY = Categorical("city", ("Bern", "Basel", "Chur"))


@pytest.fixture
def points() -> pd.DataFrame:
    random = np.random.default_rng(1)
    size = MAX_DRAWN + 500
    return pd.DataFrame(
        {
            "age": random.uniform(0, 100, size),
            "pay": random.uniform(0, 9, size),
            "city": pd.Categorical(random.choice(CITY.categories, size), categories=CITY.categories),
        }
    )


def test_points_over_two_columns_are_drawn_where_they_are_up_to_a_limit(points):
    figure = sample_figure(points, (AGE, PAY))
    drawn = figure.data[0]
    assert len(drawn.x) == MAX_DRAWN and np.array_equal(drawn.x, points["age"][:MAX_DRAWN])
    assert drawn.marker.color == TEAL.shape and figure.layout.xaxis.range == (0, 100)


def test_points_of_a_category_are_strewn_around_its_place(points):
    drawn = sample_figure(points, (CITY, AGE)).data[0]
    codes = points["city"].cat.codes[:MAX_DRAWN]
    away = np.array(drawn.x) - codes
    assert np.abs(away).max() <= JITTER and away.std() > JITTER / 3


def test_points_that_miss_a_date_or_a_number_are_left_out_of_the_picture():
    """Explore's Sample said that a value must be a date, and showed none, of a table with a gap among its dates."""
    days = Dates("since", "2020-01-01", "2024-12-31")
    since = pd.Series(pd.to_datetime(["2021-05-01", None, "2022-06-01"]))
    drawn = sample_figure(pd.DataFrame({"since": since, "age": [30.0, 40.0, np.nan]}), (days, AGE)).data[0]
    assert list(drawn.y) == [30.0] and len(drawn.x) == 1
    assert sum(sample_figure(pd.DataFrame({"since": since}), (days,)).data[0].y) == 2


def test_along_one_column_every_point_is_counted(points):
    assert sum(sample_figure(points, (AGE,)).data[0].y) == len(points)
    bars = sample_figure(points, (CITY,)).data[0]
    assert list(bars.y) == [int((points["city"] == name).sum()) for name in CITY.categories]


def test_unusual_points_are_drawn_first_and_by_another_shape(points):
    unusual = np.zeros(len(points), dtype=bool)
    unusual[-20:] = True
    figure = add_points(go.Figure(), points, (AGE, PAY), unusual)
    usual, rare = figure.data
    assert len(rare.x) == 20 and np.array_equal(np.sort(rare.x), np.sort(points["age"][-20:]))
    assert len(usual.x) + len(rare.x) == MAX_DRAWN and usual.marker.symbol != rare.marker.symbol


def test_without_unusual_points_the_legend_does_not_speak_of_them(points):
    figure = add_points(go.Figure(), points, (AGE,), np.zeros(len(points), dtype=bool))
    assert [trace.name for trace in figure.data] == ["Your points"] and not np.any(figure.data[0].y)
