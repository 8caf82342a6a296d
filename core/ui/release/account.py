"""The budget that a release is paid from: a data set that the ledger knows, or one that it is about to know."""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from ...privacy.accounting import Cost, admits, largest_pure_admitted, spent
from ...privacy.budget import Budget
from ...privacy.ledger.ledger import Ledger, Preview, Status
from ...privacy.ledger.store import default_place
from ...privacy.neighbours import Neighbours
from ..frame.marks import note
from ..frame.owner import stranger
from ..frame.session import Session
from .draft import amount, rounded_down

VARIABLE = "FROSTGLASS_LEDGER"


def open_ledger(visitor: Session) -> Ledger:
    """The ledger that ``FROSTGLASS_LEDGER`` names, or the one in the user's data folder; a stranger's own otherwise.

    A ledger lists what its owner holds and has released, which is nobody else's business. So whoever may be someone
    else counts in a ledger of the session, which knows of nothing else and ends with it.

    Raises
    ------
    RequestError : it cannot be used.
    """
    if stranger() is not None:
        return Ledger(visitor.folder / "ledger.sqlite")
    return Ledger(os.environ.get(VARIABLE) or None)


def known_ledger() -> Ledger | None:
    """The owner's ledger where there is one already; None for strangers.

    Raises
    ------
    RequestError : it cannot be used.
    """
    where = os.environ.get(VARIABLE) or default_place()
    if stranger() is not None or not ((isinstance(where, str) and "://" in where) or Path(where).expanduser().exists()):
        return None
    return Ledger(where)


def note_stranger() -> None:
    """Say why the ledger is not the owner's, where it is not."""
    if (why := stranger()) is not None:
        note(
            f"Others may reach this app ({why}), so what you spend is counted in this session only and forgotten with "
            "it; on your own computer, the app keeps count for ever."
        )


@dataclass(frozen=True)
class Account:
    """A data set's total and what was released of it.

    Attributes
    ----------
    name : str
        In the ledger.
    total : Budget
        What was, or is about to be, promised for all its releases together.
    unit : str
        Whom the ledger protects, in its words.
    releases : tuple[Cost, ...]
        Costs so far.
    known : bool
        Whether the ledger knows the data set.
    """

    name: str
    total: Budget
    unit: str
    releases: tuple[Cost, ...] = ()
    known: bool = False

    @classmethod
    def of(cls, status: Status) -> Account:
        """The account of a data set that the ledger knows."""
        total = Budget(status.epsilon, status.delta, status.neighbours)
        return cls(status.name, total, status.unit, tuple(entry.cost for entry in status.releases), True)

    @property
    def spent(self) -> float:
        """ε spent by all releases together, at the total's δ."""
        return spent(self.releases, self.total.delta)

    def after(self, cost: Cost) -> Preview:
        """What a release of this cost would leave, and what is in its way; the ledger decides by the same rules."""
        costs = [*self.releases, cost]
        left = largest_pure_admitted(costs, self.total.epsilon, self.total.delta)
        return Preview(self._refusal(cost), spent(costs, self.total.delta), left)

    def _refusal(self, cost: Cost) -> str | None:
        epsilon, delta = self.total.epsilon, self.total.delta
        if admits(self.releases, cost, epsilon, delta):
            return None
        if delta == 0 and cost.pure_epsilon is None:
            return "a promise without slack, as the total of this data set was made without any"
        left = largest_pure_admitted(self.releases, epsilon, delta)
        if left <= 0:
            return "budget, as nothing is left of this data set's total"
        if delta:
            return "a smaller ε, as this one would pass the data set's total"
        return f"a smaller ε, as {amount(rounded_down(left))} is left of this data set's total"

    def left(self, after: Preview) -> Decimal:
        """What is left of the total after a release, as the budget bar shows it."""
        if self.total.delta == 0:
            return rounded_down(after.left)
        return rounded_down(max(Decimal(0), self.total.epsilon - Decimal(after.spent)))

    def mismatch(self, neighbours: Neighbours, unit: str) -> str | None:
        """Why releases that protect these people cannot be paid from here, in one sentence, or None."""
        if self.unit != unit:
            return (
                f"The ledger protects {unit_in_words(self.unit)} in “{self.name}”, and this release would protect "
                f"{unit_in_words(unit)}; such promises do not add up, so choose another name or declare the data alike."
            )
        if self.total.neighbours is not neighbours:
            return "The ledger hides another fact about people than this release would; such promises do not add up."
        return None


def unit_in_words(unit: str) -> str:
    """The ledger's name for who is protected, in words."""
    if unit == "record":
        return "each record"
    column, _, records = unit.rpartition(":")
    return f"each person named by {column}, with at most {records} records" if column else f"each {unit}"


def price(budget: Budget, left: Decimal | None = None) -> str:
    """A promise as it stands on a price tag."""
    words = f"ε = {amount(budget.epsilon)}" + ("" if budget.pure else " with slack")
    return words if left is None else f"{words}, leaving {amount(left)}"
