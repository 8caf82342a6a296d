"""The hills of an estimated density: going uphill from many places at once, and the passes between hills.

An estimate read off counters is constant inside each combination of cells, so it has no gradient. Compass search tries
a step along every coordinate and both ways, takes the best one that goes up, and halves the step where none does
(Kolda, Lewis, Torczon 2003). All places take their step together: one step is one call of the compiled reader.

The height of a hill above its highest pass (saddle) toward a higher hill is its prominence. Saddles are looked for
along straight segments between hills, over other hills on the way, and along segments bent where they were lowest; a
better way that none of them finds would make a hill less prominent than it seems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from ..geometry.uniforms import PublicRandom, scrambled_sobol
from ..releases.release import Release
from .answerable import READS, Box, counters_read

# Estimated kernel sums, float64 (n,), at encoded points, float64 (n, dimensions).
Height = Callable[[np.ndarray], np.ndarray]

STARTS = 128
FEWEST_STARTS = 16
TYPICAL_STEPS = 50
CLIMBING_READS = 10.0 * READS  # Work that all starts together may cost, in counters read.
TRIALS_A_START = 64
MOST_TRIALS = 1 << 15
# Moves tried a step; among more coordinates and categories than that, a fresh choice of them each time.
MOST_MOVES = 128
NUMBERS_AT_ONCE = 1 << 24  # Coordinates held in memory at once: in very many dimensions fewer trials and moves are made
MOST_STEPS = 200
SMALLEST_STEP = 1.0 / 8.0  # Step at which the search stops, in half-widths of the kernel.
NODES_A_WIDTH = 4  # Nodes of a table of heights in a half-width of the kernel.
MOST_NODES = 1 << 19  # A table of heights has no more.
SEARCH_SEED = 1  # Public seed of trial points and of the choice among many moves.


def affordable_starts(release: Release) -> int:
    """How many places to search from: fewer where sketches are long or dimensions many."""
    moves = min(MOST_MOVES, 2 * release.domain.dimensions)
    return int(min(max(CLIMBING_READS / counters_read(release, TYPICAL_STEPS * moves), FEWEST_STARTS), STARTS))


def tabulated(box: Box, height: Height, widths: np.ndarray) -> Height:
    """The same heights, read off a table by cubic splines where a table of few places shows all of them.

    A search asks at a million places that share no coordinate. Where the release is read axis by axis, the crossings of
    a few hundred values along each axis cost less than a single step of it. What the splines miss of a kernel so many
    nodes wide is far below noise; who judges what was found asks the release itself.

    Returns the heights as they are where there are categories, or bounds so wide that the table would be large.

    `height`: Of a release whose mechanism reads `by_axis`. `widths`: Half-widths of the kernel by coordinate of
    numbers, (coordinates,).
    """
    low, high = (bound[box.numeric] for bound in box.bounds)
    nodes = np.maximum(np.ceil((high - low) / widths * NODES_A_WIDTH), 3.0) + 1.0
    if box.blocks or not len(nodes) or nodes.prod() > MOST_NODES:
        return height
    values = list(map(np.linspace, low, high, nodes.astype(np.int64)))
    places = np.meshgrid(*values, indexing="ij")
    points = np.asfortranarray(np.stack([along.reshape(-1) for along in places], axis=1))
    table, knots = height(points).reshape(places[0].shape), []
    for axis, along in enumerate(values):
        spline = scipy.interpolate.make_interp_spline(along, table, axis=axis)
        table = np.moveaxis(spline.c, 0, axis)
        knots.append(spline.t)
    return scipy.interpolate.NdBSpline(tuple(knots), np.ascontiguousarray(table), 3)


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

    `widths`: Half-widths of the kernel by coordinate of numbers, (coordinates,). `steps`: First steps in half-widths,
    (n, coordinates).

    Returns where each search ended, float64 (n, dimensions), and the height there, (n,).
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


NEIGHBOURS = 8  # Higher hills that a hill is joined to by a segment.
# Places looked at along a segment. Seeing a valley as too shallow makes hills less prominent, never more.
STATIONS = 33
BENDS = 3  # Rounds in which the lowest place of each way is moved sideways, uphill.
SIDESTEPS = (1.0, 1.0, 0.5, 0.5, 0.25, 0.25)  # Steps sideways, in half-widths of the kernel.
MOST_SIDES = 64


@dataclass(frozen=True)
class Saddles:
    """The highest known pass from each hill toward a higher one; hills are in the order they were given."""

    height: np.ndarray  # float64 (n,), of the pass; -inf for the highest hill, which has none.
    place: np.ndarray  # float64 (n, dimensions), encoded, where each way is lowest; NaN for the highest hill.


@dataclass(frozen=True)
class _Ways:
    """Segments between places ``start`` and ``stop`` (m,), and the lowest point of each: height (m,), place (m, d)."""

    start: np.ndarray
    stop: np.ndarray
    height: np.ndarray
    place: np.ndarray

    def and_also(self, more: _Ways) -> _Ways:
        return _Ways(*(np.concatenate([a, b]) for a, b in zip(vars(self).values(), vars(more).values(), strict=True)))


def highest_saddles(
    box: Box, height: Height, widths: np.ndarray, hills: np.ndarray, heights: np.ndarray, worth_bending: float = 0.0
) -> Saddles:
    """Find the passes between hills.

    `worth_bending`: Only passes that lie more than this below their hill are looked at again.
    """
    places, levels = hills, heights
    ways = _segments(box, height, places, *_neighbours(box, widths, hills, heights))
    dying = _last_ways(levels, ways)
    for _ in range(BENDS):
        known = dying[: len(hills)]
        deep = known[known >= 0]
        deep = np.unique(deep[_drop(levels, ways)[deep] > worth_bending])
        if not len(deep) or len(box.numeric) < 2:
            break
        lifted = _lifted(box, height, widths, ways.place[deep], places[ways.stop[deep]] - places[ways.start[deep]])
        fresh = len(places) + np.arange(len(deep))
        places, levels = np.concatenate([places, lifted]), np.concatenate([levels, height(lifted)])
        ends = np.concatenate([ways.start[deep], ways.stop[deep]])
        ways = ways.and_also(_segments(box, height, places, np.tile(fresh, 2), ends))
        dying = _last_ways(levels, ways)
    last = dying[: len(hills)]
    none = last < 0
    return Saddles(
        np.where(none, -np.inf, ways.height[last]) if len(ways.height) else np.full(len(hills), -np.inf),
        np.where(none[:, None], np.nan, ways.place[last]) if len(ways.height) else np.full(hills.shape, np.nan),
    )


def _drop(levels: np.ndarray, ways: _Ways) -> np.ndarray:
    """How far each way falls below the lower of its ends."""
    return np.minimum(levels[ways.start], levels[ways.stop]) - ways.height


def _neighbours(box: Box, widths: np.ndarray, hills: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each hill with its nearest higher ones; every hill but the highest has one, so all are joined."""
    order = np.argsort(-heights, kind="stable")
    start, stop = [], []
    for rank in range(1, len(order)):
        higher, hill = order[:rank], order[rank]
        away = hills[higher] - hills[hill]
        distance = ((away[:, box.numeric] / widths) ** 2).sum(axis=1)
        distance += sum((away[:, block] != 0).any(axis=1) for block in box.blocks)
        nearest = higher[np.argsort(distance, kind="stable")[:NEIGHBOURS]]
        start.append(np.full(len(nearest), hill))
        stop.append(nearest)
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *start]), np.concatenate([empty, *stop])


