"""The order of a release, the share of the count, and what the noisy table is worth."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import BudgetError, RequestError
from core.geometry.kernels import Euclidean
from core.privacy.budget import Budget, Neighbours
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable, TableBuilder, check_room
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.releases.seal import seal
from core.sketches.classes import Classes
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.moments import Moments
from core.sketches.plan import plan
from core.sketches.race import Race
from tests.depth import deep
from tests.releases_for_tests import counted_release, small_release

DOMAIN = Domain.of(x=(0, 10), y=(0, 10))
DATA = np.random.default_rng(1).uniform(0, 10, (3000, 2))


def race(domain=DOMAIN, rows=1000, **more) -> Race:
    return Race(domain, Euclidean(1.0), rows=rows, seed=7, **more)


def exact(sketch: Race, data=DATA) -> ExactTable:
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(data))
    return ExactTable(table, len(data))


def test_the_ledger_is_asked_before_any_noise_is_drawn(monkeypatch):
    events = []
    import core.releases.seal as releases

    monkeypatch.setattr(releases, "add_noise", lambda *a, **k: events.append("noise") or a[0])
    seal(race(), exact(race()), Budget(1), spend=lambda cost: events.append(cost.epsilon))
    assert events == [Decimal(1), "noise", "noise"]


def test_a_refused_spend_draws_no_noise(monkeypatch):
    import core.releases.seal as releases

    def refuse(cost):
        raise BudgetError("no")

    monkeypatch.setattr(releases, "add_noise", lambda *a, **k: pytest.fail("noise was drawn"))
    with pytest.raises(BudgetError):
        seal(race(), exact(race()), Budget(1), spend=refuse)


def test_an_exact_table_is_used_up_by_its_release_and_costs_nothing_twice():
    sketch, spent = race(), []
    truth = exact(sketch)
    table, again = truth.table, truth.copy()
    made = seal(sketch, truth, Budget(1), noise_source=SeededSource(1))
    assert made.counters is table and not np.array_equal(table, again.table)
    for use in (lambda: truth.table, lambda: truth.records, truth.copy, truth.use_up):
        with pytest.raises(RuntimeError, match="already"):
            use()
    with pytest.raises(RuntimeError, match="already"):
        seal(sketch, truth, Budget(1), spent.append)
    assert not spent
    assert np.array_equal(seal(sketch, again, Budget(1), noise_source=SeededSource(1)).counters, table)


def test_nobody_pays_for_a_table_that_another_is_paying_for():
    sketch, spent = race(), []
    truth = exact(sketch)

    def meanwhile(cost):
        with pytest.raises(RuntimeError, match="already"):
            seal(sketch, truth, Budget(1), spent.append)
        raise BudgetError("no")

    with pytest.raises(BudgetError):
        seal(sketch, truth, Budget(1), meanwhile)
    assert not spent
    seal(sketch, truth, Budget(1), spent.append)  # whoever could not pay has left it as it was
    assert len(spent) == 1


def test_noise_that_fails_half_way_leaves_no_exact_table_to_try_again(monkeypatch):
    import core.releases.seal as releases

    def fail(*given):
        raise MemoryError

    truth = exact(race())
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(releases, "add_noise", fail)
        seal(race(), truth, Budget(1))
    with pytest.raises(RuntimeError, match="already"):
        seal(race(), truth, Budget(1))


@pytest.mark.parametrize(
    "table", [np.zeros((4, 4)), np.zeros((4, 4), np.int64).T[:2], np.broadcast_to(np.zeros(4, np.int64), (4, 4))]
)
def test_exact_tables_are_arrays_that_noise_can_be_written_over(table):
    with pytest.raises(TypeError, match="writable"):
        ExactTable(table, 0)


@pytest.mark.deep
@pytest.mark.parametrize(("epsilon", "kind"), [deep(1, np.int32), ("1e-6", np.int64)])
def test_large_tables_have_32_bit_counters_unless_the_noise_needs_more(monkeypatch, epsilon, kind):
    """The same release as with 64 bits; counters that give way to wider ones are wiped."""
    wide = seal(race(), exact(race()), Budget(epsilon), noise_source=SeededSource(1))
    monkeypatch.setattr("core.sketches.race.WIDE_COUNTERS", 1000)
    sketch = race()
    truth = exact(sketch)
    table = truth.table
    made = seal(sketch, truth, Budget(epsilon), noise_source=SeededSource(1))
    assert table.dtype == np.int32 and made.counters.dtype == kind and np.array_equal(made.counters, wide.counters)
    assert made.counters is table or not table.any()
    queries = DATA[:50]
    assert (made.estimate(queries) == wide.estimate(queries)).all() and made.records == wide.records
    other = seal(sketch, exact(sketch), Budget(epsilon), noise_source=SeededSource(2))
    assert (made.merged(other).estimate(queries) == wide.merged(other).estimate(queries)).all()


def test_records_that_32_bit_counters_might_not_hold_are_refused(monkeypatch):
    monkeypatch.setattr("core.sketches.race.WIDE_COUNTERS", 1000)
    check_room(race(), (1 << 31) - 1)
    with pytest.raises(RequestError, match="32-bit"):
        check_room(race(), 1 << 31)


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("records", [1, 3])
def test_table_and_count_share_exactly_the_promise(delta, neighbours, records):
    unit = PrivacyUnit() if records == 1 else PrivacyUnit("who", records)
    sketch = race(Domain.of(x=(0, 300), y=(0, 300), outside="drop", unit=unit))
    budget = Budget("0.7", delta, neighbours)
    planned = plan(sketch, budget)
    assert planned.counts
    factor = records * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
    if not delta:
        assert 1000 * factor / planned.noise.parameter + records / planned.count_noise.parameter == Fraction(7, 10)
    else:
        l2 = 1000 * records * factor
        rho = Fraction(l2) / (2 * planned.noise.parameter) + Fraction(records**2) / (2 * planned.count_noise.parameter)
        assert planned.cost.rho == rho


def test_the_number_of_records_is_public_only_when_none_can_be_left_out():
    kept = Domain.of(x=(0, 10), y=(0, 10), outside="clamp", missing="refuse")
    replace = Budget(1, neighbours="replace_one")
    made = seal(race(kept), exact(race(kept)), replace)
    assert made.counted == 3000 and made.count_is_public and made.records_error == 0
    for domain, budget in [(DOMAIN, replace), (kept, Budget(1))]:
        assert plan(race(domain), budget).count_noise is not None


def test_a_count_of_its_own_is_released_only_where_it_beats_the_row_sums():
    wide, narrow = race(rows=1000), race(Domain.of(x=(0, 1), y=(0, 1)), rows=4)
    assert plan(wide, Budget(1)).counts and not plan(narrow, Budget(1)).counts
    made = seal(narrow, exact(narrow, DATA / 10), Budget(100), noise_source=SeededSource(1))
    assert made.counted is None and made.records == pytest.approx(3000, abs=8 * made.records_error)


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6"), Budget(2, 0, "replace_one")])
def test_noise_in_the_table_has_the_planned_variance(budget):
    """About 10,000 counters: the ratio of variances is within 20% but for 1e-7 (kurtosis 6 at most: 8 sigmas)."""
    sketch = race(rows=500)
    truth = exact(sketch)
    made = seal(sketch, truth.copy(), budget)
    noise = (made.counters - truth.table).astype(float)
    assert noise.var() == pytest.approx(made.privacy.counter_variance, rel=0.2)
    assert abs(noise.mean()) < 6 * math.sqrt(made.privacy.counter_variance / noise.size)


def test_answers_are_near_the_truth_and_have_the_parts_that_they_say():
    sketch = race(rows=1000)
    made = seal(sketch, exact(sketch), Budget(10), noise_source=SeededSource(1))
    queries = DATA[:100]
    truth = Euclidean(1.0).evaluate(queries, DATA).sum(axis=1)
    answers = made.answer(queries)
    assert np.mean(np.abs(answers.estimate - truth) / truth) < 0.06
    assert (made.estimate(queries) == answers.estimate).all()
    assert (made.density(queries) == answers.estimate / made.records).all()
    low, high = made.interval(queries, 0.5)
    assert (answers.low < low).all() and (high < answers.high).all()


def test_releasing_is_recorded_and_stops_at_the_total(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("pairs", "1.5")
    for _ in range(3):
        release(race(rows=20), DATA, Budget("0.5"), ledger=ledger, dataset="pairs")
    with pytest.raises(BudgetError):
        release(race(rows=20), DATA, Budget("0.000001"), ledger=ledger, dataset="pairs")
    assert len(ledger.status("pairs").releases) == 3


@pytest.mark.parametrize("relation", list(Neighbours))
def test_an_unknown_data_set_is_registered_with_what_its_first_release_spends(tmp_path, relation):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    release(race(rows=20), DATA, Budget("0.5", neighbours=relation), ledger=ledger, dataset="new")
    assert ledger.dataset("new").epsilon == Decimal("0.5")
    with pytest.raises(BudgetError):
        release(race(rows=20), DATA, Budget("0.1", neighbours=relation), ledger=ledger, dataset="new")


def test_bad_data_spends_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("pairs", 1)
    refusing = Domain.of(x=(0, 10), y=(0, 10), missing="refuse")
    with pytest.raises(RequestError):
        release(race(refusing, rows=20), np.array([[1.0, np.nan]]), Budget(1), ledger=ledger, dataset="pairs")
    with pytest.raises(RequestError):
        release(race(rows=20), tmp_path / "absent.csv", Budget(1), ledger=ledger, dataset="pairs")
    assert not ledger.status("pairs").releases


def test_progress_is_told_and_half_a_table_is_never_released():
    seen = []
    release(race(rows=20), np.tile(DATA, (50, 1)), Budget(1), progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 150_000 and len(seen) > 1
    from core.sources import open_source

    building = TableBuilder(race(rows=20), open_source(DATA))
    with pytest.raises(RuntimeError):
        _ = building.exact


def test_merging_adds_tables_and_states_both_promises():
    first, second = (
        seal(race(), exact(race(), part), Budget(epsilon), noise_source=SeededSource(epsilon))
        for part, epsilon in ((DATA[:1000], 1), (DATA[1000:], 2))
    )
    both = first.merged(second)
    assert (both.counters == first.counters + second.counters).all() and both.counted == first.counted + second.counted
    assert both.privacy.epsilon == 2 and both.privacy.overlap_epsilon == 3 and both.privacy.releases == 2
    assert both.privacy.counter_variance == first.privacy.counter_variance + second.privacy.counter_variance
    truth = Euclidean(1.0).evaluate(DATA[:1], DATA).sum()
    answers = both.answer(DATA[:1], level=0.99)
    assert answers.low[0] < truth < answers.high[0]


@pytest.mark.parametrize(
    "other",
    [
        lambda: seal(race(rows=500), exact(race(rows=500)), Budget(1)),
        lambda: seal(race(), exact(race()), Budget(1, "1e-6")),
        lambda: seal(race(), exact(race()), Budget(1, neighbours="replace_one")),
        lambda: seal(Race(DOMAIN, Euclidean(1.0), rows=1000, seed=8), exact(race()), Budget(1)),
    ],
)
def test_releases_of_different_kinds_do_not_merge(other):
    with pytest.raises(RequestError):
        seal(race(), exact(race()), Budget(1)).merged(other())


def test_a_release_does_not_merge_with_itself():
    made = seal(race(rows=20), exact(race(rows=20)), Budget(1))
    with pytest.raises(RequestError):
        made.merged(made)


def test_seeded_noise_is_marked_as_not_private():
    first, second = (seal(race(), exact(race()), Budget(1), noise_source=SeededSource(3)) for _ in range(2))
    assert not first.private and (first.counters == second.counters).all()
    assert seal(race(), exact(race()), Budget(1)).private


def test_real_noise_is_fresh_every_time():
    first, second = (seal(race(), exact(race()), Budget(1)) for _ in range(2))
    assert (first.counters != second.counters).mean() > 0.9


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_noise_that_fits_no_counter_is_refused_before_anything_is_spent(delta):
    crowded = Domain.of(x=(0, 1), unit=PrivacyUnit("id", 100_000))
    sketch, spent = Moments(crowded, count_weight=1 << 30, square_weight=1 << 30), []
    with pytest.raises(RequestError, match="a larger epsilon"):
        seal(sketch, ExactTable(sketch.zeros(), 0), Budget("1e-6", delta), spent.append)
    assert not spent


class _Approximate(Race):
    """A sketch whose theory knows nothing of pure promises."""

    def check_budget(self, budget):
        if budget.pure:
            raise RequestError("This sketch needs a delta.")


def test_a_promise_that_a_sketch_cannot_keep_is_refused_before_any_data_is_opened():
    sketch = _Approximate(DOMAIN, Euclidean(1.0), rows=10)
    grouped = Domain((*DOMAIN.columns, Categorical("group", ("a", "b"))))
    for refusing in (sketch, Classes(grouped, "group", sketch)):
        for asked in (plan, forecast, audit_sketch):
            with pytest.raises(RequestError, match="needs a delta"):
                asked(refusing, Budget(1))
        with pytest.raises(RequestError, match="needs a delta"):
            release(refusing, "no such file", Budget(1))
        assert plan(refusing, Budget(1, "1e-6")).noise.variance > 0


def test_releases_are_equal_when_their_files_are():
    made = small_release()
    again = load(made.to_bytes())
    assert made == again and hash(made) == hash(again) and len({made, again}) == 1
    assert made != "a release" and made != small_release(records=300)
    other = made.counters.copy()
    other.flat[0] += 1
    changes = ({"counters": other}, {"counted": 3}, {"private": False}, {"created": "2020-01-01T00:00:00+00:00"})
    assert all(made != replace(made, **change) for change in changes)
    counted = counted_release()
    assert counted == replace(counted) and counted != replace(counted, counted=counted.counted + 1)


def test_what_a_release_says_of_itself_fits_a_line():
    names = Categorical("name", tuple(f"category {number}" for number in range(5000)))
    wide = Domain((*(Numeric(f"column {number}", 0, 1) for number in range(50)), names), missing="refuse")
    sketch = Race(wide, Euclidean(1.0), rows=4, width=8)
    made = seal(sketch, ExactTable(sketch.zeros(), 0), Budget(1, "1e-6"), noise_source=SeededSource(1))
    assert repr(made).startswith("<Release of race, 4 x 8 counters, epsilon=1, delta=0.000001, made 20")
    assert repr(made).endswith("not private>")
    assert "45 more" in repr(wide) and "missing='refuse'" in repr(wide) and "outside" not in repr(wide)
    assert repr(made.privacy.budget) == "Budget(1, 0.000001, 'add_remove')"
    assert all(len(text) < 400 for text in map(repr, (made, wide, sketch, made.privacy.budget)))
