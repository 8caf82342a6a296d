"""RACE against its slow reference, its sensitivity on adversarial neighbours, and the truth of its answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Budget, load, release
from core.analysis.classification import classify
from core.domain import Domain, Items, PrivacyUnit, Vector
from core.domain.item_sets import Sets
from core.errors import RequestError
from core.figures.label import describe
from core.geometry.kernels import Angular, Euclidean, Laplacian, Manhattan, Mixture, Product
from core.privacy.budget import Neighbours
from core.releases.forecast.forecast import forecast
from core.runtime.counter_tables import Narrow, Sum
from core.sketches import race as mapped
from core.sketches.classes import Classes
from core.sketches.minhash import SCHEMES, MinHash
from core.sketches.race import Race, read_mapped
from core.sketches.race_counting import WORTHWHILE, spans_together
from tests.depth import crossed, draws
from tests.sketches.checking import poured
from tests.sketches.slow_race import slow_estimates, slow_table

DOMAIN = Domain.of(x=(-3, 3), y=(-3, 3))
KERNELS = [
    Euclidean(1.0),
    Euclidean((0.5, 2.0), power=3),
    Manhattan(0.5),
    Angular(power=4),
    Laplacian(1.0),
    Product((Euclidean(2.0), Angular())),
    Mixture((Euclidean(1.0), Laplacian(1.0), Manhattan(0.1, power=2)), (0.4, 0.4, 0.2)),
]
kernels = st.sampled_from(KERNELS)
coordinates = st.one_of(st.sampled_from([-3.0, -0.0, 0.0, 3.0, 1e-300]), st.floats(-3, 3))
places = st.tuples(coordinates, coordinates)
records = st.lists(places, min_size=0, max_size=12)


def points(rows) -> np.ndarray:
    return np.asfortranarray(np.array(rows, dtype=float).reshape(-1, 2))


def filled(race: Race, rows) -> np.ndarray:
    return poured(race, points(rows))


@given(kernels, records, st.integers(0, 2**128 - 1), st.sampled_from([2, 7, 64, 4096]))
def test_tables_and_answers_equal_the_slow_reference(kernel, rows, seed, width):
    race = Race(DOMAIN, kernel, rows=9, width=width, seed=seed, groups=4)
    table = filled(race, rows)
    assert (table == slow_table(race, rows)).all()
    queries = points([*rows, (0.0, 0.0), (2.0, -1.0), (7.0, 7.0), (1e30, 0.0)])
    estimates, weights = race.group_estimates(table, len(rows), queries)
    assert weights @ estimates == pytest.approx(slow_estimates(race, table, len(rows), queries), abs=1e-9)


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("d", "kernel"),
    crossed([16, 15, 40], [Product((Angular(), Euclidean(9.0))), Euclidean(4.0, power=3), Angular(power=7)]),
)
def test_many_coordinates_equal_the_slow_reference(kernel, d):
    """More hashes than a tile has rows, records that do not fill one, and with and without rehashing."""
    race = Race(Domain((Vector("v", d, -1, 1),)), kernel, rows=11, width=64, seed=d)
    data = np.asfortranarray(np.random.default_rng(1).uniform(-1, 1, (50, d)))
    table = poured(race, data)
    assert (table == slow_table(race, data)).all()
    split = poured(race, data[:3]) + poured(race, data[3:])
    assert (split == table).all()
    estimates, weights = race.group_estimates(table, 50, data[:5] * 1.5)
    assert weights @ estimates == pytest.approx(slow_estimates(race, table, 50, data[:5] * 1.5), abs=1e-9)


@pytest.mark.deep
def test_many_rows_of_many_coordinates_are_taken_in_turns():
    race = Race(Domain((Vector("v", 16, -1, 1),)), Euclidean(4.0), rows=2500, width=64, seed=1)
    data = np.asfortranarray(np.random.default_rng(1).uniform(-1, 1, (2, 16)))
    assert (poured(race, data) == slow_table(race, data)).all()


@given(kernels, records, coordinates, coordinates, st.integers(0, 2**64))
def test_adding_a_record_moves_every_row_by_exactly_one(kernel, rows, x, y, seed):
    race = Race(DOMAIN, kernel, rows=16, width=32, seed=seed)
    difference = filled(race, [*rows, (x, y)]) - filled(race, rows)
    declared = race.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(difference).sum() == declared.l1 == 16
    assert (difference**2).sum() == declared.l2_squared == 16
    assert np.abs(difference).max() <= 1 and declared.unit_shifts
    assert (np.abs(difference).sum(axis=1) == declared.l1 // declared.parts).all()


@given(
    kernels, records, st.tuples(coordinates, coordinates), st.tuples(coordinates, coordinates), st.integers(0, 2**64)
)
def test_replacing_a_record_stays_within_the_declared_bound(kernel, rows, one, other, seed):
    race = Race(DOMAIN, kernel, rows=16, width=32, seed=seed)
    difference = filled(race, [*rows, one]) - filled(race, [*rows, other])
    declared = race.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(difference).sum() <= declared.l1 and (difference**2).sum() <= declared.l2_squared
    assert np.abs(difference).max() <= 1
    assert (np.abs(difference).sum(axis=1) <= declared.l1 // declared.parts).all()


def test_some_replaced_record_reaches_the_bound():
    race = Race(DOMAIN, Euclidean(0.01), rows=16, width=1 << 16, seed=3)
    difference = filled(race, [(-3.0, -3.0)]) - filled(race, [(3.0, 3.0)])
    declared = race.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(difference).sum() == declared.l1 and (difference**2).sum() == declared.l2_squared


def test_several_records_a_person_multiply_the_sensitivity_and_reach_it():
    domain = Domain.of(x=(-3, 3), y=(-3, 3), unit=PrivacyUnit("who", 5))
    race = Race(domain, Euclidean(1.0), rows=16, seed=3)
    difference = filled(race, [(1.0, 1.0)] * 5)
    declared = race.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(difference).sum() == declared.l1 == 80
    assert (difference**2).sum() == declared.l2_squared == 400
    assert not declared.unit_shifts


@pytest.mark.parametrize("width", [7, 64, 4096])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_batch_so_long_that_rows_are_counted_together_gives_the_same_table(kernel, width):
    race = Race(DOMAIN, kernel, rows=9, width=width, seed=5)
    encoded = np.asfortranarray(np.random.default_rng(6).normal(0.0, 1.5, (WORTHWHILE + 77, 2)).clip(-3.0, 3.0))
    apart = sum(poured(race, part) for part in np.array_split(encoded, 3))
    assert (poured(race, encoded) == apart).all()


def test_rows_are_counted_together_where_they_have_few_columns_and_only_there():
    def spans(kernel: Euclidean, width: int) -> np.ndarray | None:
        return spans_together(Race(DOMAIN, kernel, rows=9, width=width, seed=5).columns)

    few = spans(Euclidean(1.0), 64)
    assert few.min() > 1 and few.max() <= 64
    assert spans(Euclidean(0.01), 4096) is None
    assert spans(Euclidean(0.01), 64) is None


@given(kernels, st.data(), st.integers(0, 2**64))
@settings(max_examples=draws(10, 25))
def test_any_split_and_any_order_give_the_same_table(kernel, data, seed):
    rows = np.random.default_rng(seed).uniform(-3, 3, (3000, 2))
    race = Race(DOMAIN, kernel, rows=8, width=64, seed=seed)
    whole = filled(race, rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    parts = race.zeros()
    for part in np.split(np.random.default_rng(1).permutation(rows), cuts):
        race.add(parts, points(part))
    assert (parts == whole).all()


@pytest.mark.few(3)
@pytest.mark.parametrize(("width", "kernel"), crossed([16, 1 << 14], KERNELS), ids=str)
def test_answers_are_unbiased_with_and_without_rehashing(kernel, width):
    """Mean over 40 seeds within 7.5 of its own standard errors: false alarm below 1e-6 (t, 39 degrees, 70 means)."""
    data = points(np.random.default_rng(5).normal(0, 1, (400, 2)).clip(-3, 3))
    queries = points([(0.0, 0.0), (1.0, 1.0), (-2.5, 2.0), (2.9, -2.9), (0.3, -1.0)])
    exact = kernel.evaluate(queries, data).sum(axis=1)
    answers = []
    for seed in range(40):
        race = Race(DOMAIN, kernel, rows=64, width=width, seed=seed)
        estimates, weights = race.group_estimates(filled(race, data), len(data), queries)
        answers.append(weights @ estimates)
    error = np.std(answers, axis=0, ddof=1) / np.sqrt(len(answers))
    # A row that overflows 32-bit scaling is off by W / 2**32 at most; nothing else is allowed for.
    assert (np.abs(np.mean(answers, axis=0) - exact) < 7.5 * error + 1e-4 * exact).all()


@pytest.mark.thorough
def test_intervals_cover_the_truth_as_often_as_they_say():
    """Coverage of nominal 95% intervals over 150 independent sketches, or 50, queries far apart.

    Queries of one sketch share its rows, so sketches are what counts: each has a mean coverage in [0, 1] with standard
    deviation below 0.12, so their mean is within 0.02 of its expectation but for 2 in a thousand, or of 50 in 0.035;
    the bounds leave more than twice that.
    """
    data = points(np.random.default_rng(5).normal(0, 1, (4000, 2)).clip(-3, 3))
    queries = points(np.random.default_rng(6).normal(0, 1, (50, 2)).clip(-3, 3))
    exact = Euclidean(0.5).evaluate(queries, data).sum(axis=1)
    covered = []
    for seed in range(draws(50, 150)):
        race = Race(DOMAIN, Euclidean(0.5), rows=400, seed=seed)
        answers = race.answer(filled(race, data), len(data), queries, 0.0, 0.95)
        covered.append(np.mean((answers.low <= exact) & (exact <= answers.high)))
    assert draws(86, 90) / 100 < np.mean(covered) < draws(995, 985) / 1000


def test_cells_that_no_record_can_reach_are_answered_zero():
    race = Race(DOMAIN, Laplacian(0.5), rows=16, seed=1)
    table = filled(race, [(0.0, 0.0)] * 100) + 1000
    estimates, _ = race.group_estimates(table, 100, points([(500.0, 500.0), (-1e300, 0.0)]))
    assert (estimates == 0).all()


def test_total_and_variances_count_only_what_a_record_can_reach():
    race = Race(DOMAIN, Euclidean(1.0), rows=64, width=1000, seed=4)
    table = filled(race, np.random.default_rng(1).uniform(-3, 3, (500, 2)))
    assert race.total(table) == 500
    unreachable = np.arange(race.shape[1]) >= race.columns.reachable[:, None]
    assert unreachable.any() and not table[unreachable].any()
    rng = np.random.default_rng(2)
    noisy = [table + rng.integers(-10, 11, table.shape) for _ in range(2000)]
    variance = (21**2 - 1) / 12
    assert np.var([race.total(t) for t in noisy]) == pytest.approx(race.total_variance(variance), rel=0.25)
    answers = [race.answer(t, 500, points([(0.0, 0.0)]), variance, 0.9).estimate[0] for t in noisy[:1000]]
    assert np.var(answers) == pytest.approx(race.noise_variance(variance), rel=0.35)


def test_median_of_means_is_the_median_of_row_blocks():
    race = Race(DOMAIN, Euclidean(1.0), rows=64, seed=4)
    data = points(np.random.default_rng(1).uniform(-3, 3, (500, 2)))
    table = filled(race, data)
    queries = data[:5]
    rows = np.stack([slow_estimates(_one_row(race, r), table[r : r + 1], 500, queries) for r in range(64)])
    means = [block.mean(axis=0) for block in np.array_split(rows, 19)]  # 8 ln(10) = 18.4
    assert race.median_of_means(table, 500, queries, 0.1) == pytest.approx(np.median(means, axis=0))
    with pytest.raises(RequestError):
        race.median_of_means(table, 500, queries, 1e-9)
    with pytest.raises(RequestError):
        race.median_of_means(table, 500, queries, 0.0)


class _one_row:
    """One row of a sketch, as the slow reference sees it."""

    def __init__(self, race, row):
        self.columns = _Shifted(race.columns, row)


class _Shifted:
    def __init__(self, columns, row):
        self._columns = columns
        self.first_hash = columns.first_hash[row : row + 2]
        self.addend = columns.addend[row : row + 1]
        self.rehashed = columns.rehashed[row : row + 1]

    def __getattr__(self, name):
        return getattr(self._columns, name)


def test_parameters_rebuild_the_sketch():
    for kernel in KERNELS:
        race = Race(DOMAIN, kernel, rows=20, width=99)
        assert Race.from_parameters(DOMAIN, race.parameters()) == race


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 0},
        {"rows": 2.5},
        {"rows": 10**9},
        {"width": 1},
        {"width": 2**40},
        {"rows": 10**6, "width": 10**6},
        {"seed": -1},
        {"groups": 1},
        {"kernel": "euclidean"},
        {"kernel": Euclidean((1.0, 2.0, 3.0))},
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(change):
    with pytest.raises(RequestError) as refusal:
        _ = Race(**{"domain": DOMAIN, "kernel": Euclidean(1.0), "rows": 10} | change).columns
    assert str(refusal.value).count("\n") == 0


def test_a_table_of_one_column_that_holds_everybody_is_answered_instead_of_dividing_by_zero():
    """So wide a bandwidth that all of the bounds is one cell: a forged file may have it, and so may an honest one."""
    plain = Domain.of(x=(0, 1), kind=["a", "b"])
    race = Race(plain.without("kind"), Euclidean(1e9), rows=8, groups=2, seed=1)
    assert race.shape == (8, 1) and race.noise_variance(8.0) == 1.0
    assert 1 <= forecast(race, Budget(1), 50).noise_error < 100
    data = {"x": np.linspace(0, 1, 50), "kind": ["a", "b"] * 25}
    for sketch in (race, Classes(plain, "kind", race)):
        made = release(sketch, data, Budget(100))
        opened = load(made.to_bytes())
        assert opened.estimate({"x": [0.5]}) == pytest.approx([50], abs=5) and describe(opened)
    assert classify(opened, {"x": [0.5]}).labels[0] in ("a", "b")
    table = filled(Race(DOMAIN, Euclidean(1e9), rows=9, groups=2, seed=1), [(0.0, 0.0)] * 7)
    one = Race(DOMAIN, Euclidean(1e9), rows=9, groups=2, seed=1)
    assert (read_mapped(points([(1.0, 1.0)]), one.columns, table, one.group_of_row, 0.0).sum() == 63).all()


def test_fresh_sketches_have_fresh_seeds():
    assert Race(DOMAIN, Euclidean(1.0)).seed != Race(DOMAIN, Euclidean(1.0)).seed


RANDOM = np.random.default_rng(1)


def narrowed(table: np.ndarray) -> Narrow:
    """The table as int8, the counters apart that this does not hold."""
    apart = (table <= -128) | (table > 127)
    return Narrow(np.where(apart, -128, table).astype(np.int8), np.flatnonzero(apart), table[apart])


@pytest.mark.parametrize(
    "kernel", [Euclidean(1.0), Manhattan(0.1, power=2), Product((Euclidean(2.0), Angular()))], ids=str
)
@pytest.mark.parametrize("width", [7, 4096])
def test_mapped_tables_and_sums_are_answered_as_arrays_are(kernel, width, monkeypatch):
    """Queries outside the bounds among them, a few at a time, and counters that stand apart."""
    monkeypatch.setattr(mapped, "PLACES", 100)
    race = Race(DOMAIN, kernel, rows=9, width=width, seed=5, groups=4)
    table = RANDOM.integers(-200, 200, race.shape)
    narrow = narrowed(table)
    queries = np.asfortranarray(np.concatenate([RANDOM.uniform(-4, 4, (40, 2)), [(1e30, 0.0)]]))
    for kept, whole in ((narrow, table), (Sum(narrow, table), 2 * table)):
        asked = race.group_estimates(whole, 50.5, queries), race.group_estimates(kept, 50.5, queries)
        assert (asked[0][0] == asked[1][0]).all() and asked[0][0].any()
        assert race.total(kept) == race.total(whole)
        medians = [race.median_of_means(one, 50.5, queries, 0.5) for one in (whole, kept)]
        assert (medians[0] == medians[1]).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_mapped_tables_of_sets_are_answered_as_arrays_are(scheme):
    sketch = MinHash(Domain((Items("tags"),)), rows=9, width=50, scheme=scheme, seed=5, groups=3)
    assert sketch.reads_mapped
    table = RANDOM.integers(-200, 200, sketch.shape)
    queries = Sets.of([[1, 2, 3], ["beer"], range(40)])
    for kept, whole in ((narrowed(table), table), (Sum(narrowed(table), table), 2 * table)):
        assert (sketch.group_estimates(whole, 50.5, queries)[0] == sketch.group_estimates(kept, 50.5, queries)[0]).all()
        assert sketch.total(kept) == sketch.total(whole)
