"""From a sketch and a promise to what is released: the size of its table, how it is made, and a warning."""

from __future__ import annotations

import warnings
from typing import TypeVar, cast

from ..domain.domain import Widths, unlike_widths
from ..errors import RequestError
from ..privacy.budget import Budget
from ..privacy.noise.noise import check_drawable
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.parts import Parts
from ..sketches.registry import card_of
from .bounds_and_centre import BoundsPurchase, BoundsStage, CentrePurchase, CentreStage
from .forecast.forecast_shares import settle
from .forecast.sketch_sizes import choose_size
from .kind import Choosing, Kind, Plain, TablePlan


def with_chosen_size(sketch: LinearSketch | Adaptive, budget: Budget, records: float | None) -> LinearSketch | Adaptive:
    """The sketch with a size: its own, or the best one by forecast; and of several parts, with a share for each."""
    if sketch.parts:
        return settle(cast(Parts, sketch), budget, records)
    if sketch.sized:
        return sketch
    return choose_size(sketch, budget, records)


def kind_of(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    *,
    bounds: BoundsPurchase | None = None,
    centre: CentrePurchase | None = None,
    gaussian_only: bool = False,
) -> Kind | TablePlan:
    """How a sketch is released; its size is chosen by the forecast when it has none.

    `sketch`, `budget`: What is released, and the promise of everything together. `records`: A public number of records,
    for choosing the size of the table. `bounds`: Bounds to be bought with a share of the budget. `centre`: A centre to
    be bought with a share of the budget. `gaussian_only`: Whether no noise may be pure, by what was bought before it.
    """
    if bounds is not None and centre is not None:
        raise RequestError("Bounds and a centre cannot be bought in one release.")
    sketch = with_chosen_size(sketch, budget, records)
    if sketch.chooses:
        if bounds is not None or centre is not None:
            raise RequestError(
                f"Nothing can be bought in a release of {sketch.name!r} that chooses under its own promise: buy bounds "
                "before it, by themselves."
            )
        return priced(Choosing(sketch, budget))
    if sketch.parts and (bounds is not None or centre is not None):
        raise RequestError("Bounds and centres are bought for a release of one question, not of several parts.")
    if bounds is not None:
        return priced(TablePlan(BoundsStage(sketch, bounds, budget), budget))
    if centre is not None:
        return priced(TablePlan(CentreStage(sketch, centre, budget), budget))
    return priced(Plain(sketch, budget, gaussian_only=gaussian_only))


Priced = TypeVar("Priced", bound=Kind | TablePlan)


def priced(kind: Priced) -> Priced:
    """The same; RequestError when the promise cannot be kept or its noise cannot be drawn."""
    _ = kind.cost
    check_drawable(*kind.noises)
    return kind


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
