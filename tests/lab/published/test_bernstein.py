"""The Bernstein mechanism against polynomials summed up the slow way, its sensitivity, and what it says of itself."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import BPoly

from core.domain import Domain, Vector
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Exponential, Gaussian, Laplacian, Product
from core.lab.published.bernstein import MAX_POINTS, Bernstein, iterated_operator
from core.privacy.budget import Budget, Neighbours, Sensitivity
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.plan import plan
from tests.depth import deep, draws
from tests.sketches.checking import poured

LINE, PLANE = Domain.of(x=(-3, 5)), Domain.of(x=(-3, 5), y=(0, 10))
SKETCHES = [
    Bernstein(LINE, Euclidean(0.5), 12),
    Bernstein(PLANE, Gaussian((1.0, 2.0)), 5, 3),
    Bernstein(PLANE, Laplacian(0.2), 6, 1),
    Bernstein(PLANE, Product((Exponential(2.0), Angular(3))), 4),
]
sketches = st.sampled_from(SKETCHES)
shares = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=6)


def points(sketch, rows) -> np.ndarray:
    low, high = sketch.domain.bounds(sketch.metric)
    rows = np.array(rows, dtype=float).reshape(-1, 2)[:, : len(low)]
    return np.asfortranarray(np.clip(low + rows * (high - low), low, high))


def filled(sketch, rows) -> np.ndarray:
    return poured(sketch, points(sketch, rows))


def slow_polynomial(values, places, iterations) -> np.ndarray:
    """I - (I - B)^h by the binomial sum over powers of B, each of them with its binomial coefficients written out."""
    degree = values.shape[0] - 1

    def bernstein(array, axis, at):
        basis = np.array([[comb(degree, v) * t**v * (1 - t) ** (degree - v) for v in range(degree + 1)] for t in at])
        return np.moveaxis(np.tensordot(basis, array, axes=(1, axis)), 0, axis)

    answers = []
    for place in places:
        array = values
        for axis, t in enumerate(place):
            powers, total = array, 0.0
            for i in range(1, iterations + 1):
                total = total + comb(iterations, i) * (-1) ** (i - 1) * bernstein(powers, axis, [t])
                powers = bernstein(powers, axis, np.arange(degree + 1) / degree)
            array = total
        answers.append(array.item())
    return np.array(answers)


@pytest.mark.thorough
@given(sketches, shares, shares.filter(len))
def test_without_noise_it_is_the_iterated_polynomial_of_the_kernel_sums(sketch, rows, queries):
    x, q = points(sketch, rows), points(sketch, queries)
    values = sketch.point_kernel.evaluate(sketch.lattice, x).sum(axis=1).reshape(sketch.shape)
    found = sketch.answer(filled(sketch, rows), len(rows), q, 0.0, 0.95).estimate
    expected = slow_polynomial(values, np.array(queries)[:, : q.shape[1]], sketch.iterations)
    assert found == pytest.approx(expected, abs=1e-5)


def test_one_iteration_is_the_polynomial_of_a_library():
    sketch = Bernstein(LINE, Gaussian(2.0), 30, 1)
    rows = np.random.default_rng(0).uniform(size=(100, 2))
    table = filled(sketch, rows)
    library = BPoly(table[:, None] / 2.0**sketch.bits, [-3, 5])
    queries = np.linspace(-3, 5, 57)[:, None]
    assert sketch.answer(table, 100, queries, 0.0, 0.95).estimate == pytest.approx(library(queries[:, 0]), rel=1e-9)


@pytest.mark.parametrize("degree", [1, 41, deep(1000)])
def test_queries_next_to_a_bound_are_those_at_it(degree):
    sketch = Bernstein(Domain.of(x=(0, 1)), Gaussian(0.5), degree)
    table = filled(sketch, [(0.2, 0.0)])
    near = np.array([0.0, 5e-324, 2.3e-308, 1e-306, 1e-200, 1e-30])[:, None]
    answers = sketch.answer(table, 1, near, 0.0, 0.95).estimate
    assert answers == pytest.approx(np.full(6, answers[0]), rel=1e-9)


def test_many_iterations_go_through_all_values():
    values = np.random.default_rng(0).normal(size=9)
    assert (iterated_operator(8, 1) == np.eye(9)).all()
    sketch = Bernstein(LINE, Gaussian(1.0), 4, 1000)
    table = filled(sketch, [(0.3, 0.0), (0.9, 0.0)])
    answers = sketch.answer(table, 2, sketch.lattice, 0.0, 0.95).estimate
    assert answers == pytest.approx(table / 2.0**sketch.bits, abs=1e-6)
    assert np.abs(iterated_operator(8, 200) @ values).max() < 1e3


@given(sketches, shares, st.tuples(*[st.floats(0, 1)] * 2), st.tuples(*[st.floats(0, 1)] * 2))
def test_no_neighbours_are_further_apart_than_declared(sketch, rows, one, other):
    base, first, second = (filled(sketch, r).astype(object) for r in (rows, [*rows, one], [*rows, other]))
    for relation, moved in ((Neighbours.ADD_REMOVE, first - base), (Neighbours.REPLACE_ONE, first - second)):
        declared = sketch.sensitivity(relation)
        assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.kernel.name)
def test_the_declared_bound_is_reached_and_no_record_is_far_beyond_it(sketch):
    declared = sketch.record_sensitivity(Neighbours.ADD_REMOVE)
    tried = sketch._tried_shares()
    moved = [filled(sketch, [tuple(np.append(place, 0.0)[:2])]).ravel().astype(object) for place in tried]
    assert max(m.sum() for m in moved) == declared.l1
    assert max((m**2).sum() for m in moved) == declared.l2_squared
    assert declared.blocks_l2**2 >= declared.l2_squared > (declared.blocks_l2 - 1) ** 2
    anywhere = points(sketch, np.random.default_rng(8).uniform(size=(2000, 2)))
    beyond = sketch._encoded(anywhere).sum(axis=1) / declared.l1
    assert beyond.max() < 1.01


def test_replaced_records_come_close_to_twice_the_bound():
    sketch = Bernstein(PLANE, Exponential(0.3), 8)
    declared = sketch.record_sensitivity(Neighbours.REPLACE_ONE)
    moved = (filled(sketch, [(0.25, 0.5)]) - filled(sketch, [(0.75, 0.5)])).astype(object)
    assert np.abs(moved).sum() > 0.98 * declared.l1 and (moved**2).sum() > 0.98 * declared.l2_squared


def test_the_paper_would_add_many_times_the_noise():
    sketch = Bernstein(Domain.of(x=(0, 100), y=(0, 100)), Gaussian(3.0), 40)
    paper = (41**2 << sketch.bits) ** 2 * 2.0
    assert plan(sketch, Budget(1)).noise.variance < paper / 150**2


@given(sketches, st.integers(0, 2**32), st.lists(st.integers(0, 2000), max_size=3))
def test_any_split_gives_the_same_table(sketch, seed, cuts):
    rows = np.random.default_rng(seed).uniform(size=(2000, 2))
    parts = sketch.zeros()
    for part in np.split(points(sketch, rows), sorted(cuts)):
        sketch.add(parts, np.asfortranarray(part))
    assert (parts == filled(sketch, rows)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("sketch", SKETCHES[:2], ids=lambda s: s.kernel.name)
def test_noise_variances_are_those_of_noise(sketch):
    """Over 2000 draws: within 20%, where one deviation is 3.5%; over 600, 38%."""
    rng = np.random.default_rng(3)
    queries = points(sketch, [(0.0, 0.3), (0.5, 1.0), (0.9, 0.52)])
    unit = 1 << sketch.bits
    tables = [rng.integers(-10, 11, sketch.shape) * unit for _ in range(draws(600, 2000))]
    variance = (21**2 - 1) / 12 * unit**2
    estimates = np.array([sketch.answer(table, 0, queries, variance, 0.95).estimate for table in tables])
    assert estimates.var(axis=0) == pytest.approx(sketch.noise_variance(variance, queries), rel=draws(38, 20) / 100)
    inside = points(sketch, rng.uniform(size=(3000, 2)))
    assert sketch.noise_variance(1.0) == pytest.approx(sketch.noise_variance(1.0, inside).mean(), rel=0.1)


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.kernel.name)
def test_intervals_hold_what_the_polynomial_misses(sketch):
    rng = np.random.default_rng(4)
    heap, queries = points(sketch, [rng.uniform(size=2)] * 50), points(sketch, rng.uniform(size=(100, 2)))
    table = sketch.zeros()
    sketch.add(table, heap)
    answers, exact = sketch.answer(table, 50, queries, 0.0, 0.95), sketch.exact(queries, heap)
    assert (answers.low <= exact + 0.1).all() and (exact - 0.1 <= answers.high).all()
    outside = sketch.answer(table, 50, queries + 20.0, 0.0, 0.95)
    assert np.isinf(outside.high).all() and np.isinf(outside.standard_error).all()


def test_sizes_follow_the_budget(monkeypatch):
    monkeypatch.setattr("core.lab.published.bernstein.DEGREES_OFFERED", (4, 10, 20, 40, 80))
    sketch = Bernstein(LINE, Gaussian(0.5))
    sizes = [sketch.sized_for(Budget(epsilon), 1000).degree for epsilon in (0.01, 1, 100)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
    made = forecast(Bernstein(LINE, Gaussian(0.5)), Budget(1), 1000)
    sized = sketch.sized_for(Budget(1), 1000)
    variance = plan(sized, Budget(1)).noise.variance
    assert made.noise_error == pytest.approx(np.sqrt(sized.noise_variance(variance)), rel=0.15)


@pytest.mark.parametrize("budget", [Budget(50), Budget(50, 1e-6)], ids=["pure", "approximate"])
def test_a_release_is_made_saved_and_read(budget):
    data = np.random.default_rng(6).uniform((-1, 2), (3, 8), (400, 2))
    made = release(Bernstein(PLANE, Gaussian(2.0), 16), data, budget)
    again = load(made.to_bytes())
    assert again.sketch == made.sketch
    assert again.answer(data[:20]).estimate == pytest.approx(made.sketch.exact(data[:20], data), rel=0.1)


def test_the_audit_passes_and_catches_too_little_noise(monkeypatch):
    sketch = Bernstein(Domain.of(x=(0, 1)), Exponential(0.1), 2)
    assert audit_sketch(sketch, Budget(epsilon=1), runs=4000, level=1 - 1e-8).passed
    sixth = sketch.record_sensitivity(Neighbours.ADD_REMOVE).l1 // 6
    monkeypatch.setattr(Bernstein, "record_sensitivity", lambda *_: Sensitivity(sixth, sixth**2))
    assert not audit_sketch(sketch, Budget(epsilon=1), runs=8000).passed


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.kernel.name)
def test_parameters_rebuild_the_sketch(sketch):
    assert Bernstein.from_parameters(sketch.domain, sketch.parameters()) == sketch
    assert sketch.setup_bytes < 200_000_000


@pytest.mark.parametrize(
    "change",
    [
        {"degree": None},
        {"degree": 0},
        {"degree": 2.0},
        {"degree": 400},
        {"degree": 1001},
        {"iterations": 0},
        {"iterations": 10**6},
        {"iterations": True},
        {"kernel": {"name": "jaccard", "power": 1}},
        {"kernel": {"name": "gaussian", "bandwidth": [1.0, 1.0, 1.0], "power": 1}},
        {"more": 1},
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(change):
    parameters = SKETCHES[1].parameters() | change
    with pytest.raises(RequestError) as refusal:
        Bernstein.from_parameters(PLANE, parameters)
    assert str(refusal.value).count("\n") == 0


def test_what_no_polynomial_answers_is_refused():
    for domain in (Domain.of(x=(0, 1), city=["a", "b"]), Domain((Vector("v", 9, 0, 1),))):
        with pytest.raises(RequestError):
            Bernstein(domain, Gaussian(1.0))
    with pytest.raises(RequestError):
        Bernstein(Domain((Vector("v", 8, 0, 1),)), Gaussian(1.0), 4)
    assert 5**8 > MAX_POINTS


def test_a_kernel_that_no_two_places_are_close_by_is_refused_when_a_size_is_looked_for():
    sketch = Bernstein(Domain.of(x=(0, 1), y=(0, 1), z=(0, 1)), Gaussian(1e-9))
    with pytest.raises(RequestError, match="too narrow"):
        sketch.sized_for(Budget(1), 1000)
