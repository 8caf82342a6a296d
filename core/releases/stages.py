"""The stages of a release before its table: how many records there are, and how far apart they lie.

**How many** decides the size of a table. It costs a fiftieth of epsilon. One person moves it by as many records as a
person may own, L1 = L2 = m, and under replaced records by as many too, where records may be left out. Where a neighbour
replaces a record and none is ever left out, it is public and costs nothing.

**How far apart** they lie decides which bandwidths suit.

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

It costs between 2% and 5% of epsilon, as pure noise. Where even 5% says too little, or the ledger has no room for it,
nothing is bought (`core.releases.purchase_plan`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..domain import Domain
from ..privacy.accounting import Cost, Reserve
from ..privacy.budget import Budget, Neighbours, Sensitivity, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..privacy.replay.tape import tossed
from ..sources import Source

if TYPE_CHECKING:
    from .found import Discovered

Progress = Callable[[int], object]
"""Called with the rows read so far."""


@dataclass(frozen=True)
class Bought:
    """One number that was bought, or that is to be, in a stage by its name."""

    stage: str
    # Its price and its noise; None where it is public.
    cost: Cost | None
    noise: NoiseScale | None
    noisy: int | None = None  # The number as it was released; None beforehand.
    of: Domain | None = field(default=None, compare=False)  # The columns that were read for it.


@dataclass(frozen=True)
class Known:
    """What is known of the records before their table is planned, and what knowing it has left."""

    left: Budget  # For everything else.
    records: float  # About how many there are, at least 1.
    # Standard deviation of a column in shares of its bounds; None where it was neither said nor bought.
    spread: float | None = None
    bought: tuple[Bought, ...] = ()  # What was bought, in its order.
    # How the promise is shared with what was bought first, where that is more than a sum; None where parts add up.
    reserve: Reserve | None = None
    found: Discovered | None = None  # What was found out of the columns, where nobody had said it.
    # The promise of which what was bought by itself was the first part, where there is one; see `promised_with`.
    within: Budget | None = None

    @classmethod
    def having_paid(
        cls,
        left: Budget,
        costs: Iterable[Cost],
        records: float = 1.0,
        within: Budget | None = None,
        found: Discovered | None = None,
    ) -> Known:
        """What is known beside what was bought by itself, which the file shows and so promises for."""
        bought = tuple(Bought("bounds", cost, None) for cost in costs)
        return cls(left, records, bought=bought, within=within, found=found)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What was paid; part of what every file promises whose size shows it."""
        return tuple(one.cost for one in self.bought if one.cost is not None)

    def of(self, stage: str) -> Bought | None:
        """What was bought in a stage, by its name."""
        return next((one for one in self.bought if one.stage == stage), None)

    def after(self, stage: Stage, offer: Offer, noisy: Any = None) -> Known:
        """The same once an offer is paid for, of which nothing is learnt yet."""
        bought = Bought(stage.name, offer.cost, offer.noise, offer.table if noisy is None else noisy, stage.of)
        return replace(self, left=offer.left, bought=(*self.bought, bought), reserve=offer.reserve or self.reserve)


@dataclass(frozen=True)
class Offer:
    """One number that can be bought."""

    noise: NoiseScale | None  # Of the number; None where it is public.
    cost: Cost | None  # Its price; None where it is public.
    left: Budget  # What it leaves for everything else.
    # How it shares a promise with a delta, of which prices do not add up; None where they do.
    reserve: Reserve | None = None
    # The table that follows, but for what is learnt, where its noise is fixed beforehand: one entry in the ledger pays
    # for both, with the noise of either in it. None where what is learnt decides about noise too.
    table: Any = None

    @classmethod
    def of(cls, name: str, moved: Sensitivity, epsilon: Fraction, budget: Budget) -> Offer:
        """A number that one person moves so far, for an exact part of a budget."""
        noise = calibrate(moved, epsilon)
        check_drawable(noise)
        cost = Cost.of([(moved, noise)], exact_decimal(epsilon, f"The price of the {name}"))
        left = exact_decimal(Fraction(budget.epsilon) - epsilon, f"What the {name} leaves")
        return cls(noise, cost, replace(budget, epsilon=left))


class Stage(ABC):
    """One number about the records that is bought before their table; all but `read` follows from what is public."""

    of: Domain
    """The columns that are read for it."""
    name: ClassVar[str]
    """In the ledger's note."""
    learns: ClassVar[str]
    """What is bought, in words."""
    needed: ClassVar[bool] = False
    """Whether nothing can be planned without it; what is not needed is bought where there is room for it."""
    warns: ClassVar[bool] = False
    """Whether it may refuse what follows: then it is never paid for together with that, nor twice by a data set."""
    for_prices: ClassVar[bool] = False
    """Whether what is supposed is good for prices alone, so that nothing is released where nothing was learnt."""

    @abstractmethod
    def offered(self, known: Known) -> Offer | None:
        """The purchase with what is left; None where it is not worth its price. RequestError when there is none."""

    @abstractmethod
    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, Any]:
        """The exact number, which is private, by one reading; each step yields the rows read so far."""

    @abstractmethod
    def learnt(self, known: Known, offer: Offer, noisy: Any) -> Iterable[Known]:
        """What is known once a number was paid for and drawn; best first, then what may be supposed in view of it."""

    def drawn(
        self,
        exact: Any,
        known: Known,
        offer: Offer,
        source: Source,
        noise_source: NoiseSource | None,
        progress: Progress,
    ) -> Any:
        """What is released of it, once it is paid for: the number with its noise."""
        return exact if offer.noise is None else _with_noise(exact, offer.noise, noise_source)

    def supposed(self, known: Known) -> Known:
        """What ordinary records would let one know, for prices beforehand and where nothing better is admitted."""
        return known

    def parameters(self) -> dict[str, Any]:
        """What the ledger notes beside the name."""
        return {}


