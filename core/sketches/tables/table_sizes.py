"""How finely numbers are cut, and which pairs of columns are counted, from public sizes alone.

All pairs of many columns share one promise, and the noise in each grows as the root of how many there are. With few
people that hides them all, single columns too. So the pairs are put in a public order, those of few cells first and
among equal ones those of the columns that come first, and the longest beginning of it is counted in whose average cell
noise leaves most of the people to be seen. Nothing of this looks at a record: whatever decides, the number of records
too, is what the owner said.

Single columns are asked more often than any one pair. Where pairs outnumber them, all single columns together weigh as
much as all pairs do, which costs pairs a few per cent and makes means and shares about half as wide.

The weights of residuals, tables and halvings for which answers are best: closed forms.

What is asked are all tables and all their margins but the number of records, each with weight 1, averaged over its
cells. With noise of variance 1 on unit contrasts times s_R, the residual of R has variance 1/s_R^2, of which a table M
that contains R gets, averaged over its cells,

    prod_R (1 - 1/m_i) prod_{M - R} 1/m_i^2 / s_R^2,    and v_R is the sum of the factors over all M.

One record adds p_R s_R^2 to the squared length of the table, p_R = prod_R (1 - 1/m_i). The least sum of v_R / s_R^2 for
a given sum of p_R s_R^2 has s_R^2 in proportion to sqrt(v_R / p_R) (ResidualPlanner; Xiao, He, Zhang, Kifer 2023,
section 4). A weight of a table multiplies its factor. Where noise follows the sum of absolute values, l_R s_R, the best
s_R goes as (v_R / l_R)^(1/3).

A column with halvings is asked for ranges, all those of its fine cells alike. Its own table costs what it would without
halvings, and is spread over coarse contrasts and levels as the ranges' mean variance asks for.

`mean_variance` is the sum that the best weights make least: how exact all answers together will be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...privacy.budget import Budget
from ...privacy.calibration import calibrate
from ...privacy.neighbours import Sensitivity
from .reading import Noise
from .sample_fineness import bins_for_samples
from .table_axes import Axis, is_number, number_axes
from .table_layout import Block, Columns, Layout, largest, parts_of_table

# The least weight that is not 1: whole numbers are within a hundredth of the best weights, which costs 1e-4.
FEWEST = 64
LARGEST_WEIGHT = 1 << 40


@dataclass(frozen=True)
class Part:
    """What the answers need of a block, per unit of squared scale.

    Attributes
    ----------
    variance : float
        v: what variance 1 in each of its unit contrasts adds to the sum of the tables' mean variances.
    square, sum : float
        p and l: squared length, and sum of absolute values, of what a record adds.
    """

    variance: float
    square: float
    sum: float


def parts_of(layout: Layout, single: float = 1.0) -> dict[tuple[Columns, int], Part]:
    """Of every residual, and of every level of halvings, by columns and level.

    `single`: the weight of the table of a single column; that of others is 1.
    """
    asked = asked_of(layout, single)
    parts: dict[tuple[Columns, int], Part] = {}
    for which in layout.residuals:
        square = math.prod(1.0 - 1.0 / layout.axes[i].cells for i in which)
        total = math.prod(layout.contrasts[i].norms.sum / layout.contrasts[i].length for i in which)
        parts[which, 0] = Part(square * asked[which], square, total)
    for (place,) in layout.singles:
        axis = layout.axes[place]
        if axis.halvings:
            everyone, *own = _ranges(axis.cells, axis.halvings)
            whole = 1.0 - 1.0 / axis.cells
            squares = [whole, *(0.5**k for k in range(axis.halvings, 0, -1))]
            # Together as dear as the table would be without halvings.
            factor = single * (whole / sum(math.sqrt(v * p) for v, p in zip(own, squares, strict=True))) ** 2
            old, all_of = parts[(place,), 0], parts[(), 0]
            asked_of_all = all_of.variance - single * axis.cells**-2.0 + factor * everyone
            parts[(), 0] = Part(asked_of_all, all_of.square, all_of.sum)
            parts[(place,), 0] = Part(old.variance - single * whole + factor * own[0], old.square, old.sum)
            for level, (energy, square) in enumerate(zip(own[1:], squares[1:], strict=True), 1):
                parts[(place,), level] = Part(factor * energy, square, math.sqrt(square))
    return parts


def asked_of(layout: Layout, single: float = 1.0) -> dict[Columns, float]:
    """By residual, the sum over all tables that contain it of 1 over the squared numbers of their other cells."""
    asked = dict.fromkeys(layout.residuals, 0.0)
    for table in layout.residuals[1:]:
        weight = single if len(table) == 1 else 1.0
        for which, others in parts_of_table(table):
            asked[which] += weight * math.prod(layout.axes[i].cells ** -2.0 for i in others)
    return asked


def _ranges(cells: int, halvings: int) -> list[float]:
    """The mean variance of ranges for variance 1 of the number of all, of coarse unit contrasts, or of a halving's.

    A range is the difference of two stretches from the lower end, so with f(x) the product of a contrast with the cells
    below x, the mean over all ranges is that of (f(x) - f(y))^2: (N + 1) sum f^2 - (sum f)^2 over their number. What is
    in no halving and not in the number of all is the coarse contrasts', each as long as 2^halvings fine cells make it.
    """
    fine = cells << halvings
    energies = []
    for level in range(1, halvings + 1):
        half = fine // (cells << level)
        rise = np.concatenate([np.arange(half), np.arange(half, 0, -1)]) / math.sqrt(2 * half)
        energies.append((cells << (level - 1)) * ((fine + 1) * float(rise @ rise) - float(rise.sum()) ** 2))
    together = fine * (fine + 1) * (fine + 2) / 6.0  # of all ranges' lengths
    everyone = _sum_of_squared_lengths(fine) / fine
    coarse = together - everyone - sum(energies)
    ranges = fine * (fine + 1) / 2.0
    return [each / ranges for each in (everyone / fine, coarse / 2.0**halvings, *energies)]


def _sum_of_squared_lengths(fine: int) -> float:
    """The sum over all ranges of the square of how many cells they hold."""
    lengths = np.arange(1, fine + 1, dtype=float)
    return float(((fine + 1 - lengths) * lengths**2).sum())


def whole_weights(layout: Layout, scale: Callable[[Part], float], single: float = 1.0) -> tuple[int, ...]:
    """The weight of each block of contrasts, in whole numbers, for these scales of unit contrasts; see `parts_of`."""
    parts = parts_of(layout, single)
    best = [scale(parts[block.columns, block.level]) / _length(layout, block) for block in layout.blocks]
    factor = FEWEST / min(best)
    return tuple(min(LARGEST_WEIGHT, max(1, round(factor * each))) for each in best)


def _length(layout: Layout, block: Block) -> float:
    if block.level:
        return math.sqrt(1 << (layout.axes[block.columns[0]].halvings - block.level + 1))
    return float(layout.unit(block.columns))


def for_squares(part: Part) -> float:
    """The best scale where the squared length is bounded."""
    return (part.variance / part.square) ** 0.25


def for_sums(part: Part) -> float:
    """The best scale where the sum of absolute values is bounded."""
    return (part.variance / part.sum) ** (1.0 / 3.0)


def mean_variance(noise: Noise, single: float = 1.0) -> float:
    """The sum over all tables and margins of the mean variance of their cells; see `optimum`.

    `noise`: of what was measured. `single`: what the table of a single column counts, where a table of several counts
    1.
    """
    layout = noise.layout
    spread = [float(noise.axis_spread(place).mean()) for place in range(len(layout.axes))]
    total = 0.0
    for (which, level), part in parts_of(layout, single).items():
        if level:
            size = layout.axes[which[0]].fine // (layout.axes[which[0]].cells << (level - 1))
            total += part.variance * noise.halving_variance(which[0], level) / size
        else:
            factor = part.variance / part.square
            total += factor * noise.variances[which] * math.prod(spread[i] for i in which)
    return total


QUESTIONS, SAMPLES = "questions", "samples"  # What numbers may be cut for.
USUAL_BINS = 10
BINS_OFFERED = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
MOST_OFFERED = 8  # Halvings that are chosen at most.
# Standard deviations of noise that the average cell of a pair holds: the best guess, which looks at all pairs together,
# is nearer to the truth with pairs that noise half hides than without them.
SEEN = 1.0
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


class ToCut(Protocol):
    """What is asked of tables (`core.sketches.tables.tables`) that are to be cut and settled."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def domain(self) -> Domain: ...
    @property
    def bins(self) -> tuple[int, ...] | None: ...
    @property
    def halvings(self) -> tuple[int, ...] | None: ...
    @property
    def tables(self) -> Any: ...
    @property
    def cut_for(self) -> str: ...
    @property
    def axes(self) -> tuple[Axis, ...]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def is_cut(self) -> bool: ...
    def error(self, budget: Budget, single: float = 1.0) -> float: ...
    def counting(self, measured: str = "cells") -> Self: ...
    def measuring_contrasts(self, scale: Callable[[Part], float] = ..., single: float = 1.0) -> Self: ...


