"""How far noise moved what a descent has learnt, told by its own steps: bands of lines, knots and categories.

Every step of a descent is released, and so is how much noise was in it. What nobody released is how strongly records
pull coefficients back, which is how long a noise of one step is remembered. Where the loss is a square, steps are

    v_t = m v_(t-1) - G (x_(t-1) - x*) + e_t,        x_t = x_(t-1) + v_t,

m the momentum, x* what there would be without noise, G what records pull by, e_t noise of a known covariance. So x is
x* plus what each e_s has become since. Along a direction that is pulled by a share g of its distance, what noise of 1
is so many steps later is known (`_remembered`), and with it the variance of the mean of the second half of the steps,
which is the model. Steps are no independent draws, and how widely they wander says little: much of it is the way to x*.

**What records pull by.** Directions, and what records pull by along each beside the others, are those of the curvature
where records lie evenly between their bounds, column by column (`evenly`); where a bought matrix shapes steps, its own.
How much all of it is, one number κ a row, the steps say: along each direction the new part of a step, v_t - m v_(t-1),
is -κg times the distance from x*, plus noise. Least squares about the means would say κ, but that the mean of x has the
noise in it that is regressed on it (Kendall 1954). What that adds is known for each κ, so κ is solved for, and is right
on average, however much of the walk was its way to x*, and where nothing pulls. Records lie otherwise than evenly, so
what each direction's own steps say counts too, beside a bell around κg in octaves; how wide that is, all directions say
together (empirical Bayes).

All of it is post-processing of what was paid for. Bands are a little longer (`WIDER`), as one walk says all that. They
hold what the same method would give without noise; that records are a sample is not in them. In 16 settings of four
public tables, which none of this was tried on, 89 to 100 of 100 held, and 95 on average, in the middle 1.2 times as
long as they had to be; least certain are models of few columns, up to four times.

**Taking out what noise explains.** A minimiser of Σ loss + <b, g> is off by about H⁻¹b, H the curvature of the loss
over all records. How long b is, is public. H is not, but is nearly a quarter of Σ x xᵀ, of which some is bought: how
many records are in each of a few cells of every column (`in_cells`; one record more or less moves one count of each
column by 1). What noisy counts say is a bell, and as much of what is beside it as noise does not explain (James, Stein
1961). Columns are taken for independent, and H for `CURVATURE` of what that gives, as less is told of columns that hang
together. So coefficients are known with errors of a known covariance, column by column, where x is told from its mean,
and one can ask which of them noise alone would have made:

*   the bends of each column have some variance around 0, the less the finer they are; slopes, waves and products too;
*   how likely each variance makes what was released says how likely it is, and a coefficient is the mean of what all of
    them let one expect (empirical Bayes; Efron, Morris 1973).

Truths without bends come out straight, those without slopes as the mean; where records outweigh noise nothing changes.
Of classes bends alone are asked: where columns tell them apart well, the loss curves for few records, all slopes seemed
to be noise, and of cars that could be told without a mistake one in eighty was wrong.
All of it is a function of what was released with noise, and nothing is paid for but the counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp, ndtr, softmax

from ..privacy.budget import Budget, Neighbours, Sensitivity
from .bending import SHARE, SHARE_OF_PRODUCTS
from .centred import (
    Block,
    Directions,
    Frame,
    blocks_of,
    centred_blocks,
    centred_radius,
    centred_width,
    directions,
    inside,
)
from .model_file import BITS
from .training_task import Task

MOST_TRACED = 1 << 22  # Numbers of all steps that are kept for it; larger models have no bands.
LEAST_STEPS = 16  # Fewer say nothing of how noise is remembered.
PULLS = 2.0 ** np.arange(-18.0, 0.51, 0.125)  # Shares of a distance that a step may take back.
BEFORE = 50  # One step, and one more of so many, comes first: no record is told yet, and losses of classes curve most.
APART = 2.0 ** np.arange(-1, 4)  # How far pulls may be from what they would be of even records, in octaves.
WIDER = 1.15  # What bands are longer by.
LITTLE, LEAST = 1e-12, 1e-300


class Trace:
    """Coefficients after each step of a descent, of which the second half's mean is released."""

    def __init__(self, steps: int, shape: tuple[int, int]):
        self._steps, self._taken, self._last = steps, 0, steps - steps // 2
        self._total = np.zeros(shape)
        keeps = steps >= LEAST_STEPS and steps * self._total.size <= MOST_TRACED
        self._kept: list[np.ndarray] | None = [self._total.copy()] if keeps else None

    def add(self, weights: np.ndarray) -> None:
        """Take down where a step came to: whole multiples of 2^-20, float64 (rows, d + 1)."""
        self._taken += 1
        if self._taken > self._steps - self._last:
            self._total += weights
        if self._kept is not None:
            self._kept.append(weights)

    @property
    def mean(self) -> np.ndarray:
        """Of the second half, float64 (rows, d + 1)."""
        return np.asarray(self._total / self._last)

    def term_errors(
        self, task: Task, natural: float, moves: np.ndarray, known: Directions, momentum: float = 0.0
    ) -> np.ndarray | None:
        """Deviations that noise gives the mean of every term of a task, float64 (rows, terms).

        `natural`: What a coefficient of 1 in here is of coordinates between -1 and 1. `moves`: The deviation that the
        noise of one step has along each direction, float64 (d,). `known`: The directions. `momentum`: The share of each
        step that the next one goes on with. Returns none where the steps were too few to tell, or too much to keep.
        """
        if not self._kept:
            return None
        moves = np.maximum(moves, LITTLE)
        walks = np.array(self._kept)[:, :, 1:] * 2.0**-BITS @ known.axes / moves
        paces = np.diff(walks, axis=0)
        paces[1:] -= momentum * paces[:-1]  # the new part of each, as np.diff made `paces` anew
        told, first = (task.reading[0] @ known.axes * moves) ** 2, 1 + self._steps // BEFORE
        rows = zip(walks[first:-1].swapaxes(0, 1), paces[first:].swapaxes(0, 1), strict=True)
        found = [told @ _variances(*row, known.pulls, self._steps, momentum) for row in rows]
        return np.asarray(WIDER * natural * np.sqrt(found))


