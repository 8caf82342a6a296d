"""Small pictures of every pair of columns and of every column, each a door to a large one.

Gallery pictures: dark where many people are, blank where none are, on nothing and in teal.
"""

import base64
import re

import numpy as np
import pandas as pd
import pytest

from core import Budget, Race, Vector, release
from core.analysis.density import pairs
from core.domain import Categorical, Domain, Numeric
from core.errors import RequestError
from core.figures.density_figures import density_map
from core.figures.palette import LIGHT_SHADES, TEAL, rgb
from core.figures.release_pictures import HIDDEN, MOST, SIZE, density_picture, pairs_facts
from core.figures.traces import TEMPLATE, hidden_by_noise, on_paper, standalone
from core.geometry import kernels
from tests.releases_for_tests import small_release

DOMAIN = Domain((Numeric("age", 0, 100), Numeric("<b>pay", 0, 9), Categorical("city", ("Bern", "Basel"))))


@pytest.fixture(scope="module")
def small():
    return pairs(small_release(domain=DOMAIN), size=8)


def shades(facts: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(facts["cells"]), np.uint8)


def test_there_is_a_map_for_every_pair_and_a_curve_for_every_column(small):
    facts = pairs_facts(small, {column.name: column for column in DOMAIN.columns})
    assert facts["names"] == ["age", "<b>pay", "city"] and facts["said"].endswith("age, <b>pay, city.")
    assert [(one["x"], one["y"]) for one in facts["maps"]] == [(0, 1), (0, 2), (1, 2)]
    assert [one["bars"] for one in facts["curves"]] == [False, False, True]
    assert [one["across"] for one in facts["maps"]] == [8, 8, 8] and len(shades(facts["maps"][1])) == 16
    assert not facts["maps"][1]["smooth"]  # categories are cells of their own


def test_shades_follow_the_numbers_and_what_the_noise_hides_is_told_apart(small):
    facts = pairs_facts(small, {column.name: column for column in DOMAIN.columns})
    for one, picture in zip(facts["maps"], small.heatmaps.values(), strict=True):
        hidden, shown = hidden_by_noise(picture).ravel(), shades(one)
        assert np.array_equal(shown == HIDDEN, hidden)
        seen = picture.estimate.ravel()[~hidden]
        assert np.allclose(shown[~hidden], MOST * seen / seen.max(), atol=0.51)
    curve = small.curves["age"]
    assert (shades(facts["curves"][0])[hidden_by_noise(curve)] == 0).all()


def test_the_darkest_place_of_distances_is_the_nearest(small):
    facts = pairs_facts(small, {column.name: column for column in DOMAIN.columns}, near=False)
    picture = small.heatmaps["age", "<b>pay"]
    assert shades(facts["maps"][0]).argmax() == picture.estimate.argmin() and (shades(facts["maps"][0]) != HIDDEN).all()
    assert shades(facts["curves"][0]).argmin() == small.curves["age"].estimate.argmin()


def test_on_paper_a_figure_carries_its_colours_with_it(small):
    figure = density_map(small.heatmaps["age", "<b>pay"], DOMAIN.columns[:2], "people")
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
