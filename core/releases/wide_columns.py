"""A warning, before anything is paid, that one column's range makes up nearly all of every distance that is summed."""

from __future__ import annotations

import warnings

from ..domain.domain import Widths, unlike_widths
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.registry import card_of

# What follows from distances between records; counts in cells and products of columns know none.
SUMMED = ("closeness", "distance")


def wide_column(sketch: LinearSketch | Adaptive) -> Widths | None:
    """The columns of which one drowns the other in a sketch, or in a part of it.

    None where none does, or its kernel has a bandwidth for each.
    """
    if sketch.parts:
        return next(filter(None, (wide_column(part.sketch) for part in sketch.parts)), None)
    one, _ = sketch.one_answer
    apart = isinstance(getattr(getattr(one, "kernel", None), "bandwidth", None), tuple)
    return None if apart or card_of(one).answers not in SUMMED else unlike_widths(one.domain)


def warn_of_wide_columns(sketch: LinearSketch | Adaptive) -> None:
    """Say it to whoever calls from Python."""
    widths = wide_column(sketch)
    if widths is not None:
        warnings.warn(
            f"The range of {widths.widest!r} is {widths.times:,.3g} times that of {widths.narrowest!r}, so nearly all "
            f"distance is along it, and noise that suits it drowns {widths.narrowest!r}; a Domain with scale='box' "
            "compares each column as a share of its bounds.",
            stacklevel=3,
        )
