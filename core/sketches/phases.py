"""The compiled loops of random features, with dense frequencies and structured ones: add records, and read queries.

A record's phase in a row is a sum in a fixed order, computed by the same code for records and queries; its entry of the
public table is looked up and added as integers. Threads own records when building, each with a table of its own; sums
of integers are exact in any order, so the total depends on neither batches nor threads.

Under structured frequencies (`fast_pour`, `fast_read`) records are transformed a few at a time, each in a lane of its
own: the additions of one record never depend on the records beside it.

The integers that a phase is turned into: public tables, the same on every machine for ever.

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

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock

import numpy as np

from ..geometry.frequencies import Frequencies, Structured
from ..geometry.projection import LANES, walsh_hadamard
from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from ..runtime.inner_products import DEPTH, MANY, inner_products, records_at_once
from .race_counting import project

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


BLOCK = 1024
ROWS = 256  # Rows of many terms that a block is projected on together.
CERTAIN = 2.0**51  # From this many turns on floating point cannot tell the phase.
LEAST_RECORDS, LEAST_QUERIES = 512, 64
COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(10))
# Taylor's series of cos x and sin(x)/x in x^2: up to a quarter turn the terms left out are below 1e-14.
SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(10))


@njit(nogil=True, cache=True, inline="always")
def look_up(value, length, packed, row):
    """Add the entries of the phases ``value[:length]``, in turns, to one row of a table."""
    steps = np.float64(len(packed))
    mask = np.int32(len(packed) - 1)
    both = np.int64(0)
    for i in range(length):
        turn = value[i] - np.floor(value[i])
        # A tiny negative phase rounds up to a whole turn, which the mask takes back to none.
        both += packed[np.int32(turn * steps) & mask]
    cosine = np.int64(np.int32(both & 0xFFFFFFFF))
    row[0] += cosine
    row[1] += (both - cosine) >> 32


@njit(nogil=True, cache=True, inline="always", fastmath={"contract"})
def decode(value, length, cosine_sum, sine_sum, out):
    """Add cosine_sum cos(2 pi u) + sine_sum sin(2 pi u) to ``out`` for phases u in turns: half the angle, doubled."""
    for i in range(length):
        u = value[i]
        # Phases beyond all precision say nothing, so they are given nothing; NaN fails the comparison too.
        certain = 1.0 if abs(u) < CERTAIN else 0.0
        u = u if certain == 1.0 else 0.0
        x = (u - np.rint(u)) * np.pi
        z = x * x
        c, s = COSINE[-1], SINE[-1]
        for k in range(2, len(COSINE) + 1):
            c = c * z + COSINE[-k]
            s = s * z + SINE[-k]
        s *= x
        out[i] += certain * (cosine_sum * (1.0 - 2.0 * s * s) + sine_sum * 2.0 * s * c)


@njit(nogil=True, cache=True, inline="always")
def _turns(points, start, length, coordinate, waves, phases, first, panel, values):
    """values[r - first] = the phases of row r, in turns: of one row, or for many terms of several from the first on."""
    rows, d = min(len(values), len(phases) - first), len(coordinate)
    if d < MANY:
        wave = waves[first * d : (first + 1) * d]
        project(points, start, length, 0, d, coordinate, wave, phases[first], values[0])
    else:
        for r in range(rows):
            values[r] = phases[first + r]
        inner_products(points, start, length, waves, first * d, rows, panel, values)


@njit(nogil=True, cache=True)
def _pour(points, first, last, coordinate, waves, phases, packed, block, table):
    values, panel = _scratch(len(coordinate), block)
    for start in range(first, last, block):
        length = min(block, last - start)
        for r in range(len(phases)):
            if r % len(values) == 0:
                _turns(points, start, length, coordinate, waves, phases, r, panel, values)
            look_up(values[r % len(values)], length, packed, table[r])


@njit(nogil=True, cache=True)
def _read(points, first, last, coordinate, waves, phases, group_of_row, block, table, out):
    values, panel = _scratch(len(coordinate), block)
    for start in range(first, last, block):
        length = min(block, last - start)
        for r in range(len(phases)):
            if r % len(values) == 0:
                _turns(points, start, length, coordinate, waves, phases, r, panel, values)
            value, sums = values[r % len(values)], out[group_of_row[r], start : start + length]
            decode(value, length, table[r, 0], table[r, 1], sums)


@njit(nogil=True, cache=True, inline="always")
def _scratch(d, block):
    """Room for the phases of one row, or of several where there are many terms, and for `inner_products`."""
    many = d >= MANY
    return np.empty((ROWS if many else 1, block)), np.empty((min(d, DEPTH) if many else 1, block))


def pour(points: np.ndarray, frequencies: Frequencies, entries: Waves, table: np.ndarray) -> None:
    """Add the entries of every point's phases to the rows of ``table``.

    `points`: float64 (n, d), each coordinate contiguous (Fortran order), with phases below `CERTAIN` turns.
    `frequencies`: of R rows. `table`: int64 (R, 2), changed in place.
    """
    by_coordinate, coordinate, block = _laid_out(points)

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        f = frequencies
        _pour(by_coordinate, start, stop, coordinate, f.waves.reshape(-1), f.phases, entries.packed, block, sums)

    add_up(len(points), records, table)


def read(
    points: np.ndarray, frequencies: Frequencies, delay: float, table: np.ndarray, group_of_row: np.ndarray
) -> np.ndarray:
    """Sum over the rows of each group of <row of the table, (cos, sin) of the query's phase>, float64 (groups, n).

    `points`: float64 (n, d). `frequencies`, `delay`: of R rows, and of the table of integers that was added. `table`:
    int64 (R, 2). `group_of_row`: int64 (R,), the group of each row.
    """
    by_coordinate, coordinate, block = _laid_out(points)
    waves, phases, sums = frequencies.waves.reshape(-1), frequencies.phases - delay, table.astype(np.float64)
    out = np.zeros((int(group_of_row.max()) + 1, len(points)))

    def queries(start: int, stop: int) -> None:
        _read(by_coordinate, start, stop, coordinate, waves, phases, group_of_row, block, sums, out)

    over_ranges(len(points), queries, at_least=LEAST_QUERIES)
    return out


def add_up(count: int, work, table: np.ndarray) -> None:
    """Let ``work(start, stop, sums)`` add ranges of records to tables of zeros on all cores, and add those up."""
    lock = Lock()

    def part(start: int, stop: int) -> None:
        sums = np.zeros_like(table)
        work(start, stop, sums)
        with lock:
            np.add(table, sums, out=table)

    over_ranges(count, part, at_least=LEAST_RECORDS)


def _laid_out(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Points with one row a coordinate, the numbers of the coordinates, and how many points to take at a time."""
    d = points.shape[1]
    return np.ascontiguousarray(points.T), np.arange(d, dtype=np.int32), BLOCK if d < MANY else records_at_once(d)


