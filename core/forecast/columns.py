"""Which columns a sum of distances would say nothing about: its error along each of them, before anything is paid.

Distances add up over columns in their own units, and so do their errors. Where one column's range is a thousand times
another's, noise that hardly matters to the sum is all that is left of the narrow column's part.
"""

from __future__ import annotations

import math

from ..privacy.calibration import NoiseScale
from ..sketches.linear import LinearSketch
from ..words.numbers import percent

DROWNED, TIMES = 0.02, 10.0
"""A column is drowned when distances along it are known no better than to this share of its range, and those along
another column so many times better."""


def column_errors(sketch: LinearSketch, noise: NoiseScale, records: float) -> dict[str, float]:
    """Standard deviation of the average distance along each column alone, as a share of the column's range.

    Parameters
    ----------
    sketch : LinearSketch
        Of a settled size.
    noise : NoiseScale
        Of its counters.
    records : float
        How many there are at least.

    Returns
    -------
    dict[str, float]
        By the columns' names, in their order; empty where distances along columns are not told apart.
    """
    one, share = sketch.one_answer
    deviations = [math.sqrt(noise.variance * gain) for gain in one.column_gains]
    return {name: sd / (records * share) for name, sd in zip(one.domain.names, deviations, strict=False)}


def drowned_columns(errors: dict[str, float]) -> str:
    """A sentence about columns whose own distances the noise hides while it leaves another's clear; "" without any."""
    least = min(errors.values(), default=0.0)
    hidden = {name: error for name, error in errors.items() if error > max(DROWNED, TIMES * least)}
    if not hidden:
        return ""
    worst = max(hidden, key=hidden.__getitem__)
    clear = min(errors, key=errors.__getitem__)
    others = "" if len(hidden) == 1 else f" ({len(hidden) - 1} more {'is' if len(hidden) == 2 else 'are'} hidden too)"
    return (
        f"Along {worst!r} alone the average distance would be off by {percent(min(hidden[worst], 9.99))} of its "
        f"bounds, along {clear!r} by {percent(errors[clear])}{others}: measured in shares of their bounds, all "
        "columns are known alike."
    )
