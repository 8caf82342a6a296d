"""How much noise a promise needs: the scale of discrete Laplace or discrete Gaussian noise for a sensitivity.

Pure epsilon. Discrete Laplace noise of scale b = Δ1/ε on every counter changes the probability of any table by at most
e^(Δ1/b) = e^ε between neighbours (Ghosh, Roughgarden, Sundararajan 2009). Exact, nothing to solve.

(epsilon, delta). Discrete Gaussian noise, P(z) ∝ exp(-z²/(2σ²)), by the better of two bounds.

*By zCDP, always valid.* The noise is ρ-zCDP with ρ = Δ2²/(2σ²) (Canonne, Kamath, Steinke 2020, Theorem 4), and ρ-zCDP
gives δ = min over α > 1 of exp((α-1)(αρ-ε)) (1-1/α)^α / (α-1) (the same, Corollary 13).

*By the exact privacy loss, for unit shifts.* Let neighbouring tables differ by v with entries in {-1, 0, 1} and
n = ‖v‖². For noise X the privacy loss is a function of T = <v, X> alone, ℓ(T) = (2T + n)/(2σ²), and
δ(ε) = E[(1 - e^(ε-ℓ(T)))₊].

1.  T has at most Θ times the Gaussian density on the integers: P(T=t) <= Θ φ_s(t) with s² = nσ² and
    Θ = ϑ(σ²)^n, ϑ(σ²) = Σ over integers k of exp(-π²σ²k²).

    Up to signs T = Σ X_i over the n touched counters. The points x of Z^n with Σ x_i = t are a translate of the lattice
    A = Z^n ∩ 1^⊥ at height t²/n: ‖x‖² = t²/n + ‖w‖². By Poisson summation the Gaussian sum over any translate of A is at
    most (2πσ²)^((n-1)/2) / √n times Θ' = Σ over y in the dual of A of exp(-2π²σ²‖y‖²), and each coordinate's normaliser
    is at least σ√(2π); so P(T=t) <= Θ' φ_s(t). The dual of A is Z^n projected along 1. Write a point of it as the
    projection of the z in its class whose median is 0. The mean of z is within one standard deviation of its median, so
    ‖z‖² = ‖y‖² + n·mean(z)² <= 2‖y‖², and Θ' <= Σ over z in Z^n of exp(-π²σ²‖z‖²) = Θ.

2.  So δ(ε) <= Θ Σ_t φ_s(t) (1 - e^(ε-ℓ(t)))₊. The summand is log-concave, hence unimodal, and its sum over the integers
    is at most its integral plus its maximum. With μ = √n/σ and t = sz the integral is the Gaussian mechanism's exact
    δ(ε, μ) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) (Balle, Wang 2018, Theorem 8).

3.  For the maximum, 1 - e^(-u) <= u and a = ε/μ - μ/2 give φ_s(t) (ℓ(t) - ε)₊ = φ(z) (z - a)₊ / σ², whose largest value
    is φ(z*) / (z* σ²) at z* = (a + √(a² + 4))/2.

4.  Θ, δ(ε, μ) and, since a falls as μ grows, the maximum all grow with n; so the worst v is the longest, n = Δ2².

*Several tables at once.* Independent noise on several tables, table i with shifts of squared length n_i <= Δ2²_i. Step 1
and Σ_{t>=m} φ_s(t) <= P(N(0, s²) >= m-1) + η, η = Σ_t φ_s(t) - 1 = 2 Σ_{k>=1} exp(-2π²s²k²) (compare sum and integral on
the side of the mode where the density is monotone, and Poisson for the total) say that up to the factor Θ_i the loss of
table i is below that of the continuous Gaussian of the same μ_i, plus 1/σ²_i, except on mass η_i. Losses add up and
(1 - e^(ε-ℓ))₊ grows with ℓ, so

    δ(ε) <= Π Θ_i · (δ(ε - Σ 1/σ²_i, μ) + Π (1 + η_i) - 1),  μ² = Σ Δ2²_i/σ²_i.

Each σ² is found in floating point with a margin far above its rounding errors and then rounded up to a short fraction.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from scipy.special import erfcx

from .neighbours import Sensitivity

# Bounds on delta are met with this relative margin; their floating-point errors are below 1e-9 of them.
MARGIN = 1e-7
SIGNIFICANT_DIGITS = 6


@dataclass(frozen=True)
class NoiseScale:
    """A distribution on the integers, stated exactly.

    Attributes
    ----------
    distribution
        ``"discrete_laplace"``: P(z) ∝ exp(-|z|/parameter); ``"discrete_gaussian"``: P(z) ∝ exp(-z²/(2·parameter)).
    parameter
        The scale b of the Laplace, the σ² of the Gaussian.
    """

    distribution: Literal["discrete_laplace", "discrete_gaussian"]
    parameter: Fraction

    def __post_init__(self) -> None:
        if self.distribution not in ("discrete_laplace", "discrete_gaussian"):
            raise ValueError(f"Noise is discrete_laplace or discrete_gaussian, not {self.distribution!r}.")
        if not isinstance(self.parameter, Fraction) or self.parameter <= 0:
            raise ValueError("The parameter of a noise distribution must be a fraction above zero.")

    @property
    def variance(self) -> float:
        """Variance of one draw."""
        if self.distribution == "discrete_laplace":
            half_rate = float(1 / (2 * self.parameter))
            # 2q/(1-q)² with q = exp(-1/b); the hyperbolic sine keeps all digits when q is close to 1.
            return 0.0 if half_rate > 350 else 1 / (2 * math.sinh(half_rate) ** 2)
        sigma2 = float(self.parameter)
        if sigma2 > 4:
            return sigma2  # short of it by less than 1e-30, by Poisson summation
        weights = {z: math.exp(-z * z / (2 * sigma2)) for z in range(1, 80)}
        return 2 * sum(z * z * w for z, w in weights.items()) / (1 + 2 * sum(weights.values()))

    def describe(self) -> str:
        """One plain sentence."""
        kind = "Laplace" if self.distribution == "discrete_laplace" else "Gaussian"
        return (
            f"Every counter gets its own whole-number draw of {kind} noise with standard deviation "
            f"{math.sqrt(self.variance):.4g}."
        )

    def to_dict(self) -> dict[str, str]:
        """Return an exact record of strings, for JSON."""
        return {"distribution": self.distribution, "parameter": str(self.parameter)}

    @classmethod
    def from_dict(cls, record: dict[str, str]) -> "NoiseScale":
        """Rebuild what `to_dict` wrote; ValueError, TypeError or KeyError for anything else."""
        return cls(record["distribution"], parse_fraction(record["parameter"]))


def parse_fraction(text: str) -> Fraction:
    """Read "p/q" or "p" in plain digits; the one spelling of exact numbers in records. ValueError otherwise."""
    if not isinstance(text, str) or len(text) > 200:
        raise ValueError("An exact number is a short text such as 3/2.")
    numerator, _, denominator = text.partition("/")
    if not (numerator.lstrip("-").isdecimal() and (denominator.isdecimal() or text == numerator)):
        raise ValueError("An exact number is written p or p/q in digits.")
    if denominator and int(denominator) == 0:
        raise ValueError("An exact number has no zero below the line.")
    return Fraction(int(numerator), int(denominator or 1))


def calibrate(sensitivity: Sensitivity, epsilon: Fraction, delta: Fraction = Fraction(0)) -> NoiseScale:
    """Return the noise that makes an integer table (epsilon, delta)-differentially private.

    Parameters
    ----------
    sensitivity
        How far one person moves the table.
    epsilon, delta
        The promise for this table alone, exact (a share of a `Budget`); delta 0 gives discrete Laplace noise,
        otherwise discrete Gaussian.
    """
    return calibrate_shares([(sensitivity, Fraction(1))], epsilon, delta)[0]


def calibrate_shares(
    tables: Sequence[tuple[Sensitivity, Fraction]], epsilon: Fraction, delta: Fraction = Fraction(0)
) -> tuple[NoiseScale, ...]:
    """Return the noise of several tables of the same people that are (epsilon, delta)-private together.

    Parameters
    ----------
    tables
        (sensitivity, share) of each table; the shares, relative to each other, say what part of epsilon (pure) or of
        ρ (Gaussian) each table spends.
    epsilon, delta
        The promise for all tables together.

    Returns
    -------
    tuple of NoiseScale
        One a table.
    """
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    if not tables or min(share for _, share in tables) <= 0:
        raise ValueError("Every table needs a share above zero.")
    if epsilon <= 0 or not 0 <= delta < 1:
        raise ValueError("Epsilon must be above 0 and delta from 0 to below 1.")
    whole = sum(Fraction(share) for _, share in tables)
    shares = [Fraction(share) / whole for _, share in tables]
    sensitivities = [sensitivity for sensitivity, _ in tables]
    if delta == 0:
        return tuple(
            NoiseScale("discrete_laplace", Fraction(sensitivity.l1) / (epsilon * share))
            for sensitivity, share in zip(sensitivities, shares, strict=True)
        )
    rho = _largest_rho(sensitivities, shares, float(epsilon), float(delta))
    return tuple(
        NoiseScale("discrete_gaussian", _round_up(sensitivity.l2_squared / (2 * share * rho)))
        for sensitivity, share in zip(sensitivities, shares, strict=True)
    )


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the least delta of continuous Gaussian noise at `epsilon`, for μ = Δ2/σ (Balle, Wang 2018, Theorem 8).

    With a = ε/μ - μ/2, b = ε/μ + μ/2 and Mills' ratio M(x) = Φ(-x)/φ(x) it is φ(a)(M(a) - M(b)): no large powers of e to
    cancel. The result is rounded up by more than the error of the difference.
    """
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a < -20:
        return 1.0
    mills_a, mills_b = _mills(a), _mills(b)
    return min(1.0, _normal_density(a) * (mills_a - mills_b + 1e-14 * mills_a))


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Return a delta with which ρ-zCDP implies (epsilon, delta) (Canonne, Kamath, Steinke 2020, Corollary 13).

    Every α gives a valid bound; the best is where (2α-1)ρ - ε + log(1-1/α), the derivative of its logarithm, crosses
    zero.
    """
    low, high = 1.0 + 1e-9, (epsilon + 1) / (2 * rho) + 2
    for _ in range(200):
        alpha = (low + high) / 2
        if (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha) < 0:
            low = alpha
        else:
            high = alpha
    exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)
    return math.exp(min(exponent, 0.0))


def largest_zcdp_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ, rounded down, with which ρ-zCDP implies (epsilon, delta)."""
    return _largest(lambda rho: zcdp_delta(epsilon, rho) <= delta * (1 - MARGIN))


