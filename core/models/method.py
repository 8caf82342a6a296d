"""What every way to train a model does, in the order that its promise rests on: refuse, read, pay, then draw.

What methods share that release several tables with Gaussian noise, each chosen in view of those before.

Tables are ρ-zCDP by their sensitivities (Canonne, Kamath, Steinke 2020, Theorem 4), and ρ adds up, also where what a
table holds is chosen by what earlier ones said (Bun, Steinke 2016, Lemma 2.3): every sensitivity holds whatever that
was.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.noise.noise import check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..sources import Source
from .linear_models import MOST_IN_FILE, LinearModel, NumberModel
from .model_file import BITS, LARGEST
from .training_task import BENDS, MOST_HALVINGS, Task

Model = TypeVar("Model")
FINE = 1 << 24  # What 1 counts where a model is judged by public records.
# What knots cost where lines are straight, in shares of what is right, for each more coordinate a record and for each
# squared length of noise by squared records (made-up records of 3 and 10 columns, 1,000 to 18,000 of them, at pure 1
# and at 0.1 and 1 with a delta); and how much of that is taken for what curves may bring.
SAMPLING, NOISE, LITTLE_LOST = 0.5, 200.0, 0.005
SAMPLING_OF_WAVES = 0.05
MANY_NUMBERS = 6  # From which on products are taken instead of waves where nobody asks for either.
# The same of what is explained of a number, of which curves may bring tenths.
LITTLE_EXPLAINED = 0.02
OUTWEIGHED = 0.065  # What noise is of all records, at most, for knots of a number, or more steps, to be tried.
MOST_HELD = 1 << 25  # Records times coordinates, beyond which curves would take a method's minutes.
LEAST_VARIANCE = 1e-12  # Of what is predicted, between -1 and 1, so that nothing is divided by zero.


class Fitted(ABC, Generic[Model]):
    """A way to make a model of records under a promise: subclasses say what it costs, reads and draws."""

    # What programs and people call it.
    name: ClassVar[str]
    described: ClassVar[str]

    @abstractmethod
    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""

    @abstractmethod
    def _planned(self, budget: Budget) -> Any:
        """Noise and whatever else is public, before anything is read or spent; RequestError where there is none."""

    @abstractmethod
    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        """All records as whole-number vectors, int64 (n, m), and the places of their classes, int64 (n,)."""

    @abstractmethod
    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Any, noise_source: NoiseSource
    ) -> Model:
        """The model; what is random about it comes from the source of noise. It was paid for."""

    def fit(
        self,
        source: Source,
        budget: Budget,
        *,
        spend: Callable[[Cost], object] | None = None,
        noise_source: NoiseSource | None = None,
    ) -> Model:
        """Read the records, spend the budget, draw the noise and train.

        `spend`: Writes the cost to a ledger, durably, or raises; called before any noise exists. `noise_source`: None
        in any real fit; a seeded source makes a model that is marked as not private. RequestError or BudgetError when
        the request or the data cannot be used, or from ``spend``; nothing was released.
        """
        cost, plan = self.cost(budget), self._planned(budget)
        units, codes = self._read(source)
        if spend is not None:
            spend(cost)
        return self._trained(units, codes, budget, plan, SystemSource() if noise_source is None else noise_source)


@dataclass(frozen=True)
class Trained(Task, Fitted[Model]):
    """A way to train a model of a `Task`, which can be rehearsed on public records."""

    theorem: ClassVar[str]  # Why the promise is kept, in a sentence for the file.
    unit: ClassVar[int]  # What 1 counts where records are read.
    rank: ClassVar[int] = 9  # Its place in lists, small ones first.
    advantage: ClassVar[str] = ""  # What speaks for it beside its forecast, as a clause.
    composable: ClassVar[bool] = True  # Whether a ledger admits others beside it.
    solves: ClassVar[bool] = True  # Whether it solves its problem, and does not only come near in steps.
    bends: ClassVar[bool] = True  # Whether it takes curves.
    little_lost: ClassVar[float] = LITTLE_LOST  # What curves may cost where lines are straight.
    most_halvings: ClassVar[int] = MOST_HALVINGS  # Of curves that nobody asks for.
    usual_waves: ClassVar[tuple[int, ...]] = (32, 64, 128)  # How many are tried where nobody says it.

    def _check(self) -> None:
        super()._check()
        if any(self.bends_by.values()) and not self.bends:
            raise RequestError(
                f"The method {self.name!r} takes straight lines alone; leave curves, waves and products out."
            )

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        """Whether it may be taken where nobody names a method, from public facts."""
        return False

    def noise(self, budget: Budget) -> float:
        """How long the noise is that it adds to the sum of all records' slopes, in lengths of one record."""
        raise RequestError(f"Nothing is known of how {self.described} would do.")

    def for_records(self, budget: Budget, records: float) -> Self:
        """The same with what suits about so many records, from public knowledge or from a count that was bought."""
        return self

    def shortened(self, deviations: float = 2.0) -> Self:
        """The same with records no longer than is usual, where nobody said a length: noise is as long as they may be.

        Those that are longer keep their direction. Where bounds are wide of what they hold nothing changes for anybody.
        """
        whole = self.reach >= math.sqrt(self.corner)
        return replace(self, radius=self.usual_length(deviations)) if whole else self

    def bent_for(self, budget: Budget, records: float, said: Collection[str] = ()) -> Self:
        """The same with as many knots, and waves or products, as pay for themselves; straight lines where none do.

        Where straight lines are the truth, bends cost what more coordinates let in: of luck in who the records are, in
        proportion to coordinates by records, and of noise, in proportion to the square of its length by records. As
        many are taken as together cost no more than half a point there (`SAMPLING` and `NOISE` are what they cost on
        made-up records), or two hundredths of how a number varies; where truth bends they bring ten points and more.

        Three bends of each curve come first, then what looks at several columns, then more of either. Waves are short:
        what they let in is noise first. Of few numbers they see what products do, and more; of many they hardly see
        which two belong together, so there products are tried before, and waves where there are none.

        `said`: What somebody has said, and is left as it is.
        """
        curves = [("curves", halvings) for halvings in range(1, self.most_halvings + 1)]
        waves = [("waves", many) for many in self.usual_waves if len(self.features.columns) > 1]
        products = [("products", 1)] if waves and self.encoding.layout.numbers >= MANY_NUMBERS else []
        best, left = self, set(BENDS) - set(said) if self.bends else set()
        for name, many in (*curves[:2], *products, *waves[:2], *curves[2:], *waves[2:]):
            if name in left and not (name == "waves" and len(best.pairs)):
                more: dict[str, Any] = {name: many}
                found = self._no_dearer(replace(best, **more), budget, records)
                best, left = (best, left - {name}) if found is None or found.width <= best.width else (found, left)
        return best

    def _no_dearer(self, bent: Self, budget: Budget, records: float) -> Self | None:
        """What bends, for so many records; None where it costs too much beside this one."""
        try:
            bent, straight = bent.for_records(budget, records), self.for_records(budget, records)
            noises = bent.noise(budget) ** 2 - straight.noise(budget) ** 2
        except RequestError:
            return None
        several = bent.together - straight.together
        more = SAMPLING * (bent.width - straight.width - several) + SAMPLING_OF_WAVES * several
        cost = self.rows * more / records + NOISE * noises / records**2
        return bent if cost <= self.little_lost and records * bent.width <= MOST_HELD else None

    @abstractmethod
    def _beside(self, plan: Any, share: Fraction) -> Any:
        """A plan whose noise is to so many fewer records what the given one's is to all of them."""

    @abstractmethod
    def _never_private(self, model: Model) -> Model:
        """The model, marked as one that protects nobody."""

    @abstractmethod
    def score(self, model: Model, points: np.ndarray) -> float:
        """How good a model is on encoded public records: 1 is without a mistake."""

    def rehearsed(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, share: Fraction, noise_source: NoiseSource
    ) -> Model:
        """A model of public records that stand for more of them: never private, never a release.

        Its noise is shorter than the promise asks of these records. So it is marked as not private whatever the source
        of noise was: its card names no promise, and it is written for teaching alone.

        `units`, `codes`: The public records, as `_read` gives them. `budget`: The promise that is rehearsed. `share`:
        How many public records there are for each one that they stand for. `noise_source`: A seeded one, or the
        system's where many must be independent.
        """
        plan = self._beside(self._planned(budget), share)
        return self._never_private(self._trained(units, codes, budget, plan, noise_source))

    def tried(
        self, points: np.ndarray, rest: np.ndarray, budget: Budget, share: Fraction, noise_source: NoiseSource
    ) -> float:
        """How good a model of encoded public records is on the rest of them; see `rehearsed`."""
        units, codes = self.encoded(points, self.unit)
        return self.score(self.rehearsed(units, codes, budget, share, noise_source), rest)

    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        return self.gather(source, self.unit)

    def parameters(self) -> dict:
        """All public parameters but the domain, for JSON."""
        return self.written()

    @property
    def task(self) -> Task:
        """What is predicted from what, without the method's own parameters: what the file of a model knows."""
        return Task(self.domain, self.label, self.radius, **self.bends_by)


