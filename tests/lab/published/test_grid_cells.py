"""The public grid, marginals counted on it, and kernel sums over weighted points, against slow references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Domain, Vector
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.lab.published.grid_cells import Cells, Marginals
from core.lab.published.synthetic_records import weighted_sums
from core.privacy.budget import Budget, Neighbours
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch, worst_neighbours
from tests.sketches.checking import poured

MIXED = Domain.of(x=(-4, 4), city=["Bern", "Basel", "Chur"], y=(0, 1))
COUNTS = (8, 3, 4)
GRID = Cells(MIXED, "l1", COUNTS)
CLIQUES = ((0,), (1,), (0, 1), (0, 1, 2))
SKETCH = Marginals(MIXED, "l1", COUNTS, CLIQUES)
dyadic = st.integers(0, 1 << 12).map(lambda place: place / (1 << 12))  # a nearest edge is then a matter of no rounding
cities = st.sampled_from(["Bern", "Basel", "Chur"])
rows = st.lists(st.tuples(dyadic.map(lambda share: 8 * share - 4), cities, dyadic), max_size=9)


def encoded(records) -> np.ndarray:
    columns = list(zip(*records, strict=True)) or [(), (), ()]
    types = (np.float64, object, np.float64)
    frame = {name: np.array(c, t) for name, c, t in zip(MIXED.names, columns, types, strict=True)}
    return MIXED.encode_queries(frame, "l1") if records else np.zeros((0, 5), order="F")


@given(rows)
def test_marginals_are_those_of_numpy(records):
    points = encoded(records)
    places = np.column_stack([points[:, 0], points[:, 1:4].argmax(axis=1), points[:, 4]])
    edges = [np.linspace(-4, 4, 9), np.arange(4) - 0.5, np.linspace(0, 1, 5)]
    for clique, marginal in zip(CLIQUES, SKETCH.marginals(poured(SKETCH, points)), strict=True):
        expected, _ = np.histogramdd(places[:, clique], [edges[axis] for axis in clique])
        assert (marginal == expected).all()


def test_points_lie_in_the_cells_they_are_centres_of():
    centres = GRID.centre_points()
    assert centres.shape == (GRID.size, 5) and GRID.size == 96
    cells = GRID.index(centres)
    assert (cells == np.indices(COUNTS).reshape(3, -1).T).all()
    assert (GRID.index(GRID.scattered(cells, np.random.default_rng(0))) == cells).all()
    assert GRID.centres(0)[0] == -3.5 and GRID.centres(2)[-1] == 0.875
    assert (np.unique(centres[:, 1:4]) == [0, MIXED.amplitude("l1")]).all()
    outside = centres[:2].copy()
    outside[:, 0] = (-9, 9)
    assert GRID.index(outside)[:, 0].tolist() == [0, 7]


@given(st.integers(0, 1000), st.lists(st.integers(0, 40), max_size=3))
def test_a_records_cell_does_not_depend_on_its_neighbours(seed, cuts):
    low, high = MIXED.bounds("l1")
    points = np.random.default_rng(seed).uniform(low, high, (40, 5))
    whole = GRID.index(points)
    parts = [GRID.index(np.asfortranarray(part)) for part in np.split(points, sorted(cuts))]
    assert (np.concatenate(parts) == whole).all()


def test_scaled_bounds_and_vectors_have_axes_of_their_own():
    boxed = Cells.of(Domain((Vector("v", 3, -2, 6), *MIXED.columns), scale="box"), "l2", 4)
    assert boxed.counts == (4, 4, 4, 4, 3, 4) and boxed.numeric == (0, 1, 2, 3, 5)
    assert Cells.of(MIXED, "l2", (8, 4)).counts == COUNTS


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("cliques", [CLIQUES, ((0, 2),), ((3,),), ((0,), (3,)), ((3,), (0, 3), (1,))])
def test_neighbours_reach_the_declared_bound_and_never_pass_it(relation, cliques):
    domain = Domain((*MIXED.columns, *Domain.of(z=(0, 1)).columns))
    sketch = Marginals(domain, "l1", (*COUNTS, 1), cliques)
    declared = sketch.sensitivity(relation)
    corners = np.array([[-4, 0.5, 0, 0, 0, 0], [4, 0, 0, 0.5, 1, 0.3], [-4, 0, 0, 0.5, 0, 1]], dtype=float)
    tables = [poured(sketch, corner[None]) for corner in corners]
    others = [sketch.zeros()] if relation is Neighbours.ADD_REMOVE else [sketch.zeros(), *tables]
    changes = [table - other for table in tables for other in others]
    assert max(np.abs(change).sum() for change in changes) == declared.l1
    assert max((change**2).sum() for change in changes) == declared.l2_squared
    assert max(np.abs(change).max() for change in changes) == 1
    first, second = worst_neighbours(sketch, relation)
    assert np.abs(first - second).sum() <= declared.l1


@pytest.mark.thorough
def test_a_marginal_answers_how_alike_records_are():
    low, high = MIXED.bounds("l1")
    uniform = np.random.default_rng(1).uniform(low, high, (300, 5))
    records, queries = uniform[:280], uniform[280:]
    table = poured(SKETCH, records)
    answers = SKETCH.answer(table, 280, queries, 0.0, 0.95)
    assert answers.estimate == pytest.approx(SKETCH.exact(queries, records))
    assert SKETCH.total(table) == pytest.approx(280)
    noise = np.random.default_rng(2).integers(-10, 11, (3000, *SKETCH.shape))
    variance = (21**2 - 1) / 12
    estimates = np.array([SKETCH.answer(one, 1, queries[:3], variance, 0.95).estimate for one in noise])
    assert estimates.var(axis=0) == pytest.approx(SKETCH.noise_variance(variance, queries[:3]), rel=0.2)
    assert np.var([SKETCH.total(one) for one in noise]) == pytest.approx(SKETCH.total_variance(variance), rel=0.2)


def test_marginals_are_released_saved_and_audited(monkeypatch):
    data = {"x": [1.0, 2.0, -3.0], "city": ["Bern", "Chur", "Bern"], "y": [0.1, 0.2, 0.9]}
    made = release(SKETCH, data, Budget(epsilon=100))
    again = load(made.to_bytes())
    assert again.sketch == SKETCH
    assert again.answer(data).estimate == pytest.approx(SKETCH.exact(encoded(rows_of(data)), encoded(rows_of(data))))
    small = Marginals(Domain.of(x=(0, 1)), "l2", (2,), ((0,),))
    assert audit_sketch(small, Budget(epsilon=1), runs=4000, level=1 - 1e-8).passed
    honest = Marginals.record_sensitivity
    monkeypatch.setattr(Marginals, "record_sensitivity", lambda self, _: honest(self, Neighbours.ADD_REMOVE))
    assert not audit_sketch(small, Budget(1, neighbours="replace_one"), runs=60_000).passed


def rows_of(data) -> list:
    return list(zip(*data.values(), strict=True))


def test_weighted_sums_are_those_of_every_pair(monkeypatch):
    random = np.random.default_rng(4)
    queries, points, weights = random.normal(size=(7, 2)), random.normal(size=(5, 2)), random.normal(size=(5, 2))
    kernel = Euclidean(0.7)
    pairs = np.array([[kernel.evaluate(q[None], p[None])[0, 0] for p in points] for q in queries])
    monkeypatch.setattr("core.lab.published.synthetic_records.BLOCK", 10)
    assert weighted_sums(kernel, queries, points, weights) == pytest.approx(pairs @ weights)
    assert weighted_sums(kernel, queries, points, weights[:, 0]) == pytest.approx(pairs @ weights[:, 0])


@pytest.mark.parametrize(
    "parameters",
    [
        {"norm": "l1", "counts": [8, 3, 4]},
        {"norm": "l3", "counts": [8, 3, 4], "cliques": [[0]]},
        {"norm": "l1", "counts": [8, 3], "cliques": [[0]]},
        {"norm": "l1", "counts": [8, 4, 4], "cliques": [[0]]},
        {"norm": "l1", "counts": [8, 3, 0], "cliques": [[0]]},
        {"norm": "l1", "counts": [8, 3, 2.5], "cliques": [[0]]},
        {"norm": "l1", "counts": [1 << 20, 3, 1 << 20], "cliques": [[0, 1, 2]]},
        {"norm": "l1", "counts": [8, 3, 4], "cliques": []},
        {"norm": "l1", "counts": [8, 3, 4], "cliques": [[]]},
        {"norm": "l1", "counts": [8, 3, 4], "cliques": [[3]]},
        {"norm": "l1", "counts": [8, 3, 4], "cliques": [[1, 1]]},
        {"norm": "l1", "counts": [8, 3, 4], "cliques": [[-1]]},
        {"norm": "l1", "counts": [8, 3, 4], "cliques": [[1, 0]]},
        {"norm": "l1", "counts": None, "cliques": None},
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(parameters):
    with pytest.raises(RequestError) as refusal:
        Marginals.from_parameters(MIXED, parameters)
    assert str(refusal.value).count("\n") == 0


def test_grids_of_too_many_axes_are_refused():
    with pytest.raises(RequestError, match="64 axes"):
        Cells.of(Domain((Vector("v", 1000, 0, 1),)), "l2", 2)