def _variances(before: np.ndarray, new: np.ndarray, pulls: np.ndarray, steps: int, momentum: float) -> np.ndarray:
    """Of the mean along each direction, as the steps of one row say, in those of noise; see the module.

    `before`: Where steps set out, float64 (steps, d), in deviations of noise. `new`: Their new parts.
    """
    of_mean, leaning = _remembered(steps, momentum)
    before = before - before.mean(axis=0)
    along, square = -(before * new).sum(axis=0), np.maximum((before**2).sum(axis=0), LITTLE)
    each = (PULLS / max(pulls.max(), LITTLE))[:, None] * pulls
    solved = each[(along - np.interp(each, PULLS, leaning) - each * square) @ pulls > 0.0]
    usual = np.maximum(solved[-1] if len(solved) else each[0], PULLS[0])  # the most that solves it
    off = (along[:, None] - leaning - square[:, None] * PULLS) ** 2 / (2.0 * square[:, None])
    own, octaves = np.exp(off.min(axis=1, keepdims=True) - off), np.log2(PULLS / usual[:, None])
    likely, told = -0.5 * np.log(APART), []  # that records lie about evenly is likelier beforehand
    for place, apart in enumerate(APART):
        ways = np.exp(-((octaves / apart) ** 2) / 2.0)
        ways *= own / ways.sum(axis=1, keepdims=True)
        likely[place] += np.log(np.maximum(ways.sum(axis=1), LEAST)).sum()
        told.append(ways @ of_mean / np.maximum(ways.sum(axis=1), LEAST))
    return np.asarray(softmax(likely) @ np.array(told))


@lru_cache(maxsize=16)
def _remembered(steps: int, momentum: float) -> tuple[np.ndarray, np.ndarray]:
    """For each of `PULLS`, of noise of variance 1: the variance of the mean, and what noise adds to least squares."""
    pace = place = np.zeros(len(PULLS))
    path = np.empty((steps, len(PULLS)))  # Where a coefficient is after each step, when noise moved it in the first.
    for step in range(steps):
        pace = momentum * pace - PULLS * place + (step == 0)
        path[step] = place = place + pace
    sums, there, last = np.vstack((0.0 * path[:1], path.cumsum(axis=0))), np.arange(1, steps + 1), steps - steps // 2
    moved = (sums[there] - sums[np.maximum(there - last, 0)]) / last
    return (moved**2).sum(axis=0), np.arange(steps - 1, 0, -1) @ path[:-1] / steps


