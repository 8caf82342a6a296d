"""Categories told from the middle of all of them: the same models, of fewer and of shorter coordinates.

One 1 among C zeros says what its distance from (1/C, ..., 1/C) says: what all categories add alike, the 1 in front has.
That distance has a squared length of 1 - 1/C instead of 1 and lies among the C - 1 directions whose entries add up to
0, in which categories are as far from each other as they were. Noise that is as long as records and goes in as many
directions loses by both: four columns of two answers are 4 coordinates of a squared length of 2, not 8 of 4.

Records are whole numbers again, cut toward zero, and no longer than `centred_radius`: each is a function of that record
alone, bit for bit, as of a column's coordinates one alone is not 0. Any radius would keep the promise; this one cuts
hardly any record that was not cut before.

**Fewer directions.** Noise on m coordinates goes in m directions and is m times as long as what a record
moves. Of few records and many columns little is learnt beside it, and more where features are first told along p < m
public directions at random, which keep distances about as they are (Johnson, Lindenstrauss 1984): noise is p long. A
record is still a vector of its own, cut at a public length, and what is learnt is a row of p numbers, which says as
much of all coordinates. How many directions are taken, and when, follows from public facts alone (`directions_for`):
on photographs in 512 numbers (ten classes, 1,875 records, ε = 1) 58% were right where all coordinates had 21%
within bounds that just hold each number, and 39% and 13% within common ones; on drawn digits in 196 numbers 50% either
way. Of two classes some sets lost what others won, and all coordinates are taken.

**From where records lie.** Where counts of the records in cells of each column were released (`noise_bands`), they say
a middle and how far records are from it, and coordinates are told from there (`Frame`): what all records have alike the
1 in front has, and a radius that few numbers between wide bounds are near to makes no noise longer. A shift and a
stretch that are public leave a record a function of itself alone, no longer than the radius of the frame. The 1 in
front is shortened along with all else, and so is a number that is predicted: a line that fits whole records fits
shortened ones, and a record is on the same side of it. Where the 1 was left whole slopes came out steeper, and rare
classes were said too often: a set of one in seven had 14.7% wrong, and has 12.5%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from ..geometry.uniforms import PublicRandom
from .bending import SHARE_OF_PRODUCTS, curved, height, tents
from .record_vectors import block_by_block, longest_features, whole_vectors
from .training_task import MOST_HALVINGS, Task

# Directions for each root of the records that are as many as noise is long, a class; and the share of all coordinates
# from which on all are taken: on handwritten digits and made-up records of 128 columns.
PER_ROOT, MOST_OF_ALL = 2.0, 0.45
CUT = 0.5  # Of the length that hardly any record passes: those beyond keep their direction, and noise is shorter.
INSIDE = 8  # Values that stand for a part of the bounds.
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


def inside(block: Block, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and the covariance of a number's coordinates, of records with such shares in equal parts of its bounds."""
    values = (np.arange(len(shares) * INSIDE) + 0.5) / (len(shares) * INSIDE / 2) - 1.0
    told = curved(values, block.halvings) if block.halvings else values[:, None]
    each = np.repeat(shares / INSIDE, INSIDE)
    means = each @ told
    return means, (told * each[:, None]).T @ told - np.outer(means, means)


@dataclass(frozen=True, eq=False)
class Directions:
    """Along which the records' pull and the noise come apart."""

    axes: np.ndarray  # Of length 1 and at right angles, one a column, float64 (d, d).
    pulls: np.ndarray  # What records pull by along each, beside the others, float64 (d,).


def evenly(task: Task) -> Directions:
    """Those of records that lie evenly between their bounds, column by column."""
    axes, pulls, parts = np.eye(task.width), np.zeros(task.width), 1 << MOST_HALVINGS
    for block in blocks_of(task):
        own, size = slice(block.own.start - 1, block.own.stop - 1), block.size
        if block.several:
            continue
        apart = (np.eye(size) - 1.0 / size) / size if block.category else inside(block, np.full(parts, 1.0 / parts))[1]
        pulls[own], axes[own, own] = np.linalg.eigh(task.shortened_by**2 * apart)
    wave = height(max(1, task.waves), task.corner) ** 2 / 2.0
    product = height(max(1, len(task.pairs)), task.corner, SHARE_OF_PRODUCTS) ** 2 / 9.0
    several = [wave] * (2 * task.waves) + [product] * len(task.pairs)
    pulls[task.width - len(several) :] = several
    return Directions(axes, np.maximum(pulls, 0.0))


@lru_cache(maxsize=64)
def directions(categories: int) -> np.ndarray:
    """C - 1 directions of length 1 whose entries add up to 0, at right angles (Helmert), float64 (C, C - 1)."""
    found = np.zeros((categories, categories - 1))
    for place in range(1, categories):
        found[:place, place - 1], found[place, place - 1] = 1.0, -float(place)
        found[:, place - 1] /= math.sqrt(place * (place + 1))
    return found


