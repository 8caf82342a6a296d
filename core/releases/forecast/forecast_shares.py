"""How several questions share one budget, from public facts alone: so that noise blurs all of their answers alike.

The forecast says what one standard deviation of noise in a counter of each part does to its typical answer, as the
error is promised (`Forecast.promised_noise`): c_i for a part. Its noise then gets a deviation in the ratio 1/(w_i c_i)
to that of the others, w_i being the weight that the owner gives it, and the smallest noise in these ratios that keeps
the promise is found for all of them together (`core.privacy.shared_promise`).

That is the least worst error that noise can have. With a fixed sum of shares, an error that falls as its share grows is
least at worst where all are equal: whatever made one of them smaller would take its share from another.

A share that the owner has fixed is kept: the noise of that part follows from it, and the others share the rest in their
ratios.

What a grid or random rows add to an error is left out of the comparison, as no share takes it away: a part that is
coarse would else take the budget of a fine one, for nothing. Where sizes follow from the budget they are chosen for
equal shares first, and once more for the shares that this gives.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ...errors import RequestError
from ...privacy.budget import EPSILON_PLACES, Budget
from ...privacy.calibration import largest_rho, zcdp_epsilon
from ...sketches.linear import LinearSketch
from ...sketches.part import LARGEST_RATIO, Part
from ...sketches.parts import Parts
from ...sketches.plan import JointPlan, Plan, plan, plan_parts
from .forecast import Forecast, forecast, forecast_planned
from .sketch_sizes import choose_size

# For parts whose size is settled: how many there are changes all errors alike, and their ratios not.
ANY_RECORDS = 10_000.0
ROUNDS, NEAR = 40, 0.002  # Of finding the noise for a fixed share, and how near it is to be, of itself.
LARGEST_FIXED = Fraction(9, 10)  # Of the budget, for all fixed shares together.
DIGITS = 4  # Significant ones of a ratio, as a forecast has no more.


def settle(
    parts: Parts,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> Parts:
    """The same parts with a size and a share each; those that have both stay as they are.

    RequestError when a part cannot keep such a promise, or has no size and the number of records is left out. `budget`:
    the promise of everything together. `records`: how many there are at least, as anybody may know; needed where a size
    follows from it. `density`, `sample`, `set_size`: see `core.releases.forecast.forecast.forecast`.
    """
    if parts.settled:
        return parts
    parts.check_budget(budget)
    made = _settled(parts, budget, (records, density, sample, set_size))
    if budget.pure or records is None or parts.sized:
        return made
    try:
        purely = _settled(parts, Budget(budget.epsilon, 0, budget.neighbours), (records, density, sample, set_size))
    except RequestError:  # a part only exists under a delta
        return made
    # What keeps ε keeps (ε, δ): sizes and shares for it are taken where any answer would be worse by those for a delta.
    seen = [_outlooks(one, budget, (records, density, sample, set_size)) for one in (made, purely)]
    worse = any(seen[0][name].standard_error > seen[1][name].standard_error for name in seen[0])
    return purely if worse else made


def _settled(parts: Parts, budget: Budget, guesses: tuple[Any, ...]) -> Parts:
    """Sizes and shares for a promise that is used as it is."""
    shares = _even(parts.members)
    made = parts
    for _ in range(1 if parts.sized else 2):
        sized = parts.with_sketches(
            [_sized(part.sketch, budget, share, guesses) for part, share in _each(parts, shares)]
        )
        if any(part.noise is None for part in parts.members):
            blurs = [_blur(part, budget, share, guesses) for part, share in _each(sized, shares)]
            sized = with_fixed_shares(sized.with_noise(_ratios(parts.members, blurs)), budget)
        made = sized
        shares = plan_parts(made, budget).shares
    return made


def forecast_parts(
    parts: Parts,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> dict[str, Forecast]:
    """What to expect of every part, by name, when all of them are released under one promise.

    `parts`, `budget`, `records`, `density`, `sample`, `set_size`: as for `settle`.
    """
    guesses = (records, density, sample, set_size)
    return _outlooks(settle(parts, budget, *guesses), budget, guesses)


def _outlooks(parts: Parts, budget: Budget, guesses: tuple[Any, ...]) -> dict[str, Forecast]:
    planned = plan_parts(parts, budget)
    return {
        part.name: forecast_planned(part.sketch, plan_of_part(parts, planned, place), *guesses)
        for place, part in enumerate(parts.members)
    }


def plan_of_part(parts: Parts, planned: JointPlan, place: int) -> Plan:
    """The noise of one part and of its number of records; the price is that of everything."""
    return Plan(planned.noises[place], planned.count_noises[parts.counted[place]], True, planned.cost)


def _each(parts: Parts, shares: Sequence[Fraction]) -> list[tuple[Part, Fraction]]:
    return list(zip(parts.members, shares, strict=True))


def _even(parts: Sequence[Part]) -> tuple[Fraction, ...]:
    """Shares in proportion to weights, to begin with, of what fixed ones leave; RequestError where that is nothing."""
    fixed = sum((Fraction(part.share) for part in parts if part.share is not None), Fraction(0))
    weights = sum((Fraction(part.weight) for part in parts if part.share is None), Fraction(0))
    if fixed >= LARGEST_FIXED or (fixed and not weights):
        raise RequestError(
            f"Fixed shares may come to {float(LARGEST_FIXED):.0%} of the budget, and one part at least has to be "
            "without one, as it takes what they leave."
        )
    left = 1 - fixed
    return tuple(left * Fraction(one.weight) / weights if one.share is None else Fraction(one.share) for one in parts)


def with_fixed_shares(parts: Parts, budget: Budget) -> Parts:
    """The same with the noise by which each part whose share is fixed has that share, whatever it is of the others.

    What a part spends goes as its precision, or its root where noise is pure, and so does the odds of its share.
    RequestError where no noise gives a part its share, as where one is pure and another is not.
    """
    fixed = {place: part.share for place, part in enumerate(parts.members) if part.share is not None}
    noises = [part.settled_noise for part in parts.members]
    for _ in range(ROUNDS if fixed else 0):
        shares = plan_parts(parts, budget).shares
        if all(abs(float(shares[place]) - share) <= NEAR * share for place, share in fixed.items()):
            return parts
        for place, share in fixed.items():
            own = float(shares[place])
            noises[place] *= (own * (1.0 - share) / ((1.0 - own) * share)) ** (1.0 if budget.pure else 0.5)
        least = min(noises)
        noises = [min(one / least, LARGEST_RATIO) for one in noises]
        parts = parts.with_noise([float(f"{one:.{2 * DIGITS}g}") for one in noises])
    if fixed:
        raise RequestError("No noise gives each part the share that is fixed for it: fix another one, or none.")
    return parts


def budget_of_share(budget: Budget, share: Fraction) -> Budget:
    """A promise that allows about as much noise as a share of another does: of epsilon, or of ρ where there is a delta.

    For choosing sizes and for forecasts; nothing is released under it.
    """
    if budget.pure:
        epsilon = float(budget.epsilon) * float(share)
    else:
        rho = largest_rho(float(budget.epsilon), float(budget.delta)) * float(share)
        epsilon = min(zcdp_epsilon(rho, float(budget.delta)), float(budget.epsilon))
    least = 10.0**-EPSILON_PLACES
    return Budget(max(round(epsilon, EPSILON_PLACES), least), budget.delta, budget.neighbours)


def _sized(sketch: LinearSketch, budget: Budget, share: Fraction, guesses: tuple[Any, ...]) -> LinearSketch:
    if sketch.sized:
        return sketch
    chosen = choose_size(sketch, budget_of_share(budget, share), *guesses)
    if chosen.chooses:
        raise RequestError("A part of a release is a linear sketch.")
    return chosen


def _blur(part: Part, budget: Budget, share: Fraction, guesses: tuple[Any, ...]) -> float:
    """How far one standard deviation of noise in a counter moves a typical answer, as errors are promised."""
    own = budget_of_share(budget, share)
    records, density, sample, set_size = guesses
    records = records if records is not None and records > 1.0 else ANY_RECORDS
    one = forecast(part.sketch, own, records, density, sample, set_size)
    return one.promised_noise / math.sqrt(plan(part.sketch, own).noise.variance)


def _ratios(parts: Sequence[Part], blurs: Sequence[float]) -> list[float]:
    """The deviations of the parts' noise, the least of them 1."""
    wanted = [1.0 / (part.weight * max(blur, 1e-300)) for part, blur in zip(parts, blurs, strict=True)]
    least = min(wanted)
    return [min(float(f"{one / least:.{DIGITS}g}"), LARGEST_RATIO) for one in wanted]
