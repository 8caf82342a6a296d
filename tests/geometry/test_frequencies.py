"""Frequencies: the mean of their cosines is the kernel, row by row, dense or structured."""

import numpy as np
import pytest
from scipy.stats import kstest

from core.errors import RequestError
from core.geometry.frequencies import blocks_of, draw_frequencies, draw_structured, rounded, uniform_phases
from core.geometry.kernels import (
    Euclidean,
    Exponential,
    Gaussian,
    Laplacian,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
)
from tests.depth import crossed, draws

# |mean - kernel| is below 6 standard deviations but for 2e-9 a comparison, fewer than 300 comparisons a run.
SIGMAS = 6.0
ROWS = draws(900, 6_000)
ALARM = 1e-9  # of one Kolmogorov-Smirnov test, fewer than 50 a run
RADIAL = [Gaussian(2.0), Gaussian(1.5, power=2), Exponential(2.0), Exponential(3.0, power=3)]
RADIAL += [Smooth(1.0), Smooth(2.0, power=3), SmoothSquared(1.5), SmoothSquared(2.0, power=2)]
KERNELS = [
    *RADIAL,
    Laplacian(2.0),
    Laplacian(4.0, power=2),
    SmoothL1(1.0),
    SmoothL1(3.0, power=2),
    Product((Gaussian(2.0), Laplacian(5.0))),
    Product((Gaussian(2.0), Smooth(3.0), Exponential(4.0))),
    Mixture((Exponential(1.0), Gaussian(3.0), SmoothL1(1.0)), (0.5, 0.3, 0.2)),
]


def differences(d: int) -> np.ndarray:
    """Points in several directions, near and far from the origin."""
    units = np.random.default_rng(d).normal(size=(6, d))
    return np.geomspace(0.1, 8.0, 6)[:, None] * units / np.linalg.norm(units, axis=1, keepdims=True)


def check_mean(kernel, waves: np.ndarray) -> None:
    d = waves.shape[1]
    z = differences(d)
    cosines = np.cos(2.0 * np.pi * waves @ z.T)
    expected = kernel.evaluate(np.zeros((1, d)), z)[0]
    error = cosines.std(axis=0, ddof=1) / np.sqrt(len(waves))
    assert (np.abs(cosines.mean(axis=0) - expected) < SIGMAS * error + 1e-12).all()


@pytest.mark.few(2)
@pytest.mark.parametrize(("dimensions", "kernel"), crossed([2, 1, 3, 6], KERNELS), ids=str)
def test_the_mean_cosine_is_the_kernel(kernel, dimensions):
    """Every row a group of its own, so that rows are independent; a Sobol sequence for each takes its time."""
    rows = ROWS if dimensions <= 3 else ROWS // draws(3, 6)
    check_mean(kernel, draw_frequencies(kernel, (1,) * dimensions, rows, rows, 11).waves)


@pytest.mark.few(2)
@pytest.mark.parametrize(("dimensions", "kernel"), crossed([3, 1, 4, 11], RADIAL), ids=str)
def test_the_mean_cosine_of_structured_rows_is_the_kernel(kernel, dimensions):
    """One row a block, the second or last of it in turn, over independent blocks."""
    check_mean(kernel, draw_structured(kernel, (1,) * dimensions, draws(1_000, 4_000), draws(1_000, 4_000), 12).waves)


@pytest.mark.few(1)
@pytest.mark.parametrize("row", [0, 1, 5])
def test_every_structured_row_alone_is_normal(row):
    rows = np.array(
        [draw_structured(Gaussian(1.0), (1,) * 5, 6, 1, seed).waves[row] for seed in range(draws(400, 800))]
    )
    for coordinate in (2.0 * np.pi * rows).T:
        assert kstest(coordinate, "norm").pvalue > ALARM
    products = (2.0 * np.pi) ** 2 * rows.T @ rows / len(rows)
    assert products == pytest.approx(np.eye(5), abs=SIGMAS * np.sqrt(2.0 / len(rows)))


