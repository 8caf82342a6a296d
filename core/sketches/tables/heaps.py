"""Where a quantile lies in a cell that a heap of equal values fills: at the roundest number in the cell.

Records are taken to be spread evenly over a cell, which many equal values are not: half of all are at one place then,
and a number read off between the cell's ends is as many records off. People heap at round numbers, 0 the roundest
of all. A cell is taken for a heap where three things are seen beyond doubt in counts that are released: it holds three
times as many as a smooth course through the cells on either side could; both are looked at as widely as noise needs to
tell them from nothing; and no less than a tenth of what it holds lies elsewhere, as bounds much too wide put everybody
into one cell. The interval of the quantile stays the cell, so a heap at another number costs no more than before.
"""

from __future__ import annotations

import math

import numpy as np

TIMES = 3.0  # As many as a smooth course would have, that a heap has.
ELSEWHERE = 1.0 / 9.0  # Of those in the heap, how many lie in other cells at least.
DIGITS = 15  # Of a round number at most.


def heaped(counts: np.ndarray, cell: int, doubt: float) -> bool:
    """Whether a cell holds a heap for certain.

    `counts`: released records of each cell, none below 0, float64 (cells,). `cell`: which one. `doubt`: how far off its
    own may be.
    """
    own = float(counts[cell])
    if own <= 2.0 * doubt or float(counts.sum()) - own < ELSEWHERE * own:
        return False
    smooth = max(_smooth(side, doubt) for side in (counts[:cell][::-1], counts[cell + 1 :]))
    return own - doubt > TIMES * smooth


def _smooth(beside: np.ndarray, doubt: float) -> float:
    """How many a cell would hold where the course of those on one side of it, the nearest first, went on."""
    wide = 1
    while 2 * wide <= len(beside):
        near, far = float(beside[:wide].sum()), float(beside[wide : 2 * wide].sum())
        if near > 2.0 * doubt:  # a course that falls from here on rises towards the cell, up to twice as steeply
            return near / wide * max(1.0, near / max(far, doubt, 1e-9)) ** (1.0 + 1.0 / wide)
        wide *= 2
    return float(beside.sum()) / max(len(beside), 1)


def roundest(low: float, high: float, near: float, step: float = 0.0) -> float:
    """The roundest number from ``low`` to below ``high``, of some as round the nearest to ``near``.

    `step`: where above 0, only ``low`` and what lies whole steps above it may occur. ``near`` where no number is round.
    """
    if low <= 0.0 < high and _occurs(0.0, low, step):
        return 0.0
    power = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    for digits in range(DIGITS):
        for leading in (5.0, 2.0, 1.0):
            size = leading * 10.0 ** (power - digits)
            first, last = math.ceil(low / size - 1e-9), math.ceil(high / size - 1e-9) - 1
            number = size * min(max(math.floor(near / size + 0.5), first), last)
            if first <= last and _occurs(number, low, step):
                return number
    return near


def _occurs(number: float, low: float, step: float) -> bool:
    steps = (number - low) / step if step else 0.0
    return abs(steps - math.floor(steps + 0.5)) < 1e-6
