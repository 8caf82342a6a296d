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

What a record says at given scores: the slopes of its loss, whole numbers that its length is cut by.

Every function here works on a record's row element by element, by operations that IEEE 754 fixes, so what a record says
is a function of that record and of the scores alone, bit for bit, whoever is beside it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..privacy.budget import Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from .certified_logistic import logistic_weights
from .certified_softmax import softmax
from .record_vectors import longest_features

FRONT = 0.5  # The coordinate in front of every standardised record, which carries the intercept.
FARTHEST = 2.0  # The longest that a standardised record's features usually are; longer ones are shortened.
STEPS = 16
# Lengths, in radii: from a little below a seventh to twice the radius, which no offset between two records passes.
LADDER = 2.0 ** (1.0 - np.arange(STEPS)[::-1] / 4.0)
USUAL = 0.6  # Length in radii where nothing is known.
AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Scale:
    """What was bought, in whole units of the records."""

    centre: np.ndarray  # Of the features, int64 (d,).
    length: int  # What counts as 1 from now on.


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

    `units`: Records as `Task.gather` gives them, int64 (n, d + 1). `records`: How many there are, public or bought.
    `noises`: Of the centre and of the lengths. `radius`, `unit`: The longest that features are, and what 1 counts.
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


LOSSES = ("logistic", "svm")
RESIDUAL_BITS = 12
RESIDUAL_UNIT = 1 << RESIDUAL_BITS
HUBER = 0.1
RESIDUALS_AT_ONCE = 1 << 14


def residuals(scores: np.ndarray, codes: np.ndarray, loss: str, most: np.ndarray) -> np.ndarray:
    """Slopes of the loss, whole numbers of 2^-12, cut toward zero, float64 (n, rows).

    `scores`: float64 (n, rows): log odds or margins of the second class where there is one row, otherwise of each
    class. `codes`: The records' classes, int64 (n,). `most`: The largest squared length of each record's residuals in
    their units, int64 (n,).
    """
    return cut(slopes_of(scores, codes, loss), most)


def offsets(scores: np.ndarray, goals: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Slopes of half the squared error, as `residuals` has them: scores less what they should be.

    `goals`: Whole numbers of 2^-12, int64 (n,).
    """
    return cut(scores - np.ldexp(goals.astype(np.float64), -RESIDUAL_BITS)[:, None], most)


def cut(found: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Slopes (n, rows) in whole units, shortened where their squared length in them exceeds ``most``, int64 (n,)."""
    square = np.zeros(len(found))
    for column in found.T:
        square += column * column
    bound = np.sqrt(most.astype(np.float64)) / RESIDUAL_UNIT
    shorter = np.minimum(1.0, bound / np.maximum(np.sqrt(square), 1e-12))
    whole = np.trunc(found * (RESIDUAL_UNIT * shorter)[:, None])
    while (long := np.flatnonzero((whole * whole).sum(axis=1) > most)).size:
        whole[long] -= np.sign(whole[long])
    return whole


def sums_of_slopes(
    units: np.ndarray, weights: np.ndarray, unit: float, said: Callable[[np.ndarray, slice], np.ndarray]
) -> np.ndarray:
    """The exact sum of residuals times records, int64 (rows, m), at whole coefficients.

    `units`: Records in whole units, float64 (n, m). `weights`: Whole multiples of a unit of the scores, float64 (rows,
    m). `unit`: What a record of length 1 and a coefficient of 1 together count; scores are divided by it. `said`: Whole
    residuals of some records, from their scores and their places.
    """
    table = np.zeros(weights.shape)
    for start in range(0, len(units), RESIDUALS_AT_ONCE):
        here = slice(start, start + RESIDUALS_AT_ONCE)
        table += said(units[here] @ weights.T / unit, here).T @ units[here]
    return table.astype(np.int64)


def slopes_of(scores: np.ndarray, codes: np.ndarray, loss: str) -> np.ndarray:
    """Derivatives of each record's loss by its scores, float64 (n, rows)."""
    rows = scores.shape[1]
    if rows == 1:
        sign = np.where(codes == 1, 1.0, -1.0)
        margins = scores[:, 0] * sign
        return (-sign * (logistic_weights(margins) if loss == "logistic" else hinge_weights(margins)))[:, None]
    if loss == "svm":
        signs = np.where(codes[:, None] == np.arange(rows), 1.0, -1.0)
        return -signs * hinge_weights(scores * signs)
    shares = softmax(scores)
    shares[np.arange(len(codes)), codes] -= 1.0
    return shares


def hinge_weights(margins: np.ndarray) -> np.ndarray:
    """Minus the slope of Huber's smooth hinge: 1 below 1 - h, 0 above 1 + h, and straight between."""
    return np.clip((1.0 + HUBER - margins) / (2.0 * HUBER), 0.0, 1.0)
