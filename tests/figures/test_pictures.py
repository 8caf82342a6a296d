"""Gallery pictures: dark where many people are, blank where none are, on nothing and in teal."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, Race, Vector, release
from core.errors import RequestError
from core.figures.palette import TEAL, rgb
from core.figures.pictures import SIZE, density_picture
from core.geometry import kernels


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
