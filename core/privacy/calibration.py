"""How much noise a promise needs: which distribution, and of which scale, for a sensitivity.

Pure epsilon: discrete Laplace noise of scale b = Δ1/ε on every counter changes the probability of any table by at
most e^(Δ1/b) = e^ε between neighbours (Ghosh, Roughgarden, Sundararajan 2009). Exact; nothing to solve.
Where the sketch says how far one person moves whole blocks of the table, Δ, rounded noise vectors of scale Δ/ε for the
blocks keep ε as well (`vector_noise`), and the distribution with the smaller variance is taken.

(epsilon, delta): discrete Gaussian noise of parameter σ² is ρ-zCDP with ρ = Δ2²/(2σ²) (Canonne, Kamath, Steinke 2020,
Theorem 4). The largest ρ is the better of two proven bounds: the conversion from zCDP (below), valid for every
table, and a sharper one of `integer_shifts`, where one person moves counters by -1, 0 and 1 only and
where noise is wider than a few units. It is found in
floating point with a margin far above its rounding errors, and σ² is then rounded up to a short fraction.

What keeps ε keeps (ε, δ) for every δ, so pure noise is taken under (ε, δ) too where its variance is the smaller one:
for tables of which a person moves few counters. So a δ never makes a table worse. Of several tables either all have
pure noise, with shares of ε, or all have Gaussian noise, with shares of ρ, whichever is better for the table with the
largest share. Less noise under one promise is not free: in a ledger it counts for more ρ than the Gaussian would.

Zero-concentrated differential privacy has one number ρ that adds up. A mechanism is ρ-zCDP when the Rényi divergence of
every order α > 1 between neighbours is at most αρ (Bun, Steinke 2016). ρ-zCDP gives (ε, δ) with δ = min over α > 1 of
exp((α-1)(αρ-ε)) (1-1/α)^α / (α-1) (Canonne, Kamath, Steinke 2020, Corollary 13). Every α gives a valid bound, so a
search that stops early is never wrong, only wasteful.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.special import erfc, gammaln

from ..formatting.numbers import significant
from .budget import Sensitivity
from .integer_shifts import GaussianTable, gaussian_tables_delta

# Bounds on delta are met with this relative margin; their floating-point errors are below 1e-9 of them.
MARGIN = 1e-7


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Return a delta with which ρ-zCDP implies (epsilon, delta)."""
    alpha = best_order(epsilon, rho)
    exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)
    return math.exp(min(exponent, 0.0))


def best_order(epsilon: float, rho: float) -> float:
    """Return the α with which the conversion of ρ-zCDP gives the least delta.

    It is where (2α-1)ρ - ε + log(1-1/α), the derivative of the logarithm of the bound, crosses zero.
    """
    low, high = 1.0 + 1e-9, (epsilon + 1) / (2 * rho) + 2
    for _ in range(100):
        alpha = (low + high) / 2
        if (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha) < 0:
            low = alpha
        else:
            high = alpha
    return alpha


@lru_cache(maxsize=1024)
def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon with which ρ-zCDP implies (epsilon, delta), rounded up."""
    low, high = 0.0, rho + 2 * math.sqrt(rho * -math.log(delta)) + 1e-12  # the classical conversion, Proposition 1.3
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        if zcdp_delta(middle, rho) <= delta * (1 - MARGIN):
            high = middle
        else:
            low = middle
    return high


def pure_epsilon(epsilon: float, delta: float) -> float:
    """Return the least epsilon at which one (epsilon, 0)-private mechanism keeps this delta, rounded up.

    The worst of them is randomised response (Kairouz, Oh, Viswanath 2015), which loses ε with probability
    p = 1 / (1 + e^-ε) and -ε otherwise. At ε' from 0 to ε it keeps δ = p (1 - e^(ε' - ε)), so ε' = ε + log(1 - δ / p).
    """
    share = delta * (1 - MARGIN) * (1 + math.exp(-epsilon))
    up = 4 * math.ulp(epsilon)  # of which the sum, and whoever gave this epsilon as a float, may have lost one
    return max(0.0, epsilon + math.log1p(-share) + up) if share < 1 else 0.0


@lru_cache(maxsize=1024)
def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ, rounded down, with which ρ-zCDP implies (epsilon, delta)."""
    low, high = 1e-70, 1e5
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        if zcdp_delta(epsilon, middle) <= delta * (1 - MARGIN):
            low = middle
        else:
            high = middle
    return low


