"""Collision probability is the kernel: the one fact that makes a table of counts a kernel sum."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma

from core.domain import Domain
from core.errors import RequestError
from core.geometry.hash_cells import columns
from core.geometry.hash_families import draw_hashes, profile_weights, slab_pitches
from core.geometry.kernels import Angular, Euclidean, Gaussian, Laplacian, Manhattan, Mixture, Product, Smooth, SmoothL1
from core.sketches.race import Race
from core.sketches.race_counting import pour
from tests.depth import crossed, draws

# |observed - kernel| is below 6 standard deviations but for 2e-9 a comparison (normal tail; Hoeffding's bound is of the
# same order), fewer than 200 comparisons a run: a false alarm below 1e-6.
SIGMAS = 6.0
ROWS = draws(1_200, 5_000)
LOW, HIGH = np.array([-4.0, -4.0]), np.array([4.0, 4.0])
POINTS = np.array([[0.5, -0.5], [0.6, -0.4], [1.5, 0.5], [-2.0, 3.0], [3.9, -3.9], [0.5, 3.5]])
KERNELS = [
    Euclidean(1.5),
    Euclidean((1.0, 4.0), power=2),
    Manhattan(2.0),
    Manhattan(3.0, power=2),
    Angular(),
    Angular(power=3),
    Laplacian(2.0),
    Laplacian((3.0, 1.0), power=2),
    Smooth(1.0),
    Smooth((3.0, 1.0), power=2),
    SmoothL1(2.0),
    SmoothL1((3.0, 1.0), power=2),
    Product((Euclidean(3.0), Laplacian(5.0))),
    Mixture((Euclidean(1.0), Angular(2), Laplacian(1.0)), (0.5, 0.3, 0.2)),
]


def collisions(kernel, width: int, groups: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Share of rows in which each point shares the first point's column, and which rows were rehashed."""
    places = columns(draw_hashes(kernel, (1, 1), ROWS, groups, seed), LOW, HIGH, width, seed)
    tables = []
    for point in POINTS:
        table = np.zeros((ROWS, places.width), np.int64)
        pour(np.asfortranarray(point[None]), places, table)
        assert (table.sum(axis=1) == 1).all()
        tables.append(table.argmax(axis=1))
    return np.array([(cells == tables[0]).mean() for cells in tables[1:]]), places.rehashed


