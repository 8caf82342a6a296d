"""Answers over three columns are those of the maps through them."""

import numpy as np
import pytest

from core import Domain
from core.errors import RequestError
from core.figures.report.tables import table_of
from core.geometry import kernels
from core.tasks.density import grid
from core.tasks.volume import marginal_volume
from tests.releases_for_tests import small_release


@pytest.fixture(scope="module")
def release():
    domain = Domain.of(x=(0, 1), y=(0, 4), group=["a", "b"], z=(0, 9))
    return small_release(domain=domain, kernel=kernels.Euclidean(1.0))


def test_every_slice_is_the_map_through_it(release):
    volume = marginal_volume(release, "z", "x", "y", {"group": "b"}, size=6)
    assert volume.estimate.shape == (6, 6, 6) and volume.averaged == ()
    for at in (0, 5):
        held = {"group": "b", "y": volume.z_values[at]}
        slice_ = grid(release, "z", "x", held, 6)
        assert np.allclose(volume.estimate[at], slice_.estimate) and np.allclose(volume.low[at], slice_.low)


def test_a_category_is_an_axis_and_what_is_not_drawn_is_averaged_over(release):
    volume = marginal_volume(release, "x", "group", "y", size=4)
    assert volume.estimate.shape == (4, 2, 4) and volume.averaged == ("z",)


def test_a_table_has_a_row_a_place(release):
    volume = marginal_volume(release, "x", "group", "y", size=4)
    table = table_of(volume)
    row = table[(table["group"] == "b") & (table["x"] == volume.x_values[3]) & (table["y"] == volume.z_values[1])]
    assert len(table) == 32 and row["estimate"].item() == volume.estimate[1, 1, 3]


def test_it_needs_three_different_columns(release):
    with pytest.raises(RequestError, match="three different columns"):
        marginal_volume(release, "x", "y", "x")
