"""Noisy descent in steps that a bought matrix shapes: few of them reach what a plain descent needs hundreds for.

Four tables are bought first, all of whole numbers, then one a step, all with discrete Gaussian noise in one zCDP
account in which each is chosen in view of those before (Bun, Steinke 2016; ρ adds up):

1.  sums of what is predicted, by which the search starts from the most common answer and not from zero (subclasses
    say which, and how far a record moves them);
2.  and 3. the centre of the records and their middle distance from it (`standard_scale`). From here on a record is a
    = (1/2, (z - c)/m), whole numbers with |a|² <= B = (1/4 + 4) units², a function of it and of what was bought;
4.  A = Σ a aᵀ, every product of two coordinates once, so that steps can be as long in each direction as the records
    allow;
5.  in each of T steps Σ r aᵀ, r a record's residuals at coefficients θ that are public by then, whole numbers that
    are shortened until |r|²|a|² <= C² (`standard_scale`). The next coefficients are θ - (A + λI)⁻¹ Σ r aᵀ / h, h the
    curvature of the loss, and λ what the noise of A could hide: its spectral norm is 2 s √m or so, s its deviation in
    an entry.

**Sensitivity of 4.** A record adds a aᵀ, whose entries have the squares a_i² a_j², which over all pairs i <= j add up
to no more than over all i and j, which is |a|⁴ <= B². So L2² <= B² for one record more or less. For one replaced
record |aaᵀ - bbᵀ|² = |a|⁴ + |b|⁴ - 2<a, b>² <= 2B². That of 5 is C² and, for two residuals against each other, (2C)²,
as in `descent`, which has the proof that what a record adds is a function of that record and θ alone, bit for bit.
Products of entries of a are sums of whole numbers below 2^53 in every block, so in 4 as well.

What is made of noisy tables is post-processing, in floating point: a poor inverse costs accuracy and no privacy.

Logistic regression by a second-order descent (Ganesh, Haghifam, Steinke, Thakurta 2023), for (epsilon, delta).

Newton's steps need the curvature of the loss, Σ p(1 - p) a aᵀ, in every step. It is never more than Σ a aᵀ / 4
(Böhning, Lindsay 1988: the quadratic upper bound), and a step by the bound needs that matrix once, for all steps and
classes: their quadratic-upper-bound variant, with the matrix bought first. `preconditioned` has the steps and the
proof.

The bound is reached by records of which nothing can be told; most are told well, and the real curvature is a third of
it or so. Steps are longer by as much (`CURVATURE`), which a mean over the second half of them calms; whatever their
length is, what is released was paid for.

**Sums of answers**: how many records each class has. One record more or less moves one count by 1, a replaced one
two.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.parameters import Number, Resolved, Whole, parameter
from .centred import Directions
from .linear_models import LinearModel
from .method import GaussianTables, Method
from .model_file import BITS
from .noise_bands import Trace
from .standard_scale import (
    FARTHEST,
    FRONT,
    RESIDUAL_UNIT,
    bought_scale,
    centre_sensitivity,
    cut,
    in_units_of_records,
    ladder_sensitivity,
    slopes_of,
    standardised,
    sums_of_slopes,
)

UNIT = 1 << 13
# Of the budget; steps share what is left evenly.
ANSWERS_SHARE, CENTRE_SHARE, LENGTH_SHARE, MATRIX_SHARE = (Fraction(part, 100) for part in (3, 3, 1, 15))
LARGEST_WEIGHT = 1 << 28  # Of a coefficient, in multiples of 2^-20: beyond 256 it is cut.
USUAL_STEPS = 20
LONGEST_SQUARED = math.floor((FRONT**2 + FARTHEST**2) * UNIT**2)  # B: of a record, in squared units.
# Beyond which the matrix would have noise for millions of entries, and take minutes to decompose.
MOST_COORDINATES = 1_500
AT_ONCE = 1 << 13
THEOREM = (
    "Sums of whole numbers with discrete Gaussian noise, a matrix and one for each step of a descent that it shapes, "
    "compose by zCDP (Bun, Steinke 2016; Canonne, Kamath, Steinke 2020)."
)


@dataclass(frozen=True)
class Start:
    """What the bought sums of answers say."""

    records: float  # How many there are, at least 1.
    scores: np.ndarray  # Where the search starts: of every record alike, in natural scores, float64 (rows,).
    spread: float = 1.0  # How many natural scores one of the search's is.


@dataclass(frozen=True, eq=False)
class Found:
    """What a descent came to."""

    rows: np.ndarray  # Coefficients of (1, z) in natural scores, in multiples of 2^-20, int64 (rows, m).
    details: dict[str, str]  # For the file.
    residual: float | None  # How far off a record typically is, in natural scores, as far as was bought.
    term_errors: np.ndarray | None  # Deviations that noise gives the task's terms; None where nothing says them.


@dataclass(frozen=True)
class Preconditioned(GaussianTables):
    """What boosted regression and second-order classification share.

    `steps`: How many; the second half's mean is released. `clip`: C, in lengths of the records times scores; None for
    what the method takes.
    """

    steps: Resolved[int] = parameter(Whole("The number of steps", 1, 1_000), USUAL_STEPS)
    clip: Resolved[float] = parameter(Number("The largest slope", 1e-2, 10.0), None)
    unit: ClassVar[int] = UNIT
    usual_clip: ClassVar[float]
    curvature: ClassVar[float]

    def _check(self) -> None:
        super()._check()
        if self.width >= MOST_COORDINATES:
            raise RequestError(
                f"This method takes at most {MOST_COORDINATES - 1:,} coordinates, as its matrix has their square; take "
                "noisy gradient descent."
            )
        if self.clip is None:
            self._settle(clip=self.usual_clip)

    @property
    def size(self) -> int:
        """Coordinates of a record, the 1 in front included."""
        return self.width + 1

    @property
    def largest(self) -> int:
        """C², in whole units."""
        return math.floor((self.clip * UNIT * RESIDUAL_UNIT) ** 2)

    @abstractmethod
    def answers_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves the sums of what is predicted."""

    def judging(self, neighbours: Neighbours) -> list[tuple[Sensitivity, Fraction]]:
        """What is bought beside all that, if anything, with its shares."""
        return []

    @abstractmethod
    def _answers(self, answers: np.ndarray) -> np.ndarray:
        """Those sums, exact and private, int64."""

    @abstractmethod
    def _start(
        self, answers: np.ndarray, of_answers: NoiseScale, judging: Sequence[NoiseScale], noise: NoiseSource
    ) -> Start:
        """What they say with noise, and what else is bought of answers; it was paid for."""

    @abstractmethod
    def _slopes(self, scores: np.ndarray, answers: np.ndarray, start: Start) -> np.ndarray:
        """Derivatives of each record's loss by its scores, element by element, float64 (n, rows)."""

    def slope_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves the table of a step."""
        return of_square(self.largest * (4 if neighbours is Neighbours.REPLACE_ONE else 1), self.rows * self.size)

    def matrix_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves the matrix; see the module."""
        square = LONGEST_SQUARED**2 * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
        return of_square(square, self.size * (self.size + 1) // 2)

    def _tables(self, budget: Budget) -> list[tuple[Sensitivity, Fraction]]:
        """In the order of the module, then that of `judging`."""
        among, size = budget.neighbours, self.width
        bought = [
            (self.answers_sensitivity(among), ANSWERS_SHARE),
            (centre_sensitivity(among, self.reach, UNIT, size), CENTRE_SHARE),
            (ladder_sensitivity(among), LENGTH_SHARE),
            (self.matrix_sensitivity(among), MATRIX_SHARE),
        ]
        judged = self.judging(among)
        left = (1 - sum((share for _, share in (*bought, *judged)), Fraction(0))) / self.steps
        tables = [*bought, *[(self.slope_sensitivity(among), left)] * self.steps, *judged]
        return [(moved.scaled(self.domain.unit.records), share) for moved, share in tables]

    def noise(self, budget: Budget) -> float:
        """How long the noise is that all steps leave, in records; the second half of them are averaged."""
        of_step = math.sqrt(self.noises(budget)[4].variance) / (UNIT * RESIDUAL_UNIT)
        return of_step * math.sqrt(2.0 * self.rows * self.size / self.steps)

    def _found(
        self, units: np.ndarray, answers: np.ndarray, plan: tuple[NoiseScale, ...], noise_source: NoiseSource
    ) -> Found:
        """Everything drawn and learnt; it was paid for."""
        of_answers, of_centre, of_lengths, of_matrix, of_step = plan[:5]
        start = self._start(answers, of_answers, plan[4 + self.steps :], noise_source)
        scale = bought_scale(units, start.records, (of_centre, of_lengths), self.reach, UNIT, noise_source)
        records = standardised(units, scale, UNIT)
        shaping = self._shaping(records, of_matrix, noise_source)
        trace = self._descended(records, answers, start, shaping, of_step, noise_source)
        weights = trace.mean
        residual = self._judged(records, answers, start, np.rint(weights), plan[-1], noise_source)
        rows = in_units_of_records(weights * start.spread, scale, UNIT)
        rows[:, 0] += np.rint(start.scores * (1 << BITS)).astype(np.int64)
        details = {
            "steps": str(self.steps),
            "clip": repr(self.clip),
            "length": repr(scale.length / UNIT),
            "spread": repr(float(start.spread)),
            "sigma_squared": str(of_step.parameter),
        }
        each, axes = np.linalg.eigh(shaping[1:, 1:])
        moves = each * (math.sqrt(of_step.variance) / (UNIT * RESIDUAL_UNIT))
        # A step is divided by records' products and the ridge together: records pull by the share of the former.
        pulls = np.maximum(1.0 - self.curvature * self._ridge(of_matrix) * each, 0.0)
        errors = trace.term_errors(self, start.spread * UNIT / scale.length, moves, Directions(axes, pulls))
        return Found(rows, details, residual, errors)

    def _judged(
        self,
        records: np.ndarray,
        answers: np.ndarray,
        start: Start,
        weights: np.ndarray,
        noise: NoiseScale,
        noise_source: NoiseSource,
    ) -> float | None:
        """How far off a record typically is at whole coefficients, where a table is bought that says so."""
        return None

    def _shaping(self, records: np.ndarray, noise: NoiseScale, noise_source: NoiseSource) -> np.ndarray:
        """(A + λI)⁻¹ / h from the noisy matrix, with 1 for a coordinate of length 1, float64 (m, m)."""
        upper = np.triu_indices(self.size)
        matrix = np.zeros((self.size, self.size))
        matrix[upper] = add_noise(products_of(records)[upper], noise, noise_source) / UNIT**2
        values, axes = np.linalg.eigh(np.triu(matrix) + np.triu(matrix, 1).T)
        return np.asarray((axes / (np.maximum(values, 0.0) + self._ridge(noise))) @ axes.T / self.curvature)

    def _ridge(self, noise: NoiseScale) -> float:
        """λ, with 1 for a coordinate of length 1."""
        return 2.0 * math.sqrt(noise.variance * self.size) / UNIT**2

    def _descended(
        self,
        records: np.ndarray,
        answers: np.ndarray,
        start: Start,
        shaping: np.ndarray,
        noise: NoiseScale,
        noise_source: NoiseSource,
    ) -> Trace:
        """The second half of all coefficients, in multiples of 2^-20."""
        weights = np.zeros((self.rows, self.size))
        trace, most = Trace(self.steps, weights.shape), self.most(records)
        for _ in range(self.steps):
            noisy = add_noise(self.step_table(records, answers, start, weights, most), noise, noise_source)
            moved = weights - np.rint(noisy @ shaping * ((1 << BITS) / (UNIT * RESIDUAL_UNIT)))
            weights = np.clip(moved, -LARGEST_WEIGHT, LARGEST_WEIGHT)
            trace.add(weights)
        return trace

    def most(self, records: np.ndarray) -> np.ndarray:
        """The largest squared length of each record's residuals: floor(C²/|a|²), int64 (n,)."""
        squares = np.einsum("ij,ij->i", records, records).astype(np.int64)
        return np.asarray(self.largest // np.maximum(squares, 1))

    def step_table(
        self, records: np.ndarray, answers: np.ndarray, start: Start, weights: np.ndarray, most: np.ndarray
    ) -> np.ndarray:
        """The exact sum of residuals times standardised records, int64 (rows, m), at whole coefficients."""
        return sums_of_slopes(
            records,
            weights,
            float(UNIT << BITS),
            lambda scores, here: cut(self._slopes(scores, answers[here], start), most[here]),
        )


def products_of(records: np.ndarray) -> np.ndarray:
    """The exact sum of a aᵀ over whole-number records, float64 (n, m), in blocks that float64 holds: int64 (m, m)."""
    total = np.zeros((records.shape[1],) * 2, np.int64)
    for at in range(0, len(records), AT_ONCE):
        some = records[at : at + AT_ONCE]
        total += (some.T @ some).astype(np.int64)
    return total


def of_square(square: int, entries: int) -> Sensitivity:
    """A sensitivity of which the squared length is known: |v|₁² <= entries · |v|², and |v|₁ <= |v|² of whole ones."""
    return Sensitivity(min(square, math.isqrt(square * entries) + 1), square)


CURVATURE = 0.1  # Of the logistic loss, as reckoned with; its bound is 1/4.
CLIP = 0.5


@dataclass(frozen=True)
class SecondOrder(Preconditioned, Method):
    """Logistic regression, multinomial for more than two classes, in steps that one bought matrix shapes."""

    name: ClassVar[str] = "newton"
    rank: ClassVar[int] = 4
    described: ClassVar[str] = "noisy Newton steps"
    theorem: ClassVar[str] = THEOREM
    usual_clip: ClassVar[float] = CLIP
    curvature: ClassVar[float] = CURVATURE

    def answers_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        moved = 2 if neighbours is Neighbours.REPLACE_ONE else 1
        return Sensitivity(moved, moved, unit_shifts=True)

    def _answers(self, answers: np.ndarray) -> np.ndarray:
        return np.bincount(answers, minlength=len(self.categories)).astype(np.int64)

    def _start(
        self, answers: np.ndarray, of_answers: NoiseScale, judging: Sequence[NoiseScale], noise: NoiseSource
    ) -> Start:
        noisy = add_noise(self._answers(answers), of_answers, noise)
        counts = np.maximum(noisy.astype(np.float64), max(1.0, float(of_answers.variance) ** 0.5))
        levels = np.log(counts / counts.sum())
        return Start(float(counts.sum()), levels[1:] - levels[:1] if self.rows == 1 else levels)

    def _slopes(self, scores: np.ndarray, answers: np.ndarray, start: Start) -> np.ndarray:
        return slopes_of(scores + start.scores, answers, "logistic")

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[NoiseScale, ...],
        noise_source: NoiseSource,
    ) -> LinearModel:
        found = self._found(units, codes, plan, noise_source)
        kind = "logistic" if self.rows == 1 else "multinomial"
        said = f"{self.described}, {self.steps:,} of them"
        made = self._model(kind, 1.0, found.rows, budget, found.details, noise_source, said)
        return replace(made, term_errors=found.term_errors)
