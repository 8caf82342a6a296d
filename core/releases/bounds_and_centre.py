"""A release whose bounds are bought: one budget pays for the bounds of some columns and for the table within them.

The bounds go into the release file, so what they cost is part of its promise. Everything is written to the ledger as
one cost before any noise is drawn: a ledger that admitted the bounds and then refused the table would have spent for
nothing. So the noise of the table is fixed before the bounds are known. It may be, as the sensitivity of a table
depends on its rows and on who one person is, and not on bounds.

Bounds alone are bought by `private_bounds`; what is bought, and why it is private, stands in
`core.privacy.choosing.private_bounds`.

Two readings. The first encodes every record as the second one will, but for the bounds, so that nothing is left to
refuse, and counts it in the cells of the bounds' grids; the second fills the table within the bounds.

A release around a bought centre: one budget pays for where everyone lies together, and for the table around it.

Records that differ little from each other, such as embeddings, all need noise for their whole length. Around a centre
that is close to all of them they are short, and so is the noise. Two readings: the first sums everyone, with noise from
a small share of the budget, and gives the centre (the pole of directions, the mean for moments); the second fills the
table around it. The centre goes into the release file as a public parameter, as it was paid for.

The second reading depends on what the first one gave, which sequential composition allows: epsilons add up, and so does
rho. Both noises are fixed and the whole cost is written to the ledger before any of them is drawn. That can be done, as
no sensitivity depends on the centre.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..domain import Domain, Numeric
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import EACH_RECORD, Budget, Number, PrivacyUnit, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.choosing.private_bounds import Bounds, Grid, plan_bounds, release_bounds
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan
from ..sources import Source
from .engine.building import check_room
from .kind import LOCAL, Plain, building_on
from .release import Release
from .stages import Known, Offer, Progress, Stage


def _share(value: Number, what: str) -> Decimal:
    share = exact_decimal(value, what)
    if not 0 < share < 1:
        raise RequestError(f"{what} must lie strictly between 0 and 1, as the table has a cost.")
    return share


@dataclass(frozen=True)
class BoundsPurchase:
    """What is to be bought."""

    grids: Mapping[str, Grid]  # A generous public range for each column, by name.
    share: Number = "0.1"  # Part of epsilon that pays for the bounds, strictly between 0 and 1.

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", _share(self.share, "The share of the bounds"))
        if not self.grids:
            raise RequestError("Bounds are bought for one column or more.")

    def split(self, budget: Budget) -> tuple[Budget, Budget]:
        """The budgets of the bounds, which is pure, and of the table; they add up to the whole, exactly."""
        paid = Fraction(budget.epsilon) * Fraction(self.share)
        left = Fraction(budget.epsilon) - paid
        return Budget(paid, 0, budget.neighbours), Budget(left, budget.delta, budget.neighbours)

    def stage(self, sketch: LinearSketch, budget: Budget) -> BoundsStage:
        """The purchase as a stage before the table of a sketch."""
        return BoundsStage(sketch, self, budget)

    def bounds_of(self, release: Release) -> dict[str, Bounds]:
        """The bounds that a release shows where these were bought; ``found`` is False for a whole range."""
        columns = {column.name: column for column in release.domain.columns}
        bounds = {}
        for name, grid in self.grids.items():
            low, high = columns[name].bounds(1.0)
            bounds[name] = Bounds(low, high, (low, high) != (grid.low, grid.high))
        return bounds


@dataclass(frozen=True)
class BoundsStage(Stage):
    """The bounds of some columns, and then a linear sketch within them.

    One reading encodes every record as that of the table will, but for the bounds, so that nothing is left to refuse,
    and counts it in the cells of the bounds' grids.
    """

    declared: LinearSketch  # Of a settled size; the bounds of the columns that are bought do not matter.
    purchase: BoundsPurchase
    budget: Budget  # The promise of everything together.
    name: ClassVar[str] = "bounds"
    learns: ClassVar[str] = "bounds"
    needed: ClassVar[bool] = True

    @property
    def of(self) -> Domain:  # type: ignore[override]
        """The columns of the sketch."""
        return self.sketch.domain

    @cached_property
    def sketch(self) -> LinearSketch:
        """The sketch within the generous ranges; RequestError when it has no such columns, or needs certain bounds."""
        _check_free_of_bounds(self.declared)
        ends = {name: Bounds(grid.low, grid.high, False) for name, grid in self.purchase.grids.items()}
        return _within(self.declared, ends)

    @cached_property
    def _offer(self) -> Offer:
        """Noise and price of the bounds, and the table that is planned beside them."""
        for_bounds, for_table = self.purchase.split(self.budget)
        planned = plan_bounds(len(self.purchase.grids), for_bounds, self.sketch.domain.unit)
        table = Plain(self.sketch, for_table)
        check_drawable(planned.noise, *table.noises)
        return Offer(planned.noise, planned.cost, for_table, table=table)

    def offered(self, known: Known) -> Offer:
        return self._offer

    def read(
        self, known: Known, source: Source, noise_source: NoiseSource | None
    ) -> Generator[int, None, list[np.ndarray]]:
        """The counts of all grids."""
        sketch, rows, records = self.sketch, 0, 0
        counts = GridCounts(self.purchase.grids, sketch.domain.unit)
        for batch in source.batches(sketch.domain):
            records += len(sketch.encode(batch))
            counts.add(batch)
            rows += batch.num_rows
            yield rows
        check_room(sketch, records)  # within the bounds that are found there are as many, or fewer
        return counts.counts

    def drawn(
        self,
        exact: list[np.ndarray],
        known: Known,
        offer: Offer,
        source: Source,
        noise_source: NoiseSource | None,
        progress: Progress,
    ) -> Plain:
        """The table within the bounds that are found."""
        names, grids = zip(*self.purchase.grids.items(), strict=True)
        for_bounds, unit = self.purchase.split(self.budget)[0], self.sketch.domain.unit
        # The price of the bounds is part of what was paid.
        found = release_bounds(grids, exact, for_bounds, unit, spend=lambda cost: None, noise_source=noise_source)
        for counts in exact:
            counts[...] = 0
        table: Plain = offer.table
        return replace(table, sketch=_within(self.sketch, dict(zip(names, found, strict=True))))

    def learnt(self, known: Known, offer: Offer, noisy: Plain) -> Iterable[Known]:
        return (known,)


def _check_free_of_bounds(sketch: LinearSketch) -> None:
    """Refuse what could not be made within the bounds that are found, as that must not come out after paying."""
    inner, _ = sketch.one_answer
    if not inner.free_of_bounds:
        raise RequestError("Bounds cannot be bought for projected records, as the projection's own bounds follow them.")
    if getattr(inner, "centre", None) is not None:
        raise RequestError("Bounds cannot be bought beside a public centre, which might lie outside of them.")


def _within(sketch: LinearSketch, bounds: Mapping[str, Bounds]) -> LinearSketch:
    """The same sketch with other bounds for some columns of numbers."""
    columns = {column.name: column for column in sketch.domain.columns}
    for name, ends in bounds.items():
        column = columns.get(name)
        if not isinstance(column, Numeric):
            raise RequestError(f"Bounds can be bought for columns of numbers that are used, and {name!r} is none.")
        columns[name] = replace(column, low=ends.low, high=ends.high)
    return sketch.within(replace(sketch.domain, columns=tuple(columns.values())))


def private_bounds(
    source: Source,
    grids: Mapping[str, Grid],
    budget: Budget,
    unit: PrivacyUnit = EACH_RECORD,
    *,
    spend: Callable[[Cost], object],
    quantiles: tuple[float, float] = (0.01, 0.99),
) -> dict[str, Bounds]:
    """Bounds between which most records of each column lie, (ε, δ)-private together.

    RequestError or BudgetError when the source cannot be read, or ``spend`` refuses; nothing was released.

    `source`: The private records; those that miss one of the values are left out. `grids`: A generous public range for
    each column, by name. `budget`: What all these bounds together may cost. `spend`: Writes the cost to a ledger,
    durably, or raises; called when everything is counted and before any noise is drawn. `quantiles`: Shares of the
    records below the low and below the high bounds.

    Examples
    --------
    >>> private_bounds(source, {"pay": Grid(-1e9, 1e9, spacing="log")}, Budget("0.1"),
    ...                spend=lambda cost: ledger.spend("payroll", cost))  # doctest: +SKIP
    """
    counts = GridCounts(grids, unit)
    for batch in source.batches(counts.domain):
        counts.add(batch)
    found = release_bounds(list(grids.values()), counts.counts, budget, unit, spend=spend, quantiles=quantiles)
    return dict(zip(grids, found, strict=True))


class GridCounts:
    """How many records lie in every cell of some columns' grids: exact, and private.

    A record that misses one of the values is left out of all of them, so one record moves one cell of each grid.

    `grids`: A generous public range for each column, by name.

    `domain`: Of the columns that are counted. `counts`: int64 (cells,) of every column.
    """

    def __init__(self, grids: Mapping[str, Grid], unit: PrivacyUnit):
        self.domain = Domain(tuple(Numeric(name, grid.low, grid.high) for name, grid in grids.items()), unit=unit)
        self.counts = [np.zeros(grid.cells, dtype=np.int64) for grid in grids.values()]
        self._grids = tuple(grids.values())

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the records of a batch, which may have further columns."""
        points = self.domain.encode(batch)
        for place, grid in enumerate(self._grids):
            self.counts[place] += grid.count(points[:, place])


