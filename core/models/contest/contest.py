"""Several classifiers made under one promise, of which the one that predicts best is kept, at one price.

An eighth of the records (of more than 16,384 about 2,000), by coins for each, is left out of making them; what each
gets right of those decides, by report noisy max. This costs nothing beside making them;
`core.privacy.choosing.held_out` has the proof, and what it asks of whoever counts. Ways that are made of nothing, such
as one class for everyone, compete at no price at all. One contestant with none of these beside it is made of all
records, and nothing is held out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ...errors import RequestError
from ...privacy.accounting import Cost
from ...privacy.budget import EACH_RECORD, Budget, PrivacyUnit
from ...privacy.choosing.held_out import ChoicePlan, choose, halvings_for, held_out, plan_choice
from ...privacy.noise.randomness import Source as NoiseSource
from ...privacy.replay.tape import rolling
from ...privacy.shared_promise import shared_equally

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Way(Generic[Kept]):
    """One way to decide, of a contestant that was made; rules of decision share what was made, and are ways apart."""

    title: str  # What people call it.
    # Whether it predicts the record at a place right: by a function of that record and the way alone, bit for bit.
    right: Callable[[int], bool]
    kept: Kept  # What is kept where it wins.


# From which records it is made, bool (n,), to its ways, the usual one first.
Maker = Callable[[np.ndarray], Sequence[Way[Kept]]]


class Contestant(ABC, Generic[Kept]):
    """What can be made under a promise, of records that it knows where to find."""

    @abstractmethod
    def priced(self, budget: Budget, records: float) -> tuple[Cost, Maker[Kept]]:
        """Price and maker, for about so many records; RequestError where it cannot be made so."""


@dataclass(frozen=True)
class Contest(Generic[Kept]):
    """All that is settled before anything is read or spent."""

    cost: Cost  # Of everything together, one entry in a ledger.
    makers: tuple[Maker[Kept], ...]  # Of the contestants.
    plan: ChoicePlan | None  # Of the choice; None where there is nothing to choose.
    halvings: int  # A record is held out with probability 2^-halvings.
    beside: tuple[Way[Kept], ...] = ()  # Ways that are made of no record.

    def run(
        self,
        records: int,
        noise_source: NoiseSource | None = None,
        contents: Callable[[], Sequence[object]] | None = None,
    ) -> tuple[Way[Kept], list[str]]:
        """Make everything and keep the winner; whoever calls it has paid.

        `records`: How many there are, each of another person. `noise_source`: Of coins and choice; None in any real
        run. `contents`: What is in each record; asked for by an audit alone, which finds the equal record of a
        neighbour by it. Returns the winner, and the titles of all ways.
        """
        if self.plan is None:
            ways = self.makers[0](np.ones(records, bool))
            return ways[0], [ways[0].title]
        whose: int | np.ndarray = records
        if contents is not None and rolling() is not None:
            whose = np.array([repr(one).encode() for one in contents()], dtype=bytes)
        out = held_out(whose, noise_source, halvings=self.halvings)
        found = [*(way for maker in self.makers for way in maker(~out)), *self.beside]
        right = [sum(way.right(place) for place in np.flatnonzero(out).tolist()) for way in found]
        return found[choose(np.array(right, np.int64), self.plan, noise_source)], [way.title for way in found]


def contest(
    contestants: Sequence[Contestant[Kept]],
    budget: Budget,
    records: float,
    unit: PrivacyUnit = EACH_RECORD,
    *,
    apart: bool = False,
    beside: Sequence[Way[Kept]] = (),
) -> Contest[Kept]:
    """Share a promise among contestants, and price the choice with them.

    `budget`: The promise of everything together. `records`: About how many there are, from public knowledge. `unit`:
    Who is hidden, with one record each. `apart`: Whether one contestant alone is chosen among its rules of decision
    too, on records held out. `beside`: Ways that are made of no record, functions of public facts alone; with any of
    them records are held out. RequestError when there is no such contest.
    """
    if not contestants:
        raise RequestError("There is nothing to choose from; name one classifier at least.")
    if unit.records > 1:
        raise RequestError(
            f"To choose among classifiers each person must have one record, not up to {unit.records:,}: all that "
            "somebody has must be on one side, what is learnt from or what is asked; say one record a person."
        )
    halvings = halvings_for(records)
    if len(contestants) == 1 and not (apart or beside):
        cost, maker = contestants[0].priced(budget, records)
        return Contest(cost, (maker,), None, halvings)
    kept = records * (1.0 - 2.0**-halvings)
    together, makers = shared_equally(
        budget, len(contestants), lambda own: [one.priced(own, kept) for one in contestants]
    )
    plan = plan_choice(together, budget.neighbours, unit)
    return Contest(plan.cost, tuple(makers), plan, halvings, tuple(beside))