class LatticeSlack(NamedTuple):
    """How far discrete Gaussian noise may lose more than continuous noise of the same ρ: 1/σ², log Θ, log(1 + η)."""

    epsilon: float
    log_factor: float
    log_mass: float


def lattice_slack(l2_squared: int, sigma2: float) -> LatticeSlack:
    """Bound the slack of a table with unit shifts of squared length `l2_squared` or less (geometric series)."""
    tail = math.exp(-(math.pi**2) * sigma2)
    if tail > 0.5:
        return LatticeSlack(math.inf, math.inf, math.inf)
    log_theta = l2_squared * math.log1p(2 * tail / (1 - tail))
    return LatticeSlack(1 / sigma2, log_theta, math.log1p(2 * tail**2 / (1 - tail**2)))


def unit_shift_delta(epsilon: float, tables: Sequence[tuple[int, float]]) -> float:
    """Bound the delta at `epsilon` of discrete Gaussian noise on tables with unit shifts (steps 1 to 4 of the module).

    Parameters
    ----------
    epsilon
        The privacy loss that may be passed with probability delta only.
    tables
        (Δ2², σ²) of each table.
    """
    slacks = [lattice_slack(l2_squared, sigma2) for l2_squared, sigma2 in tables]
    log_factor = sum(slack.log_factor for slack in slacks)
    if log_factor > 1:
        return 1.0
    mu = math.sqrt(sum(l2_squared / sigma2 for l2_squared, sigma2 in tables))
    lattice_loss = sum(slack.epsilon for slack in slacks)
    bound = gaussian_delta(epsilon - lattice_loss, mu) + math.expm1(sum(slack.log_mass for slack in slacks))
    if len(tables) == 1:
        a = epsilon / mu - mu / 2
        peak = (a + math.sqrt(a * a + 4)) / 2
        bound = min(bound, gaussian_delta(epsilon, mu) + _normal_density(peak) / peak * lattice_loss)
    return min(1.0, math.exp(log_factor) * bound)


