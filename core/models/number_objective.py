"""A number predicted under a pure epsilon: objective perturbation of a loss that is square near and straight far away.

What is released is the minimiser over g of

    Σ log cosh((<g, x_i> - o_i)/2) + k|g|²/2 + <b, g>,      b with density proportional to exp(-r|b|) on R^m,

x_i a record in the unit ball, with categories told from their middle (`centred`), and o_i = a y_i its number y_i
between -1 and 1 times the sharpness a: residuals of y far below 2/a count by their squares and larger ones by their
size, so one record pulls by no more than a public length. Predicted is <g, x>/a.

*Proof.* With p_i = 1/(1 + exp(<g, x_i> - o_i)) the loss has the slope (½ - p_i) x_i and the curvature
p_i (1 - p_i) = ¼ - q_i², q_i = |½ - p_i| <= ½. The minimiser is g when b = Σ (p_i - ½) x_i - kg =: b_D(g), which is
one to one and smooth, and -db/dg = kI + H, H = Σ p_i (1 - p_i) x_i x_iᵀ. So g has the density
h_D(g) = C exp(-r|b_D(g)|) det(kI + H), as in `objective_perturbation`. One record more moves b_D(g) by q at most and
multiplies the determinant by a factor between 1 and 1 + (¼ - q²)/k. So -rq <= log(h_D'/h_D) <= rq + (¼ - q²)/k, and
where 1/k <= r the right side is at most rq + r (½ - q)(½ + q) <= rq + r (½ - q) = r/2. Hence, for k >= 1/r:

    add_remove: r/2-private;    replace_one (take one away, put one in): r-private;    m records a person: m times that.

r/2 is reached in the limit of g along x. So r = 2ε/m or ε/m, and k = 1/r, the least that the promise allows. The number
of records takes no part, and no sum of products is released: noise grows with the number of coordinates and not with
its square.

*Exactness.* As there: the loss is log(1 + exp(o - <g, x>)) with half of Σ x, which is exact, in the linear term, so
what is released is its exact minimiser rounded to a public grid (`certified_logistic`).

**Three fits, so that what noise hides is no worse than a constant.** Nothing above asks what o_i is, so it may be any
function of the record and of what was released before, and ε adds up.

Counts of the records in cells of each column are bought before all of it with `CELLS_SHARE` of epsilon where so much
tells them; coordinates are told from where they say that records lie, and a record that is cut there has o_i cut by as
much (`centred`).

1.  A fit of x = 1 alone says where y lies: noise of one number, which the ridge draws to 0 by a known part of it.
2.  How many y are how far from there, in the shells of `SHELLS`, says how sharp the next loss is: of numbers that lie
    close together it must be sharper, as noise is 1/a long. One record moves one count by 1, a replaced one two.
3.  That of all coordinates, of what y is beside the constant.
4.  A fit of one coordinate x = t/T says how much of 3 is to be believed: t is what 3 adds to 1 for a record, in whole
    numbers, cut at the released length T. Its ridge draws to what forecasts say of that (`Spread.believed`), since o
    is what is left beside so much of t.

1, 2 and 4 have shares of ε that fall with εn, a hundredth where records say more than noise does.

**What noise alone explains** is taken out of the minimiser (`noise_bands`), by the same counts.

The mean alone, for records of which a promise lets nobody learn more: their number and the sum of y. One record more or
less moves these by 1 each (L1 2, L2² 2), a replaced one the sum alone, by 2 (L1 2, L2² 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ..privacy.accounting import Cost, PureParts
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate, pure_scale
from ..privacy.composition import event_of
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.vector_noise import L2Vector
from ..privacy.replay.solved_laws import PerturbedFit
from ..privacy.replay.tape import drawn
from .amp import READ_UNIT, in_unit_ball
from .centred import centred, centred_width, of_all_coordinates, shortened_whole
from .certified_logistic import GRID_BITS, UNIT_BITS, rounded_minimiser
from .least_squares import times
from .linear_models import NumberModel
from .method import NumberMethod
from .noise_bands import CELLS_SHARE, Spread, cells_sensitivity, in_cells, worth_counting
from .number_descent import SQUARE_INSIDE
from .training_task import Task

SHARPNESS = 12
"""a of the first fit: residuals beyond a twelfth of the range count by their size. On nine public tables 8 was best
where noise is little and 16 where it is much, and 2 up to ten times as far off."""
# How far from the constant are counted; the share that lies as far as numbers usually do; how many times one over that
# the sharpness is, at least and at most; and the share of its noise that is put on a count, as too blunt errs more.
SHELLS, USUAL, SHARP, BLUNTEST, SHARPEST, CAREFUL = 2.0 ** np.arange(-6, 2), 0.62, 2.5, 8.0, 64.0, 0.25
# How many lengths of noise records are, up to which the loss of all coordinates is so sharp; beyond them it becomes as
# blunt as their root, and half as sharp at least: squares reach further, and noise no longer hides what that brings.
HEARD, HALF = 150.0, 0.5
SHARP_BITS = 6  # Sharpness is a multiple of 2^-6.
# Deviations of noise that are taken off a count: two are passed by one far shell of thirty, as this noise has long
# tails, and made a loss so blunt that one draw of nine on a table of 35,960 records had five to forty times the error.
SURELY = 4.0
# Of epsilon, for what is asked beside the fit of all coordinates: usually, at most, and so much as times ε and records
# is `WELL`; and the parts of that for the constant, the shells, and what is to be believed.
USUAL_SHARE, LARGEST_SHARE, WELL = Fraction(1, 20), Fraction(1, 10), 75
OF_CONSTANT, OF_SHELLS, OF_BELIEVED = Fraction(2, 5), Fraction(3, 2), Fraction(1, 2)
MOST_OF_SHELLS = Fraction(6, 100)
USUALLY_CURVED = 0.18  # p(1 - p) of most records beside a constant.
DEVIATIONS, LONGEST = 2.0, 2.0  # Of what a fit adds, and between -1 and 1, beyond which that is cut.
SCORE_BITS, LARGEST_SCORE = 16, 1 << 26
READ_BITS = READ_UNIT.bit_length() - 1
THEOREM = (
    "The minimiser of a loss with a random linear term, by the change of variables of objective perturbation "
    "(Chaudhuri, Monteleoni, Sarwate 2011), for a loss whose slope and curvature of one record bound each other."
)


@dataclass(frozen=True)
class PureFit(NumberMethod):
    """A number by objective perturbation, with nothing to be tuned.

    `beside`: Share of epsilon of which what is asked beside the fit of all coordinates has parts. `about`: How many
    records there are, as is public or was bought; None where counts of cells have to say it. `counted`: Whether cells
    of columns are counted.
    """

    beside: Fraction = field(default=USUAL_SHARE, kw_only=True)
    about: float | None = field(default=None, kw_only=True)
    counted: bool = field(default=True, kw_only=True)
    name: ClassVar[str] = "objective"
    rank: ClassVar[int] = 3
    advantage: ClassVar[str] = "it needs no δ"
    described: ClassVar[str] = "objective perturbation of a loss that forgives outliers"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT
    # Of eight public tables none lost by as many as the forecast allows, and five won.
    most_halvings: ClassVar[int] = 3
    # Goals of made-up records have no far end that is forgotten: under (1, 1e-6) descents err by .011 less on average
    # of 53 sets, and more on few.
    flattered: ClassVar[float] = 0.02

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return not task.categories

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: all of epsilon, and nothing of delta."""
        parts = [PureParts(Fraction(budget.epsilon) * share, 1) for share in self.shares]
        counts = [event_of(*one) for one in (self.shells(budget), self.cells(budget)) if one]
        return Cost((*parts, *counts), budget.epsilon, budget.delta)

    @property
    def shares(self) -> tuple[Fraction, Fraction, Fraction]:
        """Of epsilon, for the three fits."""
        constant, believed = self.beside * OF_CONSTANT, self.beside * OF_BELIEVED
        return constant, 1 - self.counted * CELLS_SHARE - constant - self.of_shells - believed, believed

    @property
    def of_shells(self) -> Fraction:
        """Of epsilon, for how many numbers are how far from the constant."""
        return min(MOST_OF_SHELLS, self.beside * OF_SHELLS)

    def rates(self, budget: Budget) -> tuple[Fraction, Fraction, Fraction]:
        """r of the density of b, for the three fits."""
        moves = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
        whole = 2 * Fraction(budget.epsilon) / (moves * self.domain.unit.records)
        constant, every, believed = self.shares
        return whole * constant, whole * every, whole * believed

    def cells(self, budget: Budget) -> tuple[Sensitivity, NoiseScale] | None:
        """How far one person moves the counts of all cells, and their noise; None where they are not counted."""
        moved = cells_sensitivity(self, budget.neighbours).scaled(self.domain.unit.records)
        return (moved, pure_scale(moved, Fraction(budget.epsilon) * CELLS_SHARE)) if self.counted else None

    def shells(self, budget: Budget) -> tuple[Sensitivity, NoiseScale]:
        """How far one person moves the counts of numbers by how far off they are, and their noise."""
        each = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
        moved = Sensitivity(each, each, unit_shifts=True).scaled(self.domain.unit.records)
        return moved, pure_scale(moved, Fraction(budget.epsilon) * self.of_shells)

    def noise(self, budget: Budget) -> float:
        """Noise on m coordinates is m/r long, and the slope of a record half a unit at most."""
        return 2.0 * (centred_width(self) + 1) / float(self.rates(budget)[1])

    def for_records(self, budget: Budget, records: float) -> Self:
        whole = float(self.rates(budget)[2] / (self.beside * OF_BELIEVED)) * max(1.0, records) / 2.0
        share = Fraction(WELL / whole).limit_denominator(1000)
        beside = min(LARGEST_SHARE, max(Fraction(1, 1000), share))
        counted = worth_counting(self, budget, records)
        return replace(self if counted else self.shortened(0.0), beside=beside, about=records, counted=counted)

    def _planned(self, budget: Budget) -> PureNoise:
        cells = self.cells(budget)
        found = PureNoise(self.rates(budget), self.shells(budget)[1], cells[1] if cells else None, self.about)
        check_drawable(found.shells, *([found.cells] if found.cells else []))
        return found

    def _beside(self, plan: PureNoise, share: Fraction) -> PureNoise:
        constant, every, believed = (rate / share for rate in plan.rates)
        cells = None if plan.cells is None else times(plan.cells, share)
        about = None if plan.about is None else plan.about * float(share)
        return PureNoise((constant, every, believed), times(plan.shells, share), cells, about)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: PureNoise, noise_source: NoiseSource
    ) -> NumberModel:
        spread = self._spread(units, plan, noise_source)
        of_constant, rate, _ = (float(one) for one in plan.rates)
        whole, by_1 = codes << UNIT_BITS - READ_BITS, 1 << UNIT_BITS

        def fit(vectors: np.ndarray, beside: np.ndarray, sharp: float, place: int) -> np.ndarray:
            offsets = beside * round(sharp * (1 << SHARP_BITS)) >> SHARP_BITS
            return np.array(perturbed_fit(vectors, offsets, plan.rates[place], noise_source), float) / (1 << GRID_BITS)

        drawn_to_0 = 1.0 + 1.0 / (of_constant * USUALLY_CURVED * spread.records)
        first = fit(np.full((len(codes), 1), by_1), whole, SHARPNESS, 0)[0] / SHARPNESS
        constant = float(np.clip(first * drawn_to_0, -1.0, 1.0))
        whole = whole - round(constant * by_1)
        shells = add_noise(in_shells(whole), plan.shells, noise_source)
        sharp = sharpness(shells, plan.shells.variance, spread.records)
        heard = spread.records * rate / (centred_width(self) + 1)
        blunt = rounded_sharp(sharp * float(np.clip(math.sqrt(HEARD / heard), HALF, 1.0)))
        frame = spread.frame(self) if self.counted else None
        told, longest = shortened_whole(self, units, READ_UNIT, frame) if frame else centred(self, units, READ_UNIT)
        spread, (vectors, length) = spread.within(frame) if frame else spread, in_unit_ball(told, longest)
        found = fit(vectors, whole * told[:, 0] >> READ_BITS, blunt, 1)
        variance = (len(found) + 1) / rate**2  # of an entry of b: |b|² is m (m + 1)/r² on average
        expected = spread.believed(found, length, 1.0 / rate, variance)
        added = spread.quieted(found, length, 1.0 / rate, variance) / (blunt * length)
        reach = float(np.clip(DEVIATIONS * spread.deviation(added), 2.0**-GRID_BITS, LONGEST))
        added = of_all_coordinates(self, frame.from_nowhere(added) if frame else added)
        scores = scores_of(units, added / reach)
        left = whole - (scores * round(expected * reach * (1 << GRID_BITS)) >> GRID_BITS)
        share = float(np.clip(expected + fit(scores[:, None], left, sharp, 2)[0] / (sharp * reach), 0.0, 1.0))
        weights = share * added
        weights[0] += constant
        details = {"rate": str(plan.rates[1]), "curvature": str(1 / plan.rates[1]), "sharpness": repr(blunt)}
        noise = {} if plan.cells is None else {"noise": plan.cells.describe()}
        return self._model(weights, budget, details | noise | {"believed": repr(share)}, noise_source)

    def _spread(self, units: np.ndarray, plan: PureNoise, noise_source: NoiseSource) -> Spread:
        """Where records lie, as far as counts say it; where there are none, as records usually do."""
        exact = in_cells(self, units, READ_UNIT)
        if plan.cells is None:
            return Spread.of(self, np.zeros(len(exact)), math.inf, plan.about)
        return Spread.of(self, add_noise(exact, plan.cells, noise_source), plan.cells.variance, plan.about)


