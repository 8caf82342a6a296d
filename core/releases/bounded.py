"""A release whose bounds are bought: one budget pays for the bounds of some columns and for the table within them.

The bounds go into the release file, so what they cost is part of its promise. Everything is written to the ledger as
one cost before any noise is drawn: a ledger that admitted the bounds and then refused the table would have spent for
nothing. So the noise of the table is fixed before the bounds are known. It may be, as the sensitivity of a table
depends on its rows and on who one person is, and not on bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from ..domain import Numeric
from ..engine.building import Building
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Number, exact_decimal
from ..privacy.events import total_rho
from ..privacy.noise.noise import check_drawable
from ..privacy.quantiles import Bounds, Grid, plan_bounds
from ..sketches.classes import Classes
from ..sketches.distances.projected_distance import ProjectedDistance
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan, plan
from ..sketches.projected import Projected
from ..sources import Source
from .private_bounds import private_bounds
from .release import Release
from .seal import seal


@dataclass(frozen=True)
class BoundsPurchase:
    """What is to be bought.

    Parameters
    ----------
    grids : Mapping[str, Grid]
        A generous public range for each column, by name.
    share : Number
        Part of epsilon that pays for the bounds, strictly between 0 and 1.
    """

    grids: Mapping[str, Grid]
    share: Number = "0.1"

    def __post_init__(self) -> None:
        share = exact_decimal(self.share, "The share of the bounds")
        if not 0 < share < 1:
            raise RequestError("The share of the bounds must lie strictly between 0 and 1, as the table has a cost.")
        if not self.grids:
            raise RequestError("Bounds are bought for one column or more.")
        object.__setattr__(self, "share", share)

    def split(self, budget: Budget) -> tuple[Budget, Budget]:
        """The budgets of the bounds, which is pure, and of the table; they add up to the whole, exactly."""
        paid = Fraction(budget.epsilon) * Fraction(self.share)
        return replace(budget, epsilon=paid, delta=0), replace(budget, epsilon=Fraction(budget.epsilon) - paid)


@dataclass(frozen=True)
class BoundedPlan:
    """How the budget is used, decided from public facts before any record is read.

    Attributes
    ----------
    sketch : LinearSketch
        The sketch within the generous ranges.
    table : Plan
        Noise of the table and of the count.
    cost : Cost
        Of bounds, table and count together; what is written to the ledger.
    """

    sketch: LinearSketch
    table: Plan
    cost: Cost


def plan_bounded(sketch: LinearSketch, purchase: BoundsPurchase, budget: Budget) -> BoundedPlan:
    """Share the budget between bounds and table.

    Parameters
    ----------
    sketch : LinearSketch
        With a number of rows; the bounds of the columns that are bought do not matter.
    purchase, budget : BoundsPurchase, Budget
        What is bought, and the promise of everything together.

    Raises
    ------
    RequestError
        When a column that is bought is not a column of numbers, the share cannot be written down exactly, or the sketch
        was made for certain bounds.
    """
    _check_free_of_bounds(sketch)
    ends = {name: Bounds(grid.low, grid.high, False) for name, grid in purchase.grids.items()}
    generous = _within(sketch, ends)
    for_bounds, for_table = purchase.split(budget)
    bounds = plan_bounds(len(ends), for_bounds, sketch.domain.unit)
    table = plan(generous, for_table)
    events = bounds.cost.events + table.cost.events
    return BoundedPlan(generous, table, Cost(events, budget.epsilon, budget.delta))


def release_bounded(
    planned: BoundedPlan,
    purchase: BoundsPurchase,
    source: Source,
    budget: Budget,
    *,
    spend: Callable[[Cost], object],
    progress: Callable[[int], None] = lambda rows: None,
) -> tuple[Release, dict[str, Bounds]]:
    """Buy the bounds, then release the table within them.

    The source is read three times: once to see that it can be read to its end, as nothing may be refused after the
    budget is spent; once for the bounds; once for the table.

    Parameters
    ----------
    planned, purchase, budget : BoundedPlan, BoundsPurchase, Budget
        See `plan_bounded`.
    source : Source
        The private records.
    spend : Callable[[Cost], object]
        Writes the cost of everything to the ledger, durably, or raises; called once, before any noise is drawn.
    progress : Callable[[int], None]
        Called with the number of rows read so far, in the first and the last reading together.

    Returns
    -------
    The release, whose promise covers the bounds that it shows, and the bounds.
    """
    domain, rows = planned.sketch.domain, 0
    for batch in source.batches(domain):
        domain.encode(batch, planned.sketch.metric)
        rows += batch.num_rows
        progress(rows)
    check_drawable(planned.table.noise, planned.table.count_noise)
    for_bounds, for_table = purchase.split(budget)
    found = private_bounds(source, purchase.grids, for_bounds, domain.unit, spend=lambda _: spend(planned.cost))
    sketch = _within(planned.sketch, found)
    if sketch.sensitivity(budget.neighbours) != planned.sketch.sensitivity(budget.neighbours):
        raise RuntimeError("The sensitivity of the table depends on its bounds, so its noise cannot be fixed before.")
    building = Building(sketch, source)
    for more in building:
        progress(rows + more)
    made = seal(sketch, building.exact, for_table, planned=planned.table)
    return covering_bounds(made, [plan_bounds(len(found), for_bounds, domain.unit).cost]), found


def covering_bounds(release: Release, costs: Iterable[Cost]) -> Release:
    """The release with a promise that covers its bounds too: whoever has its file has the bounds and the table.

    Parameters
    ----------
    release : Release
        Of one table.
    costs : Iterable[Cost]
        Of the bounds that it shows, each pure: what was paid for them, in whatever releases.
    """
    privacy, costs = release.privacy, list(costs)
    # Added up as fractions, as decimals would be rounded to the digits of the present context.
    paid = sum((Fraction(cost.epsilon) for cost in costs), Fraction(0))
    epsilon, overlap = (
        exact_decimal(Fraction(own) + paid, "The promise") for own in (privacy.epsilon, privacy.overlap_epsilon)
    )
    rho = privacy.rho + total_rho(event for cost in costs for event in cost.events)
    return replace(release, privacy=replace(privacy, epsilon=epsilon, overlap_epsilon=overlap, rho=rho))


def _check_free_of_bounds(sketch: LinearSketch) -> None:
    """Refuse what could not be made within the bounds that are found, as that must not come out after paying."""
    inner = sketch.inner if isinstance(sketch, Classes) else sketch
    if isinstance(inner, (Projected, ProjectedDistance)):
        raise RequestError("Bounds cannot be bought for projected records, as the projection's own bounds follow them.")
    if getattr(inner, "centre", None) is not None:
        raise RequestError("Bounds cannot be bought beside a public centre, which might lie outside of them.")


def _within(sketch: LinearSketch, bounds: Mapping[str, Bounds]) -> LinearSketch:
    """The same sketch with other bounds for some columns of numbers."""
    columns = {column.name: column for column in sketch.domain.columns}
    for name, ends in bounds.items():
        if not isinstance(columns.get(name), Numeric):
            raise RequestError(f"Bounds can be bought for columns of numbers that are used, and {name!r} is none.")
        columns[name] = replace(columns[name], low=ends.low, high=ends.high)
    domain = replace(sketch.domain, columns=tuple(columns.values()))
    if isinstance(sketch, Classes):
        return replace(sketch, domain=domain, inner=_within(sketch.inner, bounds))
    return replace(sketch, domain=domain)
