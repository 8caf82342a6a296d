"""The whole table: all columns by themselves and two at a time, as finely as its size allows, and what that would give.

Where not all pairs can be seen, they follow from public sizes, or are chosen under the promise by how much they go
together (`core.sketches.tables.chosen`). How many are counted, and how noisy each is, is known beforehand either way.

What follows is in closed form: noise has a known variance in every cell, and nothing else is wrong with a count.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ...domain import Domain
from ...formatting.numbers import count, listed, rounded, shortened
from ...privacy.budget import Budget
from ...privacy.calibration import NoiseScale
from ...sketches.plan import Plan, plan
from ...sketches.tables.chosen import ChosenTables
from ...sketches.tables.reading import Noise
from ...sketches.tables.table_axes import Axis
from ...sketches.tables.table_layout import Columns
from ...sketches.tables.table_sizes import FEWEST_CHOSEN
from ...sketches.tables.tables import Tables
from .forecast import Forecast, forecast_planned
from .one_trial import checked_records

REACH = 1.96
EMPTY = 1.645  # Standard deviations of noise below which a count cannot be told from none (95%, one-sided).


def whole_table(
    domain: Domain, records: float | None, budget: Budget, by: Sequence[str] = ()
) -> tuple[Tables, Forecast]:
    """The tables of all columns under a promise, and the error of the count in an average cell of a single column.

    `domain`, `records`, `budget`: public facts, how many records there are at least, and the promise. `by`: columns by
    which the others are to be counted; with none, the pairs that can be seen are.
    """
    records = checked_records(records)
    sketch = Tables.of(domain, by=by).sized_for(budget, records)
    return sketch, expected(sketch, plan(sketch, budget), records)


def chosen_pairs(domain: Domain, records: float | None, budget: Budget) -> tuple[ChosenTables, Forecast] | None:
    """The same with pairs that are chosen under the promise; None where nothing would be gained by that."""
    records = checked_records(records)
    if len(Tables.of(domain).axes) < FEWEST_CHOSEN:
        return None
    chooser = ChosenTables(domain).sized_for(budget, records)
    if not chooser.chooses:
        return None
    chooser = cast(ChosenTables, chooser)
    planned = chooser.plan(budget)
    alike = Plan(planned.noises[-1], planned.count_noise, planned.counts, planned.cost)
    return chooser, expected(chooser.alike_under(budget), alike, records)


def expected(sketch: Tables, planned: Plan, records: float) -> Forecast:
    """What tables would give under a plan: the error of the count in an average cell of a single column."""
    error, cells = cell_error(sketch, planned.noise.variance, sketch.layout.singles)
    held = records / cells
    seen = forecast_planned(sketch, planned, records)
    return replace(
        seen,
        density=1.0 / cells,
        estimate=held,
        noise_error=error,
        sampling_error=0.0,
        standard_error=error,
        errors=(error,) * len(seen.errors),
        relative_error=error / held,
        low=max(0.0, held - REACH * error),
        high=held + REACH * error,
        empty_below=EMPTY * error,
        worst_error=error,
        relative_noise=error / held,
    )


def cell_error(sketch: Tables, counter_variance: float, tables: Sequence[Columns]) -> tuple[float, float]:
    """The root mean square error of a cell of a table, and how many cells a table has, on average over some tables.

    `sketch`: of a settled size. `counter_variance`: of the noise of its counters. `tables`: some that are measured.
    """
    noise = Noise(sketch.layout, sketch.weights, counter_variance)
    variances = []
    for table in tables:
        means = [1.0 / sketch.axes[i].cells for i in table]
        spreads = [float(noise.axis_spread(i).mean()) for i in table]
        variances.append(float(noise.products(table, means, spreads)))  # type: ignore[arg-type]
    cells = [math.prod(sketch.axes[i].cells for i in table) for table in tables]
    return math.sqrt(sum(variances) / len(variances)), sum(cells) / len(cells)


def reason(sketch: Tables, records: float, budget: Budget, by: Sequence[str] = ()) -> str:
    """What is in the file, and what was left out and why."""
    pairs = sketch.pairs
    every = math.comb(len(sketch.axes), 2)
    said = _by_themselves(sketch)
    if len(sketch.axes) < 2:
        return f"{said}."
    if not pairs:
        return (
            f"{said}. The {count(every, 'pair')} are left out: with so many cells and so few people the noise would "
            "hide them, and make single columns noisier. Fewer columns, or a few to count the others by, have less."
        )
    average = _average(sketch, plan(sketch, budget).noise, records)
    if len(pairs) == every:
        return f"{said}; and each two of them together, {count(every, 'pair')}. {average}"
    if by:
        return f"{said}; and each together with {listed(by, 8)}, {count(len(pairs), 'pair')}. {average}"
    return (
        f"{said}; and {count(len(pairs), 'pair')} of them together, those with the fewest cells and of the first "
        f"columns. {average} The other {count(every - len(pairs), 'pair')} are left out, as all together the noise "
        "would hide them: put columns that matter first, or name some to count the others by."
    )


def reason_of_choice(chooser: ChosenTables, records: float, budget: Budget) -> str:
    """What will be in a file whose pairs are chosen under the promise, and what will be left out and why."""
    alike = chooser.alike_under(budget)
    every = math.comb(len(alike.axes), 2)
    noise = chooser.plan(budget).noises[-1]
    if chooser.ways:
        some = [f"{pairs:,}" for pairs, *_ in chooser.ways if 0 < pairs < every]
        return (
            f"{_by_themselves(alike)}. How many of the {count(every, 'pair')} are counted, {chooser.price}% of ε "
            f"ask the records: none, {', '.join(some)} that go together most, or all. Where it is all, noise is "
            f"largest, and said here. {_average(alike, noise, records)} What was chosen, the file will say."
        )
    return (
        f"{_by_themselves(alike)}; and {count(len(alike.pairs), 'pair')} of them together, those that go together most "
        f"as far as noise lets that be seen. {_average(alike, noise, records)} The other "
        f"{count(every - len(alike.pairs), 'pair')} will be left out, as all together the noise would hide them; which "
        "ones these are, the file will say."
    )


def _by_themselves(sketch: Tables) -> str:
    """That every column is counted, and how finely."""
    cut = listed([f"{shortened(axis.name)} {_into(axis)}" for axis in sketch.axes if not axis.categories], 8)
    return f"Every column is counted by itself{f', {cut}' if cut else ''}"


def _average(sketch: Tables, scale: NoiseScale, records: float) -> str:
    """How many an average cell of the pairs holds, with its noise."""
    error, cells = cell_error(sketch, scale.variance, sketch.pairs)
    return f"An average cell of two columns holds {rounded(records / cells, error)} ± {rounded(REACH * error, error)}."


def _into(axis: Axis) -> str:
    if axis.of_single_values:
        return "value by value"
    ranges = f" ({axis.valued << axis.halvings:,} for ranges)" if axis.halvings else ""
    return f"in {axis.valued:,} cells{ranges}"
