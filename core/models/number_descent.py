"""A number predicted by noisy gradient descent on the squared error: as `descent`, with four more tables bought.

**Where the numbers lie.** Bounds are often wide of them, and noise as long as the bounds would hide where and how far
apart they are, and be in every step. So with y between -1 and 1 in whole units u there are bought, one by one,

1.  the sum of y: u in L1 and L2 for one record more or less, 2u for a replaced one;
2.  how many lie in each shell around that mean, each half as wide as the next: one count by 1, or two;
3.  v = floor(u (y - c)/w) cut at ±u, w a few times as wide as the shells say that they lie apart: the sums of v and of
    floor(v²/u). One record more or less moves them by L2² = 2u², a replaced one by 5u² at most, as v differs by 2u and
    the squares by u.

They say a middle and a length: a record's goal is its distance from that middle in those lengths, a whole number that
is a function of the record and of what was bought alone. Its slope is the score less the goal, cut as in `descent`.

The length is one standard deviation, and up to four of them where so many records outweigh the noise: slopes beyond it
are cut, which moves what is learnt from a mean toward a median. Steps go on with nine tenths of the last one (heavy
ball; Polyak 1964), as squares curve the same everywhere: what lies along thin directions is learnt ten times as fast.

**How well it fits.** After the last step the sum of the squared residuals, each cut at two standard deviations, is
bought, so that the model can say how far off it is. One record moves it by that square at most, under both relations.

All tables are of whole numbers with discrete Gaussian noise under one zCDP account; each is chosen in view of earlier
ones, which zCDP allows (Bun, Steinke 2016).

How far off a model of numbers is, bought after it was trained: the sum of all squared residuals, each cut first.

Residuals are whole numbers of 2^-12 standard deviations of what is predicted, cut where they pass two of them, and
each is a function of its record and of what was released before alone. One record more or less moves the sum by no
more than that square, and so does a replaced one, as squares are at least 0.

Counts predicted by noisy gradient descent on Poisson's loss: as `number_descent`, with a logarithmic link.

What is expected of a record is never below 0, and a column multiplies it: expected = e^t, t linear in the record. A
record's slope is what is expected less its count, e^t - y, in the lengths that `number_descent` buys. That is the
derivative by t of Poisson's loss e^t - y t, which has no bound; so t is cut at the logarithm of the public upper end C
of the counts. Beyond it the slope stays C - y: the loss goes on as a straight line there, and is convex as before.

**Steps.** With the bought mean M and length L a score s stands for t = log M + s L/M. The slope (e^t - y)/L is then
that of the squared error near s = 0, to first order, and steps are half as long as they are there: where more than the
mean is expected the loss curves more.

**Sensitivity** is that of `descent`, word for word: a record adds r z with a whole number r that is cut until |r z| is
at most the public length, whatever e^t was reckoned to be. All that is asked of e^t is that it be finite and a function
of the score and of released numbers alone, bit for bit: scores are exact, and `power` adds and multiplies element by
element, between e^-40 and 1, in shares of C. That it is near the true e^t matters to the model, not to the promise. The
sums of counts that tell M and L, and the sum of squared residuals, are those of `number_descent`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import RequestError
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.parameters import Number, Resolved, parameter
from .certified_logistic import FARTHEST, exponential
from .descent import MOST_WORK, UNIT, USUAL_STEPS, Descent, scores_of
from .linear_models import NumberModel
from .method import OUTWEIGHED, NumberMethod
from .model_file import BITS
from .standard_scale import RESIDUAL_BITS, RESIDUAL_UNIT, cut, offsets
from .training_task import Task

FIT_SHARE = Fraction(2, 100)
# Where residuals are cut before they are squared: two standard deviations of what is predicted.
FARTHEST_OFF = 2 * RESIDUAL_UNIT
FIT_SENSITIVITY = Sensitivity(FARTHEST_OFF**2, FARTHEST_OFF**4)
DOUBT = 0.5  # Of a sum of squares, the share that noise may be for the model to say how far off it is.


def sum_of_squares(off: np.ndarray) -> int:
    """Of residuals (n,) in standard deviations, exact and private."""
    cut = np.clip(off * RESIDUAL_UNIT, -FARTHEST_OFF, FARTHEST_OFF).astype(np.int64)
    return int((cut * cut).sum())


def bought_residual(exact: int, records: float, noise: NoiseScale, noise_source: NoiseSource) -> float | None:
    """Root of the mean squared residual in standard deviations, as bought; None where noise hides it.

    `records`: How many there are, as far as is known.
    """
    square = float(add_noise(np.array([exact], np.int64), noise, noise_source)[0])
    return None if square <= math.sqrt(noise.variance) / DOUBT else math.sqrt(square / records) / RESIDUAL_UNIT


MIDDLE_SHARE, SHELLS_SHARE, GOALS_SHARE = (Fraction(part, 100) for part in (2, 4, 3))
SHELLS = 2.0 ** np.arange(-6, 2)  # How far they reach, of numbers between -1 and 1.
SQUARE_INSIDE = 7 / 12  # The mean square of numbers that lie evenly between a half and 1.
SEEN = 2.0  # Deviations of noise that are taken off a count, so that no shell far off is made by them.
# How wide the sums are, in deviations; what their noise may be of a variance for them to be of all; or to be believed.
WIDE, OF_ALL, SURE = 4.0, 0.05, 0.15
FEW = 32  # Coordinates up to which a descent takes more steps where noise is little.
# The least length of goals between -1 and 1, and the most standard deviations that a length is.
SHORTEST, LONGEST = 1.0 / 64.0, 4.0


@dataclass(frozen=True)
class Goals:
    """Where what is predicted lies, between -1 and 1, and how well it was learnt."""

    # A goal of 1 is middle + length.
    middle: float
    length: float
    deviation: float  # The standard deviation, as far as is known.
    records: float  # How many there are, as far as is known.
    residual: float | None = None  # Root of the mean squared residual; None where noise hides it.


@dataclass(frozen=True)
class NumberDescent(Descent[NumberModel], NumberMethod):
    """A number by full-batch gradient descent with noise in every step."""

    clip: Resolved[float] = parameter(Number("The largest slope", 1e-2, 10.0), 1.0)
    name: ClassVar[str] = "descent"
    rank: ClassVar[int] = 1
    described: ClassVar[str] = "noisy gradient descent"
    instead: ClassVar[str] = "sums of products"
    longest_rate: ClassVar[float] = 1.0
    score_noise: ClassVar[float] = 0.1
    # More knots, or waves, are learnt too slowly by first-order steps: sixteen waves leave a fiftieth of the variance
    # of straight lines, so waves of numbers are taken where somebody asks for them.
    most_halvings: ClassVar[int] = 3
    usual_waves: ClassVar[tuple[int, ...]] = ()
    farthest: ClassVar[float] = 8.0
    momentum: ClassVar[float] = 0.9
    most_steps: ClassVar[int] = 200  # Where noise leaves room.

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return not task.categories and not budget.pure

    def for_records(self, budget: Budget, records: float) -> Self:
        """The same in more steps where coordinates and noise are few, or steps as long as they may be all the same.

        As many as usual do not get to thin directions, which bring more than noise costs where there is little of it.
        """
        if budget.pure:
            return self
        room = self.longest_step(self.noises(budget)[0], float(records), math.inf) >= self.longest_rate
        few = self.width <= FEW and self.noise(budget) <= OUTWEIGHED / 2 * records
        afforded = int(MOST_WORK // max(1, records * (self.width + 1)))
        more = max(USUAL_STEPS, min(self.most_steps, afforded)) if room or few else USUAL_STEPS
        return replace(self, steps=more if self.steps in (USUAL_STEPS, self.most_steps) else self.steps)

    def residuals(self, scores: np.ndarray, goals: Any, most: np.ndarray) -> np.ndarray:
        return offsets(scores, goals, most)

    def _bought(self, neighbours: Neighbours) -> list[tuple[Sensitivity, Fraction]]:
        moved = 2 * UNIT if neighbours is Neighbours.REPLACE_ONE else UNIT
        return [
            (Sensitivity(moved, moved**2), MIDDLE_SHARE),
            *near_the_middle(neighbours),
            (FIT_SENSITIVITY, FIT_SHARE),
        ]

    def _goals(
        self, codes: np.ndarray, records: float, of_step: NoiseScale, bought: Sequence[NoiseScale], noise: NoiseSource
    ) -> tuple[Any, Goals]:
        total = int(add_noise(np.array([codes.sum()], np.int64), bought[0], noise)[0])
        middle, deviation = located(codes, total / UNIT / records, records, bought[1:3], noise)
        outweighed = self.longest_step(of_step, records, math.inf)
        length = deviation * min(LONGEST, max(1.0, outweighed))
        return whole_goals(codes, middle, length), Goals(middle, length, deviation, records)

    def _judged(
        self,
        whole: np.ndarray,
        goals: Any,
        weights: np.ndarray,
        known: Goals,
        bought: Sequence[NoiseScale],
        noise: NoiseSource,
    ) -> Goals:
        exact = self.squares(whole, goals, np.rint(weights), known.length / known.deviation)
        off = bought_residual(exact, known.records, bought[3], noise)
        return known if off is None else replace(known, residual=known.deviation * off)

    def squares(self, whole: np.ndarray, goals: Any, weights: np.ndarray, lengths: float) -> int:
        """The sum of squared residuals at whole coefficients, in units of deviations, exact and private.

        `whole`, `goals`, `weights`: Standardised records, their goals, and whole coefficients. `lengths`: How many
        standard deviations a length is.
        """
        scores = scores_of(whole, weights)[:, 0]
        return sum_of_squares((scores - np.ldexp(goals.astype(np.float64), -RESIDUAL_BITS)) * lengths)

    def _natural(self, known: Goals) -> float:
        return known.length

    def _made(
        self, weights: np.ndarray, known: Goals, budget: Budget, details: dict[str, str], noise_source: NoiseSource
    ) -> NumberModel:
        found = weights[0] * (self._natural(known) / (1 << BITS))
        found[0] += known.middle
        details |= {"spread": repr(known.length)}
        return self._model(found, budget, details, noise_source, residual=known.residual, of_mean=known.deviation)


def near_the_middle(neighbours: Neighbours) -> list[tuple[Sensitivity, Fraction]]:
    """How far one record moves the tables that `located` buys, with their shares; see the module."""
    moved = 2 if neighbours is Neighbours.REPLACE_ONE else 1
    shells = Sensitivity(moved, moved, unit_shifts=True)
    return [(shells, SHELLS_SHARE), (goals_sensitivity(neighbours), GOALS_SHARE)]


def located(
    numbers: np.ndarray, middle: float, records: float, noises: Sequence[NoiseScale], noise: NoiseSource
) -> tuple[float, float]:
    """The mean of numbers in units and their deviation, between -1 and 1, bought around a middle that was bought."""
    centre = round(float(np.clip(middle, -1.0, 1.0)) * UNIT)
    counts = add_noise(shell_counts(numbers, centre), noises[0], noise)
    apart = apart_by(counts, noises[0].variance)
    doubt = math.sqrt(noises[1].variance) / UNIT / records
    of_all = SHELLS[-1] ** 2 * doubt < OF_ALL * apart**2
    wide = round(UNIT * (SHELLS[-1] if of_all else min(SHELLS[-1], WIDE * apart)))
    sums = add_noise(goals_table(around(numbers, centre, wide)), noises[1], noise) / UNIT / records
    off, square = float(np.clip(sums[0], -1.0, 1.0)) * wide / UNIT, (wide / UNIT) ** 2
    sure = square * doubt < SURE * apart**2
    variance = square * float(sums[1]) - off**2 if sure else max(apart**2 - off**2, apart**2 / 4.0)
    deviation = math.sqrt(min(max(variance, SHORTEST**2), 1.0))
    return float(np.clip(centre / UNIT + off, -1.0, 1.0)), deviation


def shell_counts(numbers: np.ndarray, centre: int) -> np.ndarray:
    """How many numbers in units are how far from a centre, int64 (shells,), exact and private."""
    places = np.searchsorted((SHELLS * UNIT).astype(np.int64), np.abs(numbers - centre))
    return np.bincount(np.minimum(places, len(SHELLS) - 1), minlength=len(SHELLS)).astype(np.int64)


def apart_by(noisy: np.ndarray, variance: float) -> float:
    """How far numbers lie from the centre, root mean square: as half of them do, and as counts say that stand out."""
    half = SHELLS[int(np.argmax(np.cumsum(noisy) >= noisy.sum() / 2.0))]
    surely = np.maximum(noisy - SEEN * math.sqrt(variance), 0.0)
    return math.sqrt(SQUARE_INSIDE * max(half**2, float(surely @ SHELLS**2) / max(1.0, float(noisy.sum()))))


def around(numbers: np.ndarray, centre: int, wide: int) -> np.ndarray:
    """How far numbers in units are from a centre, in units of a width, cut at 1, int64 (n,)."""
    return np.clip((numbers - centre) * UNIT // wide, -UNIT, UNIT)


def goals_sensitivity(neighbours: Neighbours) -> Sensitivity:
    """How far one record moves `goals_table`; see the module."""
    if neighbours is Neighbours.REPLACE_ONE:
        return Sensitivity(3 * UNIT, 5 * UNIT**2)
    return Sensitivity(2 * UNIT, 2 * UNIT**2)


def goals_table(numbers: np.ndarray) -> np.ndarray:
    """The sums of numbers in units, and of their squares in units, int64 (2,): exact, private."""
    return np.array([numbers.sum(), (numbers * numbers // UNIT).sum()], np.int64)


def whole_goals(numbers: np.ndarray, middle: float, length: float) -> np.ndarray:
    """How far numbers in units are from the middle, in 2^-12 of the length, cut toward zero, int64 (n,)."""
    return np.asarray((numbers - round(middle * UNIT)) * (2.0**RESIDUAL_BITS / (length * UNIT)), np.int64)


SPAN = 2.0  # From no count to the public upper end, as numbers between -1 and 1 have it.


@dataclass(frozen=True)
class Counted:
    """Counts, and the link from scores to what is expected, which all records share."""

    whole: np.ndarray  # The counts in 2^-12 of a length, int64 (n,).
    most: float  # The upper end of the counts, in lengths.
    start: float  # The logarithm of their mean as a share of the upper end.
    factor: float  # What a score of 1 adds to the logarithm.

    def __getitem__(self, here: slice) -> Counted:
        """Some of the records."""
        return replace(self, whole=self.whole[here])

    def offsets(self, scores: np.ndarray) -> np.ndarray:
        """What is expected at scores (n, 1) less what was counted, in lengths, float64 (n, 1)."""
        share = exponential(np.clip(self.start + self.factor * scores, -FARTHEST, 0.0))
        return np.asarray(self.most * share - np.ldexp(self.whole.astype(np.float64), -RESIDUAL_BITS)[:, None])


@dataclass(frozen=True)
class CountDescent(NumberDescent):
    """Counts by full-batch gradient descent on Poisson's loss, with noise in every step.

    `domain`, `label`, `radius`, `steps`, `rate`, `clip`: As of `NumberDescent`; what is predicted must be a number from
    0 on.
    """

    name: ClassVar[str] = "poisson"
    rank: ClassVar[int] = 2
    described: ClassVar[str] = "noisy gradient descent on Poisson's loss"
    longest_rate: ClassVar[float] = 0.5
    most_steps: ClassVar[int] = USUAL_STEPS

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        """Whole numbers from 0 on, as the domain says."""
        step = getattr(task.target, "step", 0.0)
        return not budget.pure and task.is_count and step >= 1.0 and step % 1 == 0

    def _check(self) -> None:
        super()._check()
        if not self.is_count:
            raise RequestError(
                f"Poisson's loss is for counts, whose lower bound is 0, and {self.label!r} is no such column."
            )

    def residuals(self, scores: np.ndarray, goals: Counted, most: np.ndarray) -> np.ndarray:
        return cut(goals.offsets(scores), most)

    def _goals(
        self, codes: np.ndarray, records: float, of_step: NoiseScale, bought: Sequence[NoiseScale], noise: NoiseSource
    ) -> tuple[Counted, Goals]:
        known = super()._goals(codes, records, of_step, bought, noise)[1]
        doubt = known.deviation * math.sqrt(bought[2].variance) / UNIT / records
        mean = min(SPAN, max(known.middle + 1.0, doubt, 1.0 / UNIT))
        whole = whole_goals(codes, -1.0, known.length)
        counted = Counted(whole, SPAN / known.length, math.log(mean / SPAN), known.length / mean)
        return counted, replace(known, middle=mean - 1.0)

    def squares(self, whole: np.ndarray, goals: Counted, weights: np.ndarray, lengths: float) -> int:
        return sum_of_squares(goals.offsets(scores_of(whole, weights))[:, 0] * lengths)

    def _natural(self, known: Goals) -> float:
        return known.length / (known.middle + 1.0)

    def _made(
        self, weights: np.ndarray, known: Goals, budget: Budget, details: dict[str, str], noise_source: NoiseSource
    ) -> NumberModel:
        mean = known.middle + 1.0
        found = weights[0] * (self._natural(known) / (1 << BITS))
        found[0] += math.log(mean * self.goal.half)
        details |= {"spread": repr(known.length)}
        return self._model(
            found, budget, details, noise_source, kind="count", residual=known.residual, of_mean=known.deviation
        )
