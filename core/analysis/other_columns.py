"""The columns that a picture leaves out: answers are averaged over them, or they are held where records are densest.

The average of the answers over the box of the other columns is again a sum over records, so the independent estimates
that a release splits into (`uncertainty`) estimate it too. They are averaged over the other columns first, and only
then is their spread taken: the interval is that of the average, which varies less than a single answer does.

The average over all values of many columns is an average over places that are nearly all empty, so noise hides it where
the release itself knows much. A cut through the densest place shows what there is to see.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from ..domain import Vector
from ..errors import RequestError
from ..geometry.uniforms import PublicRandom, scrambled_sobol
from ..releases.release import Release
from ..sketches.answers import Answers
from .answerable import READS, Box, check_one_population, counters_read
from .modes import find_modes
from .uncertainty import Splitting

BATCH = 1 << 16  # Queries that are read at once.
MOST_PLACES = 1024
FEWEST_PLACES = 16
VARYING = 32  # Places on which it is seen how far an average varies from record to record.
PICTURE_SEED = 0  # Public seed of the averaging points: the same picture each time.


@dataclass(frozen=True)
class Averaged:
    """Columns that are averaged over, by equally weighted places."""

    names: tuple[str, ...]  # The columns.
    places: np.ndarray  # float64 (k, dimensions), encoded; only the coordinates of ``names`` are meant.


NOTHING = Averaged((), np.zeros((1, 0)))  # Nothing to average over: every column is either drawn or held.


def averaging(release: Release, names: tuple[str, ...], cells: int, reads: float = READS) -> Averaged:
    """Places to average over: few enough for the work allowed, spread evenly over the box of the named columns.

    Numbers follow a scrambled Sobol sequence. Categories are enumerated, each combination equally often, as long as
    there are fewer combinations than places; otherwise they follow the sequence too.
    """
    if not names:
        return NOTHING
    box = Box.of(release.sketch)
    affordable = reads / (counters_read(release, cells) * Splitting(release).readings)
    count = 1 << int(math.log2(min(max(affordable, FEWEST_PLACES), MOST_PLACES)))
    categorical = box.categorical_columns(names)
    sizes = [box.choices_of(box.places[name]) for name in categorical]
    combinations = math.prod(sizes)
    random = PublicRandom(PICTURE_SEED)
    if combinations > count:
        return Averaged(names, box.uniform(scrambled_sobol(count, box.uniforms_needed(names), random), names))
    numbers = len(box.numeric_coordinates(names))
    each = -(-count // combinations) if numbers else 1
    uniforms = scrambled_sobol(each, numbers, random) if numbers else np.empty((1, 0))
    codes = np.indices(sizes).reshape(len(sizes), combinations).T
    shares = (codes + 0.5) / np.array(sizes, dtype=np.float64)
    every = np.hstack([np.repeat(uniforms, combinations, axis=0), np.tile(shares, (each, 1))])
    return Averaged(names, box.uniform(every, names))


def averaged_answers(
    release: Release, drawn: Mapping[str, np.ndarray], held: Mapping[str, np.ndarray], averaged: Averaged, level: float
) -> Answers:
    """Answers at m combinations of values of the drawn columns.

    `drawn`: Encoded coordinates, (m, width) a column. `held`: Encoded coordinates (width,) of the columns held at one
    value. `level`: Probability with which an interval holds the exact sum, averaged over the same places.
    """
    check_one_population(release)
    splitting = Splitting(release)
    alone = len(averaged.places) == 1 and not splitting.grouped
    box = Box.of(release.sketch)
    cells = len(next(iter(drawn.values())))
    at_once = max(1, BATCH // cells)
    total, unseen = np.zeros((1, cells)), np.zeros(cells)
    for start in range(0, len(averaged.places), at_once):
        places = averaged.places[start : start + at_once]
        points = _placed(box, drawn, held, averaged.names, places)
        if alone:  # nothing to average, and the release knows the error of a single answer by itself
            return release.answer_points(points, level)
        estimates, weights = splitting.estimates(points)
        total = total + estimates.reshape(len(weights), len(places), cells).sum(axis=1)
        unseen += splitting.unseen_variance(points).reshape(len(places), cells).sum(axis=0)
    answers = Answers.of_groups(total / len(averaged.places), weights, release.records, level)
    answers = answers if splitting.grouped else _widened(answers, unseen / len(averaged.places), level)
    if release.population is None:
        return answers
    # In no order of theirs: every so many of a Sobol sequence lie beside each other.
    some = np.random.default_rng(PICTURE_SEED).permutation(averaged.places)[:VARYING]
    ratio = release.population.ratio(release, _placed(box, drawn, held, averaged.names, some), len(some))
    return answers.of_population(release.population.luck, release.records, ratio, level)


def _placed(
    box: Box,
    drawn: Mapping[str, np.ndarray],
    held: Mapping[str, np.ndarray],
    names: tuple[str, ...],
    places: np.ndarray,
) -> np.ndarray:
    """All combinations of drawn values at each of the places, one place after the other, float64 (m k, dimensions)."""
    cells = len(next(iter(drawn.values())))
    points = np.empty((cells * len(places), box.domain.dimensions), order="F")
    for name, coordinates in drawn.items():
        points[:, box.places[name]] = np.tile(coordinates, (len(places), 1))
    for name, coordinates in held.items():
        points[:, box.places[name]] = coordinates
    for name in names:
        points[:, box.places[name]] = np.repeat(places[:, box.places[name]], cells, axis=0)
    return points


def _widened(answers: Answers, variance: np.ndarray, level: float) -> Answers:
    """Answers whose errors have a further variance, (n,), that may be common to all places averaged over."""
    error = np.hypot(answers.standard_error, np.sqrt(variance))
    reach = stdtrit(answers.degrees, 0.5 + level / 2.0) * error
    return replace(answers, low=answers.estimate - reach, high=answers.estimate + reach, standard_error=error)


MOST_AVERAGED = 3  # Columns up to which a picture averages over those that it does not show.
STARTS = 24  # Places to search from: the highest hill is wanted, and it has the widest foot.


def densest_place(release: Release) -> dict[str, object]:
    """A value by column, where there are more columns than a picture averages over and a mode stands out from noise.

    Returns values in natural units; empty where a picture should average, or nothing stands out.
    """
    columns = release.sketch.query_domain.columns
    if release.sketch.answers != "closeness" or len(columns) <= MOST_AVERAGED:
        return {}
    if any(isinstance(column, Vector) for column in columns):
        return {}
    try:
        found = find_modes(release, 1, STARTS)
    except RequestError:  # too few groups of rows to tell a mode from noise
        return {}
    return dict(found[0].position) if found and found[0].significant else {}
