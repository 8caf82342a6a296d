"""Laws of mechanisms whose promise is proven for a real vector inside an equation: minimisers, posteriors, deep points.

Such a vector is never released, and no digits of it are known but those that its solution needs, so drawing and solving
are one draw: what it hides is the records that the equation is made of, and what comes out is the released solution.
Every law knows the density of that by its definition, from the records of both data sets, and nothing of how its noise
was calibrated. What is released is rounded to a grid: the ratio of probabilities there is a mean of ratios of densities
within half a step, so a largest loss holds for it too, and a distribution of losses can only come closer (data
processing).

Where the loss of one record depends on what came out only through few numbers, its distribution is integrated on a
grid of them (`_pair_of`). What depends on all of it is taken at its largest over outcomes that are tried (`_tried`):
the one that came out, and places far out along the records that differ, where proofs say that promises are reached.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.special import expit, logsumexp, softmax

from .losses import Loss

BINS = 2_000
FARTHEST = 9.0  # Deviations of a normal number, beyond which there is less than 10^-18 of it.
STEPS = 4_001  # Of one normal number that is integrated over; of two, the root of about as many times ten each.
COARSE_STEPS = 161
WEIGHTS = 33  # Weights between 0 and 1 that a record may have at a minimum, of which the worst counts.
DISTANCES = (0.0, 0.5, 2.0, 8.0, 64.0, 1024.0, 16384.0)
MOST_TRIED = 4  # Records that differ, from which directions are made.
ALIKE = 1e-12


@dataclass(frozen=True)
class PerturbedMinimum:
    """The minimiser of Σ log(1 + e^-<f, u>) + k|f|²/2 + <b, f>, with density ∝ exp(-r|b|) of b: pure.

    By the change of variables its density is ∝ exp(-r|b(f)|) det(kI + H(f)), b(f) = Σ p u - kf with the weights p of
    the records at f, and H(f) = Σ p(1 - p) u uᵀ. The loss is the largest of this over the outcomes of `_tried`: for
    records in the unit ball one more or less reaches r, as f goes against it. Of one that is replaced less than 2r is
    reached where there are few others: f cannot go against both unless others pull b aside.
    """

    # r and k.
    rate: Fraction
    curvature: Fraction
    # What 1 counts in records and in the coefficients that are released.
    unit: int
    grid: int

    described = "a minimiser with a random linear term"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: Sequence[int], sampled: float = 1.0) -> Loss:
        """The largest absolute loss over outcomes that are tried."""
        first, second = (records / self.unit for records in (hidden, other))
        if not any(map(len, _differing(first, second))):
            return Loss()
        came = np.array(outcome, float) / self.grid
        return Loss(
            max(abs(self._log(first, place) - self._log(second, place)) for place in self._places(first, second, came))
        )

    def _places(self, first: np.ndarray, second: np.ndarray, came: np.ndarray) -> list[np.ndarray]:
        """Where a loss is looked for."""
        return _tried(first, second, came)

    def _log(self, records: np.ndarray, place: np.ndarray) -> float:
        """The log density of a place."""
        vectors, weights, pulls = self._pulled(records, place)
        linear = pulls @ vectors - float(self.curvature) * place
        curved = (vectors * (weights * (1.0 - weights))[:, None]).T @ vectors
        volume = np.linalg.slogdet(curved + float(self.curvature) * np.eye(len(place)))[1]
        return float(volume - float(self.rate) * np.linalg.norm(linear))

    def _pulled(self, records: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vectors of records, their weights p at a place, and how much of each the linear term makes up for."""
        weights = expit(-(records @ place))
        return records, weights, weights


