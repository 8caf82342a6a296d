"""The weights of residuals, tables and halvings for which answers are best: closed forms.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .reading import Noise
from .table_layout import Block, Columns, Layout, parts_of_table

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


def singles_weight(
    tables: Sequence[Columns], sides: Sequence[int], spared: float = math.inf, pure: bool = False
) -> float:
    """What a single column counts beside a table of several: all together as much as these, or more, to spare them.

    Blocks of squared length p and weight v take s^2 p of a promise, s^2 = sqrt(v / p). So with S of what singles take
    at weight 1, and P of what tables of several do, the error of singles is sqrt(1 + P / (S sqrt(w))) times what it
    would be without these; under a pure promise about 1 + P / (S w^(1/3)).

    `sides`: cells of every column. `spared`: how many times as large as without tables of several it may be.
    """
    several = [table for table in tables if len(table) > 1]
    free = 1.0 - 1.0 / np.array(sides)
    dearer = sum(math.prod(free[place] for place in table) for table in several) / float(free.sum())
    least = (dearer / (spared - 1.0)) ** 3 if pure else (dearer / (spared**2 - 1.0)) ** 2
    return max(1.0, len(several) / len(sides), least)
