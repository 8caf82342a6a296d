"""k medians: of numbers on a line, exactly, and of points in space, by descent from several starts.

The descent is Weiszfeld's with slopes taken over a distance. The sum of straight-line distances is convex, and near its
least value D n (n records at an average distance D) it bends like n/D in every direction; so q - slope * D / n is a
good next place (Weiszfeld 1937). What is read off a noisy table has small ripples on top, so slopes are differences
over a step that is wide at first and ends above the ripples.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import isotonic_regression

RESTARTS = 8
MOST_ROUNDS = 100


def masses_on_a_line(sums: np.ndarray, pitch: float, records: float) -> np.ndarray:
    """How many records lie at each of n evenly spaced places, float64 (n,), from the distance sums there.

    The slope of F(q) = sum of |x - q| is the number of records below q less that above it, so that half of slope plus
    number is the number below. It never falls, which the nearest non-falling sequence restores where noise hides it.

    `sums`: F at the places, (n,).
    """
    below = (np.diff(sums) / pitch + records) / 2.0
    below = np.clip(isotonic_regression(below).x, 0.0, records)
    return np.diff(np.concatenate([[0.0], below, [records]]))


def medians_on_a_line(places: np.ndarray, masses: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The k places of the least sum of distances to the nearest of them, by dynamic programming over where groups end.

    `places`: Increasing, float64 (n,). `masses`: How much lies at each, float64 (n,), none below zero. `count`: k, at
    most n.

    Returns the medians, increasing, and the mass of each one's group, (k,) both.
    """
    n = len(places)
    mass = np.concatenate([[0.0], np.cumsum(masses)])
    moment = np.concatenate([[0.0], np.cumsum(masses * places)])
    first, last = np.arange(n)[:, None], np.arange(1, n + 1)[None, :]  # a group is places[first:last]
    middle = np.searchsorted(mass, (mass[first] + mass[last]) / 2.0, side="left") - 1
    middle = np.clip(middle, first, np.maximum(last - 1, first))
    near = places[middle]
    cost = near * (2.0 * mass[middle] - mass[first] - mass[last]) + moment[first] + moment[last] - 2.0 * moment[middle]
    cost = np.where(last > first, cost, np.inf)
    best = cost[0]  # the least sum for places[:last] in one group
    starts = [np.zeros(n, dtype=np.int64)]
    for _ in range(count - 1):
        joined = np.concatenate([[np.inf], best[:-1]])[:, None] + cost
        starts.append(joined.argmin(axis=0))
        best = joined.min(axis=0)
    ends, end = [], n
    for start in reversed(starts):
        begin = int(start[end - 1])
        ends.append((begin, end))
        end = begin
    groups = ends[::-1]
    found = np.array([places[middle[begin, end - 1]] for begin, end in groups])
    return found, np.array([mass[end] - mass[begin] for begin, end in groups])


def medians_in_space(points: np.ndarray, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """k places with a small sum of L1 distances from points (n, d) to the nearest of them.

    Lloyd's descent with medians in place of means, from starts that are far apart (Arthur, Vassilvitskii 2007); the
    best of several, which need not be the best of all.

    Returns the medians, float64 (k, d), the largest group first, and the group of each point, int64 (n,).
    """
    tried = [_descended(points, _starts(points, count, random)) for _ in range(1 if count == 1 else RESTARTS)]
    centres, groups, _ = min(tried, key=lambda one: one[2])
    order = np.argsort(-np.bincount(groups, minlength=len(centres)), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return centres[order], rank[groups]


def _starts(points: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    chosen = [points[random.integers(len(points))]]
    while len(chosen) < count:
        distances = _distances(points, np.array(chosen)).min(axis=1)
        total = distances.sum()
        chances = distances / total if total > 0 else np.full(len(points), 1.0 / len(points))
        chosen.append(points[random.choice(len(points), p=chances)])
    return np.array(chosen)


def _descended(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    groups = np.full(len(points), -1)
    for _ in range(MOST_ROUNDS):
        nearest = _distances(points, centres).argmin(axis=1)
        if np.array_equal(nearest, groups):
            break
        groups = nearest
        centres = np.array(
            [np.median(points[groups == k], axis=0) if (groups == k).any() else centres[k] for k in range(len(centres))]
        )
    distances = _distances(points, centres)
    return centres, distances.argmin(axis=1), float(distances.min(axis=1).sum())


def _distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.column_stack([np.abs(points - centre).sum(axis=1) for centre in centres])


# Estimated sums of distances, float64 (n,), at encoded points, float64 (n, dimensions).
Sum = Callable[[np.ndarray], np.ndarray]

WIDEST, HALVINGS = 1.0 / 8.0, 4  # The first step of a slope, in ranges of the coordinate, and how often it is halved.
ROUNDS = 6  # Places tried at each step.


def least_place(
    total: Sum, low: np.ndarray, high: np.ndarray, start: np.ndarray, records: float, halvings: range = range(HALVINGS)
) -> np.ndarray:
    """A place (d,) near which the sum is least, inside the bounds.

    `low`, `high`: The bounds, (d,). `halvings`: The widths of slopes, as halvings of the widest; only the narrowest
    where ``start`` is close already.
    """
    place, here = start, float(total(start[None, :])[0])
    for halving in halvings:
        width = WIDEST * 0.5**halving * (high - low)
        for _ in range(ROUNDS):
            slope = _slopes(total, place, width, low, high)
            reach = 1.0
            while reach > 0.05:
                moved = np.clip(place - reach * slope * max(here, 0.0) / records**2, low, high)
                there = float(total(moved[None, :])[0])
                if there < here:
                    break
                reach /= 2.0
            else:
                break
            place, here = moved, there
    return place


def _slopes(total: Sum, place: np.ndarray, width: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Slopes of the sum along each coordinate, over a width on either side as far as the bounds allow."""
    ahead, behind = (np.tile(place, (len(place), 1)) for _ in range(2))
    diagonal = np.arange(len(place))
    ahead[diagonal, diagonal] = np.minimum(place + width, high)
    behind[diagonal, diagonal] = np.maximum(place - width, low)
    values = total(np.asfortranarray(np.concatenate([ahead, behind])))
    rise = values[: len(place)] - values[len(place) :]
    return rise / (ahead[diagonal, diagonal] - behind[diagonal, diagonal])
