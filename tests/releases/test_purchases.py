"""Bounds are paid for once, are never lost to a click, and are remembered by what they have cost."""

import pytest

from core.errors import BudgetError
from core.privacy.budget import Budget
from core.privacy.choosing.private_bounds import Bounds, plan_bounds
from core.releases.purchases import Purchase, Purchases

COST = plan_bounds(1, Budget("0.1")).cost


def buying(paid, *names):
    def buy():
        paid.append(names)
        return Purchase({name: Bounds(0.0, 1.0, True) for name in names}, COST)

    return buy


def test_the_same_is_bought_once_and_handed_out_again():
    purchases, paid = Purchases(), []
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    assert purchases.take_fresh(1) == {"pay": Bounds(0.0, 1.0, True)} and purchases.take_fresh(1) == {}
    purchases.once(1, ("pay", 1e6), buying(paid, "pay"))
    assert len(paid) == 1 and set(purchases.take_fresh(1)) == {"pay"}
    assert purchases.paid_for(1, ["pay"]) == (COST,)


def test_other_records_other_columns_and_other_prices_are_bought_anew():
    purchases, paid = Purchases(), []
    for pick, what in ((1, ("pay", 1e6)), (2, ("pay", 1e6)), (1, ("pay", 1e9)), (1, ("age", 1e6))):
        purchases.once(pick, what, buying(paid, what[0]))
    assert len(paid) == 4
    assert purchases.paid_for(1, ["pay", "age"]) == (COST,) * 3
    assert purchases.paid_for(1, ["age", "city"]) == (COST,) and purchases.paid_for(2, ["age"]) == ()
    assert set(purchases.take_fresh(2)) == {"pay"} and set(purchases.take_fresh(1)) == {"pay", "age"}


def test_what_was_refused_is_not_remembered():
    def refuse():
        raise BudgetError("nothing was spent")

    purchases, paid = Purchases(), []
    with pytest.raises(BudgetError):
        purchases.once(1, ("pay",), refuse)
    assert purchases.take_fresh(1) == {} and purchases.paid_for(1, ["pay"]) == ()
    purchases.once(1, ("pay",), buying(paid, "pay"))
    assert len(paid) == 1
