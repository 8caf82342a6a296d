"""Bounds and table are paid from one budget, written down at once, before anything is drawn."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Budget, Domain, Ledger, Race, load
from core.errors import BudgetError, RequestError
from core.geometry import kernels
from core.privacy.budget import PrivacyUnit
from core.privacy.choosing import private_bounds
from core.privacy.choosing.private_bounds import Grid, plan_bounds
from core.releases.bounds_and_centre import BoundsPurchase, BoundsStage
from core.releases.job import Job
from core.releases.kind import TablePlan
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.moments import Moments
from core.sketches.plan import plan
from core.sketches.projected import Projected
from core.sketches.projected_distance import ProjectedDistance
from core.sources import open_source
from tests.depth import deep
from tests.releases.paying import Paying

GRID = Grid(0, 1e7, spacing="log")
DOMAIN = Domain.of(pay=(0, 1e7), age=(0, 120))
PURCHASE = BoundsPurchase({"pay": GRID})


def bounded(sketch, purchase, budget):
    return TablePlan(BoundsStage(sketch, purchase, budget), budget)


def sketch(domain=DOMAIN):
    return Race(domain, kernels.Euclidean((500.0, 5.0)), rows=40, width=32, seed=1)


def people(count=20_000):
    random = np.random.default_rng(3)
    return pd.DataFrame({"pay": np.exp(random.normal(8, 0.3, count)), "age": random.uniform(20, 60, count)})


def released(budget, frame=None, spend=lambda cost: None, purchase=PURCHASE):
    source = open_source(people() if frame is None else frame)
    return made(bounded(sketch(), purchase, budget), source, spend)


def made(kind, source, spend=lambda cost: None, progress=None):
    release = Job(kind, source, Paying(spend)).run(progress)
    return release, kind.stages[0].purchase.bounds_of(release)


@given(st.decimals("0.001", "100", places=3), st.decimals("0.001", "0.999", places=3))
def test_the_shares_add_up_to_the_whole(epsilon, share):
    bounds, table = BoundsPurchase({"pay": GRID}, share).split(Budget(epsilon, "1e-6"))
    assert Fraction(bounds.epsilon) + Fraction(table.epsilon) == Fraction(epsilon)
    assert Fraction(bounds.epsilon) == Fraction(epsilon) * Fraction(share)
    assert (bounds.delta, table.delta) == (0, Decimal("0.000001"))


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_promise_covers_everything_that_the_file_shows(delta, neighbours):
    budget, costs = Budget(1, delta, neighbours), []
    release, found = released(budget, spend=costs.append)
    assert release.domain.columns[0].low == found["pay"].low
    assert release.domain.columns[0].high == found["pay"].high
    assert release.domain.columns[1] == DOMAIN.columns[1]
    assert (release.privacy.epsilon, release.privacy.delta) == (budget.epsilon, budget.delta)
    (cost,) = costs
    for_bounds, for_table = PURCHASE.split(budget)
    alone, table = plan_bounds(1, for_bounds).cost, plan(sketch(), for_table)
    assert cost.events == alone.events + table.cost.events
    assert (cost.epsilon, cost.delta) == (budget.epsilon, budget.delta)
    assert release.privacy.rho == cost.rho == alone.rho + table.cost.rho
    assert release.privacy.noise == (table.noise,)
    again = load(release.to_bytes())
    assert again.privacy == release.privacy


def test_the_bounds_hold_most_records():
    _, found = released(Budget(1))
    pay = people()["pay"]
    assert found["pay"].found
    assert 0.9 < pay.between(found["pay"].low, found["pay"].high).mean() < 1
    assert found["pay"].high < 2 * pay.max()


def test_nothing_is_drawn_before_the_cost_is_written_down(monkeypatch):
    happened = []
    for module in (private_bounds, __import__("core.releases.seal", fromlist=["add_noise"])):
        draw = module.add_noise
        monkeypatch.setattr(module, "add_noise", lambda *given, draw=draw: happened.append("noise") or draw(*given))
    released(Budget(1), spend=lambda cost: happened.append("spent"))
    assert happened[0] == "spent"
    assert happened.count("spent") == 1
    assert len(happened) > 2


@pytest.mark.thorough
@pytest.mark.parametrize("problem", ["text", deep("missing")])
def test_what_cannot_be_read_is_refused_before_anything_is_spent(problem, tmp_path):
    """The first reading sees every column, not only those whose bounds are bought."""
    frame = people(70_000).astype({"age": object})
    frame.loc[69_990, "age"] = "4711secret" if problem == "text" else None
    frame.to_csv(tmp_path / "people.csv", index=False)
    domain = Domain(DOMAIN.columns, missing="refuse")
    kind = bounded(sketch(domain), PURCHASE, Budget(1))
    costs = []
    with pytest.raises(RequestError, match="69,991"):
        made(kind, open_source(tmp_path / "people.csv"), costs.append)
    assert costs == []


def test_a_refusal_to_pay_draws_nothing(monkeypatch):
    monkeypatch.setattr(private_bounds, "add_noise", lambda *_: pytest.fail("noise was drawn"))

    def refuse(cost):
        raise BudgetError("no")

    with pytest.raises(BudgetError):
        released(Budget(1), spend=refuse)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_ledger_with_exactly_the_total_admits_it(tmp_path, delta):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", 1, delta)
    released(Budget(1, delta), people(500), spend=lambda cost: ledger.spend("people", cost))
    assert ledger.status("people").left == 0


def test_the_records_are_read_twice_and_progress_counts_both():
    seen = []
    frame = people(100_000)
    made(bounded(sketch(), PURCHASE, Budget(1)), open_source(frame), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 200_000


def test_bounds_that_cannot_be_bought():
    for share in (0, 1, "1.5", "-0.1", "nan"):
        with pytest.raises(RequestError):
            BoundsPurchase({"pay": GRID}, share)
    with pytest.raises(RequestError):
        BoundsPurchase({})
    with pytest.raises(RequestError, match="'weight' is none"):
        _ = bounded(sketch(), BoundsPurchase({"weight": GRID}), Budget(1)).cost
    cities = Race(Domain.of(city=["a", "b"]), kernels.Euclidean(1), rows=40, width=32)
    with pytest.raises(RequestError, match="'city' is none"):
        _ = bounded(cities, BoundsPurchase({"city": GRID}), Budget(1)).cost
    with pytest.raises(RequestError, match="decimal places"):
        _ = bounded(sketch(), BoundsPurchase({"pay": GRID}, "0.0000001"), Budget("0.0000001")).cost


@pytest.mark.few(8)
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("id", 5)])
@pytest.mark.parametrize("delta", ["1e-6", "1e-12"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "20"])
@pytest.mark.parametrize("share", ["0.1", "0.5"])
def test_every_split_of_a_promise_with_slack_can_be_written_down(unit, delta, epsilon, share):
    """Pure bounds and a Gaussian table add up by basic composition, however tight the table's own calibration is."""
    domain = Domain.of(pay=(0, 1e7), age=(0, 120), unit=unit)
    planned = bounded(sketch(domain), BoundsPurchase({"pay": GRID}, share), Budget(epsilon, delta))
    assert (planned.cost.epsilon, planned.cost.delta) == (Decimal(epsilon), Decimal(delta))


def test_bounds_are_bought_for_classes_too():
    domain = Domain.of(pay=(0, 1e7), age=(0, 120), sex=["f", "m"])
    labelled = Classes(domain, "sex", sketch(domain.without("sex")))
    frame = people().assign(sex="f")
    release, found = made(bounded(labelled, PURCHASE, Budget(1)), open_source(frame))
    assert found["pay"].found and release.sketch.inner.domain == release.domain.without("sex")
    assert release.domain.columns[0].high == found["pay"].high < 1e7


@pytest.mark.parametrize(
    "made_for_bounds",
    [
        Moments(DOMAIN, centre=(0.0, 0.0)),
        Directions(DOMAIN, centre=(0.0, 0.0)),
        Projected.of(DOMAIN, kernels.Euclidean(500.0), Race, 2, rows=40, width=32, seed=1),
        ProjectedDistance(DOMAIN, seed=1),
    ],
    ids=lambda sketch: sketch.name,
)
def test_what_might_not_fit_the_bounds_that_are_found_is_refused_before_paying(made_for_bounds):
    budget = Budget(1)
    with pytest.raises(RequestError, match="cannot be bought"):
        _ = bounded(made_for_bounds.sized_for(budget, 1000), PURCHASE, budget).cost
