"""What private classifiers share: a public list of labels, and mostly one release with a table a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ..analysis.class_scores import rules_of
from ..analysis.classification import Classification, classify
from ..domain import Domain
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..releases.bounds_and_centre import CentrePurchase
from ..releases.job import Job
from ..releases.planning import kind_of
from ..releases.release import Release
from ..runtime.checks import check_choice
from ..sketches.classes import Classes
from ..sketches.linear import LinearSketch
from ..sources import Source
from .private import CLASS, PrivateEstimator


@dataclass(frozen=True)
class Fitting:
    """A fit that is all settled but for the records."""

    cost: Cost  # What it costs.
    # Draws the noise and sets what is fitted, once that is paid; whoever calls it has paid.
    run: Callable[[Source], object]


@dataclass(kw_only=True, repr=False, eq=False)
class LabelledEstimator(ClassifierMixin, PrivateEstimator):
    """A private estimator whose labels are a public list."""

    classes: object = None

    def _feature_bounds(self) -> object:
        """Bounds of the features, or those that a radius gives; None when neither was given."""
        radius = getattr(self, "radius", None)
        return (-radius, radius) if self.bounds is None and radius is not None else self.bounds

    @abstractmethod
    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        """A fit under a budget to so many records, of the features and the column of classes."""

    @abstractmethod
    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        """Spend the budget on these features, float64 (n, d), and names of classes, (n,), and set what is fitted."""

    def fit(self, X: object, y: object) -> Self:
        """Spend the budget and fit.

        Parameters
        ----------
        y : object
            (n,) labels, each one of ``classes``.

        Raises
        ------
        RequestError
            When a public fact is missing or out of range, or a label is not on the list; nothing was spent.
        """
        self._learn(*self._labelled(X, y))
        return self

    def _public_classes(self) -> np.ndarray:
        if self.classes is None:
            raise RequestError(
                f"{type(self).__name__} needs the public list of classes; reading it off the data would tell that "
                "someone of a rare class is in it."
            )
        classes = np.asarray(self.classes)
        if classes.ndim != 1 or len({str(label) for label in classes}) < max(len(classes), 2):
            raise RequestError("The classes must be a list of two different labels or more.")
        return classes

    def _labelled(self, X: object, y: object) -> tuple[Domain, np.ndarray, np.ndarray]:
        """The public facts, the features, float64 (n, d), and the name of each one's class, (n,)."""
        X, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_ = self._public_classes()
        codes = self._codes(y)
        names = tuple(str(label) for label in self.classes_)
        return self._domain(self._feature_bounds(), names), X, np.array(names, dtype=object)[codes]

    def _codes(self, y: object) -> np.ndarray:
        """The place of each label in the list, int64 (n,); RequestError when one is not on it."""
        matches = np.asarray(y)[:, None] == self.classes_[None, :]
        if not np.all(np.any(matches, axis=1)):
            raise RequestError("Unknown label type: a label is not on the public list of classes.")
        return matches.argmax(axis=1)


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateClassifier(LabelledEstimator):
    """A classifier whose `fit` makes one private release with a table a class."""

    rule: str | None = None

    @abstractmethod
    def _inner(self, domain: Domain, records: float, budget: Budget, spread: float | None) -> LinearSketch:
        """The sketch of one class with so many records, on the features' domain; they may be known to be so spread."""

    def _apart(self, domain: Domain) -> Domain | None:
        """The features, where how far records lie apart is bought first; None as a rule."""
        return None

    @property
    @abstractmethod
    def _settled(self) -> bool:
        """Whether the sketch is the same for any number of records."""

    def _centre(self) -> CentrePurchase | None:
        """What is bought besides; nothing as a rule."""
        return None

    def _classed(self, domain: Domain, records: float, budget: Budget, spread: float | None = None) -> Classes:
        """The sketch with a table a class; RequestError where the rule does not suit it, before anything is spent."""
        inner = domain.without(CLASS)
        each = records / len(domain.categories_of(CLASS))
        sketch = Classes.of(domain, CLASS, self._inner(inner, each, budget, spread))
        if self.rule is not None:
            check_choice(self.rule, "The rule", rules_of(sketch))
        return sketch

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        kind = kind_of(self._classed(domain, records, budget), budget, records, centre=self._centre())

        def run(source: Source) -> None:
            self._take(Job(kind, source).run())

        return Fitting(kind.cost, run)

    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        self._take(
            self._release(
                domain,
                points,
                labels,
                partial(self._classed, domain),
                settled=self._settled,
                apart=self._apart(domain),
                centre=self._centre(),
            )
        )

    def _take(self, made: Release) -> None:
        """Keep the release, read with the bandwidth that suits its noisy counts where its owner fixed none."""
        self.release_ = made.smoothed() if made.sketch.open_bandwidth else made

    def predict(self, X: object) -> np.ndarray:
        """The class that each point is like, (n,)."""
        said = self.classification(X)
        return self.classes_[said.codes]

    def predict_proba(self, X: object) -> np.ndarray:
        """Probabilities of the classes, float64 (n, K), as far as the noisy release can tell them."""
        return self.classification(X).probabilities

    def confidence(self, X: object) -> np.ndarray:
        """Probability that the release without its noise would say the same class, float64 (n,)."""
        return self.classification(X).confidence

    def classification(self, X: object, level: float = 0.95) -> Classification:
        """All that the release says about each point, "don't know" included: `core.analysis.classification`."""
        queries = self._queries(X)
        return classify(self.release_, queries, self.rule, level)
