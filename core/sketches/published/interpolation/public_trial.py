"""What trying a kernel at public places says of it, when a size is chosen."""

from __future__ import annotations

import numpy as np

from ....errors import RequestError

NOTHING = 1e-200
"""Squares below this are lost in those of rounding, and so is what is divided by them."""


def mean_square(closeness: np.ndarray, what: str) -> float:
    """The mean square of the kernel between public places, which errors are measured by.

    Raises
    ------
    RequestError
        When next to no two places are close at all, so that no size is better than another.
    """
    square = float((closeness**2).mean())
    if square < NOTHING:
        raise RequestError(
            f"The kernel is too narrow to find a size for {what}: it is zero nearly all over these bounds. Use a wider "
            "kernel, or say the size."
        )
    return square
