"""Reading a histogram axis by axis, against the kernel evaluated on the whole grid for every query."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, Numeric
from core.geometry.kernels import Euclidean, Exponential, Gaussian, Laplacian, Manhattan, Mixture, Smooth, SmoothSquared
from core.sketches import smoothing
from core.sketches.grid_axes import Axis
from core.sketches.histogram import SCALE, Histogram
from core.sketches.query_axes import LARGEST_ERROR, Places
from core.sketches.splines import coarsened, refined
from tests.depth import crossed, draws
from tests.sketches.checking import poured

PLANE = Domain.of(x=(-3, 3), y=(0, 10))
MIXED = Domain.of(x=(-3, 3), kind=["a", "b", "c"])


def picture(size: int) -> np.ndarray:
    """The places of a heatmap, a little beyond the bounds."""
    x, y = np.meshgrid(np.linspace(-3.5, 3.5, size), np.linspace(0.0, 10.0, size))
    return np.column_stack([x.ravel(), y.ravel()])


PLACES = {"picture": picture(12), "anywhere": np.random.default_rng(0).uniform((-3, 0), (3, 10), (90, 2))}
SUMS = [
    Euclidean(2.0, power=4),
    Exponential(1.0),
    Smooth((1.0, 3.0)),
    SmoothSquared(1.0, power=2),
    Manhattan(2.0, power=3),
    Mixture((Gaussian(1.0), Laplacian(2.0)), (0.5, 0.5)),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("asked", "kernel"),
    crossed(
        [("picture", (1, 0.3)), ("anywhere", ()), ("picture", ()), ("anywhere", (1, 0.3))],
        [Laplacian(1.0), Gaussian(1.0), *SUMS],
    ),
    ids=str,
)
def test_answers_are_those_of_the_whole_grid(asked, kernel):
    """A sum of products misses the kernel at every node by the stated error; the fit of a record takes it up to 6-fold.

    Of products, the whole grid and the axes are the same to float rounding.
    """
    queries, grids = PLACES[asked[0]], asked[1]
    sketch = Histogram(PLANE, kernel, (12, 16), *grids)
    records = np.random.default_rng(1).uniform((-3, 0), (3, 10), (40, 2))
    tables = sketch.grids(poured(sketch, records))
    estimate, gains, misfit = sketch.smoothing.read(tables, queries)
    counts = [table / scale for table, scale in zip(tables, sketch.scales, strict=True)]
    expected, expected_gains, _ = sketch.smoothing._read_whole(counts, queries)
    exact = kernel in (Gaussian(1.0), Laplacian(1.0))
    assert np.abs(estimate - expected).max() <= (1e-9 if exact else 6.0 * LARGEST_ERROR * len(records))
    assert gains == pytest.approx(expected_gains, rel=1e-7 if exact else 0.01)
    assert sketch.smoothing.noise_gains(queries) == pytest.approx(gains)
    assert (misfit >= 0.0).all() and misfit.max() > 0.0


def test_categories_are_an_axis_of_a_sum_of_products():
    sketch = Histogram(MIXED, Exponential(1.0), (24,), 1, 0.3)
    frame = pd.DataFrame({"x": np.linspace(-3, 3, 30), "kind": ["a", "b", "c"] * 10})
    points = MIXED.encode_queries(frame, sketch.metric)
    tables = sketch.grids(poured(sketch, points))
    counts = [table / scale for table, scale in zip(tables, sketch.scales, strict=True)]
    estimate, gains, _ = sketch.smoothing.read(tables, points)
    expected, expected_gains, _ = sketch.smoothing._read_whole(counts, points)
    assert np.abs(estimate - expected).max() <= 6.0 * LARGEST_ERROR * len(points)
    assert gains == pytest.approx(expected_gains, rel=0.01)


@pytest.mark.few(1)
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Exponential(0.5)], ids=str)
def test_what_is_read_together_changes_no_answer(kernel, monkeypatch):
    sketch = Histogram(PLANE, kernel, (12, 16), 1, 0.3)
    tables = sketch.grids(poured(sketch, PLACES["anywhere"]))
    whole = sketch.smoothing.read(tables, picture(20))
    alone = [sketch.smoothing.read(tables, query[None]) for query in picture(20)[::37]]
    monkeypatch.setattr(smoothing, "BLOCK", 1 << 14)
    monkeypatch.setattr(smoothing, "AT_ONCE", 170)
    parts = sketch.smoothing.read(tables, picture(20))
    for place in range(3):
        assert parts[place] == pytest.approx(whole[place], rel=1e-9, abs=1e-12)
        assert [one[place][0] for one in alone] == pytest.approx(whole[place][::37], rel=1e-9, abs=1e-12)


def test_pictures_take_no_more_memory_than_allowed():
    """A picture's places are read together, others in parts as small as they must be."""
    sketch = Histogram(PLANE, Exponential(0.5), (60, 80), 1, 0.3)
    assert len(list(sketch.smoothing._places(picture(100)))) == 1
    places = list(sketch.smoothing._places(np.random.default_rng(0).uniform((-3, 0), (3, 10), (10_000, 2))))
    terms = 2 * len(sketch.smoothing._terms)
    assert sum(part.count for part in places) == 10_000
    assert max(part.count for part in places) * terms * (terms + 1) // 2 <= smoothing.BLOCK


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=draws(16, 40))
def test_sums_over_a_table_are_those_of_every_query_alone(sides, crossed, seed):
    random = np.random.default_rng(seed)
    axes = tuple(Axis(place, 0.0, 1.0, side, 0) for place, side in enumerate(sides))
    choices = [random.normal(size=random.integers(1, 4)) for _ in sides]
    if crossed:
        points = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, len(sides))
    else:
        points = random.normal(size=(5, len(sides)))
    points = random.permutation(points)
    places = Places.of(points, axes)
    assert places.crossed or not crossed
    for values, which, axis in zip(places.values, places.which, axes, strict=True):
        assert (values[which, axis.coordinate] == points[:, axis.coordinate]).all()
    table = random.normal(size=[axis.counters for axis in axes])
    factors = [random.normal(size=(count, axis.counters)) for count, axis in zip(places.distinct, axes, strict=True)]
    pairs = [random.normal(size=(count, 6)) for count in places.distinct]
    weights = random.normal(size=6)
    sums, combined = places.sums(table, factors), places.combined(weights, pairs)
    for query in range(len(points)):
        whole = table
        for factor, which in zip(factors, places.which, strict=True):
            whole = np.tensordot(factor[which[query]], whole, (0, 0))
        assert sums[query] == pytest.approx(float(whole), abs=1e-9)
        product = math.prod(pair[which[query]] for pair, which in zip(pairs, places.which, strict=True))
        assert combined[query] == pytest.approx(float(product @ weights), abs=1e-9)


