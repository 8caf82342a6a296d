"""How well a method will predict, tried out on reference populations: public points of ordinary shapes.

Nobody may look at the private records to see which method suits them. Each method is trained, with its real noise but a
seeded source, on two thirds of the points of every shape and asked about the rest. Points stand for more records than
there are of them: noise that is shorter by as much is to them what the real one is to all (`Method.rehearsed`). What
comes out is no forecast of how predictable a column is, which only the records know; it is how much of what could be
had a promise leaves, method by method, beside the most common answer and beside hardly any noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..domain import Domain
from ..privacy.budget import Budget
from ..privacy.noise.randomness import SeededSource
from ..releases.forecast.reference_population import REFERENCE_POINTS, reference_populations
from .descent import Descent, NoisyDescent
from .least_squares import FromProducts
from .method import Method, NumberMethod
from .number_descent import NumberDescent
from .objective_perturbation import PureLogistic
from .training_task import Task

TRAINED_ON = 2 * REFERENCE_POINTS // 3
USUAL_RECORDS = 10_000
"""Records that are reckoned with where nobody says how many there are."""
MOST_WORK = 5 * 10**6
"""Squared coordinates times classes, beyond which methods that solve systems of equations are not tried out."""
PLENTY = Budget(10, "1e-6"), 1_000_000
"""A promise and a number of records under which noise hardly matters."""


@dataclass(frozen=True)
class Rehearsal:
    """How much a method got right.

    Attributes
    ----------
    right : float
        Share of the points, or of the variance of a number that was explained: mean over the shapes.
    by_shape : tuple[float, ...]
        For each shape of `reference_populations`.
    """

    right: float
    by_shape: tuple[float, ...]


@lru_cache(maxsize=256)
def rehearse_training(method: Method | NumberMethod, budget: Budget, records: int = USUAL_RECORDS) -> Rehearsal | None:
    """Train a method on reference populations that stand for so many records; None where that would take too long.

    Parameters
    ----------
    method : Method | NumberMethod
        With all its parameters, which are public.
    budget : Budget
        The promise.
    records : int
        How many there are, from public knowledge.
    """
    size = method.features.dimensions + 1
    if not isinstance(method, Descent) and size**2 * method.rows > MOST_WORK:
        return None
    share, found = Fraction(TRAINED_ON, max(1, records)), []
    for place, points in enumerate(_populations(method.domain)):
        found.append(method.tried(points[:TRAINED_ON], points[TRAINED_ON:], budget, share, SeededSource(place)))
    return Rehearsal(float(np.mean(found)), tuple(found))


@lru_cache(maxsize=16)
def yardsticks(domain: Domain, label: str) -> tuple[float, float]:
    """Shares right on the reference populations of the most common answer, and of a model with hardly any noise.

    Where a number is predicted, shares of its variance that the mean explains, which is none, and such a model.
    """
    task, common = Task(domain, label), []
    if not task.categories:
        numbers = [rehearse_training(method(domain, label), *PLENTY) for method in (NumberDescent, FromProducts)]
        return 0.0, max(0.0, *(one.right for one in numbers if one is not None))
    for points in _populations(domain):
        codes = task.encoded(points, 1 << 10)[1]
        most = np.bincount(codes[:TRAINED_ON]).argmax()
        common.append(float(np.mean(codes[TRAINED_ON:] == most)))
    free = [rehearse_training(method(domain, label), *PLENTY) for method in (NoisyDescent, PureLogistic)]
    return float(np.mean(common)), max(float(np.mean(common)), *(one.right for one in free if one is not None))


@lru_cache(maxsize=4)
def _populations(domain: Domain) -> tuple[np.ndarray, ...]:
    return reference_populations(domain, "l2", None, None)
