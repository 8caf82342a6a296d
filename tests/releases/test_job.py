"""One job makes every kind of release: refused before paying, paid before any noise, used up, and kept."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Classes, Domain, Ledger, Moments, Race, load, release
from core.domain import PrivacyUnit
from core.errors import BudgetError, RequestError
from core.geometry.kernels import Euclidean
from core.lab.published.mwem import MWEM
from core.privacy.accounting import Cost
from core.privacy.choosing.private_bounds import Grid
from core.privacy.composition import PureParts
from core.privacy.noise.randomness import SeededSource, SystemSource
from core.releases.bounds_and_centre import BoundsPurchase, CentrePurchase
from core.releases.engine.building import ExactTable, TableBuilder, check_room
from core.releases.found import paid_text
from core.releases.job import Job
from core.releases.kind import kind_of, most_bytes
from core.releases.payment import LedgerAccount
from core.releases.release_store import shelf_of
from core.releases.seal import seal
from core.sketches.plan import plan
from core.sources import open_source

PLANE = Domain.of(x=(0, 1), y=(0, 1))
REFUSING = Domain.of(x=(0, 1), y=(0, 1), missing="refuse")
BUDGET = Budget(1)
RACE = {"kernel": Euclidean(0.2), "rows": 8, "width": 16, "seed": 1}
KINDS = {
    "plain": lambda domain: kind_of(Race(domain, **RACE), BUDGET),
    "choosing": lambda domain: kind_of(MWEM(domain, Euclidean(0.2), rounds=2, cells=(4, 4), queries=8), BUDGET),
    "bounded": lambda domain: kind_of(Race(domain, **RACE), BUDGET, bounds=BoundsPurchase({"x": Grid(0, 100)})),
    "centred": lambda domain: kind_of(Moments(domain, 1.0), BUDGET, 1000, centre=CentrePurchase()),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def people(count=300):
    random = np.random.default_rng(3)
    return open_source({"x": random.uniform(0, 1, count), "y": random.uniform(0, 1, count)})


def paying(ledger):
    return LedgerAccount(ledger, "people", BUDGET, "record")


class Watching:
    """The system's randomness, and what the ledger knew when it was first asked for."""

    private = True

    def __init__(self, ledger):
        self.ledger, self.known = ledger, None

    def stream(self):
        if self.known is None:
            self.known = [entry.cost for entry in self.ledger.status("people").releases]
        return SystemSource().stream()


@every_kind
def test_the_whole_price_is_in_the_ledger_before_any_noise_and_the_release_is_kept(kind, ledger):
    watching = Watching(ledger)
    asked = kind(PLANE)
    job = Job(asked, people(), paying(ledger), noise_source=watching)
    made = job.run()
    assert watching.known == [asked.cost] == [entry.cost for entry in ledger.status("people").releases]
    assert made.private and made.privacy.epsilon == BUDGET.epsilon
    (entry,) = shelf_of(ledger).entries()
    assert (entry.name, entry.dataset) == (job.kept.name, "people")
    assert shelf_of(ledger).load(entry.name) == made
    assert entry.size < most_bytes(job.kind)


@every_kind
def test_a_finished_job_has_no_exact_sums_left_and_cannot_be_finished_again(kind, ledger):
    job = Job(kind(PLANE), people(), paying(ledger))
    for _ in job:
        pass
    if job._first is None:  # what is bought first is summed before the table
        sums = job._purchasing._exact
        sums = sums if isinstance(sums, list) else [sums]
        assert any(one.any() for one in sums)
        job.finish()
        assert not any(one.any() for one in sums)
    else:
        exact = job._first.exact
        table = exact.table
        before = table.copy()
        job.finish()
        with pytest.raises(RuntimeError, match="already"):
            _ = exact.table
        assert not np.array_equal(table, before) or kind is KINDS["choosing"]
    with pytest.raises(RuntimeError, match="already"):
        job.finish()
    assert len(ledger.status("people").releases) == 1


@every_kind
def test_half_a_reading_is_never_released(kind, ledger):
    job = Job(kind(PLANE), people(), paying(ledger))
    with pytest.raises(RuntimeError, match="iterate"):
        job.finish()
    assert ledger.names() == []


@every_kind
def test_what_cannot_be_read_is_refused_at_no_cost(kind, ledger):
    bad = open_source({"x": [0.5] * 50 + [np.nan], "y": [0.5] * 51})
    with pytest.raises(RequestError):
        Job(kind(REFUSING), bad, paying(ledger)).run()
    assert ledger.names() == [] and shelf_of(ledger).entries() == ()