@pytest.mark.parametrize("row", [0, 7, 24])
def test_every_row_of_a_group_alone_has_its_law(row):
    """Up to sign, which cosines do not know."""
    rows = np.array(
        [draw_frequencies(Exponential(1.0), (1, 1), 25, 1, seed).waves[row] for seed in range(draws(400, 800))]
    )
    for coordinate in (2.0 * np.pi * rows).T:
        assert kstest(np.abs(coordinate), "halfcauchy").pvalue > ALARM


def test_structured_rows_of_a_block_have_one_law_and_the_lengths_of_their_own():
    structured = draw_structured(Gaussian(1.0), (1,) * 8, 8, 1, 3)
    lengths = np.linalg.norm(structured.waves, axis=1)
    assert lengths == pytest.approx(structured.lengths) and len(set(lengths)) == 8


def test_blocks_share_out_the_rows_of_each_group():
    assert blocks_of(5, 30, 2).tolist() == [8, 7, 8, 7]
    assert blocks_of(8, 20, 4).tolist() == [5, 5, 5, 5]
    assert blocks_of(1, 4, 2).tolist() == [1, 1, 1, 1]


def test_bandwidths_belong_to_columns():
    one = draw_frequencies(Smooth(1.0), (1, 3), 10, 2, 5).waves
    many = draw_frequencies(Smooth((2.0, 0.5)), (1, 3), 10, 2, 5).waves
    assert many == pytest.approx(one / [2.0, 0.5, 0.5, 0.5])
    fast = draw_structured(Smooth((2.0, 0.5)), (1, 3), 10, 2, 5).waves
    assert fast == pytest.approx(draw_structured(Smooth(1.0), (1, 3), 10, 2, 5).waves / [2.0, 0.5, 0.5, 0.5])


def test_phases_are_uniform_and_even_in_a_group():
    assert kstest([uniform_phases(9, 1, seed)[4] for seed in range(draws(400, 800))], "uniform").pvalue > ALARM
    gaps = np.diff(np.sort(uniform_phases(89, 1, 3)))
    assert gaps.max() < 2.7 / 89


def test_rounding_keeps_forty_digits_of_any_number():
    numbers = np.array([1.0, -1.0 / 3.0, 1e-200, 7.7e200, 0.0])
    assert rounded(numbers) == pytest.approx(numbers, rel=2.0**-40)
    assert (rounded(numbers * (1.0 + 2.0**-52)) == rounded(numbers)).all()


def test_kernels_without_cosines_are_refused():
    for kernel in (Euclidean(1.0), Product((Gaussian(1.0), Euclidean(1.0)))):
        with pytest.raises(RequestError, match="mechanism 'race'"):
            draw_frequencies(kernel, (1,), 4, 2, 1)


def test_one_seed_gives_the_same_frequencies_for_ever():
    """Known answers: if this fails, files released earlier can no longer be read rightly."""
    dense = draw_frequencies(Smooth(2.0), (1, 1, 1), 8, 2, 123)
    assert dense.waves[:2].ravel() == pytest.approx(KNOWN_DENSE, rel=1e-11)
    assert dense.phases[:3] == pytest.approx(KNOWN_PHASES, abs=1e-15)
    blocks = draw_frequencies(Gaussian(1.0), (1,) * 6, 4, 1, 7)
    assert blocks.waves[0, :3] == pytest.approx(KNOWN_BLOCK, rel=1e-11)
    fast = draw_structured(SmoothSquared(1.0), (1,) * 6, 4, 1, 7)
    assert fast.waves[1, :3] == pytest.approx(KNOWN_FAST, rel=1e-11)
    separate = draw_frequencies(SmoothL1(1.0), (1,) * 6, 4, 1, 7)
    assert separate.waves[2, :3] == pytest.approx(KNOWN_SEPARATE, rel=1e-11)


KNOWN_DENSE = [
    -0.0014426119581258945,
    -0.00036944689639240025,
    0.0018941680380208936,
    0.08219530117537488,
    -0.32095525915974576,
    0.011980918294995035,
]
KNOWN_PHASES = [0.008456026795581661, 0.6264900155454766, 0.24452400429537136]
KNOWN_BLOCK = [0.17524119649010572, 0.03916441809411708, -0.13051080357013234]
KNOWN_FAST = [-0.182002136174554, 0.03512696880021495, 0.04411794165938462]
KNOWN_SEPARATE = [4.2647738971572835, -0.2242667499513118, 0.2444321562497862]
