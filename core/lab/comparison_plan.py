"""What a comparison still has to try, and in which order: something to see of every method first, the rest later.

Methods are all mechanisms that can be compared: ours, as the recommendation makes them, and every rival.

A step is tried once and remembered, so a control that moves asks only for what is new. Every method takes part in turn
with the quickest first, and one that has taken its share of time is not tried any further: its curve stays with fewer
repetitions, and the others do not wait for it.

From trials to curves: error against epsilon, with a band over repetitions, and what tuning would have cost.

A method has two curves. One takes the size that public facts choose, which costs nothing. The other takes the best of
all sizes that were tried, as papers do: chosen by its mean error on draws of its own, so that nothing is reported twice
over, but chosen by the truth all the same. Whoever tunes so on private data pays for every try.

A trial is plain numbers, which figures and pages may use without reaching any data.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..privacy.budget import Budget
from ..releases.forecast.recommendation import Closeness, Distances
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_spec import MechanismSpec
from ..sketches.plan import planned_for
from ..sketches.registry import cards

Question = Closeness | Distances


@dataclass(frozen=True)
class Method:
    """A mechanism as the comparison makes it, from its card."""

    # What nobody should be advised to, by its `check`, has no part in a comparison either.
    card: MechanismSpec

    def refusal(self, domain: Domain, question: Question, budget: Budget) -> str | None:
        """Why it cannot answer, in one sentence; None where it can. No data is looked at, and nothing is filled."""
        refusal = self.card.refusal(question.facts(domain, budget))
        if refusal is not None:
            return refusal
        first = self._problem(domain, question, budget, None)
        if first is None or any(self._problem(domain, question, budget, size) is None for size in self.card.sizes):
            return None
        return first

    def sizes(self, domain: Domain, question: Question, records: float) -> tuple[int | None, ...]:
        """Settings worth trying: None, for what public facts choose, and then every one that is possible here."""
        budget = Budget(1, 0 if self.refusal(domain, question, Budget(1)) is None else "1e-6")
        possible = (size for size in self.card.sizes if self._problem(domain, question, budget, size) is None)
        return None, *possible

    def build(
        self, domain: Domain, question: Question, budget: Budget, size: int | None = None, seed: int | None = None
    ) -> LinearSketch | Adaptive:
        """The mechanism, perhaps without a size yet."""
        facts = replace(question.facts(domain, budget), size=size, seed=seed)
        refusal = self.card.refusal(facts)
        if refusal is not None:
            raise RequestError(refusal)
        made = self.card.made_from(facts)
        self.card.check(made)
        return made

    def _problem(self, domain: Domain, question: Question, budget: Budget, size: int | None) -> str | None:
        try:
            made = self.build(domain, question, budget, size, seed=0)
            made.check_budget(budget)
            if not made.sized:
                return None
            planned_for(made, budget)
        except RequestError as problem:
            return str(problem)
        return None


class _Methods(Mapping[str, Method]):
    """Methods by key, in the order of lists, made of the cards that there are now."""

    def __getitem__(self, key: str) -> Method:
        return Method(self._cards()[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards())

    def __len__(self) -> int:
        return len(self._cards())

    @staticmethod
    def _cards() -> dict[str, MechanismSpec]:
        """Cards of mechanisms that answer a question about points; sets are compared with nothing."""
        taking_part = (card for card in cards().values() if card.recommended or card.rival)
        return {card.name: card for card in taking_part if not card.sets}


METHODS = _Methods()  # Every method by its key, ours first; those of projected points take part from 64 dimensions.


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
    # As of a `Trial`.
    size: int | None = None
    repetition: int = 0
    tuning: bool = False
    drawn: bool = False  # Whether released functions are wanted, and not their error.
    sizing: bool = False  # Whether the sizes that are worth trying are wanted, and no release.
    # Whether it is asked which of Frostglass's own mechanisms is recommended; of no method then.
    advising: bool = False


@dataclass(frozen=True)
class Advice:
    """What `core.releases.forecast.recommendation.recommend` puts first: the key of a method, and why, in a
    sentence."""

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