@every_kind
def test_a_ledger_that_refuses_after_the_reading_gets_the_exact_sums_back(kind, ledger):
    """Somebody else spent the budget while the records were read."""
    ledger.register("people", 1)
    job = Job(kind(PLANE), people(), paying(ledger))
    for _ in job:
        pass
    ledger.spend("people", plan(Race(PLANE, **RACE), Budget("0.5")).cost)
    with pytest.raises(BudgetError):
        job.finish()
    assert (job._first is None or job._first.exact.table.any()) and len(ledger.status("people").releases) == 1
    assert shelf_of(ledger).entries() == () and list(shelf_of(ledger).folder.glob("*")) == []


@every_kind
def test_a_budget_that_is_too_small_is_refused_before_reading(kind, ledger):
    ledger.register("people", "0.9")
    source = people()
    source.batches = lambda *_, **__: pytest.fail("records were read")
    with pytest.raises(BudgetError):
        Job(kind(PLANE), source, paying(ledger)).run()


@pytest.mark.parametrize(("name", "readings"), [("plain", 1), ("bounded", 2), ("centred", 2)])
def test_the_source_is_read_as_often_as_is_said(name, readings):
    source, begun, seen = people(), [], []
    batches = source.batches
    source.batches = lambda *given, **facts: begun.append(1) or batches(*given, **facts)
    kind = KINDS[name](PLANE)
    job = Job(kind, source)
    said = job.readings
    job.run(seen.append)
    assert len(begun) == said == readings and seen[-1] == 300 * readings


@pytest.mark.parametrize("name", ["bounded", "centred"])
def test_too_many_records_for_a_later_reading_are_refused_at_no_cost(name, ledger, monkeypatch):
    """The first reading's sums are whole numbers of records; those of the table are in fixed point."""
    rooms = []

    def as_if_many(sketch, records):
        rooms.append(records)
        check_room(sketch, 1 << 63)

    monkeypatch.setattr("core.releases.bounds_and_centre.check_room", as_if_many)
    with pytest.raises(RequestError, match="counters"):
        Job(KINDS[name](PLANE), people(), paying(ledger)).run()
    assert rooms == [300] and ledger.names() == []


def test_a_teaching_release_is_not_kept_beside_the_ledger(ledger, tmp_path):
    job = Job(KINDS["plain"](PLANE), people(), paying(ledger), noise_source=SeededSource(1), out=tmp_path / "a.npz")
    assert not job.run().private and job.kept is None and shelf_of(ledger).entries() == ()


def test_a_release_without_a_data_set_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "own.sqlite"))
    release(Race(PLANE, **RACE), people(), BUDGET)
    assert list(tmp_path.iterdir()) == []


def test_a_large_table_is_kept_as_it_is_handed_out(ledger, tmp_path, monkeypatch):
    """What was taken of the disk and not needed is given back, whatever the file's format."""
    monkeypatch.setattr("core.releases.file.LARGE", 0)
    job = Job(KINDS["plain"](PLANE), people(), paying(ledger), out=tmp_path / "people.npz")
    made = job.run()
    assert job.kept.read_bytes() == (tmp_path / "people.npz").read_bytes() == made.to_bytes(large=0)
    assert load(job.kept) == made


