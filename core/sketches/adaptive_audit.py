"""Auditing a mechanism that chooses before it measures: the choices and the tables together, end to end.

What comes out has no fixed shape, so every run is turned into what speaks for one data set or the other: how much
likelier its choices were in earlier runs on that one, the likelihood ratio of its noisy table given the choices, both
together, and the number of records. Whatever is computed from an output alone is a fair attack.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..privacy.audit import AuditReport, audit
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours
from .adaptive import Adaptive, Outcome
from .linear import LinearSketch

CROWD = 60
"""Records that both data sets have, all in one place, so that the one that differs stands out."""
REMEMBERED = 256
"""Exact tables that are kept, of those sketches that were chosen lately."""
EARLIER_SHARE = 4
"""One run in so many is made beforehand, to learn which choices are likelier on which data set."""


def audit_adaptive(mechanism: Adaptive, budget: Budget, *, runs: int = 2_000, level: float = 0.95) -> AuditReport:
    """Attack everything that a mechanism gives away, its choices included.

    Parameters
    ----------
    mechanism : Adaptive
        Of a settled size.
    budget : Budget
        The promise.
    runs : int
        Runs on each of the two data sets.
    level : float
        Probability with which the bound holds.

    Raises
    ------
    RequestError
        When the mechanism cannot keep such a promise.
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
    """What was chosen, as a text."""
    return json.dumps(made.sketch.parameters(), sort_keys=True)
