"""Distance queries answered from a few that were asked: Huang and Roth, "Exploiting metric structure for efficient
private query release" (SODA 2014), for the L1 distance.

In each coordinate the sum of distances F(q) is convex, so a learner that is told F at a few places knows it nearly
everywhere: a hypothesis h answers, the sparse vector technique finds, privately, a query where h is wrong by more than
a threshold, only there F is measured with noise, and h learns from it. L1 distances are sums over coordinates, each
with an equal part of the budget. Here the queries are the places of a public grid, and the release holds which were
asked and the noisy sums (`asked_distances`).

*Learner.* h is the convex function that fits the answers best. Wherever it is asked half-way between two places a and b
that were, it is wrong by at most (b - a) times the change of slope between them, over 4. With slopes from -n to n, an
error of αn needs (b - a) s >= 4αn for the change s; of intervals of length 2^-l there are at most
min(2^l, 1/(2α 2^l)) with that, which sum to 2√(2/α) over l: so many findings suffice, and two for the ends.

*Constants* fit the data: both ends of each coordinate are measured first, which gives the number of records; queries
are half-way points only, so there are few of them; thresholds start high and are halved down to what noise lets one
see, as one stream of queries may have any thresholds; only h - F > threshold is asked, as straight lines through a
convex function lie above it, so that all questions move one way when a record is added and need half the noise; and
findings that were not used up are spent on the widest gaps in the end. How many places are asked in all (`asked`) is a
compromise between the noise, which grows with it, and the gaps. Those of the theory say next to nothing at ordinary
sizes; a benchmark has them (`benchmarks.papers.guaranteed_queries`), by `comparing`, `borders` and `_learn`.

*Promise.* The sparse vector in each coordinate is pure with its own epsilon (`privacy.sparse_vector`). The measured
sums move by what `places_sensitivity` says, whichever places are chosen: for pure noise the losses of the counters of
one pair of neighbours add up along every path of choices, and likewise their ρ for Gaussian noise. Everything adds up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...privacy.accounting import Cost, PureParts
from ...privacy.budget import Budget, Neighbours
from ...privacy.calibration import NoiseScale, calibrate, gaussian_scale, largest_rho
from ...privacy.choosing.selection import SparseVector
from ...privacy.composition import Event, event_of
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.parameters import Resolved, Whole, parameter
from ...sketches.adaptive import Adaptive, AdaptivePlan, Outcome, Read, less_noisy, noisy_count
from ...sketches.mechanism_spec import MechanismSpec, PrivateChoice, only_l1
from .asked_distances import (
    SCALE,
    STEPS,
    UNASKED,
    AskedDistances,
    distances_from,
    every_place,
    fitted_weights,
    places_sensitivity,
    reach_of,
    records_in,
)
from .dyadic_trees import exact_l1_sums

# Share for a count of records of its own, where the ends do not tell it and it is not public.
COUNTING = Fraction(1, 50)
OFFERED = (*range(4, 34), 41, 49, 57, 65)  # Numbers of places that `sized_for` tries.
MOST_DIMENSIONS = 64  # Each has a part of the budget only, and a grid of sums that is read first.


@dataclass(frozen=True)
class HuangRoth(Adaptive):
    """Sums of distances at a few places, found by comparisons with what the others say."""

    domain: Domain
    # Places of every coordinate that are measured, at least 3; None leaves them to `sized_for`.
    asked: Resolved[int] = parameter(Whole("The number of places that are asked", 3, STEPS + 1), None)
    comparing: ClassVar[Fraction] = Fraction(1, 4)  # Share of the budget for comparisons; the rest measures.
    borders: ClassVar[bool] = True  # Whether both ends of each coordinate are measured first.
    name: ClassVar[str] = "huang-roth"
    answers: ClassVar[str] = "distance"
    metric = "l1"

    def _check(self) -> None:
        super()._check()
        if self.domain.dimensions > MOST_DIMENSIONS:
            raise RequestError(
                f"At most {MOST_DIMENSIONS} coordinates can be asked one by one, as each has a part of the budget only."
            )

    @property
    def first(self) -> AskedDistances:
        return every_place(self.domain)

    @property
    def sized(self) -> bool:
        return self.asked is not None

    def sized_for(self, budget: Budget, records: float) -> HuangRoth:
        """With as many places as make noise and gaps about equal."""
        if self.sized:
            return self
        return min((replace(self, asked=asked) for asked in OFFERED), key=lambda one: one._cost_of(budget, records))

    def _cost_of(self, budget: Budget, records: float) -> float:
        """Of T places: about 0.7 of a counter's noise in an answer, and gaps that cost n / (6 (T - 1)^2) on average."""
        noise = math.sqrt(self.plan(budget).noises[0].variance) / SCALE
        return 0.7 * noise + records / (6.0 * (self.asked - 1) ** 2)

    @property
    def _places(self) -> int:
        if not self.sized:
            raise RequestError("The mechanism has no number of places yet; give one, or let `sized_for` choose it.")
        return self.asked

    @property
    def _findings(self) -> int:
        return self._places - 2 if self.borders else self._places

    def plan(self, budget: Budget) -> AdaptivePlan:
        self.check_budget(budget)
        coordinates, unit = self.domain.dimensions, self.domain.unit.records
        table = places_sensitivity(coordinates, self._places, self.borders, budget.neighbours).scaled(unit)
        blank = AskedDistances(self.domain, ((0,) * self._places,) * coordinates)
        public = blank.count_is_public(budget.neighbours)
        count = None if public or self.borders else blank.count_sensitivity(budget.neighbours)
        left = Fraction(1) if count is None else 1 - COUNTING
        comparing, measuring = (left * share for share in (self.comparing, 1 - self.comparing))
        measured = [(table, measuring), *([] if count is None else [(count, COUNTING)])]
        epsilon = Fraction(budget.epsilon)
        prices = (epsilon * comparing / coordinates,) * coordinates
        noises = tuple(calibrate(moved, epsilon * share) for moved, share in measured)
        if not budget.pure:
            rho = Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))
            # A pure comparison of e costs e^2/2 of rho; rounded down.
            by_rho = Fraction(math.isqrt(math.floor(2 * rho * comparing / coordinates * 10**40)), 10**20)
            gaussian = tuple(gaussian_scale(moved, rho * share) for moved, share in measured)
            prices, noises = less_noisy((prices, noises), ((by_rho,) * coordinates, gaussian))
        events: list[Event] = [PureParts(prices[0], coordinates)]
        events += [event_of(moved, noise) for (moved, _), noise in zip(measured, noises, strict=True)]
        cost = Cost(tuple(events), budget.epsilon, budget.delta)
        count_noise = None if count is None else noises[1]
        return AdaptivePlan(budget, prices, noises[:1], count_noise, public or count is not None, cost)

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        exact, noise = read(self.first), plan.noises[0]
        monotone = self.borders and plan.budget.neighbours is Neighbours.ADD_REMOVE
        places, rows = [], []
        for row, price in zip(exact, plan.choices, strict=True):
            sensitivity = SCALE * self.domain.unit.records
            vector = SparseVector(sensitivity, price, self._findings, monotone, noise_source)
            learner = Learner(row, vector, noise, noise_source)
            self._learn(learner)
            missing = self._places - len(learner.places)
            places.append((*learner.places, *(UNASKED,) * missing))
            # What was not asked is noise alone, so that the table's shape says nothing.
            blanks = add_noise(np.zeros(missing, np.int64), noise, noise_source).tolist()
            rows.append([*learner.answers, *blanks])
        count = noisy_count(records_in(exact[0]), plan, noise_source)
        return Outcome(AskedDistances(self.domain, tuple(places)), np.array(rows, np.int64), noise, count)

    def _learn(self, learner: Learner) -> None:
        learner.bisect(self._places)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return exact_l1_sums(queries, records)


