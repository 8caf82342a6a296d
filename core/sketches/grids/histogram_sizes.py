"""How many cells a histogram has: those with the least expected error of a typical answer, from public facts alone.

Coarser grids have less noise, as fewer counters are added up, and fit the kernel less well. A typical answer is taken
to be ten times that of records spread evenly over the bounds, and never less than a fifth of all records: bounds of
several columns may be so wide that evenly spread records would be alone, and whoever asks with a kernel expects it to
see somebody. To expect too much costs little, as the misfit of a spline falls with the fourth power of the pitch; to
expect too little made errors of five log-normal columns ten times what they are now. Records are taken to lie in heaps:
`Smoothing.discretisation`.
In one of three data sets many records share values: `Smoothing.crowded`. A kernel with a peak needs a finer grid for
those than for any others, which costs the others little: eight times as fine a grid has 1.4 times the noise in one
dimension, and a sixth of the error at a crowd. It also takes longer to read, so that is as fine as `READ_FAST` allows.

Columns with public steps may have a counter a value instead, which adds no error of a grid. That is tried for those
whose steps are widest against the kernel, for one more of them at a time, and taken where the expected error is less.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...domain import Categorical
from ...errors import RequestError
from ...geometry.kernels import Kernel
from ...privacy.budget import Budget
from .grid_axes import along, is_product_of_columns
from .smoothing import MAX_FITTED, MOST_WHOLE, Smoothing

if TYPE_CHECKING:
    from .histogram import Histogram

COUNTERS_OFFERED = 4_000_000  # Automatic sizes stop at tables of about this many counters, so that files stay small.
# Pitches tried for the coarser grid, in reaches of the kernel.
PITCHES = tuple(2.0 ** (-step / 4) for step in range(-5, 13, 2))
# Steps finer than this against the kernel's reach are no matter: a grid fits it as well with fewer counters.
FINEST_STEP = 1 / 64
MAX_HALVINGS = 7
LEAST_SHARE = 2.0**-10  # Least share of a record that a grid has: its counts are then rounded to 2^-22 of a record.
ENOUGH = 1.05  # Of sizes whose expected squared errors are that close to the least, the smallest table is chosen.
# A counter a value is taken up to so much more expected squared error, as no crowd at one value can add to it.
SURE = 1.5
# Of records with many shared values, the share at one of them; and of data sets, the share that has such records.
CROWD, CROWDED = 0.3, 1.0 / 3.0
# Cells along an axis up to which a grid is made finer for crowds alone: an answer takes milliseconds then.
READ_FAST = 8_192
TYPICAL_CROWDING = 10.0  # A typical answer is taken to be so many times that of records spread evenly over the bounds.
# Reaches of the kernel that bounds may be wide: to fit a finer grid takes minutes, and few of its cells hold anybody.
WIDEST = 12_000
# Beyond so many, one grid with two cells a reach is tried and no other.
WIDE = 4_096
LEAST_SEEN = 0.2  # Share of all records that a typical answer is taken to be at least.


def best_size(sketch: Histogram, budget: Budget, records: float) -> Histogram:
    """The sketch with the cells, and where they pay the coarse grid, that suit the budget.

    RequestError when the kernel is too narrow for any grid. `sketch`: A histogram; its cells are not looked at.
    `records`: A public guess of their number.
    """
    low, high = sketch.domain.bounds(sketch.metric)
    reaches = np.array(
        [reach(sketch.point_kernel, sketch.middle, place, low[place], high[place]) for place in sketch.numeric]
    )
    spans = (high - low)[list(sketch.numeric)]
    widest = float(np.max(spans / reaches, initial=0.0))
    if widest > WIDEST:
        raise RequestError(
            f"The kernel is too narrow for a histogram of these bounds: they are {widest:,.0f} times as wide as it "
            f"reaches, and {WIDEST:,} times can be filled; take a wider bandwidth or narrower bounds."
        )
    tried: list[tuple[float, Histogram]] = []
    for apart in _kept_apart(sketch, reaches):
        sure = SURE if apart.any() and all(apart[np.array(sketch.values) > 0]) else 1.0
        sizes = _tried(sketch, spans / reaches, apart, budget, records)
        tried += [(error / sure, sized) for error, sized in sizes]
    least = min(error for error, _ in tried)
    return min((sized for error, sized in tried if error <= ENOUGH * least), key=lambda sized: sized.shape)


def keeps_all_values(sketch: Histogram) -> bool:
    """Whether all columns have steps, and so few values that a table may hold every combination of them."""
    categories = [len(column.categories) for column in sketch.domain.columns if isinstance(column, Categorical)]
    return all(sketch.values) and math.prod([*sketch.values, *categories]) <= MOST_WHOLE


def _kept_apart(sketch: Histogram, reaches: np.ndarray) -> Iterator[np.ndarray]:
    """Which numeric coordinates have a counter a value, bool (numeric,): the widest steps first, one more each time."""
    values = np.array(sketch.values, dtype=np.int64)
    steps = np.where(values > 0, sketch.domain.spacings[list(sketch.numeric)] / reaches, 0.0)
    order = [place for place in np.argsort(-steps, kind="stable") if steps[place] > 0.0]
    if order and keeps_all_values(sketch) and not is_product_of_columns(sketch.kernel):
        yield values > 0
        return
    apart = np.zeros(len(values), dtype=bool)
    yield apart
    for place in order:
        if steps[place] < FINEST_STEP or math.prod(values[apart].tolist()) * values[place] > _most_counters(sketch):
            return
        apart = apart | (np.arange(len(values)) == place)
        yield apart


def _tried(
    sketch: Histogram, reaches: np.ndarray, apart: np.ndarray, budget: Budget, records: float
) -> list[tuple[float, Histogram]]:
    """Sizes with their expected squared errors, with cells for bounds so many reaches apart where values share them."""
    most = _most_counters(sketch)
    tried: list[tuple[float, Histogram]] = []
    wide = float(np.max(reaches[~apart], initial=0.0)) > WIDE
    for pitch in (0.5,) if wide else PITCHES if not apart.all() else PITCHES[:1]:
        coarse = np.where(apart, 0, np.maximum(np.ceil(reaches / pitch), 1.0)).astype(np.int64)
        errors: list[float] = []
        plain: list[float] = []
        for halvings in range(MAX_HALVINGS + 1 if sketch.numeric and not wide else 1):
            found = _with_grids(sketch, tuple((coarse << halvings).tolist()), halvings, budget)
            if found is None:
                continue
            sized, reading = found
            if tried and sized.shape[0] > most:
                break
            plain.append(_expected_error(sized, reading, budget, records))
            errors.append(plain[-1] + CROWDED * (reading.crowded(CROWD) * records) ** 2)
            tried.append((errors[-1], sized))
            slow = 2 * max(sized.cells or (0,)) > READ_FAST
            if errors[-1] > min(errors) or (slow and plain[-1] > min(plain)):  # a still finer grid only has more noise
                break
        if not errors or min(errors) > 2.0 * min(error for error, _ in tried):
            break
    return tried


def cells_for(sketch: Histogram) -> tuple[int, ...]:
    """Cells as wide as the bandwidth of a kernel along every axis: the coarsest grid that loses nothing of it.

    Where that is about as fine as the public steps of a column, every value has a counter of its own: 0 cells.
    """
    low, high = sketch.domain.bounds(sketch.metric)
    sizes = []
    for place, values in zip(sketch.numeric, sketch.values, strict=True):
        wide = reach(sketch.point_kernel, sketch.middle, place, low[place], high[place])
        cells = max(1, math.ceil((high - low)[place] / wide - 1e-6))
        sizes.append(0 if 0 < values <= 1.5 * cells else cells)
    return tuple(sizes)


def _most_counters(sketch: Histogram) -> int:
    single = len(sketch.domain.columns) == 1 and (not sketch.numeric or sketch.domain.dimensions == 1)
    if single or is_product_of_columns(sketch.kernel):
        return COUNTERS_OFFERED
    # A sum of products is read once a term, and any other kernel is evaluated on the whole grid for every answer.
    return MAX_FITTED


def _with_grids(
    sketch: Histogram, cells: tuple[int, ...], halvings: int, budget: Budget
) -> tuple[Histogram, Smoothing] | None:
    """The sketch with these grids, the noise of the two balanced; None where there are no two that differ.

    Beside it how the grids are read, which took long to profile and is profiled the same however they share a record.

    With the gains g of the grids and shares a of a record, noise of scale 1 under pure epsilon gives a variance of the
    sum of g / a^2, least for shares in proportion to g^(1/3). Noise for the L2 sensitivity grows with the root of the
    sum of a^2, and g^(1/4) is best. Under (epsilon, delta) it is the former where that noise is the smaller.
    """
    single = replace(sketch, cells=cells, halvings=0, fine=1.0)
    if halvings == 0:
        return single, single.smoothing
    if all(axis.coarser(halvings).apart for axis in single.axes):
        return None
    sized = replace(single, halvings=halvings, fine=0.5)
    power = 1 / 4 if sized.counter_noise(budget).distribution == "discrete_gaussian" else 1 / 3
    fine, coarse = (gain**power for gain in sized.smoothing.gains_along_axes)
    share = min(max(fine / (fine + coarse), LEAST_SHARE), 1.0 - LEAST_SHARE)
    return replace(sized, fine=share), sized.smoothing


def _expected_error(sketch: Histogram, reading: Smoothing, budget: Budget, records: float) -> float:
    gains = sum(g / s**2 for g, s in zip(reading.gains_along_axes, sketch.scales, strict=True))
    typical = records * min(1.0, max(LEAST_SEEN, TYPICAL_CROWDING * reading.evenly))
    return sketch.counter_noise(budget).variance * gains + (reading.discretisation * typical) ** 2


def reach(kernel: Kernel, middle: np.ndarray, coordinate: int, low: float, high: float) -> float:
    """The distance along a coordinate at which a kernel has fallen to exp(-1/2), a Gaussian's bandwidth.

    RequestError when the kernel is too narrow for any grid. `kernel`: of encoded points. `middle`: an encoded point in
    the middle of the bounds, float64 (d,). `coordinate`, `low`, `high`: which, and its bounds.
    """
    centre = (low + high) / 2.0
    distances = np.geomspace(1e-7, 10.0, 400) * (high - low)
    profile = along(kernel, middle, coordinate, np.array([centre]), centre + distances)[0]
    beyond = np.flatnonzero(profile < math.exp(-0.5))
    if len(beyond) == 0:
        return float(distances[-1])
    if beyond[0] == 0:
        raise RequestError(
            "The kernel is too narrow for a histogram of these bounds: it would need more than ten million cells a "
            "coordinate."
        )
    return float(distances[beyond[0]])