class PureNoise(NamedTuple):
    """What is public before anything is read."""

    rates: tuple[Fraction, Fraction, Fraction]
    shells: NoiseScale
    cells: NoiseScale | None
    about: float | None


def in_shells(beside: np.ndarray) -> np.ndarray:
    """How many numbers in units of 2^-`UNIT_BITS` are how far from 0, int64 (shells,): exact, private."""
    places = np.searchsorted((SHELLS * (1 << UNIT_BITS)).astype(np.int64), np.abs(beside))
    return np.bincount(places, minlength=len(SHELLS) + 1)[:-1].astype(np.int64)


def sharpness(noisy: np.ndarray, variance: float, records: float) -> float:
    """How sharp a loss suits so many records with noisy counts in shells, in multiples of 2^-`SHARP_BITS`."""
    within = (np.cumsum(noisy) + CAREFUL * math.sqrt(len(noisy) * variance)) / records
    ends, shares = np.append(SHELLS, 2.0 * SHELLS[-1]), np.append(within, 1.0)
    place = int(np.argmax(shares >= USUAL))
    before = (ends[place] / 2.0, 0.0) if place == 0 else (ends[place - 1], max(0.0, shares[place - 1]))
    part = (USUAL - before[1]) / (shares[place] - before[1])
    usual = before[0] * (ends[place] / before[0]) ** part
    surely = np.maximum(noisy - SURELY * math.sqrt(variance), 0.0)  # what stands out of the noise far away counts, too
    usual = max(usual, math.sqrt(SQUARE_INSIDE * float(surely @ SHELLS**2) / records))
    return rounded_sharp(float(np.clip(SHARP / usual, BLUNTEST, SHARPEST)))


