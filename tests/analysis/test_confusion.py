"""Counting right and wrong answers, with the intervals that textbooks give."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

from core.analysis.classification import classify
from core.analysis.confusion import Rate, confusion
from core.errors import RequestError
from tests.analysis.labelled import LABEL, exact_classes, labelled, sealed

TEST = labelled(800, seed=9)


@pytest.fixture(scope="module")
def release():
    return sealed(*exact_classes(labelled()))


def test_every_place_is_counted_once_by_its_class_and_by_what_was_said(release):
    found, made = classify(release, TEST), confusion(release, TEST, TEST["kind"])
    truth = TEST["kind"].to_numpy()
    for row, true in enumerate(LABEL.categories):
        for column, said in enumerate(LABEL.categories):
            assert made.counts[row, column] == ((truth == true) & (found.labels == said) & found.certain).sum()
        assert made.counts[row, -1] == ((truth == true) & ~found.certain).sum()
    assert made.rates.estimate.sum(axis=1) == pytest.approx(1.0)
    assert made.accuracy.estimate == pytest.approx((found.labels == truth).mean())
    assert made.certain.estimate == pytest.approx(found.certain.mean())
    assert made.certain_accuracy.estimate == pytest.approx((found.labels == truth)[found.certain].mean())
    assert made.certain_accuracy.estimate > made.accuracy.estimate
    for rate in (made.rates, made.accuracy):
        assert (rate.low <= rate.estimate).all() and (rate.estimate <= rate.high).all()


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (3, 7), (7, 7), (40, 100)])
def test_intervals_are_those_of_clopper_and_pearson(hits, trials):
    rate = Rate.of(hits, trials, 0.9)
    expected = binomtest(hits, trials).proportion_ci(0.9, method="exact")
    assert (rate.low, rate.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_no_trials_say_nothing():
    rate = Rate.of(0, 0, 0.95)
    assert np.isnan(rate.estimate) and (rate.low, rate.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    "labels", [["calm"] * 799 + ["odd"], ["calm"] * 799 + [None], ["calm"] * 5, 3, [["calm"]] * 800]
)
def test_labels_that_cannot_be(release, labels):
    with pytest.raises(RequestError, match=r"label|categories"):
        confusion(release, TEST, labels)


def test_labels_of_any_kind_are_read_as_the_domain_reads_them(release):
    expected = confusion(release, TEST, TEST["kind"]).counts
    for labels in (TEST["kind"].tolist(), pa.chunked_array([TEST["kind"]]), TEST["kind"].astype("category")):
        assert (confusion(release, TEST, labels).counts == expected).all()
