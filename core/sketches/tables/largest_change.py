"""How far one record moves the table, in whole numbers: the largest L1 and squared L2 norms over all neighbours.

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

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np

from ...privacy.neighbours import Sensitivity
from .table_layout import Columns, Layout, Norms

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