@dataclass(frozen=True)
class PerturbedFit(PerturbedMinimum):
    """The same of Σ 2 log cosh((<f, x> - o)/2): with p = 1/(1 + e^(<f, x> - o)) a record pulls by (p - ½) x.

    Hidden are the vectors x with their offsets o in a last column. One record more or less reaches r/2, as f goes far
    along it or against it.
    """

    described = "a fit with a random linear term"

    def _pulled(self, records: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        vectors = records[:, :-1]
        weights = expit(records[:, -1] - vectors @ place)
        return vectors, weights, weights - 0.5


@dataclass(frozen=True)
class PerturbedSoftmax(PerturbedMinimum):
    """The minimiser of Σ (log Σ_j e^<f_j, x> - <f_y, x>) + k|F|²/2 + Σ <b_j, f_j>, rows b_j of density ∝ exp(-r|b_j|).

    Hidden are the vectors x with their classes y, whole numbers, in a last column. With shares p of the classes at F
    its density is ∝ exp(-r Σ_j |b_j(F)|) det(kI + H(F)), b_j(F) = Σ (1[y = j] - p_j) x - k f_j and H(F) the sum of
    (diag(p) - ppᵀ) ⊗ xxᵀ. One record more or less reaches 2r, as F goes far against it, and a little less with the
    determinant, which is largest where shares are even.
    """

    classes: int

    described = "a minimiser of several classes with a random linear term"

    def _places(self, first: np.ndarray, second: np.ndarray, came: np.ndarray) -> list[np.ndarray]:
        gone, come = _differing(first, second)
        records = [np.frombuffer(one) for one in [*gone, *come][:MOST_TRIED]]
        ways = []
        for record in records:
            own = np.arange(self.classes) == round(record[-1] * self.unit)
            ways += [np.outer(own - ~own / (self.classes - 1), record[:-1]), np.outer(own, record[:-1])]
        ways.append(np.sum(ways, axis=0))
        turned = [sign * far * way.ravel() for way in ways for far in DISTANCES for sign in (1.0, -1.0)]
        return [came, *turned]

    def _log(self, records: np.ndarray, place: np.ndarray) -> float:
        rows, vectors = place.reshape(self.classes, -1), records[:, :-1]
        own = np.rint(records[:, -1:] * self.unit) == np.arange(self.classes)
        shares = softmax(vectors @ rows.T, axis=1)
        linear = (own - shares).T @ vectors - float(self.curvature) * rows
        spread = np.eye(self.classes) * shares[:, :, None] - shares[:, :, None] * shares[:, None, :]
        curved = np.einsum("ijl,ia,ib->jalb", spread, vectors, vectors).reshape(place.size, place.size)
        volume = np.linalg.slogdet(curved + float(self.curvature) * np.eye(place.size))[1]
        return float(volume - float(self.rate) * np.linalg.norm(linear, axis=1).sum())


@dataclass(frozen=True)
class ApproximateMinimum:
    """A place near the minimiser of `PerturbedMinimum`'s objective, b Gaussian of s², with Gaussian noise on it.

    With Δ the sum of p u over the records that are in one data set alone, those of the other taken off, the loss of the
    minimiser is <b, Δ>/s² + |Δ|²/2s², and a logarithm of determinants that is at most Σ log(1 + p(1 - p)|u|²/k) over
    the records of the one. The weights p depend on the minimiser, so on b: here the worst ones are taken for each
    direction of b among the records that differ, which no real weights pass. Two different records that differ are
    integrated over; of more the loss is that of what came out (which is less than there may be).

    That the place is near was checked by whoever drew, with the gradient that is said here; given the minimiser, both
    data sets' places are within twice that over k, and their roundings to the grid within √m steps each. The noise of
    the second part is reckoned against that, as the records of neighbours say no more of it: so it is reached in no
    replay but counts in each.
    """

    # s and k.
    deviation: Fraction
    curvature: Fraction
    gradient: Fraction  # The largest length of the gradient at a place.
    noise: Fraction  # σ² of the second part, discrete Gaussian noise on steps of the grid.
    # As of `PerturbedMinimum`.
    unit: int
    grid: int

    described = "a place near a minimiser with a random linear term"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: np.ndarray, sampled: float = 1.0) -> Loss:
        """The distribution of the minimiser's loss, either way, with the shift of the second part."""
        first, second = (records / self.unit for records in (hidden, other))
        gone, come = _differing(first, second)
        if not gone and not come:
            return Loss()
        apart = 2 * (float(self.gradient / self.curvature) * self.grid + math.sqrt(first.shape[1]))
        shifts = ((math.ceil(apart), 1),)
        if len(gone) + len(come) > 2:
            place = np.ravel(outcome) / self.grid
            most = abs(self._log(first, place) - self._log(second, place))
            return Loss(most, shifts, float(self.noise))
        there, back = self._pair(gone, come), self._pair(come, gone)
        most = float(max(np.max(pair[0] - pair[1]) for pair in (there, back)))
        return Loss(most, shifts, float(self.noise), logs=there, back=back)

    def _pair(self, gone: Counter[bytes], come: Counter[bytes]) -> tuple[np.ndarray, np.ndarray]:
        """Log probabilities of the loss ln p(f | with those gone)/p(f | with those that come), at its worst weights."""
        records = [np.frombuffer(one) for one in (*gone, *come)]
        times = np.array([*gone.values(), *(-count for count in come.values())], float)
        vectors = np.array(records) * times[:, None]
        inner = vectors @ vectors.T
        values, turned = np.linalg.eigh(inner)
        root = turned * np.sqrt(np.maximum(values, 0.0))  # so that root @ root.T is the inner products
        root = root[:, values > ALIKE * values.max()]
        steps = STEPS if root.shape[1] == 1 else COARSE_STEPS
        normal = np.linspace(-FARTHEST, FARTHEST, steps)
        places = np.array(list(product(normal, repeat=root.shape[1])))
        masses = -(places**2).sum(axis=1) / 2.0
        masses -= logsumexp(masses)
        scale, curvature = float(self.deviation), float(self.curvature)
        along = places @ root.T / scale
        worst = np.full(len(places), -np.inf)
        levels = np.linspace(0.0, 1.0, WEIGHTS)
        squares = np.array([one @ one for one in records])
        for weights in product(levels, repeat=len(records)):
            here = np.array(weights)
            curved = sum(
                count * math.log1p(weight * (1.0 - weight) * square / curvature)
                for weight, square, count in zip(weights, squares, times, strict=True)
                if count > 0
            )
            worst = np.maximum(worst, along @ here + here @ inner @ here / (2.0 * scale**2) + curved)
        return _pair_of(worst, masses, masses - worst)

    def _log(self, records: np.ndarray, place: np.ndarray) -> float:
        """The log density of a minimiser."""
        weights = expit(-(records @ place))
        linear = weights @ records - float(self.curvature) * place
        curved = (records * (weights * (1.0 - weights))[:, None]).T @ records
        volume = np.linalg.slogdet(curved + float(self.curvature) * np.eye(len(place)))[1]
        return float(volume - linear @ linear / (2.0 * float(self.deviation) ** 2))


