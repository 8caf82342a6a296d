"""Attacking a mechanism end to end, to find out whether it keeps its promise.

An attack turns every output into one number; large values speak for one data set and small values for the other. The
attacks here know the exact tables of both data sets. By the lemma of Neyman and Pearson the likelihood ratio is the
best attack on correct noise of a known shape; the others look for what incorrect noise would give away.

(epsilon, delta)-differential privacy says P(M(D) in E) <= e^epsilon P(M(D') in E) + delta for neighbours D, D' and
every event E. One event that breaks it is a proof that something is wrong. So: run the mechanism many times on a pair
of neighbours, pick the most telling event on one half of the runs, and on the other half, which had no part in picking
it, bound both probabilities by Clopper and Pearson (1934). The bounds hold together with the stated level, and then

    epsilon >= log((lower bound of P(M(D) in E) - delta) / upper bound of P(M(D') in E)).

A mechanism fails when this is above what it promises; one that keeps its promise fails with probability 1 - level at
most. Passing proves nothing by itself: the attack may be too weak. The tests show mistakes that it does find.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv

from ..errors import RequestError
from ..runtime.counter_tables import Floats, Integers

# Counters that are looked at one by one: those in which the exact tables differ most.
SINGLE_COUNTERS = 16


class Attacks:
    """The attacks on the pair of exact tables `first` and `second`, float64 (m,) each.

    Noise that is drawn for whole vectors has a likelihood ratio of its own: `block` is the length of such a vector.

    `names`: What each attack looks at, in words.
    """

    def __init__(self, first: np.ndarray, second: np.ndarray, block: int | None = None):
        self._first, self._second, self._block = first, second, block
        gap = np.abs(first - second)
        self._moved = np.flatnonzero(gap)
        self._single = np.sort(np.argsort(-gap, kind="stable")[: min(SINGLE_COUNTERS, len(self._moved))])
        self.names = (
            "the likelihood ratio for Laplace noise",
            "the likelihood ratio for Gaussian noise",
            *(() if block is None else ("the likelihood ratio for noise drawn as vectors",)),
            "how many counters equal the exact ones",
            "how many different values the noise has",
            "the largest counter",
            "the smallest counter",
            "the sum of all counters",
            *(f"counter {index}" for index in self._single.tolist()),
        )

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """Return the number that each attack makes of each output.

        `outputs`: float64 (n, m), one noisy table a row.

        Returns float64 (n, attacks).
        """
        from_first, from_second = outputs - self._first, outputs - self._second
        near_first, near_second = from_first[:, self._moved], from_second[:, self._moved]
        return np.column_stack(
            (
                (np.abs(near_second) - np.abs(near_first)).sum(axis=1),
                (near_second + near_first) @ (self._first - self._second)[self._moved],
                *self._vector_scores(from_first, from_second),
                (from_first == 0).sum(axis=1) - (from_second == 0).sum(axis=1),
                _distinct(from_second) - _distinct(from_first),
                outputs.max(axis=1),
                outputs.min(axis=1),
                outputs.sum(axis=1),
                outputs[:, self._single],
            )
        )

    def _vector_scores(self, from_first: np.ndarray, from_second: np.ndarray) -> list[np.ndarray]:
        if self._block is None:
            return []
        lengths = [
            np.linalg.norm(rows.reshape(len(rows), -1, self._block), axis=2).sum(axis=1)
            for rows in (from_second, from_first)
        ]
        return [lengths[0] - lengths[1]]


def _distinct(rows: np.ndarray) -> Integers:
    """Number of different values in each row, int64 (n,): few when the same noise was used more than once."""
    ordered = np.sort(rows, axis=1)
    changes: Integers = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return 1 + changes


Number = int | float | Decimal | Fraction

LEAST_RUNS = 100
# Runs on each data set from which the exact tables are estimated when nobody says what they are.
PILOT_RUNS = 500
CUTS = 200
# Outputs held in memory at once, in numbers.
BATCH = 1 << 20


@dataclass(frozen=True)
class AuditReport:
    """What an attack found."""

    # The promise.
    epsilon: float
    delta: float
    epsilon_lower: float  # The privacy loss that was shown: the true one is at least this, with confidence `level`.
    event: str  # The event that shows it, in words.
    runs: int  # Runs on each of the two data sets.
    level: float  # Probability with which the bound holds.
    # What else is wrong, where more than the noisy tables was looked at; a sentence without capital and full stop.
    findings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no broken promise was found."""
        return self.epsilon_lower <= self.epsilon and not self.findings

    @property
    def verdict(self) -> str:
        """Whether the audit ended in "pass" or in "fail"."""
        return "pass" if self.passed else "fail"

    @property
    def sentence(self) -> str:
        """The finding for a person to read."""
        promise = f"epsilon = {self.epsilon:g}" + (f" at delta = {self.delta:g}" if self.delta else "")
        finding = f"a privacy loss of at least {self.epsilon_lower:.3g} (confidence {self.level:.10g})"
        if self.passed:
            return (
                f"Passed: in {self.runs:,} runs on each of two neighbouring data sets the most telling event found "
                f"shows {finding}, which does not break the promise of {promise}."
            )
        if self.findings:
            return f"Failed: {'; '.join(self.findings)}."
        return f"Failed: {self.event}; that shows {finding}, which breaks the promise of {promise}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "verdict": self.verdict, "sentence": self.sentence}


