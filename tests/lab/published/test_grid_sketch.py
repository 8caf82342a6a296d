"""Flat and hierarchical histograms against NumPy's histogram, direct kernel sums and dense least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.sampling import sample
from core.domain import Domain, PrivacyUnit, Vector
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Gaussian, Jaccard, Laplacian
from core.lab.published.counted_grids import FlatHistogram, HierarchicalHistogram
from core.lab.published.grid_cells import Cells
from core.lab.published.grid_sketch import GridSums
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.registry import card
from tests.depth import draws
from tests.sketches.checking import poured

LINE = Domain.of(x=(-3, 5))
PLANE = Domain.of(x=(-3, 5), y=(0, 10))
MIXED = Domain.of(x=(-3, 5), city=["Bern", "Basel", "Chur"], y=(0, 10))
FLAT = [
    FlatHistogram(LINE, Euclidean(2.0), (7,)),
    FlatHistogram(PLANE, Gaussian(2.0), (5, 9)),
    FlatHistogram(MIXED, Laplacian(2.0), (4, 6)),
    FlatHistogram(Domain.of(city=["Bern", "Basel"]), Gaussian(1.0), ()),
]
TREES = [
    HierarchicalHistogram(LINE, Euclidean(2.0), 3),
    HierarchicalHistogram(LINE, Gaussian(1.0), 2, 5),
    HierarchicalHistogram(PLANE, Euclidean(2.0, 2), 2),
    HierarchicalHistogram(MIXED, Laplacian(2.0), 2, 3),
]
SKETCHES = FLAT + TREES


def names(sketch) -> str:
    return f"{sketch.name}-{sketch.domain.dimensions}-{sketch.kernel.name}"


def drawn(sketch, n: int, seed: int = 0) -> np.ndarray:
    """Encoded records that lie anywhere in the bounds."""
    return sketch.grid.places(np.random.default_rng(seed).random((n, len(sketch.grid.axes))))


def axis_edges(axis) -> np.ndarray:
    return np.arange(axis.count + 1) - 0.5 if axis.categories else np.linspace(axis.low, axis.high, axis.count + 1)


def slow_counts(sketch, points) -> np.ndarray:
    """Counts of the cells, by NumPy's histogram."""
    columns = [
        points[:, axis.coordinate : axis.coordinate + axis.categories].argmax(axis=1)
        if axis.categories
        else points[:, axis.coordinate]
        for axis in sketch.grid.axes
    ]
    return np.histogramdd(np.column_stack(columns), [axis_edges(axis) for axis in sketch.grid.axes])[0]


def slow_centres(sketch) -> np.ndarray:
    """Centres of all cells, encoded one by one."""
    points = np.zeros((sketch.grid.size, sketch.domain.dimensions))
    for row, cell in enumerate(np.ndindex(sketch.grid.counts)):
        for place, axis in zip(cell, sketch.grid.axes, strict=True):
            edges = axis_edges(axis)
            if axis.categories:
                points[row, axis.coordinate + place] = sketch.domain.amplitude(sketch.metric)
            else:
                points[row, axis.coordinate] = (edges[place] + edges[place + 1]) / 2
    return points


