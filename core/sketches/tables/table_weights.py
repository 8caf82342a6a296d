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

How far one record moves the table, in whole numbers: the largest L1 and squared L2 norms over all neighbours.

Contrasts. A record in the cells x adds to the residual of columns R, of weight w, the product over R of its columns'
contrasts. Its squared length is w^2 times the product of those of the columns, c(x_i), so the sum over all R is largest
where each c(x_i) is, in every column at once: the maximum over records is exact, and so is that of the L1 norm.

Replaced, from x to y, a residual of columns that do not differ stays. Where those in D differ, it moves by

    w^2 prod_{R - D} c(x_i) ( prod_{R & D} c(x_i) + prod_{R & D} c(y_i) - 2 prod_{R & D} <x_i, y_i> )

in squared length, as inner products of products multiply. With one column in R & D the bracket is the squared distance
of its two cells, at most E_i; with more it is bounded by the largest c and by the extremes of the inner products, which
for contrasts of exactly equal length are -1/m: nothing is lost there but what whole numbers are off, a thousandth or
less. So the move is at most F(D), and the sensitivity at most the maximum of F over the sets D of columns that differ.
The worst D need not hold every column: two yes/no columns that both differ leave the contrast of the pair as it is.

For tables of up to two columns F(D) = sum over D of a_i - sum over pairs in D of k_ij. Up to `ENUMERATED` columns all D
are looked at; beyond, with k the least of all k_ij, F(D) <= sum over D of a_i - k |D| (|D| - 1) / 2, which is largest
for the |D| largest a_i: exact where all k_ij are equal, as they nearly are where all pairs have equal weight. Tables of
more columns are enumerated too, or each residual is bounded by its own worst D.

Halvings of fine cells, as contrasts. A record adds w or -w to one counter a level. Replaced, a column that moves to
another cell of the coarse axis changes two counters a level, and one that stays in it may begin to differ at any level:
there by 2 w in one counter, and below by w in two. In such a column nothing else moves.

Cells. A record adds w to one counter of each table, those of fine cells included: L1 = sum of w, L2^2 = sum of w^2.
Replaced, a table in which some column differs moves by w in two counters, so all do where all columns differ.

Where records may be left out, a replaced record may be one that is, so that the maximum is over adding and removing
too. Nothing here looks at records: all of it follows from the numbers of cells and the weights.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ...privacy.budget import Sensitivity
from .reading import Noise
from .table_layout import Block, Columns, Layout, Norms, parts_of_table

# The least weight that is not 1: whole numbers are within a hundredth of the best weights, which costs 1e-4.
FEWEST = 64
LARGEST_WEIGHT = 1 << 40


@dataclass(frozen=True)
class Part:
    """What the answers need of a block, per unit of squared scale."""

    variance: float  # v: what variance 1 in each of its unit contrasts adds to the sum of the tables' mean variances.
    # p and l: squared length, and sum of absolute values, of what a record adds.
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


ENUMERATED = 18  # Columns of which all sets are looked at.
ENUMERATED_OF_MORE = 10  # The same where tables have three columns or more.
# Of sums in floating point of at most a few hundred numbers, relative to the sum of their sizes: far above it.
ROUNDING = 2.0**-40


def added(layout: Layout, weights: Sequence[int]) -> Sensitivity:
    """How far a record moves the table that is added or removed."""
    l1 = l2_squared = 0
    unit = layout.measured != "contrasts" and all(weight == 1 for weight in weights)
    for block, weight in zip(layout.blocks, weights, strict=True):
        columns = block.columns if layout.measured == "contrasts" and not block.level else ()
        norms = [layout.contrasts[i].norms for i in columns]
        l1 += weight * math.prod(norm.sum for norm in norms)
        l2_squared += weight**2 * math.prod(norm.square for norm in norms)
    return Sensitivity(l1, l2_squared, unit_shifts=unit)


def replaced(layout: Layout, weights: Sequence[int], every_record: bool) -> Sensitivity:
    """How far a record moves the table that is replaced; ``every_record`` says that none can be left out."""
    once = added(layout, weights)
    l1 = 2 * once.l1  # of two records, each at most so long
    if layout.measured == "contrasts":
        l2_squared = _contrasts_moved(layout, weights)
    else:
        l2_squared = 2 * once.l2_squared  # of every table one counter falls and another rises
    if not every_record:
        l2_squared = max(l2_squared, once.l2_squared)
    l2_squared = min(l2_squared, 4 * once.l2_squared)  # two records, each at most so long
    return Sensitivity(min(l1, l2_squared), l2_squared, unit_shifts=once.unit_shifts)


