"""A release around a bought centre: one budget pays for where everyone lies together, and for the table around it.

Records that differ little from each other, such as embeddings, all need noise for their whole length. Around a centre
that is close to all of them they are short, and so is the noise. Two readings: the first sums everyone, with noise from
a small share of the budget, and gives the centre (the pole of directions, the mean for moments); the second fills the
table around it. The centre goes into the release file as a public parameter, as it was paid for.

The second reading depends on what the first one gave, which sequential composition allows: epsilons add up, and so does
rho. Both noises are fixed and the whole cost is written to the ledger before any of them is drawn. That can be done, as
no sensitivity depends on the centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from ..engine.building import Building
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Number, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.classes import Classes
from ..sketches.distances.directions import Directions
from ..sketches.distances.moments import Moments
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan
from ..sources import Source
from .release import Release
from .seal import seal


@dataclass(frozen=True)
class CentrePurchase:
    """What is to be bought.

    Parameters
    ----------
    share : Number
        Part of epsilon, or of rho under (epsilon, delta), that pays for the centre; strictly between 0 and 1.
    radius : float | None
        For moments, the public radius of the first reading, in which records are still far from their centre; None is
        that of the whole box. Directions need none.
    """

    share: Number = "0.12"
    radius: float | None = None

    def __post_init__(self) -> None:
        share = exact_decimal(self.share, "The share of the centre")
        if not 0 < share < 1:
            raise RequestError("The share of the centre must lie strictly between 0 and 1, as the table has a cost.")
        object.__setattr__(self, "share", share)


@dataclass(frozen=True)
class CentredPlan:
    """How the budget is used, decided from public facts before any record is read.

    Attributes
    ----------
    sketch : LinearSketch
        The sketch, whose centre is still to be found.
    everyone : Directions | Moments
        The sketch of the first reading, of all records in one.
    centre_noise : NoiseScale
        Of every counter of the first reading.
    table : Plan
        Noise of the table and of the count; its cost is that of everything together, which the ledger gets.
    """

    sketch: LinearSketch
    everyone: Directions | Moments
    centre_noise: NoiseScale
    table: Plan


def plan_centred(sketch: LinearSketch, purchase: CentrePurchase, budget: Budget) -> CentredPlan:
    """Share the budget between the centre, the table around it and, where none is in it, a count.

    Parameters
    ----------
    sketch : LinearSketch
        Directions or moments, or classes of them; of a settled size.
    purchase, budget : CentrePurchase, Budget
        What is bought, and the promise of everything together.

    Raises
    ------
    RequestError
        When the sketch has no centre that could be bought.
    """
    everyone = _everyone(sketch, purchase)
    neighbours, promise = budget.neighbours, (Fraction(budget.epsilon), Fraction(budget.delta))
    first, table = everyone.sensitivity(neighbours), sketch.sensitivity(neighbours)
    count = sketch.count_sensitivity(neighbours)
    share = Fraction(purchase.share)
    pair = [(first, share), (table, 1 - share)]
    for_count = (1 - share) * sketch.count_share
    three = [(first, share), (table, 1 - share - for_count), (count, for_count)]
    centre_noise, alone = calibrate_shares(pair, *promise)
    _, noise, count_noise = calibrate_shares(three, *promise)
    public = sketch.count_is_public(neighbours)
    if public or sketch.total_variance(alone.variance) <= count_noise.variance:
        cost = Cost.of([(first, centre_noise), (table, alone)], budget.epsilon, budget.delta)
        return CentredPlan(sketch, everyone, centre_noise, Plan(alone, None, public, cost))
    cost = Cost.of([(first, centre_noise), (table, noise), (count, count_noise)], budget.epsilon, budget.delta)
    return CentredPlan(sketch, everyone, centre_noise, Plan(noise, count_noise, True, cost))


def release_centred(
    planned: CentredPlan,
    source: Source,
    budget: Budget,
    *,
    spend: Callable[[Cost], object] | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    noise_source: NoiseSource | None = None,
) -> Release:
    """Buy the centre, then release the table around it.

    The source is read twice. The first reading encodes every record as the second one will, so whatever has to be
    refused is refused before anything is spent.

    Parameters
    ----------
    planned, budget : CentredPlan, Budget
        See `plan_centred`.
    source : Source
        The private records.
    spend : Callable[[Cost], object] | None
        Writes the cost of everything to the ledger, durably, or raises; called once, before any noise is drawn.
    progress : Callable[[int], None]
        Called with the number of rows read so far, in both readings together.
    noise_source : NoiseSource | None
        None in any real release; see `core.releases.seal.seal`.

    Returns
    -------
    Release
        Its promise covers the centre that it shows.
    """
    rows = 0
    reading = Building(_with_inner(planned.sketch, planned.everyone), source)
    for read in reading:
        rows = read
        progress(rows)
    total = reading.exact.table
    # The slabs of classes add up to the table of everyone, which one record moves as it moves any one table.
    total = total.sum(axis=0) if isinstance(planned.sketch, Classes) else total
    check_drawable(planned.centre_noise, planned.table.noise, planned.table.count_noise)
    if spend is not None:
        spend(planned.table.cost)
    noisy = add_noise(total, planned.centre_noise, noise_source)
    sketch = _around(planned, noisy)
    if sketch.sensitivity(budget.neighbours) != planned.sketch.sensitivity(budget.neighbours):
        raise RuntimeError("The sensitivity of the table depends on its centre, so its noise cannot be fixed before.")
    building = Building(sketch, source)
    for read in building:
        progress(rows + read)
    return seal(sketch, building.exact, budget, noise_source=noise_source, planned=planned.table)


def _everyone(sketch: LinearSketch, purchase: CentrePurchase) -> Directions | Moments:
    inner = _inner(sketch)
    if isinstance(inner, Directions):
        return replace(inner, pole=None)
    if isinstance(inner, Moments):
        return replace(inner, radius=purchase.radius).for_mean()
    raise RequestError(f"A centre can be bought for directions and moments, and the mechanism {inner.name!r} has none.")


def _around(planned: CentredPlan, noisy) -> LinearSketch:
    """The sketch around what the noisy sums of everyone say."""
    inner, everyone = _inner(planned.sketch), planned.everyone
    if isinstance(everyone, Directions):
        return _with_inner(planned.sketch, replace(inner, pole=everyone.around(noisy).pole))
    mean = everyone.mean(noisy, everyone.total(noisy))
    return _with_inner(planned.sketch, replace(inner, centre=tuple(mean.tolist())))


def _inner(sketch: LinearSketch) -> LinearSketch:
    return sketch.inner if isinstance(sketch, Classes) else sketch


def _with_inner(sketch: LinearSketch, inner: LinearSketch) -> LinearSketch:
    return sketch.with_inner(inner) if isinstance(sketch, Classes) else inner