CELLS = 8  # Of the bounds of a number, in which records are counted.
CURVATURE = 0.6  # Of a quarter of Σ x xᵀ, that H is taken for.
LONGER = 4.0  # How many times as much variance noise may have as is reckoned with.
RATIOS = 2.0 ** np.arange(-16.0, 31.0)  # Variances that are tried, in the usual one of noise.
LEAST_SHARE = 5e-4  # Of the records, in a cell.
UNSURE = 0.1  # How far off means may be, squared, as a share of the variance, for anything to be taken out.
CELLS_SHARE = Fraction(1, 20)  # Of epsilon, for the counts.
WORTH_COUNTING = 8  # ε of a cell times records, above which cells of straight lines are counted.
# Of columns that differ less than others how much is made up for; the least that is reckoned with; and where records
# are cut, in their usual lengths.
EVENED, LEAST_APART, CUT = 0.5, 1e-3, 0.8


def _counts_of(block: Block) -> int:
    """How many counts are bought of centred coordinates."""
    return block.size + 1 if block.category else CELLS


def in_cells(task: Task, units: np.ndarray, unit: int) -> np.ndarray:
    """How many records are in each cell of each number, and of each category, int64: exact, private."""
    found = []
    for block in blocks_of(task):
        values = units[:, block.own]
        if block.category:
            found.append((values > 0).sum(axis=0))
        elif not block.several:
            # The first tent is 1 - |v|, however much the record was shortened.
            straight = np.full(len(values), unit * task.shortened_by)
            whole = np.abs(values[:, 0]) + values[:, 1] if block.halvings else straight
            cells = np.floor((values[:, 0] / np.maximum(whole, 1) + 1.0) * (CELLS / 2))
            found.append(np.bincount(np.clip(cells, 0, CELLS - 1).astype(np.int64), minlength=CELLS))
    return np.concatenate(found).astype(np.int64)


def cells_sensitivity(task: Task, neighbours: Neighbours) -> Sensitivity:
    """How far one record moves `in_cells`: a count of every column by 1, a replaced one two."""
    columns = sum(not block.several for block in blocks_of(task))
    moved = columns * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
    return Sensitivity(moved, moved, unit_shifts=True)


def worth_counting(task: Task, budget: Budget, records: float) -> bool:
    """Whether counts of cells tell where so many records lie, for what they cost."""
    moves = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
    heard = records * float(Fraction(budget.epsilon) * CELLS_SHARE) / (moves * task.domain.unit.records)
    return heard > WORTH_COUNTING * len(task.features.columns)


@dataclass(frozen=True, eq=False)
class Known:
    """What counts say of the coordinates of a column."""

    block: Block
    means: np.ndarray
    spread: np.ndarray  # Their covariance.
    unsure: float  # How far off the means may be, squared, as a share of the variance.

    @property
    def surely_apart(self) -> float:
        """What the variance may well be: of shares of categories it is as far off as they are, not its square."""
        own = float(np.trace(self.spread))
        return own + (math.sqrt(self.unsure * own) if self.block.category else self.unsure * own)


