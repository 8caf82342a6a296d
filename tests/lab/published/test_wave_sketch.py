"""Fourier series and functional noise: slow references, their sensitivity, their promises, and what files may say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from core.domain import Domain, PrivacyUnit
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Exponential, Gaussian, Laplacian, Mixture, Product
from core.lab.published.fourier_series import FourierSeries, FunctionalNoise
from core.lab.published.torus import POWER, scale_free
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.registry import sketch_from_parameters
from tests.depth import crossed, draws
from tests.sketches.checking import poured

LINE = Domain.of(x=(-1, 4))
PLANE = Domain.of(x=(-1, 4), y=(0, 2))
SPACE = Domain.of(x=(-1, 4), y=(0, 2), z=(0, 1))
SKETCHES = [
    FourierSeries(LINE, Euclidean(0.5), 7),
    FourierSeries(PLANE, Gaussian((0.5, 0.3)), 3),
    FourierSeries(SPACE, Laplacian(0.5), 2),
    FunctionalNoise(LINE, Euclidean(0.5), 40, penalty=0.0),
    FunctionalNoise(PLANE, Gaussian((0.5, 0.3)), 5, penalty=0.01, covariance=Exponential(0.7)),
]
BUDGET = Budget(epsilon=1, delta="1e-6")
sketches = st.sampled_from(SKETCHES)


def points(domain: Domain, n: int, seed: int = 5) -> np.ndarray:
    return np.asfortranarray(np.random.default_rng(seed).uniform(*domain.bounds(), (n, domain.dimensions)))


def answered(sketch, table, records, queries):
    return sketch.answer(table, records, np.asfortranarray(queries), 0.0, 0.95)


def whole_lattice(order: int, dimensions: int) -> np.ndarray:
    axes = np.meshgrid(*[np.arange(-order, order + 1)] * dimensions, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def turns(sketch, rows) -> np.ndarray:
    low, high = sketch.domain.bounds(sketch.metric)
    return (rows - low) / ((high - low) * np.array(sketch.period))


@pytest.mark.parametrize("kernel", [Euclidean(0.5), Laplacian(0.7, 2), Mixture((Gaussian(1.0),), (1.0,))], ids=str)
def test_without_noise_a_line_is_the_truncated_series_of_complex_exponentials(kernel):
    """Coefficients by adaptive quadrature, sums over all frequencies of both signs."""
    sketch = FourierSeries(LINE, kernel, 9, (1.25,))
    rows, queries = points(LINE, 30), points(LINE, 8, 6)
    length = 5 * 1.25
    expected = np.zeros(len(queries), complex)
    difference = turns(sketch, rows)[:, 0] - turns(sketch, queries)

    def part(z, m):
        return kernel.evaluate(np.zeros((1, 1)), np.array([[z]]))[0, 0] * np.cos(2 * np.pi * m * z / length)

    for m in range(-9, 10):
        coefficient, _ = quad(part, 0, length / 2, (m,), limit=400, epsabs=1e-11)
        expected += 2 / length * coefficient * np.exp(2j * np.pi * m * difference).sum(axis=1)
    found = answered(sketch, poured(sketch, rows), 30, queries).estimate
    assert np.abs(expected.imag).max() < 1e-9
    assert found == pytest.approx(expected.real, abs=2e-5)


def test_without_noise_a_plane_is_the_truncated_series_in_closed_form():
    """A Gaussian that fits into the period has the coefficients of a Gaussian."""
    sketch = SKETCHES[1]
    rows, queries = points(PLANE, 30), points(PLANE, 8, 6)
    lattice = whole_lattice(3, 2)
    shares = np.array([0.5, 0.3]) / (np.array([5, 2]) * np.array(sketch.period))
    coefficients = (np.sqrt(2 * np.pi) * shares * np.exp(-2 * (np.pi * lattice * shares) ** 2)).prod(axis=1)
    difference = turns(sketch, queries)[:, None] - turns(sketch, rows)
    waves = np.exp(2j * np.pi * difference @ lattice.T).sum(axis=1)
    found = answered(sketch, poured(sketch, rows), 30, queries).estimate
    assert found == pytest.approx((waves @ coefficients).real, abs=0.03)  # the kernel's far ends, 30 records
    assert np.abs(found - sketch.exact(queries, rows)).max() > 0.1  # and the series is cut off well before it is exact


@given(sketches, st.integers(0, 2**32))
def test_integers_are_cosines_and_sines_cut_toward_zero(sketch, seed):
    (row,) = points(sketch.domain, 1, seed)
    table = poured(sketch, row[None])
    angles = 2 * np.pi * (sketch.waves @ turns(sketch, row[None])[0])
    amplitudes = sketch.amplitudes[tuple(np.abs(sketch.waves).T)]
    assert table[0] == sketch.amplitudes.flat[0]
    for found, wave in ((table[1::2], np.cos(angles)), (table[2::2], np.sin(angles))):
        assert (np.abs(found) <= np.abs(amplitudes * wave) + 1e-3).all()
        assert np.abs(found - amplitudes * wave).max() < 1.001


@settings(max_examples=draws(12, 30))
@given(sketches, st.integers(0, 2**32), st.lists(st.integers(0, 1200), max_size=3))
def test_any_split_gives_the_same_table(sketch, seed, cuts):
    rows = points(sketch.domain, 1200, seed)
    parts = sketch.zeros()
    for part in np.split(rows, sorted(cuts)):
        sketch.add(parts, np.asfortranarray(part))
    assert (parts == poured(sketch, rows)).all()


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
@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: f"{s.name}-{s.domain.dimensions}")
def test_some_neighbours_reach_the_declared_bound(sketch):
    low, high = sketch.domain.bounds(sketch.metric)
    corner = poured(sketch, low[None]).astype(object)
    assert (corner**2).sum() == sketch.sensitivity(Neighbours.ADD_REMOVE).l2_squared
    steps = np.linspace(0, 1, draws(501, 2001))[:, None]
    tried = np.vstack([low + steps * (high - low) * line for line in np.eye(len(low))] + [low + steps * (high - low)])
    squares = [((poured(sketch, row[None]) - corner) ** 2).sum() for row in tried]
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE).l2_squared
    assert 0.97 * declared <= max(squares) <= declared
    if sketch.domain.dimensions == 1:
        assert 0.999 * declared <= max(squares)


def decoding(sketch, queries) -> np.ndarray:
    """What each counter is multiplied by at each query, (n, D)."""
    return np.stack([answered(sketch, row, 0, queries).estimate for row in np.eye(sketch.shape[0])], axis=1)


def line_coefficients(kernel, length: float, order: int) -> np.ndarray:
    """Of a kernel on a circle, by the trapezoidal rule on places of its own."""
    nodes = np.linspace(0, length / 2, 150_001)[:, None]
    waves = np.cos(2 * np.pi * nodes * np.arange(order + 1) / length)
    return 2 / length * np.trapezoid(kernel.evaluate(np.zeros((1, 1)), nodes)[0][:, None] * waves, nodes, axis=0)


@pytest.mark.thorough
def test_functional_noise_is_the_process_and_the_norm_of_dense_linear_algebra():
    """On 64 places of the torus, with matrices: the eigenvectors of the covariance, the smoothed function, its norm."""
    kernel, covariance, penalty, places, length = Euclidean(0.6), Exponential(0.9), 0.003, 64, 7.5
    sketch = FunctionalNoise(LINE, kernel, 31, (1.5,), penalty, covariance)
    whole = np.arange(places)
    waves = np.cos(2 * np.pi * np.outer(whole, np.arange(32)) / places) * np.where(np.arange(32) > 0, 2.0, 1.0)
    process = (waves @ line_coefficients(covariance, length, 31))[(whole[:, None] - whole) % places]
    function = waves @ line_coefficients(kernel, length, 31)
    values, vectors = np.linalg.eigh(process / places)
    values, vectors = values[1:], vectors[:, 1:]  # 63 waves span all but one direction
    smoothed = vectors @ (values / (values + penalty) * (vectors.T @ function))
    norm = ((vectors.T @ smoothed) ** 2 / (values * places)).sum()
    inside = np.arange(places * 2 // 3)  # queries at the places that lie inside the bounds
    queries = -1 + inside[:, None] * (length / places)
    found = answered(sketch, poured(sketch, np.array([[-1.0]])), 1, queries).estimate
    assert found == pytest.approx(smoothed[inside], abs=1e-6)
    decode = decoding(sketch, queries)
    unit = float(sketch.sensitivity(Neighbours.ADD_REMOVE).l2_squared)
    made = decode @ decode.T * unit  # of noise with a variance of one squared sensitivity
    assert made == pytest.approx(norm * process[np.ix_(inside, inside)], abs=1e-5)


def test_noise_of_the_kernels_own_covariance_is_that_of_one_count_everywhere():
    """Hall, Rinaldo, Wasserman 2013: no smoothing, and the process has the kernel as its covariance."""
    sketch = FunctionalNoise(LINE, Gaussian(0.5), 60, penalty=0.0)
    unit = float(sketch.sensitivity(Neighbours.ADD_REMOVE).l2_squared)
    assert sketch.noise_variance(unit) == pytest.approx(1.0, rel=1e-6)
    other = FunctionalNoise(LINE, Gaussian(0.5), 60, penalty=0.0, covariance=Exponential(0.5))
    assert other.noise_variance(float(other.sensitivity(Neighbours.ADD_REMOVE).l2_squared)) > 1.2
    smooth = FunctionalNoise(LINE, Gaussian(0.5), 60, penalty=0.05)
    assert smooth.noise_variance(float(smooth.sensitivity(Neighbours.ADD_REMOVE).l2_squared)) < 0.8
    assert smooth.bias > 0.2 and sketch.bias < 0.005


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: f"{s.name}-{s.domain.dimensions}")
def test_intervals_hold_the_exact_sum_without_noise_whatever_the_data(sketch):
    queries, low, high = points(sketch.domain, 40, 8), *sketch.domain.bounds(sketch.metric)
    for rows in (points(sketch.domain, 200), np.tile(low, (50, 1)), np.tile(queries[0], (50, 1))):
        exact = sketch.exact(queries, rows)
        answers = answered(sketch, poured(sketch, rows), len(rows), queries)
        slack = 1e-4 * len(rows)
        assert (answers.low - slack <= exact).all() and (exact <= answers.high + slack).all()
        assert (answers.standard_error == 0).all()
    outside = answered(sketch, poured(sketch, rows), len(rows), np.vstack([high + 1, high]))
    assert np.isinf(outside.low[0]) and np.isinf(outside.standard_error[0]) and np.isfinite(outside.high[1])


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: f"{s.name}-{s.domain.dimensions}")
def test_noise_variance_is_that_of_the_decoding(sketch):
    queries = points(sketch.domain, 5, 8)
    gains = (decoding(sketch, queries) ** 2).sum(axis=1)
    assert sketch.noise_variance(3.0, queries) == pytest.approx(3.0 * gains)
    assert sketch.noise_variance(3.0) == pytest.approx(3.0 * gains.mean())
    assert sketch.total(poured(sketch, points(sketch.domain, 7))) == 7
    assert sketch.total_variance(2.0) == 2.0 / float(sketch.amplitudes.flat[0]) ** 2


def test_the_period_is_as_long_as_the_kernel_reaches():
    assert FourierSeries(LINE, Gaussian(0.01), 3).period == (1.0625,)
    assert FourierSeries(LINE, Gaussian(20.0), 3).period[0] > 1.5
    assert FourierSeries(PLANE, Gaussian((0.01, 20.0)), 3).period[0] < FourierSeries(LINE, Euclidean(1.0), 3).period[0]
    sketch = FourierSeries(LINE, Euclidean(0.5), 2000)
    ends = np.array([[-1.0], [4.0]])
    found = answered(sketch, poured(sketch, ends[:1]), 1, ends[1:]).estimate[0]
    assert abs(found - sketch.exact(ends[1:], ends[:1])[0]) < 0.0011
    assert FunctionalNoise(LINE, Gaussian(0.5), 3).period > FourierSeries(LINE, Gaussian(0.5), 3).period


@pytest.mark.deep
def test_sizes_follow_the_budget():
    """The more records or budget, the more frequencies."""
    sizes = [
        FourierSeries(LINE, Euclidean(0.1)).sized_for(Budget(epsilon), records).highest
        for epsilon, records in (("0.1", 1000), (1, 1000), (1, 100_000))
    ]
    assert sizes == sorted(set(sizes))
    functional = FunctionalNoise(LINE, Euclidean(0.1)).sized_for(BUDGET, 10_000)
    assert functional.sized and functional.penalty == 0.0 and functional.highest > sizes[0]
    fixed = FunctionalNoise(LINE, Euclidean(0.1), 12, penalty=0.5).sized_for(BUDGET, 1000)
    assert (fixed.highest, fixed.penalty) == (12, 0.5)
    with pytest.raises(RequestError, match="highest frequency"):
        _ = FourierSeries(LINE, Euclidean(0.1)).shape


def test_what_a_series_misses_is_the_power_of_the_records_at_other_frequencies():
    """Summed over the whole lattice of frequencies, one after the other sign."""
    sketch = FourierSeries(PLANE, Gaussian((0.4, 1.0)), 3)
    spectrum, periods = sketch.torus.spectrum, sketch.period
    side = spectrum.shape[0] - 1
    m, n = np.meshgrid(np.arange(-side, side + 1), np.arange(-side, side + 1), indexing="ij")
    square = (m / periods[0]) ** 2 + (n / periods[1]) ** 2
    power = np.where(square == 0.0, 1.0, POWER / np.maximum(square, 1e-9))
    made = np.where(np.maximum(abs(m), abs(n)) <= 3, 0.9 * spectrum[abs(m), abs(n)], 0.0)
    crowding = (power * abs(spectrum[abs(m), abs(n)])).sum() / spectrum[0, 0]
    slow = crowding * (power * (spectrum[abs(m), abs(n)] - made) ** 2).sum()
    fast = scale_free(sketch.torus).missed(sketch.kernel_coefficients, 0.9 * sketch.kernel_coefficients)
    assert fast == pytest.approx(slow, rel=1e-9) and crowding > 2.0


def test_functional_noise_is_refused_under_a_pure_promise():
    sketch = FunctionalNoise(LINE, Gaussian(0.5))
    for asked in (lambda: forecast(sketch, Budget(1)), lambda: release(sketch, "no such file", Budget(1))):
        with pytest.raises(RequestError, match="delta"):
            asked()


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "neighbours"), crossed([FourierSeries, FunctionalNoise], list(Neighbours)))
def test_a_release_is_made_saved_and_read_and_its_forecast_noise_is_exact(kind, neighbours):
    budget = Budget(epsilon=5, delta="1e-6", neighbours=neighbours)
    rows = points(PLANE, 400)
    expected = forecast(kind(PLANE, Gaussian(0.4)), budget, 400)
    made = release(kind(PLANE, Gaussian(0.4)), rows, budget, records=400, noise_source=SeededSource(1))
    again = load(made.to_bytes(teaching=True))
    assert again.sketch == made.sketch and (again.counters == made.counters).all()
    answers = again.answer(rows[:50])
    assert answers.standard_error == pytest.approx(expected.noise_error)
    exact = made.sketch.exact(rows[:50], rows)
    assert ((answers.low <= exact) & (exact <= answers.high)).mean() >= 0.9
    assert np.abs(answers.estimate / exact - 1).mean() < 0.5


def test_pure_noise_for_the_whole_table_is_less_than_laplace_noise_on_each_coefficient():
    sketch = FourierSeries(LINE, Euclidean(0.5), 30)
    used = calibrate(sketch.sensitivity(Neighbours.ADD_REMOVE), Fraction(1))
    rows = np.linspace(-1, 4, 3001)[:, None]
    least_l1 = max(int(np.abs(poured(sketch, row[None])).sum()) for row in rows)
    assert used.block == 61 and math.sqrt(used.variance) < 0.8 * math.sqrt(2) * least_l1


@pytest.mark.deep
@pytest.mark.parametrize("kind", [FourierSeries, FunctionalNoise])
def test_the_audit_passes_and_catches_too_little_noise(kind, monkeypatch):
    facts = {} if kind is FourierSeries else {"penalty": 0.0}
    domain = Domain.of(x=(0, 1), unit=PrivacyUnit("who", 2))
    sketch, budget = kind(domain, Gaussian(0.5), 1, **facts), Budget(1, 0 if kind is FourierSeries else "1e-6")
    assert audit_sketch(sketch, budget, runs=4000, level=1 - 1e-8).passed
    honest = kind.record_sensitivity

    def planted(self, neighbours):
        true = honest(self, neighbours)
        square = true.l2_squared // 36
        return type(true)(true.l1, square, block=true.block, blocks_l2=math.isqrt(square) + 1)

    monkeypatch.setattr(kind, "record_sensitivity", planted)
    assert not audit_sketch(sketch, budget, runs=8000).passed


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: f"{s.name}-{s.domain.dimensions}")
def test_parameters_rebuild_the_sketch_and_hostile_ones_are_refused(sketch):
    parameters = sketch.parameters()
    assert sketch_from_parameters(sketch.name, sketch.domain, parameters) == sketch
    changes = [
        {"highest": None},
        {"highest": 0},
        {"highest": 10**9},
        {"highest": 3.0},
        {"period": None},
        {"period": []},
        {"period": [0.5] * sketch.domain.dimensions},
        {"period": [math.nan] * sketch.domain.dimensions},
        {"period": ["1.5"] * sketch.domain.dimensions},
        {"kernel": {}},
        {"kernel": {"name": "angular", "power": 1}},
        {"more": 1},
    ]
    if isinstance(sketch, FunctionalNoise):
        changes += [{"penalty": None}, {"penalty": -1.0}, {"penalty": "0"}, {"penalty": math.inf}]
        changes += [{"covariance": {}}, {"covariance": Laplacian(1.0).to_dict()}]
    for change in changes:
        with pytest.raises(RequestError) as refusal:
            sketch_from_parameters(sketch.name, sketch.domain, parameters | change)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", [FourierSeries, FunctionalNoise])
def test_columns_and_kernels_that_no_torus_has_are_refused(kind):
    four = Domain.of(**{name: (0, 1) for name in "abcd"})
    for domain, kernel in (
        (four, Gaussian(1.0)),
        (Domain.of(x=(0, 1), group=["a", "b"]), Gaussian(1.0)),
        (LINE, Angular()),
        (PLANE, Product((Gaussian(1.0), Angular()))),
        (PLANE, Gaussian((1.0, 1.0, 1.0))),
        (LINE, "gaussian"),
    ):
        for period in (None, [1.5] * domain.dimensions):
            with pytest.raises(RequestError):
                kind(domain, kernel, 3, period)