SIGNIFICANT_DIGITS = 6
LARGEST_BLOCK = 1 << 24
# Beyond this variance the correction to (m+1)b² + 1/12 is below a millionth of it.
PLAIN_VARIANCE = 100
KINDS = ("discrete_laplace", "discrete_gaussian", "rounded_l2", "local_reports", "shared_laplace")


@lru_cache(maxsize=64)
def rounded_l2_variance(scale: Fraction, block: int) -> float:
    """Return the variance of one counter's noise, for scale b and vectors of length m.

    It is (m+1)b² + 1/12 to within a millionth where that is large. For small noise, one coordinate is b√C times a
    standard normal number with C chi-square of m+1 degrees of freedom, and the variance of a rounded normal number,
    Σ 2(2n+1) P(N > (n+1/2)/σ) over n = 0, 1, ..., is averaged over log C by the trapezoidal rule, which converges
    exponentially.
    """
    ideal = float((block + 1) * scale**2)
    if ideal > PLAIN_VARIANCE:
        return ideal + 1 / 12
    b, shape = float(scale), (block + 1) / 2
    if b < 1e-4 and ideal < 1e-6:
        return 0.0  # too small for a float
    # Peak and width of what is averaged, whose logarithm is about shape·u - C/2 - 1/(8b²C) at C = e^u.
    peak = shape + math.hypot(shape, 0.5 / b)
    width = 1 / math.sqrt(peak / 2 + 1 / (8 * b * b * peak))
    step = 0.2 * width
    logs = math.log(peak) + step * np.arange(-200, 36)
    weights = step * np.exp(shape * logs - np.exp(logs) / 2 - shape * math.log(2) - gammaln(shape))
    sigmas = b * np.exp(logs / 2)
    steps = np.arange(int(10 * sigmas.max()) + 1)
    tails = erfc((steps + 0.5) / (sigmas[:, None] * math.sqrt(2))) / 2
    return float(weights @ (tails @ (2.0 * (2 * steps + 1))))


