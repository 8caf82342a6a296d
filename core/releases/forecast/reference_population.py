"""Populations that forecasts are tried on: public random points, of three shapes that ordinary data have.

Nobody may look at the private records to see how they lie. Three shapes stand for what they may be like:

* *long*: one long axis, thinner ones across it, and some stragglers;
* *clustered*: ten heaps of unequal size, each small against the bounds, and never so far apart that the kernel which
  is asked with sees nothing of them;
* *few values*: whole numbers and steps, with a third of the people at the same value of every column, so that queries
  sit where many records sit, and on a kernel's kink.

On seventeen sets of one to 128 columns (benchmarks/forecasts.py) no single shape was right everywhere: sampling errors
of the long one alone were 0.2 to 6 times the true ones. The root mean square over the three was within a quarter of the
true error of a release in half of the settings, and less than half of it in one of a hundred.

Nothing lies between two categories: each point has the one that its place on the axes speaks for. Where a column has
public steps, points lie on them.

A population that lies at one end of its bounds, as pay, prices, counts and durations do.

Bounds that are known to hold everybody are many times the value that is usual, so nearly all records lie close
together far from the middle of the bounds, and a few reach up. Compared with records in the middle, sums of squared
distances have more noise there (their parts grow with the distance from the middle), and answers about closeness are
larger, and with them the errors of random rows.

Each column is log-normal by itself. On made-up log-normal, exponential and beta records in one column, forecasts
without this population were down to 0.3 of the true error of random rows, and to half that of squared distances.

Sets that forecasts are tried on: public, made up, of the shape that graphs and baskets have.

Nobody may look at the private sets to see how they share items. In follower graphs and baskets most sets are short and
a few very long, and a few items are in very many sets while most are in one or two; both tails fall like powers. The
powers were set so that sampling errors on a public graph of 78,000 lists come out right, from a table that is wide
enough to one of a hundredth of that width.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy
from scipy.special import ndtri

from ...domain import Categorical, Domain
from ...domain.item_sets import Sets
from ...geometry.kernels import (
    Angular,
    Jaccard,
    Kernel,
    Mixture,
    Product,
    coordinate_bandwidths,
    of_coordinates,
    stationary,
)
from ...geometry.uniforms import PublicRandom

REFERENCE_POINTS = 1_500
STRAGGLER_DEGREES = 6.0
# Up to here bounds say something about distances: a kernel that is narrow against them is meant to be.
FEW_DIMENSIONS = 3
LEAST_THICKNESS = {True: 0.05, False: 0.2}  # Thickness across the longest axis, in few dimensions and above.
# Standard deviation along the longest axis, in shares of the bounds, when no density is stated.
DEFAULT_SPREAD = 1.0 / 6.0
HEAPS, HEAP_SPREAD = 10, 0.03  # Of the clustered shape: how many, and their standard deviation in shares of the bounds.
# Of the shape with few values: the step in shares of the bounds, and the share of points at one value.
STEP, SPIKE = 1.0 / 9.0, 0.3
IN_SIGHT = 0.05  # Average closeness of two points that the heaps have at least.


def reference_populations(
    domain: Domain, metric: str, kernel: Kernel | None, density: float | None
) -> tuple[np.ndarray, ...]:
    """Public random points of every shape, float64 (REFERENCE_POINTS, d) each, inside the bounds.

    `domain`, `metric`: What is encoded, and how. `kernel`, `density`: The scale is chosen so that the kernel averages
    ``density`` over pairs, as far as the bounds allow it; categories are as they are. Without one of them the longest
    axis has a standard deviation of a sixth of the bounds of every column of numbers, however finely the kernel sees
    it; but for heaps, which then lie closer together where the kernel would see next to nothing of them: whoever asks
    with it expects to see something. Bounds of many columns say little about distances, and the kernel says more; those
    of few are believed.
    """
    populations = {name: _placed(domain, metric, kernel, density, shape) for name, shape in SHAPES.items()}
    if density is None and kernel is not None and domain.dimensions > FEW_DIMENSIONS:
        closeness = of_coordinates(kernel, domain.widths)
        if mean_closeness(closeness, populations["clustered"]) < IN_SIGHT:
            populations["clustered"] = _placed(domain, metric, kernel, IN_SIGHT, _clustered)
    return tuple(populations.values())


def reference_population(domain: Domain, metric: str, kernel: Kernel | None, density: float | None) -> np.ndarray:
    """The first of the `reference_populations`, the long one, where only one can be tried."""
    return _placed(domain, metric, kernel, density, _long)


def placed(domain: Domain, metric: str, shaped: Callable[[int], np.ndarray]) -> np.ndarray:
    """Points of any shape at the usual spread, inside the bounds and on the steps of the columns.

    `domain`, `metric`: what is encoded, and how. `shaped`: from a number of coordinates, points in standard deviations
    of the usual spread, float64 (n, d).
    """
    return _placed(domain, metric, None, None, shaped)


def placed_close(
    domain: Domain, metric: str, kernel: Kernel, density: float, shaped: Callable[[int], np.ndarray], middle: np.ndarray
) -> np.ndarray:
    """The same about any place, so close together that the kernel averages no less than a density over pairs.

    `domain`, `metric`, `shaped`: see `placed`. `kernel`, `density`: points that are closer at the usual spread keep it.
    `middle`: where the shape has its zero, in shares of the bounds, float64 (d,).
    """
    usual = _placed(domain, metric, None, None, shaped, middle)
    closeness = of_coordinates(kernel, domain.widths)
    if mean_closeness(closeness, usual) >= density:
        return usual
    return _placed(domain, metric, kernel, density, shaped, middle)


def _placed(
    domain: Domain,
    metric: str,
    kernel: Kernel | None,
    density: float | None,
    shaped: Callable[[int], np.ndarray],
    middle: float | np.ndarray = 0.5,
) -> np.ndarray:
    """Points of a shape at the scale that gives them the density, or at the usual one."""
    low, high = domain.bounds(metric)
    shape = shaped(domain.dimensions)
    guided = density is not None and kernel is not None
    unit = _units(domain, kernel, low, high) if guided else high - low
    centre = low + middle * (high - low)
    places, encoded = _categories(domain, metric, shape)

    def possible(points: np.ndarray) -> np.ndarray:
        points[:, places] = encoded
        return np.asfortranarray(_on_steps(domain, low, points))

    def scaled(log_scale: float) -> np.ndarray:
        return possible(np.clip(centre + math.exp(log_scale) * shape * unit, low, high))

    numbers = ~places if not places.all() else places
    widest = math.log(float(np.min(((high - low) / unit)[numbers])) * DEFAULT_SPREAD)
    if kernel is None or density is None:
        return scaled(widest)

    closeness = of_coordinates(kernel, domain.widths)

    def excess(points: np.ndarray) -> float:
        return math.log(mean_closeness(closeness, points) / density)

    # Beyond three times the usual spread most points would lie on the bounds, where they come closer again.
    least, most = -30.0, widest + math.log(3.0)
    if excess(scaled(least)) <= 0.0:
        return scaled(least)
    if excess(scaled(most)) < 0.0:
        return scaled(scipy.optimize.brentq(lambda log_scale: excess(scaled(log_scale)), least, most, xtol=1e-2))

    # Rarer than a shape can be: on the way to points that fill the bounds evenly, the rarest there are.
    even = _evenly(low, high)

    def blended(share: float) -> np.ndarray:
        return possible((1.0 - share) * scaled(most) + share * even)

    if excess(blended(1.0)) >= 0.0:
        return blended(1.0)
    return blended(scipy.optimize.brentq(lambda share: excess(blended(share)), 0.0, 1.0, xtol=1e-2))


def mean_closeness(closeness: Kernel, points: np.ndarray) -> float:
    """Of two different points, on average; above 0, also where every pair is too far apart for a number."""
    few = points[:300]
    pairs = closeness.evaluate(few, few)
    np.fill_diagonal(pairs, 0.0)
    return max(float(pairs.sum()) / (len(few) * (len(few) - 1.0)), 1e-300)


def _on_steps(domain: Domain, low: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points moved to the nearest values that anyone could have."""
    stepped = np.flatnonzero(domain.spacings)
    if stepped.size:
        spacings, least = domain.spacings[stepped], low[stepped]
        points[:, stepped] = least + spacings * np.rint((points[:, stepped] - least) / spacings)
    return points


