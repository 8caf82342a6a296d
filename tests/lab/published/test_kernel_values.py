"""Kernels in whole numbers: as close to the kernel as said, a function of one record alone, and never beyond bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.geometry.kernels import (
    Angular,
    Euclidean,
    Exponential,
    Gaussian,
    Laplacian,
    Manhattan,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
)
from core.lab.published.kernel_values import BITS, KernelValues, add_bounded, largest_norms

KERNELS = [
    Euclidean((3.0, 1.0)),
    Euclidean(1.0, 32),
    Manhattan(2.0),
    Manhattan(1.0, 5),
    Gaussian(1.0, 32),
    Laplacian((1.0, 4.0)),
    Exponential(1.0),
    Smooth(0.3),
    SmoothSquared(1.0, 8),
    SmoothL1(1.0),
    Angular(),
    Angular(32),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_values_are_the_kernel_cut_toward_zero(kernel):
    rng = np.random.default_rng(0)
    for scale in 10.0 ** np.arange(-13, 14):
        records, places = rng.normal(size=(2, 30, 2)) * scale
        places[0], places[1], places[2], records[1] = records[0], 0.0, -records[0], 0.0
        off = kernel.evaluate(records, places) - KernelValues(kernel, places)(records) / 2.0**BITS
        assert -1e-10 < off.min() and off.max() < 2.0**-BITS + 1e-10


def test_products_and_mixtures_are_made_in_whole_numbers():
    rng = np.random.default_rng(1)
    records, places = rng.normal(size=(2, 50, 2))
    parts = Gaussian(1.0), Angular(2), Laplacian((1.0, 3.0))
    values = [KernelValues(part, places)(records).astype(object) for part in parts]
    both = KernelValues(Product(parts), places)(records)
    assert (both == ((values[0] * values[1] >> BITS) * values[2] >> BITS)).all()
    mixture = Mixture((Product(parts[:2]), parts[2]), (0.25, 0.75))
    mixed = KernelValues(mixture, places)(records) / 2.0**BITS
    assert mixed == pytest.approx(mixture.evaluate(records, places), abs=4e-9)


@given(st.sampled_from(KERNELS), st.integers(0, 2**32), st.integers(1, 70), st.booleans())
def test_a_record_has_the_same_values_in_any_batch(kernel, seed, number, fortran):
    rng = np.random.default_rng(seed)
    records, places = rng.normal(size=(number, 2)), rng.normal(size=(37, 2))
    values = KernelValues(kernel, places)
    together = values(np.asfortranarray(records) if fortran else records)
    assert all((values(records[i : i + 1])[0] == together[i]).all() for i in range(number))


@given(st.integers(0, 2**32), st.integers(1, 1 << 34), st.integers(1, 1 << 50))
def test_no_record_moves_a_table_beyond_the_bounds(seed, l1, l2_squared):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-(1 << 24), (1 << 24) + 1, (6, 9)) >> rng.integers(0, 25, (6, 1))
    table = np.zeros(9, dtype=np.int64)
    for row in rows:
        moved = np.zeros(9, dtype=np.int64)
        add_bounded(row[None].copy(), l1, l2_squared, moved)
        table += moved
        norms = np.abs(moved).sum(), (moved**2).sum()
        assert norms[0] <= l1 and norms[1] <= l2_squared
        if np.abs(row).sum() <= l1 and (row**2).sum() <= l2_squared:
            assert (moved == row).all()
        else:  # no more is taken off than needed, but for cutting
            share = min(l1 / np.abs(row).sum(), np.sqrt(l2_squared / (row**2).sum()))
            assert np.abs(moved - row * share).max() <= 2.0 + 1e-6 * np.abs(row).max()
    together = np.zeros(9, dtype=np.int64)
    add_bounded(rows.copy(), l1, l2_squared, together)
    assert (together == table).all()


def test_largest_norms():
    assert largest_norms(np.array([[3, -4], [6, 0]])) == (7, 36)
    assert largest_norms(np.zeros((2, 2), dtype=np.int64)) == (1, 1)


def test_angles_of_points_next_to_the_origin_are_those_of_their_directions():
    """Though their squares vanish: bounds may be that small, and a record may be that near to zero in any bounds."""
    rng = np.random.default_rng(5)
    places, points = rng.normal(size=(20, 2)), rng.integers(-99, 99, (30, 2)).astype(float)
    kernel = Angular(3)
    expected = KernelValues(kernel, places)(points)
    for tiny in (2.0**-520, 2.0**-535, 2.0**-1070):
        assert np.array_equal(KernelValues(kernel, places)(points * tiny), expected)
        assert kernel.evaluate(points * tiny, places) == pytest.approx(kernel.evaluate(points, places), abs=1e-12)
