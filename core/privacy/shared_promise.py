"""How much noise one promise needs for several tables of the same people, whose noise is to stand in stated ratios.

Let one person move table i by Δ1_i in L1 and Δ2_i in L2, and let it have independent noise of deviation κτ_i; the
ratios τ are given, and the smallest κ is wanted.

*Pure.* What a table costs in epsilon is proportional to Δ1_i/τ_i (or to its sum of vector norms, where that needs
less), and κ makes the costs add up to epsilon.

*Gaussian.* One person moves the concatenation of all tables, each divided by its τ_i, by at most Σ Δ2_i²/τ_i² in
squared L2 norm. Under noise of variance κ² that is ρ = Σ Δ2_i²/(2κ²τ_i²), the sum of what the tables cost by
themselves, so one calibration of all of them gives ρ, and their shares of it are proportional to Δ2_i²/τ_i². That is
far less noise than k promises of (epsilon/k, delta/k) would need.

*Some of each.* Noise on few counters is less in the pure way and on many in the Gaussian one. Tables with pure noise
that cost epsilon' together, and others that are (epsilon - epsilon', delta)-private together, are (epsilon,
delta)-private by basic composition (Dwork, Roth 2014, Theorem 3.16). Those that gain most by pure noise are taken for
it, one, two and so on, with the epsilon' at which both need the same κ. So under a delta all of these are tried, and
the one with the least noise is taken: beside a RACE of many rows, tables of few counters then have 0.6 to 0.7 of the
noise. Some of each is taken only for much less noise, as it adds up worse with other releases of the same people.

How a budget is split is a matter of less noise alone: whatever the split, the scales that come out keep the promise.

One promise shared out equally among several mechanisms that each keep a promise of their own.

Pure promises add up, so each gets an equal part of epsilon. Under a delta that would waste most of it: what adds up
is ρ, and so each gets the same delta and an epsilon between an equal part and the one whose ρ is an equal part: the
largest one tried with which an accountant (`accounting.keeps_promise`) finds that all of them together keep the
promise. However it is found, what is returned has been checked.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from ..errors import RequestError
from .accounting import Cost
from .budget import Budget, Sensitivity, decimal_below
from .calibration import NoiseScale, calibrate_gaussian, calibrate_shares, largest_rho, pure_scale
from .composition import keeps_promise

SHARE_STEPS = 1_000_000  # Of a budget that is shared out in proportion to real numbers.
WORTH_MIXING = 0.85  # Of the variance: what is pure in part costs more of every total that later releases share.
SPLITS = 512  # Of epsilon between pure and Gaussian noise; a finer one would change the noise by less than a hundredth.
WIDE = Sensitivity(1 << 40, 1 << 40)  # Of a table whose noise is so wide that only its ratio to this matters.


@dataclass(frozen=True)
class Wanted:
    """One table, and the noise that it is to have."""

    sensitivity: Sensitivity  # How far one person moves it.
    ratio: float  # τ, the deviation of its noise beside that of the others.
    gaussian_only: bool = False  # Whether it has Gaussian noise wherever delta allows it, as its theory is of no other.

    @property
    def pure_weight(self) -> float:
        """What it costs in epsilon for κ = 1, but for the discreteness of noise."""
        return math.sqrt(pure_scale(self.sensitivity, Fraction(1)).variance) / self.ratio

    @property
    def gaussian_weight(self) -> float:
        """Twice what it costs in ρ for κ = 1."""
        return self.sensitivity.l2_squared / self.ratio**2


@dataclass(frozen=True)
class Joint:
    """The noise of several tables."""

    scales: tuple[NoiseScale, ...]  # Of the tables in order, and then of the counts.
    # Of the budget, alike; they add up to 1. That of pure noise is one of epsilon, and Gaussian noise shares what is
    # left of epsilon in proportion to ρ.
    shares: tuple[Fraction, ...]


def calibrate_joint(
    tables: Sequence[Wanted],
    counts: Sequence[Sensitivity],
    counts_share: Fraction,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
) -> Joint:
    """Return the noise of several tables of the same people, in stated ratios, (epsilon, delta)-private together.

    `tables`: One or more. `counts`: Of numbers that share `counts_share` evenly, apart from those ratios: of epsilon,
    or of ρ where any noise is Gaussian. `counts_share`: Below 1; without counts nothing is set aside.
    """
    every = range(len(tables))
    ways = (
        []
        if delta and any(table.gaussian_only for table in tables)
        else [_noise(tables, counts, counts_share, epsilon)]
    )
    if delta:
        ways.append(_noise(tables, counts, counts_share, epsilon, delta, gaussian=every))

    def worst(way: Joint) -> float:
        return max(scale.variance / table.ratio**2 for scale, table in zip(way.scales, tables, strict=False))

    best = min(ways, key=worst)
    split = _best_split(tables, counts_share if counts else Fraction(0), epsilon, delta) if delta else None
    if split is not None:
        mixed = _noise(tables, counts, counts_share, epsilon, delta, *split)
        best = mixed if worst(mixed) < WORTH_MIXING * worst(best) else best
    return best


def _best_split(
    tables: Sequence[Wanted], counts_share: Fraction, epsilon: Fraction, delta: Fraction
) -> tuple[list[int], Fraction] | None:
    """Which tables have Gaussian noise where others have pure noise, and the share of epsilon for those others."""
    gains = {place: table.pure_weight**2 / table.gaussian_weight for place, table in enumerate(tables)}
    order = sorted(gains, key=lambda place: (tables[place].gaussian_only, gains[place]))
    best, found = math.inf, None
    for first in range(1, len(tables)):
        pure, gaussian = order[:first], order[first:]
        if any(tables[place].gaussian_only for place in pure):
            break
        needs = (
            sum(tables[place].pure_weight for place in pure),
            sum(tables[place].gaussian_weight for place in gaussian) / float(1 - counts_share),
        )
        least, most = 1, SPLITS - 1
        while least < most:  # κ of the pure tables falls with their share, and that of the others rises
            middle = (least + most) // 2
            of_pure, of_gaussian = _kappas(needs, middle, epsilon, delta)
            least, most = (middle + 1, most) if of_pure > of_gaussian else (least, middle)
        for share in {least, max(1, least - 1)}:
            kappa = max(_kappas(needs, share, epsilon, delta))
            if kappa < best:
                best, found = kappa, (gaussian, Fraction(share, SPLITS))
    return found


def _kappas(needs: tuple[float, float], share: int, epsilon: Fraction, delta: Fraction) -> tuple[float, float]:
    """The κ that pure tables need with so many parts of epsilon, and that Gaussian ones need with the rest.

    By the calibration that they get: the conversion from zCDP alone took their noise for a twentieth wider than it is.
    """
    pure, gaussian = needs
    paid = epsilon * Fraction(share, SPLITS)
    noise = calibrate_gaussian(WIDE, epsilon - paid, delta)
    return pure / float(paid), math.sqrt(gaussian * noise.variance / WIDE.l2_squared)


def _noise(
    tables: Sequence[Wanted],
    counts: Sequence[Sensitivity],
    counts_share: Fraction,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    gaussian: Sequence[int] = (),
    pure_share: Fraction = Fraction(0),
) -> Joint:
    """The noise where these tables have Gaussian noise, and the others pure noise for a share of epsilon."""
    pure = [place for place in range(len(tables)) if place not in set(gaussian)]
    own = Fraction(0) if gaussian else counts_share  # counts go with the Gaussian tables where there are any
    in_pure = _shares([tables[place].pure_weight for place in pure], 0 if gaussian else len(counts), own)
    in_gaussian = _shares([tables[place].gaussian_weight for place in gaussian], len(counts), counts_share)
    whole = pure_share if gaussian else Fraction(1)
    scales: dict[int, NoiseScale] = {}
    shares: dict[int, Fraction] = {}
    groups = ((pure, in_pure, whole, Fraction(0)), (gaussian, in_gaussian, 1 - whole, delta))
    for places, parts, part, slack in groups:
        if not places:
            continue
        numbered = [*places, *(range(len(tables), len(tables) + len(parts) - len(places)))]
        moved = [
            tables[place].sensitivity if place < len(tables) else counts[place - len(tables)] for place in numbered
        ]
        made = calibrate_shares(list(zip(moved, parts, strict=True)), epsilon * part, slack, gaussian_only=slack > 0)
        scales |= dict(zip(numbered, made, strict=True))
        shares |= {place: part * share for place, share in zip(numbered, parts, strict=True)}
    return Joint(tuple(scales[place] for place in sorted(scales)), tuple(shares[place] for place in sorted(shares)))


def _shares(weights: Sequence[float], counts: int, counts_share: Fraction) -> list[Fraction]:
    """Shares in proportion to weights, each a few digits long and above zero, and of counts after them; they sum to 1.

    Short, so that the exact scales in ledgers and files are; rounding moves a share by a millionth of everything.
    """
    if not weights:
        return []
    each = counts_share / counts if counts else Fraction(0)
    left, total = 1 - each * counts, math.fsum(weights)
    shares = [left * Fraction(max(1, round(SHARE_STEPS * weight / total)), SHARE_STEPS) for weight in weights]
    largest = shares.index(max(shares))
    shares[largest] += left - sum(shares)
    return [*shares, *([each] * counts)]


# Of the largest share, one after the other; each is planned and priced, which may take a second.
PARTS = (Fraction(1), Fraction(97, 100), Fraction(9, 10), Fraction(3, 4))

Planned = TypeVar("Planned")


def shared_equally(
    budget: Budget, number: int, planned: Callable[[Budget], list[tuple[Cost, Planned]]]
) -> tuple[Cost, list[Planned]]:
    """What mechanisms of equal promises cost together, and each of them as planned.

    RequestError when so many do not fit the promise, or from ``planned``.

    `budget`: The promise of all of them. `number`: How many there are. `planned`: Price and plan of each under a
    promise of its own.
    """
    even, largest = Fraction(budget.epsilon) / number, _largest(budget, number)
    for epsilon in (*(largest * part for part in PARTS if largest * part > even), even, even / 2):
        made = planned(replace(budget, epsilon=decimal_below(epsilon)))
        events = tuple(event for cost, _ in made for event in cost.events)
        if keeps_promise(events, budget.epsilon, budget.delta):
            return Cost(events, budget.epsilon, budget.delta), [plan for _, plan in made]
    raise RequestError(f"{number} mechanisms do not fit one promise of epsilon = {budget.epsilon:f}; make fewer.")


def largest_share(budget: Budget, number: int) -> Budget:
    """About what each of several mechanisms will have, for forecasts: how much it is, the pricing of all will tell."""
    return replace(budget, epsilon=decimal_below(_largest(budget, number)))


def _largest(budget: Budget, number: int) -> Fraction:
    """The share that is tried first: the part of ρ, and never less than an equal part of epsilon."""
    whole = Fraction(budget.epsilon)
    if budget.pure or number == 1:
        return whole / number
    wanted = largest_rho(float(whole), float(budget.delta)) / number
    least, most = float(whole) / number, float(whole)
    while most / least > 1.001:
        middle = math.sqrt(least * most)
        least, most = (least, middle) if largest_rho(middle, float(budget.delta)) > wanted else (middle, most)
    return Fraction(least)
