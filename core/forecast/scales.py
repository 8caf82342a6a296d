"""How finely a density should be released, from public facts: the error of smoothing against the error of noise.

Nobody may look at the records to see how large their detail is, so populations of five kinds stand for them, from one
hump over most of the bounds down to spikes of a thousandth. For each the expected integrated squared error of a
bandwidth h is known in closed form, as they are made of Gaussian heaps: what h smooths away, what so many records have
by chance, and the noise of the counters that are added up.

The grid is released once, and its counts are smoothed when they are read, so its readers choose h
(`core.sketches.grids.bandwidths`). A finer grid shows finer detail and adds more counters' noise up where a wide h
would do. The one that is chosen has the least error by geometric mean over the kinds, each with the bandwidth that
suits it, beside the best of all grids; `bandwidth` is the one with the least error over the ordinary kinds, for answers
where nobody chooses. How fine a grid may be is limited by the steps that are publicly known of a
column, and by the time of reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..domain import Dates, Domain, Numeric
from ..errors import RequestError
from ..geometry.kernels import Gaussian
from ..machine.array_types import Floats
from ..privacy.budget import Budget
from ..privacy.calibration import calibrate
from ..sketches.grids.axes import Axis
from ..sketches.grids.bandwidths import STEP, ladder
from ..sketches.grids.histogram import Histogram
from ..sketches.grids.smoothing import Smoothing
from ..words.numbers import significant
from .guesses import checked_records

HEAPS = ((1 / 6, 1.0), (0.05, 0.15), (0.015, 0.15), (0.005, 0.15), (0.0015, 0.15))
"""Of each population the spread of a heap, in shares of the widest bounds, and the sum of the heaps' squared shares."""
ORDINARY = 3
"""As many of them, the ones with the widest heaps, say which bandwidth is the usual one, and are drawn."""
COARSEST = 0.15
"""Widest cells, and WIDEST the widest bandwidth, in shares of the widest bounds."""
WIDEST = 0.25
MOST_CELLS = 1024
"""Along one axis: beyond, a picture takes seconds."""
MOST_COUNTERS = 1 << 16
SEEN = 0.25
"""A population is shown when so much of its shape, as a squared share, is not lost."""
APART = 3.0
"""Bandwidths by which two equal spikes must lie apart for the picture to fall by a third between them."""
UNLIKE = 3.0
"""Ranges that differ by more have bandwidths of their own, unless their units are the same."""
MOST_NUMBERS = 3
"""Columns of numbers for which a grid is fine enough to choose from."""


@dataclass(frozen=True)
class Scales:
    """How finely a density is released, and what may be seen of it.

    Attributes
    ----------
    domain : Domain
        The columns.
    bandwidth, narrowest : float
        The bandwidth at which answers are given where nobody chooses, and the narrowest that the grid is made for, in
        the unit of the columns (a share of the range where they are measured so, or are `unlike`).
    tried : tuple[float, ...]
        Bandwidths from the narrowest to the widest.
    smoothing, noise, errors : Floats
        Typical errors of the picture of an ordinary population at each of them, as shares of its height: what it
        smooths away, what noise and chance add, and both. float64 (len(tried),).
    apart : float
        Spikes so far apart are told from each other, if each holds a tenth of the records.
    each : tuple[float, ...]
        The bandwidth of every column.
    """

    domain: Domain
    bandwidth: float
    narrowest: float
    tried: tuple[float, ...]
    smoothing: Floats
    noise: Floats
    errors: Floats
    apart: float
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

    @property
    def sentence(self) -> str:
        """The choice in a few words."""
        usual, narrow = (in_unit(self.domain, one) for one in (self.bandwidth, self.narrowest))
        return (
            f"The bandwidth is {usual} where readers choose none, and they may choose down to {narrow}. {self.detail}"
        )

    @property
    def detail(self) -> str:
        """What detail will be visible, in a sentence."""
        return (
            f"Detail down to spikes {in_unit(self.domain, self.apart)} apart will be visible where a spike holds a "
            "tenth of the records; finer detail drowns, or is smoothed away."
        )


def in_unit(domain: Domain, distance: float) -> str:
    """A distance as people read it."""
    if domain.scale == "box" or (has_scales(domain) and unlike(domain)):
        return f"{significant(100 * distance, 2)}% of the range"
    units = {getattr(column, "measure", "") for column in domain.columns} - {""}
    return f"{significant(distance, 2)} {units.pop() if len(units) == 1 else ''}".strip()


def has_scales(domain: Domain) -> bool:
    """Whether a grid of these columns can be smoothed as its readers like."""
    numbers = [column for column in domain.columns if isinstance(column, (Numeric, Dates))]
    return len(numbers) == len(domain.columns) <= MOST_NUMBERS