@dataclass(frozen=True)
class NoiseScale:
    """A distribution on the integers, stated exactly."""

    # ``"discrete_laplace"``: P(z) ∝ exp(-|z|/parameter); ``"discrete_gaussian"``: P(z) ∝ exp(-z²/(2·parameter));
    # ``"rounded_l2"``: vectors of density proportional to exp(-|z|/parameter), |z| the Euclidean length, rounded;
    # ``"local_reports"``: what is left of the coins that people's own devices flipped, which nobody draws again;
    # ``"shared_laplace"``: the sum of more parts than make up a ``"discrete_laplace"`` (`noise.divided_noise`).
    distribution: Literal["discrete_laplace", "discrete_gaussian", "rounded_l2", "local_reports", "shared_laplace"]
    # The scale b of the Laplace and of the length of a vector, the σ² of the Gaussian, the variance that local reports
    # leave in a counter on average.
    parameter: Fraction
    # Length m of a vector of ``"rounded_l2"``; None for noise that is independent between counters.
    block: int | None = None
    # What each of ``"local_reports"`` keeps by itself; None for noise that is added to sums.
    epsilon: Fraction | None = None
    # Of ``"shared_laplace"``: how many draws of that noise its parts make up, above one; None for all other noise.
    draws: Fraction | None = None

    def __post_init__(self) -> None:
        if self.distribution not in KINDS:
            raise ValueError(f"Noise is {' or '.join(KINDS)}, not {self.distribution!r}.")
        if not isinstance(self.parameter, Fraction) or self.parameter <= 0:
            raise ValueError("The parameter of a noise distribution must be a fraction above zero.")
        if (self.block is None) == (self.distribution == "rounded_l2"):
            raise ValueError("Noise has a block when it is drawn for whole vectors, and only then.")
        if self.block is not None and not (type(self.block) is int and 1 <= self.block <= LARGEST_BLOCK):
            raise ValueError(f"A block of noise is a whole number from 1 to {LARGEST_BLOCK}.")
        if (self.epsilon is None) == self.local or not (self.epsilon is None or self.epsilon > 0):
            raise ValueError("Noise has an epsilon above zero when it comes from local reports, and only then.")
        if (self.draws is None) == (self.distribution == "shared_laplace") or not (
            self.draws is None or self.draws > 1
        ):
            raise ValueError(
                "Noise has a number of draws above one when it comes from parts of several, and only then."
            )

    @property
    def local(self) -> bool:
        """Whether people's own devices made it, so that no sum without it ever existed."""
        return self.distribution == "local_reports"

    def fits(self, sensitivity: Sensitivity) -> bool:
        """Whether the sensitivity is stated in the terms that this kind of noise needs."""
        return self.block is None or self.block == sensitivity.block

    @property
    def variance(self) -> float:
        """Variance of the noise in one counter."""
        if self.distribution == "rounded_l2":
            return rounded_l2_variance(self.parameter, self.block)
        if self.draws is not None:
            return float(self.draws) * NoiseScale("discrete_laplace", self.parameter).variance
        if self.distribution == "discrete_laplace":
            half_rate = float(1 / (2 * self.parameter))
            # 2q/(1-q)² with q = exp(-1/b); the hyperbolic sine keeps all digits when q is close to 1.
            return 0.0 if half_rate > 350 else 1 / (2 * math.sinh(half_rate) ** 2)
        sigma2 = float(self.parameter)
        if self.local or sigma2 > 4:
            return sigma2  # short of it by less than 1e-30, by Poisson summation
        weights = {z: math.exp(-z * z / (2 * sigma2)) for z in range(1, 80)}
        return 2 * sum(z * z * w for z, w in weights.items()) / (1 + 2 * sum(weights.values()))

    def describe(self) -> str:
        """One plain sentence."""
        deviation = significant(math.sqrt(self.variance), 4)
        if self.block is not None:
            return (
                f"Every vector of {self.block:,} counters gets one draw of noise as a whole, of random direction and "
                f"length and rounded, with standard deviation {deviation} in each counter."
            )
        if self.local:
            return (
                "Nobody was trusted: every person's own device randomised what it sent, and counters are estimated "
                f"from these reports with a standard deviation of {deviation} on average."
            )
        if self.draws is not None:
            return (
                "Every counter has the noise of all owners together, each of whom drew a part of a whole-number draw "
                f"of Laplace noise, with standard deviation {deviation}."
            )
        kind = "Laplace" if self.distribution == "discrete_laplace" else "Gaussian"
        return f"Every counter gets its own whole-number draw of {kind} noise with standard deviation {deviation}."

    def to_dict(self) -> dict[str, str | int]:
        """Return an exact record, for JSON; with a block and an epsilon only where there is one."""
        record: dict[str, str | int] = {"distribution": self.distribution, "parameter": str(self.parameter)}
        if self.epsilon is not None:
            return {**record, "epsilon": str(self.epsilon)}
        if self.draws is not None:
            return {**record, "draws": str(self.draws)}
        return record if self.block is None else {**record, "block": self.block}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> NoiseScale:
        """Rebuild what `to_dict` wrote; ValueError, TypeError or KeyError for anything else."""
        epsilon = parse_fraction(record["epsilon"]) if "epsilon" in record else None
        draws = parse_fraction(record["draws"]) if "draws" in record else None
        return cls(record["distribution"], parse_fraction(record["parameter"]), record.get("block"), epsilon, draws)


def parse_fraction(text: str) -> Fraction:
    """Read "p/q" or "p" in plain digits, the one spelling of exact numbers in records; ValueError otherwise."""
    if not isinstance(text, str) or len(text) > 200:
        raise ValueError("An exact number is a short text such as 3/2.")
    numerator, bar, denominator = text.partition("/")
    if not (numerator.isdecimal() and (denominator.isdecimal() if bar else True)):
        raise ValueError("An exact number is written p or p/q in digits.")
    if bar and int(denominator) == 0:
        raise ValueError("An exact number has no zero below the line.")
    return Fraction(int(numerator), int(denominator) if bar else 1)


def calibrate(sensitivity: Sensitivity, epsilon: Fraction, delta: Fraction = Fraction(0)) -> NoiseScale:
    """Return the noise that makes an integer table (epsilon, delta)-differentially private.

    `sensitivity`: How far one person moves the table. `epsilon`, `delta`: The promise for this table alone, exact (a
    share of a `Budget`).

    Returns the kind of the smallest variance: discrete Laplace noise, rounded noise vectors where the sensitivity
    offers them, or, with a delta, discrete Gaussian noise.
    """
    return calibrate_shares([(sensitivity, Fraction(1))], epsilon, delta)[0]


def calibrate_gaussian(sensitivity: Sensitivity, epsilon: Fraction, delta: Fraction) -> NoiseScale:
    """Return the Gaussian noise that makes a table (epsilon, delta)-private, even where other noise were smaller."""
    return calibrate_shares([(sensitivity, Fraction(1))], epsilon, delta, gaussian_only=True)[0]