def _evenly(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low + (high - low) * PublicRandom(0, 9, len(low)).uniforms(REFERENCE_POINTS, len(low))


def _categories(domain: Domain, metric: str, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which coordinates are of categories, bool (d,), and what they are at every point, float64 (n, how many).

    A point has the category along whose coordinate it lies farthest out, so that categories go with numbers as columns
    of numbers go with each other.
    """
    places, encoded, start = np.zeros(domain.dimensions, dtype=bool), [np.empty((len(shape), 0))], 0
    for column in domain.columns:
        block = slice(start, start + column.width)
        if isinstance(column, Categorical):
            places[block] = True
            chosen = np.zeros((len(shape), column.width))
            column.place(chosen, np.arange(len(shape)), column.nearest(shape[:, block]), domain.amplitude(metric))
            shift, width = column.scaling(domain.scale)
            encoded.append((chosen - shift) / width)
        start += column.width
    return places, np.hstack(encoded)


def _long(dimensions: int) -> np.ndarray:
    """Points with one long axis in a random direction, thinner ones across it, and Student's t tails; a bell in 1-d."""
    random = PublicRandom(0, 7, dimensions)
    normal = ndtri(random.uniforms(REFERENCE_POINTS, dimensions))
    thickness = np.maximum(np.arange(1.0, dimensions + 1.0) ** -3, LEAST_THICKNESS[dimensions <= FEW_DIMENSIONS])
    if dimensions == 1:
        return normal
    # A chi-squared variable with an even number of degrees of freedom is a sum of exponentials.
    mixing = -2.0 * np.log(random.uniforms(REFERENCE_POINTS, int(STRAGGLER_DEGREES) // 2)).sum(axis=1)
    axes, _ = np.linalg.qr(ndtri(random.uniforms(dimensions, dimensions)))
    return (normal * thickness / np.sqrt(mixing / STRAGGLER_DEGREES)[:, None]) @ axes


def _clustered(dimensions: int) -> np.ndarray:
    """Heaps at random places within the middle seven tenths of the bounds, the first with a third of all points."""
    random = PublicRandom(0, 22, dimensions)
    heaps = 0.7 * (random.uniforms(HEAPS, dimensions) - 0.5) / DEFAULT_SPREAD
    of = (random.uniforms(REFERENCE_POINTS) ** 2 * HEAPS).astype(np.int64)
    return heaps[of] + HEAP_SPREAD / DEFAULT_SPREAD * ndtri(random.uniforms(REFERENCE_POINTS, dimensions))


def _few_values(dimensions: int) -> np.ndarray:
    """Columns that go each its own way, in steps, with the same value for a third of the points."""
    random = PublicRandom(0, 26, dimensions)
    step = STEP / DEFAULT_SPREAD
    offset = step * random.uniforms(dimensions)
    values = step * np.floor(ndtri(random.uniforms(REFERENCE_POINTS, dimensions)) / step) + offset
    return np.where(random.uniforms(REFERENCE_POINTS, dimensions) < SPIKE, offset - step, values)


# Points of each shape, in standard deviations of the usual spread, from a number of dimensions.
SHAPES = {"long": _long, "clustered": _clustered, "few values": _few_values}


def _units(domain: Domain, kernel: Kernel | None, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The length of each coordinate that the kernel treats alike: its bandwidth, or the bounds for angles and none."""
    while isinstance(kernel, (Product, Mixture)):
        kernel = kernel.parts[0]
    if kernel is None or isinstance(kernel, Angular):
        return high - low
    return coordinate_bandwidths(stationary(kernel).bandwidth, domain.widths)


USUAL, LOG_SPREAD = 1.0 / 40.0, 1.0  # Median in shares of the bounds, and the standard deviation of the logarithm.


def gathered_population(domain: Domain, metric: str) -> np.ndarray:
    """Public random points near the lower end of every column, float64 (REFERENCE_POINTS, d), inside the bounds."""
    return placed(domain, metric, _at_one_end)


def _at_one_end(dimensions: int) -> np.ndarray:
    """In standard deviations of the usual spread from the middle of the bounds."""
    normal = ndtri(PublicRandom(0, 29, dimensions).uniforms(REFERENCE_POINTS, dimensions))
    return (USUAL * np.exp(LOG_SPREAD * normal) - 0.5) / DEFAULT_SPREAD


REFERENCE_SETS = 20_000
MOST_ITEMS = 3_000_000
QUERIES = 300
SIZES = (4.0, 12.0, 36.0)  # Items of a set on average that are reckoned with when nobody says.
LONGEST = 400.0  # The longest set, in multiples of the shortest.
UNIVERSE = 1.5  # Items that there are, in multiples of the sets.
DEFAULT_POPULARITY, LARGEST_POPULARITY = 2.6, 12.0
# Sums from which on it is the share of similar sets, and no longer their number, that decides how sure they are.
LEAST_ANSWER = 100.0


def reference_sets(records: float, density: float | None, size: float) -> Sets:
    """Public random sets in a random order.

    `records`: how many there are; fewer are made where they are many, as alike to each other as makes answers as sure.
    `density`: average similarity of two sets, as far as such sets can have it; None for what is ordinary. `size`: items
    of a set on average.
    """
    count = int(max(QUERIES, min(records, REFERENCE_SETS, MOST_ITEMS / size)))
    random = PublicRandom(0, 11)
    multiples = np.minimum(1.0 / random.uniforms(count), LONGEST)
    shortest = size / multiples.mean()
    sizes = np.maximum(np.floor(shortest * multiples + random.uniforms(count) - 0.5), 1.0).astype(np.int64)
    uniforms = random.uniforms(int(sizes.sum()))

    def popular(power: float) -> Sets:
        """Items drawn so that the share of the most popular ones rises with the power."""
        return Sets.of_sizes(sizes, (UNIVERSE * count * uniforms**power).astype(np.uint64))

    if density is None:
        return popular(DEFAULT_POPULARITY)
    wanted = max(density * count, min(density * records, LEAST_ANSWER))

    def excess(power: float) -> float:
        sets = popular(power)
        return float(np.log(Jaccard().sums(sets[:QUERIES], sets).mean() / wanted))

    if excess(1.0) >= 0.0:
        return popular(1.0)
    if excess(LARGEST_POPULARITY) <= 0.0:
        return popular(LARGEST_POPULARITY)
    return popular(scipy.optimize.brentq(excess, 1.0, LARGEST_POPULARITY, xtol=2e-2))


LEARNABLE = 0.5  # Of how the goal's order differs, what the other columns say together.
LEAST_SPREAD = 1e-12
# What columns say where that bends, by standard deviations from their mean; no bend lies in the middle of the bounds.
BENDS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda off: np.abs(off - 0.7),
    lambda off: (off > 0.5).astype(float),
    lambda off: np.sin(2.5 * off),
)


def following(points: np.ndarray, goal: int, bent: bool = False) -> np.ndarray:
    """A reference population in which one number follows the others: half of what orders it is a sum of them.

    How columns of reference populations go together is an accident of how their axes lie; of two columns, or six, the
    others said next to nothing of the last, so that nothing could be learnt and the mean of everyone seemed best.

    `points`: float64 (n, dimensions), of any population; the goal keeps its values. `goal`: which coordinate follows.
    `bent`: Whether what columns say of it bends (`BENDS`).
    """
    points, random = points.copy(), np.random.default_rng(1)  # a public seed: nothing here is of anybody
    others = np.delete(points, goal, axis=1)
    others = (others - others.mean(axis=0)) / np.maximum(others.std(axis=0), LEAST_SPREAD)
    for place in range(others.shape[1]) if bent else ():
        if len(np.unique(others[:, place])) > 2:
            said = BENDS[place % len(BENDS)](others[:, place])
            others[:, place] = (said - said.mean()) / max(float(said.std()), LEAST_SPREAD)
    sums = others @ random.normal(size=others.shape[1])
    order = math.sqrt(LEARNABLE) * sums / sums.std() + math.sqrt(1.0 - LEARNABLE) * random.normal(size=len(points))
    points[np.argsort(order), goal] = np.sort(points[:, goal])
    return points


def tied_together(points: np.ndarray, goal: int) -> np.ndarray:
    """A reference population whose numbers follow one thing, and tell of another by how little they differ.

    Each coordinate keeps its values, and has them in the order of u, of which all are, with a fifth of v with one
    sign or the other, and a little of its own; the goal has those of v. So whoever learns it has to tell columns apart
    that are correlated by more than .9, as measurements of one machine, or sizes of one thing, are.

    `points`: float64 (n, dimensions), of any population; coordinates of two values stay. `goal`: which coordinate is v.
    """
    points, random, sign = points.copy(), np.random.default_rng(0), 1.0  # a public seed: nothing here is of anybody
    both, told = random.normal(size=(2, len(points)))
    for place in range(points.shape[1]):
        if len(np.unique(points[:, place])) > 2:
            own = random.normal(size=len(points))
            order = told + 0.1 * own if place == goal else both + 0.2 * sign * told + 0.04 * own
            points[np.argsort(order), place] = np.sort(points[:, place])
            sign = -sign
    return points