@dataclass(frozen=True)
class Method(Trained[LinearModel]):
    """A way to train a linear model that predicts classes: one file each, beside this one."""

    def _check(self) -> None:
        super()._check()
        self.check_classes()

    def _never_private(self, model: LinearModel) -> LinearModel:
        return replace(model, private=False)

    def score(self, model: LinearModel, points: np.ndarray) -> float:
        """The share that is right of encoded public records."""
        units, codes = self.encoded(points, self.unit)
        scores = (units / self.unit) @ model.rows.T
        said = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.mean(said == codes))

    def _model(
        self,
        kind: str,
        scale: float,
        rows: np.ndarray,
        budget: Budget,
        details: dict[str, str],
        noise_source: NoiseSource,
        described: str = "",
    ) -> LinearModel:
        """The file of what was trained."""
        said = described or self.described
        return LinearModel(self.task, kind, scale, rows, budget, said, self.theorem, details, noise_source.private)


@dataclass(frozen=True)
class NumberMethod(Trained[NumberModel]):
    """A way to train a linear model that predicts a number: one file each, beside this one."""

    little_lost: ClassVar[float] = LITTLE_EXPLAINED
    usual_waves: ClassVar[tuple[int, ...]] = ()
    # Of what is explained: how much more it must explain of made-up records than others, whom these flatter less.
    flattered: ClassVar[float] = 0.0

    def _check(self) -> None:
        super()._check()
        self.check_number()

    def _never_private(self, model: NumberModel) -> NumberModel:
        return replace(model, private=False)

    def score(self, model: NumberModel, points: np.ndarray) -> float:
        """The share of the variance that is explained of encoded public records; below 0 where their mean is better."""
        units, goals = self.encoded(points, FINE)
        found = (model.numbers_of((units / FINE) @ model.weights.T) - self.goal.middle) / self.goal.half
        wanted = goals / FINE
        return max(-1.0, 1.0 - float(np.mean((found - wanted) ** 2)) / max(float(wanted.var()), LEAST_VARIANCE))

    def _model(
        self,
        weights: np.ndarray,
        budget: Budget,
        details: dict[str, str],
        noise_source: NoiseSource,
        *,
        kind: str = "number",
        residual: float | None = None,
        covariance: np.ndarray | None = None,
        of_mean: float | None = None,
    ) -> NumberModel:
        """The file of what was trained: coefficients of coordinates between -1 and 1, float64 (d + 1,)."""
        most = (LARGEST >> 1) / (1 << BITS)
        rows = np.rint(np.clip(weights, -most, most) * (1 << BITS)).astype(np.int64)[None]
        errors = None if covariance is None else np.sqrt(np.maximum(np.diag(covariance), 0.0))
        return NumberModel(
            self.task,
            kind,
            1.0,
            rows,
            budget,
            self.described,
            self.theorem,
            details,
            noise_source.private,
            errors=errors,
            residual=residual,
            covariance=covariance if len(weights) <= MOST_IN_FILE else None,
            of_mean=None if residual is None or of_mean is None else min(2.0, of_mean),
        )