@dataclass(frozen=True, eq=False)
class Spread:
    """Where records lie, as far as counts say it."""

    records: float  # How many there are, at least 1.
    columns: tuple[Known, ...]

    @classmethod
    def of(cls, task: Task, counts: np.ndarray, variance: float, about: float | None = None) -> Spread:
        """What counts of `in_cells` say that have noise of that variance each, of so many records if that is known."""
        blocks = [block for block in centred_blocks(task) if not block.several]
        records = max(1.0, float(counts.sum()) / len(blocks) if about is None else about)
        ends = np.cumsum([_counts_of(block) for block in blocks])[:-1]
        noisy = np.split(counts / records, ends)
        known = [_known(block, one, variance / records**2) for block, one in zip(blocks, noisy, strict=True)]
        # Records are so long on average, and are cut at the radius.
        length = np.sqrt(sum(float(np.trace(one.spread) + one.means @ one.means) for one in known))
        cut = min(task.shortened_by, centred_radius(task) / max(length, LITTLE))
        return cls(records, tuple(replace(one, means=cut * one.means, spread=cut**2 * one.spread) for one in known))

    def frame(self, task: Task) -> Frame:
        """What records are told from, so that their lengths are what they differ by."""
        middle, stretch = np.zeros(centred_width(task)), np.ones(centred_width(task))
        apart = np.array([one.surely_apart for one in self.columns])
        each = np.maximum(apart, LEAST_APART) ** (-EVENED / 2.0)
        each /= each.mean()
        for one, own in zip(self.columns, each.tolist(), strict=True):
            at = slice(one.block.own.start - 1, one.block.own.stop - 1)
            middle[at], stretch[at] = one.means, own
        # Waves are so long; products are about the square of the usual number.
        usual = float(np.mean([np.trace(one.spread) + one.means @ one.means for one in self.columns]))
        several = SHARE * (task.waves > 0) + SHARE_OF_PRODUCTS * (len(task.pairs) > 0) * min(1.0, usual) ** 2
        return Frame(middle, stretch, CUT * math.sqrt(float(apart @ each**2) + task.corner * several))

    def within(self, frame: Frame) -> Spread:
        """The same of what is told from there."""
        columns = []
        for one in self.columns:
            stretch = frame.stretch[one.block.own.start - 1 : one.block.own.stop - 1]
            spread = np.outer(stretch, stretch) * one.spread
            columns.append(replace(one, means=np.zeros_like(one.means), spread=spread))
        return replace(self, columns=tuple(columns))

    def deviation(self, weights: np.ndarray) -> float:
        """Of scores, float64 (d + 1,), over the records."""
        parts = [(weights[one.block.own], one.spread) for one in self.columns]
        return math.sqrt(sum(float(part @ spread @ part) for part, spread in parts))

    def score(self, weights: np.ndarray) -> float:
        """What (1, coordinates) of the mean of all records come to."""
        return float(weights[0]) + sum(float(weights[one.block.own] @ one.means) for one in self.columns)

    def _noises(self, length: float, ridge: float, variance: float, curved: float = 1.0) -> list[np.ndarray]:
        """Covariances of the coefficients of a minimiser, as of `quieted`."""
        found = []
        for one in self.columns:
            same = np.eye(len(one.means))
            inverse = np.linalg.inv(curved * CURVATURE / 4.0 * self.records / length**2 * one.spread + ridge * same)
            found.append(variance * inverse @ (same + np.outer(one.means, one.means)) @ inverse)
        return found

    def believed(self, weights: np.ndarray, length: float, ridge: float, variance: float) -> float:
        """The share of what a minimiser says that is true, were its noise as long as it may be, between 0 and 1."""
        noises = zip(self._noises(length, ridge, variance), self.columns, strict=True)
        noise = sum(float(np.sum(one * known.spread)) for one, known in noises)
        return max(0.0, 1.0 - LONGER * noise / max(self.deviation(weights) ** 2, LITTLE))

    def quieted(
        self, weights: np.ndarray, length: float, ridge: float, variance: float, curved: float | None = None
    ) -> np.ndarray:
        """Coefficients without what noise alone explains, float64 (d + 1,); see the module.

        `weights`: A minimiser, of (1, coordinates) divided by `length`. `ridge`, `variance`: Of the squared
        coefficients in what was minimised; and of each entry of b. `curved`: Of classes how much the loss curves beside
        a quarter; slopes stay then.
        """
        noises = self._noises(length, ridge, variance, 1.0 if curved is None else curved)
        unsure = [one.unsure for one in self.columns]
        found = without_noise(
            [one.block for one in self.columns], weights, noises, unsure, bends_alone=curved is not None
        )
        found[0] += sum(float(one.means @ (weights - found)[one.block.own]) for one in self.columns)
        return found


