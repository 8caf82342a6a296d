"""Lessons on noise: why averaging breaks noise drawn for every question, and why a risk δ buys so much here.

With δ, the noise of an answer does not grow with the number of rows.

How a textbook Laplace in floating point leaks (Mironov 2012, "On significance of the least significant bits").

NOBODY SHOULD DO WHAT `textbook_laplace` DOES. It is here to be attacked, and no mechanism can reach it: nothing below
this package imports it.

The textbook draws U uniform and returns -sign(U - ½) b ln(1 - 2|U - ½|). A computer's U is one of 2^53 numbers, so
1 - 2|U - ½| is one of w = j/2^52, and far fewer doubles can come out than there are. Which ones depends on the number
that the noise is added to: seen one output, an attacker looks for a U that explains it under either data set.

The search is complete. An output y of value + s·b·ln w needs b |ln w| within h of |y - value|, where h is a few units
in the last place of y and of the noise: the rounding of the sum, of the product and of the logarithm (each at most one
unit). So w lies within h/b of exp(-|y - value|/b), as a share of it, and every j in that short range is tried by the
very computation that made the output.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..domain import Domain
from ..geometry.kernels import Laplacian
from ..privacy.budget import Budget, Neighbours
from ..privacy.calibration import NoiseScale, calibrate, calibrate_gaussian
from ..privacy.noise.noise import discrete_laplace
from ..privacy.noise.randomness import SeededSource
from ..sketches.race import Race

MOST = 5000  # Questions that may be asked.


@dataclass(frozen=True)
class Asked:
    """The same question, asked again and again."""

    secret: int
    epsilon: Fraction
    answers: np.ndarray

    @property
    def averages(self) -> np.ndarray:
        """The average of the first k answers for k = 1 … times, float64 (times,)."""
        return np.cumsum(self.answers) / np.arange(1, len(self.answers) + 1)

    @property
    def released(self) -> int:
        """What a release says however often it is asked: its noise was drawn once, as for the first answer."""
        return int(self.answers[0])

    @property
    def spent(self) -> Fraction:
        """What all the answers cost together: privacy losses add up."""
        return self.epsilon * len(self.answers)

    @property
    def error(self) -> float:
        """Standard deviation of the average of all answers: one answer's, divided by the root of their number."""
        one = NoiseScale("discrete_laplace", 1 / self.epsilon)
        return (one.variance / len(self.answers)) ** 0.5

    @property
    def found_from(self) -> int | None:
        """From which question on the average, rounded, is the secret; None where it is not at the end."""
        wrong = np.flatnonzero(np.rint(self.averages) != self.secret)
        first = 1 if not len(wrong) else int(wrong[-1]) + 2
        return first if first <= len(self.answers) else None


# A draw whose averages stay in their usual range, as most do: a class should see the rule before an exception.
TYPICAL = 41


def ask(secret: int, epsilon: str, times: int, draw: int = TYPICAL) -> Asked:
    """Ask ``times`` times; whoever asks more often gets the same first answers and more."""
    loss = Fraction(epsilon)
    noise = discrete_laplace(MOST, 1 / loss, SeededSource(draw))[:times]
    return Asked(secret, loss, secret + noise)


ROWS = (4, 6, 10, 15, 25, 40, 60, 100, 150, 250, 400, 600, 1000, 1500, 2500, 4000, 6000, 10_000)


@dataclass(frozen=True)
class NoiseOfRows:
    """Noise of the mean of R rows, as standard deviations in people."""

    pure: np.ndarray
    with_delta: np.ndarray

    def gain(self, rows: int) -> float:
        """How many times smaller the noise is with δ."""
        place = ROWS.index(rows)
        return float(self.pure[place] / self.with_delta[place])

    @property
    def pays_from(self) -> int | None:
        """The least number of rows offered with which δ gains anything."""
        return next((rows for rows in ROWS if self.gain(rows) > 1.0), None)


@lru_cache(maxsize=256)
def noise_of_rows(epsilon: str, delta: str) -> NoiseOfRows:
    """Noise by the mechanism's own sensitivity and calibration, for every number of rows.

    With δ it is Gaussian throughout, so that both can be compared; a release takes whichever is smaller.
    """
    return NoiseOfRows(_noise(Budget(epsilon)), _noise(Budget(epsilon, delta)))