@pytest.mark.few(2)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_collision_probability_is_the_kernel(kernel):
    observed, _ = collisions(kernel, width=1024, groups=ROWS, seed=11)
    expected = kernel.evaluate(POINTS[:1], POINTS[1:])[0]
    # Cauchy projections of a few rows need more than 1024 columns; rehashing those adds less than 1/1024.
    assert np.abs(observed - expected) == pytest.approx(
        0.0, abs=float(np.max(SIGMAS * np.sqrt(expected * (1 - expected) / ROWS))) + 1.0 / 1024
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("kernel", [Euclidean(0.2), Laplacian(0.5), Manhattan(0.3, power=2)], ids=str)
def test_rehashing_adds_exactly_one_over_w_to_distinct_cells(kernel):
    width = 16
    observed, rehashed = collisions(kernel, width, groups=ROWS, seed=12)
    k = kernel.evaluate(POINTS[:1], POINTS[1:])[0]
    expected = k + (1 - k) / width * rehashed.mean()
    assert rehashed.mean() > 0.95
    # A row that is not rehashed has few cells and a larger k; their share is below 5%.
    assert np.abs(observed - expected).max() < SIGMAS * np.sqrt(0.25 / ROWS) + 0.05 * (1 - rehashed.mean())


@pytest.mark.few(2)
@pytest.mark.parametrize("kernel", [Euclidean(1.5), Manhattan(2.0), Laplacian(2.0), Smooth(1.0)], ids=str)
def test_low_discrepancy_rows_are_unbiased_and_vary_less(kernel):
    """The same rows in groups: the mean over seeds is the kernel, and its spread is below that of independent rows."""
    rows, seeds = 256, draws(30, 60)
    pair = np.asfortranarray(POINTS[[0, 2]])
    expected = kernel.evaluate(pair[:1], pair[1:])[0, 0]
    means = []
    for seed in range(seeds):
        places = columns(draw_hashes(kernel, (1, 1), rows, 2, seed), LOW, HIGH, 1 << 14, seed)
        table = np.zeros((rows, places.width), np.int64)
        pour(pair, places, table)
        means.append((table.max(axis=1) == 2).mean())
    independent = np.sqrt(expected * (1 - expected) / rows)
    assert np.mean(means) == pytest.approx(expected, abs=SIGMAS * independent / np.sqrt(seeds))
    assert np.std(means) < 0.8 * independent


def test_kernels_that_no_hash_collides_with_are_refused_by_race():
    for kernel in (Gaussian(1.0), Mixture((Euclidean(1.0), Gaussian(1.0)), (0.5, 0.5))):
        with pytest.raises(RequestError, match="mechanism 'features'"):
            Race(Domain.of(x=(0, 1)), kernel)


def test_one_seed_gives_the_same_hashes_for_ever():
    """Known answers: if this fails, files released earlier can no longer be read rightly."""
    hashes = draw_hashes(Euclidean(2.0), (1, 1, 1), 8, 2, 123)
    assert hashes.coefficient[:6] == pytest.approx(KNOWN_COEFFICIENTS, abs=1e-11)
    assert hashes.offset[:3] == pytest.approx(KNOWN_OFFSETS, abs=1e-15)
    high = draw_hashes(Manhattan(2.0), (1,) * 5, 4, 2, 5)
    assert high.coefficient[:3] == pytest.approx(KNOWN_MANHATTAN, abs=1e-11)
    blocks = draw_hashes(Euclidean(1.0), (1,) * 6, 4, 1, 7)
    assert blocks.coefficient[:3] == pytest.approx(KNOWN_BLOCK, abs=1e-11)


KNOWN_COEFFICIENTS = [
    -0.419087278954521,
    -0.4346669198394011,
    0.10570563437431701,
    0.5411496904393971,
    -0.5217534183575481,
    0.35035452028296277,
]
KNOWN_OFFSETS = [0.8811209019375507, 0.13112090193755055, 0.38112090193755055]
KNOWN_MANHATTAN = [0.09788656758701109, 0.9532592444561487, -0.06634861234442724]
KNOWN_BLOCK = [1.5329936352300138, -0.5976636977966336, -0.7126163776156318]


@pytest.mark.parametrize("kernel", [Euclidean, Manhattan, Laplacian])
@pytest.mark.parametrize(("low", "high", "bandwidth"), [(1.6e308, 1.7e308, 1.0), (1e200, 1.1e200, 1e-110)])
def test_bounds_that_overflow_are_refused_before_a_cell_is_counted(kernel, low, high, bandwidth, monkeypatch):
    """Without a number of its own a cell could lie anywhere in memory."""
    monkeypatch.setattr("core.domain.column.FARTHEST_BOUND", np.inf)
    sketch = Race(Domain.of(x=(low, high)), kernel(bandwidth), 40, 100, seed=3)
    with pytest.raises(RequestError, match="too many bandwidths from zero"):
        sketch.zeros()


RANDOM_SLABS_SIGMAS, RANDOM_SLABS_ROWS = 6.0, draws(1_500, 4_000)
"""A collision rate is off by more than 6 standard deviations for 2e-9 of all draws; fewer than 50 are compared."""


@pytest.mark.parametrize("space", [1, 3, 5, 7, 21, 513])
def test_profiles_are_mixtures(space):
    weights = profile_weights(space)
    assert (weights >= 0).all() and weights.sum() == pytest.approx(1.0) and len(weights) == (space + 1) // 2


@pytest.mark.parametrize("space", [3, 5, 9])
@pytest.mark.parametrize("distance", [0.1, 1.0, 7.0])
def test_the_profile_averages_to_the_kernel_over_directions(space, distance):
    """E profile(c |u_1|), with the density of one coordinate of a uniform direction."""
    weights = profile_weights(space)
    norm = 2.0 * gamma(space / 2.0) / (np.sqrt(np.pi) * gamma((space - 1) / 2.0))

    def integrand(u: float) -> float:
        profile = sum(w * (1.0 + distance * u) ** -k for k, w in enumerate(weights, 1))
        return norm * (1.0 - u * u) ** ((space - 3) / 2.0) * profile

    assert quad(integrand, 0.0, 1.0)[0] == pytest.approx(1.0 / (1.0 + distance))


@pytest.mark.thorough
def test_pitches_share_a_slab_as_often_as_the_profile_says():
    weights = profile_weights(7)
    pitches = slab_pitches((np.arange(200_000) + 0.5) / 200_000, weights)
    for s in (0.05, 0.5, 3.0):
        expected = sum(w * (1.0 + s) ** -k for k, w in enumerate(weights, 1))
        assert np.maximum(1.0 - s / pitches, 0.0).mean() == pytest.approx(expected, abs=1e-4)


@pytest.mark.thorough
@pytest.mark.few(2)
@pytest.mark.parametrize(("power", "dimensions"), crossed([1, 2], [4, 1, 2, 3, 9]))
def test_collisions_are_the_kernel(dimensions, power):
    """Rows in groups of their own, so that they are independent."""
    kernel = Smooth(1.5, power)
    hashes = draw_hashes(kernel, (1,) * dimensions, RANDOM_SLABS_ROWS, RANDOM_SLABS_ROWS, 3)
    unit = np.random.default_rng(dimensions).normal(size=dimensions)
    for distance in (0.1, 1.0, 10.0):
        point = distance * unit / np.linalg.norm(unit)
        value = np.add.reduceat(hashes.coefficient * point[hashes.coordinate], hashes.first_term[:-1]) + hashes.offset
        shared = np.floor(value) == np.floor(hashes.offset)
        observed = np.mean(np.bincount(hashes.row, weights=~shared, minlength=RANDOM_SLABS_ROWS) == 0)
        expected = kernel.evaluate(np.zeros((1, dimensions)), point[None])[0, 0]
        assert abs(observed - expected) < RANDOM_SLABS_SIGMAS * np.sqrt(expected * (1.0 - expected) / RANDOM_SLABS_ROWS)