def _halves_moved(layout: Layout, weights: Sequence[int], column: int) -> tuple[int, int]:
    """Largest squared move of a column's halvings: where its coarse cell differs, and where it does not."""
    levels = [w for b, w in zip(layout.blocks, weights, strict=True) if b.level and b.columns == (column,)]
    below, inside = 0, 0
    for weight in reversed(levels):
        inside = max(inside, below + 4 * weight**2)
        below += 2 * weight**2
    return below, inside


def _contrasts_moved(layout: Layout, weights: Sequence[int]) -> int:
    """The largest F(D), rounded up."""
    residuals = {block.columns: weight for block, weight in zip(layout.blocks, weights, strict=True) if not block.level}
    columns = [i for (i,) in layout.singles]
    norms = [contrasts.norms for contrasts in layout.contrasts]
    halves = {i: _halves_moved(layout, weights, i) for i in columns}
    staying = sum(inside for _, inside in halves.values())
    alone = {i: halves[i][0] - halves[i][1] for i in columns}
    if layout.order > 2:
        return staying + _of_more(residuals, columns, norms, alone)
    return staying + _of_pairs(residuals, columns, norms, alone)


def _of_pairs(
    residuals: Mapping[Columns, int], columns: Sequence[int], norms: Sequence[Norms], alone: Mapping[int, int]
) -> int:
    """The largest sum over D of a_i less the k_ij of the pairs in D; ``alone`` is what a column moves by itself."""
    gain = {i: alone[i] + residuals[(i,)] ** 2 * norms[i].moved for i in columns}
    both: dict[Columns, int] = {}
    for pair, weight in residuals.items():
        if len(pair) == 2:
            i, j = pair
            one, other = (weight**2 * moved_by(pair, {k}, norms) for k in pair)
            gain[i], gain[j] = gain[i] + one, gain[j] + other
            both[i, j] = one + other - weight**2 * moved_by(pair, {i, j}, norms)
    pairs = len(columns) * (len(columns) - 1) // 2
    least = min(both.values()) if len(both) == pairs and pairs else 0
    bound, so_far = 0, max(0, -least) * pairs
    for size, each in enumerate(sorted(gain.values(), reverse=True)):
        so_far += each - size * max(0, least)
        bound = max(bound, so_far)
    separately = sum(max(0, alone[i] + residuals[(i,)] ** 2 * norms[i].moved) for i in columns)
    for pair, weight in residuals.items():
        if len(pair) == 2:
            separately += weight**2 * max(moved_by(pair, moved, norms) for moved in ({pair[0]}, {pair[1]}, set(pair)))
    bound = min(bound, separately)
    return min(bound, _enumerated(columns, gain, both)) if len(columns) <= ENUMERATED else bound


def _enumerated(columns: Sequence[int], gain: Mapping[int, int], both: Mapping[Columns, int]) -> int:
    """The maximum over all sets of columns, in floating point and rounded up by more than its error."""
    values = np.zeros(1)
    for place, i in enumerate(columns):
        with_those = np.zeros(1)
        for j in columns[:place]:
            with_those = np.concatenate([with_those, with_those + float(both.get((j, i), 0))])
        values = np.concatenate([values, values + (float(gain[i]) - with_those)])
    sizes = sum(map(abs, gain.values())) + sum(map(abs, both.values()))
    return math.ceil(float(values.max()) + ROUNDING * float(sizes))


def _of_more(
    residuals: Mapping[Columns, int], columns: Sequence[int], norms: Sequence[Norms], alone: Mapping[int, int]
) -> int:
    """The largest F(D) for tables of any number of columns."""
    given = [(which, weight) for which, weight in residuals.items() if which]
    if len(columns) <= ENUMERATED_OF_MORE:
        sets = (set(moved) for size in range(len(columns) + 1) for moved in combinations(columns, size))
        return max(
            sum(alone[i] for i in moved) + sum(w**2 * moved_by(which, moved & set(which), norms) for which, w in given)
            for moved in sets
        )
    return sum(max(0, alone[i]) for i in columns) + sum(
        weight**2
        * max(
            moved_by(which, set(moved), norms)
            for size in range(1, len(which) + 1)
            for moved in combinations(which, size)
        )
        for which, weight in given
    )


def moved_by(which: Columns, moved: set[int], norms: Sequence[Norms]) -> int:
    """The most that a residual of weight 1 moves in squared length when these of its columns differ."""
    if not moved:
        return 0
    same = math.prod(norms[i].square for i in which if i not in moved)
    if len(moved) == 1:
        (only,) = moved
        return same * norms[only].moved
    sign = (-1) ** len(moved)
    corners = product(*((norms[i].least, norms[i].most) for i in sorted(moved)))
    inner = min(sign * math.prod(corner) for corner in corners)
    return same * (2 * math.prod(norms[i].square for i in moved) - 2 * inner)
