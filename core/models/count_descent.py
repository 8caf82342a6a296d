"""Counts predicted by noisy gradient descent on Poisson's loss: as `number_descent`, with a logarithmic link.

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
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.noise.randomness import Source as NoiseSource
from .bought_residual import sum_of_squares
from .descent import UNIT, scores_of
from .model_file import BITS
from .number_descent import Goals, NumberDescent, whole_goals
from .number_model import NumberModel
from .residuals import LOWEST, RESIDUAL_BITS, cut, power

SPAN = 2.0
"""From no count to the public upper end, as numbers between -1 and 1 have it."""


@dataclass(frozen=True)
class Counted:
    """Counts, and the link from scores to what is expected, which all records share.

    Attributes
    ----------
    whole : np.ndarray
        The counts in 2^-12 of a length, int64 (n,).
    most : float
        The upper end of the counts, in lengths.
    start : float
        The logarithm of their mean as a share of the upper end.
    factor : float
        What a score of 1 adds to the logarithm.
    """

    whole: np.ndarray
    most: float
    start: float
    factor: float

    def __getitem__(self, here: slice) -> Counted:
        """Some of the records."""
        return replace(self, whole=self.whole[here])

    def offsets(self, scores: np.ndarray) -> np.ndarray:
        """What is expected at scores (n, 1) less what was counted, in lengths, float64 (n, 1)."""
        share = power(np.clip(self.start + self.factor * scores, LOWEST, 0.0))
        return np.asarray(self.most * share - np.ldexp(self.whole.astype(np.float64), -RESIDUAL_BITS)[:, None])


@dataclass(frozen=True)
class CountDescent(NumberDescent):
    """Counts by full-batch gradient descent on Poisson's loss, with noise in every step.

    Parameters
    ----------
    domain, label, radius, steps, rate, clip : Domain, str, float | None, int, float | None, float
        As of `NumberDescent`; what is predicted must be a number from 0 on.

    Raises
    ------
    RequestError
        When a parameter is out of range, or what is predicted may lie below 0.
    """

    described: ClassVar[str] = "noisy gradient descent on Poisson's loss"
    longest_rate: ClassVar[float] = 0.5

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
        doubt = math.sqrt(bought[0].variance) / UNIT / records
        mean = min(SPAN, max(known.middle + 1.0, doubt, 1.0 / UNIT))
        whole = whole_goals(codes, -1.0, known.length)
        counted = Counted(whole, SPAN / known.length, math.log(mean / SPAN), known.length / mean)
        return counted, replace(known, middle=mean - 1.0)

    def squares(self, whole: np.ndarray, goals: Counted, weights: np.ndarray, lengths: float) -> int:
        return sum_of_squares(goals.offsets(scores_of(whole, weights))[:, 0] * lengths)

    def _made(
        self, weights: np.ndarray, known: Goals, budget: Budget, details: dict[str, str], noise_source: NoiseSource
    ) -> NumberModel:
        mean = known.middle + 1.0
        found = weights[0] * (known.length / mean / (1 << BITS))
        found[0] += math.log(mean * self.goal.half)
        details |= {"spread": repr(known.length)}
        return self._model(found, budget, details, noise_source, kind="count", residual=known.residual)