def signed_problems(vectors: np.ndarray, codes: np.ndarray, problems: int) -> Iterator[np.ndarray]:
    """Records times 1 or -1, one array for each class against the rest; of two classes the second's alone."""
    for problem in range(problems):
        of_class = codes == (1 if problems == 1 else problem)
        yield vectors * np.where(of_class, 1, -1)[:, None]


def against_the_rest(problems: int) -> str:
    """The kind of a model that was trained so."""
    return "logistic" if problems == 1 else "one-vs-rest"


class GaussianTables(Task, ABC):
    """A method whose price is that of its tables."""

    instead: ClassVar[str] = "objective perturbation"  # What predicts the same without a delta.

    @abstractmethod
    def _tables(self, budget: Budget) -> list[tuple[Sensitivity, Fraction]]:
        """How far one person moves every table, in a fixed order, and its share of the budget."""

    def noises(self, budget: Budget) -> tuple[NoiseScale, ...]:
        """The noise of every table, in their order; RequestError under a pure promise."""
        if budget.pure:
            said = self.described[0].upper() + self.described[1:]
            raise RequestError(f"{said} needs a delta above 0, and {self.instead} none.")
        promise = Fraction(budget.epsilon), Fraction(budget.delta)
        return calibrate_shares(self._tables(budget), *promise, gaussian_only=True)

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        moved = [sensitivity for sensitivity, _ in self._tables(budget)]
        return Cost.of(zip(moved, self.noises(budget), strict=True), budget.epsilon, budget.delta)

    def _planned(self, budget: Budget) -> tuple[NoiseScale, ...]:
        noises = self.noises(budget)
        check_drawable(*noises)
        return noises

    def _beside(self, plan: tuple[NoiseScale, ...], share: Fraction) -> tuple[NoiseScale, ...]:
        return tuple(replace(noise, parameter=noise.parameter * share**2) for noise in plan)