@dataclass(frozen=True)
class CentrePurchase:
    """What is to be bought."""

    # Part of epsilon, or of rho under (epsilon, delta), that pays for the centre; strictly between 0 and 1.
    share: Number = "0.12"
    # For moments, the public radius of the first reading, in which records are still far from their centre; None is
    # that of the whole box. Directions need none.
    radius: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", _share(self.share, "The share of the centre"))

    def stage(self, sketch: LinearSketch, budget: Budget) -> CentreStage:
        """The purchase as a stage before the table of a sketch."""
        return CentreStage(sketch, self, budget)


@dataclass(frozen=True)
class CentreStage(Stage):
    """The centre of all records, and then a sketch around it."""

    sketch: LinearSketch  # Directions or moments, or classes of them; of a settled size.
    purchase: CentrePurchase
    budget: Budget  # The promise of everything together.
    name: ClassVar[str] = "centre"
    learns: ClassVar[str] = "a centre"
    needed: ClassVar[bool] = True

    @property
    def of(self) -> Domain:  # type: ignore[override]
        """The columns of the sketch."""
        return self.sketch.domain

    @cached_property
    def everyone(self) -> LinearSketch:
        """The sketch of the first reading, of all records in one; RequestError when there is no centre to buy."""
        return self.sketch.one_answer[0].finding_centre(self.purchase.radius)

    @cached_property
    def _noise(self) -> tuple[NoiseScale, Plan]:
        """The noise of the first reading, and the plan of the table, whose cost is that of everything together.

        Under a delta that of the pure promise where its table has less noise, as in `core.sketches.plan`.
        """
        delta = Fraction(self.budget.delta)
        return min((self._noise_under(one) for one in {delta, Fraction(0)}), key=lambda way: way[1].noise.variance)

    def _noise_under(self, delta: Fraction) -> tuple[NoiseScale, Plan]:
        """The same where so much of the budget's delta is used."""
        sketch, budget = self.sketch, self.budget
        neighbours, promise = budget.neighbours, (Fraction(budget.epsilon), delta)
        first, table = self.everyone.sensitivity(neighbours), sketch.sensitivity(neighbours)
        count = sketch.count_sensitivity(neighbours)
        share = Fraction(self.purchase.share)
        pair = [(first, share), (table, 1 - share)]
        for_count = (1 - share) * sketch.count_share
        three = [(first, share), (table, 1 - share - for_count), (count, for_count)]
        centre_noise, alone = calibrate_shares(pair, *promise)
        beside, noise, count_noise = calibrate_shares(three, *promise)
        public = sketch.count_is_public(neighbours)
        if public or sketch.total_variance(alone.variance) <= count_noise.variance:
            cost = Cost.of([(first, centre_noise), (table, alone)], budget.epsilon, budget.delta)
            return centre_noise, Plan(alone, None, public, cost)
        cost = Cost.of([(first, beside), (table, noise), (count, count_noise)], budget.epsilon, budget.delta)
        return beside, Plan(noise, count_noise, True, cost)

    @property
    def centre_noise(self) -> NoiseScale:
        """Of every counter of the first reading."""
        return self._noise[0]

    @property
    def planned(self) -> Plan:
        """Noise of the table and of the count."""
        return self._noise[1]

    @cached_property
    def _offer(self) -> Offer:
        """The price of the centre is in that of the table, as both share one rho."""
        table = Plain(self.sketch, self.budget, plan=self.planned)
        check_drawable(self.centre_noise, *table.noises)
        return Offer(self.centre_noise, None, self.budget, table=table)

    def offered(self, known: Known) -> Offer:
        return self._offer

    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, np.ndarray]:
        """The sums of everyone; every record is encoded as that of the table will be."""
        reading = building_on(LOCAL, self.sketch.with_one_answer(self.everyone), source)
        yield from reading
        table, records = reading.exact.use_up()
        check_room(self.sketch, int(self.sketch.records_in(records)))
        return table

    def drawn(
        self,
        exact: np.ndarray,
        known: Known,
        offer: Offer,
        source: Source,
        noise_source: NoiseSource | None,
        progress: Progress,
    ) -> Plain:
        """The table around what the noisy sums of everyone say."""
        # The slabs of classes add up to the table of everyone, which one record moves as it moves any one table.
        noisy = add_noise(exact.sum(axis=0) if self.sketch.classes else exact, self.centre_noise, noise_source)
        exact[...] = 0
        one, _ = self.sketch.one_answer
        table: Plain = offer.table
        return replace(table, sketch=self.sketch.with_one_answer(one.centred_by(self.everyone, noisy)))

    def learnt(self, known: Known, offer: Offer, noisy: Plain) -> Iterable[Known]:
        return (known,)
