"""Trigonometric polynomials: NumPy's Chebyshev series as slow reference, sensitivity, promises, and hostile files."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import chebyshev

from core.domain import Domain, PrivacyUnit
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Gaussian, Laplacian
from core.lab.published.chebyshev_series import NODES, ChebyshevFit, jackson, largest_l1_shift, largest_l2_shift
from core.lab.published.trigonometric import AMPLITUDE, Trigonometric
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.registry import sketch_from_parameters
from tests.depth import deep, draws
from tests.sketches.checking import poured

LINE = Domain.of(x=(-1, 4))
PLANE = Domain.of(x=(-1, 4), y=(1, 2))
SPACE = Domain.of(x=(-1, 4), y=(1, 2), z=(0, 1))
SKETCHES = [
    Trigonometric(LINE, Euclidean(0.5), 12, "none"),
    Trigonometric(LINE, Euclidean(0.5), 7, "jackson"),
    Trigonometric(PLANE, Angular(), 5, "none"),
    Trigonometric(SPACE, Laplacian((0.5, 0.3, 0.4)), 3, "jackson"),
]
sketches = st.sampled_from(SKETCHES)


def named(sketch) -> str:
    return f"{sketch.domain.dimensions}-{sketch.orders}"


def points(domain: Domain, n: int, seed: int = 5) -> np.ndarray:
    return np.asfortranarray(np.random.default_rng(seed).uniform(*domain.bounds(), (n, domain.dimensions)))


def answered(sketch, table, records, queries):
    return sketch.answer(table, records, np.asfortranarray(queries), 0.0, 0.95)


def scaled(sketch, rows) -> np.ndarray:
    low, high = sketch.domain.bounds(sketch.metric)
    return 2 * (rows - low) / (high - low) - 1


@given(sketches, st.integers(0, 2**32))
def test_integers_are_products_of_chebyshev_polynomials_cut_toward_zero(sketch, seed):
    (row,) = points(sketch.domain, 1, seed)
    expected = np.ones(1)
    for x in scaled(sketch, row[None])[0]:
        expected = np.multiply.outer(expected, chebyshev.chebvander(x, sketch.orders - 1)).ravel()
    table = poured(sketch, row[None])
    assert (np.abs(table) <= np.abs(AMPLITUDE * expected) + 1e-3).all()
    assert np.abs(table - AMPLITUDE * expected).max() < 1.001


@pytest.mark.thorough
@pytest.mark.parametrize("damping", ["jackson", deep("none")])
def test_without_noise_a_line_is_the_chebyshev_series_of_the_kernel(damping):
    """NumPy's interpolation at as many nodes, cut off and damped, and evaluated at the records."""
    sketch = Trigonometric(LINE, Euclidean(0.5), 12, damping)
    rows, queries = points(LINE, 40), np.vstack([points(LINE, 5, 6), [[-1.0], [4.0], [6.0]]])
    found = answered(sketch, poured(sketch, rows), 40, queries).estimate
    for query, estimate in zip(queries, found, strict=True):

        def at(x, query=query):
            return sketch.kernel.evaluate(query[None], (-1 + 2.5 * (x[:, None] + 1)))[0]

        series = chebyshev.chebinterpolate(at, NODES[1] - 1)[:12] * (jackson(12) if damping == "jackson" else 1)
        assert estimate == pytest.approx(chebyshev.chebval(scaled(sketch, rows)[:, 0], series).sum(), abs=1e-5)


def test_without_noise_a_plane_is_the_chebyshev_series_of_the_kernel():
    """Coefficients as sums over nodes, by numpy's matrices of polynomials."""
    sketch = Trigonometric(PLANE, Gaussian(0.7), 6, "none")
    rows, queries = points(PLANE, 40), points(PLANE, 5, 6)
    nodes = np.cos((np.arange(NODES[2]) + 0.5) * np.pi / NODES[2])
    vander = chebyshev.chebvander(nodes, 5) / NODES[2] * np.where(np.arange(6) > 0, 2, 1)
    grid = np.stack(np.meshgrid(-1 + 2.5 * (nodes + 1), 1 + 0.5 * (nodes + 1), indexing="ij"), axis=-1)
    found = answered(sketch, poured(sketch, rows), 40, queries).estimate
    for query, estimate in zip(queries, found, strict=True):
        values = sketch.kernel.evaluate(query[None], grid.reshape(-1, 2))[0].reshape(NODES[2], -1)
        polynomial = chebyshev.chebval2d(*scaled(sketch, rows).T, vander.T @ values @ vander)
        assert estimate == pytest.approx(polynomial.sum(), abs=1e-5)


def test_jacksons_factors_are_those_of_a_kernel_that_is_nowhere_negative():
    for orders in (1, 2, 7, 40):
        factors = jackson(orders)
        wave = chebyshev.chebval(np.linspace(-1, 1, 2001), factors * np.where(np.arange(orders) > 0, 2, 1))
        assert factors[0] == 1 and wave.min() > -1e-9


