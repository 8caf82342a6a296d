"""MWEM: multiplicative weights and the exponential mechanism (Hardt, Ligett, McSherry, NIPS 2012, figure 1).

A distribution over public cells imitates the records. In each of T rounds the exponential mechanism picks the question
that the imitation answers worst, its true answer is measured with noise, and weights are changed until the imitation
agrees with all measurements so far. Half of every round's budget pays for the choice, half for the measurement.

The questions are kernel sums at public places spread over the bounds: what releases are asked here. Where the number of
records is private, it is counted first, with a small share of the budget; the imitation then has that many records. The
paper takes it to be public. The last imitation answers, and not the paper's average over rounds, as only the last one
agrees with all measurements. How weights are changed is in `core.lab.published.multiplicative_weights`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import KERNEL, Gaussian, Kernel, of_coordinates
from ...privacy.budget import Budget
from ...privacy.choosing.selection import select
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.parameters import Resolved, Seed, Whole, parameter
from ...sketches.adaptive import Adaptive, AdaptivePlan, Outcome, Read, noisy_count, share_budget
from ...sketches.mechanism_spec import EXPONENTIAL, MechanismSpec, PrivateChoice
from .grid_cells import COUNTS, Cells
from .grid_sketch import TYPICAL_CROWDING, check_axes, discretisation, reaches_of
from .multiplicative_weights import (
    BLOCK,
    MAX_PAIRS,
    MAX_ROUNDS,
    ONE,
    QUERIES,
    MultiplicativeWeights,
    agreement,
    even,
    most_rounds,
    reweighted,
)

# Cells that a reach of the kernel is cut into, and places in a box of one reach a side, where there is room.
CELLS_A_REACH, QUERIES_A_REACH = 2.0, 2.0
# Of a grid and places that are chosen from public facts.
MOST_CELLS, MOST_QUERIES, LEAST_QUERIES = 1 << 14, 1 << 11, 1 << 6
FEWEST_ROUNDS, MOST_ROUNDS = 4, 256  # Rounds that are chosen from public facts.
SHARE_OF_BOUND = 0.25  # Of the rounds that the bound on the error suggests.
NOISE_OF_ANSWER = 0.1  # Noise of a measurement beside a typical answer, at most.
LARGEST_SUM = 1 << 61  # Of units, so that scores stay far from the ends of 64 bits.


@dataclass(frozen=True)
class MWEM(Adaptive):
    """Picks the worst-answered questions one after the other, and releases their noisy answers.

    RequestError when a parameter is out of range, or the imitation would be too large.
    """

    # As for `MultiplicativeWeights`.
    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    # T; None leaves the choice to `sized_for`.
    rounds: Resolved[int] = parameter(Whole("The number of rounds", 1, MAX_ROUNDS), None)
    # One number a coordinate of numbers; None cuts the kernel's reach in two, as far as there is room.
    cells: Resolved[tuple[int, ...]] = parameter(COUNTS, None)
    # Q; None takes two in every box of the kernel's reach, as far as there is room.
    queries: Resolved[int] = parameter(QUERIES, None)
    seed: Resolved[int] = parameter(Seed("The seed of the places"), None)  # Public; fresh when None.
    name: ClassVar[str] = "mwem"
    described: ClassVar[str] = "release by MWEM"

    def _check(self) -> None:
        super()._check()
        check_axes(self.domain, self.kernel, self.described)
        reaches = self._boxes if self.cells is None or self.queries is None else None
        if self.cells is None:
            self._settle(cells=self._fitting_cells(reaches))
        if self.queries is None:
            self._settle(queries=self._fitting_queries(reaches))
        _ = self.first
        if self.queries * self.first.grid.size > MAX_PAIRS:
            raise RequestError(
                f"{self.queries:,} questions over {self.first.grid.size:,} cells are too many: there may be "
                f"{MAX_PAIRS:,} pairs of them."
            )
        if self.rounds is not None:
            self._released((0,) * self.rounds).check_measured()

    @property
    def _boxes(self) -> np.ndarray:
        """How many reaches of the kernel the bounds are long, along each coordinate of numbers; at least 1."""
        grid = Cells.of(self.domain, self.metric, 1)
        kernel = of_coordinates(self.kernel, self.domain.widths)
        spans = [grid.axes[place].high - grid.axes[place].low for place in grid.numeric]
        return np.maximum(np.array(spans) / np.array(reaches_of(kernel, grid)), 1.0)

    def _fitting_cells(self, boxes: np.ndarray) -> tuple[int, ...]:
        categories = Cells.of(self.domain, self.metric, 1).size
        room = MOST_CELLS / categories / math.prod(CELLS_A_REACH * boxes)
        finer = CELLS_A_REACH * min(1.0, room ** (1.0 / max(1, len(boxes))))
        return tuple(np.maximum(np.floor(finer * boxes), 1).astype(int).tolist())

    def _fitting_queries(self, boxes: np.ndarray) -> int:
        wanted = QUERIES_A_REACH * math.prod(boxes) * Cells.of(self.domain, self.metric, 1).size
        most = min(MOST_QUERIES, MAX_PAIRS // Cells.of(self.domain, self.metric, self.cells).size)
        return int(min(max(wanted, LEAST_QUERIES), max(most, 1)))

    @property
    def sized(self) -> bool:
        return self.rounds is not None

    def sized_for(self, budget: Budget, records: float) -> MWEM:
        """With as many rounds as the paper's bound on the error suggests, and no more than can be told apart or heard.

        The bound is 2 n sqrt(log |D| / T) + 10 T log |Q| / epsilon (Theorem 2.2), least for T^(3/2) =
        n epsilon sqrt(log |D|) / (10 log |Q|). It allows for the worst data and queries; a quarter of these rounds does
        best on the bundled samples. What the bound does not know: there is one question to ask in every box of the
        kernel's reach, and a measurement's noise, of standard deviation 2 sqrt(2) T / epsilon, should be a tenth of a
        typical answer at most.
        """
        if self.sized:
            return self
        grid, epsilon = self.first.grid, float(budget.epsilon)
        spread = math.sqrt(math.log(max(grid.size, 2)))
        bound = (records * epsilon * spread / (10.0 * math.log(max(self.queries, 2)))) ** (2.0 / 3.0)
        apart = math.prod(self._boxes) * Cells.of(self.domain, self.metric, 1).size
        _, evenly = discretisation(self.first.point_kernel, grid)
        heard = NOISE_OF_ANSWER * records * min(1.0, TYPICAL_CROWDING * evenly) * epsilon / (2.0 * math.sqrt(2.0))
        most = min(MOST_ROUNDS, most_rounds(grid.size))
        wanted = round(min(SHARE_OF_BOUND * bound, apart, heard))
        return replace(self, rounds=max(1, min(max(wanted, FEWEST_ROUNDS), most)))

    @cached_property
    def first(self) -> MultiplicativeWeights:
        """All questions, and last of all the number of records."""
        return self._released(tuple(range(self.queries + 1)))

    def _released(self, chosen: tuple[int, ...]) -> MultiplicativeWeights:
        return MultiplicativeWeights(self.domain, self.kernel, self.cells, self.queries, self.seed, chosen)

    def plan(self, budget: Budget) -> AdaptivePlan:
        """Half for T choices, half for T measurements, which are as good as one table of T sums."""
        if self.rounds is None:
            raise RequestError("MWEM has no number of rounds yet; give one, or let `sized_for` choose it.")
        released = self._released((0,) * self.rounds)
        shares = [Fraction(1, 2 * self.rounds)] * self.rounds
        return share_budget(self, budget, shares, [(released.sensitivity(budget.neighbours), Fraction(1, 2))], released)

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        """The rounds (figure 1).

        The score of a question is |s - a|, with s its private sum and a the imitation's answer. Given all that came out
        before, a is a public number, so a person moves the score by no more than s: one unit a record, under either
        relation. (Both are cut to 2^61 units, which moves no score by more.)
        """
        *sums, records = read(self.first)
        sums, noise = np.minimum(np.array(sums), LARGEST_SUM), plan.noises[0]
        count = noisy_count(int(records) // ONE, plan, noise_source)
        number = 1.0 if count is None else max(1.0, float(count))
        sensitivity = ONE * self.domain.unit.records
        centres = self.first.grid.centre_points()
        weights, chosen, measured, values = even(self.first.grid), [], [], []
        for price in plan.choices:
            answers = self._closeness @ weights.astype(np.float32)
            imitated = np.minimum(np.rint(answers.astype(np.float64) * (number * ONE)), LARGEST_SUM)
            chosen.append(select(np.abs(sums - imitated.astype(np.int64)), sensitivity, price, noise_source))
            measured.append(int(add_noise(sums[chosen[-1:]], noise, noise_source)[0]))
            values.append(self.first.closeness_to(chosen[-1], centres))
            averages = np.array(measured, dtype=np.float64) / (ONE * number)
            error = agreement(noise.variance, number)
            weights = reweighted(weights, np.array(values), averages, error, len(chosen) - 1)
        return Outcome(self._released(tuple(chosen)), np.array(measured, dtype=np.int64), noise, count)

    @cached_property
    def _closeness(self) -> np.ndarray:
        found = np.empty((self.queries, self.first.grid.size), dtype=np.float32)
        centres, places = self.first.grid.centre_points(), self.first.places
        at_once = max(1, BLOCK // len(centres))
        for start in range(0, self.queries, at_once):
            asked = places[start : start + at_once]
            found[start : start + at_once] = self.first.point_kernel.evaluate(asked, centres)
        return found


CARD = MechanismSpec(
    "mwem",
    "MWEM",
    "Hardt et al. 2012",
    "Made-up data start out even everywhere; again and again the question that they answer worst is picked and "
    "measured with noise, and they are changed to agree.",
    sketch=MultiplicativeWeights,
    make=lambda facts: MWEM(facts.domain, facts.closeness, facts.size, seed=facts.seed),
    rank=30,
    size="rounds",
    sizes=(5, 10, 20, 40, 80),
    most_dimensions=6,
    holds=lambda sketch: count(len(sketch.chosen), "measured answer"),
    choice=PrivateChoice("Which answers were measured", EXPONENTIAL),
    warm=lambda: (MultiplicativeWeights(Domain.of(x=(0, 1), y=(0, 1)), Gaussian(1.0), (2, 2), 4, 0, (0, 1)),),
)
