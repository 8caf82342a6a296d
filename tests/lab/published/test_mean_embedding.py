"""The kernel mean embedding against dense solves, its sensitivity, and what it says of itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Gaussian, Laplacian, Manhattan, Mixture, Product
from core.lab.published.kernel_values import BITS
from core.lab.published.mean_embedding import JITTER, MAX_POINTS, MeanEmbedding, inverse_root
from core.privacy.budget import Budget, Neighbours, Sensitivity
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.plan import plan
from tests.sketches.checking import poured

PLANE = Domain.of(x=(-3, 5), y=(0, 10))
MIXED = Domain.of(x=(0, 1), kind=["a", "b", "c"])
SKETCHES = [
    MeanEmbedding(PLANE, Euclidean(0.5), 40, seed=1),
    MeanEmbedding(PLANE, Gaussian(4.0), 70, seed=2),
    MeanEmbedding(PLANE, Mixture((Laplacian(0.2), Angular(3)), (0.7, 0.3)), 33, seed=3),
    MeanEmbedding(MIXED, Manhattan(0.3), 20, seed=4),
]
sketches = st.sampled_from(SKETCHES)
shares = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=6)


def points(sketch, rows) -> np.ndarray:
    """Encoded records from shares of the bounds; the second one says which category, where there are any."""
    rows = np.array(rows, dtype=float).reshape(-1, 2)
    if sketch.domain is MIXED:
        groups = np.array(["a", "b", "c"])[np.minimum((3 * rows[:, 1]).astype(int), 2)]
        return np.asfortranarray(MIXED.encode_queries({"x": rows[:, 0], "kind": groups}, sketch.metric))
    low, high = PLANE.bounds("l2")
    return np.asfortranarray(np.clip(low + rows * (high - low), low, high))


def dense_answers(sketch, records, queries) -> np.ndarray:
    """k_Z(q)' (K + c I)^-1 times the sum of k_Z(x), by a dense solve."""
    z, kernel = sketch.synthetic, sketch.point_kernel
    gram = kernel.evaluate(z, z) + sketch.jitter * np.eye(len(z))
    return kernel.evaluate(queries, z) @ np.linalg.solve(gram, kernel.evaluate(z, records).sum(axis=1))


@given(sketches, shares, shares.filter(len))
def test_without_noise_it_is_the_projection_on_the_synthetic_points(sketch, rows, queries):
    x, q = points(sketch, rows), points(sketch, queries)
    table = poured(sketch, x)
    expected = dense_answers(sketch, x, q)
    assert sketch.answer(table, len(x), q, 0.0, 0.95).estimate == pytest.approx(expected, abs=2e-3)
    by_weights = sketch.point_kernel.evaluate(q, sketch.synthetic) @ sketch.weights(table)
    assert by_weights == pytest.approx(expected, abs=2e-3)


def test_enough_points_know_a_smooth_kernel():
    sketch = MeanEmbedding(PLANE, Gaussian(5.0), 200, seed=5)
    rng = np.random.default_rng(0)
    x, q = (points(sketch, rng.uniform(size=(200, 2))) for _ in range(2))
    answers = sketch.answer(poured(sketch, x), 200, q, 0.0, 0.95)
    assert answers.estimate == pytest.approx(sketch.exact(q, x), rel=1e-3)
    assert np.array_equal(MeanEmbedding(PLANE, Gaussian(5.0), 200, seed=5).synthetic, sketch.synthetic)
    low, high = PLANE.bounds("l2")
    assert (sketch.synthetic >= low).all() and (sketch.synthetic <= high).all()


@given(sketches, shares, st.tuples(*[st.floats(0, 1)] * 2), st.tuples(*[st.floats(0, 1)] * 2))
def test_no_neighbours_are_further_apart_than_declared(sketch, rows, one, other):
    base, first, second = (poured(sketch, points(sketch, r)) for r in (rows, [*rows, one], [*rows, other]))
    for relation, moved in ((Neighbours.ADD_REMOVE, first - base), (Neighbours.REPLACE_ONE, first - second)):
        declared, moved = sketch.sensitivity(relation), moved.astype(object)
        assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.kernel.name)
def test_the_declared_bounds_are_reached_and_few_records_lie_beyond(sketch):
    declared, unit = sketch.record_sensitivity(Neighbours.ADD_REMOVE), 1 << sketch.bits
    anywhere = np.vstack([sketch._tried, points(sketch, np.random.default_rng(8).uniform(size=(2000, 2)))])
    moved = np.vstack([sketch._encoded(block) for block in sketch._blocks(anywhere)])
    lengths = np.abs(moved).sum(axis=1)
    tried = len(sketch._tried)
    assert lengths[:tried].max() == declared.l1 <= np.sqrt(sketch.points) * unit
    assert lengths[tried:].max() < 1.05 * declared.l1
    squares = (moved.astype(float) ** 2).sum(axis=1) / unit**2
    assert 1 - 20 * JITTER - 0.05 * sketch.largest_miss < squares.max() < 1 + 1e-4


