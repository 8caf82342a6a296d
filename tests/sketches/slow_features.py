"""Random features written the slow, obvious way: one record and one row at a time, in plain Python numbers."""

import math

import numpy as np

from core.geometry.frequencies import Structured


def slow_phases(features, point) -> list[float]:
    """The phase of an encoded point in every row, in turns, added up in the order that the sketch promises."""
    frequencies = features.frequencies
    if isinstance(frequencies, Structured):
        return _structured_phases(frequencies, point)
    phases = []
    for wave, phase in zip(frequencies.waves, frequencies.phases, strict=True):
        turns = float(phase)
        for coefficient, coordinate in zip(wave, point, strict=True):
            turns += float(coefficient) * float(coordinate)
        phases.append(turns)
    return phases


def _structured_phases(structured, point) -> list[float]:
    phases = []
    for block, (signs, normals) in enumerate(zip(structured.signs, structured.normals, strict=True)):
        lanes = [float(u) * float(s) * float(x) for u, s, x in zip(structured.units, signs, point, strict=False)]
        lanes = _walsh_hadamard(lanes + [0.0] * (len(signs) - len(lanes)))
        lanes = _walsh_hadamard([lane * float(g) for lane, g in zip(lanes, normals, strict=True)])
        first, last = structured.first_row[block : block + 2]
        for row in range(first, last):
            phases.append(float(structured.lengths[row]) * lanes[row - first] + float(structured.phases[row]))
    return phases


def _walsh_hadamard(values: list[float]) -> list[float]:
    half = 1
    while half < len(values):
        for start in range(0, len(values), 2 * half):
            for j in range(start, start + half):
                values[j], values[j + half] = values[j] + values[j + half], values[j] - values[j + half]
        half *= 2
    return values


def slow_table(features, points) -> np.ndarray:
    """The exact table of encoded points."""
    table, entries = features.zeros(), features.entries.points
    for point in points:
        for row, turns in enumerate(slow_phases(features, point)):
            table[row] += entries[int((turns - math.floor(turns)) * len(entries)) % len(entries)]
    return table


def slow_estimates(features, table, points) -> np.ndarray:
    """The kernel sum at each query: the mean over rows of <row, (cos, sin) of the query's phase>, over the gain."""
    answers = []
    for point in points:
        total = 0.0
        for row, turns in enumerate(slow_phases(features, point)):
            angle = 2.0 * math.pi * ((turns - features.entries.delay) % 1.0)
            total += float(table[row, 0]) * math.cos(angle) + float(table[row, 1]) * math.sin(angle)
        answers.append(total / len(table) / features.entries.gain)
    return np.array(answers)
