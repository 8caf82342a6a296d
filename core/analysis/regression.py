"""Any column predicted from any others, from one release of sums of products, with intervals for what noise has done.

With z = (1, x) of the records, M the released matrix, and λ on every coordinate but the first,

    (M_FF + λ) θ = M_Ft.

For M = A + N with the records' own A, and θ° the solution with A and the same λ,

    (M_FF + λ)(θ - θ°) = (N w)_F,    w = 1 at t, -θ° at F,

without any approximation. What is to the left is known, and θ is put for θ° in w. So θ - θ° has nearly the covariance
G C Gᵀ, where G is the inverse and C the covariance of (N w)_F (`Sums.error_covariance`): intervals are for what the
records themselves give with the same ridge.

*Conclusions beyond the records* are about people like them, of whom the records are a sample. A ridge draws slopes
towards 0 and would draw an interval with them, so these are of the solution without one, which needs no more than what
was released: b = S θ° for any ridge, so the ridge's own bias, λ (S + λ)⁻¹ S⁻¹ b, is known and taken off. Added is the
sampling error of least squares, residual variance times G A Gᵀ. Where S has directions along which records differ by
less than `LEAST` times the noise, θ° is no small step from θ any more: what hangs on them has no interval at all.

*How strong a ridge should be.* Noise in the sums of products has the spectral norm 2 s √p or so (s its deviation in an
entry, p coordinates), and least squares that divide by sums smaller than that say nothing. A ridge λ is added to all of
them. The choice is a function of what was released and of public facts, so it is post-processing and costs no privacy.

*least-error.* Of ridges from 2 s √p on, each √2 times the last, the one whose fit takes most off the sum of squares, as
far as is known. It seems to take off 2 θᵀb - θᵀSθ. Noise alone makes that look larger by 2 s² |u|² tr (S + λ)⁻¹ (as
Mallows' C_p has it for sampling errors; to first order, the noise of the normal equations has the covariance s² |u|²
I), where u = (-w₀, -θ, 1) has the residual's own coefficients, w₀ the intercept. The rest is known but for the noise
of uᵀNu - u₀ᵀNu₀, u₀ = (-mean, 0, 1), in which a pair of coordinates counts twice: √2 s ‖uuᵀ - u₀u₀ᵀ‖ at most, at a
fixed u. A ridge whose gain over the mean is not `SURELY` times that is not taken. Where there is none the ridge is
infinite: the mean of the released sums is predicted, as slopes would say more of the noise than of the records. So it
is where `SURELY` s is beyond the number of records, which no sum of their products can pass.

*What choosing does to intervals.* Slopes that are taken by little more than `SURELY` deviations are more often those
that noise has flattered than those that it has hidden (the winner's curse). What is `BARELY` taken gets intervals
`LONGER` times as long: as long as it takes, by measurement, on sets where slopes are taken once in ten draws.

*adassp.* The rule of AdaSSP (Wang 2018): λ = max(0, s √(p log(2 p²/.05)) - λ_min), where λ_min is what the least
eigenvalue of the sums surely is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..domain import Domain
from ..errors import RequestError
from ..releases.release import Release
from ..runtime.parameters import check_choice, check_number
from ..sketches.answers import check_level
from ..sketches.sums_of_products import Products
from .product_sums import ONE, Sums, Term

RULES = ("least-error", "adassp")
LEAST, BESIDE = 2.0, 0.5
STEPS = np.arange(0.0, 12.0, 0.5)
FAILURE = 0.05
SURELY = 2.0  # Deviations of noise by which slopes must be better than the mean.
HIDDEN = 0.05  # Share of a slope's variance that may come from directions that noise hides.
# Deviations up to which they are flattered by having been taken, and how much longer intervals are then.
BARELY, LONGER = 2.25, 1.25


class Ridge(NamedTuple):
    """A ridge that was chosen."""

    size: float  # λ, in units of records; infinite where slopes say nothing.
    # How many times as long intervals must be because slopes were taken for what noise made of them, too.
    longer: float = 1.0


def choose_ridge(
    rule: str,
    sums: np.ndarray,
    products: np.ndarray,
    deviation: float,
    means: np.ndarray | None = None,
    records: float = math.inf,
) -> Ridge:
    """The ridge by a rule, infinite where nothing can be told from noise.

    `sums`, `products`: The noisy centred sums of products of the p coordinates, and those with the target: S and b.
    `deviation`: s, of the noise in each. `means`: Of the p coordinates and, last, of the target; 0 when None.
    """
    values, axes = np.linalg.eigh(sums)
    size = len(sums)
    if rule == "adassp":
        surely = max(0.0, values[0] - 2.0 * deviation * math.sqrt(size))
        return Ridge(max(0.0, deviation * math.sqrt(size * math.log(2.0 * size**2 / FAILURE)) - surely))
    if SURELY * deviation > records:
        return Ridge(math.inf)
    noise = deviation * math.sqrt(size) * 2.0**STEPS
    ridges = np.maximum(LEAST * noise, BESIDE * noise - values[0])
    along = axes.T @ products
    shares = 1.0 / (values + ridges[:, None])
    fitted = along * shares
    taken = 2.0 * fitted @ along - fitted**2 @ values
    means = np.zeros(size + 1) if means is None else np.clip(means, -1.0, 1.0)
    intercepts = means[-1] - fitted @ (axes.T @ means[:-1])
    length = intercepts**2 + (fitted**2).sum(axis=1) + 1.0
    by_noise = 2.0 * deviation**2 * length * shares.sum(axis=1)
    apart = length**2 + (means[-1] ** 2 + 1.0) ** 2 - 2.0 * (intercepts * means[-1] + 1.0) ** 2
    gain, known = taken - by_noise, deviation * np.sqrt(2.0 * np.maximum(apart, 0.0))
    surely = gain > SURELY * known
    if not surely.any():
        return Ridge(math.inf)
    best = int(np.argmax(np.where(surely, gain, -np.inf)))
    return Ridge(float(ridges[best]), LONGER if gain[best] < BARELY * known[best] else 1.0)


ABOUT = ("records", "population")
SMALLEST = 1e-12  # The least sum of squares that is divided by, as a share of the number of records.

LARGEST = 4.0  # Mean squared residual of predictions inside the bounds, between -1 and 1 as what they are of.


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients that predict one coordinate from others.

    Attributes
    ----------
    target : int
        The place of what is predicted.
    places : tuple[int, ...]
        The 1 in front, and the coordinates that it is predicted from.
    ridge : float
        λ, in units of records; infinite where slopes say nothing and the mean is predicted.
    weights : np.ndarray
        The coefficient of each place, float64 (p + 1,), for coordinates between -1 and 1.
    covariance : np.ndarray
        Of the weights, by noise alone, float64 (p + 1, p + 1).
    residual : float
        Mean squared residual of the records, without what the fit owes to noise: less than it seems, by 2 tr(G C).
    """

    sums: Sums
    target: int
    places: tuple[int, ...]
    ridge: float
    weights: np.ndarray
    covariance: np.ndarray
    sampling: np.ndarray
    residual: float

    @property
    def _goal(self) -> Term:
        return cast(Term, self.sums.terms[self.target])

    @property
    def name(self) -> str:
        """What is predicted, for people."""
        return self._goal.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it is predicted from."""
        return tuple(dict.fromkeys(term.column for term in self._terms))

    @cached_property
    def _terms(self) -> tuple[Term, ...]:
        return tuple(cast(Term, self.sums.terms[place]) for place in self.places[1:])

    @property
    def intercept(self) -> float:
        """What is predicted where all numbers are 0 and there is no category."""
        middles = np.array([term.middle / term.half for term in self._terms])
        return self._goal.middle + self._goal.half * float(self.weights[0] - middles @ self.weights[1:])

    def coefficients(self, level: float = 0.95, about: str = "records") -> pd.DataFrame:
        """Each coefficient in the columns' own units, with its interval.

        `level`: Probability with which an interval holds what it is about. `about`: "records": what the records
        themselves would give with the same ridge; "population": what all people would give without any, with sampling,
        of persons with all the rows that they may have. Where noise hides that, an interval is infinite.

        Returns
        -------
        pd.DataFrame
            Rows of column, category ("" for numbers), estimate, low, high, and `carries`: by how much the prediction
            changes from one end of the column's bounds to the other, or between no category and this one.
        """
        reach = self._reach(level)
        weights, errors = self._about(np.eye(len(self.weights))[1:], about)
        unit = np.array([self._goal.half / term.half for term in self._terms])
        whole = np.array([1.0 if term.category else 2.0 for term in self._terms])
        estimate = unit * weights
        return pd.DataFrame(
            {
                "column": [term.name if not term.category else term.column for term in self._terms],
                "category": [term.category for term in self._terms],
                "estimate": estimate,
                "low": estimate - reach * unit * errors,
                "high": estimate + reach * unit * errors,
                "carries": self._goal.half * whole * weights,
            }
        )

    def predict(self, queries: object, level: float = 0.95, about: str = "records") -> pd.DataFrame:
        """Predictions at n queries in natural units: estimate, low and high, inside the bounds of what is predicted.

        `queries`: A frame, table or mapping with the columns it is predicted from; others are ignored. `level`,
        `about`: As of `coefficients`; an interval is for the prediction, and not for how people differ from it.
        """
        reach, vectors = self._reach(level), self._vectors(queries)
        estimate, error = self._about(vectors, about)
        ends = (estimate, estimate - reach * error, estimate + reach * error)
        lowest = 0.0 if self._goal.category else -1.0
        values = [self._goal.middle + self._goal.half * np.clip(end, lowest, 1.0) for end in ends]
        return pd.DataFrame(dict(zip(("estimate", "low", "high"), values, strict=True)))

    @property
    def residual_deviation(self) -> float:
        """How far a record is from its prediction, root mean square, in the unit of what is predicted."""
        return self._goal.half * math.sqrt(self.residual)

    @property
    def explained(self) -> float:
        """The share of the variance of what is predicted that the prediction explains, between 0 and 1."""
        whole = float(self.sums.centred([self.target])[0, 0]) / self.sums.records
        return min(1.0, max(0.0, 1.0 - self.residual / max(whole, SMALLEST)))

    @cached_property
    def domain(self) -> Domain:
        """The columns that it is predicted from: those of a query."""
        whole = self.sums.sketch.domain
        return replace(whole, columns=tuple(column for column in whole.columns if column.name in self.columns))

    def _vectors(self, queries: object) -> np.ndarray:
        """z of queries at the places that count, float64 (n, p + 1)."""
        asked = Products(self.domain)
        return asked.vectors(self.domain.encode_queries(queries, asked.metric))

    def _about(self, sums: np.ndarray, about: str) -> tuple[np.ndarray, np.ndarray]:
        """Weighted sums of the coefficients, (n, p + 1), and their standard errors, infinite where noise hides them."""
        check_choice(about, "What intervals are about", ABOUT)
        if about == "records":
            return sums @ self.weights, _deviations(sums, self.covariance)
        whole = self.without_ridge
        hidden = whole.hides(sums)
        errors = _deviations(sums, whole.covariance + whole.sampling)
        return np.where(hidden, sums @ self.weights, sums @ whole.weights), np.where(hidden, np.inf, errors)

    @cached_property
    def without_ridge(self) -> Regression:
        """The same by least squares, of what was released: with more noise, and drawn nowhere."""
        return self if self.ridge == 0.0 else _solved(self.sums, self.target, self.places, Ridge(0.0))

    def hides(self, sums: np.ndarray) -> np.ndarray:
        """Which weighted sums of the coefficients hang on what noise hides, bool (n,)."""
        at = np.array(self.places)
        inner = self.sums.matrix[np.ix_(at, at)] + _redundant(self.sums, self.places)
        front = inner[0, 1:] / inner[0, 0]
        values, axes = np.linalg.eigh(inner[1:, 1:] - np.outer(front, front) * inner[0, 0])
        along = ((sums[:, 1:] - sums[:, :1] * front) @ axes) ** 2 / np.maximum(np.abs(values), SMALLEST)
        below = values < LEAST * self.sums.deviation * math.sqrt(len(values))
        return np.asarray(along[:, below].sum(axis=1) > HIDDEN * (along.sum(axis=1) + sums[:, 0] ** 2 / inner[0, 0]))

    def _reach(self, level: float) -> float:
        """Deviations that an interval reaches to either side.

        Slopes add up the noise of many sums, which is nearly normal. A mean alone has that of two, with their tails.
        """
        check_level(level)
        normal = float(ndtri(0.5 + level / 2.0))
        alone = self.sums.heavy and math.isinf(self.ridge)
        return max(normal, -math.log1p(-level) / math.sqrt(2.0)) if alone else normal


def regression(
    release: Release | Sums,
    target: str,
    on: Sequence[str] | None = None,
    category: str | None = None,
    ridge: float | str = RULES[0],
) -> Regression:
    """Predict a column from others.

    Parameters
    ----------
    on : Sequence[str] | None
        The columns to predict it from; None for all others.
    category : str | None
        Which category's probability is predicted, where the target has categories; the second one of two.
    ridge : float | str
        λ as a number of records, 0 for least squares, or the rule that chooses it: "least-error" or "adassp".

    Raises
    ------
    RequestError
        When there is no such column, or the release is of another mechanism.
    """
    sums = release if isinstance(release, Sums) else Sums.of(release)
    goal = sums.target(target, category)
    names = sums.sketch.domain.names
    chosen = [name for name in names if name != target] if on is None else list(on)
    if not chosen or target in chosen:
        raise RequestError("A column is predicted from at least one other column, and not from itself.")
    places = sums.places(chosen)
    inner = sums.centred([*places, goal])
    products, deviation = inner[:-1, -1], sums.deviation
    if isinstance(ridge, str):
        check_choice(ridge, "The rule for the ridge", RULES)
        means = sums.matrix[ONE, [*places, goal]] / sums.records
        penalty = choose_ridge(ridge, inner[:-1, :-1], products, deviation, means, sums.records)
    else:
        penalty = Ridge(check_number(ridge, "The ridge"))
        if penalty.size < 0.0:
            raise RequestError("The ridge must be at least 0.")
    return _solved(sums, goal, (ONE, *places), penalty)


def _solved(sums: Sums, goal: int, places: tuple[int, ...], penalty: Ridge) -> Regression:
    at = np.array(places)
    inner = sums.matrix[np.ix_(at, at)] + (_redundant(sums, places) if penalty.size == 0.0 else 0.0)
    inverse = _inverse(inner, penalty.size)
    weights = inverse @ sums.matrix[at, goal]
    combined = np.zeros(len(sums.matrix))
    combined[at], combined[goal] = -weights, 1.0
    spread = sums.error_covariance(places, combined)
    owed = float((inverse * spread).sum())  # to noise
    seen = float(combined @ sums.matrix @ combined)
    residual, least = (min(LARGEST, max(SMALLEST, (seen + t * owed) / sums.records)) for t in (2.0, 1.0))
    rows = sums.sketch.domain.unit.records  # of one person, who is drawn with all of them: as alike as can be
    sampling = rows * least * inverse @ _without_negative(sums.matrix[np.ix_(at, at)]) @ inverse
    covariance = penalty.longer**2 * inverse @ spread @ inverse
    if penalty.size == 0.0:
        # Noise makes slopes larger that are not drawn towards 0, by their variance, and so what noise seems to do.
        larger = float(np.trace(covariance + sampling))
        length = float(combined @ combined)
        covariance *= max(1.0, length - larger) / length
    return Regression(sums, goal, places, penalty.size, weights, covariance, sampling, residual)


def _deviations(sums: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.maximum(((sums @ covariance) * sums).sum(axis=1), 0.0)))


def _redundant(sums: Sums, places: tuple[int, ...]) -> np.ndarray:
    """What holds the weights of a column's categories to a sum of 0, float64 (p + 1, p + 1).

    Each record has one of them, so all of them together say what the 1 in front says: without noise nothing depends on
    that sum, and it is 0 of the least weights that there are. With noise and without a ridge it would be anything.
    """
    columns = [term.column if (term := sums.terms[place]) is not None and term.category else "" for place in places]
    names = np.array(columns)
    same = (names[:, None] == names[None, :]) & (names != "")[:, None]
    return sums.records * same / np.maximum(1, same.sum(axis=1))[:, None]


def _inverse(matrix: np.ndarray, penalty: float) -> np.ndarray:
    """The inverse with the ridge on all coordinates but the first; an infinite ridge leaves the first alone."""
    if math.isinf(penalty):
        alone = np.zeros_like(matrix)
        alone[0, 0] = 1.0 / matrix[0, 0]
        return alone
    return np.asarray(np.linalg.pinv(matrix + np.diag([0.0] + [penalty] * (len(matrix) - 1)), hermitian=True))


def _without_negative(matrix: np.ndarray) -> np.ndarray:
    """The nearest matrix that sums of squares can be."""
    values, axes = np.linalg.eigh(matrix)
    return (axes * np.maximum(values, 0.0)) @ axes.T