def rounded_sharp(sharp: float) -> float:
    """In multiples of 2^-`SHARP_BITS`."""
    return round(sharp * (1 << SHARP_BITS)) / (1 << SHARP_BITS)


def scores_of(units: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What weights of 1 say of records, in units of 2^-`UNIT_BITS` and cut at 1, int64 (n,), without rounding."""
    most = np.clip(weights * (1 << SCORE_BITS), -LARGEST_SCORE, LARGEST_SCORE)
    scores = units.astype(np.int64) @ np.rint(most).astype(np.int64)
    return np.clip(scores // ((READ_UNIT << SCORE_BITS) >> UNIT_BITS), -(1 << UNIT_BITS), 1 << UNIT_BITS)


def perturbed_fit(vectors: np.ndarray, offsets: np.ndarray, rate: Fraction, noise_source: NoiseSource) -> list[int]:
    """The minimiser of the module's objective with a drawn b, in multiples of 2^-`GRID_BITS`; it was paid for.

    `vectors`, `offsets`: x_i and o_i in units of 2^-`UNIT_BITS`, int64 (n, m) and (n,); private.
    """
    law = PerturbedFit(rate, 1 / rate, 1 << UNIT_BITS, 1 << GRID_BITS)
    halves = [Fraction(sum(column), 2 << UNIT_BITS) for column in vectors.T.tolist()]

    def solved() -> list[int]:
        noise = L2Vector(1 / law.rate, vectors.shape[1], noise_source.stream())

        def linear(level: int) -> tuple[Sequence[Fraction], Sequence[Fraction]]:
            low, high = noise.bounds(level)
            return [a + b for a, b in zip(low, halves, strict=True)], [a + b for a, b in zip(high, halves, strict=True)]

        return rounded_minimiser(vectors, law.curvature, linear, offsets)

    return drawn(law, np.column_stack((vectors, offsets)), solved, noise_source.private)


@dataclass(frozen=True)
class MeanAlone(NumberMethod):
    """The mean for everyone, which is the better one of what noise hides."""

    name: ClassVar[str] = "mean"
    rank: ClassVar[int] = 7
    advantage: ClassVar[str] = "it needs no δ"
    bends: ClassVar[bool] = False
    described: ClassVar[str] = "the mean of everyone"
    theorem: ClassVar[str] = "Noise by the sensitivity of two sums: a number of records, and what is predicted."
    unit: ClassVar[int] = READ_UNIT

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return not task.categories

    def moved(self, budget: Budget) -> Sensitivity:
        """How far one person moves the two sums, in units."""
        added = budget.neighbours is Neighbours.ADD_REMOVE
        rows, square = self.domain.unit.records, READ_UNIT**2
        return Sensitivity(2 * rows * READ_UNIT, (2 if added else 4) * rows**2 * square)

    def cost(self, budget: Budget) -> Cost:
        """What two sums cost."""
        return Cost.of([(self.moved(budget), self._planned(budget))], budget.epsilon, budget.delta)

    def noise(self, budget: Budget) -> float:
        """Of the sum, in the largest numbers."""
        return float(np.sqrt(self._planned(budget).variance)) / READ_UNIT

    def _planned(self, budget: Budget) -> NoiseScale:
        return calibrate(self.moved(budget), Fraction(budget.epsilon), Fraction(budget.delta))

    def _beside(self, plan: NoiseScale, share: Fraction) -> NoiseScale:
        return times(plan, share)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: NoiseScale, noise_source: NoiseSource
    ) -> NumberModel:
        sums = np.array([len(codes) * READ_UNIT, codes.sum()], np.int64)
        records, total = add_noise(sums, plan, noise_source)
        mean = float(np.clip(total / max(int(records), READ_UNIT), -1.0, 1.0))
        weights = np.concatenate(([mean], np.zeros(self.width)))
        return self._model(weights, budget, {"noise": plan.distribution}, noise_source)
