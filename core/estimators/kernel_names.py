"""Kernels and mechanisms by name, as estimators take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import cast

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Jaccard, Kernel
from ..geometry.kernels.composite import KERNELS
from ..privacy.budget import Budget
from ..releases.forecast.recommendation import Closeness, recommend
from ..releases.forecast.scales import by_coordinates, chosen_scales
from ..runtime.checks import check_choice
from ..sketches import mechanism_choice
from ..sketches.grids.histogram import Histogram
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_spec import PublicInputs
from ..sketches.registry import card, cards

# Kernels of points that are not made of others.
SINGLE = tuple(
    name
    for name, kernel in KERNELS.items()
    if kernel is not Jaccard and "parts" not in {field.name for field in fields(kernel)}
)


def mechanisms() -> tuple[str, ...]:
    """Names of the mechanisms for sums of kernels of points that may be recommended and named."""
    return tuple(
        name
        for name, card in cards().items()
        if card.recommended and card.command and card.answers == "closeness" and not card.sets
    )


def grid_of(domain: Domain, records: float, budget: Budget) -> Histogram | None:
    """A grid as fine as its noise allows, whose bandwidth is chosen when it is read; None for too many features."""
    columns = by_coordinates(domain)
    if columns is None:
        return None
    scales = chosen_scales(columns, budget, records)
    return Histogram(domain, scales.kernel, finest=scales.finest)


def kernel_of(kernel: str | Kernel, bandwidth: float | tuple[float, ...] | None) -> Kernel:
    """The kernel that is meant."""
    if isinstance(kernel, Kernel):
        if bandwidth is not None:
            raise RequestError("A kernel that is given whole has its bandwidth; leave the bandwidth out.")
        return kernel
    check_choice(kernel, "A kernel that is given by name", SINGLE)
    kind: Callable[..., Kernel] = KERNELS[kernel]
    if "bandwidth" not in {field.name for field in fields(KERNELS[kernel])}:
        return kind()
    if bandwidth is None:
        raise RequestError(
            f"The {kernel} kernel needs a bandwidth, the distance at which closeness fades; it is public, so it is not "
            "found from the data."
        )
    return kind(bandwidth)


def kernel_sketch(
    domain: Domain,
    kernel: Kernel,
    mechanism: str | None,
    rows: int | None,
    records: float | None,
    budget: Budget,
    seed: int | None,
) -> LinearSketch:
    """A sketch of kernel sums.

    Parameters
    ----------
    mechanism : str | None
        Its name; None takes what promises most by forecast, or, with a number of rows, RACE where the kernel has hashes
        and random features elsewhere.
    rows : int | None
        Of the sketch; None leaves them to the forecast.
    records : float | None
        A public guess of their number.

    Raises
    ------
    RequestError
        When the mechanism does not have the kernel, or none has.
    """
    if mechanism is None and rows is None:
        best = recommend(domain, records, budget, Closeness(kernel, seed=seed))[0]
        if best.sketch is None:
            raise RequestError(best.reason)
        return best.sketch
    if mechanism is None:
        mechanism = "race" if mechanism_choice.hashed(kernel) else "features"
    check_choice(mechanism, "The mechanism", mechanisms())
    chosen = card(mechanism)
    if rows is not None and "--rows" not in chosen.options:
        raise RequestError(f"{chosen.called[0].upper()}{chosen.called[1:]} has no rows; leave the rows out.")
    facts = PublicInputs(domain, budget, kernel, size=rows, seed=seed)
    return cast(LinearSketch, chosen.made_from(facts))  # what may be recommended chooses nothing
