"""Which of scikit-learn's checks fit twice and expect the same, which no private release may give."""

from core.estimators.linear_classifiers import LabelledEstimator

FRESH = "noise is drawn anew by every fit, whatever the seed, and the check compares two fits of the same records"
TWO_FITS = ("check_fit_idempotent", "check_classifier_data_not_an_array", "check_supervised_y_2d")


def fits_differ(estimator) -> dict[str, str]:
    """The checks that cannot hold, each with its reason."""
    return dict.fromkeys(TWO_FITS, FRESH) if isinstance(estimator, LabelledEstimator) else {}
