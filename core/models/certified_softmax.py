"""The minimiser of a regularised multinomial logistic loss with a linear term, rounded to a grid: certainly.

For vectors x_i with |x_i| <= 1 of classes y_i among K, a curvature k > 0 and real vectors b_j,

    J(F) = Σ_i (log Σ_j exp<f_j, x_i> - <f_(y_i), x_i>) + k|F|²/2 + Σ_j <b_j, f_j>      has one minimiser F*,

a row f_j a class. It is enclosed and rounded as in `certified_logistic`, by the same certificate: J is k-strongly
convex in all numbers of F together, so |F - F*| <= |∇J(F)|/k.

*Gradient in double precision* (level 0), u = 2^-53: its row j is b_j + k f_j + Σ p_ij x_i less the sum of x_i of class
j, with p_ij = exp(s_ij)/Σ_l exp(s_il) and s_ij = <f_j, x_i>.

1.  s_ij is within 1.01 m u |f_j| of the truth. What counts is s_ij - max_l s_il, two such errors and a rounding of
    1.01 u (|f_j| + |f_l|): within η = 2.02 (m + 1) u max|f|. Errors of η move the shares of a record by
    Σ_j |p_j (δ_j - Σ p_l δ_l)| <= η in sum.
2.  Differences, none above 0, are cut at -40, which moves exp by 0.04u; `exponential` is within 6.1u of itself, a sum
    of K of them within K u more, and the quotient u. The largest term is 1, so the shares of a record are off by
    (16 + 2K) u in sum.
3.  Σ p_ij x_i, in blocks of 256 records, as in `certified_logistic`: within 1.01 · 258 u Σ p_ij, over all rows together
    258 u n or so.
4.  The sums of the x_i of each class are whole numbers, and the rest is in fractions.

*Gradient in words* (level 1): as in `certified_logistic`.

*Gradient with more digits* (levels from 2), in whole multiples of 2^-q: s_ij is exact; exponentials of differences are
correctly rounded decimals, which are 0 below e^-q, and shares are cut: each within 2^(1-q). So the gradient is within
2nK 2^-q.

*The search* needs no proof: Newton's steps, each solved by conjugate gradients, which need only products with vectors.
"""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from .certified_logistic import (
    BLOCK,
    FARTHEST,
    MOST_STEPS,
    ROWS_AT_ONCE,
    SLACK,
    UNIT_BITS,
    UNIT_ROUNDOFF,
    Bounds,
    Objective,
    block_sums,
    digits_of,
    exponential,
    rounded_by,
    shares_in_words,
)
from .record_vectors import block_by_block

# Of a step's equations: how much may be left of them, far from the minimum and near it, and how often they are mended.
ROUGH, NEAR, MOST_SOLVING = 1e-3, 1e-9, 2_000
LEAST_SHARE = 2.0**-30  # Of a step.


def rounded_softmax(vectors: np.ndarray, codes: np.ndarray, classes: int, curvature: Fraction, linear: Bounds) -> list:
    """Return the minimiser of J in multiples of 2^-`GRID_BITS`, rounded to nearest, row by row.

    `vectors`: int64 (n, m), x_i in units of 2^-`UNIT_BITS`, each of length 1 at most. `codes`: int64 (n,), their
    classes, from 0. `linear`: Bounds of all b_j, one after the other, which get narrower from level to level without
    end.
    """
    return rounded_by(Softmax(vectors, codes, classes, curvature), curvature, linear)