def audit(
    mechanism: Callable[[Any], np.ndarray],
    data: Any,
    neighbour: Any,
    epsilon: Number,
    delta: Number = 0,
    *,
    exact: Callable[[Any], np.ndarray] | None = None,
    runs: int = 20_000,
    runs_a_call: int | None = None,
    level: float = 0.95,
    block: int | None = None,
) -> AuditReport:
    """Attack a mechanism on a pair of neighbouring data sets.

    `mechanism`: Takes a data set and returns the numbers that it would publish, any shape, with fresh randomness on
    every call. `data`, `neighbour`: Two data sets that the promise must make hard to tell apart; the audit is as good
    as this pair is bad. Made up, not private: the report may show outputs. `exact`: The mechanism without its noise,
    which makes the attack much sharper; estimated from further runs when None. `runs`: Runs on each data set. Half of
    them choose the event, the others measure it. `runs_a_call`: How many independent runs one call returns along its
    first axis; None: a call is a run. `level`: Probability with which the bound holds. `block`: Length of the vectors
    that noise is drawn for, where it is, for an attack made for such noise.
    """
    check_attack(runs, level)
    if not (0 < epsilon < math.inf and 0 <= delta < 1):
        raise RequestError("The promise to audit needs a finite epsilon above 0 and a delta from 0 to below 1.")

    sides = (data, neighbour)
    if exact is None:
        centres = [_centre(np.concatenate(list(_outputs(mechanism, side, PILOT_RUNS, runs_a_call)))) for side in sides]
    else:
        centres = [np.asarray(exact(side), np.float64).reshape(-1) for side in sides]
    if centres[0].shape != centres[1].shape:
        raise RequestError(
            "The outputs for the two data sets have different shapes, and the shape alone tells them apart: the shape "
            "of what is published must not depend on the data."
        )
    attacks = Attacks(centres[0], centres[1], block)

    def scores(count: int) -> list[np.ndarray]:
        batches = ([attacks.scores(batch) for batch in _outputs(mechanism, side, count, runs_a_call)] for side in sides)
        return [np.concatenate(side) for side in batches]

    chosen = _most_telling(scores(runs // 2), float(delta), level)
    first, second = (chosen.happened(side) for side in scores(runs - runs // 2))
    if not chosen.likelier_first:
        first, second = second, first
    bound = float(_loss_bound(first.sum(), second.sum(), len(first), float(delta), level))
    likelier, other = ("data set", "neighbour") if chosen.likelier_first else ("neighbour", "data set")
    event = (
        f"{attacks.names[chosen.attack]} is {'at least' if chosen.upper else 'at most'} {chosen.cut:g} in "
        f"{first.sum():,} of {len(first):,} runs on the {likelier} and in {second.sum():,} on the {other}"
    )
    return AuditReport(float(epsilon), float(delta), max(bound, 0.0), event, runs, level)


def check_attack(runs: int, level: float) -> None:
    """RequestError where so few runs show nothing, or no bound holds with such a probability."""
    if runs < LEAST_RUNS:
        raise RequestError(f"An audit needs at least {LEAST_RUNS} runs, as fewer show nothing.")
    if not 0 < level < 1:
        raise RequestError("The level of an audit must lie strictly between 0 and 1, such as 0.95.")


@dataclass(frozen=True)
class _Event:
    """The score of an attack lies on one side of a cut."""

    attack: int
    cut: float
    upper: bool
    likelier_first: bool

    def happened(self, scores: np.ndarray) -> np.ndarray:
        column = scores[:, self.attack]
        return column >= self.cut if self.upper else column <= self.cut


def _outputs(mechanism: Callable[[Any], object], side: Any, runs: int, runs_a_call: int | None) -> Iterator[np.ndarray]:
    """Yield outputs of a mechanism, float64 (n, m), until there are `runs`."""
    done = 0
    while done < runs:
        batch: list[np.ndarray] = []
        held = numbers = 0
        while done + held < runs and numbers < BATCH:
            output = np.asarray(mechanism(side), np.float64)
            rows = output.reshape(1 if runs_a_call is None else runs_a_call, -1)
            batch.append(rows)
            held, numbers = held + len(rows), numbers + rows.size
        if len({rows.shape[1] for rows in batch}) > 1:
            raise RequestError("The shape of a mechanism's output must not change from run to run.")
        outputs = np.concatenate(batch)[: runs - done]
        if not np.isfinite(outputs).all():
            raise RequestError("A mechanism under audit must return finite numbers.")
        done += len(outputs)
        yield outputs


def _centre(outputs: np.ndarray) -> Floats:
    """Estimate an exact table: symmetric noise has it as its median; whole outputs come from whole counters."""
    centre: Floats = np.median(outputs, axis=0)
    return np.rint(centre) if (outputs == np.rint(outputs)).all() else centre


def _most_telling(scores: list[np.ndarray], delta: float, level: float) -> _Event:
    """Return the event with the largest bound on the privacy loss."""
    best, chosen = -math.inf, _Event(0, 0.0, True, True)
    runs = len(scores[0])
    for attack in range(scores[0].shape[1]):
        columns = [np.sort(side[:, attack]) for side in scores]
        cuts = _cuts(np.concatenate(columns))
        for upper in (True, False):
            if upper:
                counts = [runs - np.searchsorted(column, cuts, "left") for column in columns]
            else:
                counts = [np.searchsorted(column, cuts, "right") for column in columns]
            for likelier_first in (True, False):
                likely, unlikely = counts if likelier_first else counts[::-1]
                bounds = _loss_bound(likely, unlikely, runs, delta, level)
                index = int(np.argmax(bounds))
                if bounds[index] > best:
                    best, chosen = bounds[index], _Event(attack, float(cuts[index]), upper, likelier_first)
    return chosen


def _cuts(scores: np.ndarray) -> np.ndarray:
    """Return where to cut: every value when there are few, else quantiles, closer together in the tails."""
    values = np.unique(scores)
    if len(values) <= CUTS:
        return values
    steps = 1 / (1 + np.exp(-np.linspace(-8, 8, CUTS)))
    return np.unique(np.quantile(scores, steps, method="inverted_cdf"))


def _loss_bound(likely: np.ndarray, unlikely: np.ndarray, runs: int, delta: float, level: float) -> np.ndarray:
    """Bound epsilon from below by the counts of an event in `runs` runs on either side; -inf where nothing is shown.

    Each of the two Clopper-Pearson bounds may fail with probability (1 - level)/2.
    """
    likely, unlikely = np.asarray(likely), np.asarray(unlikely)
    risk = (1 - level) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.where(likely > 0, betaincinv(likely, runs - likely + 1, risk), 0.0)
        most = np.where(unlikely < runs, betainccinv(unlikely + 1, runs - unlikely, risk), 1.0)
        return np.log(np.maximum(least - delta, 0.0)) - np.log(most)