def test_a_full_disk_is_found_before_paying(ledger, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.runtime.transient._take", full)
    for out in (None, tmp_path / "people.npz"):
        job = Job(KINDS["plain"](PLANE), people(), paying(ledger), out=out)
        with pytest.raises(RequestError, match="No space left"):
            job.run()
    assert ledger.names() == [] and list(shelf_of(ledger).folder.iterdir()) == []


def test_where_there_is_room_for_the_file_alone_it_is_said_so(ledger, tmp_path):
    shelf_of(ledger).folder.write_text("in the way")
    said = []
    job = Job(KINDS["plain"](PLANE), people(), paying(ledger), out=tmp_path / "people.npz", say=said.append)
    job.run()
    assert job.kept == tmp_path / "people.npz" and job.kept.exists() and "alone" in said[0]
    with pytest.raises(RequestError, match="no room to keep"):
        Job(KINDS["plain"](PLANE), people(), LedgerAccount(ledger, "others", BUDGET, "record")).run()
    assert ledger.names() == ["people"]


def test_nothing_else_is_bought_beside_a_mechanism_that_shares_its_budget_out():
    with pytest.raises(RequestError, match="chooses under its own promise"):
        kind_of(MWEM(PLANE, Euclidean(0.2), rounds=2, cells=(4, 4), queries=8), BUDGET, centre=CentrePurchase())
    with pytest.raises(RequestError, match="in one release"):
        kind_of(Moments(PLANE, 1.0), BUDGET, bounds=BoundsPurchase({"x": Grid(0, 9)}), centre=CentrePurchase())


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6"), Budget(1, 0, "replace_one")], ids=str)
def test_a_plan_that_does_not_cover_the_sketch_is_refused_at_no_cost(budget):
    """A table of more rows is moved further by one person than the plan's noise hides."""
    small, large = (Race(PLANE, **RACE | {"rows": rows}) for rows in (8, 16))
    building = TableBuilder(large, people())
    for _ in building:
        pass
    spent = []
    for planned, promise in ((plan(small, budget), budget), (plan(large, Budget(2, budget.delta)), budget)):
        with pytest.raises(RuntimeError, match="does not cover"):
            seal(large, building.exact, promise, spent.append, planned=planned)
    assert not spent and building.exact.table.any()
    assert seal(large, building.exact, budget, planned=plan(large, budget)).privacy.epsilon == 1


def test_a_plan_for_one_record_does_not_cover_a_person_with_more():
    crowded = Domain.of(x=(0, 1), y=(0, 1), unit=PrivacyUnit("id", 5))
    sketch = Race(crowded, **RACE)
    exact = ExactTable(sketch.zeros(), 0)
    with pytest.raises(RuntimeError, match="does not cover"):
        seal(sketch, exact, BUDGET, planned=plan(Race(PLANE, **RACE), BUDGET))


def test_classes_are_released_by_every_kind_that_knows_them():
    labelled = Domain.of(x=(0, 1), y=(0, 1), sex=["f", "m"])
    inner = labelled.without("sex")
    source = open_source({"x": [0.5] * 40, "y": [0.5] * 40, "sex": ["f", "m"] * 20})
    for facts in ({}, {"bounds": BoundsPurchase({"x": Grid(0, 100)})}):
        made = release(Classes(labelled, "sex", Race(inner, **RACE)), source, Budget(50), **facts)
        assert made.of_class("f").records == pytest.approx(20, abs=10)
    made = release(
        Classes(labelled, "sex", Moments(inner, 1.0).for_mean()), source, Budget(50), centre=CentrePurchase()
    )
    assert made.of_class("f").records == pytest.approx(20, abs=10)


@pytest.mark.parametrize("name", ["a\x1b[2J", "a\nb", "a\u202eb", "a\x00", "a\u2028b", "a\x7f", "a\u2066b"])
def test_a_name_that_steers_terminals_is_refused_before_anything_is_paid(ledger, name):
    job = Job(kind_of(Race(Domain.of(**{name: (0, 1)}), **RACE), BUDGET), people(), paying(ledger))
    with pytest.raises(RequestError, match="steers") as refusal:
        job.begin()
    assert str(refusal.value).isprintable() and not ledger.names()


@pytest.mark.parametrize("name", ["größe", "שם", "عمر", "年齢", "a b", "a\xa0b", "👩\u200d🔬"])
def test_names_of_every_script_are_none(ledger, name):
    Job(kind_of(Race(Domain.of(**{name: (0, 1)}), **RACE), BUDGET), open_source({name: [0.5]}), paying(ledger)).begin()


def test_a_release_of_columns_that_python_found_promises_what_that_cost():
    """A declaration said it to commands and to the page, and `release` had no word for it."""
    cost = Cost((PureParts(Fraction(1, 2)),), Decimal("0.5"))
    sketch = Race(Domain.of(x=(0, 1)), Euclidean(0.2), rows=4, width=4, seed=1)
    made = release(sketch, {"x": [0.1, 0.9]}, Budget(1), paid=paid_text([(cost, Budget(9))]))
    assert made.privacy.epsilon == Decimal("1.5")
    whole = release(sketch, {"x": [0.1, 0.9]}, Budget(1, "1e-6"), paid=paid_text([(cost, Budget(1, "1e-6"))]))
    assert (whole.privacy.epsilon, whole.privacy.delta) == (Decimal("1.5"), Decimal("0.000001"))
    with pytest.raises(RequestError, match="find it out again"):
        release(sketch, {"x": [0.1, 0.9]}, Budget(1), paid="[1]")
