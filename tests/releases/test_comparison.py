"""What two releases differ by: bands with the noise of both, and refusals that say what differs."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.differences import grid_of_differences, line_of_differences
from core.domain import Categorical, Domain, Numeric
from core.errors import RequestError
from core.figures.difference_figures import difference_figure, difference_in_words
from core.geometry.kernels import Euclidean, Gaussian, Laplacian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.comparison import Banded
from core.releases.job import release
from core.sketches.distance import Distance
from core.sketches.histogram import Histogram
from core.sketches.race import Race
from core.sketches.tables.tables import Tables

LINE = Domain.of(x=(0, 100))
GRID = Histogram(LINE, Gaussian(8.0), (25,))
PLACE = np.array([[40.0]])


def made(sketch, values, seed, epsilon=1.0):
    return release(sketch, values, Budget(epsilon), noise_source=SeededSource(seed))


@pytest.mark.thorough
def test_bands_hold_the_exact_difference():
    """Of 95% bands, 60 pairs: 45 at least. False alarms: 1e-7. And not all of a hundred, as they are no longer."""
    random = np.random.default_rng(0)
    before, after = random.normal(40, 10, 400).clip(0, 100), random.normal(60, 10, 300).clip(0, 100)
    kernel = Gaussian(8.0)
    sums = [kernel.evaluate(PLACE, values[:, None]).sum() for values in (before, after)]
    held = np.zeros(2, dtype=int)
    for seed in range(60):
        pair = made(GRID, {"x": before}, seed), made(GRID, {"x": after}, 1_000 + seed)
        for place, shares in enumerate((False, True)):
            exact = sums[0] / 400 - sums[1] / 300 if shares else sums[0] - sums[1]
            low, high = pair[0].compare(pair[1], shares).interval(PLACE)
            held[place] += int(low[0] <= exact <= high[0])
    assert (held >= 45).all()


def test_normal_bands_add_their_variances():
    one = Banded(*np.array([[5.0], [3.0], [7.0], [1.0]]))
    other = Banded(*np.array([[1.0], [-0.5], [2.5], [0.75]]))
    found = one.minus(other)
    np.testing.assert_allclose([found.low, found.high], [[4.0 - 2.5], [4.0 + 2.5]])
    np.testing.assert_allclose(found.standard_error, [1.25])


def test_bands_of_all_at_once_are_longer():
    one, other = made(GRID, {"x": [1.0] * 50}, 1), made(GRID, {"x": [9.0] * 50}, 2)
    places = np.linspace(0, 100, 30)[:, None]
    each, together = (one.compare(other).answer(places, together=both) for both in (False, True))
    assert (together.high - together.low > each.high - each.low).all()
    np.testing.assert_array_equal(each.estimate, together.estimate)


def test_other_grids_of_the_same_kernel_are_compared():
    finer = Histogram(LINE, Gaussian(8.0), (50,))
    one, other = made(GRID, {"x": [30.0] * 500}, 1, 100), made(finer, {"x": [30.0] * 500}, 2, 100)
    assert abs(one.compare(other).estimate(np.array([[30.0]]))[0]) < 0.01


def test_pictures_of_differences():
    domain = Domain.of(x=(0, 10), y=(0, 10))
    sketch, random = Histogram(domain, Gaussian(1.5), (8, 8)), np.random.default_rng(0)
    left, right = ({"x": random.normal(at, 1, 2_000).clip(0, 10), "y": random.uniform(0, 10, 2_000)} for at in (3, 7))
    compared = made(sketch, left, 1).compare(made(sketch, right, 2))
    line, grid = line_of_differences(compared, "x", points=21), grid_of_differences(compared, "x", "y", size=16)
    assert line.low[6] > 0 > line.high[14]
    assert (grid.estimate[:, 4] > 0).all()
    for picture in (line, grid):
        assert difference_figure(picture, domain, "difference", True).data
        assert "more than noise" in difference_in_words(picture.estimate, picture.low, picture.high, True)


def test_average_distances_are_compared():
    sketch = Distance(LINE)
    one, other = made(sketch, {"x": [20.0] * 300}, 1, 50), made(sketch, {"x": [50.0] * 200}, 2, 50)
    assert one.compare(other).estimate(np.array([[20.0]]))[0] == pytest.approx(-30.0, abs=3.0)


def test_tables_are_compared_cell_by_cell():
    domain = Domain((Numeric("age", 0, 100), Categorical("city", ("Bern", "Chur"))))
    first = pd.DataFrame({"age": [25.0] * 300 + [75.0] * 100, "city": ["Bern"] * 200 + ["Chur"] * 200})
    second = pd.DataFrame({"age": [25.0] * 100 + [75.0] * 100, "city": ["Bern"] * 150 + ["Chur"] * 50})
    sketch = Tables.of(domain, bins=4)
    one, other = made(sketch, first, 1, 20), made(sketch, second, 2, 20)
    shares, counts = one.compare(other).table("city"), one.compare(other, shares=False).table("city")
    np.testing.assert_allclose(shares["estimate"], [-0.25, 0.25], atol=0.05)
    np.testing.assert_allclose(counts["estimate"], [50, 150], atol=10)
    assert (counts["low"] < counts["estimate"]).all() and (counts["estimate"] < counts["high"]).all()
    assert one.compare(other).mean("age")["estimate"][0] == pytest.approx(-12.5, abs=3)
    assert one.compare(other, shares=False).count(city="Bern")["estimate"][0] == pytest.approx(50, abs=10)
    with pytest.raises(RequestError, match="and not at places"):
        one.compare(other).answer(pd.DataFrame({"age": [1.0], "city": ["Bern"]}))
    with pytest.raises(RequestError, match="cells"):
        one.compare(made(Tables.of(domain, bins=5), second, 2))


@pytest.mark.parametrize(
    "other, reason",
    [
        (Histogram(Domain.of(y=(0, 100)), Gaussian(8.0), (25,)), "is of x, and the second of y"),
        (Histogram(Domain.of(x=(0, 90)), Gaussian(8.0), (25,)), "'x' is declared otherwise"),
        (Histogram(LINE, Gaussian(4.0), (25,)), "bandwidth of 8 and the second of 4"),
        (Histogram(LINE, Laplacian(8.0), (25,)), "kernels are others"),
        (Distance(LINE), "the first answers closeness, and the second distance"),
        (Race(LINE, Euclidean(8.0), 20, 10), "kernels are others"),
    ],
)
def test_what_differs_is_said(other, reason):
    values = {name: [1.0, 2.0] for name in other.domain.names}
    with pytest.raises(RequestError, match=reason):
        made(GRID, {"x": [1.0]}, 1).compare(made(other, values, 2))


def test_a_release_is_not_compared_with_itself():
    one = made(GRID, {"x": [1.0]}, 1)
    with pytest.raises(RequestError, match="same release"):
        one.compare(one)
