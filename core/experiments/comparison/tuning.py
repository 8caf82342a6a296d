"""The trials of one method that a pair of curves needs: tuning draws first, then others at the size that they chose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import RequestError
from ...privacy.budget import Budget
from .curves import best_sizes
from .methods import Method
from .outcome import Trial
from .public_data import PublicData
from .trial import run_trial


def tuned_trials(
    data: PublicData,
    method: Method,
    budget: Budget,
    repetitions: int,
    tuning: int = 3,
    sizes: Sequence[int | None] | None = None,
    measure: str = "relative_error",
) -> Iterator[Trial]:
    """Every trial of a method at one promise, as soon as it is there.

    Parameters
    ----------
    repetitions : int
        Reported draws: of the size that public facts choose, and of the best size.
    tuning : int
        Draws that each setting is tried on, none of them reported; 0 tunes nothing.
    sizes : Sequence[int | None] | None
        Settings to try; all of `Method.sizes` when None.

    Raises
    ------
    RequestError
        When the method cannot answer at any size. Single settings that cannot be made are passed over.
    """
    offered = method.sizes(data.domain, data.question, len(data.records)) if sizes is None else sizes
    tried: list[Trial] = []
    for size in offered if tuning and len(offered) > 1 else ():
        for repetition in range(tuning):
            try:
                tried.append(run_trial(data, method, size, budget, repetition, tuning=True))
            except RequestError:
                break
            yield tried[-1]
    best = best_sizes(tried, measure).get((method.key, float(budget.epsilon)))
    for size in dict.fromkeys((None, best)):
        for repetition in range(repetitions):
            yield run_trial(data, method, size, budget, repetition)
