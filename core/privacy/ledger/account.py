"""The budget that a release is paid from: a data set that the ledger knows, or one that it is about to know.

What is spent of it, and what one more release would do, are plain values here.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ...errors import BudgetError, RequestError
from ...formatting.numbers import amount, left_in_words, rounded_down, significant
from ..accounting import Cost, admits, admits_each, largest_pure_admitted, left_unspent, spent
from ..budget import Budget, Neighbours, decimal_text, unit_in_words
from .ledger_records import Dataset, Entry, History


@dataclass(frozen=True)
class Account:
    """A data set's total and what was released of it."""

    name: str  # In the ledger.
    total: Budget  # What was, or is about to be, promised for all its releases together.
    unit: str  # Whom the ledger protects, in its words.
    releases: tuple[Cost, ...] = ()  # Costs so far.
    known: bool = False  # Whether the ledger knows the data set.

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

    def has_room_for(self, *costs: Cost) -> bool:
        """Whether the total admits these prices one after the other, each an entry of its own."""
        return admits_each(self.releases, costs, self.total.epsilon, self.total.delta)

    def _refusal(self, cost: Cost) -> str | None:
        epsilon, delta = self.total.epsilon, self.total.delta
        if admits(self.releases, cost, epsilon, delta):
            return None
        if delta == 0 and cost.pure_epsilon is None:
            return "a promise without the one-in-a-million risk, as the total of this data set was made without it"
        left = largest_pure_admitted(self.releases, epsilon, delta)
        if left <= 0:
            return "budget, as nothing is left of this data set's total"
        if delta:
            return "a smaller ε, as this one would pass the data set's total"
        return f"a smaller ε, as {amount(rounded_down(left))} is left of this data set's total"

    def left(self, after: Preview) -> Decimal:
        """What is left of the total after a release, as the budget bar shows it."""
        return rounded_down(_left(self.total.epsilon, self.total.delta, after))

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


def _left(epsilon: Decimal, delta: Decimal, after: Preview | Status) -> Decimal:
    """The total less what is spent: exact where promises are pure, and else at the total's δ."""
    return after.left if delta == 0 else max(Decimal(0), epsilon - Decimal(after.spent))


def left_of_total(status: Status) -> str:
    """What is left of a data set's total, in words, as the page Ledger shows it and commands say it."""
    left = _left(status.epsilon, status.delta, status)
    return left_in_words(left, f"ε = {rounded_down(left) if status.delta else left:f}")


def price(budget: Budget, left: Decimal | None = None) -> str:
    """A promise as it stands on a price tag."""
    words = f"ε = {amount(budget.epsilon)}" + ("" if budget.pure else " with a one-in-a-million risk")
    return words if left is None else f"{words}, leaving {left_in_words(left, amount(left))}"


@dataclass(frozen=True)
class Preview:
    """What one more release would do: the figures after it, and why not if it would be refused."""

    refusal: str | None
    spent: float
    left: Decimal

    @property
    def admitted(self) -> bool:
        """Whether the release would be allowed."""
        return self.refusal is None


@dataclass(frozen=True)
class Status(Dataset):
    """A data set and what has been spent of it."""

    spent: float  # Epsilon of all releases together, at the data set's delta; as tight as can be proven.
    # Largest epsilon of one further pure release in one part. A sketch of many rows may promise more, see
    # `Ledger.what_if`.
    left: Decimal
    releases: tuple[Entry, ...]  # In the order in which they were made.

    def unspent(self, entry: Entry) -> str:
        """Words behind the price of a release of which another may have a part; "" where all of it is spent."""
        left = left_unspent([one.cost for one in self.releases]) if entry is self.releases[0] else 0
        return f", of which one more release may have about ε = {significant(float(left), 2)}" if left else ""


def figures(costs: list[Cost], dataset: Dataset) -> tuple[float, Decimal]:
    """Return what these releases spend together and what they leave for one pure release more."""
    return spent(costs, dataset.delta), largest_pure_admitted(costs, dataset.epsilon, dataset.delta)


def refusal_of(history: History, cost: Cost) -> str | None:
    """Return why a release may not follow, in one sentence, or None when it may."""
    dataset, costs = history.dataset, history.costs
    if admits(costs, cost, dataset.epsilon, dataset.delta):
        return None
    asked = f"This release asks for {cost.describe()} of data set {dataset.name!r}, whose total is {_promise(dataset)}"
    if dataset.delta == 0 and cost.pure_epsilon is None:
        return f"{asked}; Gaussian noise keeps no promise without δ, so nothing was spent."
    used, left = figures(costs, dataset)
    made = "1 release has" if len(costs) == 1 else f"{len(costs)} releases have"
    return (
        f"{asked}; {made} spent ε = {used:.6g} of it and at most "
        f"ε = {decimal_text(left)} is left for a pure release, so nothing was spent."
    )


def _promise(dataset: Dataset) -> str:
    words = f"ε = {decimal_text(dataset.epsilon)}"
    return words if dataset.delta == 0 else f"{words}, δ = {decimal_text(dataset.delta)}"


def check_same_promise(known: Dataset, budget: Budget, unit: str) -> None:
    """Refuse to change a promise that was made."""
    promised = (known.epsilon, known.delta, known.neighbours, known.unit)
    if promised != (budget.epsilon, budget.delta, budget.neighbours, unit):
        raise RequestError(
            f"Data set {known.name!r} was registered with a total of {_promise(known)} to {unit_in_words(known.unit)}, "
            f"which hides {known.neighbours.hides}; a promise once made to the people in it cannot be changed."
        )


def check_allowed(history: History, cost: Cost, neighbours: Neighbours | str, unit: str) -> None:
    """Refuse a release that protects someone else than the total does, or that would pass the total."""
    dataset = history.dataset
    if unit != dataset.unit:
        raise RequestError(
            f"The release would protect {unit_in_words(unit)}, but the total of data set {dataset.name!r} was promised "
            f"to {unit_in_words(dataset.unit)}; promises to different people do not add up."
        )
    if neighbours != dataset.neighbours:
        raise RequestError(
            f"The release would hide something else than the total of data set {dataset.name!r}, which was promised to "
            f"hide {dataset.neighbours.hides}; such promises do not add up."
        )
    refusal = refusal_of(history, cost)
    if refusal:
        raise BudgetError(refusal)
