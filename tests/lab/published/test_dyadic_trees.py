"""The two tree mechanisms against slow references, their sensitivity, and what their papers promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Domain, PrivacyUnit, Vector
from core.errors import RequestError
from core.lab.published.dyadic_trees import PLACE_BITS, CountsAndSums, IntervalTree
from core.privacy.budget import Budget, Neighbours
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from tests.sketches.checking import poured

PLANE = Domain.of(x=(-3, 5), y=(0, 10))
LEVELS = 5
SKETCHES = [IntervalTree(PLANE, 0.5, LEVELS), IntervalTree(PLANE, 0.1, LEVELS), CountsAndSums(PLANE, LEVELS)]
sketches = st.sampled_from(SKETCHES)
xs = st.one_of(st.sampled_from([-3.0, 5.0, 1.0, -0.0]), st.floats(-3, 5))
ys = st.one_of(st.sampled_from([0.0, 10.0, 5.0, np.nextafter(5.0, 0)]), st.floats(0, 10))
records = st.lists(st.tuples(xs, ys), max_size=8)


def points(rows) -> np.ndarray:
    return np.asfortranarray(np.array(rows, dtype=float).reshape(-1, 2))


def filled(sketch, rows) -> np.ndarray:
    return poured(sketch, points(rows))


def shares(rows, j) -> np.ndarray:
    """Places between the bounds of coordinate j, from 0 to 1."""
    low, high = PLANE.bounds("l1")
    return (points(rows)[:, j] - low[j]) / (high[j] - low[j])


@given(records)
def test_counts_are_those_of_every_interval(rows):
    leaves = 1 << LEVELS
    table = filled(SKETCHES[0], rows)
    for j in range(2):
        places = np.floor(shares(rows, j) * (leaves - 1) + 0.5)
        for level in range(LEVELS + 1):
            width = leaves >> level
            for i in range(1 << level):
                inside = np.sum((places >= i * width) & (places < (i + 1) * width))
                assert table[j, (1 << level) + i] == inside
        assert table[j, 0] == 0


@given(records)
def test_counts_and_sums_are_those_of_every_interval(rows):
    unit = 1 << PLACE_BITS
    table = filled(SKETCHES[2], rows)
    for j in range(2):
        places = np.minimum(np.trunc(shares(rows, j) * unit), unit - 1).astype(np.int64)
        for level in range(LEVELS + 1):
            for i in range(1 << level):
                inside = places[places * 2**level // unit == i]
                assert table[j, 0, (1 << level) + i] == unit * len(inside)
                assert table[j, 1, (1 << level) + i] == inside.sum()


def slow_rounded_distance(record, query, alpha, last) -> float:
    """In grid steps: the far end of the growing interval that the distance falls in, and the distance outside."""
    inside = min(max(query, 0.0), last)
    distance, far = abs(record - inside), 1.0
    while distance > far:
        far *= 1.0 + alpha
    return far + abs(query - inside)


@given(records, st.floats(-10, 12), st.floats(-10, 20))
def test_interval_answers_round_every_distance_up(rows, x, y):
    last, (low, high) = (1 << LEVELS) - 1, PLANE.bounds("l1")
    for sketch in SKETCHES[:2]:
        expected = 0.0
        for j, q in enumerate((x, y)):
            step = (high[j] - low[j]) / last
            for place in np.floor(shares(rows, j) * last + 0.5):
                expected += step * slow_rounded_distance(
                    place, (q - low[j]) / (high[j] - low[j]) * last, sketch.alpha, last
                )
        # Where a distance meets an interval's end, rounding decides which of two neighbouring ones it is in.
        found = sketch.answer(filled(sketch, rows), len(rows), points([(x, y)]), 0.0, 0.95).estimate[0]
        assert expected / (1 + sketch.alpha) * (1 - 1e-9) <= found <= expected * (1 + sketch.alpha) * (1 + 1e-9)


def test_the_interval_tree_keeps_its_promise_of_a_ratio():
    rng = np.random.default_rng(0)
    rows = points(np.column_stack([rng.uniform(-3, 5, 500), rng.uniform(0, 10, 500)]))
    queries = points(np.column_stack([rng.uniform(-5, 7, 50), rng.uniform(-5, 15, 50)]))
    for alpha in (0.1, 0.5):
        sketch = IntervalTree(PLANE, alpha, 12)
        exact = sketch.exact(queries, rows)
        answers = sketch.answer(filled(sketch, rows), 500, queries, 0.0, 0.95)
        step = 18.0 / 4095
        assert (answers.estimate >= exact - 500 * step).all()
        assert (answers.estimate <= (1 + alpha) * exact + 500 * 2 * step).all()
        assert (answers.low <= exact).all() and (exact <= answers.high).all()


def test_counts_and_sums_miss_no_more_than_the_own_leaf():
    rng = np.random.default_rng(0)
    rows = points(np.column_stack([rng.uniform(-3, 5, 500), rng.uniform(0, 10, 500)]))
    queries = points(np.vstack([rng.uniform((-5, -5), (7, 15), (50, 2)), [(-3, 0), (5, 10)]]))
    sketch = CountsAndSums(PLANE, 12)
    exact = sketch.exact(queries, rows)
    answers = sketch.answer(filled(sketch, rows), 500, queries, 0.0, 0.95)
    assert answers.estimate == pytest.approx(exact, abs=500 * 18 / 4096)
    assert (answers.low <= exact + 1e-2).all() and (exact <= answers.high).all()


@given(sketches, records, st.tuples(xs, ys), st.tuples(xs, ys))
def test_no_neighbours_are_further_apart_than_declared(sketch, rows, one, other):
    base, first, second = (filled(sketch, r).astype(object) for r in (rows, [*rows, one], [*rows, other]))
    for relation, moved in ((Neighbours.ADD_REMOVE, first - base), (Neighbours.REPLACE_ONE, first - second)):
        declared = sketch.sensitivity(relation)
        assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared
        if declared.unit_shifts:
            assert np.abs(moved).max() <= 1


@pytest.mark.parametrize(
    "sketch",
    [*SKETCHES, *(CountsAndSums(PLANE, levels) for levels in (1, 2, 3, 17))],
    ids=lambda s: f"{s.name}-{s.levels}",
)
def test_some_neighbours_reach_the_declared_bound(sketch):
    ends = [1.0, 0.0] + [1.0 - 2.0**-level - 2.0**-PLACE_BITS for level in range(1, sketch.levels + 1)]
    last, *others = (filled(sketch, [(8 * t - 3, 10 * t)]) for t in ends)
    pairs = [last - other for other in others]
    for relation, moved in ((Neighbours.ADD_REMOVE, [last]), (Neighbours.REPLACE_ONE, pairs)):
        declared = sketch.sensitivity(relation)
        changes = [table[table != 0].astype(object) for table in moved]
        assert max(np.abs(change).sum() for change in changes) == declared.l1
        assert max((change**2).sum() for change in changes) == declared.l2_squared


@given(sketches, st.integers(0, 2**32), st.lists(st.integers(0, 300), max_size=4))
def test_any_split_gives_the_same_table(sketch, seed, cuts):
    rows = np.random.default_rng(seed).uniform((-3, 0), (5, 10), (300, 2))
    parts = sketch.zeros()
    for part in np.split(rows, sorted(cuts)):
        sketch.add(parts, points(part))
    assert (parts == filled(sketch, rows)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.name)
def test_noise_variances_and_totals(sketch):
    """Over 2000 draws: within 20%, where one deviation is 3.5%."""
    rng = np.random.default_rng(3)
    queries = points([(0.0, 3.0), (-3.0, 10.0), (7.0, 5.0)])
    tables = [rng.integers(-10, 11, sketch.shape) for _ in range(2000)]
    variance = (21**2 - 1) / 12
    estimates = np.array([sketch.answer(table, 0, queries, variance, 0.95).estimate for table in tables])
    assert estimates.var(axis=0) == pytest.approx(sketch.noise_variance(variance, queries), rel=0.2)
    assert np.var([sketch.total(table) for table in tables]) == pytest.approx(sketch.total_variance(variance), rel=0.2)
    assert sketch.total(filled(sketch, [(0.0, 1.0)] * 7)) == 7
    inside = np.asfortranarray(np.random.default_rng(1).uniform((-3, 0), (5, 10), (3000, 2)))
    assert sketch.noise_variance(1.0) == pytest.approx(sketch.noise_variance(1.0, inside).mean(), rel=0.05)


@pytest.mark.parametrize("kind", [IntervalTree, CountsAndSums])
def test_a_release_is_made_saved_and_read(kind):
    data = np.random.default_rng(6).uniform((-3, 0), (5, 10), (300, 2))
    made = release(kind(PLANE).sized_for(Budget(epsilon=50), 300), data, Budget(epsilon=50))
    assert made.sketch.levels == 9
    again = load(made.to_bytes())
    assert again.sketch == made.sketch
    assert again.answer(data[:20]).estimate == pytest.approx(made.sketch.exact(data[:20], data), rel=0.6)


@pytest.mark.parametrize("kind", [IntervalTree, CountsAndSums])
def test_the_audit_passes_and_catches_too_little_noise(kind, monkeypatch):
    sketch = kind(Domain.of(x=(0, 1), unit=PrivacyUnit("who", 2)), levels=2)
    assert audit_sketch(sketch, Budget(epsilon=1), runs=4000, level=1 - 1e-8).passed
    honest = kind.record_sensitivity

    def planted(self, neighbours):
        l1 = honest(self, neighbours).l1
        return type(honest(self, neighbours))(max(1, l1 // 6), max(1, l1 // 6) ** 2)

    monkeypatch.setattr(kind, "record_sensitivity", planted)
    assert not audit_sketch(sketch, Budget(epsilon=1), runs=8000).passed


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda s: s.name)
def test_parameters_rebuild_the_sketch(sketch):
    assert type(sketch).from_parameters(PLANE, sketch.parameters()) == sketch


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (IntervalTree, {"alpha": 0.5}),
        (IntervalTree, {"alpha": 0.5, "levels": None}),
        (IntervalTree, {"alpha": 0.0, "levels": 3}),
        (IntervalTree, {"alpha": float("nan"), "levels": 3}),
        (IntervalTree, {"alpha": "a", "levels": 3}),
        (IntervalTree, {"alpha": 0.5, "levels": 21}),
        (CountsAndSums, {}),
        (CountsAndSums, {"levels": None}),
        (CountsAndSums, {"levels": 0}),
        (CountsAndSums, {"levels": 2.0}),
        (CountsAndSums, {"levels": 3, "more": 1}),
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(kind, parameters):
    with pytest.raises(RequestError) as refusal:
        kind.from_parameters(PLANE, parameters)
    assert str(refusal.value).count("\n") == 0


@pytest.mark.parametrize("kind", [IntervalTree, CountsAndSums])
def test_forests_that_no_memory_holds_are_refused(kind):
    with pytest.raises(RequestError):
        kind(Domain((Vector("v", 1000, 0, 1),)), levels=20)
