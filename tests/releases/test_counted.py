"""A count that is bought before a release whose size follows from it."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Domain, Ledger, Race, release
from core.domain import Numeric, PrivacyUnit
from core.errors import BudgetError, RequestError
from core.geometry.kernels import Laplacian
from core.privacy.accounting import Cost, admits_each
from core.privacy.calibration import calibrate, calibrate_gaussian
from core.privacy.neighbours import Sensitivity
from core.releases.counted import SHARE, count_first
from core.releases.job import Job, kind_of
from core.releases.shelf import shelf_of
from core.sources import open_source
from tests.depth import deep, draws

PLANE = Domain.of(x=(0, 1), y=(0, 1))
SKETCH = Race(PLANE, Laplacian(0.2), width=50)
MOVED = Sensitivity(1, 1, unit_shifts=True)
PRICE = Cost.of([(MOVED, calibrate(MOVED, Fraction("0.9")))], 1)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def people(records: int = 3000) -> np.ndarray:
    return np.random.default_rng(1).random((records, 2))


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


def test_a_total_for_one_release_with_slack_asks_for_the_number(ledger):
    with pytest.raises(RequestError, match="must be said here"):
        release(SKETCH, people(), Budget(1, "1e-6"), ledger=ledger, dataset="d")
    assert ledger.names() == []
    said = release(SKETCH, people(), Budget(1, "1e-6"), ledger=ledger, dataset="d", records=3000)
    alone = release(SKETCH, people(), Budget(1, "1e-6"))  # nobody adds up, so nobody refuses
    assert said.privacy.epsilon == alone.privacy.epsilon == 1


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

    def impossible(left, ordinary):
        raise RequestError("There is no such table.")

    with pytest.raises(RequestError, match="no such table"):
        count_first(PLANE, open_source(people()), Budget(1), _payer(ledger), impossible)
    assert ledger.status("d").left == 5


def test_records_that_cannot_be_read_are_refused_before_the_count_is_paid_for(ledger):
    ledger.register("d", 5)
    domain = Domain((Numeric("x", 0, 1),), missing="refuse")
    with pytest.raises(RequestError):
        count_first(domain, open_source(np.array([[0.5], [np.nan]])), Budget(1), _payer(ledger), lambda *_: PRICE)
    assert ledger.status("d").left == 5


def test_a_person_with_several_records_moves_the_count_by_all_of_them():
    unit = PrivacyUnit("id", 4)
    domain = Domain((Numeric("x", 0, 1),), unit=unit)
    table = {"x": np.full(400, 0.5), "id": np.repeat(np.arange(100), 4)}
    many = draws(40, 200)
    found = [count_first(domain, open_source(table), Budget(20), None, lambda *_: PRICE).records for _ in range(many)]
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
    with pytest.raises(BudgetError, match=r"ε = 0\.02 was spent on what decides its size\.$"):
        release(SKETCH, people(), Budget(1), ledger=ledger, dataset="d")
