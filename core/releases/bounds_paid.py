"""The promise of a file that shows what was bought or chosen before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ..privacy.accounting import Cost
from ..privacy.budget import Budget, exact_decimal
from ..privacy.events import total_rho
from .manifest import BoughtCount
from .purchase_plan import Known
from .release import Release


def promised_with(budget: Budget, costs: Iterable[Cost]) -> Budget:
    """What a file promises that shows bounds which were paid for before it: the price, and theirs.

    Raises
    ------
    RequestError
        When no file can say so many digits.
    """
    paid = sum((Fraction(cost.epsilon) for cost in costs), Fraction(budget.epsilon))
    return replace(budget, epsilon=exact_decimal(paid, "The promise"))


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


def showing(release: Release, known: Known | None) -> Release:
    """The release with what was bought before it: its promise covers that, and it keeps the count of its own records.

    A count of other records, as where bounds that were bought since leave some out, is not kept.
    """
    if known is None:
        return release
    count, release = known.of("count"), covering_bounds(release, known.costs)
    if count is None or count.noise is None or count.noisy is None or count.of is None:
        return release
    counts_the_same = replace(count.of, scale=release.domain.scale) == release.domain
    return replace(release, counted_before=BoughtCount(count.noisy, count.noise)) if counts_the_same else release


def promising(release: Release, budget: Budget, rho: Fraction) -> Release:
    """The release with a promise that covers that it was chosen among others, which were paid for as well.

    Parameters
    ----------
    release : Release
        Of one table.
    budget : Budget
        The promise of everything together.
    rho : Fraction
        The zCDP of everything together.
    """
    whole = replace(
        release.privacy,
        epsilon=budget.epsilon,
        delta=budget.delta,
        overlap_epsilon=budget.epsilon,
        overlap_delta=budget.delta,
        rho=max(rho, release.privacy.rho),
    )
    return replace(release, privacy=whole)
