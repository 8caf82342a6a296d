"""A number predicted by a deep one of many fits to parts of the records: TukeyEM (Amin et al. 2022), without a delta.

Every record goes to one of m parts by coins of its own. Each part gets a ridge regression, whose coefficients are
rounded to a public grid: whole numbers from -G to G. What is released is one point of the grid, of which fits there are
plenty to every side. Records may lie anywhere within their bounds, and nothing of them is cut or summed up with noise.

**Depth.** Of the m fits let s_j(1) <= ... <= s_j(m) be coordinate j in order. A point is i deep when for every j it
lies in [s_j(i), s_j(m+1-i)], i up to (m+1)/2; every point of the grid is 0 deep (approximate Tukey depth, by
coordinates; their Definition 3.4). One fit that changes in any way moves s_j(i) to between s_j(i-1) and s_j(i+1), so no
depth by more than 1.

**The draw** is the exponential mechanism over all points of the grid, with the depth as score: (ε, 0)-private
(`core.privacy.choosing.selection` has the proof, and that it is (ε²/8)-zCDP). The paper has no grid that ends, and pays
with a delta for a test that its boxes are not too large (propose, test, release); here all boxes are within a public
one, so nothing needs to be tested. Points exactly i deep are those of box i without box i+1, and how many they are is a
difference of two products of whole numbers. So a depth is proposed with a probability proportional to that number times
a power of two, kept with the missing factor (`Coin`), and a point of it is taken evenly, all in whole numbers.

**Which fits change.** Coins are a record's own, so one record more or less, or replaced, changes the records of one
part; m records of a person change m parts at most. And a fit must follow from the records of its part alone, bit for
bit: their sums of products are whole numbers below 2^53, and elimination takes one entry at a time by operations that
IEEE 754 fixes, so no other part can change what rounds.

What it costs: a grid of (2G+1)^d points draws from the deep ones only where e^(ε/2 · depth) outweighs their number, a
depth of (2d/ε) log(2G/spread) or so; so m is chosen by d and ε, and each part has n/m records.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.choosing.selection import INVERSE_LOG_2, below
from ..privacy.composition import Selections
from ..privacy.noise.randomness import Coin, Stream
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.replay.solved_laws import DeepPoint
from ..privacy.replay.tape import drawn, tossed
from ..runtime.parameters import Number, Resolved, Whole, parameter
from .linear_models import NumberModel
from .method import NumberMethod

UNIT = 1 << 13
GRID = 1 << 10  # Points of the grid from a coefficient of 0 to one of 1.
REACH = 4.0
PARTS_A_COORDINATE, FEWEST, MOST = 24, 6, 12  # Times d/ε; and the ends of the doublings of parts.
MOST_DEEP = 200
RIDGE = UNIT**2  # Of every fit: one record a coordinate.
THEOREM = (
    "A point of a public grid is chosen by the exponential mechanism for its depth among fits to parts of the records, "
    "of which a person changes one (Amin, Joseph, Ribero, Vassilvitskii 2022; McSherry, Talwar 2007)."
)


@dataclass(frozen=True)
class DeepFit(NumberMethod):
    """A number by the exponential mechanism among fits to parts of the records.

    `doublings`: The binary logarithm of m; None for as many as dimensions and budget ask for. `most`: The largest
    coefficient of coordinates between -1 and 1 that can be released.
    """

    doublings: int | None = parameter(Whole("The doublings of parts", 2, 16), None)
    most: Resolved[float] = parameter(Number("The largest coefficient", 0.1, 256.0), REACH)
    name: ClassVar[str] = "tukey"
    rank: ClassVar[int] = 6
    advantage: ClassVar[str] = "it needs no δ"
    bends: ClassVar[bool] = False
    described: ClassVar[str] = "a deep one of many fits"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = UNIT

    def _check(self) -> None:
        super()._check()
        if self.width >= MOST_DEEP:
            raise RequestError(
                f"Depth among fits takes at most {MOST_DEEP - 1} coordinates, as every part is fitted by itself."
            )

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: one choice of epsilon, and nothing of delta."""
        return Cost((Selections(Fraction(budget.epsilon)),), budget.epsilon, budget.delta)

    def noise(self, budget: Budget) -> float:
        """How many records the fits are of that the draw may pass over, of those in `split` parts."""
        return 2.0 * (self.width + 1) * math.log(2 * self.most * GRID) / float(budget.epsilon)

    def split(self, budget: Budget) -> int:
        """The doublings that make the parts, from public facts."""
        if self.doublings is not None:
            return self.doublings
        wanted = PARTS_A_COORDINATE * (self.width + 1) * self.domain.unit.records / budget.epsilon
        return min(MOST, max(FEWEST, math.ceil(math.log2(wanted))))

    def _planned(self, budget: Budget) -> tuple[int, Fraction]:
        """The doublings, and what a depth of one is worth in the exponent."""
        return self.split(budget), Fraction(budget.epsilon) / (2 * self.domain.unit.records)

    def _beside(self, plan: tuple[int, Fraction], share: Fraction) -> tuple[int, Fraction]:
        doublings = max(2, plan[0] + round(math.log2(share)))
        return doublings, plan[1] * Fraction(2) ** (plan[0] - doublings)

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[int, Fraction],
        noise_source: NoiseSource,
    ) -> NumberModel:
        doublings, worth = plan
        parts, most, private = 1 << doublings, round(self.most * GRID), noise_source.private
        records, lemma = np.column_stack((units, codes)), "parts by coins of each record's own"
        words = tossed(lemma, records, lambda count: noise_source.stream().words(count), private=private)
        fits = grid_fits(units, codes, (words >> np.uint64(64 - doublings)).astype(np.int64), parts, most)
        law = DeepPoint(worth, most)

        def draw() -> list[int]:
            return deep_point(boxes(fits, law.most), law.worth, noise_source.stream())

        point = drawn(law, fits, draw, private)
        details = {"parts": str(parts), "grid": str(GRID), "largest": str(most)}
        return self._model(np.array(point, float) / GRID, budget, details, noise_source)


