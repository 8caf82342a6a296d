"""What the draws of a tape tell two neighbours apart by, and what all of them together cost: exact, no statistics.

A draw under hidden values x and x' has the privacy loss ln(p(o | x) / p(o | x')) at an outcome o. One of pure noise is
bounded by its largest absolute value over all outcomes, and such bounds add up along every sequence of outcomes. For a
δ the distribution of the loss counts: discrete Gaussian noise of σ² on counters that differ by d has that of a shift
|d|/σ (Canonne, Kamath, Steinke 2020), and choices among few candidates have the one of their two probability vectors.
Distributions of losses compose by convolution, whatever later draws depend on (Zhu, Dong, Wang 2022, Theorem 10).

None of this uses the bounds by which prices are set (`accounting`, `zcdp`, `unit_shifts`, `whole_shifts`): a price is
checked by other formulas than made it. Continuous Gaussians stand for discrete ones from σ² = 16 on, where their δ
differ by less than a fiftieth; below, each counter's own distribution is convolved.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from scipy import stats
from scipy.special import logsumexp

COARSE = 16.0
"""From this σ² on the continuous Gaussian stands for the discrete one."""
LOOSE = 1.02
"""Times the promised δ that a δ may be by these formulas, for that."""
ROUNDING = 1e-9
"""Share of ε by which floating-point sums may be off."""
GRID = 2_000
"""Steps of ε in which distributions of losses are held."""
DIGITS = 60
"""Of logarithms of exact odds: far more than one of 2^64 words moves."""
NEGLIGIBLE = 1e-13
"""Of a δ: what convolutions leave to rounding."""


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one draw between two values that it may hide.

    Attributes
    ----------
    most : float
        Its largest absolute value over all outcomes; of Gaussian noise 0, as `shifts` has it.
    shifts : tuple[tuple[int, int], ...]
        Of discrete Gaussian noise: how many counters differ by how much, (size, count).
    sigma2 : float
        Its σ².
    logs : tuple[np.ndarray, np.ndarray] | None
        Log probabilities of all outcomes under either value, float64 (k,), where they are few.
    odds : Fraction | None
        e to the power of `most`, where that is known exactly: of local reports, whose weights are whole numbers.
    sampled : float
        Probability with which the record that makes the difference took part, by hidden coins.
    """

    most: float = 0.0
    shifts: tuple[tuple[int, int], ...] = ()
    sigma2: float = 1.0
    logs: tuple[np.ndarray, np.ndarray] | None = None
    sampled: float = 1.0
    odds: Fraction | None = None

    @property
    def square(self) -> float:
        """μ² of Gaussian noise: the squared length of the difference, in σ²."""
        return sum(size * size * count for size, count in self.shifts) / self.sigma2

    @property
    def nothing(self) -> bool:
        """Whether the draw tells nothing apart."""
        return self.most == 0.0 and not self.shifts


def gaussian_loss(moved: np.ndarray, sigma2: float, sampled: float = 1.0) -> Loss:
    """Of discrete Gaussian noise on counters that differ by whole numbers, of any shape."""
    sizes = Counter(abs(step) for step in np.ravel(moved).tolist())
    sizes.pop(0, None)
    return Loss(shifts=tuple(sorted(sizes.items())), sigma2=float(sigma2), sampled=sampled)


def loss_of_odds(odds: Fraction) -> Loss:
    """Of pure noise under which no outcome is more than `odds` times likelier for one value than for the other."""
    return Loss() if odds == 1 else Loss(float(_logarithm(odds)), odds=odds)


def _logarithm(odds: Fraction) -> Decimal:
    with localcontext() as digits:
        digits.prec = DIGITS
        return Decimal(odds.numerator).ln() - Decimal(odds.denominator).ln()


def delta_of(losses: Sequence[Loss], epsilon: float) -> float:
    """An upper bound of the δ at which all draws together keep `epsilon`: the best of three, each proven by itself."""
    losses, epsilon = [loss for loss in losses if not loss.nothing], epsilon * (1 + ROUNDING)
    pure = math.fsum(loss.most for loss in losses)
    if pure <= epsilon and not any(loss.shifts for loss in losses):
        return 0.0
    if not math.isfinite(pure):
        return 1.0
    best = 1.0
    if _all_coarse(losses) and pure <= epsilon:
        best = gaussian_delta(epsilon - pure, math.sqrt(math.fsum(loss.square for loss in losses)))
    return best if pure == 0.0 and _all_coarse(losses) else min(best, _renyi_delta(losses, epsilon))


def epsilon_of(losses: Sequence[Loss], delta: float) -> float:
    """The least ε, to a thousandth, at which these bounds show that all draws together keep δ."""
    pure = math.fsum(loss.most for loss in losses)
    if not any(loss.shifts for loss in losses) and (delta == 0.0 or pure == 0.0):
        return pure
    if delta == 0.0 or not math.isfinite(pure):
        return math.inf
    low, high = 0.0, 1e-3
    while delta_of(losses, high) > delta:
        low, high = high, 2 * high
        if high > 1e4:
            return math.inf
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(losses, middle) > delta else (low, middle)
    return high


def keeps(losses: Sequence[Loss], epsilon: float | Fraction, delta: float) -> bool:
    """Whether draws of these losses are within a promise; to the last digit where all odds are exact."""
    shown = [loss.odds for loss in losses if not loss.nothing]
    known = [odds for odds in shown if odds is not None]
    if not delta and len(known) == len(shown):
        logarithm = _logarithm(math.prod(known, start=Fraction(1)))
        return Fraction(logarithm) <= Fraction(epsilon) + Fraction(1, 10 ** (DIGITS - 10))
    epsilon = float(epsilon)
    most = delta * LOOSE + (NEGLIGIBLE if delta else 0.0)
    if delta_of(losses, epsilon) <= most:
        return True
    kept = [loss for loss in losses if not loss.nothing]
    simple = not delta or not math.isfinite(math.fsum(loss.most for loss in kept))
    simple = simple or (_all_coarse(kept) and not any(loss.most for loss in kept))
    return not simple and convolved_delta(kept, epsilon * (1 + ROUNDING)) <= most


