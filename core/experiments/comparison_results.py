"""From trials to curves: error against epsilon, with a band over repetitions, and what tuning would have cost.

A method has two curves. One takes the size that public facts choose, which costs nothing. The other takes the best of
all sizes that were tried, as papers do: chosen by its mean error on draws of its own, so that nothing is reported twice
over, but chosen by the truth all the same. Whoever tunes so on private data pays for every try.

A trial is plain numbers, which figures and pages may use without reaching any data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

MEASURES = ("relative_error", "upper_error", "l2_error")  # The errors that a trial has, by the names of its attributes.


@dataclass(frozen=True)
class Trial:
    """One release of one method, asked the held-out queries, beside the exact sums."""

    method: str
    size: int | None  # Its setting; None where public facts chose.
    epsilon: float
    delta: float
    repetition: int  # Counts draws of hashes and noise.
    # Whether it only served to choose a size. Those that are reported are other draws, as the best of several noisy
    # figures looks better than it is.
    tuning: bool
    relative_error: float  # Mean over the queries of |answer - exact| / exact.
    upper_error: float  # The 95th percentile of the same.
    # In one dimension, the L2 norm of released less exact function over that of the exact one; else None.
    l2_error: float | None
    # From the records to the noisy table, public random numbers and noise included; not the choice of the size, which
    # needs no records.
    seconds_build: float
    seconds_noise: float  # The part of it from the exact to the noisy table; 0 where a mechanism looks more than once.
    seconds_query: float  # For one question, when all are asked at once and nothing has been asked before.
    file_bytes: int


BAND = (10.0, 90.0)  # Percentiles over repetitions.


@dataclass(frozen=True)
class ErrorCurve:
    """The error of one method for several epsilons; tuples of one value an epsilon, ascending."""

    method: str  # Its key.
    measure: str
    tuned: bool  # Whether the size is the best that was tried, or what public facts chose.
    epsilons: tuple[float, ...]
    centres: tuple[float, ...]
    # The 10th and 90th percentile over repetitions.
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    sizes: tuple[int | None, ...]  # Which were used; None where public facts chose.
    tried: tuple[int, ...]  # How many settings were tried at each epsilon; 1 where nothing was tuned.
    releases: tuple[int, ...]  # How many each centre is the mean of.

    @property
    def paid(self) -> tuple[float, ...]:
        """What each point would cost on private data: epsilon for every setting that was tried, and for the release."""
        return tuple(
            epsilon * (tried + 1) if self.tuned else epsilon
            for epsilon, tried in zip(self.epsilons, self.tried, strict=True)
        )


def curves(trials: Iterable[Trial], measure: str = "relative_error") -> list[ErrorCurve]:
    """The untuned and the tuned curve of every method that has trials for one, in the order of the first trial.

    All trials have one delta and one data set. Those without the measure are passed over.
    """
    by_method: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if getattr(trial, measure) is not None:
            by_method[trial.method].append(trial)
    drawn = (_curve(method, own, measure, tuned) for method, own in by_method.items() for tuned in (False, True))
    return [curve for curve in drawn if curve is not None]


def best_sizes(trials: Iterable[Trial], measure: str = "relative_error") -> dict[tuple[str, float], int | None]:
    """The size of the least mean error over tuning trials, by method and epsilon; of equal ones the first tried."""
    errors: dict[tuple[str, float], dict[int | None, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        if trial.tuning and getattr(trial, measure) is not None:
            errors[trial.method, trial.epsilon][trial.size].append(getattr(trial, measure))
    return {key: min(sizes, key=lambda size: np.mean(sizes[size])) for key, sizes in errors.items()}


def _curve(method: str, trials: Sequence[Trial], measure: str, tuned: bool) -> ErrorCurve | None:
    best = best_sizes(trials, measure)
    points = []
    for epsilon in sorted({trial.epsilon for trial in trials}):
        if tuned and (method, epsilon) not in best:
            continue
        size = best[method, epsilon] if tuned else None
        errors = [getattr(one, measure) for one in trials if _is_reported(one, epsilon, size)]
        if errors:
            tried = len({one.size for one in trials if one.tuning and one.epsilon == epsilon}) if tuned else 1
            band = np.percentile(errors, BAND).tolist()
            points.append((epsilon, float(np.mean(errors)), *band, size, tried, len(errors)))
    if not points:
        return None
    return ErrorCurve(method, measure, tuned, *zip(*points, strict=True))


def _is_reported(trial: Trial, epsilon: float, size: int | None) -> bool:
    return not trial.tuning and trial.epsilon == epsilon and trial.size == size
