"""How finely numbers are cut, and which pairs of columns are counted, from public sizes alone.

All pairs of many columns share one promise, and the noise in each grows as the root of how many there are. With few
people that hides them all, single columns too. So the pairs are put in a public order, those of few cells first and
among equal ones those of the columns that come first, and the longest beginning of it is counted in whose average cell
people are as many as noise, where that is forecast to bring all pairs together nearer to the truth (`_worth_it`), and
none otherwise. Nothing of this looks at a record: whatever decides, the number of records too, is what the owner said.

Single columns are asked more often than any one pair. Where pairs outnumber them, all single columns together weigh as
much as all pairs do, which costs pairs a few per cent and makes means and shares about half as wide. And beyond an
error that is small enough (`ENOUGH`), pairs may not make that of singles larger by more than a quarter (`SPARED`).

Where records will be drawn from the tables, and models trained on them, numbers are cut by another forecast.

What a reader asks of a table, a count in a range, has the less error the finer its cells. What a model learns from
drawn records is how columns hang together, and noise in many cells buries that: what is left over of it in cells where
nobody is makes records that do not exist. So the forecast is another one. Of two columns that hang together, half-way
or closely, as a normal population in bounds of three deviations does, the released pair is made up with the noise that
every cell will have, and its best guess taken; the error is that of the mean of one column given the other, as a model
would learn it from records drawn in these cells, and the number of cells with the least is taken. Nothing of it is read
from records.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from scipy.special import ndtr

from ...domain import Domain
from ...errors import RequestError
from ...privacy.budget import Budget, Sensitivity
from ...privacy.calibration import calibrate
from .expected_counts import moved_to, towards
from .table_axes import Axis, is_number, number_axes, steps_of
from .table_layout import Columns, Layout, largest
from .table_weights import Part, for_squares, for_sums, singles_weight

QUESTIONS, SAMPLES = "questions", "samples"  # What numbers may be cut for.
USUAL_BINS = 10
BINS_OFFERED = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
TIED = (0.5, 0.9)  # Correlations of the made-up columns.
WIDE = 3.0  # Standard deviations from the middle to the bounds.
PLACES = 32  # Of the other column, in each cell, at which the mean is compared.
DRAWS = 3  # Of made-up noise, from a public seed.
FEWEST_CHOSEN = 3  # Columns among whose pairs there is a choice.
FEW_VALUES = 7  # Of a number, such as an answer from 1 to 5: each is a cell in all tables.
MOST_OFFERED = 8  # Halvings that are chosen at most.
# Standard deviations of noise that the average cell of a pair holds: the best guess, which looks at all pairs together,
# is nearer to the truth with pairs that noise half hides than without them. And Cramer's V of two columns, commonly.
SEEN, COMMONLY = 1.0, 0.15
# The error of a single column is small enough where it is this part of the records, ± 1.5% with 95%: it is in every
# pair too. Beyond it, pairs may make it so many times as large as without them, which leaves them a third of a promise.
ENOUGH, SPARED = 0.0075, 1.25
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
        single = weight_for(sketch, budget, records)
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
    if len(sketch.axes) >= FEWEST_CHOSEN:
        fewer = _with_fewer(sketch, budget, records)
        some = any(len(table) > 1 for table in fewer.tables)
        sketch = fewer if some and _worth_it(fewer, budget, records) else _alone(sketch)
    return _finely(sketch, budget, records)


def cut_for_choice(sketch: Cut, budget: Budget, records: float) -> Cut:
    """With as many pairs as could be seen, and numbers cut as suits any pair, as others may be counted."""
    every = all_pairs(len(sketch.axes))
    fewer = _with_fewer(replace(sketch, tables=every), budget, records)
    return _finely(fewer, budget, records, every)


def weight_for(sketch: ToCut, budget: Budget, records: float) -> float:
    """What a single column counts beside the tables of several that there are."""
    alone = _alone(_usual(sketch, BINS_OFFERED[0]))
    spared = max(SPARED, ENOUGH * records / _deviations(alone, budget)[0])
    return singles_weight(sketch.tables, [axis.cells for axis in sketch.axes], spared, budget.pure)


def _alone(sketch: Cut) -> Cut:
    """With every column by itself."""
    return replace(sketch, tables=tuple((place,) for place in range(len(sketch.axes))))


def _usual(sketch: Cut, bins: int) -> Cut:
    return replace(sketch, bins=sketch.bins or _bins(sketch, bins), halvings=(0,) * number_axes(sketch.domain))


def _bins(sketch: ToCut, bins: int) -> tuple[int, ...]:
    """So many of each coordinate of numbers, or as many as it has values, where these are few."""
    columns = [column for column in sketch.domain.columns if is_number(column) for _ in range(column.width)]
    values = [steps.count if (steps := steps_of(column)) else math.inf for column in columns]
    return tuple(max(bins, int(count)) if count <= FEW_VALUES else bins for count in values)


def _deviations(sketch: ToCut, budget: Budget, single: float = 1.0) -> tuple[float, float]:
    """Of the noise in an average cell of a single column, and of a table of several, which is 0 where there is none."""
    tried = sketch.counting() if budget.pure else sketch.measuring_contrasts(single=single)
    several = tried.error(budget, 0.0)
    columns = len(tried.layout.singles)
    residuals = len(tried.layout.residuals) - 1 - columns
    return math.sqrt((tried.error(budget) - several) / columns), math.sqrt(several / max(1, residuals))


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
        _, noise = _deviations(tried, budget, weight_for(tried, budget, records))
        held = records / noise / _cells(coarse, order[:number])
        if held >= SEEN:
            break
        number = min(number - 1, int(number * (held / SEEN) ** (1.0 if budget.pure else 2.0)))
    return replace(sketch, tables=with_singles(order[:number], len(sides)))


def _worth_it(sketch: Cut, budget: Budget, records: float) -> bool:
    """Whether all pairs together are expected to be nearer to the truth when those of a sketch are counted.

    What two columns with Cramer's V have beyond their margins has V^2 (m - 1) n^2 / (a b) as its sum of squares, D. A
    count with noise N in all of its cells leaves N D / (N + D) of it. The noise that pairs bring to single columns is
    in every pair, counted or not, twice.
    """
    coarse = _usual(sketch, BINS_OFFERED[0])
    alone, _ = _deviations(_alone(coarse), budget)
    beside, noise = _deviations(coarse, budget, weight_for(coarse, budget, records))
    sides = np.array([[coarse.axes[place].cells for place in table] for table in coarse.tables if len(table) == 2])
    cells = sides.prod(axis=1).astype(float)
    beyond = (COMMONLY * records) ** 2 * (sides.min(axis=1) - 1.0) / cells
    gained = float((beyond**2 / (beyond + cells * noise**2)).sum())
    return gained > 2.0 * math.comb(len(coarse.axes), 2) * (beside**2 - alone**2)


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
    usual = _usual(sketch, USUAL_BINS)
    alone, noise = _deviations(usual, budget, weight_for(usual, budget, records))
    cut = {place for place, axis in enumerate(sketch.axes) if is_number(axis.column)}
    tables = others or sketch.tables
    several = [table for table in tables if len(table) > 1 and set(table) & cut]
    paired = several or [table for table in tables if set(table) & cut] or list(tables)
    unpaired = replace(sketch, tables=((0,),))  # is checked at once, however many tables there are

    def held(bins: int) -> float:
        """Records in the average cell, in standard deviations."""
        return records / ((several and noise) or alone) / _cells(_usual(unpaired, bins), paired)

    if sketch.bins is None and sketch.cut_for == SAMPLES:
        offered = BINS_OFFERED[: np.searchsorted(BINS_OFFERED, math.sqrt(MAX_COUNTERS / max(len(tables), 1)), "right")]
        found = bins_for_samples(lambda bins: max(_deviations(_usual(sketch, bins), budget)), records, offered)
        sketch = replace(sketch, bins=(found,) * number_axes(sketch.domain))
    elif sketch.bins is None:
        bins = max((bins for bins in BINS_OFFERED if held(bins) >= 1.0), default=BINS_OFFERED[0])
        sketch = replace(sketch, bins=_bins(sketch, bins))
    if sketch.halvings is None:
        finest = max(1.0, records / alone)
        often = (int(min(MOST_OFFERED, max(0.0, math.log2(finest / bins)))) for bins in sketch.bins or ())
        sketch = replace(sketch, halvings=tuple(often))
    return sketch


def bins_for_samples(deviation: Callable[[int], float], records: float, offered: tuple[int, ...]) -> int:
    """Into how many cells a number is cut, of those that are offered in rising order.

    `deviation`: Of the noise in a cell of a pair, by how many cells each column has.
    """
    best, least = offered[0], math.inf
    for bins in offered:
        error = float(np.mean([learnt_error(bins, deviation(bins), records, tied) for tied in TIED]))
        if error > 2.0 * least:  # the more cells, the more noise
            break
        if error < least:
            best, least = bins, error
    return best


def learnt_error(bins: int, deviation: float, records: float, tied: float) -> float:
    """The mean squared error of a mean given another column, in squared deviations of the column."""
    places, weights, shares = _population(bins, tied)
    counts = records * shares
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    middles = (np.arange(bins) + 0.5) / bins * 2.0 * WIDE - WIDE
    random, errors = np.random.default_rng(0), []
    for _ in range(DRAWS):
        # Nothing is hidden by this noise: a made-up table is made as inexact as a released one would be.
        found = counts + random.normal(0.0, deviation, counts.shape)
        shrunk, uncertain = towards(found, (np.outer(rows, columns) / records,), deviation**2)
        guess = moved_to(shrunk, uncertain, {(0,): rows, (1,): columns})
        means = guess @ middles / np.maximum(guess.sum(axis=1), 1e-9)
        errors.append(float(weights @ (np.repeat(means, PLACES) - tied * places) ** 2))
    return float(np.mean(errors))


def _population(bins: int, tied: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of one normal column and their weights, and the shares of the cells of both together."""
    places = (np.arange(bins * PLACES) + 0.5) / (bins * PLACES) * 2.0 * WIDE - WIDE
    weights = np.exp(-(places**2) / 2.0)
    weights /= weights.sum()
    edges = np.linspace(-WIDE, WIDE, bins + 1)
    edges[[0, -1]] = -math.inf, math.inf
    inside = np.diff(ndtr((edges - tied * places[:, None]) / math.sqrt(1.0 - tied**2)), axis=1)
    return places, weights, (weights[:, None] * inside).reshape(bins, PLACES, bins).sum(axis=1)


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
