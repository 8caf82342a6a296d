"""Everything that an exact audit goes through, by the names that people type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import RequestError
from ..privacy.budget import Budget
from . import local_trials, training_trials
from .door_trials import Main, doors
from .purchase_trials import purchases
from .trials import Trial, mechanisms


def everything(budget: Budget, main: Main | None = None) -> Iterator[Trial]:
    """Every mechanism, purchase, door, trainer and local report, under one promise.

    Parameters
    ----------
    budget : Budget
        The promise; local reports have its ε, as nobody else's coins are trusted with a δ.
    main : Main | None
        The command line, to be audited as a door; left out when None.
    """
    yield from mechanisms([budget])
    yield from purchases([budget])
    yield from doors(main, [budget])
    yield from training_trials.trainings([budget])
    yield from local_trials.reports([str(budget.epsilon)])


def of_trainer(method: str, budget: Budget) -> list[Trial]:
    """The trainings by one method; RequestError where there is none, or none that can keep the promise."""
    found = list(training_trials.trainings([budget]))
    return _named("chosen" if method == "choose" else method, found, "method of training")


def of_local(name: str, budget: Budget) -> list[Trial]:
    """The reports of one oracle, sketch or search; RequestError where there is none."""
    return _named(name, list(local_trials.reports([str(budget.epsilon)])), "kind of local report")


def _named(name: str, found: Sequence[Trial], what: str) -> list[Trial]:
    words = [trial.name.replace(",", " ").split()[0] for trial in found]
    kept = [trial for trial, word in zip(found, words, strict=True) if word == name]
    if not kept:
        raise RequestError(
            f"There is no {what} {name!r} that keeps such a promise; there are: {', '.join(dict.fromkeys(words))}."
        )
    return kept
