"""What may compete: kernel sums, nearest means, linear models and counts, as public facts alone describe them.

An entrant is settled by a promise and a number of records: then its noise and its price are known. A settled one makes
its file of records that were paid for, or is rehearsed on public points that stand for so many records. Columns are
compared as shares of their bounds, so that none drowns another.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from ..analysis.class_scores import class_scores, class_sums, classes_of, rules_of, scores_of_sums
from ..domain import Domain
from ..formatting.numbers import percent, significant
from ..geometry.kernels import Gaussian
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.noise.randomness import Source as NoiseSource
from ..releases.forecast.kernel_choice import NARROW, USUAL, WIDE, length_apart
from ..releases.forecast.one_trial import scaled_table
from ..releases.forecast.recommendation import Closeness, recommend
from ..releases.forecast.reference_population import DEFAULT_SPREAD as SPREAD
from ..releases.forecast.scales import by_coordinates, chosen_scales
from ..releases.job import Job
from ..releases.kind import Plain, with_chosen_size
from ..releases.release import Release
from ..releases.seal import noised
from ..sketches.classes import Classes
from ..sketches.features import Features
from ..sketches.histogram import Histogram
from ..sketches.linear import LinearSketch
from ..sketches.moments import Moments
from ..sources import Source
from .class_counts import SAME_FOR_ALL, LargestClass
from .descent import NoisyDescent
from .linear_models import LinearModel
from .objective_perturbation import PureLogistic
from .training import Trainer
from .training_task import Task

File = Release | LinearModel  # What a classifier is kept as: a table a class, or coefficients.
# Of random features under a delta, where their noise does not grow with them: what classes differ by is seen by fewer
# rows than how many records are close, and everything that competes has to be asked about every held-out record.
MOST_ROWS = 4_096
# Of them in a rehearsal: their noise is the same, and what few rows add is little beside how classes overlap.
REHEARSED_ROWS = 1_024
# Of a class's grid that may compete: a larger one of four columns and more is read for seconds, again and again.
MOST_CELLS = 40_000
TEACHING = 16  # Points a coordinate, from which on what bends is rehearsed as it is.
CUTS = (1.0, 0.35)  # How long records may be for their means: their noise is as long.


class Settled(ABC):
    """An entrant with a promise: its price is known, and it can be made."""

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """What making it costs."""

    @abstractmethod
    def made(self, source: Source, noise_source: NoiseSource | None = None) -> File:
        """Its file; whoever calls it has paid."""

    @abstractmethod
    def rehearsed(self, points: np.ndarray, records: float, noise_sources: Sequence[NoiseSource]) -> list[File]:
        """Files that protect nobody, of public points (n, d) of the entrant's domain that stand for so many records.

        There is one for each draw of the noise.
        """


class Entrant(ABC):
    """A way to tell classes apart."""

    domain: Domain  # The public facts about the records, the class among them.
    label: str  # The column of classes.
    size_rank: ClassVar[float]  # Its place among the kinds, by how few numbers they keep.

    @property
    @abstractmethod
    def title(self) -> str:
        """What people call it."""

    @property
    def encoded(self) -> Domain:
        """How it reads records."""
        return self.domain

    @property
    def categories(self) -> tuple[str, ...]:
        """The classes, in their public order."""
        return Task(self.domain, self.label).categories

    def codes(self, points: np.ndarray) -> np.ndarray:
        """The places of the classes of records that are encoded as it reads them, int64 (n,)."""
        return np.argmax(points[:, Task(self.encoded, self.label).places], axis=1)

    @abstractmethod
    def settled(self, budget: Budget, records: float, seed: int | None = None) -> Settled:
        """It under a promise, for about so many records; RequestError where it cannot be made so."""


@dataclass(frozen=True)
class Tables(Settled):
    """A release with a table a class."""

    kind: Plain

    @property
    def cost(self) -> Cost:
        return self.kind.cost

    def made(self, source: Source, noise_source: NoiseSource | None = None) -> Release:
        return _read_best(Job(self.kind, source, noise_source=noise_source).run())

    def rehearsed(self, points: np.ndarray, records: float, noise_sources: Sequence[NoiseSource]) -> list[File]:
        sketch, points = self.kind.sketch, np.asfortranarray(points)
        counts = np.rint(sketch.count(points) * (records / len(points))).astype(np.int64)
        table = scaled_table(sketch, points, records)
        planned, budget = self.kind.planned, self.kind.budget
        return [noised(sketch, (table.copy(), counts.copy()), planned, budget, source) for source in noise_sources]


def _read_best(made: Release) -> Release:
    """Read with the bandwidth that suits its noisy counts, where its owner fixed none."""
    return made.smoothed() if made.sketch.open_bandwidth else made


@dataclass(frozen=True)
class OfTables(Entrant):
    """What is released with a table a class."""

    domain: Domain
    label: str

    @cached_property
    def encoded(self) -> Domain:  # type: ignore[override]
        """The columns as shares of their bounds."""
        return replace(self.domain, scale="box")

    @abstractmethod
    def inner(self, budget: Budget, records: float, seed: int | None) -> LinearSketch:
        """The sketch of one class of so many records."""

    def settled(self, budget: Budget, records: float, seed: int | None = None) -> Tables:
        inner = self.inner(budget, records / len(self.categories), seed)
        sketch = Classes.of(self.encoded, self.label, inner)
        return Tables(Plain(cast(Classes, with_chosen_size(sketch, budget, records)), budget))


@dataclass(frozen=True)
class KernelSums(OfTables):
    """The class whose records are densest around a place.

    `share`: The bandwidth, in shares of how far two records are typically apart; None for a grid whose bandwidth is
    chosen when it is read, of up to three columns of numbers. `spread`: Standard deviation of a column, in shares of
    its bounds.
    """

    share: float | None = None
    spread: float = SPREAD
    size_rank = 2.0

    @property
    def title(self) -> str:
        if self.share is None:
            return "kernel sums"
        return f"kernel sums of bandwidth {significant(100 * self.bandwidth, 2)}% of the bounds"

    @property
    def bandwidth(self) -> float:
        """Of the kernel, in shares of the bounds."""
        features = self.encoded.without(self.label)
        return float(f"{(self.share or USUAL) * length_apart(features, self.spread):.3g}")

    def inner(self, budget: Budget, records: float, seed: int | None) -> LinearSketch:
        features = self.encoded.without(self.label)
        if self.share is None:
            scales = chosen_scales(by_coordinates(features) or features, budget, records)
            return Histogram(features, scales.kernel, finest=scales.finest)
        kernel = Gaussian(self.bandwidth)
        if budget.pure:
            found = recommend(features, records, budget, Closeness(kernel, seed=seed))
            able = [one.answering for one in found if one.forecast is not None]
            return next((one for one in able if math.prod(one.shape) <= MOST_CELLS), found[0].answering)
        if seed is None:
            return Features(features, kernel, rows=MOST_ROWS)
        return Features(features, kernel, rows=REHEARSED_ROWS).reseeded(seed)


@dataclass(frozen=True)
class NearestMeans(OfTables):
    """The class whose mean is nearest.

    `share`: How long records may be, of the distance from the middle of the bounds to a corner; longer ones are
    shortened to it, which leaves them their direction.
    """

    share: float = 1.0
    size_rank = 0.0

    @property
    def title(self) -> str:
        return "nearest means" + (f" of records cut at {percent(self.share, 2)}" if self.share < 1.0 else "")

    def inner(self, budget: Budget, records: float, seed: int | None) -> LinearSketch:
        features = self.encoded.without(self.label)
        low, high = features.bounds("l2")
        return Moments(features, self.share * float(np.linalg.norm((high - low) / 2.0))).for_classes()


@dataclass(frozen=True)
class Trained(Settled):
    """A linear model."""

    trainer: Trainer | LargestClass
    budget: Budget
    simpler: tuple[Trainer, ...] = ()  # The same with fewer bends each, where it bends; the last of straight lines.

    @property
    def cost(self) -> Cost:
        return self.trainer.cost(self.budget)

    def made(self, source: Source, noise_source: NoiseSource | None = None) -> LinearModel:
        return cast(LinearModel, self.trainer.fit(source, self.budget, noise_source=noise_source))  # of classes

    def rehearsed(self, points: np.ndarray, records: float, noise_sources: Sequence[NoiseSource]) -> list[File]:
        # What bends may have more coordinates than points can teach: fewer bends say what it is worth at least.
        most = len(points) // TEACHING
        each = [one for one in (self.trainer, *self.simpler) if isinstance(one, Task) and one.width <= most]
        trainer = [*each, self.trainer, *self.simpler][0 if each else -1]
        units, codes = trainer.encoded(points, trainer.unit)
        share = Fraction(len(points), max(1, round(records)))
        return [
            cast(LinearModel, trainer.rehearsed(units, codes, self.budget, share, source)) for source in noise_sources
        ]


@dataclass(frozen=True)
class Logistic(Entrant):
    """A logistic regression: objective perturbation at a pure promise, noisy descent under a delta.

    It has as many curves, products and waves as pay for themselves (`core.models.method`).
    """

    domain: Domain
    label: str
    size_rank = 1.0
    title = "logistic regression"

    def settled(self, budget: Budget, records: float, seed: int | None = None) -> Trained:
        straight = (PureLogistic if budget.pure else NoisyDescent)(self.domain, self.label)
        straight = straight.for_records(budget, records)
        bent = straight.bent_for(budget, records)
        curved = replace(bent, waves=0, products=0).for_records(budget, records)
        return Trained(bent, budget, (curved, straight))


@dataclass(frozen=True)
class Counts(Entrant):
    """The largest class for everyone, whatever the columns say."""

    domain: Domain
    label: str
    size_rank = -1.0
    title = SAME_FOR_ALL

    def settled(self, budget: Budget, records: float, seed: int | None = None) -> Trained:
        return Trained(LargestClass(self.domain, self.label), budget)


def usual_entrants(domain: Domain, label: str, spread: float | None = None) -> list[Entrant]:
    """Everything that may suit a column of classes, whose features may be known to be spread so far."""
    features = domain.without(label)
    wide = by_coordinates(features) is None
    kernels = kernels_of(domain, label, spread) if wide else [KernelSums(domain, label)]
    return [
        *kernels,
        *(NearestMeans(domain, label, share) for share in CUTS),
        Logistic(domain, label),
        Counts(domain, label),
    ]


def kernels_of(domain: Domain, label: str, spread: float | None = None) -> list[KernelSums]:
    """Kernel sums of a narrow, a usual and a wide bandwidth."""
    return [KernelSums(domain, label, share, SPREAD if spread is None else spread) for share in (NARROW, USUAL, WIDE)]


def rules_for(file: File) -> tuple[str | None, ...]:
    """The rules of decision that a file can be read by, the usual one first; None where there is but one way."""
    return rules_of(classes_of(file)) if isinstance(file, Release) else (None,)


def said(file: File, points: np.ndarray) -> tuple[np.ndarray, ...]:
    """The places of the classes that a file says of records by each of `rules_for`, int64 (n,) each.

    `points`: float64 (n, d), encoded by the file's own domain, their class among the coordinates, which is not looked
    at.
    """
    if isinstance(file, LinearModel):
        scores = file.decision_points(points[:, ~file.task.places])
        return ((scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1),)
    features, rules = np.asfortranarray(classes_of(file).unlabelled(points)), classes_of(file).class_rules
    if "likelihood" in rules and "direction" not in rules:  # both rules read the same sums, which take most of the time
        sums = class_sums(file, features)
        return tuple(scores_of_sums(file, *sums, rule).value.argmax(axis=1) for rule in rules)
    return tuple(class_scores(file, features, rule).value.argmax(axis=1) for rule in rules)


def domain_of(file: File) -> Domain:
    """How records are encoded for a file, their class among them."""
    return file.domain if isinstance(file, Release) else file.task.domain