@pytest.mark.few(3)
@pytest.mark.parametrize(("orders", "dimensions"), [(1, 1), (2, 1), (3, 1), (6, 1), (17, 1), (2, 2), (3, 2), (5, 2)])
def test_shifts_are_the_largest_over_all_pairs_of_angles(orders, dimensions):
    """A grid of pairs of records, the corner and its opposites among them, against the bounds."""
    line = np.linspace(0, np.pi, 241 if dimensions == 1 else 25)
    table = np.cos(line[:, None] * np.arange(orders))
    if dimensions == 2:
        table = np.einsum("ar,bs->abrs", table, table).reshape(len(line) ** 2, -1)
    apart = [np.abs(table - row) for row in table]
    l1, l2 = max(d.sum(axis=1).max() for d in apart), max((d**2).sum(axis=1).max() for d in apart)
    assert l1 <= largest_l1_shift(orders, dimensions) <= l1 * 1.02 + 1e-9
    assert l2 <= largest_l2_shift(orders, dimensions) <= l2 * 1.02 + 1e-9


@given(sketches, st.data())
def test_no_neighbours_are_further_apart_than_declared(sketch, data):
    low, high = sketch.domain.bounds(sketch.metric)
    place = st.tuples(
        *(st.one_of(st.sampled_from([a, b, (a + b) / 2]), st.floats(a, b)) for a, b in zip(low, high, strict=True))
    )
    one, other = (poured(sketch, np.array([data.draw(place)])).astype(object) for _ in range(2))
    for relation, moved in ((Neighbours.ADD_REMOVE, one), (Neighbours.REPLACE_ONE, one - other)):
        declared = sketch.sensitivity(relation)
        assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared
        assert declared.blocks_l2**2 >= declared.l2_squared and declared.block == len(moved)


@pytest.mark.few(2)
@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_some_neighbours_reach_the_declared_bound(sketch):
    low, high = sketch.domain.bounds(sketch.metric)
    corner = poured(sketch, high[None]).astype(object)
    declared = sketch.sensitivity(Neighbours.ADD_REMOVE)
    assert (np.abs(corner).sum(), (corner**2).sum()) == (declared.l1, declared.l2_squared)
    angles = np.linspace(0, np.pi, draws(601, 3001))[:, None]
    moves = [np.cos(angles * line) for line in (*np.eye(len(low)), np.ones(len(low)))]
    tried = np.vstack([low + (high - low) * (cosines + 1) / 2 for cosines in moves])
    apart = np.array([poured(sketch, row[None]) - corner for row in tried]).astype(float)
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE)
    assert 0.995 * declared.l1 <= max(np.abs(apart).sum(axis=1).max(), np.abs(corner).sum()) <= declared.l1
    assert 0.995 * declared.l2_squared <= (apart**2).sum(axis=1).max() <= declared.l2_squared


