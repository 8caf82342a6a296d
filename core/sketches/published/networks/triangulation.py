"""In which order the axes of a Markov random field can be drawn: one after the other, each given few of those before.

Axes are taken out one at a time, each time the one whose table with its neighbours is smallest, and its neighbours are
joined to each other (greedy elimination). Back to front this is an order in which each axis depends on those neighbours
alone, exactly; the tables of an axis with them are those of a junction tree, and say how much the model has to hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

from ..grids.synthetic_records import Node


def drawing_order(counts: Sequence[int], cliques: Iterable[Sequence[int]]) -> tuple[Node, ...]:
    """Every axis after its parents, which are in increasing order.

    Parameters
    ----------
    counts : Sequence[int]
        Cells of each axis.
    cliques : Iterable[Sequence[int]]
        The axes of each marginal.
    """
    beside: dict[int, set[int]] = {axis: set() for axis in range(len(counts))}
    for clique in cliques:
        _join(beside, clique)
    taken: list[Node] = []
    while beside:
        axis = min(beside, key=lambda one: (math.prod(counts[i] for i in (one, *beside[one])), one))
        others = beside.pop(axis)
        for other in others:
            beside[other].remove(axis)
        _join(beside, others)
        taken.append((axis, tuple(sorted(others))))
    return tuple(reversed(taken))


def model_size(counts: Sequence[int], order: Iterable[Node]) -> int:
    """Cells of the tables of all axes with their parents."""
    return sum(math.prod(counts[i] for i in (axis, *parents)) for axis, parents in order)


def _join(beside: dict[int, set[int]], axes: Iterable[int]) -> None:
    for one, other in combinations(axes, 2):
        beside[one].add(other)
        beside[other].add(one)
