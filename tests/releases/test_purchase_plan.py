"""What is bought before a release: in which order it is priced, paid for and drawn, and what is refused."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import count as numbers

import numpy as np
import pytest

from core import Budget, Domain, Ledger, Race, release
from core.domain import Numeric, PrivacyUnit
from core.errors import BudgetError, ReleaseFileError, RequestError
from core.geometry.kernels import Euclidean, Laplacian
from core.privacy.accounting import Alone, Cost, admits_each
from core.privacy.budget import Sensitivity, exact_decimal
from core.privacy.calibration import calibrate, calibrate_gaussian
from core.privacy.noise.randomness import SeededSource
from core.privacy.record import BoughtCount
from core.releases.discovery_stage import MORE, Discovery
from core.releases.discovery_stage import SHARE as SHARED
from core.releases.forecast.kernel_choice import kernel_apart
from core.releases.job import Job
from core.releases.kind import Plain, kind_of
from core.releases.payment import LedgerAccount, check_all_remembered
from core.releases.purchase_plan import PurchasePlan, Purchasing
from core.releases.release import load
from core.releases.release_store import NAMED, shelf_of
from core.releases.stages import SHARE, Count, Known, Offer, Spread, Stage
from core.runtime import environment
from core.sketches.classes import Classes
from core.sources import open_source
from tests.depth import deep, draws

PLANE = Domain.of(x=(0, 1), y=(0, 1))
SKETCH = Race(PLANE, Laplacian(0.2), width=50)
MOVED = Sensitivity(1, 1, unit_shifts=True)


@dataclass(frozen=True)
class Table:
    """What follows, at a price."""

    cost: Cost


PRICE = Table(Cost.of([(MOVED, calibrate(MOVED, Fraction("0.9")))], "0.9"))


def count_first(domain, source, budget, payer, made, noise_source=None):
    """A count, and what follows from it."""
    return Purchasing(PurchasePlan([Count(domain)], Known(budget, 1.0), made), source, payer, noise_source).run()


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def people(records: int = 3000) -> np.ndarray:
    return np.random.default_rng(1).random((records, 2))


@pytest.mark.thorough
@pytest.mark.parametrize("delta", [deep(0), "1e-6"])
def test_count_and_release_make_up_the_budget_and_the_file_says_so(ledger, delta):
    ledger.register("d", 2 if delta else 1, "1e-4" if delta else 0)
    made = release(SKETCH, people(), Budget(1, delta), ledger=ledger, dataset="d")
    assert made.privacy.epsilon == 1 and made.privacy.delta == Budget(1, delta).delta
    first, second = (spending.cost for spending in ledger.status("d").releases)
    assert Fraction(first.epsilon) == SHARE and first.delta == 0
    assert Fraction(first.epsilon) + Fraction(second.epsilon) == 1
    assert delta or ledger.status("d").left == 0
    (entry,) = shelf_of(ledger).entries()
    assert shelf_of(ledger).load(entry.name).privacy.epsilon == 1  # what is kept promises no less than was spent


@pytest.mark.thorough
def test_the_size_follows_the_number_of_records():
    sizes = (1000, draws(40_000, 200_000))
    few, many = (release(SKETCH, people(records), Budget(1)).sketch.rows for records in sizes)
    assert many > few


def test_a_public_number_costs_nothing(ledger):
    domain = Domain(PLANE.columns, outside="clamp", missing="refuse")
    sketch = Race(domain, Laplacian(0.2), width=50)
    made = release(sketch, people(), Budget(1, neighbours="replace_one"), ledger=ledger, dataset="d")
    assert made.records == 3000 and ledger.status("d").left == 0
    said = release(sketch, people(), Budget(1, neighbours="replace_one"), records=3000)
    assert made.sketch.rows == said.sketch.rows


@pytest.mark.thorough
def test_a_total_for_one_release_with_slack_has_room_for_a_count_and_the_table_too(ledger):
    """The first entry settles that promises add up, so that the second has exactly the rest; and its file is known."""
    made = release(SKETCH, people(), Budget(1, "1e-6"), ledger=ledger, dataset="d")
    count, rest = ledger.status("d").releases
    assert count.cost.events == (Alone(SHARE, Fraction(0)),) and count.note["mechanism"] == "count"
    assert rest.cost.epsilon == 1 - count.cost.epsilon and rest.cost.delta == Decimal("1e-6")
    assert (made.privacy.epsilon, made.privacy.delta) == (1, Decimal("1e-6")) and ledger.status("d").left == 0
    (kept,) = shelf_of(ledger).entries()
    assert check_all_remembered(ledger) == 1 and shelf_of(ledger).load(kept.name) == made
    with pytest.raises(BudgetError):
        release(SKETCH, people(), Budget("0.01"), ledger=ledger, dataset="d", records=3000)


@pytest.mark.thorough
def test_a_new_data_set_is_promised_all_of_it(ledger):
    release(SKETCH, people(), Budget(1), ledger=ledger, dataset="new")
    assert ledger.status("new").epsilon == 1 and ledger.status("new").left == 0


def test_a_budget_for_the_count_alone_is_refused_before_anything_is_read_or_spent(ledger):
    ledger.register("d", "0.5")
    with pytest.raises(BudgetError):
        release(SKETCH, people(), Budget(1), ledger=ledger, dataset="d")
    assert ledger.status("d").left == Budget("0.5").epsilon


def test_what_no_size_makes_possible_is_refused_before_the_count_is_paid_for(ledger):
    ledger.register("d", 5)

    def impossible(known):
        raise RequestError("There is no such table.")

    with pytest.raises(RequestError, match="no such table"):
        count_first(PLANE, open_source(people()), Budget(1), _payer(ledger), impossible)
    assert ledger.status("d").left == 5


@pytest.mark.parametrize("prepaid", [False, True])
def test_what_no_table_can_follow_is_refused_before_noise_where_nobody_pays_or_one_entry_is_for_all(ledger, prepaid):
    """The price of the first stage alone says nothing then of whether anything can be made after it."""

    def impossible(known):
        raise RequestError("There is no such table.")

    class Unasked(SeededSource):
        def stream(self):
            raise AssertionError("Noise was drawn for a release that there can never be.")

    source = open_source({"x": np.arange(300.0)})
    budget = Budget(1, "1e-6") if prepaid else Budget(1)
    stage = Discovery.of_source(source, budget) if prepaid else Count(Domain.of(x=(0, 300)))
    payer = LedgerAccount(ledger, "d", budget, "record") if prepaid else None
    plan = PurchasePlan([stage], Known(budget, 1.0), impossible)
    with pytest.raises(RequestError, match="no such table"):
        Purchasing(plan, source, payer, Unasked(1)).run()
    assert not ledger.names()


def test_records_that_cannot_be_read_are_refused_before_the_count_is_paid_for(ledger):
    ledger.register("d", 5)
    domain = Domain((Numeric("x", 0, 1),), missing="refuse")
    with pytest.raises(RequestError):
        count_first(domain, open_source(np.array([[0.5], [np.nan]])), Budget(1), _payer(ledger), lambda known: PRICE)
    assert ledger.status("d").left == 5


@pytest.mark.deep
def test_a_person_with_several_records_moves_the_count_by_all_of_them():
    unit = PrivacyUnit("id", 4)
    domain = Domain((Numeric("x", 0, 1),), unit=unit)
    table = {"x": np.full(400, 0.5), "id": np.repeat(np.arange(100), 4)}
    many = draws(40, 200)
    found = [
        count_first(domain, open_source(table), Budget(20), None, lambda known: PRICE).known.records
        for _ in range(many)
    ]
    # Discrete Laplace noise of scale m / (epsilon / 50) = 10, or 2.5 if a person were one record. The magnitudes of 40
    # draws average to less than 3.49 or more than 21.6 in one of 10^8 runs; those of one record do in 99 of 100.
    assert 3.49 < np.abs(np.array(found) - 400).mean() < 21.6
    assert abs(np.mean(found) - 400) < 6 * 14.2 / np.sqrt(many)


def _payer(ledger):
    from core.releases.payment import payer_of

    return payer_of(ledger, "d", Budget(1), PLANE.unit)


@pytest.fixture
def crowded(ledger):
    """A ledger with slack, of which Gaussian noise has left room for ordinary records and not for few."""
    ledger.register("d", 2, "1e-6")
    cost = Cost.of([(MOVED, calibrate_gaussian(MOVED, Fraction("0.25"), Fraction("1e-6")))], "0.25", "1e-6")
    while True:
        before = [entry.cost for entry in ledger.status("d").releases]
        if not admits_each([*before, cost], prices(10_000), 2, Decimal("1e-6")):
            return ledger
        ledger.spend("d", cost, {"mechanism": "other"})


def prices(records):
    """Of a count and what follows it, for so many records, at ε = 1."""
    counted = Cost.of([(MOVED, calibrate(MOVED, SHARE))], "0.02")
    return counted, kind_of(SKETCH, Budget("0.98"), records).cost


@pytest.mark.thorough
def test_a_count_is_never_paid_for_and_then_lost_to_a_refusal(crowded):
    """Fewer rows of pure noise cost a total with slack more: for 100 records it has no room, for 10,000 it has."""
    before = [entry.cost for entry in crowded.status("d").releases]
    assert not admits_each(before, prices(100), 2, Decimal("1e-6"))
    made = release(SKETCH, people(100), Budget(1), ledger=crowded, dataset="d")
    assert len(crowded.status("d").releases) == len(before) + 2
    assert made.sketch.rows > kind_of(SKETCH, Budget(1), 100).sketch.rows  # sized for as few as the total admits


def test_what_a_count_has_cost_is_said_where_somebody_else_spends_before_the_release(ledger, monkeypatch):
    ledger.register("d", 1)
    first = Job.begin

    def late(job):
        ledger.spend("d", Cost.of([(MOVED, calibrate(MOVED, Fraction(1, 2)))], "0.5"), {})
        return first(job)

    monkeypatch.setattr(Job, "begin", late)
    with pytest.raises(BudgetError, match=r"ε = 0\.02 was spent on how many records there are\.$"):
        release(SKETCH, people(), Budget(1), ledger=ledger, dataset="d")


BOX = Domain.of(**{f"x{place}": (0, 10) for place in range(4)})
NEAR = open_source({name: np.clip(np.random.default_rng(0).normal(5, 0.6, 3000), 0, 10) for name in BOX.names})


def raced(known: Known) -> Plain:
    """A table whose bandwidth follows from how far records lie apart, a sixth of the bounds where nobody knows."""
    kernel = Euclidean(kernel_apart(BOX, known.spread or 1 / 6).bandwidth)
    return Plain(Race(BOX, kernel, rows=32, width=50, seed=1), known.left)


ONE, FAR = Budget(1), (Spread(BOX),)


def job(ledger, made=raced, total=None, budget=ONE, stages=FAR, noise_source=None):
    payer = LedgerAccount(ledger, "people", budget, "record", total)
    return Job(PurchasePlan(stages, Known(budget, 3000), made), NEAR, payer, noise_source=noise_source)


def test_a_table_that_follows_from_a_spread_is_two_entries_and_a_file_that_promises_both(ledger):
    one = job(ledger, total=Budget(2))
    assert list(one)[-1] == 3000 and ledger.names() == []
    made = one.finish()
    spread, rest = ledger.status("people").releases
    assert spread.note["mechanism"] == "spread" and rest.note["mechanism"] == "race"
    assert spread.cost.epsilon + rest.cost.epsilon == 1 == made.privacy.epsilon and spread.cost.epsilon < 0.06
    assert ledger.status("people").left == 1 and one.kept is not None
    assert made.sketch.kernel.bandwidth < 0.75 * raced(Known(Budget(1), 1.0)).sketch.kernel.bandwidth
    with pytest.raises(RuntimeError):
        one.finish()
    assert len(ledger.status("people").releases) == 2


@pytest.mark.thorough
def test_all_stages_and_the_table_add_up_where_the_total_has_room_for_one_release_with_slack(ledger):
    stages, budget = (Count(BOX), Spread(BOX)), Budget(1, "1e-6")
    made = job(ledger, budget=budget, stages=stages).run()
    costs = [entry.cost for entry in ledger.status("people").releases]
    assert len(costs) == 3 and sum(cost.epsilon for cost in costs) == 1 == made.privacy.epsilon
    assert sum(cost.delta for cost in costs) == made.privacy.delta == budget.delta
    assert made.sketch.kernel.bandwidth < 0.75 * raced(Known(budget, 1.0)).sketch.kernel.bandwidth


def test_a_total_without_room_for_the_release_is_refused_with_nothing_spent(ledger):
    ledger.register("people", "0.99")
    with pytest.raises(BudgetError):
        job(ledger).run()
    with pytest.raises(BudgetError):
        next(iter(job(ledger, stages=(Count(BOX),))))  # before anything is read
    assert ledger.status("people").releases == ()


def test_half_a_reading_is_never_paid_for(ledger):
    one = job(ledger)
    next(iter(one))
    one._purchasing._exact = None  # as where the reading was given up
    for unread in (one, job(ledger)):
        with pytest.raises(RuntimeError):
            unread.finish()
    assert ledger.names() == []


def test_a_number_that_was_read_is_bought_once(ledger):
    payer = LedgerAccount(ledger, "people", ONE, "record", Budget(9))
    buying = Purchasing(PurchasePlan((Count(BOX),), Known(ONE, 1.0), raced), NEAR, payer)
    buying.run()
    with pytest.raises(RuntimeError):
        buying.finish()
    assert len(ledger.status("people").releases) == 1


def test_what_was_spent_is_said_where_nothing_can_be_made_of_it(ledger):
    asked = []

    def fails(known):
        asked.append(known)
        if known.bought and len(asked) > 1:
            raise RequestError("This cannot be made.")
        return raced(known)

    one = job(ledger, fails, Budget(2), stages=(Drifting(BOX),))
    list(one)
    with pytest.raises(RequestError, match=r"ε = 0\.5 was spent on how far records drift\.$"):
        one.finish()
    status = ledger.status("people")
    assert len(status.releases) == 1 and status.left == 2 - status.releases[0].cost.epsilon


@dataclass(frozen=True)
class Drifting(Stage):
    """A stage of another kind: half of everything for a number of which nothing is made."""

    of: Domain
    gives: Fraction = Fraction(1, 2)
    slack: str = "0"
    name = "drift"
    learns = "how far records drift"
    needed = True

    def offered(self, known):
        offer = Offer.of(self.name, MOVED, Fraction(known.left.epsilon) / 2, known.left)
        left = Budget(Fraction(known.left.epsilon) * self.gives, max(known.left.delta, Decimal(self.slack)))
        return replace(offer, left=left)

    def read(self, known, source, noise_source):
        yield from (batch.num_rows for batch in source.batches(self.of))
        return 7

    def learnt(self, known, offer, noisy):
        yield replace(known, records=known.records + noisy)


def test_a_stage_that_leaves_more_than_it_should_is_found_before_anything_is_paid_for(ledger):
    for gives, slack in (("0.51", "0"), ("1", "0"), ("0.5", "1e-6")):
        with pytest.raises(RuntimeError, match="add up"):
            job(ledger, stages=(Drifting(BOX, Fraction(gives), slack),)).run()
    assert ledger.names() == []


def test_a_stage_is_asked_again_once_more_is_known_and_not_before(monkeypatch, ledger):
    asked, offered = [], Drifting.offered
    monkeypatch.setattr(Drifting, "offered", lambda stage, known: asked.append(known) or offered(stage, known))
    job(ledger, budget=Budget(4), stages=(Drifting(BOX), Drifting(BOX, slack="0"))).run()
    assert len(asked) == len(set(asked)) >= 3, "what the first stage learns is news to the second"


def test_a_table_that_promises_more_than_is_left_is_found_before_anything_is_paid_for(ledger):
    slack, half = Budget(1, "1e-6"), (Drifting(BOX),)
    for budget, taken in ((ONE, Budget("0.51")), (ONE, Budget("0.5", "1e-6")), (slack, Budget("0.5", "2e-6"))):
        with pytest.raises(RuntimeError, match="add up"):
            job(ledger, lambda known, taken=taken: Plain(raced(known).sketch, taken), None, budget, half).run()
    assert ledger.names() == []


class Watching(SeededSource):
    """Notes how much was paid at every draw."""

    def __init__(self, ledger):
        super().__init__(1)
        self.ledger, self.paid = ledger, []

    def stream(self):
        known = "people" in self.ledger.names()
        self.paid.append(len(self.ledger.status("people").releases) if known else 0)
        return super().stream()


def test_every_stage_is_paid_for_before_its_noise_is_drawn_and_no_later_one_sooner(ledger):
    watching = Watching(ledger)
    job(ledger, total=Budget(2), stages=(Count(BOX), Drifting(BOX)), noise_source=watching).run()
    assert set(watching.paid) == {1, 2, 3} and watching.paid == sorted(watching.paid)
    assert [str(entry.cost.epsilon) for entry in ledger.status("people").releases] == ["0.02", "0.49", "0.49"]


def test_what_is_prepaid_covers_no_more_than_it_says(ledger):
    payer = LedgerAccount(ledger, "people", Budget(1, "1e-6"), "record")
    whole = Cost((Alone(Fraction(1), Fraction("1e-6")),), 1, "1e-6")
    half, more = (Cost.of([(MOVED, calibrate(MOVED, Fraction(part)))], part) for part in ("0.5", "0.501"))
    payer.prepay(whole, Count(BOX))
    payer.spend_part(half, Count(BOX), "half of it")
    assert payer.has_room_for(half) and not payer.has_room_for(more) and payer.gone == 1
    slack = Cost.of([(MOVED, calibrate_gaussian(MOVED, Fraction("0.5"), Fraction("2e-6")))], "0.5", "2e-6")
    assert not payer.has_room_for(slack), "a delta is used up as well"
    with pytest.raises(RuntimeError, match="does not cover"):
        payer.spend(more, Count(BOX))
    payer.spend(half, Count(BOX))
    assert len(ledger.status("people").releases) == 1
    with pytest.raises(BudgetError):
        payer.spend(half, Count(BOX))  # what is paid for once makes one release


def test_where_noise_hid_all_there_was_to_find_no_more_is_spent_than_finding_out_cost(ledger):
    """A small survey: what one entry paid for the release that cannot follow is there for another."""
    few = open_source({"town": np.array(["Bern", "Basel", "Genf"] * 20), "sex": np.array(["f", "m"] * 30)})
    budget = Budget(1, "1e-6")
    stage, payer = Discovery.of_source(few, budget), LedgerAccount(ledger, "people", budget, "record")
    follows = Table(Cost.of([(MOVED, calibrate_gaussian(MOVED, Fraction("0.1"), Fraction("1e-7")))], "0.1", "1e-7"))
    plan = PurchasePlan([stage], Known(budget, 1.0), lambda known: follows if known.found.domain else None)
    with pytest.raises(RequestError, match=r"Nothing was found.* was spent on what nobody had said"):
        plan.carried_out(few, payer, lambda settled: settled)
    status = ledger.status("people")
    (entry,) = status.releases
    prices = [replace(stage, share=share, open=False).cost for share in (SHARED, *MORE)]
    assert entry.note["mechanism"] == "discovery"
    assert (entry.cost.events[:-1], payer.gone) in [(price.events, price.epsilon) for price in prices]
    assert payer.gone <= Decimal("0.51") and payer.prepaid is None
    said = re.fullmatch(r", of which one more release may have about ε = (0\.\d+)", status.unspent(entry))
    tables, risk = Sensitivity(100, 10_000), Fraction("1e-6")
    fits, too_much = (
        Cost.of([(tables, calibrate_gaussian(tables, price, risk))], exact_decimal(price, "A price"), "1e-6")
        for price in (Fraction(said[1]) * Fraction(times) for times in ("0.99", "1.01"))
    )
    assert payer.has_room_for(fits) and not payer.has_room_for(too_much) and not payer.has_room_for(fits, fits)
    payer.spend(fits, Count(BOX))
    assert [ledger.status("people").unspent(one) for one in ledger.status("people").releases] == ["", ""]


def test_the_order_and_prices_of_stages_hang_on_no_record(ledger):
    """Of nobody, one and many records the same is asked and paid for, whatever comes out."""
    seen = []
    for records in (0, 1, 3000):
        data = open_source({name: np.linspace(0, 10, records) for name in BOX.names})
        plan = PurchasePlan((Count(BOX), Spread(BOX)), Known(Budget(1), 1.0), raced)
        bought = Purchasing(plan, data, None, SeededSource(1)).run().known
        seen.append([(one.stage, one.cost) for one in bought.bought][:1])
    assert seen[0] == seen[1] == seen[2] == [("count", plan.forecast().known.bought[0].cost)]


def small(known: Known) -> Plain:
    """A table so noisy that a count beside it tells more."""
    return Plain(Race(BOX, Euclidean(3.0), rows=4, width=8, seed=1), replace(known.left, epsilon="0.05"))


@pytest.mark.thorough
def test_a_bought_count_and_the_table_know_how_many_records_there_are_by_the_inverse_of_their_variances():
    """Standard scores of 200 releases, or 60: a deviation of 1, and 95 in 100 within 1.96; either alone knows less."""
    scores, errors = [], []
    runs, wide = draws((60, 3), (200, 1))
    for seed in range(runs):
        plan = PurchasePlan((Count(BOX),), Known(Budget("0.5"), 1.0), small)
        made = Job(plan, NEAR, noise_source=SeededSource(seed)).run()
        scores.append((made.records - 3000) / made.records_error)
        alone = replace(made, counted_before=None)
        errors.append((made.records_error, alone.records_error, made.counted_before.noise.variance**0.5))
    together, table, count = np.mean(errors, axis=0)
    assert together == pytest.approx((table**-2 + count**-2) ** -0.5) and together < 0.9 * min(table, count)
    assert abs(np.mean(scores)) < 5 / runs**0.5 and abs(np.std(scores) - 1) < 0.15 * wide
    assert 0.95 - 0.05 * wide < np.mean(np.abs(scores) < 1.96) <= draws(100, 99) / 100


def test_a_file_keeps_the_count_that_was_bought_and_one_without_opens_as_before(tmp_path):
    made = release(SKETCH, people(), Budget(1))
    again = load(made.to_bytes())
    assert again == made and again.counted_before == made.counted_before and again.records == made.records
    assert again != replace(made, counted_before=None)
    said = load(release(SKETCH, people(), Budget(1), records=3000).to_bytes())
    assert said.counted_before is None and "counted_before" not in said.manifest.to_dict(1)
    assert "and the count that decided its size" in made.records_source and made.records_error < 72


def test_no_two_times_of_a_file_tell_how_long_its_records_took_to_read(tmp_path, monkeypatch):
    """Its name said when the job began, and what was in it when noise was drawn, after all readings."""
    clock = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour in numbers())
    monkeypatch.setattr(environment, "utc", lambda: next(clock))
    sketch = Race(Domain.of(x0=(4, 6)), Euclidean(0.3), rows=4, width=8, seed=1)
    plan = PurchasePlan((Count(sketch.domain),), Known(Budget(1), 1.0), lambda known: Plain(sketch, known.left))
    job = Job(plan, NEAR, LedgerAccount(Ledger(tmp_path / "ledger.sqlite"), "people", Budget(1), "record"))
    made = job.run()
    assert NAMED.fullmatch(job.kept.name)["moment"] == f"{datetime.fromisoformat(made.created):%Y%m%dT%H%M%SZ}"
    assert load(job.kept) == made and load(job.kept).created == made.created


def test_a_count_of_other_records_is_not_kept_beside_a_release():
    """Within bounds that leave records out, or of columns that do, as many were counted as are not in the table."""
    narrow = Domain.of(x0=(4, 6), outside="drop")
    sketch = Race(narrow, Euclidean(0.3), rows=4, width=8, seed=1)
    for counted, kept in ((narrow, True), (replace(narrow, scale="box"), True), (Domain.of(x0=(0, 10)), False)):
        plan = PurchasePlan((Count(counted),), Known(Budget(1), 1.0), lambda known: Plain(sketch, known.left))
        made = Job(plan, NEAR, noise_source=SeededSource(1)).run()
        assert (made.counted_before is not None) is kept


def test_a_public_number_is_not_blurred_by_a_count_and_a_table_that_knows_none_takes_it():
    count = BoughtCount(90, calibrate(MOVED, Fraction(1, 10)))
    assert count.beside(100.0, 0.0) == (100.0, 0.0)
    assert count.beside(np.nan, np.inf) == (90, pytest.approx(count.noise.variance**0.5))


def test_merging_forgot_the_counts_that_were_bought_and_knew_less_than_before(tmp_path):
    sketch = Race(BOX, Euclidean(3.0), rows=4, width=8, seed=1)

    def counted(seed):
        plan = PurchasePlan((Count(BOX),), Known(Budget("0.5"), 1.0), lambda known: Plain(sketch, known.left))
        return Job(plan, NEAR, noise_source=SeededSource(seed)).run()

    one, other = counted(1), counted(2)
    both = one.merged(other)
    assert both.counted_before.records == one.counted_before.records + other.counted_before.records
    assert both.counted_before.variance == pytest.approx(2 * one.counted_before.variance)
    assert both.records_error < replace(both, counted_before=None).records_error
    assert abs(both.records - 6000) < 6 * both.records_error
    again = load(both.to_bytes(teaching=True))
    assert again == both and again.counted_before == both.counted_before
    assert one.merged(replace(other, counted_before=None)).counted_before is None


@pytest.mark.parametrize(
    "facts",
    [
        {"further": [{"distribution": "discrete_gaussian", "parameter": "9"}]},
        {"further": 3},
        {"records": 1.5},
        {"records": 10**30},
        {"noise": {"distribution": "discrete_gaussian", "parameter": "9"}},
        {"noise": {"distribution": "discrete_laplace", "parameter": "1" + "0" * 150}},
        {"more": 1},
    ],
)
def test_a_forged_count_is_no_count(facts):
    told = {"records": 3, "noise": {"distribution": "discrete_laplace", "parameter": "50"}}
    assert BoughtCount.from_dict(told).records == 3
    with pytest.raises(ReleaseFileError):
        BoughtCount.from_dict(told | facts)


def test_a_count_of_everyone_is_none_of_a_class():
    domain = Domain.of(x=(0, 1), y=(0, 1), kind=["a", "b"])
    sketch = Classes.of(domain, "kind", Race(PLANE, Laplacian(0.2), rows=20, width=20))
    made = Job(
        PurchasePlan((Count(domain),), Known(Budget(4), 1.0), lambda known: Plain(sketch, known.left)),
        open_source({"x": people()[:, 0], "y": people()[:, 1], "kind": np.repeat(["a", "b"], (1000, 2000))}),
    ).run()
    assert made.counted_before is not None and made.of_class("a").counted_before is None
    own = made.count_error * 2**0.5
    assert made.records_error < own and made.of_class("a").records_error == made.count_error
    assert made.of_everyone().records_error == pytest.approx(made.records_error)