SHARE = Fraction(1, 50)  # Of epsilon that pays for a count: its noise is then 71 records at epsilon = 1.
ORDINARY = 10_000.0  # Records that a release is priced for before their number is known, to see that there can be one.
STEPS = 4  # From a number of records to the ordinary one, where the total does not admit the price of the first.
UNIT = 1 << 20  # What v = 1 counts.
LEAST, MOST = Fraction(1, 50), Fraction(1, 20)  # Of epsilon.
# Standard deviations of the noise in a mean v: a larger share is not paid for less, and nothing for more.
ENOUGH, USELESS = 0.03, 0.12
# Records, where there are few enough for a bucket to every so many; more of them share the buckets that there are:
IN_A_BUCKET = 2.0
# so many, or fewer with records so long that their pairs would be more numbers than this.
MOST_BUCKETS, MOST_HELD = 1 << 15, 1 << 22
NARROWEST, BROADEST = 1.0 / 36.0, 0.45  # Standard deviations of a column, in shares of its bounds, that are told apart.


@dataclass(frozen=True)
class Count(Stage):
    """How many records there are, without which no size can be planned."""

    of: Domain  # Which records count.
    usual: float = ORDINARY  # The number for which is priced beforehand.
    name: ClassVar[str] = "count"
    learns: ClassVar[str] = "how many records there are"
    needed: ClassVar[bool] = True

    def offered(self, known: Known) -> Offer:
        if known.left.neighbours is Neighbours.REPLACE_ONE and self.of.keeps_every_record:
            return Offer(None, None, known.left)
        moved = Sensitivity(1, 1, unit_shifts=True).scaled(self.of.unit.records)
        return Offer.of(self.name, moved, Fraction(known.left.epsilon) * SHARE, known.left)

    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, int]:
        records = rows = 0
        for batch in source.batches(self.of):  # whatever the domain refuses of a record comes out here
            records += len(self.of.encode(batch, "l2"))
            rows += batch.num_rows
            yield rows
        return records

    def learnt(self, known: Known, offer: Offer, noisy: int) -> Iterator[Known]:
        # Less than its own error cannot be told from none.
        least = 1.0 if offer.noise is None else max(1.0, math.sqrt(offer.noise.variance))
        found = max(float(noisy), least)
        for step in range(STEPS):
            yield replace(known, records=found ** (1 - step / STEPS) * self.usual ** (step / STEPS))

    def supposed(self, known: Known) -> Known:
        return replace(known, records=self.usual)


@dataclass(frozen=True)
class Spread(Stage):
    """How far apart records are, bought where that is worth it."""

    of: Domain  # The columns whose distances count, which are compared as shares of their bounds.
    name: ClassVar[str] = "spread"
    learns: ClassVar[str] = "how far records lie apart"

    @cached_property
    def compared(self) -> Domain:
        """The columns, each from 0 to 1."""
        return replace(self.of, scale="box")

    def offered(self, known: Known) -> Offer | None:
        """For about so many records; None where it would say too little."""
        _, paired = pairing(self.of, known.records)
        most, budget = self.of.unit.records, known.left
        wanted = Fraction(math.sqrt(2.0) * most / (ENOUGH * paired))
        share = min(max(wanted / Fraction(budget.epsilon), LEAST), MOST)
        epsilon = Fraction(budget.epsilon) * Fraction(math.ceil(share * 1000), 1000)
        found = Offer.of(self.name, Sensitivity(UNIT, UNIT**2).scaled(most), epsilon, budget)
        return found if _deviation(found, paired) <= USELESS else None

    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, int]:
        """The sum of all v, in units. Records are read once, and no more than two a bucket are held."""
        buckets, _ = pairing(self.of, known.records)
        pairs = Pairs(buckets, self.compared.dimensions)
        drawn, rows = SystemSource() if noise_source is None else noise_source, 0
        for batch in source.batches(self.compared):
            points = np.asarray(self.compared.encode(batch, "l2"))
            lemma = "pairs of records by draws of each record's own"
            pairs.add(points, tossed(lemma, points, lambda count: drawn.stream().words(count), private=drawn.private))
            rows += batch.num_rows
            yield rows
        return pairs.sum()

    def learnt(self, known: Known, offer: Offer, noisy: int) -> Iterator[Known]:
        """No nearer than noise lets one tell."""
        _, paired = pairing(self.of, known.records)
        mean = max(noisy / UNIT / paired, _deviation(offer, paired))
        yield replace(known, spread=min(max(math.sqrt(mean / 8.0), NARROWEST), BROADEST))


def pairing(domain: Domain, records: float) -> tuple[int, float]:
    """The number of buckets for about so many records, and how many pairs there are to be expected."""
    buckets = max(1, min(round(records / IN_A_BUCKET), MOST_BUCKETS, MOST_HELD // (2 * domain.dimensions)))
    each = records / buckets
    return buckets, buckets * -math.expm1(math.log1p(each) - each)  # a Poisson number's share of being two or more


def _deviation(offer: Offer, paired: float) -> float:
    """Of the noise in a mean v."""
    return math.inf if offer.noise is None else math.sqrt(offer.noise.variance) / UNIT / paired


class Pairs:
    """The two records of every bucket that drew least.

    `buckets`, `dimensions`: How many there are, and how long a record is.
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


def _with_noise(exact: int, noise: NoiseScale, noise_source: NoiseSource | None) -> int:
    return int(add_noise(np.array([exact], dtype=np.int64), noise, noise_source)[0])
