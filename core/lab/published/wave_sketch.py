"""What the Fourier mechanisms share: sums of waves on a torus as integers, their sensitivity, and kernel sums of them.

Record x adds W_m cos(m.x) and W_m sin(m.x) for every frequency m of one half of a lattice, and W_0 for m = 0, which
counts. A kernel sum is read off as the sum over m of (b_m / W_m) (cos(m.q) C_m + sin(m.q) S_m), with C and S the noisy
sums. Mechanisms differ in their weights b_m, the kernel's coefficients or a smoothed version of them, and in the public
amplitudes W_m, which share the sensitivity out between the frequencies.

In the two compiled loops a record's angle along each coordinate is turned into a point of the unit circle by a fixed
series, and the points of its whole-number multiples follow by multiplication, in a fixed order; a wave of several
coordinates is the product of theirs. No library function takes part, so a record adds the same integers on any machine
that keeps IEEE 754, wherever it stands. Its cosine and sine are then written as whole numbers (c, s) with c^2 + s^2 <=
W^2, checked exactly.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...geometry.kernels import KERNEL, Kernel
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.environment import over_ranges
from ...runtime.parameters import Resolved, Whole, check_integer, parameter
from ...sketches.answers import Answers
from ...sketches.linear import KernelSketch
from ...sketches.phases import COSINE, SINE, add_up
from .torus import BYTES_A_NODE, HIGHEST, NODES, PERIOD, Torus, check_torus, closed, largest_shift, scale_free

LEAST_QUERIES = 64
BLOCK = 32  # Points at a time: their multiples up to a few hundred fill a second-level cache at most.


@njit(nogil=True, cache=True, inline="always")
def _turns(shares, start, length, cosines, sines):
    """cos and sin of 2 pi m share for m = 0, 1, ..., of a block of points; (d, highest + 1, block).

    Half of the angle by Taylor's series, doubled, then multiplied.
    """
    d, multiples, _ = cosines.shape
    for j in range(d):
        for i in range(length):
            share = shares[j, start + i]
            half = (share - np.floor(share + 0.5)) * np.pi
            z = half * half
            c, s = COSINE[-1], SINE[-1]
            for k in range(2, len(COSINE) + 1):
                c = c * z + COSINE[-k]
                s = s * z + SINE[-k]
            s *= half
            cosines[j, 0, i], sines[j, 0, i] = 1.0, 0.0
            cosines[j, 1, i], sines[j, 1, i] = 1.0 - 2.0 * s * s, 2.0 * s * c
        for m in range(2, multiples):
            # m is the sum of its halves, so that errors grow with the digits of m and not with m itself.
            _times(
                cosines[j, m // 2],
                sines[j, m // 2],
                cosines[j, m - m // 2],
                sines[j, m - m // 2],
                1.0,
                length,
                cosines[j, m],
                sines[j, m],
            )


@njit(nogil=True, cache=True, inline="always")
def _times(c, s, a, b, sign, length, cosines, sines):
    """The points (c, s) of the circle turned by (a, sign b), for a block of points."""
    for i in range(length):
        x, y = c[i], s[i]
        cosines[i], sines[i] = x * a[i] - y * sign * b[i], y * a[i] + x * sign * b[i]


@njit(nogil=True, cache=True, inline="always")
def _before_last(frequency, cosines, sines, length, p, q):
    """(p, q) = cos and sin of a frequency's angle along all coordinates but the last, for a block of points."""
    p[:length], q[:length] = 1.0, 0.0
    for j in range(len(frequency) - 1):
        m = frequency[j]
        _times(p, q, cosines[j, abs(m)], sines[j, abs(m)], 1.0 if m >= 0 else -1.0, length, p, q)


@njit(nogil=True, cache=True)
def _pour(shares, first, last, highest, waves, amplitudes, table):
    d = len(shares)
    cosines, sines, p, q = _scratch(d, highest)
    for start in range(first, last, BLOCK):
        length = min(BLOCK, last - start)
        _turns(shares, start, length, cosines, sines)
        table[0] += amplitudes[0] * length
        p[:], q[:] = 1.0, 0.0
        for h in range(len(waves)):
            m = waves[h, d - 1]
            if m == -highest:  # the last coordinate runs fastest, so the others have changed
                _before_last(waves[h], cosines, sines, length, p, q)
            a, b, sign = cosines[d - 1, abs(m)], sines[d - 1, abs(m)], 1.0 if m >= 0 else -1.0
            amplitude = np.float64(amplitudes[1 + h])
            most = amplitudes[1 + h] * amplitudes[1 + h]
            cosine, sine = np.int64(0), np.int64(0)
            for i in range(length):
                # Toward zero; rounding may leave a pair a hair too long, which the loop takes back.
                x = np.int64(amplitude * (p[i] * a[i] - q[i] * sign * b[i]))
                y = np.int64(amplitude * (q[i] * a[i] + p[i] * sign * b[i]))
                while x * x + y * y > most:
                    x -= np.sign(x)
                    y -= np.sign(y)
                cosine += x
                sine += y
            table[1 + 2 * h] += cosine
            table[2 + 2 * h] += sine


