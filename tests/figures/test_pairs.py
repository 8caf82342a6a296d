"""The matrix of small pictures: one a pair, one a column, and each a door."""

import re

import numpy as np
import pytest

from core.domain import Categorical, Domain, Numeric
from core.figures.pairs import pairs_in_words, pairs_matrix
from core.figures.paper import TEMPLATE, on_paper, standalone
from core.figures.scales import LIGHT_SHADES
from core.tasks.density import pairs
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
