"""Kernels of a distance as sums of products of columns: how close they come, and where there are none."""

import numpy as np
import pytest

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
from core.sketches.grid_axes import is_product_of_columns
from core.sketches.query_axes import LARGEST_ERROR, MAX_TERMS, Places, product_terms


def largest_error(kernel) -> float:
    """Over pairs of points from next to each other to far apart, in five dimensions."""
    random = np.random.default_rng(0)
    directions = random.normal(size=(4000, 5))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    places = directions * np.concatenate([[0.0], np.geomspace(1e-8, 1e7, 3999)])[:, None]
    origin = np.zeros((1, 5))
    told = sum(weight * term.evaluate(origin, places) for weight, term in product_terms(kernel))
    return np.abs(told - kernel.evaluate(origin, places)).max()


@pytest.mark.few(12)
@pytest.mark.parametrize("power", [1, 2, 3, 5, 8, 16, 32])
@pytest.mark.parametrize("made", [Euclidean, Exponential, Smooth, SmoothSquared, Manhattan, SmoothL1])
def test_every_kernel_of_a_distance_is_a_sum_of_products(made, power):
    kernel = made(1.0, power=power)
    terms = product_terms(kernel)
    assert 1 < len(terms) <= MAX_TERMS and all(weight > 0 for weight, _ in terms)
    assert all(is_product_of_columns(term) and term.metric == kernel.metric for _, term in terms)
    assert largest_error(kernel) <= LARGEST_ERROR


@pytest.mark.parametrize(
    ("kernel", "factors"),
    [
        (Euclidean((0.1, 1.0, 10.0, 2.0, 5.0), power=3), 1),
        (Mixture((Euclidean(1.0, power=4), Gaussian(2.0)), (0.3, 0.7)), 1),
        (Product((SmoothSquared(1.0, power=4), SmoothL1(3.0, power=32), Laplacian(2.0))), 2),
    ],
    ids=str,
)
def test_bandwidths_mixtures_and_products_are_taken_along(kernel, factors):
    assert largest_error(kernel) <= factors * LARGEST_ERROR


def test_products_are_themselves_and_others_have_no_sum():
    for kernel in (Gaussian(1.0), Product((Gaussian(1.0), Laplacian(2.0)))):
        assert product_terms(kernel) == ((1.0, kernel),)
    assert product_terms(Angular()) is None
    assert product_terms(Mixture((Gaussian(1.0), Angular()), (0.5, 0.5))) is None
    assert product_terms(Product((Euclidean(1.0), Smooth(1.0)))) is None  # too many


@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, 2, 6)])
def test_one_query_asked_by_itself_is_answered_as_among_others(shape):
    random = np.random.default_rng(0)
    table, factors = random.normal(size=shape), [random.normal(size=(9, size)) for size in shape]
    every = Places(tuple(np.zeros((9, 1)) for _ in shape), tuple(np.arange(9) for _ in shape)).sums(table, factors)
    for place in range(9):
        alone = Places(tuple(np.zeros((1, 1)) for _ in shape), tuple(np.zeros(1, int) for _ in shape))
        assert alone.sums(table, [one[place : place + 1] for one in factors]) == pytest.approx(every[[place]])
