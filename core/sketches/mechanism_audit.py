"""Auditing a linear sketch: the noise that a budget asks for, on a pair of neighbours as far apart as can be found.

Auditing a mechanism that chooses before it measures: the choices and the tables together, end to end.

What comes out has no fixed shape, so every run is turned into what speaks for one data set or the other: how much
likelier its choices were in earlier runs on that one, the likelihood ratio of its noisy table given the choices, both
together, and the number of records. Whatever is computed from an output alone is a fair attack.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pandas as pd
import pyarrow as pa

from ..domain.item_sets import Sets
from ..privacy.attacks import BATCH, AuditReport, audit
from ..privacy.budget import Budget, Neighbours
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from .adaptive import Adaptive, Outcome
from .linear import LinearSketch
from .parts import Encodings
from .plan import plan_parts

# Records that are tried as the one that differs: both corners of the domain, and points drawn from it.
RECORDS_TRIED = 10


def audit_sketch(sketch: LinearSketch, budget: Budget, *, runs: int = 20_000, level: float = 0.95) -> AuditReport:
    """Attack the noisy table of a sketch, from the encoding of the records to the noise.

    The time is that of drawing 2 · `runs` noisy tables. An attack sees the whole loss on tables of a few rows only: the
    more rows share it, the less likely it is that all of them show it at once. RequestError when the sketch cannot keep
    such a promise. `runs`: runs on each of the two data sets. `level`: probability with which the bound holds.
    """
    if sketch.parts:
        return _audit_parts(sketch, budget, runs, level)
    sketch.check_budget(budget)
    scale = sketch.counter_noise(budget)
    # Gaussian noise hides a difference by its Euclidean length, as if the table were one vector.
    whole = math.prod(sketch.shape) if scale.distribution == "discrete_gaussian" else None
    tables = worst_neighbours(sketch, budget.neighbours, scale.block or whole)
    runs_a_call = max(1, min(runs, BATCH // max(tables[0].size, 1)))

    def mechanism(table: np.ndarray) -> np.ndarray:
        return add_noise(np.broadcast_to(table, (runs_a_call, *table.shape)), scale)

    return audit(
        mechanism,
        *tables,
        Fraction(budget.epsilon),
        Fraction(budget.delta),
        exact=lambda table: table,
        runs=runs,
        runs_a_call=runs_a_call,
        level=level,
        block=scale.block,
    )


def _audit_parts(sketch: LinearSketch, budget: Budget, runs: int, level: float) -> AuditReport:
    """Attack the tables of all parts at once, each with its own noise.

    Every part is measured in deviations of its noise, so that one attack weighs them as their likelihoods do.
    """
    planned = plan_parts(sketch, budget)
    scales = np.concatenate(
        [
            np.full(part.size, math.sqrt(noise.variance))
            for part, noise in zip(sketch.split(sketch.zeros()), planned.noises, strict=True)
        ]
    )
    gaussian = all(noise.distribution == "discrete_gaussian" for noise in planned.noises)
    block = len(scales) if gaussian else None
    tables = worst_neighbours(sketch, budget.neighbours, block, scales)
    runs_a_call = max(1, min(runs, BATCH // max(tables[0].size, 1)))

    def mechanism(table: np.ndarray) -> np.ndarray:
        noisy = [
            add_noise(np.broadcast_to(part, (runs_a_call, *part.shape)), noise).reshape(runs_a_call, -1)
            for part, noise in zip(sketch.split(table), planned.noises, strict=True)
        ]
        return np.concatenate(noisy, axis=1) / scales

    return audit(
        mechanism,
        *tables,
        Fraction(budget.epsilon),
        Fraction(budget.delta),
        exact=lambda table: table / scales,
        runs=runs,
        runs_a_call=runs_a_call,
        level=level,
        block=block,
    )


def worst_neighbours(
    sketch: LinearSketch, neighbours: Neighbours, block: int | None = None, scales: np.ndarray | float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact tables of two neighbouring data sets, int64, as far apart as a few trials find.

    Far is meant in L1, or where `block` is given by the sum of the L2 norms of vectors of so many counters; where there
    are several scales, each counter is measured by its own. Both hold the records that were tried. One person with as
    many equal records as the privacy unit allows comes on top in one of them (add or remove), or moves from one record
    to another (replace).
    """
    points = _encoded(sketch, records_tried(sketch))
    once = sketch.zeros()
    sketch.add(once, points)
    people = _people(sketch, points)
    person, other = _farthest(sketch, people, neighbours, block, scales)
    return once + people[person], once + (sketch.zeros() if other is None else people[other])


