"""The shapes that columns of numbers and dates commonly have, before anybody looked at one: all of it is public.

Shares of the records in coarse cells, on powers of two or decades: bells, uniform ones, whole numbers from 1, shares of
zeros, two signs. Each is loosened, so that a cell may have half of what the shape says or half more. Of dates also
spans of so many years: even, growing, falling, bells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from scipy.special import gammainc, ndtr

from ..runtime.counter_tables import Floats
from .discovery_reading import (
    COARSE,
    DECADES,
    FIRST_YEAR,
    LEAST_POWER,
)

LOOSE, SPREADING, ELSEWHERE = 0.5, 0.01, 0.001
"""By which a cell may differ from its shape: parts of what that says, and of the records, near it and elsewhere."""
LEAST_SHAPED, AROUND = 0.002, 2
"""The share from which a shape has a cell, and how many cells beside those are near it."""
THIS_DECADE = 2020
LENGTHS = (*range(1, 11), 12, 15, 18, 22, 27, 33, 40, 48, 58, 70, 85, 100, 130, 170)
"""Years that dates span."""
LOG_TWO = math.log(2.0)


@cache
def spans_of(years: int, since: int) -> tuple[Floats, Floats]:
    """Shares of dates in each of so many years, a span a row, and how common each is anywhere: most end in our days."""
    rows, common = [], []
    for length in LENGTHS:
        place = (np.arange(length) + 0.5) / length
        even, bell = np.ones(length), np.exp(-0.5 * ((place - 0.5) / 0.2) ** 2)
        forms = ((even, 0.4), (np.exp(3.0 * place), 0.25), (np.exp(-3.0 * place), 0.1), (bell, 0.25))
        starts = range(0, years - length + 1, max(1, length // 8))
        for start, (form, often) in product(starts, forms[: 1 if length == 1 else 4]):
            row = np.zeros(years)
            row[start : start + length] = form / form.sum()
            rows.append(row)
            end = since + start + length - 1
            common.append(often * max(1, length // 8) / length * (0.02 + math.exp(-abs(end - THIS_DECADE - 4) / 8)))
    weights = np.array(common)
    return np.array(rows), weights / weights.sum()


def loosened(shapes: Floats, records: float) -> Floats:
    """By how much, squared, records of a cell may differ from what a shape says."""
    shaped = shapes > LEAST_SHAPED
    if shapes.shape[1] == 2 * COARSE + 1:
        shaped[:, COARSE] = False  # The cells beside that of zero are of millionths.
    near = shaped.copy()
    for away in range(1, AROUND + 1):
        near[:, away:] |= shaped[:, :-away]
        near[:, :-away] |= shaped[:, away:]
    return np.asarray(((np.where(near, SPREADING, ELSEWHERE)) ** 2 + (LOOSE * shapes) ** 2) * records**2, float)


@cache
def shapes_of(kind: str) -> tuple[Floats, Floats]:
    """Shares of the records in every coarse cell, a shape a row, and how common each is anywhere."""
    rows, common = zip(*(_spans_of_decades() if kind == "date" else _signed(*_octaves())), strict=True)
    weights = np.array(common)
    return np.array(rows), weights / weights.sum()


def _spans_of_decades() -> Iterator[tuple[Floats, float]]:
    """Of dates: all days of one or more decades, most often up to ours."""
    ours = (THIS_DECADE - FIRST_YEAR) // 10
    for last, decades in product(range(12, DECADES - 10), (1, 2, 3, 4, 5, 6, 8, 10)):
        row = np.zeros(DECADES)
        row[last - decades + 1 : last + 1] = 1.0 / decades
        yield row, math.exp(-abs(last - ours) / (1.0 if last > ours else 2.5)) / decades


def _octaves() -> tuple[Floats, Floats]:
    """Of numbers above zero: shares between powers of two, and how common each is."""
    powers = np.arange(LEAST_POWER, LEAST_POWER + COARSE + 1)
    ends, rows, common = 2.0**powers, [], []
    for middle, (width, often) in product(
        np.arange(-7, 27.5, 0.5), ((0.1, 0.25), (0.4, 0.2), (0.8, 0.3), (1.6, 0.2), (3.0, 0.05))
    ):  # a bell of so many octaves
        rows.append(np.diff(ndtr((powers - middle) / width)))
        common.append(0.45 * often * math.exp(-abs(middle - 5) / 4))
    for power, top in product(range(-4, 22), (1.25, 1.5, 2.0)):  # uniform from zero on
        rows.append(np.clip(np.minimum(ends[1:], top * 2.0**power) - ends[:-1], 0.0, None))
        common.append(0.12 * math.exp(-abs(power - 5) / 4))
    for last in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12):  # whole numbers from 1 on
        rows.append(np.histogram(np.arange(1, last + 1), ends)[0].astype(float))
        common.append(1.0)
    shapes = np.array(rows)
    return shapes / shapes.sum(axis=1, keepdims=True), np.array(common)


def _signed(octaves: Floats, common: Floats) -> Iterator[tuple[Floats, float]]:
    """The same with shares of zeros, and of numbers below zero."""
    signs = ((0.0, 0.93), (0.3, 0.04), (0.5, 0.02), (1.0, 0.01))
    zeros = ((0.0, 0.5), (0.1, 0.12), (0.35, 0.1), (0.6, 0.1), (0.8, 0.1), (0.95, 0.08))
    for (zero, some), (below, often) in product(zeros, signs):
        if below and zero > 0.5:
            continue
        for octave, one in zip(octaves, common, strict=True):
            row = np.concatenate([below * octave[::-1], [0.0], (1.0 - below) * octave]) * (1.0 - zero)
            row[COARSE] = zero
            yield row, one * some * often


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
