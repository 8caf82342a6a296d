"""Equations of whole numbers, H θ = g, solved in floating point and judged in whole numbers.

H is a sum of products and a ridge λ on its diagonal, so it is at least λI, and whatever a solver has found is within
|Hθ - g|/λ of the solution. That distance is computed without error, and what was found is mended by what is left over
for as long as that gets smaller (iterative refinement; Higham 2002, chapter 12).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count

import numpy as np

from .certified_logistic import length_above, rounded_within

FIRST_DIGITS, MORE_DIGITS = 128, 64
"""Binary digits after the point of a solution, and how many more there are at every further level."""
LIMB_BITS = 24
"""Of a whole number that is multiplied with entries of records, below 2^14, and added up in 64 bits."""

Goal = Callable[[int], tuple[Sequence[Fraction], Fraction]]
"""A right-hand side at a level of precision, and how far it is off at most, in length."""


class Solver:
    """Solutions of H θ = g, H = products + ridge.

    Parameters
    ----------
    products : np.ndarray
        A sum of products of whole numbers, object (m, m).
    ridge : int
        λ, above 0.
    """

    def __init__(self, products: np.ndarray, ridge: int):
        self._matrix = products + ridge * np.eye(len(products), dtype=object)
        self._ridge = ridge
        self._inverse = np.linalg.inv(self._matrix.astype(float))

    def near(self, goal: Sequence[Fraction], level: int) -> tuple[list[Fraction], Fraction]:
        """A place near the solution, and how far it is off at most, in length."""
        digits = FIRST_DIGITS + MORE_DIGITS * level
        place, best = [0] * len(goal), ([Fraction(0)] * len(goal), length_above(goal) / self._ridge)
        while True:
            left = self._left(place, digits, goal)
            off = length_above(left) / self._ridge
            if off < best[1]:
                best = [Fraction(value, 1 << digits) for value in place], off
            largest = max(abs(one) for one in left)
            if not largest or (any(place) and 2 * off > best[1] and off > best[1]):
                return best
            move = self._inverse @ np.array([float(one / largest) for one in left])
            step = [round(Fraction(one) * largest * (1 << digits)) for one in move.tolist()]
            if not any(step):
                return best
            place = [value + one for value, one in zip(place, step, strict=True)]

    def _left(self, place: list[int], digits: int, goal: Sequence[Fraction]) -> list[Fraction]:
        """What a place leaves of the goal, exact."""
        reached = (self._matrix @ np.array(place, object)).tolist()
        return [one - Fraction(value, 1 << digits) for one, value in zip(goal, reached, strict=True)]

    def length_above(self, goal: Sequence[Fraction], within: Fraction) -> Fraction:
        """The length of the solution, rounded up by no more than `within` and 2^-30 of itself."""
        for level in count():
            place, off = self.near(goal, level)
            if 2 * off <= within:
                return length_above(place) + off
        raise RuntimeError("Levels never end.")

    def rounded(self, goal: Goal) -> list[int]:
        """The solution in multiples of 2^-20, rounded to nearest, for a goal that gets clearer from level to level."""
        for level in count():
            middle, unknown = goal(level)
            place, off = self.near(middle, level)
            found = rounded_within(place, off + unknown / self._ridge)
            if found is not None:
                return found
        raise RuntimeError("Levels never end.")


def whole_products(units: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Transposed whole numbers (n, m) times others (n, k), object (m, k): sums below 2^53, so float64 has them."""
    return np.asarray((units.T.astype(float) @ others.astype(float)).astype(np.int64).astype(object))


def wide_products(units: np.ndarray, numbers: Sequence[int]) -> list[int]:
    """Transposed entries (n, m) below 2^14 times whole numbers of any size, m of them, exact."""
    signs = np.array([-1 if one < 0 else 1 for one in numbers], np.int64)
    sizes, shift, total = [abs(one) for one in numbers], 0, [0] * units.shape[1]
    while any(sizes):
        limbs = np.array([one & ((1 << LIMB_BITS) - 1) for one in sizes], np.int64)
        total = [one + (part << shift) for one, part in zip(total, (units.T @ (signs * limbs)).tolist(), strict=True)]
        sizes, shift = [one >> LIMB_BITS for one in sizes], shift + LIMB_BITS
    return total


def is_positive_definite(matrix: np.ndarray) -> bool:
    """Whether all leading minors of a symmetric matrix of whole numbers, object (m, m), are above 0 (Sylvester).

    They are the pivots of elimination without fractions (Bareiss 1968).
    """
    rows, last = matrix.copy(), 1
    for place in range(len(rows)):
        pivot = rows[place, place]
        if pivot <= 0:
            return False
        below = rows[place + 1 :, place + 1 :] * pivot - np.outer(rows[place + 1 :, place], rows[place, place + 1 :])
        rows[place + 1 :, place + 1 :] = below // last
        last = pivot
    return True
