"""Synthetic points by themselves, and a visitor's own points on a density."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from core.domain import Categorical, Numeric
from core.figures.palette import TEAL
from core.figures.scatter import JITTER, MAX_DRAWN, add_points, sample_figure

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