def tree_matrix(sketch) -> np.ndarray:
    """Nodes by leaves: 1 where the leaf is below the node, node by node."""
    leaves = np.array(list(np.ndindex(sketch.grid.counts)))
    rows = []
    for height in range(sketch.depth + 1):
        side = [1 if axis.categories else sketch.branches**height for axis in sketch.grid.axes]
        boxes = [count // wide for count, wide in zip(sketch.grid.counts, side, strict=True)]
        rows += [(leaves // side == node).all(axis=1) for node in np.ndindex(*boxes)]
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("sketch", FLAT, ids=names)
def test_without_noise_a_flat_histogram_is_numpys_read_at_its_centres(sketch):
    records, queries = drawn(sketch, 200), drawn(sketch, 20, 1)
    table = poured(sketch, records)
    assert (table.reshape(sketch.grid.counts) == slow_counts(sketch, records)).all()
    expected = sketch.point_kernel.evaluate(queries, slow_centres(sketch)) @ slow_counts(sketch, records).ravel()
    assert sketch.answer(table, 200, queries, 0.0, 0.95).estimate == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("sketch", TREES, ids=names)
def test_consistent_leaves_are_dense_least_squares(sketch):
    matrix = tree_matrix(sketch)
    records = drawn(sketch, 200)
    table = poured(sketch, records)
    assert (table == matrix @ slow_counts(sketch, records).ravel()).all()
    noisy = table + np.random.default_rng(3).integers(-9, 10, table.shape)
    expected, *_ = np.linalg.lstsq(matrix, noisy, rcond=None)
    assert sketch.cell_counts(noisy, 200, 1.0).ravel() == pytest.approx(expected, abs=1e-8)
    assert sketch.cell_counts(table, 200, 1.0) == pytest.approx(slow_counts(sketch, records), abs=1e-9)
    queries = drawn(sketch, 20, 1)
    closeness = sketch.point_kernel.evaluate(queries, slow_centres(sketch))
    answers = sketch.answer(noisy, 200, queries, 0.0, 0.95)
    assert answers.estimate == pytest.approx(closeness @ expected, abs=1e-8)
    gains = np.einsum("nm,mk,nk->n", closeness, np.linalg.inv(matrix.T @ matrix), closeness)
    assert sketch.noise_variance(3.0, queries) == pytest.approx(3.0 * gains)
    ones = np.ones(sketch.grid.size)
    assert sketch.total_variance(2.0) == pytest.approx(2.0 * ones @ np.linalg.inv(matrix.T @ matrix) @ ones)
    assert sketch.total(noisy) == pytest.approx(expected.sum())


@pytest.mark.parametrize("sketch", FLAT, ids=names)
def test_the_noise_of_a_flat_answer_is_the_squared_kernel(sketch):
    queries = drawn(sketch, 20, 1)
    closeness = sketch.point_kernel.evaluate(queries, slow_centres(sketch))
    assert sketch.noise_variance(3.0, queries) == pytest.approx(3.0 * (closeness**2).sum(axis=1))
    assert sketch.noise_variance(1.0) == pytest.approx(
        sketch.noise_variance(1.0, drawn(sketch, 4000, 2)).mean(), rel=0.2
    )
    assert sketch.total_variance(2.0) == 2.0 * sketch.grid.size


@pytest.mark.few(1)
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(1.0), Euclidean(3.0, 2)], ids=str)
@pytest.mark.parametrize("crossed", [True, False])
def test_large_grids_are_read_axis_by_axis_with_the_same_answers(kernel, crossed, monkeypatch):
    cells = Cells.of(MIXED, kernel.metric, (8, 12))
    random = np.random.default_rng(5)
    queries = cells.places(random.random((40, 3)))
    if crossed:
        queries[:, 0], queries[:, -1] = np.repeat(queries[:8, 0], 5), np.tile(queries[:5, -1], 8)
    weights = random.normal(size=cells.counts)
    sides = (1, 4)
    slowly, slow_squares = (
        f(GridSums(cells, kernel))
        for f in (lambda reading: reading.sums(weights, queries), lambda reading: reading.squares(queries, sides))
    )
    closeness = kernel.evaluate(queries, cells.centre_points()).reshape(40, 8, 3, 12)
    blocks = closeness.reshape(40, 2, 4, 3, 3, 4).sum(axis=(2, 5))
    assert slow_squares[0] == pytest.approx((closeness**2).sum(axis=(1, 2, 3)))
    assert slow_squares[1] == pytest.approx((blocks**2).sum(axis=(1, 2, 3)))
    monkeypatch.setattr("core.lab.published.grid_sketch.DIRECT", 0)
    monkeypatch.setattr("core.lab.published.grid_sketch.BLOCK", 2000)
    fast = GridSums(cells, kernel)
    assert fast.sums(weights, queries) == pytest.approx(slowly, abs=3e-5 * np.abs(weights).sum())
    assert fast.squares(queries, sides) == pytest.approx(slow_squares, rel=2e-3)
    assert fast.sums(weights, queries[:0]).shape == (0,) and fast.squares(queries[:0], sides).shape == (2, 0)


@settings(max_examples=draws(8, 20))
@given(st.sampled_from(SKETCHES), st.integers(0, 2**32), st.lists(st.integers(0, 60), max_size=4))
def test_any_split_gives_the_same_table(sketch, seed, cuts):
    records = drawn(sketch, 60, seed)
    parts = sketch.zeros()
    for part in np.split(records, sorted(cuts)):
        sketch.add(parts, np.asfortranarray(part))
    assert (parts == poured(sketch, records)).all()


@pytest.mark.parametrize("sketch", SKETCHES, ids=names)
@pytest.mark.parametrize("relation", Neighbours)
def test_neighbours_reach_the_declared_bound_and_never_pass_it(sketch, relation):
    """Pairs of all corners, and of records anywhere."""
    corners = sketch.grid.places(np.array(list(np.ndindex(*(2,) * len(sketch.grid.axes)))) * 0.999)
    tables = [poured(sketch, record[None]) for record in np.vstack([corners, drawn(sketch, 10)])]
    others = [sketch.zeros()] if relation is Neighbours.ADD_REMOVE else [sketch.zeros(), *tables]
    changes = [table - other for table in tables for other in others]
    declared = sketch.sensitivity(relation)
    assert max(np.abs(change).sum() for change in changes) == declared.l1
    assert max((change**2).sum() for change in changes) == declared.l2_squared
    assert max(np.abs(change).max() for change in changes) == 1


@pytest.mark.parametrize("sketch", SKETCHES, ids=names)
def test_a_release_is_made_saved_and_read(sketch):
    records = drawn(sketch, 300)
    natural = sketch.domain.decode_points(records, sketch.metric)
    made = release(sketch, natural, Budget(epsilon=100))
    again = load(made.to_bytes())
    assert again.sketch == sketch == type(sketch).from_parameters(sketch.domain, sketch.parameters())
    noiseless = sketch.answer(poured(sketch, records), 300, records[:20], 0.0, 0.95)
    assert again.answer(natural[:20]).estimate == pytest.approx(noiseless.estimate, abs=2.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", [FlatHistogram, HierarchicalHistogram])
@pytest.mark.parametrize("promise", [Budget("0.3"), Budget("0.3", "1e-6")], ids=["pure", "delta"])
def test_forecasts_know_the_noise_exactly(kind, promise):
    """Against 400 noisy tables: within 15%, four deviations of one in 400 at least."""
    sketch = kind(PLANE, Gaussian(1.0)).sized_for(promise, 2000)
    predicted = forecast(sketch, promise, 2000)
    noise = calibrate(sketch.sensitivity(promise.neighbours), promise.epsilon, promise.delta)
    random = np.random.default_rng(8)
    queries = drawn(sketch, 40)
    tables = random.normal(0.0, noise.variance**0.5, (400, *sketch.shape))
    estimates = np.array([sketch.reading.sums(sketch.cell_counts(table, 200, 1.0), queries) for table in tables])
    inside = np.sqrt(sketch.noise_variance(noise.variance, queries))
    assert np.sqrt(np.mean((estimates / inside) ** 2)) == pytest.approx(1.0, rel=0.15)
    assert predicted.noise_error == pytest.approx(inside.mean(), rel=0.3)
    assert predicted.sampling_error < 2.0 * predicted.noise_error


@pytest.mark.parametrize("sketch", [FLAT[2], TREES[3]], ids=names)
def test_synthetic_points_are_drawn_by_the_counts_of_cells(sketch):
    """Cells of 60,000 points: five deviations of the most likely one are 1%."""
    records = sketch.grid.scattered(np.array([[0, 2, 1]] * 30 + [[2, 0, 4]] * 10), np.random.default_rng(1))
    made = release(sketch, MIXED.decode_points(records, sketch.metric), Budget(50), noise_source=SeededSource(1))
    drawn = sample(made, 60_000, seed=2)
    assert drawn.method == "cells" and drawn.points.x.between(-3, 5).all() and drawn.points.y.between(0, 10).all()
    counts = np.maximum(sketch.cell_counts(made.counters, made.counts, 1.0), 0.0)
    found = slow_counts(sketch, MIXED.encode_queries(drawn.points, sketch.metric))
    assert found / 60_000 == pytest.approx(counts / counts.sum(), abs=0.011)
    assert found[0, 2, 1] / 60_000 == pytest.approx(0.75, abs=0.05)


@pytest.mark.deep
def test_sizes_follow_the_budget():
    for kind, cells in ((FlatHistogram, lambda s: s.grid.size), (HierarchicalHistogram, lambda s: s.levels)):
        sizes = [cells(kind(LINE, Gaussian(0.2)).sized_for(Budget(epsilon), 10_000)) for epsilon in ("0.01", 1, 100)]
        assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


@pytest.mark.parametrize(
    "sketch", [FlatHistogram(LINE, Gaussian(1.0), (2,)), HierarchicalHistogram(LINE, Gaussian(1.0), 1)]
)
def test_the_audit_passes_and_catches_too_little_noise(sketch, monkeypatch):
    assert audit_sketch(sketch, Budget(1, neighbours="replace_one"), runs=4000, level=1 - 1e-8).passed
    honest = type(sketch).record_sensitivity
    monkeypatch.setattr(type(sketch), "record_sensitivity", lambda self, _: type(honest(self, _))(1, 1))
    assert not audit_sketch(sketch, Budget(1, neighbours="replace_one"), runs=8000).passed


@pytest.mark.thorough
def test_intervals_hold_what_they_should():
    """Nominally 95% of 200 queries over one release each of 20 draws of noise: above 90%."""
    random = np.random.default_rng(1)
    data = np.column_stack([random.normal(1, 1, 3000).clip(-3, 5), random.gamma(3, 1, 3000).clip(0, 10)])
    sketch = FlatHistogram(PLANE, Euclidean(1.0, 2), (12, 12))
    exact = sketch.exact(data[:200], data)
    held = []
    for seed in range(20):
        answers = release(sketch, data, Budget(1), noise_source=SeededSource(seed)).answer(data[:200])
        held.append((answers.low <= exact) & (exact <= answers.high))
    assert 0.9 < np.mean(held) <= 1.0


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (FlatHistogram, {"kernel": Gaussian(1.0).to_dict()}),
        (FlatHistogram, {"kernel": Gaussian(1.0).to_dict(), "cells": None}),
        (FlatHistogram, {"kernel": Gaussian(1.0).to_dict(), "cells": [4]}),
        (FlatHistogram, {"kernel": Gaussian(1.0).to_dict(), "cells": [4, 0]}),
        (FlatHistogram, {"kernel": Gaussian(1.0).to_dict(), "cells": [4, 2.5]}),
        (FlatHistogram, {"kernel": Gaussian(1.0).to_dict(), "cells": [1 << 20, 1 << 20]}),
        (FlatHistogram, {"kernel": Angular().to_dict(), "cells": [1 << 11, 1 << 11]}),
        (FlatHistogram, {"kernel": Jaccard().to_dict(), "cells": [4, 4]}),
        (FlatHistogram, {"kernel": {"name": "none"}, "cells": [4, 4]}),
        (HierarchicalHistogram, {"kernel": Gaussian(1.0).to_dict(), "levels": None, "branches": 2}),
        (HierarchicalHistogram, {"kernel": Gaussian(1.0).to_dict(), "levels": 0, "branches": 2}),
        (HierarchicalHistogram, {"kernel": Gaussian(1.0).to_dict(), "levels": 3, "branches": 1}),
        (HierarchicalHistogram, {"kernel": Gaussian(1.0).to_dict(), "levels": 24, "branches": 64}),
        (HierarchicalHistogram, {"kernel": Gaussian(1.0).to_dict(), "levels": 14, "branches": 2}),
        (HierarchicalHistogram, {"kernel": Gaussian(1.0).to_dict(), "levels": 3, "branches": 2, "more": 1}),
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(kind, parameters):
    with pytest.raises(RequestError) as refusal:
        kind.from_parameters(PLANE, parameters)
    assert str(refusal.value).count("\n") == 0


def test_what_no_grid_can_do_is_refused():
    for kind in (FlatHistogram, HierarchicalHistogram):
        with pytest.raises(RequestError):
            kind(Domain((Vector("v", 1000, 0, 1),)), Gaussian(1.0))
    with pytest.raises(RequestError, match="column of numbers"):
        HierarchicalHistogram(Domain.of(city=["Bern", "Basel"]), Gaussian(1.0), 3)


def test_their_cards_make_them_and_several_records_a_person_count():
    for name, size in (("flat-histogram", 8), ("hierarchical-histogram", 3)):
        made = card(name).make(PublicInputs(MIXED, Budget(1), Gaussian(1.0), size=size))
        assert made.grid.counts == (8, 3, 8)
        assert card(name).make(PublicInputs(MIXED, Budget(1), Gaussian(1.0))).sized is False
    owned = FlatHistogram(Domain.of(x=(0, 1), unit=PrivacyUnit("who", 3)), Gaussian(1.0), (4,))
    assert owned.sensitivity(Neighbours.ADD_REMOVE).l2_squared == 9