@dataclass(frozen=True, eq=False)
class Frame:
    """Where records lie, as was released: what centred coordinates are told from."""

    middle: np.ndarray  # float64 (d,)
    stretch: np.ndarray  # What each coordinate is multiplied by, float64 (d,).
    radius: float  # At which records are cut.

    def told(self, vectors: np.ndarray) -> np.ndarray:
        """Centred records (n, d + 1) as they are from here, each a function of that record alone."""
        return np.column_stack((vectors[:, :1], (vectors[:, 1:] - self.middle) * self.stretch))

    def from_nowhere(self, rows: np.ndarray) -> np.ndarray:
        """Coefficients of what is told from here as of centred coordinates, float64 (..., d + 1)."""
        slopes = rows[..., 1:] * self.stretch
        return np.concatenate((rows[..., :1] - slopes @ self.middle[:, None], slopes), axis=-1)


def centred(task: Task, units: np.ndarray, unit: int, many: int = 0) -> tuple[np.ndarray, int]:
    """Records of `Task.gather` with centred coordinates, int64 (n, d + 1), and their largest squared length in units.

    `unit`: What 1 counts. `many`: Along how many public directions they are told; 0 where along all coordinates.
    """
    radius = centred_radius(task)
    longest = CUT * radius if many else radius

    def made(part: np.ndarray) -> np.ndarray:
        found = _around_middles(task, part, unit)
        if many:
            found = _along(whole_vectors(found, radius, unit) / unit, many)
        return whole_vectors(found, longest, unit)

    return block_by_block(made, units), unit**2 + longest_features(longest, unit)


def _around_middles(task: Task, units: np.ndarray, unit: int) -> np.ndarray:
    found = np.zeros((len(units), centred_width(task) + 1))
    found[:, 0] = 1.0
    for block, own in zip(blocks_of(task), centred_blocks(task), strict=True):
        values = units[:, block.own] / unit
        if not block.category:
            found[:, own.own] = values
        elif own.size:
            at = np.argmax(values, axis=1)
            found[:, own.own] = directions(block.size)[at] * np.take_along_axis(values, at[:, None], axis=1)
    return found


def shortened_whole(task: Task, units: np.ndarray, unit: int, frame: Frame) -> tuple[np.ndarray, int]:
    """As `centred`, told from a frame, with the 1 in front shortened along with all else."""
    longest = math.sqrt(1.0 + frame.radius**2)

    def made(part: np.ndarray) -> np.ndarray:
        found = frame.told(centred(task, part, unit)[0] / unit)
        return whole_vectors(np.column_stack((found[:, 0], found)), longest, unit)[:, 1:]

    return block_by_block(made, units), longest_features(longest, unit)


def of_all_coordinates(task: Task, rows: np.ndarray) -> np.ndarray:
    """Coefficients of centred coordinates (..., d + 1), or of directions, as of all, float64 (..., width + 1)."""
    if rows.shape[-1] < centred_width(task) + 1:
        axes = _axes(centred_width(task), rows.shape[-1] - 1)
        rows = np.concatenate((rows[..., :1], rows[..., 1:] @ axes.T), axis=-1)
    found = np.zeros((*rows.shape[:-1], task.width + 1))
    found[..., 0] = rows[..., 0]
    for block, own in zip(blocks_of(task), centred_blocks(task), strict=True):
        part = rows[..., own.own]
        found[..., block.own] = part @ directions(block.size).T if block.category else part
    return found


def directions_for(heard: float, classes: int, width: int) -> int:
    """Of so many coordinates how many directions are worth telling; 0 where all are.

    `heard`: How many records there are, in lengths of noise along one direction.
    """
    found = max(classes, math.ceil(PER_ROOT * math.sqrt(heard / classes)))
    return found if classes > 2 and found <= MOST_OF_ALL * width else 0


@lru_cache(maxsize=16)
def _axes(width: int, many: int) -> np.ndarray:
    """Public directions at right angles, which leave lengths about as they are, float64 (width, many)."""
    drawn = np.linalg.qr(ndtri(PublicRandom(0, 33).uniforms(width, width)))[0]
    return np.asarray(drawn[:, :many] * math.sqrt(width / many))


def _along(vectors: np.ndarray, many: int) -> np.ndarray:
    """Centred records along so many directions, float64 (n, many + 1).

    Each is a function of its record alone: sums over coordinates are taken in their order.
    """
    found = np.zeros((len(vectors), many + 1))
    found[:, 0] = 1.0
    for column, axis in zip(vectors[:, 1:].T, _axes(vectors.shape[1] - 1, many), strict=True):
        found[:, 1:] += column[:, None] * axis
    return found
