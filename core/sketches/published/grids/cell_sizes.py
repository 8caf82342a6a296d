"""How many cells a grid should have: those with the least expected error of a typical answer, from public facts alone.

Fewer cells add up less noise, and move records further to their centres. As for `core.sketches.grids.histogram`, a
typical answer is taken to be ten times that of records spread evenly over the bounds, and the records of a cell to lie
in one heap at an unknown place in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from ....geometry.kernels import Kernel
from ....privacy.budget import Budget
from ....privacy.calibration import calibrate
from ...grids.axes import along, is_product_of_columns
from ...grids.histogram_sizes import TYPICAL_CROWDING, reach
from .cells import Cells
from .grid_sketch import GridSketch

Sized = TypeVar("Sized", bound=GridSketch)
MOST_CELLS = 1 << 22
MOST_CELLS_OF_TERMS = 1 << 18
"""Cells of the largest grid that is chosen, and of one whose kernel is no single product of its columns."""
PITCHES = tuple(2.0 ** (-step / 2) for step in range(-4, 13))
"""Widths of cells that are tried, in reaches of the kernel."""
TOO_FAR = 4.0
"""Finer grids are not tried when the squared error of one is so many times the least."""
STEPS = 8
"""Places in a cell at which the kernel is compared with its centre's."""
OFFSETS = (0.5, 0.25, 0.0)
"""Places of a query in its cell, from its lower end."""


def best_cells(sketch: Sized, sized: Callable[[tuple[int, ...]], Sized], budget: Budget, records: float) -> Sized:
    """The sketch with the numbers of cells, one a coordinate of numbers, that suit the budget.

    Parameters
    ----------
    sketch : Sized
        Whose cells are not looked at.
    sized : Callable[[tuple[int, ...]], Sized]
        The sketch with given numbers of cells.
    budget : Budget
        The promise.
    records : float
        A public guess of their number.

    Raises
    ------
    RequestError
        When even the coarsest grid is too large.
    """
    coarsest = Cells.of(sketch.domain, sketch.metric, 1)
    most = MOST_CELLS if is_product_of_columns(sketch.kernel) else MOST_CELLS_OF_TERMS
    reaches = reaches_of(sketch.point_kernel, coarsest)
    tried: list[tuple[float, Sized]] = []
    last: tuple[int, ...] | None = None
    for pitch in PITCHES:
        counts = tuple(
            max(1, math.ceil((coarsest.axes[place].high - coarsest.axes[place].low) / (pitch * length)))
            for place, length in zip(coarsest.numeric, reaches, strict=True)
        )
        if tried and math.prod(counts) * coarsest.size > most:
            break
        if counts != last:
            last = counts
            candidate = sized(counts)
            tried.append((expected_error(candidate, budget, records), candidate))
        if tried[-1][0] > TOO_FAR * min(error for error, _ in tried):
            break
    return min(tried, key=lambda pair: pair[0])[1]


def reaches_of(kernel: Kernel, cells: Cells) -> tuple[float, ...]:
    """How far the kernel reaches along each axis of numbers; see `reach`. RequestError where that is too short."""
    axes = [cells.axes[place] for place in cells.numeric]
    return tuple(reach(kernel, cells.middle, axis.coordinate, axis.low, axis.high) for axis in axes)


def expected_error(sketch: GridSketch, budget: Budget, records: float) -> float:
    """Expected squared error of a typical answer, from noise and from moving records to the centres of their cells."""
    noise = calibrate(sketch.sensitivity(budget.neighbours), Fraction(budget.epsilon), Fraction(budget.delta))
    moved, evenly = discretisation(sketch.point_kernel, sketch.grid)
    typical = records * min(1.0, TYPICAL_CROWDING * evenly)
    gain = float(np.asarray(sketch.noise_variance(1.0, sketch.grid.middle[None]))[0])
    return noise.variance * gain + (moved * typical) ** 2


def discretisation(kernel: Kernel, cells: Cells) -> tuple[float, float]:
    """Standard error that cells give an answer among evenly spread records, relative to it; and their closeness.

    With the width h of the cells along an axis and e the difference between the kernel and its value at the centre, an
    axis contributes h (integral of e^2) / (integral of K)^2, times h (integral of K^2) / (integral of K)^2 for every
    other axis: heaps in different cells are independent, and K is taken to be the product of its profiles.

    Returns
    -------
    tuple[float, float]
        Relative error, and the average of the kernel over the bounds.
    """
    ratios, spread, evenly = [], 1.0, 1.0
    for axis in cells.axes:
        if axis.categories:
            evenly /= axis.count  # what other categories add is little, and a guess is all there is
            continue
        places = (np.arange(axis.count * STEPS) + 0.5) / STEPS
        queries = axis.positions(axis.count // 2 + np.array(OFFSETS))
        truth = along(kernel, cells.middle, axis.coordinate, queries, axis.positions(places))
        centre = along(kernel, cells.middle, axis.coordinate, queries, axis.positions(np.floor(places) + 0.5))
        whole = (truth.sum(axis=1) ** 2).mean() / STEPS
        here = (truth**2).sum(axis=1).mean() / whole
        ratios.append(((centre - truth) ** 2).sum(axis=1).mean() / whole / here)
        spread *= here
        evenly *= truth.mean()
    return math.sqrt(sum(ratios) * spread), evenly
