"""A number predicted by one sample of a posterior: OPS and AdaOPS (Wang, Fienberg, Smola 2015; Wang 2018).

With records (x, y), |x| <= B and |y| <= 1, H = Σ x xᵀ + λI and b = Σ x y, released is a single draw from

    N(μ, (γH)⁻¹),    μ = H⁻¹b,

the posterior of whoever has the prior N(0, (γλ)⁻¹) and counts a record as γ. Its own spread is all the noise.

**One record more.** Let x, y be added to H and b, h = xᵀH⁻¹x and r = y - <x, μ>. The density at θ changes by a factor
that falls with γ(y - <x, θ>)²/2 alone, so what the draw loses is what <x, θ> loses: N(<x, μ>, h/γ) against N(<x, μ> +
rh/(1+h), h/(γ(1+h))). Of two normal distributions the Rényi divergence is known (Gil, Alajaji, Linder 2013); for an
order α with (α-1)h < 1 that of the draw without the record from the one with it is

    D(h, a) = -log(1+h)/2 - log(1-(α-1)h)/(2(α-1)) + αah/(2(1+h)(1-(α-1)h)),    a = γr²,

which grows with h and with a, term by term. The other direction has log(1+h)/2 + (log(1+h) - log(1+αh))/(2(α-1)) +
αah/(2(1+h)(1+αh)): the last term is smaller, and the derivatives of the others by h are αh/(2(1+h)(1+αh)) here and
αh/(2(1+h)(1-(α-1)h)) there, from 0 at h = 0. So D is the larger of both. ∎ (Published code takes γ from a tail bound of
the loss in one direction only, with a factor that differs between paper and program.)

**What bounds h and r.** h <= B²/(λ+l) where l is at most the least eigenvalue of Σ x xᵀ, and |r| <= W = 1 + B|μ|.

*   OPS takes l = 0. AdaOPS buys L = max {k: Σ x xᵀ - kB²I is positive definite}, which a record raises by 0 or 1, and
    takes only as much ridge as is missing then.
*   W is bought on a scale of factors c = 1 + 1/(k-1), k <= (λ+l)/B². A record changes μ by H⁻¹x r/(1+h), which is no
    longer than W B/(λ+l): so W, and going back likewise, by a factor of 1 + 1/k at most. What is scaled is within a
    factor of 1 + 1/k² of W, so floor(log_c) of it changes by 1 at most.

To both a discrete Gaussian is added (αρ at every order α), and as much, to the safe side, as it falls short of with
probability δ/100, and 1 for the neighbour. For a pair of neighbours let the mechanism say nothing where what was bought
does not bound the smaller data set's l and W: a rule on what was bought alone, the same for both, under which orders
add up (Mironov 2017, Proposition 1) at an α that is fixed beforehand. It differs from the real one with probability
δ/100 for each number bought, which is added to δ.

A replaced record, and m records of a person, are so many steps of one record (`amp.one_step`).

**Drawn exactly.** θ = H⁻¹(b + γ^(-1/2) (Σ x_i z_i + √λ z')) has that distribution for independent standard normal z
and z', as the inner bracket has the covariance H. Numbers z are known to as many digits as are asked for
(`vector_noise`), records are whole numbers, and γ^(-1/2) and √λ are rational. A floating-point solution is mended by
what is left over for as long as that gets smaller (iterative refinement; Higham 2002, chapter 12), and judged in whole
numbers: H is at least λI, so it is no further from the truth than |Hθ - g|/λ, g the outer bracket. What is released is
θ rounded to multiples of 2^-20, when everything that near rounds to the same; until then more digits are tossed. No
draw is repeated.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Alone, Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, best_order, gaussian_scale, largest_rho, round_up
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.vector_noise import NormalVector
from ..privacy.replay.solved_laws import PosteriorDraw
from ..privacy.replay.tape import drawn
from ..runtime.parameters import Number, Resolved, parameter
from .amp import one_step
from .certified_logistic import length_above, rounded_within
from .linear_models import NumberModel
from .method import NumberMethod
from .model_file import BITS

UNIT = 1 << 13
SHARE = Fraction(1, 10)  # Of ρ, for each number that is bought.
FAILURE = 0.01  # Of δ, for each of them to be no bound.
USUAL_STRENGTH = 4.0
FINEST = 1_000  # k at most, so that c^q stays a number of a few thousand digits.
# Times k, beyond which W cannot be: λ is a record at least, so W is below 10^6 for all records that are held.
MOST_STEPS = 16
MOST_COORDINATES = 150
MARGIN = 1e-9
THEOREM = (
    "A draw from a posterior, whose precision is chosen so that the Rényi divergence of two neighbours' draws keeps "
    "the promise (Wang 2018), is rounded exactly."
)
# Binary digits after the point of a solution, and how many more there are at every further level.
FIRST_DIGITS, MORE_DIGITS = 128, 64

# A right-hand side at a level of precision, and how far it is off at most, in length.
Goal = Callable[[int], tuple[Sequence[Fraction], Fraction]]


class Solver:
    """Solutions of H θ = g, H = products + ridge.

    `products`: A sum of products of whole numbers, object (m, m).
    """

    def __init__(self, products: np.ndarray, ridge: int):
        self._matrix = products + ridge * np.eye(len(products), dtype=object)
        self._ridge = ridge
        self._inverse = np.linalg.inv(self._matrix.astype(float))

    def near(self, goal: Sequence[Fraction], level: int) -> tuple[list[Fraction], Fraction]:
        """A place near the solution, and how far it is off at most, in length."""
        digits = FIRST_DIGITS + MORE_DIGITS * level
        place, best = [0] * len(goal), ([Fraction(0)] * len(goal), length_above(goal) / self._ridge)
        while True:
            left = self._left(place, digits, goal)
            off = length_above(left) / self._ridge
            if off < best[1]:
                best = [Fraction(value, 1 << digits) for value in place], off
            largest = max(abs(one) for one in left)
            if not largest or (any(place) and 2 * off > best[1] and off > best[1]):
                return best
            move = self._inverse @ np.array([float(one / largest) for one in left])
            step = [round(Fraction(one) * largest * (1 << digits)) for one in move.tolist()]
            if not any(step):
                return best
            place = [value + one for value, one in zip(place, step, strict=True)]

    def _left(self, place: list[int], digits: int, goal: Sequence[Fraction]) -> list[Fraction]:
        """What a place leaves of the goal, exact."""
        reached = (self._matrix @ np.array(place, object)).tolist()
        return [one - Fraction(value, 1 << digits) for one, value in zip(goal, reached, strict=True)]

    def length_above(self, goal: Sequence[Fraction], within: Fraction) -> Fraction:
        """The length of the solution, rounded up by no more than `within` and 2^-30 of itself."""
        for level in count():
            place, off = self.near(goal, level)
            if 2 * off <= within:
                return length_above(place) + off
        raise RuntimeError("Levels never end.")

    def rounded(self, goal: Goal) -> list[int]:
        """The solution in multiples of 2^-20, rounded to nearest, for a goal that gets clearer from level to level."""
        for level in count():
            middle, unknown = goal(level)
            place, off = self.near(middle, level)
            found = rounded_within(place, off + unknown / self._ridge)
            if found is not None:
                return found
        raise RuntimeError("Levels never end.")


@dataclass(frozen=True)
class Draw:
    """What is public about a draw before anything is read."""

    # α, and what the draw may lose at it.
    order: float
    room: float
    noise: NoiseScale  # Of every number that is bought.
    margin: int  # What a number is moved to the safe side by.
    shrunk: Fraction = Fraction(1)  # 1; of a rehearsal, how many records there are for each that they stand for.


@dataclass(frozen=True)
class PosteriorSample(NumberMethod):
    """One posterior sample (OPS): the ridge is public.

    `strength`: λ + l in multiples of αB²: what is bought for less noise with more ridge.
    """

    strength: Resolved[float] = parameter(Number("The strength of the ridge", 2.0, 1e4), USUAL_STRENGTH)
    name: ClassVar[str] = "ops"
    rank: ClassVar[int] = 4
    bends: ClassVar[bool] = False
    described: ClassVar[str] = "one posterior sample"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = UNIT
    bought: ClassVar[int] = 1

    def _check(self) -> None:
        super()._check()
        if self.width >= MOST_COORDINATES:
            raise RequestError(
                f"A posterior is solved in whole numbers, which takes at most {MOST_COORDINATES - 1} coordinates."
            )

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        self._planned(budget)
        return Cost((Alone(Fraction(budget.epsilon), Fraction(budget.delta)),), budget.epsilon, budget.delta)

    def noise(self, budget: Budget) -> float:
        """How long a draw is off in the direction that records say least of, were W its least, in records."""
        plan = self._planned(budget)
        return math.sqrt((self.width + 1) * plan.order / plan.room)

    def _planned(self, budget: Budget) -> Draw:
        if budget.pure:
            raise RequestError("A posterior sample needs a delta above 0, and sums of products none.")
        steps = self.domain.unit.records * (2 if budget.neighbours is Neighbours.REPLACE_ONE else 1)
        epsilon, delta = one_step(float(budget.epsilon), float(budget.delta), steps)
        failure = FAILURE * delta
        delta = (delta - self.bought * failure) * (1 - MARGIN)
        rho = largest_rho(epsilon, delta)
        order = max(1.5, best_order(epsilon, rho))
        noise = gaussian_scale(Sensitivity(1, 1), Fraction(rho) * SHARE)
        # The conversion of `zcdp` at this order, and what the numbers that are bought leave of it.
        whole = epsilon + (math.log(delta) + math.log(order - 1) - order * math.log1p(-1 / order)) / (order - 1)
        room = (whole - order * self.bought * float(SHARE) * rho) * (1 - MARGIN)
        margin = math.ceil(math.sqrt(2 * float(noise.parameter) * math.log(1 / failure))) + 1
        return Draw(order, room, noise, margin)

    def _beside(self, plan: Draw, share: Fraction) -> Draw:
        return replace(plan, shrunk=share)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Draw, noise_source: NoiseSource
    ) -> NumberModel:
        products, sums = whole_products(units, units), whole_products(units, codes[:, None])[:, 0].tolist()
        surely, longest = self._surely(products, plan, noise_source), self.longest(UNIT) * plan.shrunk
        wanted = Fraction(self.strength * plan.order) * longest
        root = math.isqrt(math.ceil(max(wanted - surely, Fraction(UNIT**2)))) + 1  # √λ, in units
        solver, leverage = Solver(products, root**2), longest / (root**2 + surely)
        largest = self._largest(solver, sums, min(FINEST, math.floor(1 / leverage)), plan, noise_source)
        spread = deviation(leverage, largest, plan)
        law = PosteriorDraw(spread, root, UNIT)

        def draw() -> list[int]:
            return _drawn(solver, units, sums, law.spread, law.root, noise_source)

        rounded = drawn(law, (units, codes), draw, noise_source.private)
        details = {
            "ridge": str(Fraction(root**2, UNIT**2)),
            "least_eigenvalue": str(surely / UNIT**2),
            "largest_residual": repr(float(largest)),
            "gamma": repr(float(1 / spread**2)),
            "noise": plan.noise.describe(),
        }
        return self._model(np.array(rounded, float) / (1 << BITS), budget, details, noise_source)

    def _surely(self, products: np.ndarray, plan: Draw, noise_source: NoiseSource) -> Fraction:
        """l, in squared units."""
        return Fraction(0)

    def _largest(self, solver: Solver, sums: list[int], steps: int, plan: Draw, noise_source: NoiseSource) -> Fraction:
        """A bound of W, as bought."""
        reach = Fraction(math.isqrt(self.longest(UNIT)) + 1, UNIT)
        length = solver.length_above([Fraction(one) for one in sums], 1 / (reach * (1 << 40)))
        factor, within = 1 + Fraction(1, steps - 1), 1 + reach * length
        power, place = Fraction(1), 0
        while power * factor <= within:
            power, place = power * factor, place + 1
        noisy = int(add_noise(np.array([place], np.int64), plan.noise, noise_source)[0]) + plan.margin + 1
        return factor ** max(0, min(noisy, MOST_STEPS * steps))


@dataclass(frozen=True)
class AdaptivePosteriorSample(PosteriorSample):
    """One posterior sample with only as much ridge as is missing (AdaOPS)."""

    name: ClassVar[str] = "ada-ops"
    rank: ClassVar[int] = 5
    described: ClassVar[str] = "one posterior sample with a bought ridge"
    bought: ClassVar[int] = 2

    def _surely(self, products: np.ndarray, plan: Draw, noise_source: NoiseSource) -> Fraction:
        longest = self.longest(UNIT)
        place = least_multiple(products, longest)
        noise = int(add_noise(np.zeros(1, np.int64), plan.noise, noise_source)[0]) - plan.margin
        return max(Fraction(0), (place + noise * plan.shrunk) * longest)


def least_multiple(products: np.ndarray, step: int) -> int:
    """The largest k >= 0 for which products less k · step on the diagonal is positive definite, or 0: exact."""
    guess = max(0, int(np.linalg.eigvalsh(products.astype(float))[0] / step))

    def definite(place: int) -> bool:
        return is_positive_definite(products - place * step * np.eye(len(products), dtype=object))

    while guess and not definite(guess):
        guess -= 1
    while definite(guess + 1):
        guess += 1
    return guess


def divergence(order: float, leverage: float, worth: float) -> float:
    """D(h, a) at an order; infinite where there is none."""
    left = 1.0 - (order - 1.0) * leverage
    if left <= 0.0:
        return math.inf
    volume = -math.log1p(leverage) / 2.0 - math.log(left) / (2.0 * (order - 1.0))
    return volume + order * worth * leverage / (2.0 * (1.0 + leverage) * left)


def deviation(leverage: Fraction, largest: Fraction, plan: Draw) -> Fraction:
    """γ^(-1/2), rounded up, for the bounds of h and W; RequestError where no γ keeps the promise."""
    least, most = 0.0, 1.0
    here = float(leverage) * (1 + MARGIN)
    if divergence(plan.order, here, 0.0) >= plan.room:
        raise RequestError("No posterior keeps this promise with so little ridge: its strength must be larger.")
    while divergence(plan.order, here, most) < plan.room:
        most *= 2.0
    while most - least > 1e-12 * most:
        middle = (least + most) / 2.0
        least, most = (middle, most) if divergence(plan.order, here, middle) < plan.room else (least, middle)
    rehearsed = Fraction(math.sqrt(plan.shrunk)) if plan.shrunk != 1 else Fraction(1)
    return round_up(largest * rehearsed / Fraction(math.sqrt(least) * (1 - MARGIN)))


def _drawn(
    solver: Solver, units: np.ndarray, sums: list[int], spread: Fraction, root: int, noise_source: NoiseSource
) -> list[int]:
    """θ in multiples of 2^-20, rounded: see the module."""
    stream = noise_source.stream()
    of_records, of_prior = (NormalVector(Fraction(1), size, stream) for size in (len(units), len(sums)))
    length = math.isqrt(int((units * units).sum(axis=1).max(initial=0))) + 1

    def bracket(extra: int) -> tuple[list[Fraction], Fraction]:
        """The right-hand side in the middle of what is known, and how far it is off at most, in length."""
        (low, high), (least, most) = of_records.bounds(extra), of_prior.bounds(extra)
        middles = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        scale = max((one.denominator for one in middles), default=1)  # powers of two
        moved = wide_products(units, [int(one * scale) for one in middles])
        middle = [
            total + spread * UNIT * (Fraction(one, scale) + root * (a + b) / 2)
            for total, one, a, b in zip(sums, moved, least, most, strict=True)
        ]
        unknown = sum((b - a for a, b in zip(low, high, strict=True)), Fraction(0)) * length
        unknown += sum((b - a for a, b in zip(least, most, strict=True)), Fraction(0)) * root
        return middle, spread * UNIT * unknown

    return solver.rounded(bracket)


LIMB_BITS = 24  # Of a whole number that is multiplied with entries of records, below 2^14, and added up in 64 bits.


def whole_products(units: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Transposed whole numbers (n, m) times others (n, k), object (m, k): sums below 2^53, so float64 has them."""
    return np.asarray((units.T.astype(float) @ others.astype(float)).astype(np.int64).astype(object))


