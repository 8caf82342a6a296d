"""The size of a table, where its owner names none."""

from __future__ import annotations

from typing import cast

from ..privacy.budget import Budget
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.parts import Parts
from .forecast.forecast_shares import settle
from .forecast.sketch_sizes import choose_size


def with_chosen_size(sketch: LinearSketch | Adaptive, budget: Budget, records: float | None) -> LinearSketch | Adaptive:
    """The sketch with a size: its own, or the best one by forecast; and of several parts, with a share for each."""
    if sketch.parts:
        return settle(cast(Parts, sketch), budget, records)
    if sketch.sized:
        return sketch
    return choose_size(sketch, budget, records)