@njit(nogil=True, cache=True, inline="always")
def _scratch(d, highest):
    """Room for the multiples of a block of points, and for the points of one frequency."""
    sides = (d, highest + 1, BLOCK)
    return np.empty(sides), np.empty(sides), np.empty(BLOCK), np.empty(BLOCK)


@njit(nogil=True, cache=True)
def _read(shares, first, last, highest, waves, sums, out):
    d = len(shares)
    cosines, sines, p, q = _scratch(d, highest)
    for start in range(first, last, BLOCK):
        length = min(BLOCK, last - start)
        _turns(shares, start, length, cosines, sines)
        total = out[start : start + length]
        total[:] = sums[0]
        p[:], q[:] = 1.0, 0.0
        for h in range(len(waves)):
            m = waves[h, d - 1]
            if m == -highest:
                _before_last(waves[h], cosines, sines, length, p, q)
            a, b, sign = cosines[d - 1, abs(m)], sines[d - 1, abs(m)], 1.0 if m >= 0 else -1.0
            x, y = sums[1 + 2 * h], sums[2 + 2 * h]
            for i in range(length):
                total[i] += (p[i] * a[i] - q[i] * sign * b[i]) * x + (q[i] * a[i] + p[i] * sign * b[i]) * y


def pour_waves(shares: np.ndarray, waves: np.ndarray, amplitudes: np.ndarray, table: np.ndarray) -> None:
    """Add every record's waves to a table.

    `shares`: float64 (d, n), how much of a turn each record is along each coordinate. `waves`: int64 (H, d), the
    frequencies, as `Torus.waves` orders them. `amplitudes`: int64 (1 + H,), from 0 to 2^30: of the number of records,
    and of every wave. `table`: int64 (1 + 2 H,), the number of records and a cosine and a sine a wave; changed in
    place.
    """
    highest = int(waves.max())

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _pour(shares, start, stop, highest, waves, amplitudes, sums)

    add_up(shares.shape[1], records, table)