def calibrate_shares(
    tables: Sequence[tuple[Sensitivity, Fraction]],
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    *,
    gaussian_only: bool = False,
) -> tuple[NoiseScale, ...]:
    """Return the noise of several tables of the same people that are (epsilon, delta)-private together.

    `tables`: (sensitivity, share) of each table; the shares, relative to each other, say what part of epsilon (pure) or
    of ρ (Gaussian) each table spends. `gaussian_only`: Take Gaussian noise wherever delta allows it, for mechanisms
    whose theory is of Gaussian noise.

    Returns one noise a table: all pure or all Gaussian, by the variance of the table of the largest share, the first of
    them.
    """
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    if not tables or min(share for _, share in tables) <= 0:
        raise ValueError("Every table needs a share above zero.")
    if epsilon <= 0 or not 0 <= delta < 1:
        raise ValueError("Epsilon must be above 0 and delta from 0 to below 1.")
    whole = sum(Fraction(share) for _, share in tables)
    sensitivities = [sensitivity for sensitivity, _ in tables]
    shares = [Fraction(share) / whole for _, share in tables]
    parts = list(zip(sensitivities, shares, strict=True))
    pure = tuple(pure_scale(sensitivity, epsilon * share) for sensitivity, share in parts)
    if delta == 0:
        return pure
    rho = Fraction(_calibrated_rho(tuple(sensitivities), tuple(shares), float(epsilon), float(delta)))
    gaussian = tuple(gaussian_scale(sensitivity, rho * share) for sensitivity, share in parts)
    largest = shares.index(max(shares))
    return gaussian if gaussian_only or gaussian[largest].variance < pure[largest].variance else pure


def gaussian_scale(sensitivity: Sensitivity, rho: Fraction) -> NoiseScale:
    """Return the Gaussian noise that makes an integer table rho-zCDP."""
    return NoiseScale("discrete_gaussian", round_up(sensitivity.l2_squared / (2 * rho)))


def pure_scale(sensitivity: Sensitivity, epsilon: Fraction) -> NoiseScale:
    """Return the noise of smaller variance that keeps a pure epsilon; Laplace noise where they tie."""
    laplace = NoiseScale("discrete_laplace", sensitivity.l1 / epsilon)
    if sensitivity.blocks_l2 is None:
        return laplace
    vectors = NoiseScale("rounded_l2", sensitivity.blocks_l2 / epsilon, sensitivity.block)
    return min(laplace, vectors, key=lambda scale: scale.variance)


@lru_cache(maxsize=256)
def _calibrated_rho(
    sensitivities: tuple[Sensitivity, ...], shares: tuple[Fraction, ...], epsilon: float, delta: float
) -> float:
    """Return the largest total ρ that a proven bound allows, rounded down.

    Cached, as forecasts and rehearsals ask for the same promise again and again; nothing in it is private.
    """
    proven = largest_rho(epsilon, delta)
    parts = [(s.l2_squared, float(w), s.unit_shifts) for s, w in zip(sensitivities, shares, strict=True)]
    unlike = set(parts)  # a trainer has a part of the same for every step

    def allowed(rho: float) -> bool:
        found = {part: GaussianTable(part[0], part[0] / (2 * rho * part[1]), part[2]) for part in unlike}
        return gaussian_tables_delta(epsilon, [found[part] for part in parts]) <= delta * (1 - MARGIN)

    # The sharper bound gains at most a factor of two or so over the conversion, and nothing for very few counters.
    high = 8 * proven
    while high / proven > 1 + 1e-12:
        middle = math.sqrt(proven * high)
        if allowed(middle):
            proven = middle
        else:
            high = middle
    return proven


ROUNDING = 1 / 12  # Variance of what is lost where a weighted sum of noisy tables is rounded to whole numbers.


def weighed(scale: NoiseScale, spread: float) -> NoiseScale:
    """One draw of noise of the kind and the variance of a weighted sum of draws, rounded to a whole number.

    It says how far a sum of released tables may be off, and hides nothing: that was done when they were released.
    """
    variance = scale.variance * spread + ROUNDING
    if scale.distribution == "discrete_gaussian":
        parameter = variance
    elif scale.block is None:  # 1/(2 sinh²(1/2b)) is the variance of Laplace noise
        parameter = 0.5 / math.asinh(math.sqrt(0.5 / variance))
    else:
        parameter = math.sqrt(variance / (scale.block + 1))
    return NoiseScale(scale.distribution, round_up(Fraction(parameter)), scale.block)


def round_up(value: Fraction) -> Fraction:
    """Round up to a few significant decimal digits: a short fraction, and never less noise than was asked for."""
    places = min(SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(value)), 30)
    unit = Fraction(10) ** -places
    return math.ceil(value / unit) * unit
