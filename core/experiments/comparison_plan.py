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

from .comparison_results import MEASURES, Trial, best_sizes

REPETITIONS, AT_FIRST = 5, 3  # Draws of hashes and noise at each ε: all of them, and those before any setting is tuned.
TUNING = 2  # Draws that every setting is tried on.
MOST_SECONDS = 25.0  # Seconds of one core that all steps of a method may take; it is left after the step that passes it
MOST_DRAWING = 16.0  # Seconds that a method may need for all answers of one picture.


@dataclass(frozen=True)
class Step:
    """One thing to try."""

    # Which mechanism, and under which promise.
    method: str
    epsilon: Decimal
    delta: Decimal
    # As of a `core.experiments.comparison_results.Trial`.
    size: int | None = None
    repetition: int = 0
    tuning: bool = False
    drawn: bool = False  # Whether released functions are wanted, and not their error.
    sizing: bool = False  # Whether the sizes that are worth trying are wanted, and no release.
    # Whether it is asked which of Frostglass's own mechanisms is recommended; of no method then.
    advising: bool = False


@dataclass(frozen=True)
class Advice:
    """What `core.forecast.recommendation.recommend` puts first: the key of a method, and why, in a sentence."""

    method: str
    reason: str


Value = Trial | np.ndarray | tuple[int | None, ...] | Advice  # What a step gives.


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    # A trial; released functions, float64 (draws, places); sizes; or advice. None where there is a problem.
    value: Value | None
    problem: str | None  # Why there is none, in one sentence.
    seconds: float  # Of processor time that it took.


