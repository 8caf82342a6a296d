"""Equal shares of one promise: checked together, and not needlessly small."""

from decimal import Decimal
from fractions import Fraction

import pytest

from core.errors import RequestError
from core.privacy.accounting import Cost
from core.privacy.budget import Budget, Sensitivity
from core.privacy.calibration import calibrate
from core.privacy.composition import keeps_promise
from core.privacy.shared_promise import shared_equally


def tables(number, rows):
    """So many tables with that many counters moved."""
    sensitivity = Sensitivity(rows, rows, parts=rows, unit_shifts=True)

    def planned(own):
        noise = calibrate(sensitivity, Fraction(own.epsilon), Fraction(own.delta))
        return [(Cost.of([(sensitivity, noise)], own.epsilon, own.delta), own)] * number

    return planned


@pytest.mark.parametrize(("rows", "delta", "least"), [(1, 0, "0.25"), (1, "1e-6", "0.25"), (1000, "1e-6", "0.42")])
def test_four_tables_keep_the_promise_and_have_what_there_is(rows, delta, least):
    cost, shares = shared_equally(Budget(1, delta), 4, tables(4, rows))
    assert keeps_promise(cost.events, Decimal(1), Budget(1, delta).delta) and len(cost.events) == 4
    assert all(share.epsilon >= Decimal(least) for share in shares)


def test_what_costs_more_than_its_share_is_refused():
    greedy = Cost.of([(Sensitivity(1, 1), calibrate(Sensitivity(1, 1), Fraction(1)))], Decimal(1))
    with pytest.raises(RequestError, match="do not fit"):
        shared_equally(Budget(1), 2, lambda own: [(greedy, own)] * 2)
