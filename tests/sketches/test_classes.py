"""Per-class tables: the inner sketch of every class, one privacy unit for all, and no way to lie about it in a file."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Budget, load, release
from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import ReleaseFileError, RequestError
from core.geometry.kernels import Euclidean, Laplacian
from core.privacy.budget import Neighbours, Sensitivity
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.releases.forecast.sketch_sizes import choose_size
from core.sketches.classes import Classes
from core.sketches.features import Features
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.moments import Moments
from core.sketches.plan import plan
from core.sketches.projected import Projected
from core.sketches.race import Race
from core.sketches.registry import sketch_from_parameters
from tests.releases_for_tests import manifest_in, with_manifest
from tests.sketches.checking import poured

LEVEL = 1 - 1e-8
LABEL = Categorical("kind", ("a", "b", "c"))
# The label stands between other columns, so that nothing can take it for the first or the last.
DOMAIN = Domain((Numeric("x", -3, 3), LABEL, Numeric("y", -3, 3), Categorical("sex", ("f", "m"))))
REST = DOMAIN.without("kind")
coordinates = st.one_of(st.sampled_from([-3.0, -0.0, 3.0]), st.floats(-3, 3))
a_record = st.tuples(coordinates, st.sampled_from(LABEL.categories), coordinates, st.sampled_from("fm"))
records = st.lists(a_record, max_size=12)


def race(rest=REST, rows=16, width=32, seed=3, bandwidth=1.0) -> Race:
    return Race(rest, Euclidean(bandwidth), rows=rows, width=width, seed=seed)


def classes(inner=None, domain=DOMAIN) -> Classes:
    return Classes(domain, "kind", inner or race(domain.without("kind")))


def encoded(rows, domain=DOMAIN, metric="l2") -> np.ndarray:
    frame = pd.DataFrame(rows, columns=list(domain.names))
    return domain.encode_queries(frame, metric) if rows else np.zeros((0, domain.dimensions), order="F")


def filled(sketch, rows) -> np.ndarray:
    return poured(sketch, encoded(rows, sketch.domain, sketch.metric))


def by_hand(sketch, rows) -> np.ndarray:
    """Record by record, in the slab of its label."""
    table = sketch.zeros()
    for row in rows:
        rest = encoded([row[:1] + row[2:]], sketch.inner.domain, sketch.metric)
        sketch.inner.add(table[LABEL.categories.index(row[1])], rest)
    return table


@given(records, st.integers(0, 2**64))
def test_every_record_is_poured_into_the_slab_of_its_class_and_nowhere_else(rows, seed):
    sketch = classes(race(seed=seed))
    assert (filled(sketch, rows) == by_hand(sketch, rows)).all()
    labels = [row[1] for row in rows]
    assert sketch.count(encoded(rows)).tolist() == [labels.count(one) for one in LABEL.categories]


@given(st.integers(0, 2**32), st.lists(st.integers(0, 500), max_size=4))
def test_any_split_and_any_order_give_the_same_table(seed, cuts):
    random = np.random.default_rng(seed)
    rows = list(
        zip(
            random.uniform(-3, 3, 500),
            random.choice(LABEL.categories, 500),
            random.uniform(-3, 3, 500),
            random.choice(["f", "m"], 500),
            strict=True,
        )
    )
    sketch = classes(Features(REST, Laplacian(1.0), rows=16, seed=seed))
    whole, points = filled(sketch, rows), encoded(rows, metric=sketch.metric)
    parts = sketch.zeros()
    for part in np.split(random.permutation(500), sorted(cuts)):
        sketch.add(parts, np.asfortranarray(points[part]))
    assert (parts == whole).all()


def test_slabs_add_up_to_the_inner_sketch_of_all_records():
    random = np.random.default_rng(4)
    points = encoded(
        [
            (x, k, y, s)
            for x, k, y, s in zip(
                random.uniform(-3, 3, 300),
                random.choice(LABEL.categories, 300),
                random.uniform(-3, 3, 300),
                random.choice(["f", "m"], 300),
                strict=True,
            )
        ]
    )
    sketch = classes()
    table, rest = sketch.zeros(), np.asfortranarray(np.delete(points, [1, 2, 3], axis=1))
    sketch.add(table, points)
    whole = sketch.inner.zeros()
    sketch.inner.add(whole, rest)
    assert (table.sum(axis=0) == whole).all()
    queries = rest[:20]
    mine = sketch.answer(table, sketch.count(points), queries, 5.0, 0.9)
    theirs = sketch.inner.answer(whole, 300.0, queries, 15.0, 0.9)
    assert (mine.estimate == theirs.estimate).all() and (mine.high == theirs.high).all()
    assert sketch.exact(queries, points) == pytest.approx(sketch.inner.exact(queries, rest))
    assert sketch.noise_variance(2.0) == pytest.approx(3 * sketch.inner.noise_variance(2.0))
    assert sketch.total(table) == pytest.approx(sketch.count(points))
    assert sketch.query_domain == REST and sketch.count_shape == (3,)


@given(records, a_record, st.integers(0, 2**64))
def test_an_added_record_moves_one_slab_by_the_inner_sensitivity(rows, row, seed):
    sketch = classes(race(seed=seed))
    moved = filled(sketch, [*rows, row]) - filled(sketch, rows)
    declared = sketch.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(moved).sum() == declared.l1 and (moved**2).sum() == declared.l2_squared
    assert np.abs(moved).max() == 1 and declared.unit_shifts
    assert np.abs(moved).sum(axis=(1, 2)).astype(bool).sum() == 1
    blocks = np.abs(moved).sum(axis=(0, 2))  # row r of every slab
    assert len(blocks) == declared.parts and (blocks <= declared.l1 // declared.parts).all()


@given(records, a_record, a_record, st.integers(0, 2**64))
def test_a_replaced_record_stays_within_the_bound_whatever_its_classes(rows, one, other, seed):
    sketch = classes(race(seed=seed))
    moved = filled(sketch, [*rows, one]) - filled(sketch, [*rows, other])
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared
    assert np.abs(moved).max() <= 1
    assert (np.abs(moved).sum(axis=(0, 2)) <= declared.l1 // declared.parts).all()
    if one[1] != other[1]:
        assert np.abs(moved).sum() == declared.l1 and (moved**2).sum() == declared.l2_squared


def test_a_record_that_changes_its_class_moves_both_slabs_all_the_way():
    """Sums of squares move less for a record in place of another of its class, where their counts cancel."""
    domain = Domain((Numeric("x", -3, 3), LABEL, Numeric("y", -3, 3)))
    inner = Moments(domain.without("kind"), 5.0, count_weight=1 << 20, square_weight=1)
    sketch = classes(inner, domain)
    moved = filled(sketch, [(3.0, "a", 3.0)]) - filled(sketch, [(3.0, "b", 3.0)])
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE)
    within = sketch.inner.sensitivity(Neighbours.REPLACE_ONE)
    assert within.l1 < np.abs(moved).sum() <= declared.l1 and (moved.astype(object) ** 2).sum() <= declared.l2_squared


def test_one_class_moves_counts_once_or_twice():
    sketch = classes()
    one, other = encoded([(0.0, "a", 0.0, "f")]), encoded([(0.0, "c", 0.0, "f")])
    added = sketch.count_sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(sketch.count(one)).sum() == added.l1 == added.l2_squared == 1
    moved = sketch.count(one) - sketch.count(other)
    replaced = sketch.count_sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(moved).sum() == replaced.l1 == (moved**2).sum() == replaced.l2_squared == 2
    assert added.unit_shifts and replaced.unit_shifts
    refusing = Domain(DOMAIN.columns, missing="refuse")
    assert not classes(domain=refusing).count_is_public(Neighbours.REPLACE_ONE)
    assert race(refusing.without("kind")).count_is_public(Neighbours.REPLACE_ONE)


@given(st.lists(a_record, min_size=1, max_size=4), st.lists(a_record, min_size=1, max_size=4))
def test_several_records_of_any_classes_stay_within_the_scaled_bound(ones, others):
    domain = Domain(DOMAIN.columns, unit=PrivacyUnit("who", 4))
    sketch = classes(domain=domain)
    person, another = filled(sketch, ones), filled(sketch, others)
    for moved, relation in ((person, Neighbours.ADD_REMOVE), (person - another, Neighbours.REPLACE_ONE)):
        declared = sketch.sensitivity(relation)
        assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared
        assert (np.abs(moved).sum(axis=(0, 2)) <= declared.l1 // declared.parts).all()
        assert not declared.unit_shifts
    counted = sketch.count(encoded(ones, domain)) - sketch.count(encoded(others, domain))
    bound = sketch.count_sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(counted).sum() <= bound.l1 and (counted**2).sum() <= bound.l2_squared


def test_equal_records_of_one_person_reach_the_scaled_bound_in_both_relations():
    sketch = classes(domain=Domain(DOMAIN.columns, unit=PrivacyUnit("who", 4)))
    one, other = filled(sketch, [(1.0, "a", 1.0, "f")] * 4), filled(sketch, [(1.0, "b", 1.0, "f")] * 4)
    for moved, relation in ((one, Neighbours.ADD_REMOVE), (one - other, Neighbours.REPLACE_ONE)):
        declared = sketch.sensitivity(relation)
        assert np.abs(moved).sum() == declared.l1 and (moved**2).sum() == declared.l2_squared
    counted = sketch.count_sensitivity(Neighbours.REPLACE_ONE)
    assert (counted.l1, counted.l2_squared) == (8, 32)


def test_an_inner_sketch_that_moves_further_within_a_class_than_between_two_sets_the_squared_length():
    class Opposite(Race):
        """As far as sensitivities go, a sketch of vectors of length up to 5, which a replaced record turns round."""

        def record_sensitivity(self, neighbours):
            if neighbours is Neighbours.ADD_REMOVE:
                return Sensitivity(7, 25, block=2, blocks_l2=5)
            return Sensitivity(14, 100, block=2, blocks_l2=10)

    sketch = classes(Opposite(REST, Euclidean(1.0), rows=16, seed=1))
    added, replaced = (sketch.sensitivity(relation) for relation in Neighbours)
    assert (added.l1, added.l2_squared, added.block, added.blocks_l2) == (7, 25, 2, 5)
    assert (replaced.l1, replaced.l2_squared, replaced.block, replaced.blocks_l2) == (14, 100, 2, 10)


def small(domain=None):
    domain = domain or Domain((Numeric("x", 0, 1), Categorical("kind", ("a", "b"))))
    return Classes(domain, "kind", Race(domain.without("kind"), Euclidean(0.2), rows=2, width=8, groups=2, seed=1))


@pytest.mark.deep
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("delta", [0, "1e-5"])
def test_classes_keep_their_promise(neighbours, delta):
    report = audit_sketch(small(), Budget(1, delta, neighbours), runs=40_000, level=LEVEL)
    assert report.passed
    assert delta or report.epsilon_lower > 0.3


def test_the_whole_budget_for_every_class_is_caught_when_people_may_change_class(monkeypatch):
    """Parallel composition is right when people come and go, and wrong when they are replaced."""
    monkeypatch.setattr(
        Classes, "record_sensitivity", lambda self, _: self.inner.record_sensitivity(Neighbours("add_remove"))
    )
    report = audit_sketch(small(), Budget(1, 0, Neighbours.REPLACE_ONE), level=LEVEL)
    assert not report.passed and report.epsilon_lower > Fraction(5, 4)


def people(count=3000, seed=1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    kind = random.choice(["a", "b", "c", "strange"], count, p=[0.5, 0.3, 0.1, 0.1])
    centre = np.select([kind == "a", kind == "b"], [-1.5, 1.5], 0.0)
    x, y = (np.clip(centre + 0.5 * random.standard_normal(count), -3, 3) for _ in range(2))
    return pd.DataFrame({"kind": kind, "x": x, "y": y, "sex": random.choice(["f", "m"], count)})


def made(budget=None, inner=None, seed=5, **choices):
    sketch = classes(inner or race(rows=40, width=64))
    return release(sketch, people(**choices), budget or Budget(5), noise_source=SeededSource(seed))


@pytest.mark.parametrize("budget", [Budget(5), Budget(5, "1e-6", "replace_one")], ids=["pure", "replaced"])
def test_a_class_is_a_release_of_its_own_under_the_same_promise(budget):
    whole = made(budget)
    frame = people()
    for place, name in enumerate(LABEL.categories):
        one = whole.of_class(name)
        assert one.privacy is whole.privacy and one.domain == REST and not one.private
        assert (one.counters == whole.counters[place]).all() and one.sketch == whole.sketch.inner
        assert one.records == pytest.approx(whole.counts[place])
        assert abs(one.records - (frame["kind"] == name).sum()) < 8 * one.count_error
        queries = frame[frame["kind"] == name].iloc[:5]
        assert (one.density(queries) > 0).all()
    assert whole.of_class(1).counters.tolist() == whole.of_class("b").counters.tolist()
    assert whole.records == pytest.approx(whole.counts.sum())


def test_a_class_of_merged_releases_is_the_merged_class():
    one, other = made(), made(seed=6)
    merged = one.merged(other)
    assert (merged.of_class("b").counters == one.of_class("b").counters + other.of_class("b").counters).all()
    assert merged.of_class("b").privacy.releases == 2
    assert one.of_class("b").merged(other.of_class("b")).counts == pytest.approx(merged.of_class("b").counts)


@pytest.mark.parametrize("which", ["d", 3, -1, 1.0, None, True])
def test_a_class_that_there_is_not(which):
    with pytest.raises(RequestError):
        made().of_class(which)


def test_everyone_together_is_the_sketch_of_all_records_under_the_noise_of_all_classes():
    whole = made()
    together, frame = whole.of_everyone(), people()
    assert together.sketch == whole.sketch.inner and (together.counters == whole.counters.sum(axis=0)).all()
    assert together.privacy.counter_variance == pytest.approx(3 * whole.privacy.counter_variance)
    assert together.privacy.epsilon == whole.privacy.epsilon and together.records == pytest.approx(whole.records)
    known = frame[frame["kind"] != "strange"]
    queries = known.iloc[:40]
    encoded = REST.encode_queries(queries, together.sketch.metric)
    exact = together.sketch.exact(encoded, REST.encode_queries(known, together.sketch.metric))
    low, high = together.interval(queries, level=0.999999)
    assert ((low <= exact) & (exact <= high)).all()
    plain = release(race(), frame, Budget(5), noise_source=SeededSource(1))
    assert plain.of_everyone() is plain


def test_a_release_without_classes_has_none():
    plain = release(race(), people(), Budget(5), noise_source=SeededSource(1))
    with pytest.raises(RequestError, match="without a column of classes"):
        plain.of_class(0)


@pytest.mark.parametrize(
    "inner",
    [
        race(rows=40, width=64),
        Features(REST, Laplacian(1.0), rows=16, seed=2),
        Projected.of(REST, Euclidean(1.0), Race, 2, rows=16, width=16, seed=9),
    ],
    ids=["race", "features", "projected"],
)
def test_files_hold_classes(inner):
    whole = made(inner=inner)
    again = load(whole.to_bytes(teaching=True))
    assert again.sketch.parameters() == whole.sketch.parameters()
    assert (again.counters == whole.counters).all() and again.sketch.inner.domain == REST
    assert np.array_equal(again.counts, whole.counts)
    queries = people(20)
    assert (again.answer(queries).estimate == whole.answer(queries).estimate).all()


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_file_of_one_class_can_be_opened_where_counts_are_in_the_table(relation):
    """Where nobody can be left out and records are replaced, all are a public number, and those of a class are not."""
    domain = Domain(DOMAIN.columns, missing="refuse")
    sketch = classes(race(domain.without("kind")), domain)
    complete = people()[people()["kind"].isin(LABEL.categories)]
    whole = release(sketch, complete, Budget(5, 0, relation), noise_source=SeededSource(1))
    assert whole.counted is None
    one = whole.of_class("b")
    again = load(one.to_bytes(teaching=True))
    assert again.counted is None and not again.count_is_public and again.records == one.records


def test_a_count_of_its_own_is_one_a_class():
    wide = classes(race(rows=16, width=4000, bandwidth=0.01))
    assert plan(wide, Budget(1)).counts
    whole = release(wide, people(), Budget(1), noise_source=SeededSource(1))
    assert whole.counted.shape == (3,)
    again = load(whole.to_bytes(teaching=True))
    assert (again.counted == whole.counted).all() and again.of_class("a").counted == whole.counted[0]


def nested(levels: int) -> dict:
    parameters: dict = {"label": "kind", "inner": {"mechanism": "race", "parameters": race().parameters()}}
    for _ in range(levels):
        parameters = {"label": "kind", "inner": {"mechanism": "classes", "parameters": parameters}}
    return parameters


@pytest.mark.parametrize(
    "change",
    [
        {"label": "x"},
        {"label": "colour"},
        {"label": 3},
        {"label": ["kind"]},
        {"inner": None},
        {"inner": {"mechanism": "race"}},
        {"inner": {"mechanism": ["race"], "parameters": {}}},
        {"inner": {"mechanism": "classes", "parameters": nested(0)}},
        nested(1),
        nested(200),
        {"further": 1},
    ],
    ids=lambda change: " ".join(change),
)
def test_a_strangers_parameters_are_refused_in_one_sentence(change):
    with pytest.raises(RequestError) as refusal:
        _ = sketch_from_parameters("classes", DOMAIN, classes().parameters() | change).inner.columns
    assert "\n" not in str(refusal.value)


def test_a_hostile_file_is_refused_before_its_table_is_made():
    data = made().to_bytes(teaching=True)
    manifest = manifest_in(data)
    manifest["domain"]["columns"][1]["categories"] = [f"class {i}" for i in range(9_000)]
    manifest["parameters"]["inner"]["parameters"] |= {"rows": 20_000, "width": 10_000}
    with pytest.raises(ReleaseFileError):
        load(with_manifest(data, manifest))
    manifest = manifest_in(data)
    manifest["parameters"] = nested(3)
    with pytest.raises(ReleaseFileError):
        load(with_manifest(data, manifest))


def test_more_counters_than_memory_are_refused_when_the_size_is_known():
    domain = Domain((Numeric("x", 0, 1), Categorical("kind", tuple(map(str, range(10_000))))))
    inner = Race(domain.without("kind"), Euclidean(1e-6), rows=100, width=1000, seed=1)
    with pytest.raises(RequestError, match="counters"):
        Classes(domain, "kind", inner).zeros()


@pytest.mark.parametrize(
    ("label", "inner"),
    [("x", race()), ("nothing", race()), ("kind", race(DOMAIN)), ("kind", "race"), ("kind", None), (None, race())],
)
def test_classes_that_cannot_be(label, inner):
    with pytest.raises(RequestError):
        Classes(DOMAIN, label, inner)


def test_classes_of_classes_are_refused():
    inner = Classes(REST, "sex", Race(REST.without("sex"), Euclidean(1.0), rows=16))
    with pytest.raises(RequestError, match="classes itself"):
        Classes(DOMAIN, "kind", inner)


@pytest.mark.thorough
def test_the_forecast_is_that_of_one_class_and_chooses_its_size():
    open_ended = classes(Race(REST, Euclidean(1.0)))
    assert not open_ended.sized
    chosen = choose_size(open_ended, Budget(1), records=9_000)
    assert chosen.sized and isinstance(chosen, Classes) and chosen.inner.rows == chosen.shape[1]
    expected = forecast(chosen.inner, Budget(1), records=3_000)
    # But for the counts, which get 4% of the budget instead of 1%.
    assert forecast(chosen, Budget(1), records=9_000).relative_error == pytest.approx(expected.relative_error, rel=0.04)
    assert chosen.reseeded(7).inner.seed == 7
    assert chosen.with_rows(20).shape[:2] == (3, 20)


def test_a_domain_without_a_column():
    assert DOMAIN.without("kind").names == ("x", "y", "sex")
    for name in ("nothing", 3):
        with pytest.raises(RequestError, match="no column"):
            DOMAIN.without(name)
    with pytest.raises(RequestError, match="only one"):
        Domain.of(x=(0, 1)).without("x")
