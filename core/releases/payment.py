"""How a release is paid for: its price goes to the ledger of a data set before any noise is drawn."""

from __future__ import annotations

from collections.abc import Callable

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..privacy.unit import PrivacyUnit
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch


def paid_from(
    ledger: Ledger | str | None, dataset: str | None, sketch: LinearSketch | Adaptive, cost: Cost, budget: Budget
) -> Callable[[Cost], object] | None:
    """What writes the cost of a release to a data set's ledger; None without a data set.

    Raises
    ------
    BudgetError
        When the budget is too small already, before any data is read; what is returned decides for good.
    """
    if dataset is None:
        return None
    book = book_of(ledger)
    unit = unit_words(sketch.domain.unit)
    book.check(dataset, cost, budget.neighbours, unit)

    def spend(cost: Cost) -> None:
        book.register_if_new(dataset, cost, budget.neighbours, unit)
        note = {"mechanism": sketch.name, "parameters": sketch.parameters()}
        book.spend(dataset, cost, note, neighbours=budget.neighbours, unit=unit)

    return spend


def book_of(ledger: Ledger | str | None) -> Ledger:
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def unit_words(unit: PrivacyUnit) -> str:
    """How the ledger names who is protected."""
    return "record" if unit.column is None else f"{unit.column}:{unit.records}"