def read_waves(shares: np.ndarray, waves: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The sum of waves with given weights at every query, float64 (n,).

    `shares`, `waves`: as for `pour_waves`, of queries. `sums`: float64 (1 + 2 H,), what every wave is multiplied by.
    """
    highest = int(waves.max())
    out = np.empty(shares.shape[1])

    def queries(start: int, stop: int) -> None:
        _read(shares, start, stop, highest, waves, sums, out)

    over_ranges(shares.shape[1], queries, at_least=LEAST_QUERIES)
    return out


GROWTH = 1.25  # Highest frequencies that are tried grow by this factor.


@dataclass(frozen=True)
class WaveSketch(KernelSketch):
    """Sums of waves; see the subclasses.

    RequestError when a parameter is out of range, the columns are too many or not numbers, or the kernel is of another
    kind.
    """

    domain: Domain  # The public facts about the records: one to three numbers each.
    kernel: Kernel = parameter(KERNEL)  # Of the difference of two records.
    # M, the highest frequency a coordinate, in turns a period; None leaves the choice to `sized_for`.
    highest: Resolved[int] = parameter(
        Whole("The highest frequency", 1, max(HIGHEST.values())), None, settled="its highest frequency"
    )
    # Of each coordinate, in widths of the bounds; see `torus`.
    period: Resolved[tuple[float, ...]] = parameter(PERIOD, None, settled="its period")
    # By how much closeness may be off where the ends of the torus meet, if the period is not given.
    mistaken: ClassVar[float]

    def _check(self) -> None:
        super()._check()
        check_torus(self.domain, self.kernel, self.described)
        if self.highest is not None:
            check_integer(self.highest, "The highest frequency", 1, HIGHEST[self.domain.dimensions])
        self._settle(period=closed(self.domain, self.kernel, self.period, self.mistaken))

    @property
    @abstractmethod
    def amplitudes(self) -> np.ndarray:
        """W_m as whole numbers for m = 0 to M in each coordinate, int64 (M + 1,) * d."""

    @property
    @abstractmethod
    def weights(self) -> np.ndarray:
        """b_m as coefficients of the function whose sums are estimated, float64 (M + 1,) * d; even in m."""

    @property
    def order(self) -> int:
        """M; RequestError before it is chosen."""
        return int(self.given("highest", "highest frequency"))

    @property
    def shape(self) -> tuple[int]:
        """The number of records, then the cosine and the sine of every wave."""
        return ((2 * self.order + 1) ** self.domain.dimensions,)

    @property
    def kernel_coefficients(self) -> np.ndarray:
        """c_m of the kernel for m = 0 to M in each coordinate, float64 (M + 1,) * d."""
        return self.torus.spectrum[(slice(self.order + 1),) * self.domain.dimensions].copy()

    @property
    def setup_bytes(self) -> int:
        counters = 0 if self.highest is None else self.shape[0]
        return BYTES_A_NODE * ((NODES[self.domain.dimensions] + 1) ** self.domain.dimensions + counters)

    @property
    def largest_entry(self) -> int:
        return int(self.amplitudes.max())

    @cached_property
    def torus(self) -> Torus:
        return self.torus_of(self.kernel)

    def torus_of(self, kernel: Kernel) -> Torus:
        return Torus(self.domain, kernel, self.period)

    @cached_property
    def waves(self) -> np.ndarray:
        return self.torus.waves(self.order)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        pour_waves(self._shares(points), self.waves, self._by_wave(self.amplitudes), table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record adds W_0 and, for each wave, whole numbers with c^2 + s^2 <= W_m^2.

        Add or remove one: L2 squared is at most the sum of all W_m^2, W_0 among them. A record at the lower bounds adds
        (W_m, 0) everywhere and reaches it.

        Replace one: W_0 stays. The pairs of two records at x and x + t are W_m |exp(i m.t) - 1| apart, and the squares
        of that add up to the sum of 2 W_m^2 (1 - cos(m.t)), which is largest where a sum of cosines with positive
        weights is least (`largest_shift`); some pair reaches it, as a period is at most twice the width, so that every
        place of the torus is the difference of two records. Cutting toward zero moves every number of either record by
        less than 1, so the table of D numbers by less than sqrt(D) more; floating point adds less than 2^-30 of the
        whole. A replaced record may also be left out, which moves what removing it does.

        L1 is at most sqrt(D) times L2, by Cauchy and Schwarz. No noise hangs on it: under pure epsilon the whole table
        gets one vector of noise of variance (D + 1) L2^2 / epsilon^2, which is less than the 2 L1^2 / epsilon^2 of
        Laplace noise on each number, as L1 is 0.90 sqrt(D) L2 when all amplitudes are equal.
        """
        amplitudes = self.amplitudes.astype(np.float64) ** 2
        exact = [int(value) for value in self._by_wave(self.amplitudes)]
        counters = self.shape[0]
        square = sum(value * value for value in exact)
        if neighbours is Neighbours.REPLACE_ONE:
            moved = math.sqrt(largest_shift(amplitudes)) * (1.0 + 2.0**-30) + math.sqrt(counters)
            square = max(square, min(4 * square, math.ceil(moved**2)))
        length = math.isqrt(square - 1) + 1
        return Sensitivity(math.isqrt(counters * square), square, block=counters, blocks_l2=length)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Estimates with the standard error of the noise; intervals reach further by the largest possible bias.

        The sum of waves is off by at most `bias` for each record, whatever the data. Outside the bounds a torus says
        nothing: queries there have no known error.
        """
        estimate = read_waves(self._shares(points), self.waves, table * self._coefficients)
        error = np.sqrt(self.noise_variance(counter_variance, points))
        answers = Answers.of_errors(estimate, np.where(self._inside(points), error, math.inf), records, level)
        return answers.reaching(self.bias * max(float(records), 1.0))

    @cached_property
    def bias(self) -> float:
        """The largest difference, over all records and queries, of the kernel and the sum of waves that is read."""
        return self.torus.worst_error(self.weights)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """The squared weights of a wave's cosine and sine add up to (b_m / W_m)^2 at every query."""
        square = self._coefficients**2
        variance = counter_variance * float(square[0] + square[1:].sum() / 2.0)
        return variance if points is None else np.full(len(points), variance)

    def total(self, table: np.ndarray) -> float:
        return float(table[0]) / float(self.amplitudes.flat[0])

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / float(self.amplitudes.flat[0]) ** 2

    def expected_error(self, budget: Budget, records: float) -> float:
        """Expected squared error of a typical answer, from public facts alone.

        Records are taken to have as much structure at every scale; see `scale_free`.
        """
        noise = self.counter_noise(budget)
        missed = scale_free(self.torus).missed(self.kernel_coefficients, self.weights)
        return float(self.noise_variance(noise.variance)) + records**2 * missed

    @cached_property
    def _coefficients(self) -> np.ndarray:
        """What every number of a table is multiplied by, float64 (1 + 2 H,)."""
        amplitudes, weights = self._by_wave(self.amplitudes), self._by_wave(self.weights)
        weights[1:] *= 2.0  # a wave stands for its opposite too
        each = np.divide(weights, amplitudes, out=np.zeros(len(weights)), where=amplitudes > 0)
        return np.concatenate([each[:1], np.repeat(each[1:], 2)])

    def _by_wave(self, values: np.ndarray) -> np.ndarray:
        """Values of frequency 0 and of every wave, (1 + H,), from those of absolute frequencies."""
        return np.concatenate([values.flat[:1], values[tuple(np.abs(self.waves).T)]])

    def _shares(self, points: np.ndarray) -> np.ndarray:
        """How much of a turn every point is along each coordinate, float64 (d, n)."""
        torus = self.torus
        return np.ascontiguousarray(((np.asarray(points, np.float64) - torus.low) / torus.lengths).T)

    def _inside(self, points: np.ndarray) -> np.ndarray:
        low, high = self.domain.bounds(self.metric)
        return np.all((points >= low) & (points <= high), axis=1)


def orders(dimensions: int) -> Iterator[int]:
    order = 1
    while order <= HIGHEST[dimensions]:
        yield order
        order = max(order + 1, int(order * GROWTH))
