"""Releases of mechanisms that choose before they measure: one promise, and one entry in the ledger for all of it.

Everything is calibrated from public facts and written to the ledger before the first choice. A crash in between loses
budget, never privacy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.engines import LOCAL, building_on
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.noise import check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive, AdaptivePlan
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan
from ..sources import Source, open_source
from .payment import paid_from
from .release import Release
from .seal import sealed
from .sizing import with_chosen_size


def release_adaptive(
    mechanism: Adaptive,
    data: object,
    budget: Budget,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    records: int | None = None,
    progress: Callable[[int], None] | None = None,
    noise_source: NoiseSource | None = None,
    engine: str = LOCAL,
) -> Release:
    """Read the data once, spend the budget, then choose, measure, and return a private release.

    Whatever has to be refused comes out in the first reading, before anything is spent. A mechanism that needs further
    readings makes them afterwards; should the source fail then, the budget is lost, and nothing was released.

    Parameters
    ----------
    mechanism : Adaptive
        For example `PrivBayes(domain, kernel)`; its sizes are chosen from public facts when it has none.
    data, budget, ledger, dataset, records, progress, noise_source, engine : see `core.releases.job.release`
        See `core.releases.job.release`.

    Returns
    -------
    Release
        Its promise covers the choices that it shows.

    Raises
    ------
    RequestError, BudgetError
        As `core.releases.job.release` does.
    """
    mechanism = with_chosen_size(mechanism, budget, records)
    planned = mechanism.plan(budget)
    spend = paid_from(ledger, dataset, mechanism, planned.cost, budget)
    return run_planned(
        mechanism, planned, open_source(data), spend=spend, progress=progress, noise_source=noise_source, engine=engine
    )


def run_planned(
    mechanism: Adaptive,
    planned: AdaptivePlan,
    source: Source,
    *,
    spend: Callable[[Cost], object] | None = None,
    progress: Callable[[int], None] | None = None,
    noise_source: NoiseSource | None = None,
    engine: str = LOCAL,
) -> Release:
    """The same from a plan that was made before, for who has a way of its own to pay.

    Parameters
    ----------
    mechanism, planned : Adaptive, AdaptivePlan
        Of a settled size, and its plan.
    source : Source
        The private records.
    spend : Callable[[Cost], object] | None
        Writes the cost of everything to a ledger, durably, or raises; called once, after the first reading.
    progress, noise_source, engine : Callable[[int], None] | None, NoiseSource | None, str
        See `core.releases.job.release`.
    """
    check_drawable(*planned.noises, planned.count_noise)
    rows, budget = 0, planned.budget

    def read(sketch: LinearSketch) -> np.ndarray:
        nonlocal rows
        before, building = rows, building_on(engine, sketch, source, None)
        for so_far in building:
            rows = before + so_far
            if progress is not None:
                progress(rows)
        return building.exact.table

    first = mechanism.first
    table = read(first)
    if spend is not None:
        spend(planned.cost)
    made = mechanism.run(lambda sketch: table if sketch == first else read(sketch), planned, noise_source)
    noised = Plan(made.noise, planned.count_noise, planned.counts, planned.cost)
    released = sealed(made.sketch, made.table, made.count, noised, budget, noise_source)
    moved = (made.sketch.sensitivity(budget.neighbours), made.sketch.count_sensitivity(budget.neighbours))
    if made.noise not in planned.noises or not released.privacy.is_kept(*moved):
        raise RuntimeError(f"The table of {mechanism.name!r} has another noise than was paid for.")
    return released
