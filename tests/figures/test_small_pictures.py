"""The matrix of small pictures: one a pair, one a column, and each a door.

Gallery pictures: dark where many people are, blank where none are, on nothing and in teal.
"""

import re

import numpy as np
import pandas as pd
import pytest

from core import Budget, Race, Vector, release
from core.analysis.density import pairs
from core.domain import Categorical, Domain, Numeric
from core.errors import RequestError
from core.figures.palette import LIGHT_SHADES, TEAL, rgb
from core.figures.small_pictures import SIZE, density_picture, pairs_in_words, pairs_matrix
from core.figures.traces import TEMPLATE, on_paper, standalone
from core.geometry import kernels
from tests.releases_for_tests import small_release

DOMAIN = Domain((Numeric("age", 0, 100), Numeric("<b>pay", 0, 9), Categorical("city", ("Bern", "Basel"))))


@pytest.fixture(scope="module")
def matrix():
    release = small_release(domain=DOMAIN)
    small = pairs(release, size=8)
    return small, pairs_matrix(small, {column.name: column for column in DOMAIN.columns})


def test_there_is_a_map_for_every_pair_and_a_curve_for_every_column(matrix):
    small, figure = matrix
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert len(maps) == len(small.heatmaps) == 3
    doors = [list(trace.customdata[0]) for trace in figure.data if trace.customdata is not None]
    assert sorted(doors, key=str) == sorted([["age"], ["<b>pay"], ["city"], *map(list, small.heatmaps)], key=str)


def test_every_door_lies_in_the_picture_that_it_opens(matrix):
    _, figure = matrix
    axes = {}
    for trace in figure.data:
        if trace.type == "heatmap":
            axes[trace.xaxis, trace.yaxis] = (len(np.array(trace.x)), len(np.array(trace.y)))
        elif trace.customdata is not None and len(trace.customdata[0]) == 2:
            x, y = trace.customdata[0]
            sizes = {"age": 8, "<b>pay": 8, "city": 2}
            assert axes[trace.xaxis, trace.yaxis] == (sizes[x], sizes[y])


def test_pictures_of_a_row_end_at_the_same_height(matrix):
    """Where the noise is hatched, Plotly would give the hatching room around it."""
    _, figure = matrix
    for trace in figure.data:
        if trace.type == "heatmap":
            assert figure.layout[trace.yaxis.replace("y", "yaxis")].range is not None
            assert figure.layout[trace.xaxis.replace("x", "xaxis")].range is not None


def test_names_are_text(matrix):
    small, figure = matrix
    assert "<b>" not in str(figure.layout) and all("<b>" not in str(trace.hovertemplate) for trace in figure.data)
    assert pairs_in_words(small).endswith("age, <b>pay, city.")


def test_on_paper_a_figure_carries_its_colours_with_it(matrix):
    _, figure = matrix
    drawn = on_paper(figure)
    assert drawn.layout.template.data.heatmap[0].colorscale[0][1] == LIGHT_SHADES[0]
    assert drawn.layout.template == TEMPLATE and figure.layout.template != TEMPLATE
    page = standalone(figure, "</script><script>alert(1)</script>")
    assert page.startswith(b"<!doctype html>") and b"<h1>&lt;/script&gt;" in page and b"<script>alert(1)" not in page
    assert not re.findall(rb"<(?:script|link|img)[^>]*(?:src|href)=", page)


def people(columns: dict, domain: Domain, rows: int = 60):
    kernel = kernels.Euclidean(bandwidth=1.0)
    return release(Race(domain, kernel, rows=rows, width=400, seed=7), pd.DataFrame(columns), Budget(epsilon=50))


RNG = np.random.default_rng(3)
X, Y = RNG.normal(2.0, 0.4, 3000), RNG.normal(8.0, 0.4, 3000)
CITY = ["Bern"] * 2700 + ["Basel"] * 300


def test_a_map_is_dark_where_the_people_are():
    picture = density_picture(people({"x": X, "y": Y}, Domain.of(x=(0, 10), y=(0, 10))))
    opacity = picture[..., 3]
    assert picture.shape == (SIZE, SIZE, 4) and picture.dtype == np.uint8
    assert (picture[..., :3] == rgb(TEAL.shape)).all() and opacity.min() == 0 and opacity.max() == 255
    row, column = np.unravel_index(opacity.argmax(), opacity.shape)
    assert abs((column + 0.5) / SIZE * 10 - 2.0) < 1 and abs((1 - (row + 0.5) / SIZE) * 10 - 8.0) < 1


def test_a_hill_is_highest_where_the_people_are():
    opacity = density_picture(people({"x": X}, Domain.of(x=(0, 10))))[..., 3]
    heights = (opacity > 0).sum(axis=0)
    assert abs((heights.argmax() + 0.5) / SIZE * 10 - 2.0) < 1
    assert 0.85 * SIZE < heights.max() < SIZE


def test_numbers_are_drawn_before_categories_and_the_rest_is_averaged():
    columns = {"city": CITY, "x": X, "y": Y}
    opacity = density_picture(people(columns, Domain.of(city=["Bern", "Basel"], x=(0, 10), y=(0, 10))))[..., 3]
    row, column = np.unravel_index(opacity.argmax(), opacity.shape)
    assert column < SIZE / 2 > row


def test_named_columns_are_drawn_in_their_order():
    made = people({"x": X, "y": Y}, Domain.of(x=(0, 10), y=(0, 10)))
    opacity = density_picture(made, ["y", "x"])[..., 3]
    row, column = np.unravel_index(opacity.argmax(), opacity.shape)
    assert column > SIZE / 2 and row > SIZE / 2


def test_categories_alone_are_bars():
    opacity = density_picture(people({"city": CITY}, Domain.of(city=["Bern", "Basel"])))[..., 3]
    heights = (opacity > 0).sum(axis=0)
    assert len(set(heights[: SIZE // 2])) == 1 and heights[0] > heights[-1]


def test_vectors_alone_cannot_be_drawn():
    domain = Domain((Vector("v", 3, 0, 1),))
    frame = {"v": list(RNG.random((20, 3)))}
    with pytest.raises(RequestError, match="vectors"):
        density_picture(people(frame, domain, rows=5))