class Softmax(Objective):
    """J without its linear term: gradients that are known to be right, and steps that need not be."""

    def __init__(self, vectors: np.ndarray, codes: np.ndarray, classes: int, curvature: Fraction):
        self._units = vectors
        self._vectors = vectors / float(1 << UNIT_BITS)
        self._curvature = curvature
        self._of_class = codes[:, None] == np.arange(classes)
        whole = [vectors[own].sum(axis=0).tolist() for own in self._of_class.T]
        self._pulls = [Fraction(total, 1 << UNIT_BITS) for row in whole for total in row]
        self._shape = classes, vectors.shape[1]

    def start(self, linear: list[float]) -> np.ndarray:
        place, goal = np.zeros(self._shape), np.array(linear).reshape(self._shape)
        goal = goal - np.array([float(total) for total in self._pulls]).reshape(self._shape)
        for _ in range(MOST_STEPS):
            shares = softmax(self._scores(place))
            slopes = goal + float(self._curvature) * place + shares.T @ self._vectors
            move = self._solved(shares, slopes, ROUGH)
            value, slope, share = self._value(place, goal), float((slopes * move).sum()), 1.0
            while share > LEAST_SHARE and not self._value(place - share * move, goal) <= value - share * slope / 4:
                share /= 2
            place = place - share * move
            if np.linalg.norm(move) < 1e-6 * max(1.0, float(np.linalg.norm(place))):
                break
        return place.ravel()

    def step(self, place: list[Fraction], gradient: list[Fraction], level: int) -> list[Fraction]:
        values = np.array([float(value) for value in place]).reshape(self._shape)
        scale = max(abs(value) for value in gradient)
        goal = np.array([float(value / scale) for value in gradient]).reshape(self._shape)
        move = self._solved(softmax(self._scores(values)), goal, NEAR).ravel().tolist()
        return self._moved(place, [Fraction(change) * scale for change in move], level)

    def _value(self, place: np.ndarray, goal: np.ndarray) -> float:
        """J at a place, near enough to compare steps."""
        scores = self._scores(place)
        most = scores.max(axis=1)
        losses = most + np.log(np.exp(scores - most[:, None]).sum(axis=1))
        return float(losses.sum() + float(self._curvature) * (place * place).sum() / 2 + (place * goal).sum())

    def _scores(self, place: np.ndarray) -> np.ndarray:
        return np.einsum("ij,kj->ik", self._vectors, place, optimize=False)

    def _solved(self, shares: np.ndarray, goal: np.ndarray, left_over: float) -> np.ndarray:
        """What the second derivative at a place takes near to a goal, (K, m), by conjugate gradients."""
        found, left = np.zeros_like(goal), goal.copy()
        way, size = left.copy(), float((left * left).sum())
        enough = left_over**2 * size
        for _ in range(MOST_SOLVING):
            if size <= enough:
                break
            turned = shares * (self._vectors @ way.T)
            turned -= shares * turned.sum(axis=1, keepdims=True)
            bent = turned.T @ self._vectors + float(self._curvature) * way
            length = size / float((way * bent).sum())
            found += length * way
            left -= length * bent
            last, size = size, float((left * left).sum())
            way = left + (size / last) * way
        return found

    def _in_double_precision(self, place: list[Fraction]) -> tuple[list[Fraction], Fraction]:
        values = np.array([float(value) for value in place]).reshape(self._shape)
        (classes, size), records = self._shape, len(self._vectors)
        shares = softmax(self._scores(values))
        farthest = max(float(np.linalg.norm(row)) for row in values)
        each = 16 + 2 * classes + BLOCK + 2 + 2.02 * (size + 1) * farthest
        error = Fraction(SLACK**2 * records * each * UNIT_ROUNDOFF)
        sums = [Fraction(total) for column in shares.T for total in block_sums(self._vectors, column)]
        return [pull - total for pull, total in zip(self._pulls, sums, strict=True)], error

    def _in_whole_numbers(self, place: list[Fraction], level: int) -> tuple[list[Fraction], Fraction]:
        digits = digits_of(level)
        classes, whole = self._shape[0], self._whole(place, digits).reshape(self._shape)
        if level == 1 and (found := shares_in_words(self._units, whole, np.zeros(len(self._units), np.int64))):
            return [pull - one for pull, one in zip(self._pulls, found[0], strict=True)], found[1]
        total = np.zeros(self._shape, object)
        for start in range(0, len(self._units), ROWS_AT_ONCE):
            units = self._units[start : start + ROWS_AT_ONCE].astype(object)
            shares = np.array([_shares(row, digits) for row in (units @ whole.T).tolist()], object)
            total = total + shares.reshape(-1, classes).T @ units
        sums = [Fraction(number, 1 << digits + UNIT_BITS) for number in total.ravel().tolist()]
        error = Fraction(2 * len(self._units) * classes, 1 << digits)
        return [pull - one for pull, one in zip(self._pulls, sums, strict=True)], error


def softmax(scores: np.ndarray) -> np.ndarray:
    """Shares in proportion to exponentials of scores, float64 (n, K): steps 1 and 2 of the module."""
    return block_by_block(_softmax, scores)


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = exponential(np.maximum(scores - scores.max(axis=1, keepdims=True), -FARTHEST))
    total = np.zeros(len(powers))
    for column in powers.T:
        total += column
    return np.asarray(powers / total[:, None])


def _shares(scores: list[int], digits: int) -> list[int]:
    """Shares in multiples of 2^-digits, within two of them, for scores in multiples of 2^-(digits + `UNIT_BITS`)."""
    scale, most = digits + UNIT_BITS, max(scores)
    context = Context(prec=digits * 302 // 1000 + 15, Emin=-(10**9), Emax=10**9)
    powers = [
        Decimal(0)
        if most - score >> scale >= digits  # e^-digits < 2^-digits
        else context.exp(context.divide(Decimal(score - most), Decimal(1 << scale)))
        for score in scores
    ]
    total = Decimal(0)
    for power in powers:
        total = context.add(total, power)
    return [int(context.divide(context.multiply(Decimal(1 << digits), power), total)) for power in powers]
