"""Going uphill on an estimated density without derivatives, from many places at once.

An estimate read off counters is constant inside each combination of cells, so it has no gradient. Compass search tries
a step along every coordinate and both ways, takes the best one that goes up, and halves the step where none does
(Kolda, Lewis, Torczon 2003). All places take their step together: one step is one call of the compiled reader.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..geometry.hashing.uniforms import PublicRandom, scrambled_sobol
from ..releases.release import Release
from .box import Box
from .work import READS, counters_read

Height = Callable[[np.ndarray], np.ndarray]
"""Estimated kernel sums, float64 (n,), at encoded points, float64 (n, dimensions)."""

STARTS = 128
FEWEST_STARTS = 16
TYPICAL_STEPS = 50
CLIMBING_READS = 10.0 * READS
"""Work that all starts together may cost, in counters read."""
TRIALS_A_START = 64
MOST_TRIALS = 1 << 15
MOST_MOVES = 128
"""Moves tried a step; among more coordinates and categories than that, a fresh choice of them each time."""
NUMBERS_AT_ONCE = 1 << 24
"""Coordinates held in memory at once: in very many dimensions fewer trials and moves are made."""
MOST_STEPS = 200
SMALLEST_STEP = 1.0 / 8.0
"""Step at which the search stops, in half-widths of the kernel."""
SEARCH_SEED = 1
"""Public seed of trial points and of the choice among many moves."""


def affordable_starts(release: Release) -> int:
    """How many places to search from: fewer where sketches are long or dimensions many."""
    moves = min(MOST_MOVES, 2 * release.domain.dimensions)
    return int(min(max(CLIMBING_READS / counters_read(release, TYPICAL_STEPS * moves), FEWEST_STARTS), STARTS))


def starting_points(box: Box, height: Height, widths: np.ndarray, count: int) -> np.ndarray:
    """The highest of many evenly spread trial points, kept apart from each other; encoded, (at most count, dimensions).

    Two points are kept apart when they differ in a category, or in some number by half the pitch of a lattice of
    ``count`` points, or by a half-width of the kernel when that is more.
    """
    wanted = max(count, min(MOST_TRIALS, TRIALS_A_START * count, NUMBERS_AT_ONCE // box.domain.dimensions))
    uniforms = scrambled_sobol(1 << (wanted - 1).bit_length(), box.uniforms_needed(), PublicRandom(SEARCH_SEED))
    trials = box.uniform(uniforms)
    low, high = box.bounds
    pitch = (high - low)[box.numeric] * count ** (-1.0 / max(1, len(box.numeric))) / 2.0
    remaining = trials[np.argsort(-height(trials), kind="stable")]
    chosen: list[np.ndarray] = []
    while len(remaining) and len(chosen) < count:
        chosen.append(remaining[0])
        remaining = remaining[~close_to(box, remaining, remaining[0], np.maximum(pitch, widths))]
    return np.array(chosen)


def close_to(box: Box, points: np.ndarray, point: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Which points are less than a width away in every number and the same in every category, bool (n,)."""
    near = (np.abs(points[:, box.numeric] - point[box.numeric]) < widths).all(axis=1)
    for block in box.blocks:
        near &= (points[:, block] == point[block]).all(axis=1)
    return near


def first_steps(box: Box, widths: np.ndarray, count: int) -> np.ndarray:
    """First steps of ``count`` searches, in half-widths a coordinate, float64 (count, coordinates).

    Some start with the kernel's own half-width and stay on the nearest hill, others with up to a quarter of the bounds
    and find hills that no start is near.
    """
    low, high = box.bounds
    largest = np.maximum(1.0, (high - low)[box.numeric] / 4.0 / widths)
    shares = (np.arange(count) * (np.sqrt(5.0) - 1.0) / 2.0) % 1.0
    return largest ** shares[:, None]


def climb(
    box: Box, height: Height, widths: np.ndarray, points: np.ndarray, steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compass search from every point.

    A move is a step in one number, either way, or a change to another category.

    Parameters
    ----------
    box : Box
        Where points may go.
    height : Height
        What to climb.
    widths : np.ndarray
        Half-widths of the kernel by coordinate of numbers, (coordinates,).
    points : np.ndarray
        Where to start, encoded, (n, dimensions).
    steps : np.ndarray
        First steps in half-widths, (n, coordinates).

    Returns
    -------
    tuple[np.ndarray, np.ndarray]
        Where each search ended, float64 (n, dimensions), and the height there, (n,).
    """
    random = np.random.Generator(np.random.PCG64(SEARCH_SEED))
    points, steps = points.copy(), np.array(steps, dtype=np.float64)
    heights = height(points)
    active = np.arange(len(points))
    for _ in range(MOST_STEPS):
        if not len(active):
            break
        moved = _moves(box, points[active], steps[active] * widths, random)
        reached = height(moved.reshape(-1, moved.shape[-1])).reshape(moved.shape[:2])
        best = reached.argmax(axis=1)
        gain = reached[np.arange(len(active)), best] > heights[active]
        points[active[gain]] = moved[gain, best[gain]]
        heights[active[gain]] = reached[gain, best[gain]]
        steps[active[~gain]] /= 2.0
        active = active[(steps[active] >= SMALLEST_STEP).any(axis=1) | gain]
    return points, heights


def _moves(box: Box, points: np.ndarray, steps: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """All single moves from every point, float64 (n, moves, dimensions)."""
    low, high = box.bounds
    categories = [(block, code) for block, count in zip(box.blocks, box.choices, strict=True) for code in range(count)]
    numbers = 2 * len(box.numeric)
    chosen = np.arange(numbers + len(categories))
    most = max(1, min(MOST_MOVES, NUMBERS_AT_ONCE // points.size))
    if len(chosen) > most:
        chosen = np.sort(random.choice(chosen, most, replace=False))
    moved = np.repeat(points[:, None, :], len(chosen), axis=1)
    for place, move in enumerate(chosen):
        if move < numbers:
            coordinate = box.numeric[move // 2]
            step = steps[:, move // 2] if move % 2 else -steps[:, move // 2]
            moved[:, place, coordinate] = np.clip(points[:, coordinate] + step, low[coordinate], high[coordinate])
        else:
            box.raise_category(moved[:, place], *categories[move - numbers])
    return moved
