"""The size of a table, where its owner names none."""

from __future__ import annotations

from ..forecast.sizing import choose_size
from ..privacy.budget import Budget
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch


def with_chosen_size(sketch: LinearSketch | Adaptive, budget: Budget, records: float | None) -> LinearSketch | Adaptive:
    """The sketch with a size: its own, or the best one by forecast."""
    if sketch.sized:
        return sketch
    return choose_size(sketch, budget, records)
