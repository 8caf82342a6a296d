"""Columns of numbers and dates as noisy votes say: the ends that people would say, steps, heaps, and amounts.

Where the values lie is of `found_ends`. All of it is computed of what was released with noise.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, ndtr

from ..domain.column_entries import columns_of
from ..domain.columns import PRESETS, preset_for, within_reason
from ..errors import RequestError
from ..runtime.counter_tables import Floats, Integers, Truths
from .alike_questions import contradicted, questions_alike
from .discovery_reading import COARSE, LEAST_POWER, STEPS, SURE, TO_A_DEGREE, Scale
from .found import OCCUPIED, ON_MISSING, FoundColumn, Measured
from .found_ends import ELSEWHERE, FAR, HIDDEN, HIDING, LOST, Seen, all_ends

LOG_TWO = math.log(2.0)
HEAPED = 0.1
"""Share by which more are whole multiples of a step than if finer numbers were equally frequent, for a heap."""
NEARLY = 1e-9  # Of a step, by which a number in floating point may miss a whole multiple of it.
TALL = 100.0
"""The least largest amount of which ratios are told apart, in steps."""
UNLIKE, TOLD = 0.1, math.log(8.0)
"""By which part of what a shape says a cell may differ from it; and the logarithm of how many times as likely numbers
must be where they are amounts: once where the column's name says that it holds pay."""
DAY = 24.0
"""Hours, beyond which no time of day lies whatever noise says."""


@cache
def shapes_above_zero() -> tuple[Floats, Floats]:
    """Shares of numbers above zero in each octave, a shape a row: of amounts, and of others, at all places.

    Amounts are log-normal with a deviation of 1.3 and more in the logarithm, or fall off as a power; others are bells,
    even, exponential, or between these.
    """
    ends = np.arange(LEAST_POWER, LEAST_POWER + COARSE + 1) * LOG_TWO
    places = np.arange(LEAST_POWER + 8, LEAST_POWER + COARSE - 8, 0.25) * LOG_TWO
    away = ends - places[:, None]
    times = np.exp(np.minimum(away, 50.0))
    bells = [ndtr(away / wide) for wide in (1.3, 1.6, 2.0, 2.5)]
    powers = [1.0 - (1.0 + times) ** -steep for steep in (1.0, 1.5)]
    powers += [1.0 - np.maximum(times, 1.0) ** -steep for steep in (0.7, 1.0, 1.5)]
    others = [1.0 - np.exp(-(times**shape)) for shape in (0.8, 1.0, 1.3, 2.0)]
    others += [gammainc(shape, times) for shape in (0.5, 2.0, 4.0)]
    others += [np.minimum(times, 1.0), *(ndtr(away / wide) for wide in (0.15, 0.4, 0.7))]
    amounts, rest = (np.diff(np.concatenate(some), axis=1) for some in ([*bells, *powers], others))
    return amounts, rest


class Ends(NamedTuple):
    """Between which numbers a column's values lie, and what they are whole multiples of; 0 is of nothing."""

    low: float
    high: float
    step: float


def found_ranges(
    read: Sequence[tuple[Scale, Integers]], error: float, records: Measured, missing: Mapping[str, Measured]
) -> list[FoundColumn]:
    """Columns of numbers and dates by the ranges, steps and heaps that their votes say."""
    seen = [
        Seen(scale, votes, error, max(1.0, records.count - max(0.0, missing[scale.name].count)))
        for scale, votes in read
    ]
    found = [_stepped(one, ends) for one, ends in zip(seen, all_ends(seen), strict=True)]
    ends, codes = _as_others(seen, found)
    return [
        _found(one, its, missing[one.scale.name], codes.get(place, []), records.error)
        for place, (one, its) in enumerate(zip(seen, ends, strict=True))
    ]


def _stepped(seen: Seen, ends: tuple[float, float] | None) -> Ends | None:
    """Ends that people would say, and the step between numbers; of dates years as they are."""
    if ends is None or seen.scale.kind == "date":
        return ends and Ends(*ends, 0.0)
    step = step_of(seen.votes, seen.error, seen.records)
    low, high = rounded_outward(*ends, step)
    low, high = (low, high) if seen.kind in ("year", "degrees") else _sensibly(seen, ends[0], low, high)
    if seen.scale.format is not None and seen.scale.format.kind == "time":
        low, high = max(low, 0.0), min(high, DAY)
    return Ends(low, high, next(one for one in STEPS if one <= min(step, high - low)))


