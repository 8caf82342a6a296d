"""The promise of a file that shows bounds which were bought."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ..privacy.accounting import Cost
from ..privacy.budget import exact_decimal
from ..privacy.events import total_rho
from .release import Release


def covering_bounds(release: Release, costs: Iterable[Cost]) -> Release:
    """The release with a promise that covers its bounds too: whoever has its file has the bounds and the table.

    Parameters
    ----------
    release : Release
        Of one table.
    costs : Iterable[Cost]
        Of the bounds that it shows, each pure: what was paid for them, in whatever releases.
    """
    privacy, costs = release.privacy, list(costs)
    if not costs:
        return release
    # Added up as fractions, as decimals would be rounded to the digits of the present context.
    paid = sum((Fraction(cost.epsilon) for cost in costs), Fraction(0))
    epsilon, overlap = (
        exact_decimal(Fraction(own) + paid, "The promise") for own in (privacy.epsilon, privacy.overlap_epsilon)
    )
    rho = privacy.rho + total_rho(event for cost in costs for event in cost.events)
    return replace(release, privacy=replace(privacy, epsilon=epsilon, overlap_epsilon=overlap, rho=rho))
