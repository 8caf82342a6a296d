"""Categories told from the middle of all of them: the same models, of fewer and of shorter coordinates.

One 1 among C zeros says what its distance from (1/C, ..., 1/C) says: what all categories add alike, the 1 in front has.
That distance has a squared length of 1 - 1/C instead of 1 and lies among the C - 1 directions whose entries add up to
0, in which categories are as far from each other as they were. Noise that is as long as records and goes in as many
directions loses by both: four columns of two answers are 4 coordinates of a squared length of 2, not 8 of 4.

Records are whole numbers again, cut toward zero, and no longer than `centred_radius`: each is a function of that record
alone, bit for bit, as of a column's coordinates one alone is not 0. Any radius would keep the promise; this one cuts
hardly any record that was not cut before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .bending import tents
from .training_task import Task, longest_features, whole_vectors

SMOOTHER = 0.1  # Of the variance of a level of tents, what the next finer one is expected to have.


@dataclass(frozen=True)
class Block:
    """Coordinates that belong together, the 1 in front counted: of a column, or all waves, or all products."""

    own: slice
    halvings: int = 0  # Of its curve; 0 of a straight line.
    category: bool = False
    several: bool = False  # Whether they look at several columns.

    @property
    def size(self) -> int:
        """How many they are."""
        return self.own.stop - self.own.start

    @property
    def expected(self) -> np.ndarray:
        """How much its coordinates vary in truth, beside each other; 0 of straight lines and categories."""
        if self.several:
            return np.ones(self.size)
        steep = tents(self.halvings)[1] if self.halvings else np.zeros(0)
        straight = self.size - len(steep)
        return np.concatenate((np.zeros(straight), SMOOTHER ** np.log2(np.maximum(steep, 1.0))))


def blocks_of(task: Task) -> list[Block]:
    """Columns in the order of coordinates, then waves, then products."""
    layout, start, found = task.encoding.layout, 1, []
    groups, numbers = np.array(layout.groups)[1:], np.array(layout.squared)[1:]
    for group in np.unique(groups).tolist():
        first, wide = int(np.argmax(groups == group)), int((groups == group).sum())
        halvings = task.curves if task.bent[first] else 0
        wide = 1 << halvings if halvings else wide
        found.append(Block(slice(start, start + wide), halvings, not numbers[first]))
        start += wide
    for wide in (2 * task.waves, len(task.pairs)):
        found += [Block(slice(start, start + wide), several=True)] if wide else []
        start += wide
    return found


def centred_blocks(task: Task) -> list[Block]:
    """The same blocks of centred coordinates."""
    found, start = [], 1
    for block in blocks_of(task):
        wide = block.size - block.category
        found.append(replace(block, own=slice(start, start + wide)))
        start += wide
    return found


def centred_width(task: Task) -> int:
    """How many coordinates features have when they are centred."""
    return task.width - task.encoding.layout.labels


def centred_radius(task: Task) -> float:
    """The largest length of centred features: the radius without what is taken off categories, half of it at least."""
    off = sum(1.0 / block.size for block in blocks_of(task) if block.category)
    square = task.radius**2
    return math.sqrt(max(square - off * task.shortened_by**2, square / 2.0))


@lru_cache(maxsize=64)
def directions(categories: int) -> np.ndarray:
    """C - 1 directions of length 1 whose entries add up to 0, at right angles (Helmert), float64 (C, C - 1)."""
    found = np.zeros((categories, categories - 1))
    for place in range(1, categories):
        found[:place, place - 1], found[place, place - 1] = 1.0, -float(place)
        found[:, place - 1] /= math.sqrt(place * (place + 1))
    return found


def centred(task: Task, units: np.ndarray, unit: int) -> tuple[np.ndarray, int]:
    """Records of `Task.gather` with centred coordinates, int64 (n, d + 1), and their largest squared length in units.

    `unit`: What 1 counts.
    """
    found = np.zeros((len(units), centred_width(task) + 1))
    found[:, 0] = 1.0
    for block, own in zip(blocks_of(task), centred_blocks(task), strict=True):
        values = units[:, block.own] / unit
        if not block.category:
            found[:, own.own] = values
        elif own.size:
            at = np.argmax(values, axis=1)
            found[:, own.own] = directions(block.size)[at] * np.take_along_axis(values, at[:, None], axis=1)
    radius = centred_radius(task)
    return whole_vectors(found, radius, unit), unit**2 + longest_features(radius, unit)


def of_all_coordinates(task: Task, rows: np.ndarray) -> np.ndarray:
    """Coefficients of centred coordinates (..., d + 1) as of all of them, float64 (..., width + 1)."""
    found = np.zeros((*rows.shape[:-1], task.width + 1))
    found[..., 0] = rows[..., 0]
    for block, own in zip(blocks_of(task), centred_blocks(task), strict=True):
        part = rows[..., own.own]
        found[..., block.own] = part @ directions(block.size).T if block.category else part
    return found
