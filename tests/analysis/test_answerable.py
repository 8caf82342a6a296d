"""Pictures are as fine as a person waits for."""

import math

import numpy as np
import pytest

from core import load
from core.analysis.answerable import FEWEST_CELLS, READS, counters_read, map_size
from core.domain import Domain
from core.geometry.kernels import Euclidean, Gaussian
from core.privacy.budget import Budget
from core.releases.job import release
from core.sketches.histogram import Histogram
from core.sketches.race import Race
from tests.known_releases.make import FOLDER as KNOWN

PLANE = Domain.of(x=(0, 10), y=(0, 10))


@pytest.mark.parametrize("rows", [8, 4_000, 40_000])
@pytest.mark.parametrize("places", [1, 16])
def test_a_map_has_as_many_cells_as_are_wanted_and_may_be_read(rows, places):
    made = release(Race(PLANE, Euclidean(5.0), rows, 2), np.full((3, 2), 5.0), Budget(1))
    side = map_size(made, 200, places)
    assert FEWEST_CELLS <= side <= 200
    assert side == FEWEST_CELLS or counters_read(made, places * side**2) <= READS
    assert side == 200 or counters_read(made, places * (side + 1) ** 2) > READS


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Euclidean(0.5, 4)], ids=str)
def test_a_map_of_a_grid_that_is_read_along_its_axes_is_as_fine_as_wanted(kernel):
    made = release(Histogram(PLANE, kernel, (120, 120)), np.full((3, 2), 5.0), Budget(1))
    assert counters_read(made, 200**2) > READS
    assert map_size(made, 200) == 200


def test_answers_of_points_that_imitate_few_counters_are_as_dear_as_the_points():
    """The page of such a release took minutes to make: each place of a map weighs sixteen thousand points."""
    made = load(KNOWN / "network-1.npz")
    assert math.prod(made.sketch.shape) < 100 and made.sketch.weighed == 1 << 14
    assert FEWEST_CELLS < map_size(made, 200) < 50
