"""Records as whole-number vectors: read once, and no longer than a radius, each a function of that record alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..domain import Domain
from ..errors import RequestError

if TYPE_CHECKING:
    from ..sources import Source

MAX_NUMBERS = 1 << 27  # Records times coordinates that are held in memory, as they are all needed at every step.
BLOCK = 1 << 12  # Records that are turned into vectors at once, in a cache.


def gathered(
    source: Source, domain: Domain, width: int, encoded: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """All records, encoded, as vectors, int64 (n, width + 1), and what is predicted, int64 (n,)."""
    held, parts, codes = 0, [np.empty((0, width + 1), np.int64)], [np.empty(0, np.int64)]
    for batch in source.batches(domain):
        points = np.asarray(domain.encode(batch))
        held += len(points) * (width + 1)
        if held > MAX_NUMBERS:
            raise RequestError(
                f"Training holds all records in memory, at most {MAX_NUMBERS:,} numbers: give it fewer records or "
                "columns."
            )
        vectors, told = encoded(points)
        parts.append(vectors)
        codes.append(told)
    return np.concatenate(parts), np.concatenate(codes)


def block_by_block(work: Callable[[np.ndarray], np.ndarray], records: np.ndarray) -> np.ndarray:
    """What `work` makes of records (n, m), of each by itself: nothing on the way is as large as what is made."""
    made = work(records[:BLOCK])
    if len(records) > BLOCK:
        first, made = made, np.empty((len(records), *made.shape[1:]), made.dtype)
        made[:BLOCK] = first
        for start in range(BLOCK, len(records), BLOCK):
            made[start : start + BLOCK] = work(records[start : start + BLOCK])
    return made


def longest_features(radius: float, unit: int) -> int:
    """The largest squared length of features in units."""
    return math.floor((radius * unit) ** 2)


def whole_vectors(vectors: np.ndarray, radius: float, unit: int) -> np.ndarray:
    """Vectors (n, d + 1) in whole units, cut toward zero, features no longer than the radius.

    Each is a function of that record alone, bit for bit: sums are taken coordinate by coordinate, in their order. What
    is still too long by rounding moves one unit toward zero in every entry until it is not.
    """
    features = np.clip(vectors[:, 1:], -1.0, 1.0)
    squares = np.zeros(len(features))
    for column in features.T:
        squares += column * column
    factor = unit * np.minimum(1.0, radius / np.maximum(np.sqrt(squares), 1e-300))
    units = np.empty(vectors.shape, np.int64)
    units[:, 0] = unit
    for place, column in enumerate(features.T):
        units[:, place + 1] = column * factor
    most = longest_features(radius, unit)
    while (long := np.flatnonzero((units[:, 1:] ** 2).sum(axis=1) > most)).size:
        units[long, 1:] -= np.sign(units[long, 1:])
    return units
