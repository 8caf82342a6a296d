"""Kernels against the integrals that define them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from core.errors import RequestError
from core.geometry import kernels
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
    coordinate_bandwidths,
    kernel_from_dict,
    of_coordinates,
)

distances = st.floats(1e-3, 1e5)
KERNELS = [
    Euclidean(2.0),
    Euclidean((1.0, 3.0), power=2),
    Manhattan(0.5),
    Laplacian(4.0, power=3),
    Angular(2),
    Gaussian((1.0, 3.0), power=2),
    Exponential(2.0),
    Smooth(0.5, power=3),
    SmoothSquared((2.0, 1.0)),
    SmoothL1(1.5),
    Product((Euclidean(1.0), Laplacian(2.0))),
    Mixture((Manhattan(1.0), Angular()), (0.25, 0.75)),
]


def collision_of_stable_hash(density, distance: float) -> float:
    """P(floor(t + u) = floor(u)) for |t| of the given density and u uniform: Datar et al., section 3.2."""
    return quad(lambda t: density(t / distance) / distance * (1.0 - t), 0.0, 1.0, epsrel=1e-12, limit=500)[0]


@given(distances)
def test_euclidean_is_the_collision_integral_of_a_normal_projection(distance):
    expected = collision_of_stable_hash(lambda t: math.sqrt(2 / math.pi) * math.exp(-t * t / 2), distance)
    value = Euclidean(1.0).evaluate(np.zeros((1, 1)), np.array([[distance]]))[0, 0]
    if distance > 0.1:  # the reference integral itself is only good for a spread-out projection
        assert value == pytest.approx(expected, rel=1e-9)
    assert 0.0 < value <= 1.0


@given(distances)
def test_manhattan_is_the_collision_integral_of_a_cauchy_projection(distance):
    expected = collision_of_stable_hash(lambda t: 2 / math.pi / (1 + t * t), distance)
    value = Manhattan(1.0).evaluate(np.zeros((1, 1)), np.array([[distance]]))[0, 0]
    if distance > 0.1:
        assert value == pytest.approx(expected, rel=1e-7)
    assert 0.0 < value <= 1.0


def test_known_values():
    x, y = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    assert Laplacian(7.0).evaluate(x, y)[0, 0] == pytest.approx(math.exp(-1.0))
    assert Laplacian((3.0, 4.0)).evaluate(x, y)[0, 0] == pytest.approx(math.exp(-2.0))
    assert Gaussian(5.0).evaluate(x, y)[0, 0] == pytest.approx(math.exp(-0.5))
    assert Gaussian((3.0, 4.0), power=2).evaluate(x, y)[0, 0] == pytest.approx(math.exp(-2.0))
    assert Exponential(2.5).evaluate(x, y)[0, 0] == pytest.approx(math.exp(-2.0))
    assert Smooth(5.0).evaluate(x, y)[0, 0] == pytest.approx(1 / 2)
    assert Smooth(2.5, power=2).evaluate(x, y)[0, 0] == pytest.approx(1 / 9)
    assert SmoothSquared(2.5).evaluate(x, y)[0, 0] == pytest.approx(1 / 5)
    assert SmoothL1((3.0, 2.0)).evaluate(x, y)[0, 0] == pytest.approx(1 / 4)
    right_angle = Angular().evaluate(
        np.array([[1.0, 0.0]]), np.array([[0.0, 2.0], [1.0, 1.0], [-5.0, 0.0], [0.0, 0.0]])
    )
    assert right_angle[0] == pytest.approx([0.5, 0.75, 0.0, 0.5])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_kernel_is_one_at_home_symmetric_and_survives_json(kernel):
    points = np.random.default_rng(1).uniform(-5, 5, (40, 2))
    values = kernel.evaluate(points, points)
    assert np.diag(values) == pytest.approx(1.0)
    assert values == pytest.approx(values.T)
    assert values.min() >= -1e-12 and values.max() <= 1 + 1e-12
    assert kernel_from_dict(kernel.to_dict()) == kernel


@given(st.floats(0.0, 50.0), st.integers(1, 5))
def test_smooth_kernels_are_exponentials_of_random_scale(distance, power):
    """(1 + z)^-p is the mean of exp(-t z) over the Gamma(p) law of t."""

    def density(t: float) -> float:
        return t ** (power - 1) * math.exp(-t) / math.gamma(power)

    x, y = np.zeros((1, 1)), np.array([[distance]])
    for smooth, z in ((Smooth, distance), (SmoothSquared, distance**2), (SmoothL1, distance)):
        end = 60.0 / (1.0 + z)
        mean = quad(lambda t, z=z: density(t) * math.exp(-t * z), 0.0, end, epsabs=0.0, epsrel=1e-10)[0]
        assert smooth(1.0, power).evaluate(x, y)[0, 0] == pytest.approx(mean, rel=1e-7)


def test_every_kernel_has_the_name_that_files_and_commands_use():
    assert all(kind.name == name for name, kind in kernels.KERNELS.items())
    assert {"gaussian", "exponential", "laplacian", "smooth", "smooth-squared", "smooth-l1"} <= set(kernels.KERNELS)


def test_power_product_and_mixture_combine_values():
    x, y = np.random.default_rng(2).normal(size=(2, 7, 3))
    plain = Euclidean(2.0).evaluate(x, y)
    assert Euclidean(2.0, power=3).evaluate(x, y) == pytest.approx(plain**3)
    assert Product((Euclidean(2.0), Angular())).evaluate(x, y) == pytest.approx(plain * Angular().evaluate(x, y))
    mixed = Mixture((Euclidean(2.0), Laplacian(1.0)), (0.3, 0.7)).evaluate(x, y)
    assert mixed == pytest.approx(0.3 * plain + 0.7 * Laplacian(1.0).evaluate(x, y))


def test_a_bandwidth_a_column_becomes_one_a_coordinate():
    """A column of three categories has three coordinates, and each is measured in the column's bandwidth."""
    x, y = np.random.default_rng(3).normal(size=(2, 7, 4))
    measured = np.array([2.0, 0.5, 0.5, 0.5])
    for kernel, alone in ((Euclidean((2.0, 0.5), 2), Euclidean(1.0, 2)), (Laplacian((2.0, 0.5)), Laplacian(1.0))):
        expected = alone.evaluate(x / measured, y / measured)
        assert of_coordinates(kernel, (1, 3)).evaluate(x, y) == pytest.approx(expected)
    mixed = Mixture((Euclidean((2.0, 0.5)), Product((Euclidean(3.0), Angular()))), (0.4, 0.6))
    parts = of_coordinates(mixed, (1, 3)).parts
    assert parts == (Euclidean((2.0, 0.5, 0.5, 0.5)), mixed.parts[1])
    with pytest.raises(RequestError):
        of_coordinates(Euclidean((1.0, 2.0)), (1,))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Euclidean(0.0),
        lambda: Euclidean(float("nan")),
        lambda: Euclidean((1.0, -1.0)),
        lambda: Euclidean("wide"),
        lambda: Manhattan(1.0, power=0),
        lambda: Gaussian(0.0),
        lambda: Smooth(1.0, power=33),
        lambda: SmoothL1((1.0, float("inf"))),
        lambda: kernel_from_dict({"name": "smooth-squared", "bandwidth": "1", "power": 1.5}),
        lambda: Laplacian(1.0, power=True),
        lambda: Mixture((Euclidean(1.0),), (0.5,)),
        lambda: Mixture((Euclidean(1.0), Angular()), (1.0,)),
        lambda: Product(()),
        lambda: kernel_from_dict({"name": "gauss"}),
        lambda: kernel_from_dict({"name": "euclidean", "bandwidth": 1.0}),
        lambda: kernel_from_dict({"name": "product", "parts": "all"}),
        lambda: coordinate_bandwidths((1.0, 2.0), (1,)),
        lambda: Gaussian(10**400),
        lambda: Mixture((Gaussian(1.0),), (10**400,)),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(RequestError):
        make()