def worst_records(
    sketch: LinearSketch, neighbours: Neighbours, noises: Sequence[NoiseScale]
) -> tuple[pd.DataFrame, int, int | None]:
    """The records that are tried, in natural units, and those among them that somebody would best have.

    `neighbours`: None for the second record where it is hidden whether somebody is there. `noises`: of its tables, in
    deviations of which differences are measured.
    """
    tried = records_tried(sketch)
    parts = zip(sketch.split(sketch.zeros()), noises, strict=False)
    scales = np.concatenate([np.full(part.size, math.sqrt(noise.variance)) for part, noise in parts])
    gaussian = all(noise.distribution == "discrete_gaussian" for noise in noises)
    block = len(scales) if gaussian else noises[0].block if len(noises) == 1 else None
    people = [table.reshape(-1) for table in _people(sketch, _encoded(sketch, tried))]
    return tried, *_farthest(sketch, people, neighbours, block, scales)


def _people(sketch: LinearSketch, points: np.ndarray | Sets | Encodings) -> list[np.ndarray]:
    """The table of each record, had by somebody as often as the privacy unit allows."""
    people = []
    for place in range(len(points)):
        table = sketch.zeros()
        equal = points[np.full(sketch.domain.unit.records, place)]
        sketch.add(table, equal if isinstance(equal, (Sets, Encodings)) else np.asfortranarray(equal))
        people.append(table)
    return people


def _farthest(
    sketch: LinearSketch,
    people: Sequence[np.ndarray],
    neighbours: Neighbours,
    block: int | None,
    scales: np.ndarray | float,
) -> tuple[int, int | None]:
    """Places of two people whose tables are farthest apart; of one, where the other is nobody."""
    others: Sequence[int | None] = [None] if neighbours is Neighbours.ADD_REMOVE else range(len(people))
    pairs = [(person, other) for person in range(len(people)) for other in others]

    def distance(pair: tuple[int, int | None]) -> float:
        person, other = pair
        return _distance((people[person] - (0 if other is None else people[other])) / scales, block)

    return max(pairs, key=distance)


def _distance(difference: np.ndarray, block: int | None) -> float:
    """L1 norm of a difference of tables, or the sum of its blocks' L2 norms."""
    return float(np.linalg.norm(difference.reshape(-1, block or 1), axis=1).sum())


def records_tried(sketch: LinearSketch) -> pd.DataFrame:
    """Records in natural units: both corners of the domain, and points drawn from it, so that a category is listed.

    Sets where the domain holds sets: of one item up to many, some of which share items.
    """
    if sketch.domain.holds_sets:
        sets = [list(range(place % 2, place**4 + 1)) for place in range(RECORDS_TRIED)]
        return pd.DataFrame({sketch.domain.names[0]: sets})
    low, high = sketch.domain.bounds(sketch.metric)
    inside = np.random.default_rng(0).uniform(low, high, (RECORDS_TRIED - 2, len(low)))
    return sketch.domain.decode_points(np.vstack((low, high, inside)), sketch.metric, inside=True)


