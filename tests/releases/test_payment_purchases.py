"""What is found out is paid for once, is never lost to a click, and is remembered by what it has cost."""

import json

import pandas as pd
import pytest

from core.errors import BudgetError
from core.privacy.budget import Budget
from core.privacy.choosing.private_bounds import plan_bounds
from core.releases.discovery import discover
from core.releases.kind import Plain
from core.releases.manifest import Finding
from core.releases.payment import Purchase, Purchases
from core.releases.seal import promised_with
from core.sketches.tables.tables import Tables

KEPT = Finding("ε = 0.1", ("pay",), 100.0, 5.0, {}, 0.0)
COST = plan_bounds(1, Budget("0.1")).cost


def buying(paid, *names):
    def buy():
        paid.append(names)
        return Purchase(names, COST, Budget(1), Budget("0.9"), "a tenth of ε = 1", KEPT)

    return buy


def test_the_same_is_bought_once_and_handed_out_again():
    purchases, paid = Purchases(), []
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    assert {one.columns for one in purchases.take_fresh(1)} == {("pay",)} and purchases.take_fresh(1) == []
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    assert len(paid) == 1 and len(purchases.take_fresh(1)) == 1
    assert [one.cost for one in purchases.made_of(1, ["pay"])] == [COST]


def test_what_an_earlier_visit_bought_comes_back_with_its_price():
    purchases, again = Purchases(), Purchases()
    purchases.once(1, ("pay", 1e6), buying([], "pay"))
    (one,) = purchases.made_of(1)
    again.restore(3, Purchase.from_dict(json.loads(json.dumps(one.to_dict()))))
    assert again.made_of(3, ["pay"]) == (one,) and again.take_fresh(3) == [] and again.made_of(1) == ()


def test_what_was_bought_stays_bought_of_the_same_records_described_afresh():
    purchases, paid = Purchases(), []
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    purchases.take_fresh(1)
    purchases.carry(1, 2)
    assert purchases.made_of(1) == () and [one.columns for one in purchases.take_fresh(2)] == [("pay",)]
    purchases.once(2, ("pay", 1e6), buying(paid, "pay"))
    assert len(paid) == 1


def test_other_records_other_columns_and_other_prices_are_bought_anew():
    purchases, paid = Purchases(), []
    for pick, what in ((1, ("pay", 1e6)), (2, ("pay", 1e6)), (1, ("pay", 1e9)), (1, ("age", 1e6))):
        purchases.once(pick, what, buying(paid, what[0]))
    assert len(paid) == 4
    assert len(purchases.made_of(1, ["pay", "age"])) == 3
    assert len(purchases.made_of(1, ["age", "city"])) == 1 and purchases.made_of(2, ["age"]) == ()
    assert [one.columns for one in purchases.take_fresh(2)] == [("pay",)] and len(purchases.take_fresh(1)) == 3


def test_what_was_refused_is_not_remembered():
    def refuse():
        raise BudgetError("nothing was spent")

    purchases, paid = Purchases(), []
    with pytest.raises(BudgetError):
        purchases.once(1, ("pay",), refuse)
    assert purchases.take_fresh(1) == [] and purchases.made_of(1) == ()
    purchases.once(1, ("pay",), buying(paid, "pay"))
    assert len(paid) == 1


def test_a_file_that_shows_what_was_found_promises_the_whole_of_it_and_else_the_sum():
    whole = Budget(1, "1e-6")
    found = discover(pd.DataFrame({"city": ["Bern"] * 3_000 + ["Basel"] * 3_000}), whole)

    def promised(budget):
        sketch = Tables.of(found.domain).sized_for(budget, 6_000.0)
        return promised_with(budget, [found.cost], whole, Plain(sketch, budget, gaussian_only=True).cost)

    assert promised(found.left) == whole
    more = promised(whole)
    assert (more.epsilon, more.delta) == (1 + found.cost.epsilon, whole.delta + found.cost.delta)
