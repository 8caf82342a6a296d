"""Populations on a lattice: sums by transforms are the kernel's own, and the flagship sample is explained."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.answerable import Box, half_widths
from core.analysis.population import Smoothing, _mesh, explaining_population, lattice_population
from core.domain import Domain
from core.geometry.kernels import Angular, Euclidean, Gaussian, Laplacian
from core.releases.release import load
from core.sources.public_tables import bundled_releases
from core.sources.public_tables import sample as bundled


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Euclidean(0.2, 4), Laplacian((0.1, 0.5))])
def test_sums_by_transforms_are_those_of_the_kernel(kernel):
    shape, pitch = (7, 12), np.array([0.1, 0.25])
    places = _mesh([(np.arange(count) + 0.5) * step for count, step in zip(shape, pitch, strict=True)])
    weights = np.random.default_rng(0).random(shape)
    exact = kernel.evaluate(places, places) @ weights.ravel()
    np.testing.assert_allclose(Smoothing(kernel, shape, pitch)(weights).ravel(), exact, rtol=1e-9)


@pytest.fixture(scope="module")
def city():
    return load(dict((one.name, path) for one, path in bundled_releases())["city"].read_bytes())


@pytest.mark.deep
def test_points_of_the_city_are_where_its_people_are(city):
    drawn = explaining_population(city, np.random.default_rng(0))
    assert drawn.misfit <= 1.0
    people = pd.read_parquet(bundled("city").path)[list(city.domain.names)].to_numpy(float)
    box = Box.of(city.sketch)
    cells = [np.linspace(low, high, 9) for low, high in zip(*box.bounds, strict=True)]
    points = drawn.draw(box, 50_000, np.random.default_rng(1))
    there, made = (np.histogram2d(*placed.T, bins=cells)[0] / len(placed) for placed in (people, points))
    assert np.abs(there - made).sum() / 2 < 0.05


def test_what_no_lattice_covers_is_left_to_places_that_are_tried(city):
    box, widths = Box.of(city.sketch), half_widths(city.sketch)
    assert lattice_population(city, Angular(1), box, widths) is None
    assert lattice_population(city, city.sketch.point_kernel, box, widths / 10) is None
    mixed = Box(Domain.of(x=(0, 1), kind=["a", "b"]), "l2")
    assert lattice_population(city, city.sketch.point_kernel, mixed, widths) is None