@given(st.integers(1, 6), st.integers(0, 4), st.integers(0, 2**32))
@settings(max_examples=draws(12, 30))
def test_coarsening_is_the_transpose_of_refining(cells, halvings, seed):
    random = np.random.default_rng(seed)
    weights = random.normal(size=(3, cells + 3))
    counts = random.normal(size=(3, (cells << halvings) + 3))
    assert (refined(weights, halvings) * counts).sum(axis=1) == pytest.approx(
        (weights * coarsened(counts, halvings)).sum(axis=1)
    )


def test_no_query_is_no_answer():
    sketch = Histogram(PLANE, Exponential(1.0), (4, 4))
    assert all(len(part) == 0 for part in sketch.smoothing.read(sketch.grids(sketch.zeros()), np.zeros((0, 2))))
    assert sketch.noise_variance(SCALE**2, np.zeros((0, 2))).shape == (0,)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [Laplacian(1.0), Exponential(1.0)], ids=str)
def test_estimates_of_several_tables_are_those_of_each_and_no_error_is_worked_out(kernel, monkeypatch):
    sketch = Histogram(PLANE, kernel, (12, 16), 1, 0.3)
    random, queries = np.random.default_rng(1), PLACES["anywhere"]
    tables = [poured(sketch, random.uniform((-3, 0), (3, 10), (40, 2))) for _ in range(2)]
    expected = [sketch.smoothing.read(sketch.grids(table), queries)[0] for table in tables]
    for errors in ("_misfit", "_gains_of_factors", "_gains_of"):
        monkeypatch.setattr(smoothing.Smoothing, errors, None)
    assert sketch.estimates(tables, 40, queries, 1.0) == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("cells", [(16, 16), (48, 48), (0, 48)])
def test_noise_of_two_grids_is_that_of_all_places_in_a_coarse_cell(cells):
    """Sizes are chosen by it. Places in one fine cell alone had half of it, and grids with twice the noise were taken.

    The reference asks at places all over the middle of the bounds, where no end of a grid is near.
    """
    domain = Domain((Numeric("x", 0, 90, step=1), Numeric("y", 0, 50)), scale="box")
    for halvings in (1, 3):
        made = Histogram(domain, Gaussian(0.1), cells, halvings, 0.1)
        expected = sum(
            gain / scale**2 for gain, scale in zip(made.smoothing.gains_along_axes, made.scales, strict=True)
        )
        places = np.random.default_rng(1).uniform(0.25, 0.75, (3_000, 2))
        places[:, 0] = np.rint(places[:, 0] * 90) / 90
        assert expected / made.smoothing.noise_gains(places).mean() == pytest.approx(1.0, rel=0.12)