def grid_fits(units: np.ndarray, codes: np.ndarray, places: np.ndarray, parts: int, most: int) -> np.ndarray:
    """Coefficients of a ridge regression of every part on the grid, int64 (parts, d + 1); see the module.

    `units`, `codes`: Whole records, int64 (n, d + 1), and what is predicted, int64 (n,). `places`: Which part each
    record goes to, int64 (n,).
    """
    size = units.shape[1]
    sums = np.zeros((parts, size, size + 1))
    for first in range(size):  # whole numbers below 2^53, in any order
        for second in range(first, size + 1):
            other = codes if second == size else units[:, second]
            sums[:, first, second] = np.bincount(places, units[:, first] * other, parts)
            if second < size:
                sums[:, second, first] = sums[:, first, second]
    sums[:, range(size), range(size)] += RIDGE
    for place in range(size):
        sums[:, place] = sums[:, place] / sums[:, place, place, None]
        for row in range(size):
            if row != place:
                sums[:, row] = sums[:, row] - sums[:, row, place, None] * sums[:, place]
    return np.clip(np.rint(sums[:, :, size] * GRID), -most, most).astype(np.int64)


def boxes(fits: np.ndarray, most: int) -> list[list[tuple[int, int]]]:
    """The box of every depth from 0 on, each within that before: least and greatest whole numbers by coordinate."""
    ordered = np.sort(fits, axis=0)
    deepest = (len(fits) + 1) // 2
    found = [[(-most, most)] * fits.shape[1]]
    for depth in range(deepest):
        found.append(list(zip(ordered[depth].tolist(), ordered[-1 - depth].tolist(), strict=True)))
    return found


def deep_point(nested: Sequence[Sequence[tuple[int, int]]], worth: Fraction, stream: Stream) -> list[int]:
    """A point of the outermost box with probability proportional to e^(worth · depth), exact.

    `stream`: Where the random bits come from.
    """
    sizes = [math.prod(high - low + 1 for low, high in box) for box in nested]
    alone = [size - inner for size, inner in zip(sizes, [*sizes[1:], 0], strict=True)]
    gaps = [worth * (len(nested) - 1 - depth) for depth in range(len(nested))]
    powers = [math.floor(gap * INVERSE_LOG_2) for gap in gaps]
    ends = list(accumulate(count << (powers[0] - power) for count, power in zip(alone, powers, strict=True)))
    while True:
        depth = bisect_right(ends, below(ends[-1], stream))
        if Coin(gaps[depth]).toss(stream, matched=powers[depth]):
            inner = nested[depth + 1] if depth + 1 < len(nested) else None
            return _between(nested[depth], inner, below(alone[depth], stream))


def _between(outer: Sequence[tuple[int, int]], inner: Sequence[tuple[int, int]] | None, number: int) -> list[int]:
    """The point of a number among those of the outer box that are not in the inner one.

    They are told apart by the first coordinate that is not in the inner box: those before are, those after may be.
    """
    if inner is None:
        inner = [(low, low - 1) for low, _ in outer]
    widths = [high - low + 1 for low, high in outer]
    kept = [high - low + 1 for low, high in inner]
    point: list[int] = []
    for place, (low, _) in enumerate(outer):
        after = math.prod(widths[place + 1 :])
        here = (widths[place] - kept[place]) * after
        if number < here:
            step, number = divmod(number, after)
            point.append(low + step + (kept[place] if low + step >= inner[place][0] else 0))
            for (least, _), width in zip(outer[place + 1 :], widths[place + 1 :], strict=True):
                number, step = divmod(number, width)
                point.append(least + step)
            return point
        number -= here
        # Inside: which of the inner places is part of the number of what follows.
        rest = math.prod(widths[place + 1 :]) - math.prod(kept[place + 1 :])
        step, number = divmod(number, rest)
        point.append(inner[place][0] + step)
    raise RuntimeError("A number below their count is that of a point.")
