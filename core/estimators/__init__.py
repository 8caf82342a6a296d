"""scikit-learn estimators: private releases behind `fit` and `predict`.

What scikit-learn users know holds here: constructors store, `fit` validates and learns, results end in an underscore,
pipelines and grid searches work. What differs is said once: `fit` spends privacy. Each call of `fit` is a release of
its own; a search over settings that fits ten times spends ten times. Settings come from public facts, never from the
data.
"""

from .chosen_classifier import PrivateChosenClassifier
from .linear_classifiers import PrivateLinearSVC, PrivateLogisticRegression
from .local_reports import LocalFrequencies, LocalFrequentTexts, LocalKernelDensity, LocalTextCounts
from .product_regressions import PrivatePCA, PrivateRidge
from .sketch_estimators import (
    PrivateCentroidClassifier,
    PrivateDistanceSum,
    PrivateKernelClassifier,
    PrivateKernelDensity,
)

__all__ = [
    "LocalFrequencies",
    "LocalFrequentTexts",
    "LocalKernelDensity",
    "LocalTextCounts",
    "PrivateCentroidClassifier",
    "PrivateChosenClassifier",
    "PrivateDistanceSum",
    "PrivateKernelClassifier",
    "PrivateKernelDensity",
    "PrivateLinearSVC",
    "PrivateLogisticRegression",
    "PrivatePCA",
    "PrivateRidge",
]