class Learner:
    """What one coordinate's answers say so far. Exact sums are looked at by comparisons and measurements alone."""

    def __init__(self, exact: np.ndarray, vector: SparseVector, noise: NoiseScale, source: NoiseSource | None):
        self.exact, self.vector, self._noise, self._source = exact, vector, noise, source
        self.places: list[int] = []
        self.answers: list[int] = []
        self._fit = fitted_weights([], np.empty(0))

    def ask(self, place: int) -> None:
        self.places.append(place)
        self.answers.append(int(add_noise(self.exact[place : place + 1], self._noise, self._source)[0]))
        self._fit = fitted_weights(self.places, np.array(self.answers, np.float64))

    def said(self, place: int) -> int:
        """The hypothesis at a place, in its counter's units."""
        value = distances_from(*self._fit, np.array([place / STEPS]))[0] / reach_of(place) * SCALE
        return round(min(value, 2.0**62))

    def bisect(self, asked: int) -> None:
        """Half-way points, thresholds from high to what noise lets one see."""
        self.ask(0)
        self.ask(STEPS)
        noise = math.sqrt(self.vector.noise.variance)
        threshold = sum(self._fit[1]) * SCALE / 8
        while self.vector.left and threshold >= noise / 4:
            found = next((place for place in self._halves() if self._is_off(place, threshold)), None)
            if found is None:
                threshold /= 2
            else:
                self.ask(found)
        while len(self.places) < asked:
            self.ask(self._halves()[0])

    def _is_off(self, place: int, threshold: float) -> bool:
        return self.vector.above(self.said(place) - int(self.exact[place]), round(threshold))

    def _halves(self) -> list[int]:
        """Half-way points between neighbouring places, those first where F may lie lowest below the straight line."""
        known = sorted(self.places)
        gaps = [(a, b) for a, b in pairwise(known) if b - a >= 2]
        return [(a + b) // 2 for a, b in sorted(gaps, key=lambda gap: (-self._room(*gap), gap))]

    def _room(self, a: int, b: int) -> float:
        """How far F can be from the line from a to b: its length times the change of slope, which is the weight of the
        records at its ends."""
        nodes, weights = self._fit
        ends = weights[np.searchsorted(nodes, [a / STEPS, b / STEPS])]
        return (b - a) * (float(ends.sum()) + 1.0)


COMPARED = (
    "The places were found by noisy comparisons (sparse vector technique: Dwork, Roth 2014, Theorem 3.23), with a part "
    "of epsilon of their own; the counters have the rest."
)
CARD = MechanismSpec(
    "huang-roth",
    "Queries asked when wrong",
    "Huang and Roth 2014",
    "A convex curve is guessed from few sums of distances, tested under noise at other places, and measured with noise "
    "only where the guess is found wrong.",
    sketch=AskedDistances,
    make=lambda facts: HuangRoth(facts.domain, facts.size),
    rank=33,
    answers="distance",
    size="places a coordinate",
    sizes=(4, 6, 9, 14, 20, 32),
    most_dimensions=MOST_DIMENSIONS,
    limit=only_l1("Queries asked when wrong"),
    # Of a coordinate's places, -1 is none.
    holds=lambda sketch: (
        f"{count(sum(place >= 0 for asked in sketch.places for place in asked), 'measured sum')} of distances"
    ),
    choice=PrivateChoice("At which places distances were measured", COMPARED),
    warm=lambda: (AskedDistances(Domain.of(x=(0, 1), y=(0, 1)), ((0, 64), (0, 64))),),
)
