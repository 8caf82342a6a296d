"""Bounds of a column that nobody can type, bought with a share of ε.

When a column's plausible range is not public knowledge, its quantiles can be released instead. The owner states a
range so generous that it is beyond doubt; a public grid cuts it into cells; the records are counted by cell; noise is
added to the counts; and the quantiles are read off the noisy counts, which is post-processing.

Sensitivity. For each of d columns a record adds 1 to one cell. So under add_remove a record moves the counts of a
column by 1 in L1, and of all columns by d; one that is replaced leaves one cell and enters another, which makes 2d.
The m records of one person can all lie in the same cells: L1 is m times, the squared L2 norm m² times as large. All
columns together are d disjoint blocks of equal sensitivity. The grid is a function of what the owner typed alone.

The order is that of every release: `plan_bounds` from public facts, the cost to the ledger, and only then noise. It is
kept by `release_bounds`, the one function here that draws noise: it takes the ledger's `spend` and calls it first.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...errors import RequestError
from ...runtime.parameters import check_choice, check_integer, check_number
from ..accounting import Cost
from ..budget import EACH_RECORD, Budget, Neighbours, PrivacyUnit, Sensitivity
from ..calibration import NoiseScale, calibrate
from ..noise.noise import add_noise
from ..noise.randomness import Source

# Standard deviations of noise that a tail must stand above before its end is believed; see `_first_above`.
CERTAINTY = 4.0


@dataclass(frozen=True)
class Grid:
    """A public partition of a generous range into cells.

    `low`, `high`: A range that surely holds every value; what lies outside counts in the outermost cells. `cells`:
    Number of cells. More are finer, and let more noise into a quantile. `spacing`: "linear": cells of equal width;
    "log": equal up to about ``unit`` from zero, then wider in proportion to the distance from zero, for ranges that
    span orders of magnitude. `unit`: For "log" only, a size below which differences do not matter.
    """

    low: float
    high: float
    cells: int = 256
    spacing: str = "linear"
    unit: float = 1.0

    def __post_init__(self) -> None:
        low = check_number(self.low, "The low end of a grid")
        high = check_number(self.high, "The high end of a grid")
        unit = check_number(self.unit, "The unit of a grid")
        check_integer(self.cells, "The number of cells of a grid", 8, 4096)
        check_choice(self.spacing, "The spacing of a grid", ("linear", "log"))
        if not low < high or not math.isfinite(high - low):
            raise RequestError("The low end of a grid must be below its high end, at a finite distance.")
        if not 1e-100 < unit < 1e100:
            raise RequestError("The unit of a grid must be above zero and finite.")
        if not (np.diff(self.edges) > 0).all():
            raise RequestError("The cells of the grid are too narrow for floating point; use fewer or a wider range.")

    @cached_property
    def edges(self) -> np.ndarray:
        """Ends of the cells, float64 (cells + 1,), increasing."""
        low, high = float(self.low), float(self.high)
        if self.spacing == "linear":
            return np.linspace(low, high, self.cells + 1)
        first, last = math.asinh(low / self.unit), math.asinh(high / self.unit)
        edges = self.unit * np.sinh(np.linspace(first, last, self.cells + 1))
        edges[[0, -1]] = low, high
        return edges

    def count(self, values: np.ndarray) -> np.ndarray:
        """Number of values in each cell, int64 (cells,); there must be no NaN among them."""
        places = np.searchsorted(self.edges, values, side="right") - 1
        return np.bincount(np.clip(places, 0, self.cells - 1), minlength=self.cells)


@dataclass(frozen=True)
class Bounds:
    """Released bounds of one column, rounded outward."""

    # The bounds.
    low: float
    high: float
    found: bool  # Whether there were records enough above the noise; otherwise the bounds are the grid's own ends.


@dataclass(frozen=True)
class BoundsPlan:
    """The noise of every count, and what it costs: decided from public facts."""

    noise: NoiseScale
    cost: Cost


def grid_sensitivity(columns: int, neighbours: Neighbours, unit: PrivacyUnit = EACH_RECORD) -> Sensitivity:
    """How far one person moves the counts of so many columns; see the proof at the top."""
    moved = columns if neighbours is Neighbours.ADD_REMOVE else 2 * columns
    return Sensitivity(moved, moved, parts=columns, unit_shifts=True).scaled(unit.records)


def plan_bounds(columns: int, budget: Budget, unit: PrivacyUnit = EACH_RECORD) -> BoundsPlan:
    """What the counts of so many columns cost, before any record is read."""
    sensitivity = grid_sensitivity(columns, budget.neighbours, unit)
    noise = calibrate(sensitivity, Fraction(budget.epsilon), Fraction(budget.delta))
    return BoundsPlan(noise, Cost.of([(sensitivity, noise)], budget.epsilon, budget.delta))


def release_bounds(
    grids: Sequence[Grid],
    counts: Sequence[np.ndarray],
    budget: Budget,
    unit: PrivacyUnit = EACH_RECORD,
    *,
    spend: Callable[[Cost], object],
    quantiles: tuple[float, float] = (0.01, 0.99),
    noise_source: Source | None = None,
) -> tuple[Bounds, ...]:
    """Spend the budget, add noise to the counts, and read the quantiles off them.

    RequestError when the quantiles make no sense, or from ``spend``; nothing was released.

    `grids`, `counts`: One a column; the counts, int64 (cells,), are exact and private. `spend`: Writes the cost to the
    ledger, durably, or raises; called before any noise exists. `quantiles`: Shares of the records below the low and
    below the high bound.
    """
    low, high = (check_number(share, "A quantile") for share in quantiles)
    if not 0 <= low < high <= 1:
        raise RequestError("The two quantiles must lie between 0 and 1, the lower one first.")
    if not grids or [len(one) for one in counts] != [grid.cells for grid in grids]:
        raise ValueError("Every column needs a grid and its counts.")
    planned = plan_bounds(len(grids), budget, unit)
    spend(planned.cost)
    noisy = [add_noise(np.asarray(one, dtype=np.int64), planned.noise, noise_source) for one in counts]
    error = math.sqrt(planned.noise.variance)
    return tuple(_bounds(grid, one, low, 1 - high, error) for grid, one in zip(grids, noisy, strict=True))


def _bounds(grid: Grid, noisy: np.ndarray, below: float, above: float, error: float) -> Bounds:
    """The ends that leave the shares ``below`` and ``above`` outside, from counts with noise of deviation ``error``."""
    counts = noisy.astype(np.float64)
    records = counts.sum()
    first = _first_above(counts, below * records, error)
    last = _first_above(counts[::-1], above * records, error)
    if first is None or last is None or first + last >= grid.cells:
        return Bounds(float(grid.low), float(grid.high), False)
    low, high = grid.edges[first], grid.edges[grid.cells - last]
    step = 10.0 ** math.floor(math.log10(high - low)) / 10
    outward = [float(f"{number * step:.12g}") for number in (math.floor(low / step), math.ceil(high / step))]
    # Twelve digits are too few for a narrow range far from zero; the edges themselves are public too.
    least, most = min(outward[0], float(low)), max(outward[1], float(high))
    return Bounds(max(least, float(grid.low)), min(most, float(grid.high)), True)


def _first_above(counts: np.ndarray, target: float, error: float) -> int | None:
    """Number of cells before the one in which the sum from the start passes the target; None when none does.

    A sum of j noisy counts has error √j · ``error``. Where that exceeds the target, a sum passes it by noise alone,
    long before the first record; so the sum has to stand ``CERTAINTY`` times its own error above zero as well. The end
    of a tail that is thinner than the noise is cut off: an honest bound, and not the grid's end.
    """
    sums = np.cumsum(counts)
    needed = np.maximum(target, CERTAINTY * error * np.sqrt(np.arange(1, len(counts) + 1)))
    passed = sums > needed
    return int(np.argmax(passed)) if passed.any() else None
