"""The box of all possible records against the domain's own encoder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.answerable import Box, half_widths
from core.domain import Categorical, Domain, Numeric, Vector
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Laplacian, Product
from core.sketches.race import Race

MIXED = (
    Numeric("age", 0, 120),
    Categorical("city", ("Bern", "Basel", "Chur")),
    Vector("embedding", 2, -1, 1),
    Categorical("sex", ("f", "m")),
)
QUERY = {"age": [33.0, 7.5], "city": ["Basel", "Chur"], "embedding": [[0.5, -1.0], [0.0, 0.25]], "sex": ["m", "f"]}


@pytest.mark.parametrize("scale", ["none", "box"])
@pytest.mark.parametrize("metric", ["l1", "l2"])
def test_columns_encoded_one_by_one_are_the_domain_encoded_at_once(scale, metric):
    domain = Domain(MIXED, scale=scale, category_distance=3.0)
    box = Box(domain, metric)
    whole = domain.encode_queries(QUERY, metric)
    for name, place in box.places.items():
        assert np.array_equal(box.encode(name, QUERY[name]), whole[:, place])
    held = box.encode_fixed({name: values[0] for name, values in QUERY.items()})
    assert np.array_equal(np.concatenate([held[name] for name in domain.names]), whole[0])


@pytest.mark.parametrize("metric", ["l1", "l2"])
def test_evenly_spread_points_are_possible_records(metric):
    box = Box(Domain(MIXED, scale="box"), metric)
    uniforms = np.random.default_rng(0).random((500, box.uniforms_needed()))
    points = box.uniform(uniforms)
    low, high = box.bounds
    assert ((points >= low) & (points <= high)).all()
    for block in box.blocks:
        assert (np.count_nonzero(points[:, block], axis=1) == 1).all()
        assert (points[:, block].sum(axis=1) == box.amplitude).all()
    again = box.domain.encode_queries(box.decode(points), metric)
    assert np.allclose(again, points, rtol=0, atol=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(-100, 100), st.floats(1e-3, 100))
def test_folding_ends_inside_and_leaves_alone_what_is_inside(values, low, width):
    box = Box(Domain.of(x=(low, low + width)), "l2")
    numbers = np.array(values)[:, None]
    folded = box.folded(numbers)
    assert ((folded >= low) & (folded <= low + width)).all()
    assert np.allclose(box.folded(folded), folded, rtol=0, atol=1e-9 * (abs(low) + width))


def test_folding_reflects_at_the_bounds():
    box = Box(Domain.of(x=(10, 20)), "l2")
    assert np.allclose(box.folded(np.array([[21.0], [9.0], [43.0], [15.0]]))[:, 0], [19.0, 11.0, 17.0, 15.0])


def test_a_random_category_is_any_of_them():
    box = Box(Domain(MIXED), "l2")
    points = box.uniform(np.full((3000, box.uniforms_needed()), 0.1))
    chosen = np.arange(3000) % 2 == 0
    before = points.copy()
    box.raise_some(points, box.places["city"], chosen, np.random.default_rng(0))
    assert np.array_equal(points[~chosen], before[~chosen])
    counts = np.count_nonzero(points[chosen][:, box.places["city"]], axis=0)
    assert counts.sum() == 1500 and (counts > 400).all()


@pytest.mark.parametrize("kernel", [Euclidean(4.0), Euclidean(4.0, power=3), Laplacian((2.0, 30.0)), Angular(power=2)])
def test_a_half_width_is_where_the_kernel_falls_to_one_half(kernel):
    box = Box.of(sketch := Race(Domain.of(x=(-100, 100), y=(0, 50)), kernel, rows=8, seed=1))
    widths = half_widths(sketch)
    low, high = box.bounds
    start = (low + 0.75 * (high - low))[None, :]
    for coordinate, width in enumerate(widths):
        there = start.copy()
        there[0, coordinate] += width
        closeness = kernel.evaluate(start, there)[0, 0]
        assert closeness == pytest.approx(0.5, abs=1e-6) or (
            width == pytest.approx(0.25 * (high - low)[coordinate]) and closeness > 0.5
        )


def test_a_half_width_is_never_more_than_a_quarter_of_the_bounds_and_never_zero():
    wide = Race(Domain.of(x=(0, 1)), Euclidean(1e6), rows=8, seed=1)
    assert half_widths(wide) == pytest.approx([0.25])
    narrow = Race(Domain.of(x=(0, 1)), Euclidean(1e-60), rows=8, seed=1)
    assert 0 < half_widths(narrow)[0] < 1e-6
    around_the_origin = Race(Domain.of(x=(-1, 1), y=(-1, 1)), Product((Angular(), Angular())), rows=8, seed=1)
    assert (half_widths(around_the_origin) > 1e-3).all()


def test_unknown_columns_and_values_get_a_sentence():
    box = Box(Domain(MIXED), "l2")
    with pytest.raises(RequestError, match="has no column 'height'"):
        box.column("height")
    with pytest.raises(RequestError, match="not on the public list"):
        box.encode_fixed({"city": "Paris"})
    with pytest.raises(RequestError, match="as a mapping"):
        box.encode_fixed([("city", "Bern")])
