"""The integers that a phase is turned into: public tables, the same on every machine for ever.

A point of the circle is written as two integers (c, s), looked up by the phase in one of M equal steps of the turn.
The next theorem lets *any* such table stand for the cosine and sine without bias, however coarse it is.

    Let b be uniform on the turn, T(u) = (c, s) the entry of the phase u, and
    gain = mean over u of <T(u), (cos 2 pi u, sin 2 pi u)>. Then
    E_b <T(u + b), (cos 2 pi (v + b), sin 2 pi (v + b))> = gain * cos 2 pi (u - v)

for tables that turn with the circle (T a quarter turn on is T turned by a quarter). Proof: as a complex number,
T(u) = sum over n of T_n exp(2 pi i n u); multiplied by exp(-2 pi i (v + b)) and averaged over b only n = 1 is left,
whose coefficient T_1 is real for tables that are also symmetric under reflection. Rows draw b afresh, so rounding adds
a little variance and no bias.

Two tables are of use:

* ``circle`` holds cos and sin in fixed point, c^2 + s^2 <= A^2 and |c| + |s| <= sqrt(2) A. Its gain is A, but for
  rounding, so an answer has the noise of its squared L2 sensitivity: the best there is for Gaussian noise, as no table
  of L2 norm at most A has a larger gain.
* ``quadrant`` is (1, 0), (0, 1), (-1, 0), (0, -1), whichever is nearest: one count a row, as in RACE, with a sign. Its
  gain is the mean of max(|cos|, |sin|) = 2 sqrt(2)/pi = 0.9003 at an L1 sensitivity of 1: the most that any table can
  have, since <T, e> <= |T|_1 max(|e|). The circle's is 1/sqrt(2) = 0.7071 at that sensitivity. So under pure epsilon
  an answer has (0.7071 / 0.9003)^2 = 0.617 of the circle's noise variance. Its harmonics 3, 5, ... add some sampling
  error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

AMPLITUDE = 1 << 15
STEPS = 1 << 16
PLACES = 128  # Binary places of the integer arithmetic in which the circle is computed.


@dataclass(frozen=True)
class Waves:
    """A table of integer points, one a step of the turn."""

    name: str  # "circle" or "quadrant".
    points: np.ndarray  # int64 (M, 2), entry m for phases from m/M up to (m + 1)/M.

    @cached_property
    def packed(self) -> np.ndarray:
        """int64 (M,), c + 2^32 s: sums of fewer than 2^15 entries keep both halves apart."""
        return self.points[:, 0] + (self.points[:, 1] << 32)

    @property
    def steps(self) -> int:
        """M, a power of two."""
        return len(self.points)

    @property
    def delay(self) -> float:
        """How far, in turns, the phase of an entry's direction lies behind the middle of its step."""
        return 0.5 / self.steps

    @cached_property
    def gain(self) -> float:
        """Mean of <T(u), (cos, sin)> over the turn: entries point to m/M, and a step is a 1/M of a turn wide."""
        angle = 2.0 * np.pi * np.arange(self.steps) / self.steps
        along = self.points[:, 0] * np.cos(angle) + self.points[:, 1] * np.sin(angle)
        return float(along.mean() * np.sinc(1.0 / self.steps))

    @cached_property
    def l1(self) -> int:
        return int(np.abs(self.points).sum(axis=1).max())

    @cached_property
    def l2_squared(self) -> int:
        return int((self.points**2).sum(axis=1).max())

    @cached_property
    def largest(self) -> int:
        return int(np.abs(self.points).max())


@lru_cache(maxsize=2)
def waves(name: str) -> Waves:
    return Waves(name, {"circle": _circle, "quadrant": _quadrant}[name]())


def _quadrant() -> np.ndarray:
    return np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=np.int64)


def _circle() -> np.ndarray:
    """A cos and A sin of m/M turns, cut toward zero, in integer arithmetic throughout.

    The first eighth is computed by turning a point of 128 binary places step by step; 2^13 steps lose 14 places at
    most, and no value but cos 0 and sin 0 comes within 2^-60 of an integer (a test sees to it), so cutting is exact.
    Reflections give the rest.
    """
    eighth = STEPS // 8
    one = 1 << PLACES
    turn_cos, turn_sin = _first_step()
    cosine, sine = one, 0
    octant = np.empty((eighth + 1, 2), dtype=np.int64)
    for m in range(eighth + 1):
        octant[m] = (cosine * AMPLITUDE) >> PLACES, (sine * AMPLITUDE) >> PLACES
        cosine, sine = (
            (cosine * turn_cos - sine * turn_sin) >> PLACES,
            (sine * turn_cos + cosine * turn_sin) >> PLACES,
        )
    quarter = np.concatenate([octant, octant[-2::-1, ::-1]])[:-1]
    c, s = quarter.T
    return np.concatenate([quarter, np.stack([-s, c], 1), -quarter, np.stack([s, -c], 1)])


def _first_step() -> tuple[int, int]:
    """cos and sin of 2 pi / STEPS in fixed point, by Taylor's series; pi by Machin's formula."""
    angle = (2 * (16 * _arctan_of_inverse(5) - 4 * _arctan_of_inverse(239))) // STEPS
    sums = [0, 0]
    term = 1 << PLACES
    for n in range(40):
        sums[n % 2] += term if n % 4 < 2 else -term
        term = (term * angle >> PLACES) // (n + 1)
    return sums[0], sums[1]


def _arctan_of_inverse(x: int) -> int:
    power = (1 << PLACES) // x
    total, n = 0, 1
    while power:
        total += power // n if n % 4 == 1 else -(power // n)
        power //= x * x
        n += 2
    return total