def _segments(box: Box, height: Height, places: np.ndarray, start: np.ndarray, stop: np.ndarray) -> _Ways:
    """The lowest point of the way between each pair of places.

    With categories there are two ways: numbers move while the categories are those of one end, then the categories
    change one after the other. The higher way counts.
    """
    best = _one_way(box, height, places[start], places[stop])
    if box.blocks:
        back = _one_way(box, height, places[stop], places[start])
        better = back[0] > best[0]
        best = np.where(better, back[0], best[0]), np.where(better[:, None], back[1], best[1])
    return _Ways(start, stop, *best)


def _one_way(box: Box, height: Height, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Height (m,) and place (m, dimensions) of the lowest station between two ends, the ends included."""
    stations = np.repeat(start[:, None, :], STATIONS + len(box.blocks), axis=1)
    shares = np.append(np.linspace(0.0, 1.0, STATIONS), np.ones(len(box.blocks)))[:, None]
    moving = box.numeric
    stations[:, :, moving] = (1.0 - shares) * start[:, None, moving] + shares * stop[:, None, moving]
    for place, block in enumerate(box.blocks):
        stations[:, STATIONS + place :, block] = stop[:, None, block]
    heights = height(stations.reshape(-1, stations.shape[-1])).reshape(stations.shape[:2])
    lowest = heights.argmin(axis=1)
    each = np.arange(len(start))
    return heights[each, lowest], stations[each, lowest]


def _last_ways(levels: np.ndarray, ways: _Ways) -> np.ndarray:
    """For each place, the way by which its land first joins higher land, as the sea falls; -1 for the highest.

    Ways are opened from the highest pass down (Kruskal's algorithm). When one joins two lands, the land with the lower
    summit has found its pass (persistent homology of dimension 0).
    """
    summit = np.arange(len(levels))
    land = np.arange(len(levels))
    last = np.full(len(levels), -1)

    def root(place: int) -> int:
        while land[place] != place:
            land[place] = land[land[place]]
            place = land[place]
        return place

    for way in np.argsort(-ways.height, kind="stable"):
        one, other = root(ways.start[way]), root(ways.stop[way])
        if one == other:
            continue
        if levels[summit[one]] < levels[summit[other]]:
            one, other = other, one
        last[summit[other]] = way
        land[other] = one
    return last


def _lifted(box: Box, height: Height, widths: np.ndarray, places: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The places moved uphill across the direction of their way, (n, dimensions)."""
    low, high = (bound[box.numeric] for bound in box.bounds)
    tangent = along[:, box.numeric] / widths
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-300)
    axes = np.eye(len(widths))[:MOST_SIDES] if len(widths) <= MOST_SIDES else _random_axes(len(widths))
    sides = axes[None, :, :] - (tangent @ axes.T)[:, :, None] * tangent[:, None, :]
    sides /= np.maximum(np.linalg.norm(sides, axis=2, keepdims=True), 1e-9)
    sides = np.concatenate([sides, -sides], axis=1)
    places, levels = places.copy(), height(places)
    each = np.arange(len(places))
    for step in SIDESTEPS:
        moved = np.repeat(places[:, None, :], sides.shape[1], axis=1)
        moved[:, :, box.numeric] = np.clip(moved[:, :, box.numeric] + step * sides * widths, low, high)
        reached = height(moved.reshape(-1, moved.shape[-1])).reshape(moved.shape[:2])
        best = reached.argmax(axis=1)
        gain = reached[each, best] > levels
        places[gain], levels[gain] = moved[gain, best[gain]], reached[gain, best[gain]]
    return places


def _random_axes(dimensions: int) -> np.ndarray:
    """Unit vectors in random directions, in place of more axes than are worth trying."""
    vectors = np.random.Generator(np.random.PCG64(0)).standard_normal((MOST_SIDES, dimensions))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