def _largest_rho(
    sensitivities: Sequence[Sensitivity], shares: Sequence[Fraction], epsilon: float, delta: float
) -> Fraction:
    """Return the largest total ρ that a proven bound allows, rounded down."""
    best = largest_zcdp_rho(epsilon, delta)
    if all(sensitivity.unit_shifts for sensitivity in sensitivities):
        lengths = [sensitivity.l2_squared for sensitivity in sensitivities]
        weights = [float(share) for share in shares]

        def allowed(rho: float) -> bool:
            tables = [(n, n / (2 * rho * weight)) for n, weight in zip(lengths, weights, strict=True)]
            return unit_shift_delta(epsilon, tables) <= delta * (1 - MARGIN)

        best = max(best, _largest(allowed))
    return Fraction(best)


def _largest(allowed: Callable[[float], bool]) -> float:
    """Return the largest float between 1e-70 and 1e5 for which the falling predicate `allowed` holds."""
    low, high = 1e-70, 1e5
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        if allowed(middle):
            low = middle
        else:
            high = middle
    return low


def _round_up(value: Fraction) -> Fraction:
    """Round up to a few significant decimal digits: a short fraction, and never less noise than was asked for."""
    exponent = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(value))
    unit = Fraction(10) ** -min(exponent, 30)
    return math.ceil(value / unit) * unit


def _normal_density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _mills(x: float) -> float:
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))
