"""The whole table: all columns by themselves and two at a time, as finely as its size allows, and what that would give.

What follows is in closed form: noise has a known variance in every cell, and nothing else is wrong with a count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..domain import Domain
from ..privacy.budget import Budget
from ..sketches.plan import plan
from ..sketches.tables.axes import Axis
from ..sketches.tables.layout import Columns
from ..sketches.tables.reading import Noise
from ..sketches.tables.tables import Tables
from ..words.numbers import rounded
from ..words.phrases import count, listed, shortened
from .forecast import Forecast, forecast
from .guesses import checked_records

REACH = 1.96
EMPTY = 1.645
"""Standard deviations of noise below which a count cannot be told from none (95%, one-sided)."""


def whole_table(
    domain: Domain, records: float | None, budget: Budget, by: Sequence[str] = ()
) -> tuple[Tables, Forecast]:
    """The tables of all columns under a promise, and the error of the count in an average cell of a single column.

    Parameters
    ----------
    domain, records, budget : Domain, float | None, Budget
        Public facts, how many records there are at least, and the promise.
    by : Sequence[str]
        Columns by which the others are to be counted; with none, the pairs that can be seen are.
    """
    records = checked_records(records)
    sketch = Tables.of(domain, by=by).sized_for(budget, records)
    error, cells = cell_error(sketch, budget, sketch.layout.singles)
    held = records / cells
    seen = forecast(sketch, budget, records)
    return sketch, replace(
        seen,
        density=1.0 / cells,
        estimate=held,
        noise_error=error,
        sampling_error=0.0,
        standard_error=error,
        errors=(error,) * len(seen.errors),
        relative_error=error / held,
        relative_range=(error / records, error / held),
        low=max(0.0, held - REACH * error),
        high=held + REACH * error,
        empty_below=EMPTY * error,
        relative_noise=error / held,
    )


def cell_error(sketch: Tables, budget: Budget, tables: Sequence[Columns]) -> tuple[float, float]:
    """The root mean square error of a cell of a table, and how many cells a table has, on average over some tables."""
    noise = Noise(sketch.layout, sketch.weights, plan(sketch, budget).noise.variance)
    variances = []
    for table in tables:
        means = [1.0 / sketch.axes[i].cells for i in table]
        spreads = [float(noise.axis_spread(i).mean()) for i in table]
        variances.append(float(noise.products(table, means, spreads)))  # type: ignore[arg-type]
    cells = [math.prod(sketch.axes[i].cells for i in table) for table in tables]
    return math.sqrt(sum(variances) / len(variances)), sum(cells) / len(cells)


def reason(sketch: Tables, records: float, budget: Budget, by: Sequence[str] = ()) -> str:
    """What is in the file, and what was left out and why."""
    pairs = [table for table in sketch.tables if len(table) == 2]
    every = math.comb(len(sketch.axes), 2)
    cut = listed([f"{shortened(axis.name)} {_into(axis)}" for axis in sketch.axes if not axis.categories], 8)
    said = f"Every column is counted by itself{f', {cut}' if cut else ''}"
    if len(sketch.axes) < 2:
        return f"{said}."
    if not pairs:
        return (
            f"{said}. The {count(every, 'pair')} are left out: with so many cells and so few people the noise would "
            "hide them, and make single columns noisier. Fewer columns, or a few to count the others by, have less."
        )
    error, cells = cell_error(sketch, budget, pairs)
    held, band = rounded(records / cells, error), rounded(REACH * error, error)
    average = f"An average cell of two columns holds {held} ± {band}."
    if len(pairs) == every:
        return f"{said}; and each two of them together, {count(every, 'pair')}. {average}"
    if by:
        return f"{said}; and each together with {listed(by, 8)}, {count(len(pairs), 'pair')}. {average}"
    return (
        f"{said}; and {count(len(pairs), 'pair')} of them together, those with the fewest cells and of the first "
        f"columns. {average} The other {count(every - len(pairs), 'pair')} are left out, as all together the noise "
        "would hide them: put columns that matter first, or name some to count the others by."
    )


def _into(axis: Axis) -> str:
    if axis.of_single_values:
        return "value by value"
    ranges = f" ({axis.valued << axis.halvings:,} for ranges)" if axis.halvings else ""
    return f"in {axis.valued:,} cells{ranges}"
