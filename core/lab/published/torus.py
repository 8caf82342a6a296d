"""A box of columns closed into a torus, and what a kernel of the difference x - y is made of there.

On a torus every such kernel is a sum of waves, k(x - y) = sum over whole-number frequencies m of c_m cos(m.(x - y)),
angles in turns of each coordinate's period. A period longer than the box keeps its two ends apart: differences up to
half a period are seen as they are, and longer ones, up to the box's width, come round as the period less the
difference. With twice the width none does. Longer periods need more frequencies, and with them noise, so the shortest
one is taken that mistakes no difference for one whose closeness is off by more than a stated amount.

How records lie, as far as anybody may know: alike at every scale, as most of nature and most of what people do.

What a cut-off series misses of an answer depends on the power of the records at the frequencies it leaves out, and
nobody may look at that. Independent places have the same power at all frequencies and one smooth heap has none at high
ones; records have streets in districts in towns. So every octave of scales is taken to have as much power as any other:
power falls as the inverse of the volume of frequencies, |m|^-d in d coordinates, where |m| counts turns in the width of
the bounds. How crowded a typical place is, beside the average one, follows from it for every kernel.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.fft import dctn

from ...domain import Categorical, Domain
from ...errors import RequestError
from ...geometry.kernel import Stationary
from ...geometry.kernels import Kernel, Mixture, Product, of_coordinates
from ...runtime.parameters import Number, Several

# Steps of half a period at which a kernel is sampled, along each of so many coordinates.
NODES = {1: 1 << 16, 2: 1 << 9, 3: 1 << 6}
# The highest frequency a coordinate: an eighth of the steps, or fewer where they would be too many counters.
HIGHEST = {1: 1 << 13, 2: 128, 3: 16}
BYTES_A_NODE = 96  # Memory at the peak of sampling a kernel, from above.
PERIODS = tuple(1.0 + step / 16.0 for step in range(17))  # Periods that are tried, in widths of the box.
PERIOD = Several("The period", Number("A period, in widths of the bounds,", 1.0, 2.0))
_PLACES_TRIED = 65


def check_torus(domain: Domain, kernel: Kernel, what: str) -> None:
    """Refuse columns or a kernel that no sum of waves on a small torus stands for."""
    if domain.dimensions not in NODES or any(isinstance(column, Categorical) for column in domain.columns):
        raise RequestError(
            f"A {what} needs from 1 to {max(NODES)} coordinates, all of them numbers: its frequencies multiply with "
            "every further one, and categories lie on no line."
        )
    if not is_of_difference(kernel):
        raise RequestError(
            f"A {what} needs a kernel of the difference of two records, such as gaussian or euclidean, and "
            f"{kernel.name!r} is none."
        )
    of_coordinates(kernel, domain.widths)


def is_of_difference(kernel: Kernel) -> bool:
    """Whether a kernel only depends on the absolute differences of coordinates."""
    if isinstance(kernel, (Product, Mixture)):
        return all(is_of_difference(part) for part in kernel.parts)
    return isinstance(kernel, Stationary)


@dataclass(frozen=True)
class Torus:
    """A box closed into a torus."""

    # As checked by `check_torus`.
    domain: Domain
    kernel: Kernel
    period: tuple[float, ...]  # Of each coordinate, in widths of the box, from 1 to 2, as `closed` gives it.

    @cached_property
    def point_kernel(self) -> Kernel:
        return of_coordinates(self.kernel, self.domain.widths)

    @property
    def dimensions(self) -> int:
        return self.domain.dimensions

    @cached_property
    def low(self) -> np.ndarray:
        """Where every turn begins, encoded, float64 (d,)."""
        return self.domain.bounds(self.kernel.metric)[0]

    @cached_property
    def widths(self) -> np.ndarray:
        """Of the box, encoded, float64 (d,)."""
        low, high = self.domain.bounds(self.kernel.metric)
        return high - low

    @property
    def lengths(self) -> np.ndarray:
        """Of a turn along each coordinate, encoded, float64 (d,)."""
        return self.widths * np.array(self.period)

    def waves(self, highest: int) -> np.ndarray:
        """One of every two opposite frequencies of at most ``highest`` a coordinate, int64 (H, d), without 0.

        H = ((2 highest + 1)^d - 1) / 2.
        """
        around = range(-highest, highest + 1)
        lattice = np.array(list(itertools.product(around, repeat=self.dimensions)), dtype=np.int64)
        return lattice[len(lattice) // 2 + 1 :]  # in order, the middle is 0 and opposites lie opposite it

    @property
    def spectrum(self) -> np.ndarray:
        """c_m of the kernel for m >= 0 in each coordinate, float64 (steps + 1,) * d; c is even in every coordinate."""
        return _spectrum(self)[1]

    def at(self, places: np.ndarray) -> np.ndarray:
        """The kernel at differences given in steps, (d, ...) flattened to float64 (n,)."""
        step = self.lengths / (2 * NODES[self.dimensions])
        differences = places.reshape(self.dimensions, -1).T * step
        return self.point_kernel.evaluate(np.zeros((1, self.dimensions)), differences)[0]

    def worst_error(self, coefficients: np.ndarray) -> float:
        """The largest difference between the kernel and a sum of waves, over all differences of records.

        Found on the steps that the kernel is sampled at, 0 included, and beyond half a period on some of them: nothing
        is sharp there. `coefficients`: of the waves, float64 (highest + 1,) * d, like the first entries of `spectrum`.
        """
        steps = NODES[self.dimensions]
        made = dctn(padded(coefficients, steps + 1), type=1)
        worst = float(np.abs(made - _spectrum(self)[0]).max())
        stride = max(1, steps // {1: 1 << 12, 2: 64, 3: 16}[self.dimensions])
        reached = [range(0, int(2 * steps / period) + 1, stride) for period in self.period]
        places = np.stack(np.meshgrid(*reached, indexing="ij"))
        seen = made[tuple(np.where(places > steps, 2 * steps - places, places))]
        return max(worst, float(np.abs(seen.ravel() - self.at(places)).max()))


@lru_cache(maxsize=8)
def _spectrum(torus: Torus) -> tuple[np.ndarray, np.ndarray]:
    """The kernel at differences of 0 to half a period along each coordinate, and its coefficients.

    Kept for the many sizes of a sketch that are tried on one torus; both are read-only.
    """
    steps = NODES[torus.dimensions]
    sampled = torus.at(np.indices((steps + 1,) * torus.dimensions)).reshape((steps + 1,) * torus.dimensions)
    coefficients = dctn(sampled, type=1) / float((2 * steps) ** torus.dimensions)
    sampled.flags.writeable = coefficients.flags.writeable = False
    return sampled, coefficients


def closed(domain: Domain, kernel: Kernel, period: tuple[float, ...] | None, mistaken: float) -> tuple[float, ...]:
    """The periods of a torus: as given, or the shortest that keep the ends of the box apart.

    RequestError unless there is one number a coordinate, or None.

    `period`: in widths of the box, from 1 to 2 of them. `mistaken`: by how much the closeness of any two records may be
    off then, along one coordinate.
    """
    if period is not None:
        if len(period) != domain.dimensions:
            raise RequestError(f"The period needs {domain.dimensions:,} numbers, one a coordinate.")
        return period
    return tuple(
        next(period for period in PERIODS if _mistaken(domain, kernel, place, period) <= mistaken)
        for place in range(domain.dimensions)
    )


def _mistaken(domain: Domain, kernel: Kernel, place: int, period: float) -> float:
    """By how much closeness is off at most where a difference along one coordinate comes round as another."""
    whole = Torus(domain, kernel, (1.0,) * domain.dimensions)
    shares = np.linspace(min(period / 2.0, 1.0), 1.0, _PLACES_TRIED)
    ends = np.zeros((2 * len(shares), domain.dimensions))
    ends[:, place] = whole.widths[place] * np.concatenate([shares, period - shares])
    there, seen = np.split(whole.point_kernel.evaluate(np.zeros((1, domain.dimensions)), ends)[0], 2)
    return float(np.abs(seen - there).max())


def padded(coefficients: np.ndarray, size: int) -> np.ndarray:
    """The coefficients with zeros up to so many along each axis."""
    return np.pad(coefficients, [(0, size - side) for side in coefficients.shape])


def full_sum(values: np.ndarray) -> float:
    """The sum over all frequencies of values that are given for m >= 0 in each coordinate, and even in each."""
    folds = np.minimum(np.indices(values.shape), 1).sum(axis=0)
    return float((values * 2.0**folds).sum())


def largest_shift(squares: np.ndarray) -> float:
    """The largest sum over all frequencies m of a_m (1 - cos(m.t)) over places t of the torus, rounded up.

    The sum of cosines is computed on a grid. At the place where it is least its gradient is zero, and the nearest grid
    place is at most half a step away along each coordinate, where it is higher by at most half of the largest second
    derivative: sum of a_m (|m_1| + ... + |m_d|)^2 (half a step)^2 / 2. `squares`: a_m >= 0 for m >= 0 in each
    coordinate, float64 (highest + 1,) * d; even in every coordinate.
    """
    dimensions, highest = squares.ndim, squares.shape[0] - 1
    steps = max(NODES[dimensions], 8 * highest)
    cosines = dctn(padded(squares, steps + 1), type=1)
    lengths = np.indices(squares.shape).sum(axis=0).astype(np.float64)
    slack = 0.5 * full_sum(squares * lengths**2) * (0.5 * math.pi / steps) ** 2
    return (float(cosines.flat[0]) - float(cosines.min()) + slack) * (1.0 + 2.0**-30)


# Squared share of the records that a wave of one turn in the width of the bounds has. Heaps of equal values have more
# and smooth records less: no size suits both, and this one is between.
POWER = 0.35


@dataclass(frozen=True, eq=False)
class ScaleFree:
    """Records of average closeness that have as much structure at every scale."""

    # Squared magnitudes of the mean wave over the records, for the frequencies of the kernel's spectrum.
    power: np.ndarray
    total: float  # Sum over all frequencies of power times the kernel's squared coefficients.
    crowding: float  # Average closeness of two records over that of evenly spread ones.

    def missed(self, kernel: np.ndarray, weights: np.ndarray) -> float:
        """Mean squared error of a record's share in an answer where records are, if a series has other weights.

        The mean square over evenly spread queries is the sum of power times squared differences of coefficients, by
        Parseval; where records are, it is taken to be larger as answers are. `kernel`, `weights`: the kernel's own
        coefficients and those of the series, float64 (M + 1,) * d.
        """
        power = self.power[tuple(map(slice, kernel.shape))]
        kept = full_sum(power * kernel**2) - full_sum(power * (kernel - weights) ** 2)
        return self.crowding * max(self.total - kept, 0.0)


@lru_cache(maxsize=8)
def scale_free(torus: Torus) -> ScaleFree:
    """On a torus; kept for the many sizes of a sketch that are tried there."""
    spectrum = torus.spectrum
    turns = np.indices(spectrum.shape).T / np.array(torus.period)
    squares = (turns**2).sum(axis=-1).T
    squares.flat[0] = 1.0
    power = POWER * squares ** (-torus.dimensions / 2.0)
    power.flat[0] = 1.0  # every record
    crowding = full_sum(power * np.abs(spectrum)) / float(spectrum.flat[0])
    return ScaleFree(power, full_sum(power * spectrum**2), crowding)
