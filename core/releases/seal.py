"""From an exact table to a noisy one.

The order is the heart of the matter: calibrate from public facts, write the cost to the ledger, and only then draw
noise. A crash in between loses budget, never privacy. What a file promises covers whatever was bought or chosen before
it and is shown by it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..privacy.accounting import Cost, admits_each
from ..privacy.budget import Budget, exact_decimal
from ..privacy.calibration import NoiseScale, round_up
from ..privacy.composition import total_rho
from ..privacy.noise.noise import add_noise, check_drawable, has_room
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.record import BoughtCount, PrivacyRecord
from ..runtime.environment import SOFTWARE, now
from ..sketches.linear import LinearSketch
from ..sketches.plan import Planned, planned_for
from ..sketches.registry import card_of
from .engine.building import ExactTable
from .release import Release
from .stages import Known


def seal(
    sketch: LinearSketch,
    exact: ExactTable,
    budget: Budget,
    spend: Callable[[Cost], object] | None = None,
    noise_source: NoiseSource | None = None,
    planned: Planned | None = None,
) -> Release:
    """Spend the budget, then draw the noise, once.

    The noise is written over the exact table, which it uses up: hand in ``exact.copy()`` where it is needed again.

    RuntimeError when the exact table is used up already, or the plan's noise does not keep the promise for this sketch;
    nothing was spent.

    `sketch`, `exact`: The public map, and the sums of all records under it. `spend`: Writes the cost to a ledger,
    durably, or raises; called before any noise exists. `planned`: The plan, when it was made before the sketch was
    known to its last detail; made here otherwise.
    """
    planned = planned_for(sketch, budget) if planned is None else planned
    promise(sketch, planned, budget)
    check_drawable(*planned.noises, *planned.count_noises)
    return noised(sketch, paid_for(exact, planned.cost, spend), planned, budget, noise_source)


def paid_for(
    exact: ExactTable, cost: Cost, spend: Callable[[Cost], object] | None
) -> tuple[np.ndarray, int | np.ndarray]:
    """The exact table and its number of records, for who draws their noise, once their price is written down.

    They are taken before they are paid for, so that nobody else can pay for the same table meanwhile, and given back
    where the ledger refuses.
    """
    held = exact.use_up()
    if spend is not None:
        try:
            spend(cost)
        except BaseException:
            exact.give_back(held)
            raise
    return held


def noised(
    sketch: LinearSketch,
    held: tuple[np.ndarray, int | np.ndarray],
    planned: Planned,
    budget: Budget,
    noise_source: NoiseSource | None,
) -> Release:
    """The release of exact sums that were paid for, which are gone afterwards.

    Where there are several tables, they lie side by side in one, and each gets its own noise in its place.
    """
    privacy = promise(sketch, planned, budget)
    table, records = held
    if len(planned.noises) == 1 and not sketch.parts:
        table = _with_noise(table, planned.noises[0], noise_source)
    else:
        for part, scale in zip(sketch.split(table), planned.noises, strict=True):
            add_noise(part, scale, noise_source, part)
    if not planned.count_noises:
        return sealed(sketch, table, None, privacy, noise_source)
    # A vector, as noise is drawn for tables and one number is not one.
    count = np.array(records, dtype=np.int64).reshape(-1)
    for numbers, noise in zip(sketch.split_count(count), planned.count_noises, strict=True):
        if noise is not None:
            add_noise(numbers, noise, noise_source, numbers)
    count = count.reshape(sketch.count_shape)
    return sealed(sketch, table, count if sketch.count_shape else int(count), privacy, noise_source)


def sealed(
    sketch: LinearSketch,
    table: np.ndarray,
    count: int | np.ndarray | None,
    privacy: PrivacyRecord,
    noise_source: NoiseSource | None,
    chose: bool = False,
) -> Release:
    """The release of a table and a count that have their noise; `chose`: Whether choices under noise were paid for."""
    private = noise_source is None or noise_source.private
    choice = card_of(sketch).choice
    said = chose if choice is not None and choice.made(sketch) else None
    return Release(sketch, table, count, privacy, private, now(), SOFTWARE, chose=said)


def promise(sketch: LinearSketch, planned: Planned, budget: Budget) -> PrivacyRecord:
    """What a release of this sketch under this plan promises.

    RuntimeError when one person moves this sketch further than the plan's noise covers, or something else was paid for.
    """
    privacy = PrivacyRecord(
        budget.epsilon,
        budget.delta,
        budget.neighbours,
        sketch.domain.unit,
        planned.noises,
        tuple(noise for noise in planned.count_noises if noise is not None),
        # A sum of many fractions would be a text of hundreds of digits in every file.
        planned.cost.rho if len(planned.noises) == 1 else round_up(planned.cost.rho),
        budget.epsilon,
        budget.delta,
        len(planned.noises),
    )
    paid = (planned.cost.epsilon, planned.cost.delta) == (budget.epsilon, budget.delta)
    moved = (sketch.sensitivities(budget.neighbours), sketch.count_sensitivities(budget.neighbours))
    if not (paid and privacy.is_kept(*moved)):
        raise RuntimeError(f"The noise that was planned and paid for does not cover this table of {sketch.name!r}.")
    return privacy


def _with_noise(table: np.ndarray, scale: NoiseScale, source: NoiseSource | None) -> np.ndarray:
    """A table with noise in the place of the exact one, or in wider counters where the noise needs them.

    Either way the exact counters are gone afterwards.
    """
    if has_room(table.dtype, scale):
        return add_noise(table, scale, source, table)
    noisy = add_noise(table, scale, source)
    table[...] = 0
    return noisy


def promised_with(
    budget: Budget, costs: Iterable[Cost], within: Budget | None = None, own: Cost | None = None
) -> Budget:
    """What a file promises that shows what was paid for before it: the price, and theirs.

    Promises add up, whoever chose them and why. Where what was paid for before was the first part of a promise that was
    settled before it, and that one admits the release too, nothing beyond it is promised.

    RequestError when no file can say so many digits.

    `within`: Such a promise. `own`: Of the release, once it is planned.
    """
    costs = tuple(costs)
    epsilon = sum((Fraction(cost.epsilon) for cost in costs), Fraction(budget.epsilon))
    delta = sum((Fraction(cost.delta) for cost in costs), Fraction(budget.delta))
    less = within is not None and (within.epsilon < epsilon or within.delta < delta)
    if within is not None and less and own is not None:
        if admits_each((), (*costs, own), within.epsilon, within.delta):
            return within
    promised = exact_decimal(epsilon, "The promise"), exact_decimal(delta, "The promise")
    return replace(budget, epsilon=promised[0], delta=promised[1])


def covering_bounds(release: Release, costs: Iterable[Cost], promised: Budget | None = None) -> Release:
    """The release with a promise that covers what it shows too: whoever has its file has that and the table.

    `costs`: Of what it shows, such as bounds: what was paid for them, in whatever releases. `promised`: What
    `promised_with` says of all together; None where all of them are pure.
    """
    privacy, costs = release.privacy, list(costs)
    if not costs:
        return release
    # Added up as fractions, as decimals would be rounded to the digits of the present context.
    paid = sum((Fraction(cost.epsilon) for cost in costs), Fraction(0))
    epsilon, overlap = (
        exact_decimal(Fraction(own) + paid, "The promise") for own in (privacy.epsilon, privacy.overlap_epsilon)
    )
    delta = privacy.delta if promised is None else promised.delta
    epsilon = epsilon if promised is None else promised.epsilon
    later = exact_decimal(sum((Fraction(cost.delta) for cost in costs), Fraction(privacy.overlap_delta)), "The promise")
    rho = privacy.rho + total_rho(event for cost in costs for event in cost.events)
    # Who is in all parts loses no more than each release promises, which may be less than what was paid for it.
    most = [exact_decimal(privacy.releases * Fraction(one), "The promise") for one in (epsilon, delta)]
    overlaps = replace(
        privacy, overlap_epsilon=max(epsilon, min(overlap, most[0])), overlap_delta=max(delta, min(later, most[1]))
    )
    return replace(release, privacy=replace(overlaps, epsilon=epsilon, delta=delta, rho=rho))


def showing(release: Release, known: Known | None, own: Cost | None = None) -> Release:
    """The release with what was bought before it: its promise covers that, and it keeps the count of its own records.

    A count of other records, as where bounds that were bought since leave some out, is not kept. ``own`` is what the
    release itself has cost.
    """
    if known is None or not (known.bought or known.found):
        return release
    if known.reserve is not None:
        spent = total_rho(event for cost in known.costs for event in cost.events)
        release = promising(release, known.reserve.whole, release.privacy.rho + spent)
    else:
        privacy = release.privacy
        alone = Budget(privacy.epsilon, privacy.delta, privacy.neighbours)
        release = covering_bounds(release, known.costs, promised_with(alone, known.costs, known.within, own))
    if known.found is not None:
        return replace(release, finding=known.found.kept)
    count = known.of("count")
    if count is None or count.noise is None or count.noisy is None or count.of is None:
        return release
    counts_the_same = replace(count.of, scale=release.domain.scale) == release.domain
    return replace(release, counted_before=BoughtCount(count.noisy, count.noise)) if counts_the_same else release


def promising(release: Release, budget: Budget, rho: Fraction) -> Release:
    """The release with a promise that covers that it was chosen among others, which were paid for as well.

    `rho`: The zCDP of everything together.
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
