"""A kernel drawn to scale: the curve is the kernel, in the columns' own units, however they are scaled."""

import numpy as np
import pytest

from core.domain import Categorical, Domain, Numeric, Vector
from core.figures.bandwidth_figures import half_distance, kernel_figure, kernel_in_words
from core.geometry.kernels import Angular, Euclidean, Laplacian, Manhattan

HEIGHT, AGE = Numeric("height", 50, 250, "cm"), Numeric("age", 0, 120, "years")
CITY = Categorical("city", ("Bern", "Basel", "Chur"))


@pytest.mark.parametrize("scale", ["none", "box"])
@pytest.mark.parametrize("kernel", [Euclidean(0.3), Manhattan(0.3, 2), Laplacian(0.3)])
def test_a_curve_is_the_kernel_between_its_own_bounds(kernel, scale):
    domain = Domain((HEIGHT,), scale=scale)
    (curve,) = kernel_figure(domain, kernel).data
    assert (curve.x[0], curve.x[-1]) == (50, 250)
    places = np.array(curve.x)[:, None]
    exact = kernel.evaluate(domain.encode_queries(places), domain.encode_queries(np.array([[150.0]])))[:, 0]
    np.testing.assert_allclose(curve.y, exact, atol=1e-12)


def test_two_numbers_are_a_map_in_their_own_units_with_a_line_where_closeness_is_half():
    domain = Domain((HEIGHT, AGE), scale="box")
    heat, line = kernel_figure(domain, Euclidean(0.5, 4)).data
    assert (heat.x[0], heat.x[-1], heat.y[0], heat.y[-1]) == (50, 250, 0, 120)
    x, y = np.meshgrid(heat.x, heat.y)
    points = domain.encode_queries(np.column_stack([x.ravel(), y.ravel()]))
    exact = Euclidean(0.5, 4).evaluate(points, domain.encode_queries(np.array([[150.0, 60.0]])))
    np.testing.assert_allclose(np.ravel(heat.z), exact[:, 0], atol=1e-6)
    assert (line.contours.start, line.contours.end) == (0.5, 0.5)


def test_categories_are_the_same_or_another():
    domain = Domain((AGE, CITY), scale="box", category_distance=0.5)
    _, bars = kernel_figure(domain, Laplacian(0.5)).data
    np.testing.assert_allclose(bars.y, [1.0, np.exp(-1.0)])


def test_a_bandwidth_a_column_holds_for_all_coordinates_of_its_categories():
    domain = Domain((CITY, AGE), scale="box", category_distance=0.5)
    kernel = Laplacian((0.25, 0.1))
    bars, curve = kernel_figure(domain, kernel).data
    np.testing.assert_allclose(bars.y, [1.0, np.exp(-2.0)])
    np.testing.assert_allclose(curve.y[-1], np.exp(-5.0))
    assert kernel_in_words(domain, kernel).startswith("Each person counts half at a distance of 8.32 years")


@pytest.mark.parametrize("columns", [(HEIGHT,), (HEIGHT, AGE), (HEIGHT, CITY), (HEIGHT, AGE, Numeric("x", 0, 1), CITY)])
def test_half_of_the_closeness_is_where_the_words_say(columns):
    domain, kernel = Domain(columns, scale="box"), Laplacian(0.1)
    distance = half_distance(domain, kernel, 0)
    assert distance == pytest.approx(0.1 * np.log(2) * 200, rel=1e-3)
    assert f"{distance:.3g} cm" in kernel_in_words(domain, kernel)


def test_a_kernel_wider_than_the_bounds_has_no_half():
    domain = Domain((HEIGHT,))
    assert half_distance(domain, Laplacian(10_000), 0) is None
    assert "still counts half or more" in kernel_in_words(domain, Laplacian(10_000))


def test_equal_distances_are_said_once():
    words = kernel_in_words(Domain.of(r=(0, 255), g=(0, 255), b=(0, 255)), Laplacian(20))
    assert words.count("13.9") == 1 and " in r" not in words


def test_angles_are_drawn_where_they_exist():
    domain = Domain.of(x=(-1, 1), y=(-1, 1))
    heat, _ = kernel_figure(domain, Angular(2)).data
    closeness = np.array(heat.z)
    assert closeness[-1, -1] == pytest.approx(1) and closeness[0, 0] == pytest.approx(0, abs=1e-6)
    assert "direction" in kernel_in_words(domain, Angular(2))


def test_very_wide_data_stays_quick_and_small():
    domain = Domain((Vector("embedding", 50_000, -1, 1),))
    (curve,) = kernel_figure(domain, Euclidean(1.0)).data
    assert 21 <= len(curve.x) <= 60 and max(curve.y) == pytest.approx(1, abs=0.2)


def test_a_name_is_never_markup():
    figure = kernel_figure(Domain((Numeric("<b>x</b>", 0, 1),)), Euclidean(0.1))
    assert figure.layout.xaxis.title.text == "&lt;b&gt;x&lt;/b&gt;"


def test_long_distances_are_said_in_full():
    domain = Domain.of(pay=(0, 20_000))
    assert "a distance of 1,390," in kernel_in_words(domain, Laplacian(2_000))