def _all_coarse(losses: Sequence[Loss]) -> bool:
    """Whether the curve of the continuous Gaussian holds for whatever is Gaussian here."""
    return all(loss.sampled == 1.0 and loss.sigma2 >= COARSE for loss in losses if loss.shifts)


def _renyi_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """By Rényi divergences, which add up at every order, and their conversion (Canonne, Kamath, Steinke 2020).

    Those of discrete Gaussian noise are no larger than α μ²/2, those of a choice follow from its probabilities, either
    way round, and those of other pure draws are no larger than randomised response's.
    """
    if any(loss.shifts and loss.sampled < 1.0 for loss in losses):
        return 1.0
    orders = 1.0 + np.logspace(-2, 4, 240)
    total = orders * math.fsum(loss.square for loss in losses if loss.shifts) / 2
    for loss in losses:
        if loss.most:
            one = np.array([0.0, -loss.most]) - math.log1p(math.exp(-loss.most))
            first, second = (one, one[::-1]) if loss.logs is None else loss.logs
            total = total + np.maximum(_renyi(first, second, orders), _renyi(second, first, orders))
    exponent = (orders - 1) * (total - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return float(np.exp(np.minimum(exponent.min(), 0.0)))


def _renyi(first: np.ndarray, second: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """D_α of two probability vectors, given by their logarithms, at each order."""
    exponents = orders[:, None] * first + (1 - orders)[:, None] * second
    return np.asarray(logsumexp(exponents, axis=1) / (orders - 1))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """δ at ε of Gaussian noise for a shift of μ deviations (Balle, Wang 2018, Theorem 8)."""
    if mu == 0.0:
        return 0.0
    tail = stats.norm.logcdf(-mu / 2 - epsilon / mu) + epsilon
    return max(0.0, float(stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(min(tail, 0.0))))


def convolved_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """δ at ε by convolving distributions of losses, each rounded up to a grid (pessimistic), either way round."""
    one_way = _one_way_delta(losses, epsilon)
    if all(loss.logs is None for loss in losses):
        return one_way
    turned = [loss if loss.logs is None else replace(loss, logs=loss.logs[::-1]) for loss in losses]
    return max(one_way, _one_way_delta(turned, epsilon))


def _one_way_delta(losses: Sequence[Loss], epsilon: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld  # a second to load

    kinds = [*_noises(losses), *_choices(losses)]
    grid = max(epsilon / GRID / max(len(kinds), 1), 1e-6)
    total = None
    for make, times in kinds:
        one = make(pld, grid)
        one = one.self_compose(times) if times > 1 else one
        total = one if total is None else total.compose(one)
    return 0.0 if total is None else float(total.get_delta_for_epsilon(epsilon))


def _noises(losses: Sequence[Loss]) -> list:  # type: ignore[type-arg]
    """Makers of the distributions of Gaussian noise, and how often each is there."""
    whole = math.fsum(loss.square for loss in losses if loss.shifts and loss.sampled == 1.0 and loss.sigma2 >= COARSE)
    made: list = []  # type: ignore[type-arg]
    if whole:
        made.append((lambda pld, grid: pld.from_gaussian_mechanism(whole**-0.5, value_discretization_interval=grid), 1))
    fine: Counter[tuple[int, float]] = Counter()
    sampled: Counter[tuple[float, float]] = Counter()
    for loss in losses:
        if loss.shifts and loss.sampled < 1.0:
            # Rounded up, so that steps which differ by little are convolved together.
            sampled[(float(f"{math.sqrt(loss.square) * 1.005:.2e}"), loss.sampled)] += 1
        elif loss.shifts and loss.sigma2 < COARSE:
            for size, count in loss.shifts:
                fine[(size, loss.sigma2)] += count
    for (size, sigma2), times in fine.items():
        made.append((_discrete(size, math.sqrt(sigma2)), times))
    for (mu, rate), times in sampled.items():
        made.append((_subsampled(1.0 / mu, rate), times))
    return made


def _discrete(size: int, sigma: float):  # type: ignore[no-untyped-def]
    return lambda pld, grid: pld.from_discrete_gaussian_mechanism(
        sigma, sensitivity=size, value_discretization_interval=grid
    )


def _subsampled(sigma: float, rate: float):  # type: ignore[no-untyped-def]
    return lambda pld, grid: pld.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=grid)


def _choices(losses: Sequence[Loss]) -> list:  # type: ignore[type-arg]
    """Makers of the distributions of pure draws: their own where outcomes are few, else randomised response's."""
    made: list = []  # type: ignore[type-arg]
    others: Counter[float] = Counter()
    for loss in losses:
        if loss.logs is not None:
            made.append((_vectors(*loss.logs), 1))
        elif loss.most:
            others[loss.most] += 1
    for most, times in others.items():
        made.append((_response(most), times))
    return made


def _vectors(first: np.ndarray, second: np.ndarray):  # type: ignore[no-untyped-def]
    upper, lower = dict(enumerate(first.tolist())), dict(enumerate(second.tolist()))

    return lambda pld, grid: pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=grid)


def _response(most: float):  # type: ignore[no-untyped-def]
    def make(pld, grid):  # type: ignore[no-untyped-def]
        from dp_accounting.pld import common

        return pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(most, 0.0), value_discretization_interval=grid
        )

    return make