def _encoded(sketch: LinearSketch, natural: pd.DataFrame) -> np.ndarray | Sets | Encodings:
    """As records are encoded: float64 (n, d) in Fortran order, sets, or those of all parts."""
    if sketch.domain.holds_sets:
        return Sets.of(natural[sketch.domain.names[0]])
    if sketch.parts:
        encodings: Encodings = sketch.encode(pa.RecordBatch.from_pandas(natural))  # type: ignore[assignment]
        return encodings
    low, high = sketch.domain.bounds(sketch.metric)
    return np.asfortranarray(np.clip(sketch.domain.encode_queries(natural, sketch.metric), low, high))


CROWD = 60  # Records that both data sets have, all in one place, so that the one that differs stands out.
REMEMBERED = 256  # Exact tables that are kept, of those sketches that were chosen lately.
EARLIER_SHARE = 4  # One run in so many is made beforehand, to learn which choices are likelier on which data set.


def audit_adaptive(mechanism: Adaptive, budget: Budget, *, runs: int = 2_000, level: float = 0.95) -> AuditReport:
    """Attack everything that a mechanism gives away, its choices included.

    RequestError when the mechanism cannot keep such a promise. `mechanism`: of a settled size. `runs`: runs on each of
    the two data sets. `level`: probability with which the bound holds.
    """
    plan = mechanism.plan(budget)
    data, neighbour = (np.asfortranarray(points) for points in _neighbours(mechanism, budget.neighbours))
    tables = {True: _reader(data), False: _reader(neighbour)}

    def run(side: bool) -> Outcome:
        return mechanism.run(lambda sketch: tables[side](sketch).copy(), plan)

    counts = {side: Counter(_choices(run(side)) for _ in range(runs // EARLIER_SHARE)) for side in tables}
    likelier = {
        chosen: np.log((counts[True][chosen] + 1) / (counts[False][chosen] + 1))
        for chosen in {*counts[True], *counts[False]}
    }

    def spoken(side: bool) -> np.ndarray:
        made = run(side)
        far, near = (np.abs(made.table - tables[other](made.sketch)).astype(float) for other in (False, True))
        # Laplace's likelihood ratio given the choices, and that of Gaussian noise.
        laplace = float((far - near).sum()) * (2.0 / made.noise.variance) ** 0.5
        gauss = float((far**2 - near**2).sum()) / (2.0 * made.noise.variance)
        chosen = likelier.get(_choices(made), 0.0)
        count = 0.0 if made.count is None else float(made.count)
        return np.array([chosen, laplace, gauss, chosen + laplace, chosen + gauss, count])

    return audit(
        spoken,
        True,
        False,
        Fraction(budget.epsilon),
        Fraction(budget.delta),
        exact=lambda side: np.ones(6) if side else -np.ones(6),
        runs=runs,
        level=level,
    )


def _neighbours(mechanism: Adaptive, relation: Neighbours) -> tuple[np.ndarray, np.ndarray]:
    """A crowd in one corner with one person in the other, and the crowd alone or with that person among them."""
    domain, metric = mechanism.domain, mechanism.metric
    low, high = domain.bounds(metric)
    corners = domain.decode_points(np.vstack((low, high)), metric)
    here, there = np.clip(domain.encode_queries(corners, metric), low, high)
    owned = domain.unit.records
    crowd = np.tile(here, (CROWD, 1))
    more = owned if relation is Neighbours.REPLACE_ONE else 0
    return np.vstack([crowd, np.tile(there, (owned, 1))]), np.vstack([crowd, np.tile(here, (more, 1))])


def _reader(points: np.ndarray) -> Callable[[LinearSketch], np.ndarray]:
    """Exact tables of the points, of sketches that come again filled once."""

    @lru_cache(maxsize=REMEMBERED)
    def read(sketch: LinearSketch) -> np.ndarray:
        table = sketch.zeros()
        sketch.add(table, points)
        return table

    return read


def _choices(made: Outcome) -> str:
    return json.dumps(made.sketch.parameters(), sort_keys=True)
