"""Where everyone is least far away: medians and means from released sums of distances, and several private medians.

A sum of distances is least at a median (L1: the median of every column; straight lines: the geometric median) or at the
mean (squares). What a release knows decides what else can be told:

* A release of L1 distances knows the distribution of every column by itself, as the slope of the sum counts the records
  below. With one column, k medians are found exactly; with several, the columns are known one by one and not together,
  and k medians of all of them are not in the file.
* A release of straight-line distances or of squares has one centre.
* A release of closeness has medians of a synthetic population that explains it (`sampling`).

How far noise may have moved a centre is seen by adding noise of the same law once more, several times, and looking how
far the centre moves (parametric bootstrap).


"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.special import ndtri

from ..domain import Categorical, Domain, Numeric
from ..errors import RequestError
from ..privacy.noise.randomness import SeededSource
from ..releases.release import Release
from ..runtime.parameters import check_integer
from ..sketches.answers import check_level
from ..sketches.distance import Distance
from ..sketches.moments import Moments
from .answerable import Box, check_one_population
from .medians import HALVINGS, least_place, masses_on_a_line, medians_in_space, medians_on_a_line
from .sampling import sample
from .uncertainty import like_noise

MOST_CENTRES = 20
PLACES = 1025  # Places along a coordinate where a sum is read first, and between two of which it is read again.
BETWEEN = 65
LINE_PLACES = 513  # Places between which k medians are chosen.
REPEATS, FEWEST_REPEATS = 24, 8  # Times that noise is added once more, in few dimensions and in many.
REPEATED_COORDINATES = 300  # Coordinates whose centres are found again in all.
SEED = 3  # Public seed of the noise that is added once more, to see how far a centre may have moved.
SYNTHETIC = 10_000


@dataclass(frozen=True)
class Centre:
    """A place that everyone, or everyone of a group, is least far away from."""

    position: dict[str, object]  # A value by column, in natural units.
    # By column of numbers, an interval for where the centre would be without noise; empty when it is unknown, as for
    # synthetic populations.
    low: dict[str, float]
    high: dict[str, float]
    share: float  # Of all records, those that are nearest to this centre.
    mean: float  # Average distance of these records from it: of the release's own kind, L1 for a release of closeness.
    # Interval for the average at this place; NaN when unknown.
    mean_low: float
    mean_high: float


def find_centres(release: Release, count: int = 1, level: float = 0.95, seed: int = 0) -> tuple[Centre, ...]:
    """The centre of a release, or k of them.

    `count`: k; more than one for L1 distances of one column, and for closeness. `level`: Probability with which each
    interval holds what it is for.
    """
    check_one_population(release)
    check_integer(count, "The number of centres", 1, MOST_CENTRES)
    check_level(level)
    sketch = release.sketch
    if sketch.answers == "closeness":
        return _of_population(release, count, seed)
    if sketch.distance_norm in ("above", "below"):
        raise RequestError(
            "A distance to one side only has no centre, as it falls all the way to the bounds; release the norm l1."
        )
    if count > 1:
        if not sketch.by_column or sketch.distance_norm != "l1" or len(Box.of(sketch).numeric) != 1:
            raise RequestError(
                "Several centres can be read off L1 distances of one column of numbers alone: with more columns the "
                "release knows each by itself and not how they hang together, and other distances have one centre; "
                "release closeness instead, and take the medians of its synthetic population."
            )
        if sketch.domain.dimensions == 1:
            return _on_a_line(release, count, level)
        raise RequestError("Several centres need a release of one column of numbers and no categories.")
    return (_one(release, level),)


def nearest_place(release: Release) -> dict[str, object]:
    """The place that is nearest to everyone, a value by column: `find_centres` without its errors, which take long."""
    check_one_population(release)
    box = _box(release)
    place = _finder(release, box)(release, None)
    return box.decode(place[None, :]).to_dict("records")[0]


def described(release: Release, count: int = 1) -> str:
    """What the centres of a release are, and whom their intervals are for."""
    sketch = release.sketch
    if sketch.answers == "closeness":
        what = "medians" if count > 1 else "the median of every column"
        return (
            f"These are {what} of a synthetic population of {SYNTHETIC:,} records that explains the release; how far "
            "noise has moved them is not known."
        )
    return f"{_least_away(release, count)} Intervals hold for these records only, not for a population beyond them."


def _least_away(release: Release, count: int) -> str:
    """What the centres of a release of distances are."""
    sketch = release.sketch
    if count > 1:
        return "By the released distribution, these are the places with the least sum of distances to the nearest one."
    if sketch.distance_norm == "squared":
        return "This is the mean, where the sum of squared distances is least."
    if sketch.distance_norm == "l2":
        return "This is the geometric median, where the sum of straight-line distances is least."
    if sketch.distance_norm == "l1":
        return "This is the median of every column, where the sum of distances is least."
    return "This is where the sum of distances is least."


def _one(release: Release, level: float) -> Centre:
    box = _box(release)
    find = _finder(release, box)
    place = find(release, None)
    source = SeededSource(SEED)
    moved = []
    for _ in range(min(REPEATS, max(FEWEST_REPEATS, REPEATED_COORDINATES // len(place)))):
        again = replace(release, counters=release.counters + like_noise(release, source))
        moved.append(find(again, place))
    reach = ndtri(0.5 + level / 2.0) * np.sqrt(np.mean((np.array(moved) - place) ** 2, axis=0))
    answers = release.answer_points(np.asfortranarray(place[None, :]), level)
    number = release.records
    low, high = (_by_column(box, np.clip(place + side * reach, *box.bounds)) for side in (-1.0, 1.0))
    return Centre(
        box.decode(place[None, :]).to_dict("records")[0],
        low,
        high,
        1.0,
        float(answers.density[0]),
        float(answers.low[0]) / number,
        float(answers.high[0]) / number,
    )


def _box(release: Release) -> Box:
    """Where a centre may lie: a median is a value that somebody has, and a mean lies between the steps of a column."""
    box = Box.of(release.sketch)
    return box if release.sketch.distance_norm == "l1" else replace(box, domain=_between_steps(box.domain))


def _between_steps(domain: Domain) -> Domain:
    columns = (replace(one, step=0.0) if isinstance(one, Numeric) and not one.scale else one for one in domain.columns)
    return replace(domain, columns=tuple(columns))


def _finder(release: Release, box: Box) -> Callable[[Release, np.ndarray | None], np.ndarray]:
    """How to find the centre (d,) of a release like this one, from a place close to it where there is one."""
    sketch = release.sketch
    low, high = box.bounds
    if sketch.has_means:
        moments = cast(Moments, sketch)
        return lambda one, near: _rounded(box, moments.mean(one.counters, one.records))
    if sketch.by_column:
        return lambda one, near: _column_by_column(one, box)

    def descended(one: Release, near: np.ndarray | None) -> np.ndarray:
        def total(points: np.ndarray) -> np.ndarray:
            return one.estimates_at(points)

        if near is None:
            return _rounded(box, least_place(total, low, high, (low + high) / 2.0, one.records))
        return least_place(total, low, high, near, one.records, range(HALVINGS - 1, HALVINGS))

    return descended


def _column_by_column(release: Release, box: Box) -> np.ndarray:
    """The least place of a sum of distances that adds up over columns: the least of every column by itself."""
    sketch = cast(Distance, release.sketch)  # as it is `by_column`
    low, high = box.bounds
    place = (low + high) / 2.0
    ends = np.cumsum([block.rows for block in sketch.blocks])
    for block, end in zip(sketch.blocks, ends, strict=True):
        table = release.counters[end - block.rows : end]
        start, stop = block.place.start, block.place.stop
        if stop - start > 1 or start not in box.numeric:  # categories: one of them is raised
            choices = np.zeros((stop - start, len(place)))
            choices[:, block.place] = box.amplitude * np.eye(stop - start)
            place[block.place] = choices[block.read(table, choices)[0].argmin(), block.place]
            continue

        def along(values: np.ndarray, coordinate: int = start, block=block, table=table) -> np.ndarray:
            points = np.tile(place, (len(values), 1))
            points[:, coordinate] = values
            return block.read(table, points)[0]

        place[start] = _least_between(along, low[start], high[start])
    return place


def _least_between(along: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """Where a sum along one coordinate is least: on an even grid, and then between the neighbours of that place."""
    values = np.linspace(low, high, PLACES)
    at = int(along(values).argmin())
    values = np.linspace(values[max(at - 1, 0)], values[min(at + 1, PLACES - 1)], BETWEEN)
    return float(values[along(values).argmin()])


def _rounded(box: Box, place: np.ndarray) -> np.ndarray:
    """The place with categories that are none of them, as a mean has, moved to the nearest one."""
    point = np.array(place)[None, :]
    for block in box.blocks:
        box.raise_category(point, block, int(point[0, block].argmax()))
    return point[0]


def _by_column(box: Box, place: np.ndarray) -> dict[str, float]:
    """Numbers by column, in natural units; columns of categories are left out."""
    names = [name for name, column in box.columns.items() if not isinstance(column, Categorical)]
    frame = _natural(box.domain, place, box.metric)
    return {name: frame[name][0] for name in names}


def _natural(domain: Domain, place: np.ndarray, metric: str):
    return domain.decode_points(place[None, :], metric)


def _on_a_line(release: Release, count: int, level: float) -> tuple[Centre, ...]:
    """k medians of one column of numbers, from the distribution that its distance sums give."""
    box = Box.of(release.sketch)
    places = np.linspace(box.bounds[0][0], box.bounds[1][0], LINE_PLACES)

    def medians(one: Release) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sums = one.estimates_at(places[:, None])
        masses = masses_on_a_line(sums, places[1] - places[0], one.records)
        return *medians_on_a_line(places, masses, count), masses

    found, sizes, masses = medians(release)
    source = SeededSource(SEED)
    moved = [
        medians(replace(release, counters=release.counters + like_noise(release, source)))[0] for _ in range(REPEATS)
    ]
    reach = ndtri(0.5 + level / 2.0) * np.sqrt(np.mean((np.array(moved) - found) ** 2, axis=0))
    nearest = np.abs(places[:, None] - found).argmin(axis=1)
    name = release.domain.names[0]
    centres = []
    for k, place in enumerate(found):
        own = masses * (nearest == k)
        mean = float(own @ np.abs(places - place) / max(own.sum(), 1e-300))
        ends = (np.clip([place + side * reach[k]], *box.bounds) for side in (0, -1, 1))
        value, low, high = (_natural(box.domain, end, box.metric)[name][0] for end in ends)
        share = float(sizes[k] / release.records)
        centres.append(Centre({name: value}, {name: low}, {name: high}, share, mean, np.nan, np.nan))
    return tuple(centres)


def _of_population(release: Release, count: int, seed: int) -> tuple[Centre, ...]:
    """Medians of the synthetic population that explains a release of closeness."""
    box = Box.of(release.sketch)
    people = sample(release, SYNTHETIC, seed, sharpen=hasattr(release.sketch, "point_kernel")).points
    points = box.domain.encode_queries(people, box.metric)
    medians, groups = medians_in_space(points, count, np.random.default_rng(seed))
    medians = np.array([_rounded(box, median) for median in medians])
    positions = box.decode(medians).to_dict("records")
    centres = []
    for k, position in enumerate(positions):
        own = points[groups == k]
        mean = float(np.abs(own - medians[k]).sum(axis=1).mean()) if len(own) else np.nan
        centres.append(Centre(position, {}, {}, len(own) / len(points), mean, np.nan, np.nan))
    return tuple(centres)