def wide_products(units: np.ndarray, numbers: Sequence[int]) -> list[int]:
    """Transposed entries (n, m) below 2^14 times whole numbers of any size, m of them, exact."""
    signs = np.array([-1 if one < 0 else 1 for one in numbers], np.int64)
    sizes, shift, total = [abs(one) for one in numbers], 0, [0] * units.shape[1]
    while any(sizes):
        limbs = np.array([one & ((1 << LIMB_BITS) - 1) for one in sizes], np.int64)
        total = [one + (part << shift) for one, part in zip(total, (units.T @ (signs * limbs)).tolist(), strict=True)]
        sizes, shift = [one >> LIMB_BITS for one in sizes], shift + LIMB_BITS
    return total


def is_positive_definite(matrix: np.ndarray) -> bool:
    """Whether all leading minors of a symmetric matrix of whole numbers, object (m, m), are above 0 (Sylvester).

    They are the pivots of elimination without fractions (Bareiss 1968).
    """
    rows, last = matrix.copy(), 1
    for place in range(len(rows)):
        pivot = rows[place, place]
        if pivot <= 0:
            return False
        below = rows[place + 1 :, place + 1 :] * pivot - np.outer(rows[place + 1 :, place], rows[place, place + 1 :])
        rows[place + 1 :, place + 1 :] = below // last
        last = pivot
    return True