def _as_others(seen: Sequence[Seen], found: Sequence[Ends | None]) -> tuple[list[Ends | None], dict[int, list[str]]]:
    """The same, but of questions with one name that of all of them, unless votes contradict it; and codes by place.

    Of answers from 1 to 5 in a hundred columns noise hides in some that a few people answered 1.
    """
    ends, codes = list(found), {}
    for places, answers in questions_alike(seen):
        usual = Ends(float(answers.low), float(answers.high), 1.0)
        for place in places:
            own = ends[place]
            if not contradicted(seen[place], own and own[:2], answers):
                ends[place], codes[place] = usual, [str(one) for one in answers.codes]
    return ends, codes


def _found(seen: Seen, ends: Ends | None, missing: Measured, codes: Sequence[str], counted: float) -> FoundColumn:
    scale, noisy, error = seen.scale, seen.votes, seen.error
    words = "" if scale.format is None else scale.format.words
    if ends is None:
        why = "With so few people noise hides between which ends its values lie: say its bounds."
        return FoundColumn(scale.name, None, False, words, why, missing=missing)
    entry: dict[str, object] = dict(scale.format.entry) if scale.format is not None else {"kind": scale.kind}
    zero, outside, heaps = None, None, {}
    known = PRESETS.get(preset_for(scale.name) or "")
    if seen.kind != "year" and not codes and (known is None or (known.low, known.high) != ends[:2]):
        count, spread = beyond(seen, ends.low, ends.high - (scale.kind == "date"))
        outside = Measured(count, math.hypot(spread, counted, missing.error))
    if scale.kind == "date":
        first, last = int(ends.low), int(ends.high)
        entry |= {"first": f"{first}-01-01", "last": f"{max(first, last - 1)}-12-31"}
    else:
        low, high, step = ends
        entry |= {"low": low, "high": high} | ({"step": step} if step else {}) | ({"missing": codes} if codes else {})
        entry |= {"scale": "log"} if _is_amount(seen, low, high, step) else {}
        zero = Measured(float(noisy[-1]), error)
        heaps = {one: Measured(count, spread) for one, count, spread in heaps_of(noisy, error, step)}
    try:
        (column,) = columns_of(scale.name, entry | ON_MISSING)
    except RequestError as problem:  # all is paid for: what noise has made of one column is no reason to refuse others
        return FoundColumn(scale.name, None, False, words, str(problem), missing=missing)
    return FoundColumn(scale.name, column, False, words, missing=missing, zero=zero, beyond=outside, heaps=heaps)


def beyond(seen: Seen, low: float, high: float) -> tuple[float, float]:
    """About how many records have a value outside of a range, and the standard deviation of the noise in the sum that
    is taken away from them: of coarse cells that lie within it and of parts of others."""
    first, last = (round((end + 180.0) * TO_A_DEGREE) for end in (low, high))
    spread = seen.error * math.sqrt(last - first)
    if seen.kind == "degrees" and max(-low, high) <= 180.0 and spread <= HIDING * seen.records:
        return seen.records - float(seen.votes[seen.scale.fine][first:last].sum()), spread
    places = np.arange(seen.parts.size)
    edges = np.array([seen.scale.edge(place) for place in (*places, seen.parts.size)])
    within: Truths = np.asarray((edges[:-1] <= high) & (edges[1:] > low), bool).reshape(seen.parts.shape)
    if seen.kind == "number" and low <= 0.0 <= high:
        within[COARSE] = True  # all parts of the cell of 0 but the first are empty
    whole: Truths = np.asarray(within.all(axis=1), bool)
    parts = within & ~whole[:, None]
    held = float(seen.cells[whole].sum() + seen.parts[parts].sum())
    return seen.records - held, math.sqrt(seen.variance * whole.sum() + seen.error**2 * parts.sum())


def _sensibly(seen: Seen, seen_from: float, low: float, high: float) -> tuple[float, float]:
    """Ends no farther than the column's name says, but for votes that surely are below the lower one, or an octave."""
    if low < 0.0 < high and preset_for(seen.scale.name) == "pay":  # of which noise alone says that any is below 0
        low = low if seen.cells[:COARSE].max() > FAR * math.sqrt(seen.variance) else 0.0
    first, last = within_reason(seen.scale.name, low, high)
    if first > max(low, 0.0):
        octave = 2.0 ** math.floor(math.log2(first))
        fine = np.array([seen.scale.edge(place) for place in range(seen.parts.size + 1)])
        below = (fine[1:] <= first) & (fine[:-1] >= octave)
        most = max(LOST * seen.records, SURE * seen.error * math.sqrt(below.sum()))
        first = low if seen_from < octave or seen.parts.ravel()[below].sum() > most else first
    return first, last


