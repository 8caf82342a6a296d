"""Marginals of a Markov random field, by summing over one axis after the other (Koller, Friedman 2009, section 9.3).

The field's density is, up to a factor, the exponential of a sum of tables, one for each of some sets of axes. An axis
is summed over by joining the tables that have it and no others, so the order decides how large the joined ones get;
taken next is the axis whose joined table is smallest. In logarithms, so that nothing overflows; in plain arrays, as
every set of axes that is asked for would be a program of its own to a compiler.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Axes = tuple[int, ...]


def marginal(potentials: Mapping[Axes, np.ndarray], counts: Sequence[int], wanted: Axes, total: float) -> np.ndarray:
    """The marginal of some axes.

    Parameters
    ----------
    potentials : Mapping[tuple[int, ...], np.ndarray]
        Logarithms of the factors by their axes, in the shape of these; an axis that none has is uniform.
    counts : Sequence[int]
        Cells of each axis.
    wanted : tuple[int, ...]
        In increasing order.
    total : float
        What the cells add up to.

    Returns
    -------
    np.ndarray
        float64, in the shape of the wanted axes.
    """
    left = [_in_order(axes, table) for axes, table in potentials.items()]
    left += [((axis,), np.zeros(counts[axis])) for axis in wanted]
    hidden = {axis for axes, _ in left for axis in axes} - set(wanted)
    while hidden:
        axis = min(hidden, key=lambda axis: _joined_size(left, axis, counts))
        hidden.remove(axis)
        joined, table = _joined([factor for factor in left if axis in factor[0]])
        place = joined.index(axis)
        left = [factor for factor in left if axis not in factor[0]]
        left.append((joined[:place] + joined[place + 1 :], _summed(table, place)))
    _, table = _joined(left)
    shares = np.exp(table - table.max())
    return np.asarray(shares * (total / shares.sum()), np.float64)


def _in_order(axes: Axes, table: np.ndarray) -> tuple[Axes, np.ndarray]:
    order = np.argsort(axes)
    return tuple(axes[place] for place in order), np.asarray(table, np.float64).transpose(order)


def _joined_size(factors: Sequence[tuple[Axes, np.ndarray]], axis: int, counts: Sequence[int]) -> int:
    """Cells of the table of all axes that come with this one."""
    return math.prod(counts[other] for other in {other for axes, _ in factors if axis in axes for other in axes})


def _joined(factors: Sequence[tuple[Axes, np.ndarray]]) -> tuple[Axes, np.ndarray]:
    """The sum of tables on all of their axes, in increasing order."""
    axes = tuple(sorted({axis for own, _ in factors for axis in own}))
    total: np.ndarray = np.zeros(())
    for own, table in factors:
        sizes = iter(table.shape)
        total = total + table.reshape([next(sizes) if axis in own else 1 for axis in axes])
    return axes, total


def _summed(table: np.ndarray, place: int) -> np.ndarray:
    """The logarithm of the sum of exponentials along an axis."""
    most = table.max(axis=place, keepdims=True)
    return np.asarray(np.log(np.exp(table - most).sum(axis=place)) + most.squeeze(place))