def _noise(budget: Budget) -> np.ndarray:
    domain, errors = Domain.of(hour=(0, 24)), []
    epsilon, delta = Fraction(budget.epsilon), Fraction(budget.delta)
    for rows in ROWS:
        sensitivity = Race(domain, Laplacian(1.5), rows, seed=0).sensitivity(Neighbours.ADD_REMOVE)
        noise = calibrate_gaussian(sensitivity, epsilon, delta) if delta else calibrate(sensitivity, epsilon)
        errors.append(math.sqrt(noise.variance / rows))
    return np.array(errors)


COUNTS = (0, 1)  # The exact counts of two neighbouring data sets.
FILES = 600
BITS = 52  # w is a multiple of 2^-BITS.


def textbook_laplace(uniform: float, scale: float) -> float:
    """Laplace noise as textbooks have it. Unsafe: for the lesson alone.

    `uniform`: a multiple of 2^-53 strictly between 0 and 1.
    """
    half = uniform - 0.5
    return -math.copysign(1.0, half) * (scale * math.log(1.0 - 2.0 * abs(half)))


def reachable(output: float, value: float, scale: float, bits: int = BITS) -> bool:
    """Whether any uniform number at all makes ``value`` plus textbook noise come out as exactly this output."""
    noise = output - value
    reach = 2.0 * math.ulp(output) + 8.0 * math.ulp(noise)
    steps, middle = 2**bits, math.exp(-abs(noise) / scale)
    # The share of w by which it may differ: by that reach, and by the rounding of this exponential and its argument.
    margin = reach / scale + 4e-16 * (2.0 + abs(noise) / scale)
    least, most = math.floor(steps * middle * (1.0 - margin)), math.ceil(steps * middle * (1.0 + margin))
    signs = (1.0, -1.0) if abs(noise) <= reach else (math.copysign(1.0, noise),)
    return any(
        value - sign * (scale * math.log(j / steps)) == output
        for j in range(max(1, least), min(steps, most) + 1)
        for sign in signs
    )


def possible_exactly(output: float, value: float) -> bool:
    """Whether exact integer noise can turn ``value`` into this output: any whole number has a chance above zero."""
    return float(output - value).is_integer()


@dataclass(frozen=True)
class Files:
    """Noisy counts that were released, and which exact counts each could come from."""

    truth: int
    scale: float
    outputs: np.ndarray  # float64 (n,).
    possible: np.ndarray  # bool (n, 2), for the counts 0 and 1.

    @property
    def betrayed(self) -> np.ndarray:
        """bool (n,), the files that can come from one count only: whoever has one knows the truth for certain."""
        return self.possible.sum(axis=1) == 1

    @property
    def share(self) -> float:
        """Share of the files that give the truth away."""
        return float(self.betrayed.mean())

    def certain_after(self, files: int) -> float:
        """The chance that at least one of several files gives the truth away."""
        return 1.0 - (1.0 - self.share) ** files


def _judged(truth: int, scale: float, outputs: np.ndarray, possible: Callable[[float, float], bool]) -> Files:
    verdicts = [[possible(output, float(count)) for count in COUNTS] for output in outputs.tolist()]
    return Files(truth, scale, outputs, np.array(verdicts, dtype=bool).reshape(-1, len(COUNTS)))


@lru_cache(maxsize=64)
def textbook_files(truth: int, epsilon: str, draw: int = 1) -> Files:
    """Releases of a count with textbook noise, and what the attack makes of them."""
    scale = 1.0 / float(epsilon)
    uniforms = np.random.default_rng([draw, truth]).random(2 * FILES)
    noise = [textbook_laplace(uniform, scale) for uniform in uniforms.tolist() if uniform > 0][:FILES]
    return _judged(truth, scale, truth + np.array(noise), lambda output, value: reachable(output, value, scale))


@lru_cache(maxsize=64)
def exact_files(truth: int, epsilon: str, draw: int = 1) -> Files:
    """Releases of the same count with the exact integer noise of every mechanism here, under the same attack."""
    noise = discrete_laplace(FILES, 1 / Fraction(epsilon), SeededSource(2 * draw + truth))
    return _judged(truth, 1.0 / float(epsilon), (truth + noise).astype(np.float64), possible_exactly)
