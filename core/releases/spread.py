"""How far apart records are: the one number that decides which bandwidths suit, bought before anything is planned.

Bounds are public and may be far wider than the records, or just as wide; a bandwidth that is best for the one is
useless for the other. The mean squared distance of two records, in shares of the bounds, tells them apart.

Records are paired by coins: each draws a number, whose rest is one of B buckets, half as many as the public number of
records and never more than are needed, and the two of a bucket that drew least are a pair. A pair counts
v = min(1, 4 |x - y|^2 / d), cut to a whole multiple of 2^-20, and what is released is the sum of all v with noise; how
many pairs there are to be expected follows from public facts.

**Sensitivity.** Draws are independent of the data and alike, so let every other record draw the same number in both of
two neighbouring data sets (as `core.sources.people` argues). Which two are a pair follows from the records of a bucket
and their draws (where draws are equal, what the records say decides), and not from the order in which they are read:
that may be another one for all records where a single value changes, as in the answer to a query, and then the first
two of many buckets would change. So a record more changes its own bucket alone: there is a pair where there was none,
or one of the pair is another. Either way one v moves, within [0, 1], so L1 = L2 = 1, and so it is for a replaced
record, which keeps its draw; m records of one person move it by m, one after the other. A v is a function of its two
records alone, bit for bit, whichever comes first: squares are added coordinate by coordinate.

It costs between 2% and 5% of epsilon, as pure noise, and is an entry of its own in the ledger, which is paid before the
rest is planned with what is left (basic composition, for mechanisms that are chosen by earlier outputs: Dwork, Roth
2014, Theorem 3.16). Where even 5% says too little, or the ledger has no room for two entries, nothing is bought. What
follows is priced for ordinary records before that, and where the total does not admit the price of what would suit the
records better, it is made for ordinary ones: what was bought is never lost to a refusal, unless somebody else spends in
between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from ..domain import Domain
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.neighbours import Sensitivity
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..privacy.replay.tape import tossed
from ..sources import Source
from .counted import Counted
from .payment import Payer

UNIT = 1 << 20
"""What v = 1 counts."""
LEAST, MOST = Fraction(1, 50), Fraction(1, 20)
"""Of epsilon."""
ENOUGH, USELESS = 0.03, 0.12
"""Standard deviations of the noise in a mean v: a larger share is not paid for less, and nothing for more."""
IN_A_BUCKET = 2.0
"""Records, where there are few enough for a bucket to every so many; more of them share the buckets that there are:"""
MOST_BUCKETS, MOST_HELD = 1 << 15, 1 << 22
"""so many, or fewer with records so long that their pairs would be more numbers than this."""
NARROWEST, BROADEST = 1.0 / 36.0, 0.45
"""Standard deviations of a column, in shares of its bounds, that are told apart."""


@dataclass(frozen=True)
class Spread:
    """What is known of how far apart records are, and what knowing it has left.

    Attributes
    ----------
    value : float | None
        Standard deviation of a column in shares of its bounds, root mean square over the columns; None where nothing
        was bought.
    left : Budget
        For everything else.
    bought : tuple[Cost, ...]
        What was paid.
    """

    value: float | None
    left: Budget
    bought: tuple[Cost, ...] = ()

    def after(self, counted: Counted) -> Counted:
        """What is known and left after both, of records that were counted before."""
        return replace(counted, left=self.left, bought=(*counted.bought, *self.bought))


@dataclass(frozen=True)
class Bought(Spread):
    """The same where it was bought, and so is known."""

    value: float


class Planned(Protocol):
    """Whatever has a price."""

    @property
    def cost(self) -> Cost: ...


Priced = TypeVar("Priced", bound=Planned)


@dataclass(frozen=True)
class SpreadPurchase:
    """Only a name for the ledger's note."""

    name: str = "spread"

    def parameters(self) -> dict[str, Any]:
        """None."""
        return {}


@dataclass(frozen=True)
class Offered:
    """A spread that can be bought, with its noise and price.

    Attributes
    ----------
    noise : NoiseScale
        In units.
    cost : Cost
        Of it.
    left : Budget
        For everything else.
    buckets : int
        B.
    paired : float
        How many pairs there are to be expected.
    """

    noise: NoiseScale
    cost: Cost
    left: Budget
    buckets: int
    paired: float

    @property
    def deviation(self) -> float:
        """Of the noise in a mean v."""
        return math.sqrt(self.noise.variance) / UNIT / self.paired


