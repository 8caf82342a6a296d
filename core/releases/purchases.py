"""What a visitor had found out, so that no click pays twice and every file says what it shows has cost.

A page is run again at every click, and a run is given up in the middle when the next click comes; so what is paid for
is held here and not in the page. Nothing in here knows Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from .found import Discovered
from .manifest import Finding


@dataclass(frozen=True)
class Purchase:
    """What was bought of a table, and what is left for a release of it.

    Attributes
    ----------
    columns : tuple[str, ...]
        Of which something was found.
    cost, whole, left : Cost, Budget, Budget
        What it has cost; the promise of which it was the first part; and what that leaves for one release after it.
    price : str
        The cost in words.
    kept : Finding
        What a release file says of it.
    found : Discovered | None
        What was found; None of what an earlier visit bought, of which the fields are kept.
    """

    columns: tuple[str, ...]
    cost: Cost
    whole: Budget
    left: Budget
    price: str
    kept: Finding
    found: Discovered | None = None

    @property
    def records(self) -> float:
        """About how many records there are, as was found with noise."""
        return self.kept.records

    def to_dict(self) -> dict[str, object]:
        """A value for JSON of what has to be known of it later: what it has cost and left, and of which columns."""
        budgets = {"whole": budget_to_dict(self.whole), "left": budget_to_dict(self.left)}
        return {
            "columns": list(self.columns),
            "cost": self.cost.to_dict(),
            "price": self.price,
            "kept": self.kept.to_dict(),
            **budgets,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Purchase:
        """What `to_dict` wrote; ValueError, TypeError or KeyError for anything else."""
        whole, left = Budget(**record["whole"]), Budget(**record["left"])
        return cls(
            tuple(record["columns"]),
            Cost.from_dict(record["cost"]),
            whole,
            left,
            record["price"],
            Finding.from_dict(record["kept"]),
        )


def budget_to_dict(budget: Budget) -> dict[str, str]:
    """A promise for JSON, as `Budget` takes it."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta), "neighbours": str(budget.neighbours)}


class Purchases:
    """Everything that one visitor bought, by the pick of records that it was bought of."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[int, Purchase]] = {}
        self._fresh: dict[int, list[Purchase]] = {}
        self._lock = Lock()

    def once(self, pick: int, what: tuple[object, ...], buy: Callable[[], Purchase]) -> None:
        """Buy, unless the very same was bought of these records before: then it is taken again, at no cost.

        Parameters
        ----------
        pick : int
            Number of the pick of records.
        what : tuple[object, ...]
            Everything that tells this purchase from another: columns, ranges, price, who pays and who is protected.
        buy : Callable[[], Purchase]
            Pays and buys; what it raises is raised, and nothing is remembered.
        """
        with self._lock:
            ticket = (pick, *what)
            if ticket not in self._made:
                self._made[ticket] = (pick, buy())
            self._fresh.setdefault(pick, []).append(self._made[ticket][1])

    def restore(self, pick: int, purchase: Purchase) -> None:
        """Remember what an earlier visit bought of the same columns; what it found is in their fields."""
        with self._lock:
            self._made[pick, len(self._made), purchase.columns] = (pick, purchase)

    def take_fresh(self, pick: int) -> list[Purchase]:
        """What was bought and is not on the page yet; it counts as taken."""
        with self._lock:
            return self._fresh.pop(pick, [])

    def made_of(self, pick: int, columns: Collection[str] | None = None) -> tuple[Purchase, ...]:
        """All that was bought of these records, or of any of these columns, typed over afterwards or not."""
        with self._lock:
            mine = [one for number, one in self._made.values() if number == pick]
            return tuple(one for one in mine if columns is None or not set(one.columns).isdisjoint(columns))
