"""What the draws of a tape tell two neighbours apart by, and what all of them together cost: exact, no statistics.

A draw under hidden values x and x' has the privacy loss ln(p(o | x) / p(o | x')) at an outcome o. One of pure noise is
bounded by its largest absolute value over all outcomes, and such bounds add up along every sequence of outcomes. For a
δ the distribution of the loss counts: discrete Gaussian noise of σ² on counters that differ by d has that of a shift
|d|/σ (Canonne, Kamath, Steinke 2020), and choices among few candidates have the one of their two probability vectors.
Distributions of losses compose by convolution, whatever later draws depend on (Zhu, Dong, Wang 2022, Theorem 10).

None of this uses the bounds by which prices are set (`accounting`, `zcdp`, `integer_shifts`): a price is
checked by other formulas than made it. Continuous Gaussians stand for discrete ones from σ² = 16 on, where their δ
differ by less than a fiftieth; below, each counter's own distribution is convolved.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr

COARSE = 16.0  # From this σ² on the continuous Gaussian stands for the discrete one.
LOOSE = 1.02  # Times the promised δ that a δ may be by these formulas, for that.
ROUNDING = 1e-9  # Share of ε by which floating-point sums may be off.
GRID = 2_000  # Steps of ε in which distributions of losses are held.
DIGITS = 60  # Of logarithms of exact odds: far more than one of 2^64 words moves.
NEGLIGIBLE = 1e-13  # Of a δ: what convolutions leave to rounding.
# Sampled tables that are convolved; of more only Rényi divergences are known, as to those who set their price.
MOST_SAMPLES = 16
FEW_TABLES = 4  # Choices whose own distributions are convolved to say what was reached; of more an upper bound is said.
STEP = 1.1  # Between lengths of shifts of sampled tables, which are rounded up where they are convolved.
WHOLE_ORDERS = (*range(2, 33), 40, 48, 56, 64)
# Of Rényi divergences.
ORDERS = np.unique([1.25, 1.5, *WHOLE_ORDERS, *(2.0**power for power in np.arange(2.0, 10.0, 0.125))])


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one draw between two values that it may hide."""

    most: float = 0.0  # Its largest absolute value over all outcomes; of Gaussian noise 0, as `shifts` has it.
    # Of discrete Gaussian noise: how many counters differ by how much, (size, count).
    shifts: tuple[tuple[int, int], ...] = ()
    sigma2: float = 1.0  # Its σ².
    # Log probabilities of all outcomes under either value, float64 (k,), where they are few.
    logs: tuple[np.ndarray, np.ndarray] | None = None
    sampled: float = 1.0  # Probability with which the record that makes the difference took part, by hidden coins.
    # e to the power of `most`, where that is known exactly: of local reports, whose weights are whole numbers.
    odds: Fraction | None = None
    # Log probabilities for the loss the other way round, where `logs` bound only the one way; None where they are the
    # same two.
    back: tuple[np.ndarray, np.ndarray] | None = None
    lost: float = 0.0  # Probability with which something comes out that nothing hides.

    @cached_property
    def square(self) -> float:
        """μ² of Gaussian noise: the squared length of the difference, in σ²."""
        return sum(size * size * count for size, count in self.shifts) / self.sigma2

    @property
    def nothing(self) -> bool:
        """Whether the draw tells nothing apart."""
        return self.most == 0.0 and not self.shifts and self.lost == 0.0


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
    return min(1.0, lost_of(losses) + _delta_of_noise(losses, epsilon))


def lost_of(losses: Sequence[Loss]) -> float:
    """The probability that anything comes out which nothing hides, at most."""
    return math.fsum(loss.lost for loss in losses)


def _delta_of_noise(losses: Sequence[Loss], epsilon: float) -> float:
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
    pure, lost = math.fsum(loss.most for loss in losses), lost_of(losses)
    if lost > delta:
        return math.inf
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
    tables = sum(loss.logs is not None for loss in losses)
    if not 0 < tables <= FEW_TABLES or any(loss.shifts and loss.sampled < 1.0 for loss in losses):
        return high  # an upper bound: many distributions would be convolved for minutes
    ways = [_composed(way, high) for way in _ways([loss for loss in losses if not loss.nothing])]
    return min(high, max(float(way.get_epsilon_for_delta(delta - lost)) for way in ways if way is not None))


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
    if sum(loss.sampled < 1.0 and bool(loss.shifts) for loss in kept) > MOST_SAMPLES:
        return False  # as accountants of samples decide it, by Rényi divergences alone
    return not simple and convolved_delta(kept, epsilon * (1 + ROUNDING)) <= most - lost_of(kept)


