"""How many records there are, bought before a release whose size follows from it and whose owner does not say it.

A table that is sized for the wrong number of records may lose half of what it could tell, so the number is never
guessed. Where a neighbour replaces a record and none is ever left out, it is public and costs nothing. Otherwise one
count is bought with a fiftieth of epsilon, by an entry of its own in the ledger, and the release is planned with the
rest: epsilon-DP and then (epsilon', delta)-DP, chosen in view of the first answer, is (epsilon + epsilon', delta)-DP by
basic composition, which holds for mechanisms that are chosen by earlier outputs (Dwork, Roth 2014, Theorem 3.16 and
section 3.5). With slack a ledger admits two entries for a little less than one (`core.privacy.accounting`, rule
iii), so a total that has room for one release alone asks for the number instead.

What a release costs such a total depends on its size too: fewer rows of pure noise hide less. So the release is priced
for ordinary records before the count is paid for, and again for those that were counted; where the total does not admit
these, it is sized for the nearest number, between the two, that it does. The count is never paid for and then lost to a
refusal, unless somebody else spends in between. All of it follows from public prices and the count as it was released.

Neighbours: one person moves the count by as many records as a person may own, L1 = L2 = m; under replaced records by as
many too, where records may be left out. That the ledger affords both entries is checked before the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..privacy.accounting import Cost, PureParts
from ..privacy.budget import Budget, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.neighbours import Neighbours, Sensitivity
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sources import Source
from .bounds_paid import covering_bounds
from .kind import Filling, Held, Kind, Reader
from .payment import Payer
from .release import Release

SHARE = Fraction(1, 50)
"""Of epsilon: the noise is then 71 records at epsilon = 1."""
ORDINARY = 10_000.0
"""Records that a release is priced for before their number is known, to see that there can be one."""
STEPS = 4
"""From a number of records to the ordinary one, where the total does not admit the price of the first."""


@dataclass(frozen=True)
class Counted:
    """A number of records, and what knowing it has left.

    Attributes
    ----------
    records : float
        At least 1; no less than its own error where it was bought, as less cannot be told from none; nearer to the
        ordinary number where the total does not admit a release of that size.
    left : Budget
        For the release itself.
    bought : tuple[Cost, ...]
        What was paid; part of what every file promises whose size shows it.
    """

    records: float
    left: Budget
    bought: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class CountPurchase:
    """Only a name for the ledger's note."""

    name: str = "count"

    def parameters(self) -> dict[str, Any]:
        """None."""
        return {}


def count_first(
    domain: Domain,
    source: Source,
    budget: Budget,
    payer: Payer | None,
    priced: Callable[[Budget, float], Cost],
    noise_source: NoiseSource | None = None,
) -> Counted:
    """Read the source once, and count its records, for a share of the budget unless their number is public.

    Parameters
    ----------
    domain, source : Domain, Source
        Which records count, and where they are.
    budget : Budget
        The promise of the count and the release together.
    payer : Payer | None
        Who pays, with a note that the count is a release of its own; nobody where adding up is left to the caller.
    priced : Callable[[Budget, float], Cost]
        The price of a release of so many records with what is left: it refuses what no number makes possible.
    noise_source : NoiseSource | None
        None in any real release.

    Raises
    ------
    RequestError, BudgetError
        When the records cannot be read, or the budget does not allow both; nothing was spent.
    """
    if budget.neighbours is Neighbours.REPLACE_ONE and domain.keeps_every_record:
        priced(budget, ORDINARY)
        return Counted(float(max(_records(domain, source), 1)), budget)
    epsilon = Fraction(budget.epsilon) * SHARE
    left = replace(budget, epsilon=exact_decimal(Fraction(budget.epsilon) - epsilon, "What the count leaves"))
    sensitivity = Sensitivity(1, 1, unit_shifts=True).scaled(domain.unit.records)
    noise = calibrate(sensitivity, epsilon)
    cost = Cost.of([(sensitivity, noise)], exact_decimal(epsilon, "The price of the count"))
    check_drawable(noise)
    rest = priced(left, ORDINARY)
    if payer is not None:
        payer.check(Cost((*cost.events, *rest.events), budget.epsilon, budget.delta))
        if not payer.has_room_for(cost, rest):
            raise RequestError(
                "How many records there are at least must be said here (records=..., or --records): the total has room "
                "for one release with slack, but not for a count before it, as the two are entries of their own."
            )
    exact = _records(domain, source)
    if payer is not None:
        payer.spend_part(cost, CountPurchase())
    noisy = int(add_noise(np.array([exact], dtype=np.int64), noise, noise_source)[0])
    found = max(float(noisy), float(noise.variance) ** 0.5)
    return Counted(_admitted(found, left, payer, priced), left, (cost,))


def _admitted(found: float, left: Budget, payer: Payer | None, priced: Callable[[Budget, float], Cost]) -> float:
    """The number of records, or the nearest one whose release the total admits: the ordinary one at the latest."""
    if payer is None or (left.pure and payer.has_room_for(_dearest(left))):
        return found
    for step in range(STEPS):
        records = found ** (1 - step / STEPS) * ORDINARY ** (step / STEPS)
        if payer.has_room_for(priced(left, records)):
            return float(records)
    return ORDINARY


def _dearest(left: Budget) -> Cost:
    """What no pure release costs more than, by any rule: parts of an ε are no dearer than one of all of it."""
    return Cost((PureParts(Fraction(left.epsilon), 1),), left.epsilon)


def _records(domain: Domain, source: Source) -> int:
    """How many records the domain keeps; whatever it refuses comes out here."""
    return sum(len(domain.encode(batch, "l2")) for batch in source.batches(domain))


@dataclass(frozen=True)
class Covered:
    """A release whose promise covers what was bought before it, and is shown by its size.

    Attributes
    ----------
    kind : Kind
        The release itself.
    bought : tuple[Cost, ...]
        Paid already.
    """

    kind: Kind
    bought: tuple[Cost, ...]

    @property
    def sketch(self) -> LinearSketch | Adaptive:
        """What is released."""
        return self.kind.sketch

    @property
    def budget(self) -> Budget:
        """What the count has left."""
        return self.kind.budget

    @property
    def readings(self) -> int:
        """Without the one that counted."""
        return self.kind.readings

    @property
    def cost(self) -> Cost:
        """Of the release itself."""
        return self.kind.cost

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of the release itself."""
        return self.kind.noises

    @property
    def table(self) -> LinearSketch:
        """Of the release itself."""
        return self.kind.table

    def check(self, records: int) -> None:
        """As the release itself does."""
        self.kind.check(records)

    def first(self, reader: Reader) -> Filling:
        """Of the release itself."""
        return self.kind.first(reader)

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """The release, with a promise for everything together."""
        return covering_bounds(self.kind.noised(held, reader, noise_source), self.bought)


def covered(kind: Kind, counted: Counted) -> Kind:
    """The release with a promise that covers its count, where one was bought."""
    return Covered(kind, counted.bought) if counted.bought else kind