@dataclass(frozen=True)
class Plan:
    """What is to be seen; all of it public."""

    methods: tuple[str, ...]
    epsilons: tuple[Decimal, ...]  # Increasing, not empty.
    delta: Decimal
    measured: bool  # Whether errors are measured, which is worth repeating, or forecast, which is not.
    shown_at: Decimal | None = None  # The ε at which functions are drawn; None where none are.
    places: int = 0  # Answers that a picture of a function needs.
    # Whether somebody asked for errors to be measured; otherwise only functions are drawn, and advice is given, beside
    # the errors that are known.
    asked: bool = True

    @property
    def coarse(self) -> tuple[Decimal, ...]:
        """The middle and both ends: enough for a first curve, and for tuning."""
        return tuple(dict.fromkeys((self.epsilons[len(self.epsilons) // 2], self.epsilons[0], self.epsilons[-1])))

    def next_step(self, known: Mapping[Step, Outcome]) -> Step | None:
        """What to try next; None when everything was tried that is worth it."""
        spent = self._spent(known)
        failed = {
            step.method
            for step, outcome in known.items()
            if outcome.problem is not None and step == Step(step.method, step.epsilon, self.delta)
        }
        able = sorted((key for key in self.methods if key not in failed), key=spent.__getitem__)
        return next(
            (
                step
                for step in self._steps(able, known)
                if step not in known and (step.drawn or step.advising or spent[step.method] < MOST_SECONDS)
            ),
            None,
        )

    def slow(self, known: Mapping[Step, Outcome]) -> set[str]:
        """Methods that have taken their share of time."""
        return {method for method, seconds in self._spent(known).items() if seconds >= MOST_SECONDS}

    def undrawn(self, known: Mapping[Step, Outcome]) -> set[str]:
        """Methods that answer too slowly for a picture of as many places."""
        return {
            step.method
            for step, outcome in known.items()
            if isinstance(outcome.value, Trial) and outcome.value.seconds_query * self.places > MOST_DRAWING
        }

    def _spent(self, known: Mapping[Step, Outcome]) -> dict[str, float]:
        """Seconds that each method has taken under such promises for anything but pictures."""
        spent = dict.fromkeys(self.methods, 0.0)
        for step, outcome in known.items():
            if step.method in spent and step.delta == self.delta and not step.drawn:
                spent[step.method] += outcome.seconds
        return spent

    def progress(self, known: Mapping[Step, Outcome]) -> float:
        """The share of the steps that were tried; the best sizes are left out, as only tuning can tell them."""
        steps = set(self._steps(list(self.methods), {} if self.asked else known))
        return sum(step in known for step in steps) / max(1, len(steps))

    def seconds_left(self, known: Mapping[Step, Outcome]) -> float:
        """Of one core, at most, until every error is measured that is worth it; 0 when nothing is left to measure."""
        if replace(self, shown_at=None, asked=True).next_step(known) is None:
            return 0.0
        return sum(max(0.0, MOST_SECONDS - seconds) for seconds in self._spent(known).values())

    def _steps(self, methods: list[str], known: Mapping[Step, Outcome]) -> Iterator[Step]:
        """All steps in their order."""
        if not self.asked:
            yield from self._beside(methods, known)
            return
        first = [Step(key, epsilon, self.delta) for epsilon in self.coarse for key in methods]
        yield from first
        if not self.measured:
            yield self.advising
            yield from (Step(key, epsilon, self.delta) for epsilon in self.epsilons for key in methods)
            return
        yield from self._drawings(methods, known)
        yield self.advising
        every = [Step(key, epsilon, self.delta) for epsilon in self.epsilons for key in methods]
        for repetition in range(AT_FIRST):
            yield from (replace(step, repetition=repetition) for step in every)
        yield from map(self.sizing, methods)
        for step in first:
            yield from self._tuning(step, known)
        for repetition in range(AT_FIRST, REPETITIONS):
            yield from (replace(step, repetition=repetition) for step in every)

    def _drawings(self, methods: list[str], known: Mapping[Step, Outcome]) -> Iterator[Step]:
        if self.shown_at is not None:
            undrawn = self.undrawn(known)
            yield from (self.drawing(key) for key in methods if key not in undrawn)

    def _beside(self, methods: list[str], known: Mapping[Step, Outcome]) -> Iterator[Step]:
        """Pictures and advice for the methods whose errors are known."""
        measured = {
            step.method
            for step, outcome in known.items()
            if step.delta == self.delta and isinstance(outcome.value, Trial)
        }
        yield from self._drawings([key for key in methods if key in measured], known)
        if measured:
            yield self.advising

    @property
    def advising(self) -> Step:
        """The step that asks what is recommended at the ε that is looked at."""
        return Step("", self.shown_at or self.epsilons[len(self.epsilons) // 2], self.delta, advising=True)

    def drawing(self, method: str) -> Step:
        """The step that draws the released functions of a method."""
        if self.shown_at is None:
            raise ValueError("There is no epsilon at which functions are drawn.")
        return Step(method, self.shown_at, self.delta, drawn=True)

    def sizing(self, method: str) -> Step:
        """The step that looks for the sizes of a method."""
        return Step(method, self.epsilons[0], self.delta, sizing=True)

    def sizes(self, method: str, known: Mapping[Step, Outcome]) -> tuple[int | None, ...]:
        """The sizes of a method that are worth trying; none as long as nobody looked for them."""
        outcome = known.get(self.sizing(method))
        return outcome.value if outcome is not None and isinstance(outcome.value, tuple) else ()

    def _tuning(self, step: Step, known: Mapping[Step, Outcome]) -> Iterator[Step]:
        """Every size on draws of its own, then the best of them, by each error, on those that are reported."""
        sizes = self.sizes(step.method, known)
        if len(sizes) < 2:
            return
        tried = [
            replace(step, size=size, repetition=repetition, tuning=True)
            for size in sizes
            for repetition in range(TUNING)
        ]
        yield from tried
        values = (known[one].value for one in tried if one in known and known[one].problem is None)
        trials = [value for value in values if isinstance(value, Trial)]
        best = dict.fromkeys(size for measure in MEASURES for size in best_sizes(trials, measure).values())
        for size in best:
            yield from (replace(step, size=size, repetition=repetition) for repetition in range(AT_FIRST))
