"""How many cells a histogram has: those with the least expected error of a typical answer, from public facts alone.

Coarser grids have less noise, as fewer counters are added up, and fit the kernel less well. What a misfit costs is
nothing that is public: it goes with what a crowd at a single value would miss (`Smoothing.crowded`), and what part of
that it is differs between data sets by a factor of hundreds, as some are smooth and some have few values. So several
are tried, and the size is taken whose expected squared error has the least geometric mean over them: it is near the
best where misfits are any of these, and seldom far off.

Columns with public steps may have a counter a value instead, which adds no error of a grid. That is tried for those
whose steps are widest against the kernel, for one more of them at a time, and taken where the expected error is less.

Which bandwidth suits a released grid: chosen from the noisy counts and public facts, so it costs no privacy.

A wide bandwidth smooths noise away and detail with it. For every bandwidth h on offer the expected integrated squared
error of the density that it gives is estimated without bias (penalized comparison to overfitting: Lacour, Massart,
Rivoirard 2017): with g the narrowest, what h and g differ by is what h smooths away, plus noise of known variance,

    risk(h) = integral of (f_h - f_g)^2  -  integral of Var(f_h - f_g)  +  integral of Var(f_h).

The variance is that of the privacy noise, which is exact, and that of the records as a draw from a population: detail
that so few records may have by chance is not taken for the population's. What the choice is made of is in the release
already. An interval holds at a bandwidth that was fixed beforehand; after this choice it hardly errs more often, as
some twenty bandwidths are chosen from by one number that the whole picture decides.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import scipy

from ..domain import Categorical, Domain
from ..errors import RequestError
from ..geometry.kernels import Kernel
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from .grid_axes import Axis, along, is_product_of_columns
from .smoothing import MAX_FITTED, MOST_WHOLE, Smoothing
from .splines import ORDER, POINTS_A_CELL, coefficients, fitting_points

COUNTERS_OFFERED = 4_000_000  # Automatic sizes stop at tables of about this many counters, so that files stay small.
# Pitches tried for the coarser grid, in reaches of the kernel.
PITCHES = tuple(2.0 ** (-step / 4) for step in range(-5, 13, 2))
# Steps finer than this against the kernel's reach are no matter: a grid fits it as well with fewer counters.
FINEST_STEP = 1 / 64
MAX_HALVINGS = 7
LEAST_SHARE = 2.0**-10  # Least share of a record that a grid has: its counts are then rounded to 2^-22 of a record.
ENOUGH = 1.05  # Of sizes whose expected squared errors are that close to the least, the smallest table is chosen.
# A counter a value is taken up to so much more expected squared error, as no crowd at one value can add to it.
SURE = 1.5
CROWD = 0.3  # Of records with many shared values, the share at one of them.
# What answers miss in one column, in parts of what they would at such a crowd, and how many times the most in one more,
# where a crowd of one may be a crowd of all; and how many parts are tried. On 20 public sets they were 0.03 to 11.
LEAST_MISSED, MOST_MISSED, ANOTHER_COLUMN, TRIED = 0.02, 4.0, 2.3, 5
# Cells along an axis up to which a grid is made finer: an answer takes milliseconds then.
READ_FAST = 8_192
# Reaches of the kernel that bounds may be wide: to fit a finer grid takes minutes, and few of its cells hold anybody.
MOST_REACHES = 12_000
# Beyond so many, one grid with two cells a reach is tried and no other.
WIDE = 4_096
# Numbers up to which it is recommended, unless every combination of their values has a counter of its own.
MOST_SHARED = 6


class Sizable(Protocol):
    """What is asked of a histogram (`core.sketches.histogram`) whose cells are to be found."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def domain(self) -> Domain: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def point_kernel(self) -> Kernel: ...
    @property
    def metric(self) -> str: ...
    @property
    def middle(self) -> np.ndarray: ...
    @property
    def numeric(self) -> tuple[int, ...]: ...
    @property
    def values(self) -> tuple[int, ...]: ...
    @property
    def scales(self) -> tuple[int, ...]: ...
    @property
    def axes(self) -> tuple[Axis, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def cells(self) -> Any: ...
    @property
    def smoothing(self) -> Smoothing: ...
    def counter_noise(self, budget: Budget) -> NoiseScale: ...


Grids = TypeVar("Grids", bound=Sizable)


def best_size(sketch: Grids, budget: Budget, records: float) -> Grids:
    """The sketch with the cells, and where they pay the coarse grid, that suit the budget.

    RequestError when the kernel is too narrow for any grid. `sketch`: A histogram; its cells are not looked at.
    `records`: A public guess of their number.
    """
    low, high = sketch.domain.bounds(sketch.metric)
    reaches = np.array(
        [reach(sketch.point_kernel, sketch.middle, place, low[place], high[place]) for place in sketch.numeric]
    )
    spans = (high - low)[list(sketch.numeric)]
    widest = float(np.max(spans / reaches, initial=0.0))
    if widest > MOST_REACHES:
        raise RequestError(
            f"The kernel is too narrow for a histogram of these bounds: they are {widest:,.0f} times as wide as it "
            f"reaches, and {MOST_REACHES:,} times can be filled; take a wider bandwidth or narrower bounds."
        )
    tried: list[tuple[float, Grids]] = []
    for apart in _kept_apart(sketch, reaches):
        sure = SURE if apart.any() and all(apart[np.array(sketch.values) > 0]) else 1.0
        sizes = _tried(sketch, spans / reaches, apart, budget, records)
        tried += [(error / sure, sized) for error, sized in sizes]
    least = min(error for error, _ in tried)
    return min((sized for error, sized in tried if error <= ENOUGH * least), key=lambda sized: sized.shape)


def keeps_all_values(sketch: Sizable) -> bool:
    """Whether all columns have steps, and so few values that a table may hold every combination of them."""
    categories = [len(column.categories) for column in sketch.domain.columns if isinstance(column, Categorical)]
    return all(sketch.values) and math.prod([*sketch.values, *categories]) <= MOST_WHOLE


def check_speed(sketch: Sizable) -> None:
    """Refuse where single answers are read slowly, as a peak search asks for thousands, or records take long to add."""
    if len(sketch.numeric) > MOST_SHARED and not keeps_all_values(sketch):
        raise RequestError(
            f"A histogram of {len(sketch.numeric)} numbers shares every record between {4 ** len(sketch.numeric):,} "
            f"counters, which takes long and adds up more noise than others do; up to {MOST_SHARED} are offered."
        )
    if len(sketch.numeric) > 1 and not is_product_of_columns(sketch.kernel) and not keeps_all_values(sketch):
        raise RequestError(
            f"A histogram answers slowly for the {sketch.kernel.name} kernel: it is no product of its columns, so "
            "every answer would add up dozens of products over the whole grid."
        )


def _kept_apart(sketch: Sizable, reaches: np.ndarray) -> Iterator[np.ndarray]:
    """Which numeric coordinates have a counter a value, bool (numeric,): the widest steps first, one more each time."""
    values = np.array(sketch.values, dtype=np.int64)
    steps = np.where(values > 0, sketch.domain.spacings[list(sketch.numeric)] / reaches, 0.0)
    order = [place for place in np.argsort(-steps, kind="stable") if steps[place] > 0.0]
    if order and keeps_all_values(sketch) and not is_product_of_columns(sketch.kernel):
        yield values > 0
        return
    apart = np.zeros(len(values), dtype=bool)
    yield apart
    for place in order:
        if steps[place] < FINEST_STEP or math.prod(values[apart].tolist()) * values[place] > _most_counters(sketch):
            return
        apart = apart | (np.arange(len(values)) == place)
        yield apart


def _tried(
    sketch: Grids, reaches: np.ndarray, apart: np.ndarray, budget: Budget, records: float
) -> list[tuple[float, Grids]]:
    """Sizes with their expected squared errors, with cells for bounds so many reaches apart where values share them."""
    most = _most_counters(sketch)
    tried: list[tuple[float, Grids]] = []
    wide = float(np.max(reaches[~apart], initial=0.0)) > WIDE
    for pitch in (0.5,) if wide else PITCHES if not apart.all() else PITCHES[:1]:
        coarse = np.where(apart, 0, np.maximum(np.ceil(reaches / pitch), 1.0)).astype(np.int64)
        errors: list[float] = []
        for halvings in range(MAX_HALVINGS + 1 if sketch.numeric and not wide else 1):
            found = _with_grids(sketch, tuple((coarse << halvings).tolist()), halvings, budget)
            if found is None:
                continue
            sized, reading = found
            if tried and sized.shape[0] > most:
                break
            errors.append(_expected_error(sized, reading, budget, records))
            tried.append((errors[-1], sized))
            slow = 2 * max(sized.cells or (0,)) > READ_FAST
            if errors[-1] > min(errors) or slow:  # a still finer grid only has more noise, or takes long to read
                break
        if not errors or min(errors) > 2.0 * min(error for error, _ in tried):
            break
    return tried


def cells_for(sketch: Sizable) -> tuple[int, ...]:
    """Cells as wide as the bandwidth of a kernel along every axis: the coarsest grid that loses nothing of it.

    Where that is about as fine as the public steps of a column, every value has a counter of its own: 0 cells.
    """
    low, high = sketch.domain.bounds(sketch.metric)
    sizes = []
    for place, values in zip(sketch.numeric, sketch.values, strict=True):
        wide = reach(sketch.point_kernel, sketch.middle, place, low[place], high[place])
        cells = max(1, math.ceil((high - low)[place] / wide - 1e-6))
        sizes.append(0 if 0 < values <= 1.5 * cells else cells)
    return tuple(sizes)


def _most_counters(sketch: Sizable) -> int:
    single = len(sketch.domain.columns) == 1 and (not sketch.numeric or sketch.domain.dimensions == 1)
    if single or is_product_of_columns(sketch.kernel):
        return COUNTERS_OFFERED
    # A sum of products is read once a term, and any other kernel is evaluated on the whole grid for every answer.
    return MAX_FITTED


def _with_grids(sketch: Grids, cells: tuple[int, ...], halvings: int, budget: Budget) -> tuple[Grids, Smoothing] | None:
    """The sketch with these grids, the noise of the two balanced; None where there are no two that differ.

    Beside it how the grids are read, which took long to profile and is profiled the same however they share a record.

    With the gains g of the grids and shares a of a record, noise of scale 1 under pure epsilon gives a variance of the
    sum of g / a^2, least for shares in proportion to g^(1/3). Noise for the L2 sensitivity grows with the root of the
    sum of a^2, and g^(1/4) is best. Under (epsilon, delta) it is the former where that noise is the smaller.
    """
    single = replace(sketch, cells=cells, halvings=0, fine=1.0)
    if halvings == 0:
        return single, single.smoothing
    if all(axis.coarser(halvings).apart for axis in single.axes):
        return None
    sized = replace(single, halvings=halvings, fine=0.5)
    power = 1 / 4 if sized.counter_noise(budget).distribution == "discrete_gaussian" else 1 / 3
    fine, coarse = (gain**power for gain in sized.smoothing.gains_along_axes)
    share = min(max(fine / (fine + coarse), LEAST_SHARE), 1.0 - LEAST_SHARE)
    return replace(sized, fine=share), sized.smoothing


def _expected_error(sketch: Sizable, reading: Smoothing, budget: Budget, records: float) -> float:
    """Of an answer, squared: the geometric mean over what it may miss."""
    gains = sum(g / s**2 for g, s in zip(reading.gains_along_axes, sketch.scales, strict=True))
    most = MOST_MISSED * ANOTHER_COLUMN ** max(0, len(sketch.numeric) - 1)
    missed = np.geomspace(LEAST_MISSED, most, TRIED) * reading.crowded(CROWD) * records
    return float(np.exp(np.log(sketch.counter_noise(budget).variance * gains + missed**2).mean()))


def reach(kernel: Kernel, middle: np.ndarray, coordinate: int, low: float, high: float) -> float:
    """The distance along a coordinate at which a kernel has fallen to exp(-1/2), a Gaussian's bandwidth.

    RequestError when the kernel is too narrow for any grid. `kernel`: of encoded points. `middle`: an encoded point in
    the middle of the bounds, float64 (d,). `coordinate`, `low`, `high`: which, and its bounds.
    """
    centre = (low + high) / 2.0
    distances = np.geomspace(1e-7, 10.0, 400) * (high - low)
    profile = along(kernel, middle, coordinate, np.array([centre]), centre + distances)[0]
    beyond = np.flatnonzero(profile < math.exp(-0.5))
    if len(beyond) == 0:
        return float(distances[-1])
    if beyond[0] == 0:
        raise RequestError(
            "The kernel is too narrow for a histogram of these bounds: it would need more than ten million cells a "
            "coordinate."
        )
    return float(distances[beyond[0]])


STEP = math.sqrt(2.0)  # Between two bandwidths on offer.
WIDEST_OFFERED = 0.25  # The widest on offer, in shares of the longest axis.


def around(narrowest: float, widest: float) -> tuple[float, ...]:
    """Shares of a bandwidth in equal steps through 1, between the two."""
    least, most = (math.log(end, STEP) for end in (min(narrowest, 1.0), max(widest, 1.0)))
    return tuple(STEP**step for step in range(math.ceil(least - 1e-3), math.floor(most + 1e-3) + 1))


def ladder(narrowest: float, widest: float) -> tuple[float, ...]:
    """Bandwidths from the narrowest in equal steps, the widest not passed."""
    steps = max(0, math.floor(math.log(widest / narrowest, STEP) + 1e-9))
    return tuple(narrowest * STEP**step for step in range(steps + 1))


@dataclass(frozen=True)
class _Along:
    """A kernel along one axis, at a grid point in the middle."""

    taps: np.ndarray  # What counts around the place are multiplied by, over the kernel's integral.
    profile: np.ndarray  # The kernel over its integral, at evenly spaced places that are alike for all bandwidths.
    spacing: float  # Their distance.


def estimated_risks(
    counts: np.ndarray,
    axes: tuple[Axis, ...],
    kernels: tuple[Kernel, ...],
    middle: np.ndarray,
    records: float,
    count_variance: float,
) -> np.ndarray:
    """The estimated integrated squared error of the density for each of several kernels, float64 (kernels,).

    `counts`: Noisy records of every grid point, one axis each. `axes`: Theirs; densities of different categories are
    compared one by one. `kernels`: Of encoded points, each a product of its columns, the narrowest first. `middle`: An
    encoded point in the middle of the bounds. `records`, `count_variance`: How many there are, and the variance of the
    noise in one of the counts.
    """
    numeric = [place for place, axis in enumerate(axes) if axis.radius or not axis.categories]
    parts = [[_along(kernel, middle, axes[place]) for place in numeric] for kernel in kernels]
    volume = math.prod(axes[place].pitch for place in numeric)
    densities = [_smoothed(counts, axes, numeric, part) / records for part in parts]
    cells = math.prod(axis.categories or axis.values or axis.cells for axis in axes)
    noise = volume * cells * count_variance / records**2
    narrow = parts[0]
    own = [_variance(part, part, noise, records) for part in parts]
    shared = [_variance(part, narrow, noise, records) for part in parts]
    missed = [volume * float(((density - densities[0]) ** 2).sum()) for density in densities]
    return np.array(
        [seen - (mine + own[0] - 2.0 * both) + mine for seen, mine, both in zip(missed, own, shared, strict=True)]
    )


def _along(kernel: Kernel, middle: np.ndarray, axis: Axis) -> _Along:
    if axis.radius:
        around = np.tile(middle, (axis.categories, 1))
        around[:, axis.coordinate : axis.coordinate + 2] = axis.turns
        values = kernel.evaluate(around[:1], around)[0]
        taps = np.roll(values, axis.categories // 2) / float(values.sum())
        return _Along(taps, taps, axis.pitch)
    if axis.values:
        centre, spacing = axis.values // 2, axis.pitch
        nodes = axis.low + axis.pitch * np.arange(axis.values)
    else:
        centre, spacing = axis.cells // 2, axis.pitch / POINTS_A_CELL
        nodes = axis.low + axis.pitch * fitting_points(axis.cells, POINTS_A_CELL)
    values = along(kernel, middle, axis.coordinate, np.array([axis.low + axis.pitch * centre]), nodes)
    whole = float(values.sum()) * spacing
    if axis.values:
        return _Along(_around_middle(values[0], centre) / whole, values[0] / whole, spacing)
    taps = coefficients(values, axis.cells, POINTS_A_CELL)[0]
    # The grid point of a spline lies one pitch after the first counter.
    return _Along(_around_middle(taps, centre + 1) / whole, values[0] / whole, spacing)


def _around_middle(taps: np.ndarray, middle: int) -> np.ndarray:
    """The same as many to either side of the middle, without those that are next to nothing."""
    reach = np.flatnonzero(np.abs(taps) > 1e-9 * np.abs(taps).max())
    half = int(min(np.abs(reach - middle).max(), middle, len(taps) - 1 - middle))
    return taps[middle - half : middle + half + 1]


def _smoothed(counts: np.ndarray, axes: tuple[Axis, ...], numeric: list[int], parts: list[_Along]) -> np.ndarray:
    """Sums over counts at all grid points inside the bounds."""
    for place, part in zip(numeric, parts, strict=True):
        shape = [1] * counts.ndim
        shape[place] = -1
        taps = part.taps
        if axes[place].radius:
            first = np.arange(len(taps))
            closeness = np.roll(taps, -(len(taps) // 2))[(first[:, None] - first) % len(taps)]
            counts = np.moveaxis(np.tensordot(closeness, counts, (1, place)), 0, place)
            continue
        if len(taps) > 1:
            counts = scipy.signal.fftconvolve(counts, taps.reshape(shape), mode="same", axes=place)
        else:
            counts = counts * taps
        if not axes[place].values:
            counts = counts.take(range(1, counts.shape[place] - (ORDER - 2)), axis=place)
    return counts


def _variance(one: list[_Along], other: list[_Along], noise: float, records: float) -> float:
    """The integral of the covariance of two readings, from noise and from the records as a draw."""
    gains = math.prod(_overlap(a.taps, b.taps) for a, b in zip(one, other, strict=True))
    drawn = math.prod(a.spacing * float(a.profile @ b.profile) for a, b in zip(one, other, strict=True))
    return noise * gains + drawn / records


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    half = min(len(one), len(other)) // 2
    first, second = (taps[len(taps) // 2 - half : len(taps) // 2 + half + 1] for taps in (one, other))
    return float(first @ second)