def _is_amount(seen: Seen, low: float, high: float, step: float) -> bool:
    """Whether numbers above 0 surely lie as amounts do, such as pay and sizes: ratios are then told apart.

    By how likely their octaves are where shapes of amounts are looked at, and where others are (`shapes_above_zero`),
    each as common. Zeros have no part in it, nor has where a range ends, a matter of chance in a thin tail.
    """
    if low < 0.0 or high < max(TALL, TALL * step) or seen.kind == "degrees":
        return False
    octaves = seen.cells[COARSE + 1 :]
    records = max(1.0, seen.records - seen.zeros)
    evidence = []
    for shapes in shapes_above_zero():
        variance = seen.variance + ((UNLIKE * shapes) ** 2 + ELSEWHERE**2) * records**2
        fits = -0.5 * ((octaves - records * shapes) ** 2 / variance + np.log(variance)).sum(axis=1)
        evidence.append(fits.max() + math.log(np.exp(fits - fits.max()).mean()))
    return bool(evidence[0] - evidence[1] > (0.0 if preset_for(seen.scale.name) == "pay" else TOLD))


def step_of(noisy: np.ndarray, error: float, records: float) -> float:
    """What nearly all numbers are whole multiples of; 0 where nothing is.

    How many are finer than a step follows from the votes for finer steps, and from how few others there are among all
    records: the two are weighed by precision. Of a step that is coarser than 1 noise must leave no doubt, as values
    between would be counted with others.
    """
    votes = noisy[-len(STEPS) - 1 : -1].astype(float)
    whole, below = np.cumsum(votes) + noisy[-1], np.arange(len(STEPS))[::-1]
    finer = np.append(np.cumsum(votes[::-1])[::-1][1:], 0.0)  # votes for all steps after each
    coarser = len(STEPS) + 1 - below
    finer = (finer * coarser + (records - whole) * below) / (len(STEPS) + 1)
    hidden = SURE * error * np.sqrt(below * coarser / (len(STEPS) + 1))
    told = finer <= np.minimum(np.maximum(HIDDEN * records, hidden), 0.5 * records)
    sure = (hidden <= HIDDEN * records) & (np.cumsum(votes) > OCCUPIED * error * len(STEPS) ** 0.5)
    return next(one for place, one in enumerate(STEPS) if told[place] and (one <= 1.0 or sure[place]))


def heaps_of(noisy: np.ndarray, error: float, step: float) -> Iterator[tuple[float, float, float]]:
    """Round numbers of which more records have a whole multiple, other than 0, than if finer ones were as frequent.

    With how many records that are, and the standard deviation of it; of two of which as many have one, the rounder.
    """
    sums, said = np.cumsum(noisy[-len(STEPS) - 1 : -1].astype(float)), 0.0
    for place, (one, finer) in enumerate(pairwise(STEPS)):
        if finer and finer >= step:
            # What is said already is left aside: of all others, are there more than their share?
            these, all_of, spread = sums[place] - said, sums[place + 1] - said, error * math.sqrt(place + 2)
            if these - all_of * finer / one > max(HEAPED * all_of, OCCUPIED * spread):
                said = float(sums[place])
                yield one, said, error * math.sqrt(place + 1)


def rounded_outward(low: float, high: float, step: float) -> tuple[float, float]:
    """Ends that people would say: in tenths of the power of ten of their distance, or whole steps where these are
    more. A high end above zero is that of a cell without it, so whole numbers end below it: of 0 and 1, with 1."""
    if step and high > 0.0:
        first = math.ceil(low / step - NEARLY) * step
        last = (math.ceil(high / step - NEARLY) - 1) * step if step >= 1.0 else high
        low, high = (first, max(last, first + step)) if first <= last else (low, high)
    if 0.0 < low <= 0.1 * high:
        low = 0.0
    width = max(high - low, step, 1e-12)
    nice = max(10.0 ** math.floor(math.log10(width)) / 10.0, step)
    ends = math.floor(low / nice + NEARLY) * nice, math.ceil(high / nice - NEARLY) * nice
    low, high = float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")
    while high <= low or high - low < step:  # 0.6 - 0.5 is less than 0.1
        high = float(f"{high + nice:.12g}")
    return low, high