@dataclass(frozen=True)
class PosteriorDraw:
    """A draw from N(H⁻¹b, (γH)⁻¹), H = Σ x xᵀ + λI and b = Σ x y: exact.

    Of two normal distributions the loss is a sum over the directions in which both are uncorrelated. It differs from 0
    in as many as there are records that differ, and is integrated in each of them.
    """

    spread: Fraction  # γ^(-1/2).
    root: int  # √λ, in units.
    unit: int  # What 1 counts in records.

    described = "a draw from a posterior"

    def loss(
        self,
        hidden: tuple[np.ndarray, np.ndarray],
        other: tuple[np.ndarray, np.ndarray],
        outcome: object,
        sampled: float = 1.0,
    ) -> Loss:
        """The distribution of the loss over all draws."""
        (matrix, centre), (second, moved) = self._normal(*hidden), self._normal(*other)
        factor = np.linalg.cholesky(matrix)
        inverse = np.linalg.inv(factor)
        precisions, axes = np.linalg.eigh(inverse @ second @ inverse.T)
        means = axes.T @ factor.T @ (moved - centre)
        pair = None
        for precision, mean in zip(precisions.tolist(), means.tolist(), strict=True):
            if abs(precision - 1.0) > ALIKE * len(means) or abs(mean) > 1e-9:
                alone = _normals(precision, mean)
                pair = alone if pair is None else _together(pair, alone)
        return Loss() if pair is None else Loss(float(np.max(np.abs(pair[0] - pair[1]))), logs=pair)

    def _normal(self, units: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The precision matrix and the mean."""
        records, told = units / self.unit, numbers / self.unit
        matrix = records.T @ records + (self.root / self.unit) ** 2 * np.eye(units.shape[1])
        return matrix / float(self.spread) ** 2, np.linalg.solve(matrix, records.T @ told)


@dataclass(frozen=True)
class DeepPoint:
    """A point of a public grid, with probability ∝ exp(worth · depth) among fits to parts of the records.

    Its depth is the largest i for which, in every coordinate, i fits are at most it and i at least it (0 beyond them).
    The loss is exact for a point; it is the largest over the ends of the boxes of all depths, moved by one step, and
    what came out.
    """

    worth: Fraction  # What a depth of one is worth in the exponent.
    most: int  # The largest coordinate of the grid.

    described = "a deep point among fits"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: Sequence[int], sampled: float = 1.0) -> Loss:
        """The largest absolute loss over points that are tried."""
        points = np.concatenate([np.array([outcome], np.int64), self._ends(hidden), self._ends(other)])
        gap = self._log_total(hidden) - self._log_total(other)
        deeper = float(self.worth) * (_depths(hidden, points) - _depths(other, points))
        return Loss(float(np.max(np.abs(deeper - gap))))

    def _ends(self, fits: np.ndarray) -> np.ndarray:
        ordered = np.sort(fits, axis=0)
        return np.asarray(np.clip(np.concatenate([ordered, ordered - 1, ordered + 1]), -self.most, self.most))

    def _log_total(self, fits: np.ndarray) -> float:
        """ln Σ over the grid of exp(worth · depth): each depth adds its gain for all points that are so deep."""
        ordered = np.sort(fits, axis=0)
        logs = [fits.shape[1] * math.log(2 * self.most + 1)]
        for depth in range(1, (len(fits) + 1) // 2 + 1):
            widths = ordered[-depth] - ordered[depth - 1] + 1
            gain = float(self.worth) * depth + math.log(-math.expm1(-float(self.worth)))
            logs.append(float(np.log(widths).sum()) + gain)
        return float(logsumexp(logs))


def _depths(fits: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How deep points lie among fits, by counting."""
    below = (fits[None] <= points[:, None]).sum(axis=1)
    above = (fits[None] >= points[:, None]).sum(axis=1)
    return np.asarray(np.minimum(np.minimum(below, above).min(axis=1), (len(fits) + 1) // 2))


def _differing(first: np.ndarray, second: np.ndarray) -> tuple[Counter[bytes], Counter[bytes]]:
    """The records that are in one data set and not in the other, each with how often, either way."""
    one, two = (Counter(row.tobytes() for row in records) for records in (first, second))
    return one - two, two - one


def _tried(first: np.ndarray, second: np.ndarray, came: np.ndarray) -> list[np.ndarray]:
    """Outcomes at which a loss is looked for: what came, and places along and against the records that differ."""
    gone, come = _differing(first, second)
    records = [np.frombuffer(one)[: len(came)] for one in [*gone, *come][:MOST_TRIED]]
    ways = [*records, *(one - two for one in records for two in records if one is not two)]
    ways.append(np.sum(records, axis=0))
    lengths = [(way, float(np.linalg.norm(way))) for way in ways]
    turned = [sign * way / length for way, length in lengths if length > ALIKE for sign in (1.0, -1.0)]
    return [came, *(far * way for far in DISTANCES for way in turned)]


def _pair_of(losses: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log probabilities under both by the loss, outcomes of nearly the same loss taken together."""
    places = np.linspace(losses.min(), losses.max(), BINS + 1)
    bins = np.clip(np.searchsorted(places, losses, side="right") - 1, 0, BINS - 1)
    sums = [np.bincount(bins, np.exp(masses), BINS) for masses in (first, second)]
    there = (sums[0] > 0.0) & (sums[1] > 0.0)
    one, two = (np.log(total[there]) for total in sums)
    return np.asarray(one), np.asarray(two)


def _normals(precision: float, mean: float) -> tuple[np.ndarray, np.ndarray]:
    """A standard normal number, and one of another precision and mean: log probabilities by the loss."""
    reach = FARTHEST * max(1.0, precision**-0.5)
    places = np.linspace(min(0.0, mean) - reach, max(0.0, mean) + reach, STEPS)
    first, second = -(places**2) / 2.0, -precision * (places - mean) ** 2 / 2.0
    first, second = first - logsumexp(first), second - logsumexp(second)
    return _pair_of(first - second, first, second)


def _together(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Two independent outcomes as one, by their loss."""
    first, second = (np.add.outer(a, b).ravel() for a, b in zip(one, other, strict=True))
    return _pair_of(first - second, first, second)