def chosen_scales(domain: Domain, budget: Budget, records: float | None) -> Scales:
    """The scales that suit a promise.

    Parameters
    ----------
    domain : Domain
        From one to three columns of numbers or dates.
    budget : Budget
        The promise.
    records : float | None
        How many there are at least, as anybody may know.

    Raises
    ------
    RequestError
        When the columns are others, or the number of records is not said.
    """
    records = checked_records(records)
    if not has_scales(domain):
        raise RequestError(
            f"A bandwidth is chosen for one to {MOST_NUMBERS} columns of numbers or dates; for others it must be said: "
            "the distance at which closeness fades."
        )
    low, high = domain.bounds("l2")
    units = high - low
    if not unlike(domain):
        units = np.full(len(units), units.max())
    spans = tuple(((high - low) / units).tolist())
    found = _chosen(spans, _variance(domain, budget), float(records), _least_cell(domain, units))
    pitch, tried, usual, apart, curves = found
    widest = 1.0 if unlike(domain) else float(units[0])
    lengths = tuple(one * widest for one in tried)
    each = tuple((usual * units).tolist())
    return Scales(domain, usual * widest, pitch * widest, lengths, *curves, apart * widest, each)


def _variance(domain: Domain, budget: Budget) -> float:
    """Of the noise in a counter, in records: the sensitivity is the same for all numbers of cells."""
    sketch = Histogram(domain, Gaussian(1.0), (1,) * len(domain.columns))
    noise = calibrate(sketch.sensitivity(budget.neighbours), Fraction(budget.epsilon), Fraction(budget.delta))
    return noise.variance / sketch.scale**2


def unlike(domain: Domain) -> bool:
    """Whether columns are so unlike that each is smoothed in shares of its own range, as a metre is no year."""
    low, high = domain.bounds("l2")
    units = {getattr(column, "measure", "") for column in domain.columns}
    return domain.scale != "box" and float((high - low).max() / (high - low).min()) > UNLIKE and len(units - {""}) != 1


def _least_cell(domain: Domain, units: Floats) -> float:
    """Half of the smallest public step, below which there is nothing to see, in the units."""
    steps = []
    for column, unit in zip(domain.columns, units, strict=True):
        if isinstance(column, (Numeric, Dates)):
            _, width = column.scaling(domain.scale)
            step = column.step if isinstance(column, Numeric) else 1.0
            steps.append(step / float(np.max(width)) / float(unit))
    return min(steps) / 2.0


@lru_cache(maxsize=256)
def _chosen(
    spans: tuple[float, ...], variance: float, records: float, least: float
) -> tuple[float, tuple[float, ...], float, float, tuple[Floats, Floats, Floats]]:
    """Cells, bandwidths, the usual one, what is told apart, and the curves; all lengths in the widest bounds."""
    most = int(min(MOST_CELLS, (MOST_COUNTERS / math.prod(spans)) ** (1.0 / len(spans)), 1.0 / max(least, 1e-9)))
    pitches = [1.0 / cells for cells in sorted({max(2, round(most / STEP**step)) for step in range(20)})]
    pitches = [pitch for pitch in pitches if pitch <= COARSEST] or pitches[-1:]
    risks = {pitch: _risks(spans, pitch, variance, records) for pitch in pitches}
    least_of_grid = {pitch: np.log(parts.sum(axis=0).min(axis=0)) for pitch, parts in risks.items()}
    pitch = min(pitches, key=lambda one: float(least_of_grid[one].mean()))
    parts = risks[pitch]
    tried = ladder(pitch, max(WIDEST, pitch))
    whole = parts.sum(axis=0)
    usual = max(1, int(whole[:, :ORDINARY].mean(axis=1).argmin()))
    best = whole.argmin(axis=0)
    shown = [tried[best[kind]] for kind in range(len(HEAPS)) if whole[best[kind], kind] <= SEEN]
    apart = APART * min(shown, default=tried[usual])
    smoothing, noise = (np.sqrt(part[:, :ORDINARY].mean(axis=1)) for part in parts)
    return pitch, tried, tried[usual], apart, (smoothing, noise, np.sqrt(smoothing**2 + noise**2))


def _risks(spans: tuple[float, ...], pitch: float, variance: float, records: float) -> Floats:
    """Integrated squared errors over the integrated squared density: smoothing, and noise with chance.

    float64 (2, bandwidths, populations). A product of Gaussians of variances a and b integrates to
    (2 pi (a + b))^(-d/2).
    """
    dimensions, volume = len(spans), math.prod(spans)
    tried = np.array(ladder(pitch, max(WIDEST, pitch)))[:, None]
    spread, weight = np.array(HEAPS).T

    def meeting(squares: Floats) -> Floats:
        return np.asarray((2.0 * np.pi * squares) ** (-dimensions / 2.0))

    density = weight * meeting(2.0 * spread**2)
    lost = weight * (
        meeting(2.0 * spread**2) - 2.0 * meeting(2.0 * spread**2 + tried**2) + meeting(2.0 * spread**2 + 2.0 * tried**2)
    )
    gains = np.array([_gain(round(float(one) / pitch, 6)) for one in tried[:, 0]])[:, None] ** dimensions
    noise = volume * variance * gains / (records * meeting(tried**2) ** -1.0) ** 2
    chance = meeting(2.0 * tried**2) / records
    return np.stack([lost / density, (noise + chance) / density])


@lru_cache(maxsize=64)
def _gain(ratio: float) -> float:
    """Variance of an answer along one axis when every counter's is 1, for a bandwidth of so many cells."""
    cells = 2 * math.ceil(5.0 * ratio) + 8
    axis = Axis(0, 0.0, 1.0, cells, 0)
    middle = np.array([cells // 2 + 0.25])
    return float(Smoothing(Gaussian(ratio), (axis,), middle, (1,)).noise_gains(middle[None])[0])