def _all_coarse(losses: Sequence[Loss]) -> bool:
    """Whether the curve of the continuous Gaussian holds for whatever is Gaussian here."""
    return all(loss.sampled == 1.0 and loss.sigma2 >= COARSE for loss in losses if loss.shifts)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """δ at ε of Gaussian noise for a shift of μ deviations (Balle, Wang 2018, Theorem 8)."""
    if mu == 0.0:
        return 0.0
    tail = float(log_ndtr(-mu / 2 - epsilon / mu)) + epsilon
    return max(0.0, float(ndtr(mu / 2 - epsilon / mu)) - math.exp(min(tail, 0.0)))


def convolved_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """δ at ε by convolving distributions of losses, each rounded up to a grid (pessimistic), either way round."""
    ways = [_composed(one, epsilon) for one in _ways(losses)]
    return max((float(one.get_delta_for_epsilon(epsilon)) for one in ways if one is not None), default=0.0)


def _ways(losses: Sequence[Loss]) -> list[list[Loss]]:
    """The losses, and those the other way round where these are others."""
    if all(loss.logs is None for loss in losses):
        return [list(losses)]
    turned = [loss if loss.logs is None else replace(loss, logs=loss.back or loss.logs[::-1]) for loss in losses]
    return [list(losses), turned]


def _renyi_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """A δ that is kept at ε, by Rényi divergences, quickly; either way round.

    They add up at every order (Mironov 2017) and are converted by Proposition 12 of Canonne, Kamath, Steinke 2020.
    """
    most = 0.0
    for way in _ways(losses):
        totals = sum((_divergences(loss) for loss in way), np.zeros(len(ORDERS)))
        exponents = (ORDERS - 1) * (totals - epsilon) + ORDERS * np.log1p(-1 / ORDERS) - np.log(ORDERS - 1)
        most = max(most, float(np.exp(min(np.nanmin(exponents), 0.0))))
    return most


def _divergences(loss: Loss) -> np.ndarray:
    """The Rényi divergence of one draw at every one of `ORDERS`."""
    found = _of_noise(loss) if loss.shifts else np.zeros(len(ORDERS))
    if loss.logs is not None:
        first, second = loss.logs
        found += logsumexp(first + (ORDERS[:, None] - 1.0) * (first - second), axis=1) / (ORDERS - 1.0)
    elif loss.most:
        right = -math.log1p(math.exp(-loss.most))  # randomised response, which no draw of this loss exceeds
        wrong, ratio = right - loss.most, (ORDERS - 1.0) * loss.most
        found += np.logaddexp(right + ratio, wrong - ratio) / (ORDERS - 1.0)
    return found


def _of_noise(loss: Loss) -> np.ndarray:
    """Of Gaussian noise; of a sample by the binomial theorem at whole orders (Mironov, Talwar, Zhang 2019)."""
    return np.asarray(ORDERS * loss.square / 2.0) if loss.sampled == 1.0 else _of_sample(loss.square, loss.sampled)


@lru_cache(maxsize=4096)
def _of_sample(square: float, rate: float) -> np.ndarray:
    found = np.full(len(ORDERS), np.inf)
    for order in WHOLE_ORDERS:
        k = np.arange(order + 1)
        ways = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
        terms = ways + (order - k) * math.log1p(-rate) + k * math.log(rate) + k * (k - 1) * square / 2.0
        found[ORDERS == order] = (terms.max() + math.log(np.exp(terms - terms.max()).sum())) / (order - 1.0)
    return found


def _composed(losses: Sequence[Loss], epsilon: float) -> Any:
    """The distribution of all losses together in steps that are fine beside ε; None where there are none."""
    from dp_accounting.pld import privacy_loss_distribution as pld  # a second to load

    kinds = [*_noises(losses), *_choices(losses)]
    # Each rounding adds a variance of up to a quarter of a step squared, so many need finer steps.
    grid = max(epsilon / GRID / max(len(kinds), math.sqrt(sum(times for _, times in kinds)), 1.0), 1e-6)
    total = None
    for make, times in kinds:
        one = make(pld, grid)
        one = one.self_compose(times) if times > 1 else one
        total = one if total is None else total.compose(one)
    return total


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
            step = math.ceil(math.log(loss.square) / 2.0 / math.log(STEP))
            sampled[(STEP**step, loss.sampled)] += 1
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
