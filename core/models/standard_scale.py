"""Where records lie, bought before a model is trained: their mean, and how far from it the middle one of them is.

Noise in training grows with the length of the longest record that may come, and what is learnt with how records differ.
Around their mean they are short: of pictures whose background is black, half as long as from the middle of the bounds,
and of categories no longer than before. Two tables are bought, both of whole numbers:

**The sum of all records** z (features, as `Task.gather` gives them, |z|² <= B). One record more or less moves it by
L2² = B, a replaced one by 4B at most, the difference of two. Divided by the number of records, and pulled toward zero
by as much as its noise is likely to have made it longer (James, Stein 1961, positive part), it is the centre c.

**How many records lie how far from c**: one count for each step of a ladder of lengths; every record is on one. One
record more or less moves L2² = 1, a replaced one 2. The first step below which half of all records are is the length m;
where noise says more than records, or there are none, it is a fixed share of the longest there may be.

Both are Gaussian tables of a zCDP account (`descent` has it), the second chosen in view of the first. What a record
becomes then, (1/2, (z - c)/m), is a function of that record and of what was bought alone, whole number by whole number:
z - c is whole, its square is a whole number below 2^53, and one float64 factor a record is multiplied and cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..privacy.calibration import NoiseScale
from ..privacy.neighbours import Neighbours, Sensitivity
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from .records import longest_features

FRONT = 0.5
"""The coordinate in front of every standardised record, which carries the intercept."""
FARTHEST = 2.0
"""The longest that a standardised record's features usually are; longer ones are shortened."""
STEPS = 16
LADDER = 2.0 ** (1.0 - np.arange(STEPS)[::-1] / 4.0)
"""Lengths, in radii: from a little below a seventh to twice the radius, which no offset between two records passes."""
USUAL = 0.6
"""Length in radii where nothing is known."""
AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Scale:
    """What was bought, in whole units of the records.

    Attributes
    ----------
    centre : np.ndarray
        Of the features, int64 (d,).
    length : int
        What counts as 1 from now on.
    """

    centre: np.ndarray
    length: int


def centre_sensitivity(neighbours: Neighbours, radius: float, unit: int, size: int) -> Sensitivity:
    """How far one record moves the sum of all."""
    square = longest_features(radius, unit) * (4 if neighbours is Neighbours.REPLACE_ONE else 1)
    return Sensitivity(min(square, math.isqrt(square * size) + 1), square)


def ladder_sensitivity(neighbours: Neighbours) -> Sensitivity:
    """How far one record moves the counts of all lengths."""
    moved = 2 if neighbours is Neighbours.REPLACE_ONE else 1
    return Sensitivity(moved, moved, unit_shifts=True)


def bought_scale(
    units: np.ndarray,
    records: float,
    noises: tuple[NoiseScale, NoiseScale],
    radius: float,
    unit: int,
    noise_source: NoiseSource,
) -> Scale:
    """Draw the noise of both tables, the second in view of the first; they were paid for.

    Parameters
    ----------
    units : np.ndarray
        Records as `Task.gather` gives them, int64 (n, d + 1).
    records : float
        How many there are, public or bought.
    noises : tuple[NoiseScale, NoiseScale]
        Of the centre and of the lengths.
    radius, unit : float, int
        The longest that features are, and what 1 counts.
    noise_source : NoiseSource
        Where the noise comes from.
    """
    of_centre, of_lengths = noises
    noisy = add_noise(units[:, 1:].sum(axis=0), of_centre, noise_source).astype(np.float64)
    centre = centre_of(noisy, records, of_centre.variance, radius, unit)
    counts = add_noise(ladder_counts(units, centre, radius, unit), of_lengths, noise_source)
    return Scale(centre, length_of(counts, of_lengths.variance, radius, unit))


def centre_of(noisy: np.ndarray, records: float, variance: float, radius: float, unit: int) -> np.ndarray:
    """The centre that a noisy sum (d,) says, int64 (d,), inside the bounds."""
    square = float((noisy**2).sum())
    kept = max(0.0, 1.0 - len(noisy) * variance / max(square, 1.0))
    mean = noisy * (kept / records)
    longest = radius * unit
    mean *= min(1.0, longest / max(float(np.sqrt((mean**2).sum())), 1.0))
    return np.rint(np.clip(mean, -unit, unit)).astype(np.int64)


def ladder_counts(units: np.ndarray, centre: np.ndarray, radius: float, unit: int) -> np.ndarray:
    """How many records lie between one length and the next, int64 (STEPS,), exact and private."""
    ends = np.array([math.floor((length * radius * unit) ** 2) for length in LADDER], np.int64)
    table = np.zeros(STEPS, np.int64)
    for start in range(0, len(units), AT_ONCE):
        offsets = units[start : start + AT_ONCE, 1:] - centre
        places = np.searchsorted(ends, (offsets * offsets).sum(axis=1))
        table += np.bincount(np.minimum(places, STEPS - 1), minlength=STEPS)
    return table


def length_of(noisy: np.ndarray, variance: float, radius: float, unit: int) -> int:
    """The length that half of all records are within, as far as noisy counts can say."""
    total = float(noisy.sum())
    share = USUAL
    if total > 4.0 * math.sqrt(variance * STEPS):
        share = float(LADDER[int(np.argmax(np.cumsum(noisy) >= total / 2.0))])
    return max(1, round(share * radius * unit))


def standardised(units: np.ndarray, scale: Scale, unit: int, farthest: float = FARTHEST) -> np.ndarray:
    """Records (1/2, (z - c)/m) in whole units, cut toward zero, float64 (n, d + 1), features no longer than said."""
    found = np.empty(units.shape)
    found[:, 0] = FRONT * unit
    most = (farthest * unit) ** 2
    for start in range(0, len(units), AT_ONCE):
        offsets = units[start : start + AT_ONCE, 1:] - scale.centre
        lengths = np.sqrt((offsets * offsets).sum(axis=1).astype(np.float64))
        factors = np.minimum(unit / scale.length, farthest * unit / np.maximum(lengths, 1.0))
        some = np.trunc(offsets * factors[:, None])
        while (long := np.flatnonzero((some * some).sum(axis=1) > most)).size:
            some[long] -= np.sign(some[long])
        found[start : start + AT_ONCE, 1:] = some
    return found


def in_units_of_records(weights: np.ndarray, scale: Scale, unit: int) -> np.ndarray:
    """Coefficients of standardised records as those of (1, z): the same scores, int64 (rows, d + 1)."""
    slopes = weights[:, 1:] * (unit / scale.length)
    front = weights[:, 0] * FRONT - slopes @ (scale.centre / unit)
    return np.rint(np.column_stack((front, slopes))).astype(np.int64)
