"""What a comparison still has to try, and in which order: something to see of every method first, the rest later.

A step is tried once and remembered, so a control that moves asks only for what is new. Every method takes part in turn
with the quickest first, and one that has taken its share of time is not tried any further: its curve stays with fewer
repetitions, and the others do not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from ..comparison.curves import best_sizes
from ..comparison.outcome import Trial

REPETITIONS = 5
"""Draws of hashes and noise at each ε."""
TUNING = 2
"""Draws that every setting is tried on."""
MOST_SECONDS = 12.0
"""Of a method, together; it is left after the step that passes it."""


@dataclass(frozen=True)
class Step:
    """One thing to try.

    Attributes
    ----------
    method, epsilon, delta : which mechanism, and under which promise.
    size, repetition, tuning : as of a `core.comparison.outcome.Trial`.
    drawn : whether released functions are wanted, and not their error.
    """

    method: str
    epsilon: Decimal
    delta: Decimal
    size: int | None = None
    repetition: int = 0
    tuning: bool = False
    drawn: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a step.

    Attributes
    ----------
    value : a trial, or released functions, float64 (draws, places); None where there is a problem.
    problem : why there is none, in one sentence.
    seconds : how long it took.
    """

    value: Trial | np.ndarray | None
    problem: str | None
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What is to be seen; all of it public.

    Attributes
    ----------
    methods : keys, with the sizes worth trying of each.
    epsilons : increasing, not empty.
    delta : 0 or the slack.
    shown_at : the ε at which functions are drawn; None where none are.
    measured : whether errors are measured, which is worth repeating, or forecast, which is not.
    """

    methods: Mapping[str, tuple[int | None, ...]]
    epsilons: tuple[Decimal, ...]
    delta: Decimal
    shown_at: Decimal | None
    measured: bool = True

    @property
    def coarse(self) -> tuple[Decimal, ...]:
        """Both ends and the middle: enough for a first curve, and for tuning."""
        return tuple(dict.fromkeys((self.epsilons[0], self.epsilons[len(self.epsilons) // 2], self.epsilons[-1])))

    def next_step(self, known: Mapping[Step, Outcome]) -> Step | None:
        """What to try next; None when everything was tried that is worth it."""
        spent = {method: 0.0 for method in self.methods}
        failed = set()
        for step, outcome in known.items():
            if step.method in spent and step.delta == self.delta:
                spent[step.method] += outcome.seconds
                if outcome.problem is not None and step == Step(step.method, step.epsilon, step.delta):
                    failed.add(step.method)
        going = [key for key in self.methods if key not in failed and spent[key] < MOST_SECONDS]
        going.sort(key=spent.__getitem__)
        return next((step for step in self._steps(going, known) if step not in known), None)

    def progress(self, known: Mapping[Step, Outcome]) -> float:
        """The share of the steps that were tried; the best sizes are left out, as only tuning can tell them."""
        steps = set(self._steps(list(self.methods), {}))
        return sum(step in known for step in steps) / max(1, len(steps))

    def _steps(self, methods: list[str], known: Mapping[Step, Outcome]) -> Iterator[Step]:
        """All steps in their order."""
        first = [Step(key, epsilon, self.delta) for epsilon in self.coarse for key in methods]
        yield from first
        if not self.measured:
            yield from (Step(key, epsilon, self.delta) for epsilon in self.epsilons for key in methods)
            return
        if self.shown_at is not None:
            yield from (Step(key, self.shown_at, self.delta, drawn=True) for key in methods)
        for repetition in range(REPETITIONS):
            for epsilon in self.epsilons:
                yield from (Step(key, epsilon, self.delta, repetition=repetition) for key in methods)
        tried = [step for key in methods for step in self._tuning(key)]
        yield from tried
        best = best_sizes(known[step].value for step in tried if step in known and known[step].problem is None)
        for repetition in range(REPETITIONS):
            for step in first:
                size = best.get((step.method, float(step.epsilon)))
                yield replace(step, size=size, repetition=repetition)

    def _tuning(self, method: str) -> Iterator[Step]:
        sizes = self.methods[method]
        for epsilon in self.coarse if len(sizes) > 1 else ():
            for size in sizes:
                for repetition in range(TUNING):
                    yield Step(method, epsilon, self.delta, size, repetition, tuning=True)