def without_noise(
    blocks: Sequence[Block],
    weights: np.ndarray,
    noises: Sequence[np.ndarray],
    unsure: Sequence[float],
    bends_alone: bool = False,
) -> np.ndarray:
    """Coefficients that were released with noise of known covariances, block by block, as they are expected to be.

    `unsure`: What taking something out of them costs where means are not known, as a share of it.
    """
    found, slopes = weights.copy(), []
    for block, noise, doubt in zip(blocks, noises, unsure, strict=True):
        if doubt > UNSURE:
            continue
        at, bends = np.arange(len(weights))[block.own], block.expected > 0.0
        if not bends.any():
            slopes.append((at, noise, at[:0], noise[:0], doubt))
            continue
        root = np.sqrt(block.expected[bends])
        spread, axes = np.linalg.eigh(noise[np.ix_(bends, bends)] / np.outer(root, root))
        along = axes.T @ (found[at[bends]] / root)
        kept, axes = _kept(along, spread, doubt * along**2), root[:, None] * axes
        change = axes @ ((kept - 1.0) * along)
        found[at[bends]] += change
        if not bends.all():
            known = np.linalg.inv(noise)
            of_slopes = np.linalg.inv(known[np.ix_(~bends, ~bends)])
            moved = -of_slopes @ known[np.ix_(~bends, bends)]  # slopes by bends
            left = (axes * (spread * kept)) @ axes.T  # the covariance of bends that is left
            found[at[~bends]] += moved @ change
            slopes.append((at[~bends], of_slopes + moved @ left @ moved.T, at[bends], left @ moved.T, doubt))
    if bends_alone or not slopes:
        return found
    parts = [np.linalg.eigh(noise) for _, noise, *_ in slopes]
    along = [axes.T @ found[at] for (_, axes), (at, *_) in zip(parts, slopes, strict=True)]
    doubts = np.concatenate([one[-1] * each**2 for one, each in zip(slopes, along, strict=True)])
    kept = _kept(np.concatenate(along), np.concatenate([spread for spread, _ in parts]), doubts)
    for (at, noise, at_bends, together, _), (_, axes), each in zip(slopes, parts, along, strict=True):
        change = axes @ ((kept[: len(at)] - 1.0) * each)
        kept = kept[len(at) :]
        found[at_bends] += together @ np.linalg.solve(noise, change)
        found[at] += change
    return found


def _kept(values: np.ndarray, noise: np.ndarray, doubts: np.ndarray) -> np.ndarray:
    """The share of each of some values that is expected to be true, all of one variance, with noise of others.

    `doubts`: What the square of a value costs beside noise where it is taken out.
    """
    noise = np.maximum(noise, LITTLE)
    tried = np.median(noise) * RATIOS[:, None]
    likely = -0.5 * (np.log(noise + tried) + values**2 / (noise + tried)).sum(axis=1)
    true = tried + doubts
    return np.asarray(np.exp(likely - logsumexp(likely)) @ (true / (noise + true)))


@lru_cache(maxsize=1)
def _bells() -> np.ndarray:
    """Shares in the cells of bells of many middles and widths, cut at the bounds, float64 (bells, CELLS)."""
    ends, middles = np.linspace(-1.0, 1.0, CELLS + 1), np.linspace(-1.2, 1.2, 25)[:, None, None]
    found = np.diff(ndtr((ends - middles) / np.geomspace(0.08, 2.0, 14)[:, None])).reshape(-1, CELLS)
    found = found[found.sum(axis=1) > 1e-3]
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _known(block: Block, noisy: np.ndarray, variance: float) -> Known:
    """What shares of records in the cells of a column say, with noise of that variance each."""
    if block.category:
        shares = _beside(noisy, np.full(len(noisy), 1.0 / len(noisy)), len(noisy) - 1, variance)
        own = float(shares @ (1.0 - shares))
        doubt = min(1.0, len(noisy) * variance) / max(own, LITTLE)
        apart, axes = np.diag(shares) - np.outer(shares, shares), directions(len(shares))
        return Known(block, axes.T @ shares, axes.T @ apart @ axes, doubt)
    off = ((noisy - _bells()) ** 2).sum(axis=1)
    weight = np.exp((off.min() - off) / (2.0 * max(variance, LITTLE)))
    weight /= weight.sum()
    usual = weight @ _bells()
    shares = _beside(noisy, usual, len(noisy) - 3, variance)
    middles = (np.arange(CELLS) + 0.5) / (CELLS / 2) - 1.0
    each, own = _bells() @ middles, float(shares @ middles**2 - (shares @ middles) ** 2)
    doubt = float(weight @ (each - weight @ each) ** 2)
    return Known(block, *inside(block, shares), doubt / own)


def _beside(noisy: np.ndarray, usual: np.ndarray, free: int, variance: float) -> np.ndarray:
    """Shares that add up to 1, and are usual ones but for what noise does not explain."""
    beside = noisy - usual
    told = usual + max(0.0, 1.0 - free * variance / max(float((beside**2).sum()), LITTLE)) * beside
    told = np.maximum(told, LEAST_SHARE)
    return np.asarray(told / told.sum())