def test_replaced_records_come_close_to_the_square_root_of_two():
    sketch = MeanEmbedding(Domain.of(x=(0, 1)), Gaussian(0.02), 100, seed=0)
    declared = sketch.record_sensitivity(Neighbours.REPLACE_ONE)
    one, other = (poured(sketch, np.array([[x]])).astype(object) for x in sketch.synthetic[[0, 1], 0])
    assert 0.99 * declared.l2_squared < ((one - other) ** 2).sum() <= declared.l2_squared
    assert np.abs(one - other).sum() <= declared.l1
    narrow, wide = (sketch.record_sensitivity(relation).l2_squared for relation in Neighbours)
    assert wide == pytest.approx(2 * narrow, rel=0.01)


def test_a_record_beyond_the_bounds_is_scaled_down(monkeypatch):
    sketch = MeanEmbedding(PLANE, Gaussian(4.0), 20, seed=2)
    x = points(sketch, [(0.3, 0.4)])
    honest = poured(sketch, x)
    monkeypatch.setitem(sketch.__dict__, "_l1", int(np.abs(honest).sum() // 3))
    assert poured(sketch, x) == pytest.approx(honest / 3, abs=40)
    assert np.abs(poured(sketch, x)).sum() <= sketch._l1


def test_an_inverse_root_is_one():
    random = np.random.default_rng(0).normal(size=(30, 30))
    matrix = random @ random.T + np.eye(30)
    root = inverse_root(matrix)
    assert (np.triu(root, 1) == 0).all() and root @ matrix @ root.T == pytest.approx(np.eye(30), abs=1e-10)


EXTREME = [
    (PLANE, Gaussian(5.0)),
    (PLANE, Angular(2)),
    (PLANE, Product((Laplacian(3.0),) * 16)),
    (Domain.of(x=(1e15, 1e15 + 1000)), Gaussian(10.0)),
]


@pytest.mark.parametrize(("domain", "kernel"), EXTREME, ids=["smooth", "angular", "product", "far from zero"])
def test_rounding_makes_no_record_longer_than_what_is_projected(domain, kernel):
    """What the bound of replaced records rests on: A K A' is at most the identity for the K that records meet.

    Points that are alike and bounds far from zero included, where a distance of scaled points is rounded most.
    """
    sketch = MeanEmbedding(domain, kernel, 250, seed=0)
    gram = sketch._values(sketch.synthetic) / 2.0**BITS
    assert sketch.jitter >= 250 * 3e-9 and np.linalg.eigvalsh(sketch.basis @ gram @ sketch.basis.T)[-1] <= 1.0
    near = np.clip(sketch.synthetic[:, None] + np.array([[0.0], [0.1], [1.0]]), *domain.bounds(sketch.metric))
    near = np.asfortranarray(near.reshape(-1, domain.dimensions))
    unit = 1 << sketch.bits
    raw = np.vstack([sketch._encoded(block) for block in sketch._blocks(near)]) / unit
    squares = (raw**2).sum(axis=1)
    assert squares.max() <= (1 + 2.0**-11) ** 2
    apart = squares[:, None] + squares - 2 * raw @ raw.T
    assert apart.max() <= sketch.record_sensitivity(Neighbours.REPLACE_ONE).l2_squared / unit**2


def test_fine_functions_are_moved_by_few_places():
    """The L1 norm that Laplace noise pays for: the square root of M for any basis, a quarter of it for this one."""
    sketch = MeanEmbedding(Domain.of(x=(0, 100)), Euclidean(1.0), 200, seed=0)
    assert sketch.record_sensitivity(Neighbours.ADD_REMOVE).l1 < 0.25 * np.sqrt(200) * 2**sketch.bits
    assert plan(sketch, Budget(1)).noise.distribution == "discrete_laplace"
    wide = MeanEmbedding(PLANE, Angular(), 30, seed=0)
    assert wide.noise_variance(4.0**wide.bits) <= 1.0


@given(sketches, st.integers(0, 2**32), st.lists(st.integers(0, 1500), max_size=3))
def test_any_split_gives_the_same_table(sketch, seed, cuts):
    x = points(sketch, np.random.default_rng(seed).uniform(size=(1500, 2)))
    parts = sketch.zeros()
    for part in np.split(x, sorted(cuts)):
        sketch.add(parts, np.asfortranarray(part))
    assert (parts == poured(sketch, x)).all()


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize("sketch", SKETCHES[:2], ids=lambda s: s.kernel.name)
def test_noise_variances_are_those_of_noise(sketch):
    """Over 2000 draws: within 20%, where one deviation is 3.5%."""
    rng = np.random.default_rng(3)
    queries, unit = points(sketch, [(0.0, 0.3), (0.5, 1.0), (0.9, 0.52)]), 1 << sketch.bits
    tables = [rng.integers(-10, 11, sketch.shape) * unit for _ in range(2000)]
    variance = (21**2 - 1) / 12 * unit**2
    answers = [sketch.answer(table, 0, queries, variance, 0.95) for table in tables]
    found = np.array([a.estimate for a in answers]).var(axis=0)
    assert found == pytest.approx(sketch.noise_variance(variance, queries), rel=0.2)
    assert answers[0].standard_error ** 2 == pytest.approx(sketch.noise_variance(variance, queries))


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.kernel.name)
def test_intervals_hold_what_the_span_misses(sketch):
    rng = np.random.default_rng(4)
    queries = points(sketch, rng.uniform(size=(100, 2)))
    for place in rng.uniform(size=(5, 2)):
        heap = points(sketch, [place] * 50)
        answers = sketch.answer(poured(sketch, heap), 50, queries, 0.0, 0.95)
        exact = sketch.exact(queries, heap)
        assert (answers.low <= exact + 0.1).all() and (exact - 0.1 <= answers.high).all()


def test_sizes_follow_the_budget_and_forecasts_know_the_noise(monkeypatch):
    monkeypatch.setattr("core.lab.published.mean_embedding.POINTS_OFFERED", (20, 60, 120))
    sketch = MeanEmbedding(Domain.of(x=(0, 10)), Gaussian(0.3), seed=0)
    sizes = [sketch.sized_for(Budget(epsilon), 1000).points for epsilon in (0.01, 100)]
    assert sizes[0] < sizes[1]
    sized = sketch.sized_for(Budget(1), 1000)
    variance = plan(sized, Budget(1)).noise.variance
    made = forecast(sketch, Budget(1), 1000)
    assert made.noise_error == pytest.approx(np.sqrt(sized.noise_variance(variance)), rel=0.15)


@pytest.mark.parametrize("budget", [Budget(50), Budget(50, 1e-6)], ids=["pure", "approximate"])
def test_a_release_is_made_saved_and_read(budget):
    rng = np.random.default_rng(6)
    data = {"x": rng.uniform(0.2, 0.9, 500), "kind": rng.choice(["a", "b"], 500)}
    made = release(MeanEmbedding(MIXED, Gaussian(0.5), 40), data, budget)
    again = load(made.to_bytes())
    assert again.sketch == made.sketch
    encoded = MIXED.encode_queries(data, "l2")
    assert again.answer(data).estimate == pytest.approx(made.sketch.exact(encoded, encoded), rel=0.1)


@pytest.mark.deep
def test_the_audit_passes_and_catches_too_little_noise(monkeypatch):
    sketch = MeanEmbedding(Domain.of(x=(0, 1)), Gaussian(0.2), 3, seed=0)
    assert audit_sketch(sketch, Budget(epsilon=1), runs=4000, level=1 - 1e-8).passed
    sixth = sketch.record_sensitivity(Neighbours.ADD_REMOVE).l1 // 6
    monkeypatch.setattr(MeanEmbedding, "record_sensitivity", lambda *_: Sensitivity(sixth, sixth**2))
    assert not audit_sketch(sketch, Budget(epsilon=1), runs=8000).passed


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.kernel.name)
def test_parameters_rebuild_the_sketch(sketch):
    again = MeanEmbedding.from_parameters(sketch.domain, sketch.parameters())
    assert again == sketch and np.array_equal(again.basis, sketch.basis)
    assert sketch.reseeded(9).seed == 9


