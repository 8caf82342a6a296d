"""How often records share a cell with a query: the mean over all tables, which every mechanism can be asked.

A cell of a table has its share of every margin, so the mean of the tables is a weighted sum of residuals.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from .layout import Columns, Layout
from .reading import Noise, Reading


def shares_of(layout: Layout) -> dict[Columns, float]:
    """What each residual counts in the mean of the tables."""
    shares = dict.fromkeys(layout.residuals, 0.0)
    for table in layout.tables:
        for size in range(len(table) + 1):
            for part in combinations(table, size):
                others = math.prod(layout.axes[i].cells for i in table if i not in part)
                shares[part] += 1.0 / (others * len(layout.tables))
    return shares


def shared(reading: Reading, shares: dict[Columns, float], cells: np.ndarray) -> np.ndarray:
    """The estimates at queries, by the coarse cell of each along each axis, (axes, n) to (n,)."""
    sums = np.zeros(cells.shape[1])
    for which, factor in shares.items():
        sums += factor * reading.residual(which)[tuple(cells[i] for i in which)]
    return sums


def variances(noise: Noise, shares: dict[Columns, float], cells: np.ndarray) -> np.ndarray:
    """Of `shared`, float64 (n,)."""
    spread = [noise.axis_spread(place) for place in range(len(noise.layout.axes))]
    total = np.zeros(cells.shape[1])
    for which, factor in shares.items():
        term = np.full(cells.shape[1], factor**2 * noise.variances[which])
        for place in which:
            term *= spread[place][cells[place]]
        total += term
    return total


def average_variance(noise: Noise, shares: dict[Columns, float]) -> float:
    """Of `shared`, over all cells alike."""
    spread = [float(noise.axis_spread(place).mean()) for place in range(len(noise.layout.axes))]
    return sum(
        factor**2 * noise.variances[which] * math.prod(spread[i] for i in which) for which, factor in shares.items()
    )