@settings(max_examples=draws(12, 30))
@given(sketches, st.integers(0, 2**32), st.lists(st.integers(0, 1200), max_size=3))
def test_any_split_gives_the_same_table(sketch, seed, cuts):
    rows = points(sketch.domain, 1200, seed)
    parts = sketch.zeros()
    for part in np.split(rows, sorted(cuts)):
        sketch.add(parts, np.asfortranarray(part))
    assert (parts == poured(sketch, rows)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("sketch", [*SKETCHES[:-1], deep(SKETCHES[-1])], ids=named)
def test_noise_variance_is_that_of_the_decoding_and_intervals_hold_without_noise(sketch):
    queries, low, high = points(sketch.domain, 6, 8), *sketch.domain.bounds(sketch.metric)
    decode = np.stack([answered(sketch, row, 0, queries).estimate for row in np.eye(sketch.shape[0])], axis=1)
    assert sketch.noise_variance(3.0, queries) == pytest.approx(3.0 * (decode**2).sum(axis=1))
    many = sketch.noise_variance(3.0, points(sketch.domain, 400, 9)).mean()
    assert sketch.noise_variance(3.0) == pytest.approx(many, rel=0.2)
    for rows in (points(sketch.domain, 100), *(np.tile(place, (50, 1)) for place in (low, high, queries[0]))):
        exact = sketch.exact(queries, rows)
        answers = answered(sketch, poured(sketch, rows), len(rows), queries)
        slack = 1e-3 * len(rows)  # the largest error is looked for at nodes
        assert (answers.low - slack <= exact).all() and (exact <= answers.high + slack).all()
        assert (answers.standard_error == 0).all()
    table = poured(sketch, points(sketch.domain, 7))
    assert sketch.total(table) == 7 and sketch.total_variance(2.0) == 2.0 / AMPLITUDE**2
    assert len(answered(sketch, table, 7, queries[:0]).estimate) == 0


@pytest.mark.thorough
def test_cutting_off_beats_damping_where_it_is_asked_to_choose_and_sizes_follow_the_budget():
    sizes = []
    for epsilon, records in (("0.1", 1000), (1, 1000), (1, 100_000)):
        sized = Trigonometric(LINE, Euclidean(0.1)).sized_for(Budget(epsilon), records)
        assert sized.damping == "none"
        sizes.append(sized.orders)
    assert sizes == sorted(set(sizes))
    fixed = Trigonometric(LINE, Euclidean(0.1), 9).sized_for(Budget(1), 1000)
    assert fixed.orders == 9 and fixed.sized
    for unsized in (Trigonometric(LINE, Euclidean(0.1)), Trigonometric(LINE, Euclidean(0.1), 5)):
        with pytest.raises(RequestError, match="yet"):
            unsized.answer(np.zeros(5), 1, np.zeros((1, 1)), 0.0, 0.95)
    with pytest.raises(RequestError, match="yet"):
        _ = Trigonometric(LINE, Euclidean(0.1)).shape
    with pytest.raises(RequestError, match="too narrow"):
        Trigonometric(LINE, Gaussian(1e-20)).sized_for(Budget(1), 1000)


@pytest.mark.few(2)
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_release_is_made_saved_and_read_and_its_forecast_noise_is_exact(delta, neighbours):
    budget = Budget(epsilon=5, delta=delta, neighbours=neighbours)
    rows = points(LINE, 2000)
    sketch = Trigonometric(LINE, Gaussian(0.4)).sized_for(budget, 2000)
    expected = forecast(sketch, budget, 2000)
    made = release(sketch, rows, budget, noise_source=SeededSource(1))
    again = load(made.to_bytes(teaching=True))
    assert again.sketch == made.sketch and (again.counters == made.counters).all()
    answers = again.answer(rows[:50])
    assert answers.standard_error**2 == pytest.approx(sketch.noise_variance(made.privacy.counter_variance, rows[:50]))
    assert answers.standard_error.mean() == pytest.approx(expected.noise_error, rel=0.2)  # at other queries
    exact = made.sketch.exact(rows[:50], rows)
    assert ((answers.low <= exact) & (exact <= answers.high)).mean() >= 0.9
    assert np.abs(answers.estimate / exact - 1).mean() < 0.2
    # One vector of noise for the table, where the paper has Laplace noise of scale t / epsilon on each number.
    if delta == 0 and neighbours is Neighbours.ADD_REMOVE:
        variance = calibrate(sketch.sensitivity(neighbours), 1).variance
        assert variance / (2 * (AMPLITUDE * sketch.orders) ** 2) == pytest.approx(0.5, rel=1.1 / sketch.orders)


@pytest.mark.deep
def test_the_audit_passes_and_catches_too_little_noise(monkeypatch):
    sketch = Trigonometric(Domain.of(x=(0, 1), unit=PrivacyUnit("who", 2)), Gaussian(0.5), 3, "none")
    assert audit_sketch(sketch, Budget(epsilon=1), runs=4000, level=1 - 1e-8).passed
    honest = Trigonometric.record_sensitivity

    def planted(self, neighbours):
        true = honest(self, neighbours)
        square = true.l2_squared // 36
        return type(true)(true.l1, square, block=true.block, blocks_l2=math.isqrt(square) + 1)

    monkeypatch.setattr(Trigonometric, "record_sensitivity", planted)
    assert not audit_sketch(sketch, Budget(epsilon=1), runs=8000).passed


@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_parameters_rebuild_the_sketch_and_hostile_ones_are_refused(sketch):
    parameters = sketch.parameters()
    assert sketch_from_parameters("trigonometric", sketch.domain, parameters) == sketch
    for change in (
        {"orders": None},
        {"orders": 0},
        {"orders": 10**9},
        {"orders": 3.0},
        {"damping": None},
        {"damping": "other"},
        {"damping": 1},
        {"kernel": {}},
        {"more": 1},
    ):
        with pytest.raises(RequestError) as refusal:
            sketch_from_parameters("trigonometric", sketch.domain, parameters | change)
        assert "\n" not in str(refusal.value)


def test_columns_and_kernels_that_have_no_polynomials_are_refused():
    four = Domain.of(**{name: (0, 1) for name in "abcd"})
    for domain, kernel in (
        (four, Gaussian(1.0)),
        (Domain.of(x=(0, 1), group=["a", "b"]), Gaussian(1.0)),
        (PLANE, Gaussian((1.0, 1.0, 1.0))),
        (LINE, "gaussian"),
    ):
        with pytest.raises(RequestError):
            Trigonometric(domain, kernel, 3)


def test_nodes_are_where_records_can_be():
    fit = ChebyshevFit(PLANE, Gaussian(1.0), 3, "none")
    low, high = PLANE.bounds()
    assert (fit.nodes >= low).all() and (fit.nodes <= high).all()
    assert (fit.evenly * fit.nodes[:, 0].reshape(fit.evenly.shape)).sum() == pytest.approx(1.5)