@pytest.mark.parametrize(
    "change",
    [
        {"points": None},
        {"points": 1},
        {"points": 20.0},
        {"points": MAX_POINTS + 1},
        {"seed": 3},
        {"seed": "0" * 31},
        {"kernel": {"name": "jaccard", "power": 1}},
        {"kernel": {"name": "gaussian", "bandwidth": [1.0, 1.0, 1.0], "power": 1}},
        {"more": 1},
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(change):
    with pytest.raises(RequestError) as refusal:
        MeanEmbedding.from_parameters(PLANE, SKETCHES[1].parameters() | change)
    assert str(refusal.value).count("\n") == 0


def test_memory_is_known_before_anything_is_made():
    sketch = MeanEmbedding(PLANE, Gaussian(1.0), MAX_POINTS, seed=0)
    assert 8 * 4 * MAX_POINTS**2 < sketch.setup_bytes < 2**30 and "basis" not in vars(sketch)


def test_a_kernel_that_no_two_places_are_close_by_is_refused_when_a_size_is_looked_for():
    sketch = MeanEmbedding(Domain.of(x=(0, 1), y=(0, 1), z=(0, 1)), Gaussian(1e-4))
    with pytest.raises(RequestError, match="too narrow"):
        sketch.sized_for(Budget(1), 1000)