def offered(domain: Domain, budget: Budget, records: float) -> Offered | None:
    """The purchase under a promise, for about so many records; None where it would say too little."""
    buckets = max(1, min(round(records / IN_A_BUCKET), MOST_BUCKETS, MOST_HELD // (2 * domain.dimensions)))
    each = records / buckets
    paired = buckets * -math.expm1(math.log1p(each) - each)  # the share of a Poisson number's being two or more
    most = domain.unit.records
    wanted = Fraction(math.sqrt(2.0) * most / (ENOUGH * paired))
    share = min(max(wanted / Fraction(budget.epsilon), LEAST), MOST)
    epsilon = Fraction(budget.epsilon) * Fraction(math.ceil(share * 1000), 1000)
    moved = Sensitivity(UNIT, UNIT**2).scaled(most)
    noise = calibrate(moved, epsilon)
    cost = Cost.of([(moved, noise)], exact_decimal(epsilon, "The price of the spread"))
    left = replace(budget, epsilon=exact_decimal(Fraction(budget.epsilon) - epsilon, "What the spread leaves"))
    found = Offered(noise, cost, left, buckets, paired)
    return found if found.deviation <= USELESS else None


def spread_first(
    domain: Domain,
    source: Source,
    budget: Budget,
    records: float,
    payer: Payer | None,
    priced: Callable[[Budget], Cost],
    noise_source: NoiseSource | None = None,
) -> Spread:
    """Buy it where that is worth it.

    Parameters
    ----------
    domain, source : Domain, Source
        The features, which are compared as shares of their bounds, and the private records.
    budget, records : Budget, float
        The promise of everything together, and about how many records there are.
    payer : Payer | None
        Who pays.
    priced : Callable[[Budget], Cost]
        The price of what follows with what is left, which must be allowed beside it.
    noise_source : NoiseSource | None
        None in any real purchase.
    """
    domain = replace(domain, scale="box")
    one = offered(domain, budget, records)
    if one is None:
        return Spread(None, budget)
    if payer is not None:
        if not payer.has_room_for(one.cost, priced(one.left)):
            return Spread(None, budget)
        payer.check(one.cost)
    return paid(one, pair_sum(domain, source, one.buckets, noise_source), payer, noise_source)


def suiting(found: float | None, payer: Payer | None, planned: Callable[[float | None], Priced]) -> Priced:
    """What is planned for a spread that was bought; for ordinary records where the total does not admit its price."""
    made = planned(found)
    return made if payer is None or payer.has_room_for(made.cost) else planned(None)


def paid(one: Offered, exact: int, payer: Payer | None, noise_source: NoiseSource | None = None) -> Bought:
    """Pay for an offer, then draw its noise: what is known of an exact sum of all v, in units."""
    if payer is not None:
        payer.spend_part(one.cost, SpreadPurchase())
    noisy = int(add_noise(np.array([exact], np.int64), one.noise, noise_source)[0])
    mean = max(noisy / UNIT / one.paired, one.deviation)
    return Bought(min(max(math.sqrt(mean / 8.0), NARROWEST), BROADEST), one.left, (one.cost,))


def pair_sum(domain: Domain, source: Source, buckets: int, noise_source: NoiseSource | None = None) -> int:
    """The sum of all v, in units; exact and private. Records are read once, and no more than two a bucket are held."""
    pairs = Pairs(buckets, domain.dimensions)
    for _ in paired_up(domain, source, pairs, noise_source):
        pass
    return pairs.sum()


def paired_up(domain: Domain, source: Source, pairs: Pairs, noise_source: NoiseSource | None = None) -> Iterator[int]:
    """Put all records into their buckets; each step yields the rows read so far."""
    drawn, rows = SystemSource() if noise_source is None else noise_source, 0
    for batch in source.batches(domain):
        points = np.asarray(domain.encode(batch, "l2"))
        lemma = "pairs of records by draws of each record's own"
        pairs.add(points, tossed(lemma, points, lambda count: drawn.stream().words(count), private=drawn.private))
        rows += batch.num_rows
        yield rows


class Pairs:
    """The two records of every bucket that drew least.

    Parameters
    ----------
    buckets, dimensions : int
        How many there are, and how long a record is.
    """

    def __init__(self, buckets: int, dimensions: int) -> None:
        self._points = np.zeros((0, dimensions))
        self._drawn = np.zeros(0, np.uint64)
        self._most = np.full(buckets, np.iinfo(np.uint64).max)
        """What a record of the bucket may have drawn at most to be of its pair."""

    def add(self, points: np.ndarray, drawn: np.ndarray) -> None:
        """More records, float64 (n, d), and the number that each has drawn, uint64 (n,)."""
        buckets = len(self._most)
        near = drawn <= self._most[(drawn % buckets).astype(np.int64)]
        points, drawn = np.concatenate((self._points, points[near])), np.concatenate((self._drawn, drawn[near]))
        bucket = (drawn % buckets).astype(np.int64)
        order = np.lexsort((drawn, bucket))
        if np.any(drawn[order[1:]] == drawn[order[:-1]]):  # of equal draws the record decides, and never its line
            order = np.lexsort((*points.T, drawn, bucket))
        third = np.zeros(len(order), bool)
        third[2:] = bucket[order[2:]] == bucket[order[:-2]]
        order = order[~third]
        self._points, self._drawn, bucket = points[order], drawn[order], bucket[order]
        second = np.flatnonzero(bucket[1:] == bucket[:-1]) + 1
        self._most[bucket[second]] = self._drawn[second]

    def sum(self) -> int:
        """The sum of all v, in units."""
        bucket = self._drawn % len(self._most)
        first = np.flatnonzero(bucket[1:] == bucket[:-1])
        squares = np.zeros(len(first))
        for column in self._points.T:
            apart = column[first] - column[first + 1]
            squares += apart * apart
        values = np.minimum(squares * (4.0 / self._points.shape[1]), 1.0)
        return int(np.asarray(values * UNIT, np.int64).sum())