Cut = TypeVar("Cut", bound=ToCut)


def settled(sketch: Cut, budget: Budget, records: float) -> Cut:
    """With what is best to measure: residuals, or the tables with equal weights.

    Where cuts or tables are left open, they are chosen first, and with them how much single columns count.
    """
    single = 1.0
    if not sketch.is_cut:
        sketch = cut_by_noise(sketch, budget, records)
        single = singles_weight(sketch.tables, len(sketch.axes))
    # With few tables, Laplace noise may be the smaller one under a delta too.
    rules = [for_sums] if budget.pure else [for_squares, for_sums][: 2 if len(sketch.tables) <= FEW_TABLES else 1]
    residuals = [sketch.measuring_contrasts(rule, single) for rule in rules]
    candidates = [*residuals, *map(sketch.counting, ("cells", "margins"))]
    return min(candidates, key=lambda candidate: candidate.error(budget, single))


def cut_by_noise(sketch: Cut, budget: Budget, records: float) -> Cut:
    """With bins, halvings and tables: numbers as fine as leaves an average cell one deviation of noise, or as suits
    samples.
    """
    if sketch.tables is not None:
        return _finely(sketch, budget, records)
    sketch = replace(sketch, tables=all_pairs(len(sketch.axes)))
    return _finely(sketch if len(sketch.axes) < 3 else _with_fewer(sketch, budget, records), budget, records)


