"""How finely numbers are cut, and which pairs of columns are counted, from public sizes alone.

All pairs of many columns share one promise, and the noise in each grows as the root of how many there are. With few
people that hides them all, single columns too. So the pairs are put in a public order, those of few cells first and
among equal ones those of the columns that come first, and the longest beginning of it is counted in whose average cell
noise leaves most of the people to be seen. Nothing of this looks at a record: whatever decides, the number of records
too, is what the owner said.

Single columns are asked more often than any one pair. Where pairs outnumber them, all single columns together weigh as
much as all pairs do, which costs pairs a few per cent and makes means and shares about half as wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...errors import RequestError
from ...privacy.budget import Budget
from ...privacy.calibration import calibrate
from ...privacy.neighbours import Sensitivity
from .layout import Columns, largest
from .optimum import for_squares, for_sums
from .table_axes import Axis, is_number, number_axes

if TYPE_CHECKING:
    from .tables import Tables

USUAL_BINS = 10
BINS_OFFERED = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
MOST_OFFERED = 8  # Halvings that are chosen at most.
# Standard deviations of noise that the average cell of a pair holds, so noise is at most two thirds of it (95%).
SEEN = 3.0
# Up to which Laplace noise is tried beside Gaussian noise; its variance grows with the square of their number.
FEW_TABLES = 40
MAX_TABLES = 200_000
MAX_COUNTERS = 1 << 26


def all_pairs(places: int) -> tuple[Columns, ...]:
    """All pairs of so many columns, or the only one; RequestError where they are too many."""
    if math.comb(places, 2) > MAX_TABLES:
        raise RequestError(f"All pairs of {places:,} columns are more than {MAX_TABLES:,} tables; name fewer.")
    return tuple(combinations(range(places), min(2, places)))


def pairs_with(places: int, marked: Sequence[int]) -> tuple[Columns, ...]:
    """The pairs of so many columns that have a marked one, or the only column."""
    return tuple(pair for pair in all_pairs(places) if len(pair) == 1 or set(pair) & set(marked))


def singles_weight(tables: Sequence[Columns], columns: int) -> float:
    """What a single column counts beside a table of several, so that all singles together count as these do."""
    return max(1.0, sum(len(table) > 1 for table in tables) / columns)


def settled(sketch: Tables, budget: Budget, records: float) -> Tables:
    """With what is best to measure: residuals, or the tables with equal weights.

    Where cuts or tables are left open, they are chosen first, and with them how much single columns count.
    """
    single = 1.0
    if not sketch.is_cut:
        sketch = cut_for(sketch, budget, records)
        single = singles_weight(sketch.tables, len(sketch.axes))
    # With few tables, Laplace noise may be the smaller one under a delta too.
    rules = [for_sums] if budget.pure else [for_squares, for_sums][: 2 if len(sketch.tables) <= FEW_TABLES else 1]
    residuals = [sketch.measuring_contrasts(rule, single) for rule in rules]
    candidates = [*residuals, *map(sketch.counting, ("cells", "margins"))]
    return min(candidates, key=lambda candidate: candidate.error(budget, single))


def cut_for(sketch: Tables, budget: Budget, records: float) -> Tables:
    """With bins, halvings and tables: numbers as fine as leaves an average cell one standard deviation of noise."""
    if sketch.tables is not None:
        return _finely(sketch, budget, records)
    sketch = replace(sketch, tables=all_pairs(len(sketch.axes)))
    return _finely(sketch if len(sketch.axes) < 3 else _with_fewer(sketch, budget, records), budget, records)


def cut_for_choice(sketch: Tables, budget: Budget, records: float) -> Tables:
    """With as many pairs as could be seen, and numbers cut as suits any pair, as others may be counted."""
    every = all_pairs(len(sketch.axes))
    fewer = _with_fewer(replace(sketch, tables=every), budget, records)
    return _finely(fewer, budget, records, every)


def _usual(sketch: Tables, bins: int) -> Tables:
    numbers = number_axes(sketch.domain)
    return replace(sketch, bins=sketch.bins or (bins,) * numbers, halvings=(0,) * numbers)


def _deviation(sketch: Tables, budget: Budget) -> float:
    tried = sketch.counting() if budget.pure else sketch.measuring_contrasts()
    return math.sqrt(tried.error(budget) / (len(tried.layout.residuals) - 1))


def _cells(sketch: Tables, tables: Sequence[Columns]) -> float:
    sides = [axis.cells for axis in sketch.axes]
    return float(np.mean([math.prod(sides[i] for i in table) for table in tables]))


def _with_fewer(sketch: Tables, budget: Budget, records: float) -> Tables:
    """With the pairs of which an average cell can be seen, and every other column by itself.

    The noise of fewer tables is found by scaling that of all of them, and then by trying: so many less each time as the
    last ones were too many, which ends after a few.
    """
    coarse = _usual(sketch, BINS_OFFERED[0])
    sides = [axis.cells for axis in coarse.axes]
    order = few_cells_first(coarse.tables, sides)
    number = _hoped(order, sides, budget, records)
    while number:
        tried = replace(coarse, tables=with_singles(order[:number], len(sides)))
        held = records / _deviation(tried, budget) / _cells(coarse, order[:number])
        if held >= SEEN:
            break
        number = min(number - 1, int(number * (held / SEEN) ** (1.0 if budget.pure else 2.0)))
    return replace(sketch, tables=with_singles(order[:number], len(sides)))


def _hoped(order: Sequence[Columns], sides: Sequence[int], budget: Budget, records: float) -> int:
    """How many pairs might be seen at best, without trying: noise in a cell is not below a fourth of that in counters.

    Counters of so many tables have that of one, times the root of their number, or times that number (pure ε).
    """
    noise = calibrate(Sensitivity(1, 1, unit_shifts=True), Fraction(budget.epsilon), Fraction(budget.delta)).variance
    number = np.arange(1, len(order) + 1)
    sizes = np.cumsum([float(sides[one] * sides[other]) for one, other in order])
    least = math.sqrt(noise) / 4.0 * (number if budget.pure else np.sqrt(number))
    possible = (records / least / (sizes / number) >= SEEN) & (sizes <= MAX_COUNTERS / 2)
    return int(np.flatnonzero(possible)[-1]) + 1 if possible.any() else 0


def few_cells_first(pairs: Sequence[Columns], sides: Sequence[int]) -> list[Columns]:
    """Pairs of columns of so many cells in their public order."""
    return sorted(pairs, key=lambda pair: (sides[pair[0]] * sides[pair[1]], pair[1], pair[0]))


def with_singles(pairs: Sequence[Columns], columns: int) -> tuple[Columns, ...]:
    """Some pairs, and those columns that are in none, in the order of tables."""
    inside = {place for pair in pairs for place in pair}
    return tuple((place,) for place in range(columns) if place not in inside) + tuple(sorted(pairs))


def _finely(sketch: Tables, budget: Budget, records: float, others: Sequence[Columns] = ()) -> Tables:
    """With bins and halvings for tables that are settled: by those that have numbers, pairs where there are any.

    Or by others, of which as many may be counted.
    """
    numbers = number_axes(sketch.domain)
    deviation = _deviation(_usual(sketch, USUAL_BINS), budget)
    cut = {place for place, axis in enumerate(sketch.axes) if is_number(axis.column)}
    tables = others or sketch.tables
    several = [table for table in tables if len(table) > 1 and set(table) & cut]
    paired = several or [table for table in tables if set(table) & cut] or list(tables)

    def held(bins: int) -> float:
        """Records in the average cell, in standard deviations."""
        return records / deviation / _cells(_usual(sketch, bins), paired)

    if sketch.bins is None:
        bins = max((bins for bins in BINS_OFFERED if held(bins) >= 1.0), default=BINS_OFFERED[0])
        sketch = replace(sketch, bins=(bins,) * numbers)
    if sketch.halvings is None:
        finest = max(1.0, records / deviation)
        often = (int(min(MOST_OFFERED, max(0.0, math.log2(finest / bins)))) for bins in sketch.bins)
        sketch = replace(sketch, halvings=tuple(often))
    return sketch


def place_of(axes: Sequence[Axis], name: str) -> int:
    """The place of a column among the axes; RequestError where there is none of this name."""
    for place, axis in enumerate(axes):
        if axis.name == name:
            return place
    raise RequestError(f"There is no column {str(name)!r}; there are {', '.join(axis.name for axis in axes)}.")


def tables_named(
    axes: Sequence[Axis], tables: str | Iterable[Sequence[str]], by: Sequence[str], every_pair: bool
) -> tuple[Columns, ...] | None:
    """The tables asked for, or None for as many pairs as can be seen.

    RequestError when there is no such column or table, or columns to count by come with other tables. `tables`:
    "singles", "pairs", or the names of the columns of each table. `by`: columns one of which each pair has, where there
    are any. `every_pair`: whether "pairs" are all of them.
    """
    if by and tables != "pairs":
        raise RequestError("Columns to count the others by go with pairs, and not with other tables.")
    if by:
        return pairs_with(len(axes), [place_of(axes, name) for name in by])
    if tables == "pairs":
        return all_pairs(len(axes)) if every_pair else None
    if tables == "singles":
        return tuple((place,) for place in range(len(axes)))
    if isinstance(tables, str):
        raise RequestError("The tables are 'singles', 'pairs', or lists of the names of columns.")
    named = [tuple(sorted({place_of(axes, name) for name in table})) for table in tables]
    if not named or not all(named):
        raise RequestError("A table needs the name of at least one column.")
    return largest(named)
