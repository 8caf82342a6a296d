"""RACE written the slow, obvious way: one record, one row and one hash at a time, in plain Python numbers."""

import math
from fractions import Fraction

import numpy as np

from core.runtime.inner_products import MANY


def slow_column(columns, row: int, point) -> int | None:
    """The column of an encoded point in a row; None when it lies outside the bounds."""
    hashes = columns.hashes
    key = int(columns.addend[row])
    for h in range(columns.first_hash[row], columns.first_hash[row + 1]):
        terms = range(hashes.first_term[h], hashes.first_term[h + 1])
        value = float(hashes.offset[h])
        fused = len(terms) >= MANY and hashes.every_coordinate == len(point)
        for term in terms:
            a, x = float(hashes.coefficient[term]), float(point[hashes.coordinate[term]])
            value = float(Fraction(a) * Fraction(x) + Fraction(value)) if fused else value + a * x
        cell = math.floor(value)
        if hashes.side[h]:
            cell = min(max(cell, 0), 1)
        elif not 0 <= cell < columns.cells[h]:
            return None
        key = (key + int(columns.multiplier[h]) * cell) % 2**64
    return (key >> 32) * columns.width >> 32 if columns.rehashed[row] else key


def slow_table(race, points) -> np.ndarray:
    """The exact table of encoded points."""
    table = race.zeros()
    for row in range(len(table)):
        for point in points:
            table[row, slow_column(race.columns, row, point)] += 1
    return table


def slow_estimates(race, table, records: float, points) -> np.ndarray:
    """The kernel sum at each query: the mean over rows, the rehashing bias of each undone."""
    width = race.columns.width
    answers = []
    for point in points:
        total = 0.0
        for row in range(len(table)):
            column = slow_column(race.columns, row, point)
            if column is None:
                continue
            count = float(table[row, column])
            total += (count - records / width) / (1 - 1 / width) if race.columns.rehashed[row] else count
        answers.append(total / len(table))
    return np.array(answers)