def cut_for_choice(sketch: Cut, budget: Budget, records: float) -> Cut:
    """With as many pairs as could be seen, and numbers cut as suits any pair, as others may be counted."""
    every = all_pairs(len(sketch.axes))
    fewer = _with_fewer(replace(sketch, tables=every), budget, records)
    return _finely(fewer, budget, records, every)


def _usual(sketch: Cut, bins: int) -> Cut:
    numbers = number_axes(sketch.domain)
    return replace(sketch, bins=sketch.bins or (bins,) * numbers, halvings=(0,) * numbers)


def _deviation(sketch: ToCut, budget: Budget) -> float:
    tried = sketch.counting() if budget.pure else sketch.measuring_contrasts()
    return math.sqrt(tried.error(budget) / (len(tried.layout.residuals) - 1))


def _cells(sketch: ToCut, tables: Sequence[Columns]) -> float:
    sides = [axis.cells for axis in sketch.axes]
    return float(np.mean([math.prod(sides[i] for i in table) for table in tables]))


def _with_fewer(sketch: Cut, budget: Budget, records: float) -> Cut:
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


def _finely(sketch: Cut, budget: Budget, records: float, others: Sequence[Columns] = ()) -> Cut:
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

    if sketch.bins is None and sketch.cut_for == SAMPLES:
        offered = BINS_OFFERED[: np.searchsorted(BINS_OFFERED, math.sqrt(MAX_COUNTERS / max(len(tables), 1)), "right")]
        found = bins_for_samples(lambda bins: _deviation(_usual(sketch, bins), budget), records, offered)
        sketch = replace(sketch, bins=(found,) * numbers)
    elif sketch.bins is None:
        bins = max((bins for bins in BINS_OFFERED if held(bins) >= 1.0), default=BINS_OFFERED[0])
        sketch = replace(sketch, bins=(bins,) * numbers)
    if sketch.halvings is None:
        finest = max(1.0, records / deviation)
        often = (int(min(MOST_OFFERED, max(0.0, math.log2(finest / bins)))) for bins in sketch.bins or ())
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
