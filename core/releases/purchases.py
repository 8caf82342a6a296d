"""Bounds that a visitor bought, so that no click pays twice and every file says what its bounds have cost.

A page is run again at every click, and a run is given up in the middle when the next click comes; so what is paid for
is held here and not in the page. Nothing in here knows Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Lock

from ..privacy.accounting import Cost
from ..privacy.choosing.private_bounds import Bounds


@dataclass(frozen=True)
class Purchase:
    """What was bought: bounds by column, and what they have cost together."""

    bounds: dict[str, Bounds]
    cost: Cost


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

    def take_fresh(self, pick: int) -> dict[str, Bounds]:
        """Bounds that are not on the page yet; they count as taken."""
        with self._lock:
            return {name: ends for one in self._fresh.pop(pick, []) for name, ends in one.bounds.items()}

    def paid_for(self, pick: int, columns: Collection[str]) -> tuple[Cost, ...]:
        """Costs of all bounds that were bought for any of these columns, typed over afterwards or not."""
        with self._lock:
            mine = [one for number, one in self._made.values() if number == pick]
            return tuple(one.cost for one in mine if not one.bounds.keys().isdisjoint(columns))
