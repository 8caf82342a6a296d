"""scikit-learn estimators: private releases behind `fit` and `predict`.

What scikit-learn users know holds here: constructors store, `fit` validates and learns, results end in an underscore,
pipelines and grid searches work. What differs is said once: `fit` spends privacy. Each call of `fit` is a release of
its own; a search over settings that fits ten times spends ten times. Settings come from public facts, never from the
data.
"""

from .centroid_classifier import PrivateCentroidClassifier
from .chosen_classifier import PrivateChosenClassifier
from .distance_sum import PrivateDistanceSum
from .kernel_classifier import PrivateKernelClassifier
from .kernel_density import PrivateKernelDensity
from .linear_svc import PrivateLinearSVC
from .local_reports import LocalFrequencies, LocalFrequentTexts, LocalKernelDensity
from .local_sketches import LocalTextCounts
from .logistic_regression import PrivateLogisticRegression
from .pca import PrivatePCA
from .ridge import PrivateRidge

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
