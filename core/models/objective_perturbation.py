"""Logistic regression by objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2), pure epsilon.

What is released is the minimiser over f of

    Σ log(1 + exp(-<f, u_i>)) + k|f|²/2 + <b, f>,      b with density proportional to exp(-r|b|) on R^m,

u_i a record in the unit ball times its label 1 or -1: the paper's objective times the number of records n, with
k = n(Λ + Δ) and r its ε′/2. Both k and r are public.

*Proof, for one record more.* With p_i = 1/(1 + exp<f, u_i>), the minimiser is f when b = Σ p_i u_i - kf =: b_D(f). That
is one to one and smooth, and -db/df = kI + H, H = Σ p_i (1 - p_i) u_i u_iᵀ. So f has the density

    h_D(f) = C exp(-r|b_D(f)|) det(kI + H).

A record u more, of weight p at f, moves b_D(f) by pu, no longer than p, and multiplies the determinant by
1 + p(1 - p) uᵀ(kI + H)⁻¹u, between 1 and 1 + p(1 - p)/k. So -rp <= log(h_D'/h_D) <= rp + p(1 - p)/k, and where
1/k <= r the right side is at most rp + r(1 - p) = r. Hence, for k >= 1/r:

    add_remove: r-private;    replace_one (take one away, put one in): 2r-private;    m records a person: m times that.

r is reached in the limit of f against u. So r = ε/m or ε/(2m), and k = max(nΛ, 1/r).
Where no Λ is given, k = 1/r: the least that the promise allows, which served best wherever it was tried. The values of
Λ in the RACE paper, 0.01 to 2, leave of thousands of records little more than which class is more frequent.

The paper takes 2 log(1 + c/k) of ε, c = 1/4, for the determinant by itself. The factor 2 is not needed, as one record
is taken away before one is put in; and nothing of the budget need go to the determinant at all, as it counts most where
p, and so the move of b, is small.

*n.* Only nΛ depends on it. Where the number of records is private, a public guess takes its place.

*Exactness.* The proof is about real b and an exact minimiser. Records are whole multiples of 2^-30 whose exact length
is at most 1 (`vectors_of`); b is a real vector whose digits are tossed on demand (`privacy.l2_vector`); and what is
released is the exact minimiser rounded to a public grid (`certified_logistic`): post-processing of what the proof is
about, whatever floating point does on the way.

More than two classes: one problem for each class against all others, with an equal share of epsilon; so are the files
of `ObjectivePerturbation`.

**Records as other methods take them**, but with categories told from their middle (`PureLogistic`, `centred`): of two
classes as above, with r = ε/m for m records a person, half of that where records are replaced, and k = 1/r. Of K > 2
classes all at once, a row f_j a class: the minimiser of

    Σ (log Σ_j exp<f_j, x> - <f_y, x>) + k|F|²/2 + Σ_j <b_j, f_j>,     b_j each of density proportional to exp(-r|b_j|).

*Proof.* With shares p_j = exp<f_j, x>/Σ_l exp<f_l, x> it is F when b_j = Σ (1[y = j] - p_j) x - k f_j, and as above F
has the density C exp(-r Σ_j |b_j|) det(kI + H), H = Σ (diag(p) - ppᵀ) ⊗ xxᵀ. One record more moves the b_j by
Σ_j |1[y = j] - p_j| |x| <= 2(1 - q) together, q = p_y. It multiplies the determinant by 1 or more, and the logarithm of
that grows by no more than the trace of (diag(p) - ppᵀ)/k, (1 - |p|²)/k. As the other K - 1 shares are 1 - q in sum,
|p|² >= q² + c (1 - q)² with c = 1/(K - 1). So

    -2r <= log(h_D'/h_D) <= (1 - q) (2r + (1 - c + q(1 + c))/k) <= 2r + (1 - c)/k,

as the middle is concave in q and falls from q = 0 on where k >= c/r. Taking a record away reverses the signs, so

    add_remove: 2r + (1 - c)/k;    replace_one: 4r + (1 - c)/k;    m records a person: m times that.

Of many records, or curves, counts in cells of each column are bought first, with `CELLS_SHARE` of epsilon; the rest is
the ε above. Records are told from where counts say that they lie (`Frame`): whatever was counted, vectors are in the
unit ball and the proofs hold, so ε adds up (Dwork, Roth 2014, section 3.5). Bends that noise alone explains are taken
out of the minimiser (`noise_bands`). A tenth (`VOLUME`) of that ε goes to the determinant, which says k, and the rest
to r. Noise is that of 2 records a class, however many there are; problems that share epsilon have K/ε each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit, softmax

from ..domain import Domain
from ..errors import RequestError
from ..privacy.accounting import Cost, PureParts
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, pure_scale
from ..privacy.composition import event_of
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.vector_noise import L2Vector
from ..privacy.replay.solved_laws import PerturbedMinimum, PerturbedSoftmax
from ..privacy.replay.tape import drawn
from ..runtime.parameters import Number, Resolved, Text, Validated, Whole, parameter
from ..sources import Source
from .amp import READ_UNIT, in_unit_ball
from .centred import centred, centred_width, directions_for, of_all_coordinates, shortened_whole
from .certified_logistic import GRID_BITS, UNIT_BITS, rounded_minimiser
from .certified_softmax import rounded_softmax
from .least_squares import times
from .linear_models import LinearModel
from .method import Fitted, Method, signed_problems
from .model_file import LARGEST
from .noise_bands import CELLS_SHARE, Spread, cells_sensitivity, in_cells, worth_counting
from .record_vectors import gathered
from .training_task import Task

MAX_RECORDS = 1 << 40
MAX_COORDINATES = 2_000
REGULARISATION = Number("The regularisation", 1e-9, 1e9, "as zero would leave no promise")
RADIUS = Number("The radius of the features", 1e-100, 1e100)
VOLUME = Fraction(1, 10)  # Of epsilon, what goes to the determinant of several classes.
# Longest features and the constant beside them, in units: squares that add up to no more than a whole.
FEATURE_SHARE, CONSTANT_SHARE = 4 * (1 << UNIT_BITS) // 5, 3 * (1 << UNIT_BITS) // 5
THEOREM = (
    "The coefficients are those of a logistic loss with a random linear term, of density proportional to "
    "exp(-rate times length), rounded to a grid (Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9)."
)
LENGTHS = (1 << UNIT_BITS) ** 2  # The largest squared length, in units.


@dataclass(frozen=True)
class Perturbation:
    """How every problem is perturbed."""

    rate: Fraction  # r; the noise vector's density is proportional to exp(-r|b|).
    curvature: Fraction  # k, of the term k|f|²/2.


@dataclass(frozen=True)
class ObjectivePerturbation(Validated, Fitted[LinearModel]):
    """What is public about a private logistic regression."""

    domain: Domain  # The public facts about the records, the class among them.
    label: str = parameter(Text("The label"))  # The name of a column of categories, the public list of classes.
    # Λ, of the average loss; None is the least that the promise allows.
    regularisation: Resolved[float] = parameter(REGULARISATION, None)
    # A public number of records n, which Λ is multiplied by. None where there is no Λ, or where the number is public
    # anyway, as records are replaced and none can be left out.
    records: Resolved[int] = parameter(Whole("The public number of records", 1, MAX_RECORDS), None)
    # A public length; features that are further from the middle of their bounds are moved closer. None is that of the
    # farthest corner.
    radius: Resolved[float] = parameter(RADIUS, None)
    name: ClassVar[str] = "objective-perturbation"
    described: ClassVar[str] = "objective perturbation"

    def _check(self) -> None:
        self.task.check_classes()
        self._settle(domain=self.task.domain)
        if self.task.width + 1 > MAX_COORDINATES:
            raise RequestError(f"A private logistic regression takes at most {MAX_COORDINATES - 1:,} coordinates.")
        if self.radius is None:
            low, high = self.task.features.bounds()
            self._settle(radius=RADIUS.checked(math.sqrt(math.fsum(((high - low) / 2.0) ** 2))))

    @cached_property
    def task(self) -> Task:
        """What is predicted from what; one problem for two classes, otherwise one a class."""
        return Task(self.domain, self.label)

    def parameters(self) -> dict:
        """All public parameters but the domain, for JSON."""
        return self.written()

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: an equal share of epsilon a problem.

        RequestError when the promise is none that the theorem keeps, or the number of records is not a public fact.
        """
        if not budget.pure:
            raise RequestError("Objective perturbation keeps a pure promise: leave out delta.")
        public = budget.neighbours is Neighbours.REPLACE_ONE and self.domain.keeps_every_record
        if self.regularisation is not None and self.records is None and not public:
            raise RequestError(
                "A private logistic regression needs a public number of records, which its regularisation is "
                "multiplied by: the number in the data is private here."
            )
        return Cost((PureParts(Fraction(budget.epsilon) / self.task.rows, self.task.rows),), budget.epsilon)

    def perturbation(self, budget: Budget, records: int) -> Perturbation:
        """Noise and curvature of every problem, from the budget and the public number of records."""
        epsilon = Fraction(budget.epsilon) / self.task.rows
        curvature = Fraction(self.regularisation or 0) * records
        moves = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
        rate = epsilon / (moves * self.domain.unit.records)
        return Perturbation(rate, max(curvature, 1 / rate))

    def _planned(self, budget: Budget) -> None:
        """Nothing yet: the number of records counts, where it is public."""

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: None, noise_source: NoiseSource
    ) -> LinearModel:
        perturbation = self.perturbation(budget, len(codes) if self.records is None else self.records)
        rate, curvature = perturbation.rate, perturbation.curvature
        signed = signed_problems(units, codes, self.task.rows)
        rows = self.between_bounds([perturbed_minimiser(one, rate, curvature, noise_source) for one in signed])
        details = {"rate": str(rate), "curvature": str(curvature)}
        kind = "logistic" if self.task.rows == 1 else "one-vs-rest"
        said, private = self.described, noise_source.private
        return LinearModel(self.task, kind, 1.0, rows, budget, said, THEOREM, details, private)

    def between_bounds(self, found: Sequence[Sequence[int]]) -> np.ndarray:
        """Coefficients of vectors as those of (1, z), the task's coordinates between -1 and 1: int64 (rows, d + 1)."""
        low, high = self.task.features.bounds()
        number = np.array(self.task.encoding.layout.squared[1:])
        given = np.array(found, np.float64) / (1 << UNIT_BITS)
        slopes = given[:, :-1] * FEATURE_SHARE * (np.where(number, (high - low) / 2.0, high) / self.radius)
        before = given[:, -1:] * CONSTANT_SHARE - slopes[:, ~number].sum(axis=1, keepdims=True) / 2.0
        most = float(LARGEST >> 1)
        return np.rint(np.clip(np.hstack((before, slopes)), -most, most)).astype(np.int64)

    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        """All records as vectors in the unit ball, int64 (n, m), the constant last, and their classes, int64 (n,)."""
        low, high = self.task.features.bounds()
        labels = self.task.places

        def encoded(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return vectors_of(points[:, ~labels], (low + high) / 2.0, self.radius), points[:, labels].argmax(axis=1)

        return gathered(source, self.domain, self.task.width, encoded)


def vectors_of(points: np.ndarray, centre: np.ndarray, radius: float) -> np.ndarray:
    """Records as vectors of length 1 at most, in units of 2^-30: int64 (n, d + 1).

    The offset from the centre, no longer than the radius, becomes 0.8 of a unit long at most; a constant 0.6 in the
    last place carries the intercept. Entries are cut toward zero, and as long as the exact sum of squares exceeds what
    is allowed, every entry moves one unit toward zero.

    `points`: float64 (n, d); each record's vector is a function of that record alone, bit for bit.
    """
    offsets = [column - middle for column, middle in zip(points.T, centre, strict=True)]
    # In the order of the coordinates, as sums along an axis may depend on the records beside.
    squares = np.zeros(len(points))
    for offset in offsets:
        with np.errstate(over="ignore"):  # a record that is too far off for a float loses its features
            squares += (offset / radius) ** 2
    factor = FEATURE_SHARE / np.maximum(np.sqrt(squares), 1.0) / radius
    units = np.empty((len(points), len(offsets) + 1), np.int64)
    for place, offset in enumerate(offsets):
        units[:, place] = np.clip(offset * factor, -FEATURE_SHARE, FEATURE_SHARE)
    units[:, -1] = CONSTANT_SHARE
    while (long := np.flatnonzero((units * units).sum(axis=1) > LENGTHS)).size:
        units[long, :-1] -= np.sign(units[long, :-1])
    return units


def perturbed_minimiser(
    vectors: np.ndarray, rate: Fraction, curvature: Fraction, noise_source: NoiseSource
) -> list[int]:
    """The minimiser of the module's objective with a drawn b, in multiples of 2^-`GRID_BITS`; it was paid for.

    `vectors`: Records times their labels in units of 2^-`UNIT_BITS`, int64 (n, m); private.
    """
    law = PerturbedMinimum(rate, curvature, 1 << UNIT_BITS, 1 << GRID_BITS)

    def solved() -> list[int]:
        noise = L2Vector(1 / law.rate, vectors.shape[1], noise_source.stream())
        return rounded_minimiser(vectors, law.curvature, noise.bounds)

    return drawn(law, vectors, solved, noise_source.private)


LogisticNoise = tuple[Perturbation, NoiseScale | None]  # Of the minimiser, and of counts of cells where there are any.


@dataclass(frozen=True)
class PureLogistic(Method):
    """Objective perturbation with nothing to be tuned."""

    directions: int = field(default=0, kw_only=True)  # Public ones that lines are learnt along; 0: all coordinates.
    counted: bool = field(default=False, kw_only=True)  # Whether cells are counted for straight lines, too.
    name: ClassVar[str] = "objective"
    rank: ClassVar[int] = 0
    advantage: ClassVar[str] = "it needs no δ"
    described: ClassVar[str] = "objective perturbation"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: all of epsilon, and nothing of delta."""
        minimiser = PureParts(Fraction(budget.epsilon) * (1 - self.cells_share), 1)
        counted = [event_of(*self.cells(budget))] if self.cells_share else []
        return Cost((minimiser, *counted), budget.epsilon, budget.delta)

    @property
    def cells_share(self) -> Fraction:
        """Of epsilon, for the counts that say where records lie."""
        return CELLS_SHARE if self.counted or self.bent.any() else Fraction(0)

    def cells(self, budget: Budget) -> tuple[Sensitivity, NoiseScale]:
        """How far one person moves the counts of all cells, and their noise."""
        moved = cells_sensitivity(self, budget.neighbours).scaled(self.domain.unit.records)
        return moved, pure_scale(moved, Fraction(budget.epsilon) * CELLS_SHARE)

    def perturbation(self, budget: Budget) -> Perturbation:
        """r and k; see the module."""
        moves = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
        epsilon, classes = Fraction(budget.epsilon) / self.domain.unit.records, len(self.categories)
        epsilon *= 1 - self.cells_share
        if classes == 2:
            return Perturbation(epsilon / moves, moves / epsilon)
        return Perturbation(
            (1 - VOLUME) * epsilon / (2 * moves), Fraction(classes - 2, classes - 1) / (VOLUME * epsilon)
        )

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return bool(task.categories)

    def noise(self, budget: Budget) -> float:
        """Pure noise on m coordinates is m/r long; every row has that much."""
        return ((self.directions or centred_width(self)) + 1) / float(self.perturbation(budget).rate)

    def for_records(self, budget: Budget, records: float) -> Self:
        heard, free = records * float(self.perturbation(budget).rate), self.reach >= math.sqrt(self.corner)
        straight = (free or self.directions > 0) and self.width == self.features.dimensions
        many = directions_for(heard, len(self.categories), centred_width(self)) if straight else 0
        counted = not many and (bool(self.bent.any()) or worth_counting(self, budget, records))
        return replace(self if counted else self.shortened(), directions=many, counted=counted)

    def _planned(self, budget: Budget) -> LogisticNoise:
        cells = self.cells(budget)[1] if self.cells_share else None
        check_drawable(*([cells] if cells else []))
        return self.perturbation(budget), cells

    def _beside(self, plan: LogisticNoise, share: Fraction) -> LogisticNoise:
        perturbation, cells = plan
        shorter = Perturbation(perturbation.rate / share, perturbation.curvature * share)
        return shorter, cells and times(cells, share)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: LogisticNoise, noise_source: NoiseSource
    ) -> LinearModel:
        perturbation, cells = plan
        spread = frame = None
        if cells:
            spread = Spread.of(self, add_noise(in_cells(self, units, READ_UNIT), cells, noise_source), cells.variance)
            frame = spread.frame(self)
        whole = partial(shortened_whole, frame=frame) if frame else partial(centred, many=self.directions)
        vectors, length = in_unit_ball(*whole(self, units, READ_UNIT))
        if self.rows == 1:
            (signed,) = signed_problems(vectors, codes, 1)
            rows = [perturbed_minimiser(signed, perturbation.rate, perturbation.curvature, noise_source)]
        else:
            rows = perturbed_softmax(vectors, codes, self.rows, perturbation, noise_source)
        found = np.array(rows, np.float64)
        details = {"rate": str(perturbation.rate), "curvature": str(perturbation.curvature)}
        if cells and spread and frame:
            found = frame.from_nowhere(self._quieted(found, length, perturbation, spread.within(frame)))
            details["noise"] = cells.describe()
        if self.directions:
            details["directions"] = str(self.directions)
        kind = "logistic" if self.rows == 1 else "multinomial"
        found = np.rint(of_all_coordinates(self, found)).astype(np.int64)
        return self._model(kind, 1.0 / length, found, budget, details, noise_source)

    def _quieted(self, rows: np.ndarray, length: float, noise: Perturbation, spread: Spread) -> np.ndarray:
        """Coefficients without what noise alone explains, float64 (rows, m); see `noise_bands`."""
        weights, (rate, ridge) = rows / float(1 << GRID_BITS), (float(noise.rate), float(noise.curvature))
        scores = np.array([spread.score(row / length) for row in weights])
        shares = expit(scores) if self.rows == 1 else softmax(scores)
        variance = (weights.shape[1] + 1) / rate**2  # of an entry of b: |b|² is m (m + 1)/r² on average
        curved = 4.0 * shares * (1.0 - shares)
        quiet = [spread.quieted(row, length, ridge, variance, one) for row, one in zip(weights, curved, strict=True)]
        return np.array(quiet) * float(1 << GRID_BITS)


def perturbed_softmax(
    vectors: np.ndarray, codes: np.ndarray, classes: int, plan: Perturbation, noise_source: NoiseSource
) -> list[list[int]]:
    """The rows of the module's minimiser for several classes, in multiples of 2^-`GRID_BITS`; it was paid for.

    `vectors`, `codes`: Records in units of 2^-`UNIT_BITS`, int64 (n, m), and their classes, int64 (n,); private.
    """
    law = PerturbedSoftmax(plan.rate, plan.curvature, 1 << UNIT_BITS, 1 << GRID_BITS, classes)
    size = vectors.shape[1]

    def solved() -> list[int]:
        noises = [L2Vector(1 / law.rate, size, noise_source.stream()) for _ in range(classes)]

        def linear(level: int) -> tuple[Sequence[Fraction], Sequence[Fraction]]:
            low, high = zip(*(noise.bounds(level) for noise in noises), strict=True)
            return list(chain.from_iterable(low)), list(chain.from_iterable(high))

        return rounded_softmax(vectors, codes, classes, law.curvature, linear)

    found = drawn(law, np.column_stack((vectors, codes)), solved, noise_source.private)
    return [found[first : first + size] for first in range(0, len(found), size)]