@njit(nogil=True, cache=True, inline="always")
def _spin(points, start, length, units, signs, normals, buffer):
    """The block's unit rows times the scaled points, one lane a point."""
    for j in range(len(units)):
        lanes = buffer[j]
        factor = units[j] * signs[j]
        for i in range(length):
            lanes[i] = factor * points[j, start + i]
    buffer[len(units) :] = 0.0
    walsh_hadamard(buffer)
    for j in range(len(buffer)):
        lanes = buffer[j]
        for i in range(LANES):
            lanes[i] *= normals[j]
    walsh_hadamard(buffer)


@njit(nogil=True, cache=True)
def _fast_pour(points, first, last, facts, phases, packed, table):
    signs, normals, first_row, lengths, units = facts
    buffer = np.zeros((signs.shape[1], LANES))
    value = np.empty(LANES)
    for start in range(first, last, LANES):
        length = min(LANES, last - start)
        for block in range(len(signs)):
            _spin(points, start, length, units, signs[block], normals[block], buffer)
            for r in range(first_row[block], first_row[block + 1]):
                lanes = buffer[r - first_row[block]]
                for i in range(LANES):
                    value[i] = lengths[r] * lanes[i] + phases[r]
                look_up(value, length, packed, table[r])


@njit(nogil=True, cache=True)
def _fast_read(points, first, last, facts, phases, group_of_row, table, out):
    signs, normals, first_row, lengths, units = facts
    buffer = np.zeros((signs.shape[1], LANES))
    value = np.empty(LANES)
    for start in range(first, last, LANES):
        length = min(LANES, last - start)
        for block in range(len(signs)):
            _spin(points, start, length, units, signs[block], normals[block], buffer)
            for r in range(first_row[block], first_row[block + 1]):
                lanes = buffer[r - first_row[block]]
                for i in range(LANES):
                    value[i] = lengths[r] * lanes[i] + phases[r]
                decode(value, length, table[r, 0], table[r, 1], out[group_of_row[r], start : start + length])


def fast_pour(points: np.ndarray, structured: Structured, entries: Waves, table: np.ndarray) -> None:
    """Add the entries of every point's phases to the rows of ``table``; parameters as for `phases.pour`."""
    by_coordinate = np.ascontiguousarray(points.T)
    s = structured
    facts = s.signs, s.normals, s.first_row, s.lengths, s.units

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _fast_pour(by_coordinate, start, stop, facts, s.phases, entries.packed, sums)

    add_up(len(points), records, table)


def fast_read(
    points: np.ndarray, structured: Structured, delay: float, table: np.ndarray, group_of_row: np.ndarray
) -> np.ndarray:
    """Sums over the rows of each group, float64 (groups, n); parameters as for `phases.read`."""
    by_coordinate = np.ascontiguousarray(points.T)
    s, phases, sums = structured, structured.phases - delay, table.astype(np.float64)
    facts = s.signs, s.normals, s.first_row, s.lengths, s.units
    out = np.zeros((int(group_of_row.max()) + 1, len(points)))

    def queries(start: int, stop: int) -> None:
        _fast_read(by_coordinate, start, stop, facts, phases, group_of_row, sums, out)

    over_ranges(len(points), queries, at_least=LEAST_QUERIES)
    return out
