"""How finely a density should be released, from public facts: the error of smoothing against the error of noise.

Nobody may look at the records to see how large their detail is, so populations of five kinds stand for them, from one
hump over most of the bounds down to spikes of a thousandth. For each the expected integrated squared error of a
bandwidth h is known in closed form, as they are made of Gaussian heaps: what h smooths away, what so many records have
by chance, and the noise of the counters that are added up.

The grid is released once, and its counts are smoothed when they are read, so its readers choose h
(`core.sketches.histogram_sizes`). A finer grid shows finer detail and adds more counters' noise up where a wide h
would do. The one that is chosen has the least error by geometric mean over the kinds, each with the bandwidth that
suits it, beside the best of all grids; `bandwidth` is the one with the least error over the ordinary kinds, for answers
where nobody chooses. How fine a grid may be is limited by the steps that are publicly known of a
column, and by the time of reading. Around a circle every value has a counter of its own, so only the bandwidth is
chosen there.

Populations are heaps of a few spreads, and kernels Gaussian, so everything is a product over the axes: along a line in
closed form, as a product of Gaussians of variances a and b integrates to (2 pi (a + b))^(-1/2); around a circle of k
values, each with a counter of its own, as sums over the values, with the kernel of their distance through the plane.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ...domain import Coordinate, Cyclic, Dates, Domain, Numeric, Vector
from ...errors import RequestError
from ...formatting.numbers import listed, significant
from ...geometry.kernels import Gaussian
from ...privacy.budget import Budget
from ...runtime.counter_tables import Floats
from ...sketches.grid_axes import Axis
from ...sketches.histogram import Histogram
from ...sketches.histogram_sizes import STEP, ladder
from ...sketches.smoothing import Smoothing
from .one_trial import checked_records


@dataclass(frozen=True)
class Way:
    """One axis."""

    length: float  # From bound to bound, or once around.
    values: int = 0  # Of a circle, how many lie around it; 0 of a straight axis.


@dataclass(frozen=True)
class _Factors:
    """What an axis contributes to each integral."""

    squared: Floats  # Of the squared population, float64 (populations,).
    # Of the population times the smoothed one, and of the squared smoothed one, float64 (bandwidths, populations).
    crossed: Floats
    smoothed: Floats
    gain: Floats  # Variance of an answer when every counter's is 1, float64 (bandwidths, 1).
    # Integrals of the kernel, and of its square when its own is 1, float64 (bandwidths, 1).
    mass: Floats
    narrowness: Floats


def risks(
    ways: Sequence[Way],
    pitch: float,
    tried: Sequence[float],
    heaps: Sequence[tuple[float, float]],
    variance: float,
    records: float,
) -> Floats:
    """Integrated squared errors over the integrated squared density: smoothing, and noise with chance.

    Returns float64 (2, bandwidths, populations). `pitch`: cells of the straight ones. `heaps`: of each population the
    spread of a heap, and the sum of the heaps' squared shares. `variance`, `records`: of the noise in a counter, and
    how many records there are.
    """
    bandwidths = np.array(tried)[:, None]
    spread, weight = np.array(heaps).T
    axes = [_around(way, bandwidths, spread) if way.values else _along(pitch, bandwidths, spread) for way in ways]

    def product(name: str) -> Floats:
        whole: Floats = np.prod([getattr(axis, name) for axis in axes], axis=0)
        return whole

    squared = product("squared")
    density = weight * squared
    lost = weight * (squared - 2.0 * product("crossed") + product("smoothed"))
    noise = math.prod(way.length for way in ways) * variance * product("gain") / (records * product("mass")) ** 2
    chance = product("narrowness") / records
    return np.stack([lost / density, (noise + chance) / density])


def _along(pitch: float, tried: Floats, spread: Floats) -> _Factors:
    def meeting(squares: Floats) -> Floats:
        return np.asarray((2.0 * np.pi * squares) ** -0.5)

    own = 2.0 * spread**2
    gain = np.array([_gain(round(float(one) / pitch, 6)) for one in tried[:, 0]])[:, None]
    mass, narrowness = meeting(tried**2) ** -1.0, meeting(2.0 * tried**2)
    return _Factors(meeting(own), meeting(own + tried**2), meeting(own + 2.0 * tried**2), gain, mass, narrowness)


def _around(way: Way, tried: Floats, spread: Floats) -> _Factors:
    step, turns = way.length / way.values, np.arange(way.values) / way.values
    through = way.length / np.pi * np.sin(np.pi * turns)
    arcs = way.length * np.minimum(turns, 1.0 - turns)
    kernels = np.exp(-((through / tried) ** 2) / 2.0)
    heaps = np.exp(-((arcs / spread[:, None]) ** 2) / 2.0)
    heaps /= step * heaps.sum(axis=1, keepdims=True)
    mass = step * kernels.sum(axis=1, keepdims=True)
    evened = kernels / mass
    smoothed = step * np.fft.irfft(np.fft.rfft(evened)[:, None] * np.fft.rfft(heaps)[None], way.values)
    return _Factors(
        step * (heaps**2).sum(axis=1),
        step * (smoothed * heaps).sum(axis=2),
        step * (smoothed**2).sum(axis=2),
        (kernels**2).sum(axis=1, keepdims=True),
        mass,
        step * (evened**2).sum(axis=1, keepdims=True),
    )


@lru_cache(maxsize=64)
def _gain(ratio: float) -> float:
    """Variance of an answer along one axis when every counter's is 1, for a bandwidth of so many cells."""
    cells = 2 * math.ceil(5.0 * ratio) + 8
    axis = Axis(0, 0.0, 1.0, cells, 0)
    middle = np.array([cells // 2 + 0.25])
    return float(Smoothing(Gaussian(ratio), (axis,), middle, (1,)).noise_gains(middle[None])[0])


# Of each population the spread of a heap, in shares of the widest bounds, and the sum of the heaps' squared shares.
HEAPS = ((1 / 6, 1.0), (0.05, 0.15), (0.015, 0.15), (0.005, 0.15), (0.0015, 0.15))
ORDINARY = 3  # As many of them, the ones with the widest heaps, say which bandwidth is the usual one, and are drawn.
# Columns along each of which it is said how closely one looks; of more it is one share of all their ranges.
MOST_SAID = 3
COARSEST = 0.15  # Widest cells, and WIDEST the widest bandwidth, in shares of the widest bounds.
WIDEST = 0.25
MOST_CELLS = 1024  # Along one axis: beyond, a picture takes seconds.
MOST_COUNTERS = 1 << 16
SEEN = 0.25  # A population is shown when so much of its shape, as a squared share, is not lost.
APART = 3.0  # Bandwidths by which two equal spikes must lie apart for the picture to fall by a third between them.
UNLIKE = 3.0  # Ranges that differ by more have bandwidths of their own, unless their units are the same.
CIRCLES_FROM = 0.25  # Steps around a circle in the narrowest bandwidth: at this one a value's neighbours hardly count.
MOST_NUMBERS = 3  # Columns of numbers for which a grid is fine enough to choose from.


@dataclass(frozen=True)
class Scales:
    """How finely a density is released, and what may be seen of it."""

    domain: Domain
    # The bandwidth at which answers are given where nobody chooses, and the narrowest that the grid is made for, in the
    # unit of the columns (a share of the range where they are measured so, or are `unlike`).
    bandwidth: float
    narrowest: float
    tried: tuple[float, ...]  # Bandwidths from the narrowest to the widest.
    # Typical errors of the picture of an ordinary population at each of them, as shares of its height: what it smooths
    # away, what noise and chance add, and both. float64 (len(tried),).
    smoothing: Floats
    noise: Floats
    errors: Floats
    apart: float  # Spikes so far apart are told from each other, if each holds a tenth of the records.
    each: tuple[float, ...]

    @property
    def kernel(self) -> Gaussian:
        """The kernel of answers where nobody chooses another."""
        each = tuple(float(f"{one:.4g}") for one in self.each)
        return Gaussian(each if unlike(self.domain) else each[0])

    @property
    def finest(self) -> float:
        """The narrowest bandwidth as a share of the kernel's."""
        return min(1.0, float(f"{self.narrowest / self.bandwidth:.4g}"))

    @property
    def sketch(self) -> Histogram:
        """What is released."""
        return Histogram(self.domain, self.kernel, finest=self.finest)

    def in_words(self, distance: float) -> str:
        """A distance as people read it: where columns are `unlike`, as a share of the range of each."""
        return in_unit(replace(self.domain, scale="box") if unlike(self.domain) else self.domain, distance)

    @property
    def sentence(self) -> str:
        """The choice in a few words."""
        usual, narrow = map(self.in_words, (self.bandwidth, self.narrowest))
        return (
            f"The bandwidth is {usual} where readers choose none, and they may choose down to {narrow}. {self.detail}"
        )

    @property
    def detail(self) -> str:
        """What detail will be visible, in a sentence."""
        if self.apart >= max(self.tried) / WIDEST / 2.0:
            return "Only the broadest outline will be visible; everything finer drowns in the noise."
        return (
            f"Detail down to spikes {self.in_words(self.apart)} apart will be visible where a spike holds a "
            "tenth of the records; finer detail drowns, or is smoothed away."
        )


def in_unit(domain: Domain, distance: float) -> str:
    """A bandwidth as people read it."""
    if domain.scale == "box" and all(isinstance(column, Coordinate) for column in domain.columns):
        return f"{significant(distance * max(column.span for column in domain.columns), 2)} km"  # type: ignore[union-attr]
    if domain.scale == "box":
        return f"{significant(100 * distance, 2)}% of the bounds"
    units = {column.measure for column in domain.columns} - {""}
    return f"{significant(distance, 2)} {units.pop() if len(units) == 1 else ''}".strip()


def closely(domain: Domain, bandwidth: float) -> str:
    """How closely a reader looks at a file of such a domain: along each column where these have ranges of their own.

    Examples
    --------
    >>> closely(Domain((Numeric("age", 0, 80, "years"), Numeric("height", 50, 250, "cm")), scale="box"), 0.025)
    'age ± 2 years and height ± 5 cm'
    """
    columns = domain.columns
    if domain.scale != "box" or len(columns) > MOST_SAID or not all(isinstance(one, Numeric) for one in columns):
        return in_unit(domain, bandwidth)
    along = [
        (one.name, significant(bandwidth * one.span, 2), one.measure) for one in columns if isinstance(one, Numeric)
    ]
    return listed([f"{name} ± {far} {'' if name in unit else unit}".strip() for name, far, unit in along])


def has_scales(domain: Domain) -> bool:
    """Whether a grid of these columns can be smoothed as its readers like."""
    numbers = [column for column in domain.columns if isinstance(column, (Numeric, Coordinate, Dates, Cyclic))]
    return len(numbers) == len(domain.columns) <= MOST_NUMBERS


def by_coordinates(domain: Domain) -> Domain | None:
    """Columns of numbers, one for each coordinate of columns of numbers and vectors; None where a grid has too many.

    A grid of either has the same cells.
    """
    if has_scales(domain):
        return domain
    if domain.dimensions > MOST_NUMBERS or not all(isinstance(one, (Numeric, Dates, Vector)) for one in domain.columns):
        return None
    low, high = domain.bounds("l2")
    each = enumerate(zip(low.tolist(), high.tolist(), strict=True))
    return Domain(tuple(Numeric(f"x{place}", *ends) for place, ends in each))


def chosen_scales(domain: Domain, budget: Budget, records: float | None) -> Scales:
    """The scales that suit a promise.

    RequestError when the columns are others, or the number of records is not said. `domain`: from one to three columns
    of numbers, dates or values around a circle. `records`: how many there are at least, as anybody may know.
    """
    records = checked_records(records)
    if not has_scales(domain):
        raise RequestError(
            f"A bandwidth is chosen for one to {MOST_NUMBERS} columns of numbers, places, dates or circles; for others "
            "it must be said: the distance at which closeness fades."
        )
    spans = _spans(domain)
    units = spans if unlike(domain) else np.full(len(spans), spans.max())
    values = [len(column.categories) if isinstance(column, Cyclic) else 0 for column in domain.columns]
    ways = tuple(Way(float(length), count) for length, count in zip(spans / units, values, strict=True))
    found = _chosen(ways, _variance(domain, budget), float(records), _least_cell(domain, units))
    pitch, tried, usual, apart, curves = found
    widest = 1.0 if unlike(domain) else float(units[0])
    lengths = tuple(one * widest for one in tried)
    each = tuple((usual * units).tolist())
    return Scales(domain, usual * widest, pitch * widest, lengths, *curves, apart * widest, each)


def _variance(domain: Domain, budget: Budget) -> float:
    """Of the noise in a counter, in records: the sensitivity is the same for all numbers of cells."""
    sketch = Histogram(domain, Gaussian(1.0), (1,) * sum(not isinstance(one, Cyclic) for one in domain.columns))
    return sketch.counter_noise(budget).variance / sketch.scale**2


def unlike(domain: Domain) -> bool:
    """Whether columns are so unlike that each is smoothed in shares of its own range, as a metre is no year."""
    spans = _spans(domain)
    units = {column.measure for column in domain.columns}
    return domain.scale != "box" and float(spans.max() / spans.min()) > UNLIKE and len(units - {""}) != 1


def _spans(domain: Domain) -> Floats:
    """From bound to bound of each column, or once around, as records are compared."""
    lengths = [
        column.span * column.scaling("none")[1] / column.scaling(domain.scale)[1]  # type: ignore[union-attr]
        for column in domain.columns
    ]
    return np.array(lengths)


def _least_cell(domain: Domain, units: Floats) -> float:
    """Half of the smallest public step, below which there is nothing to see, in the units."""
    steps = []
    for column, unit in zip(domain.columns, units, strict=True):
        if isinstance(column, (Numeric, Dates)):
            _, width = column.scaling(domain.scale)
            step = column.spacing
            steps.append(step / float(np.max(width)) / float(unit))
    return min(steps, default=0.0) / 2.0


@lru_cache(maxsize=256)
def _chosen(
    ways: tuple[Way, ...], variance: float, records: float, least: float
) -> tuple[float, tuple[float, ...], float, float, tuple[Floats, Floats, Floats]]:
    """Cells, bandwidths, the usual one, what is told apart, and the curves; all lengths in the widest bounds."""
    narrowest = _narrowest(ways, least)
    found = {one: risks(ways, one, _tried(one), HEAPS, variance, records) for one in narrowest}
    least_of_grid = {one: np.log(parts.sum(axis=0).min(axis=0)) for one, parts in found.items()}
    narrow = min(narrowest, key=lambda one: float(least_of_grid[one].mean()))
    parts, tried = found[narrow], _tried(narrow)
    whole = parts.sum(axis=0)
    usual = max(1, int(whole[:, :ORDINARY].mean(axis=1).argmin()))
    best = whole.argmin(axis=0)
    shown = [tried[best[kind]] for kind in range(len(HEAPS)) if whole[best[kind], kind] <= SEEN]
    apart = max(APART * min(shown, default=tried[usual]), 2.0 * _longest_step(ways))
    smoothing, noise = (np.sqrt(part[:, :ORDINARY].mean(axis=1)) for part in parts)
    return narrow, tried, tried[usual], apart, (smoothing, noise, np.sqrt(smoothing**2 + noise**2))


def _longest_step(ways: tuple[Way, ...]) -> float:
    """Between two values around any of the circles; 0 where there is none."""
    return max((way.length / way.values for way in ways if way.values), default=0.0)


def _tried(narrowest: float) -> tuple[float, ...]:
    return ladder(narrowest, max(WIDEST, narrowest))


def _narrowest(ways: tuple[Way, ...], least: float) -> list[float]:
    """The narrowest bandwidths of the grids that there may be: one cell, or part of a step around circles alone."""
    lines = [way.length for way in ways if not way.values]
    if not lines:
        return [CIRCLES_FROM * _longest_step(ways)]
    counters = MOST_COUNTERS / math.prod(way.values for way in ways if way.values)
    most = (counters / math.prod(lines)) ** (1.0 / len(lines))
    most = int(max(2.0, min(MOST_CELLS, most, 1.0 / max(least, 1e-9))))
    pitches = [1.0 / cells for cells in sorted({max(2, round(most / STEP**step)) for step in range(20)})]
    return [pitch for pitch in pitches if pitch <= COARSEST] or pitches[-1:]
