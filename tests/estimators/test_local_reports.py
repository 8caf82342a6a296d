"""Estimators from local reports: conventions of scikit-learn, and that only reports are learnt from."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from core import LocalFrequencies, LocalFrequentTexts, LocalKernelDensity, LocalTextCounts, load
from core.errors import RequestError
from core.local.survey import parse_survey

FRUIT = ("apple", "pear", "fig")
KINDS = {
    "frequencies": (LocalFrequencies(values=FRUIT, epsilon=2), np.repeat(FRUIT, [900, 600, 0]).tolist()),
    "texts": (LocalFrequentTexts(alphabet="abc", length=2, epsilon=4, step=1), ["ab"] * 900 + ["ca"] * 600),
    "any texts": (LocalTextCounts(epsilon=4, settings={"rows": 4, "width": 64}), ["Ulm"] * 900 + ["Rome"] * 600),
    "density": (
        LocalKernelDensity(epsilon=2, bounds=[(-5, 5), (0, 1)], bandwidth=1.0, rows=40),
        np.random.default_rng(1).normal(size=(1_500, 2)),
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_reports_in_parts_are_reports_at_once_and_devices_need_public_facts_alone(name):
    given, values = KINDS[name]
    collector, device = clone(given), clone(given)
    assert collector.get_params() == given.get_params() and device.survey == collector.survey
    reports = device.privatise(values)
    parts = collector.partial_fit(reports[:500]).partial_fit(reports[500:])
    whole = clone(given).fit(reports)
    assert parts.n_reports_ == whole.n_reports_ == 1_500 and whole.n_refused_ == 0
    if name == "texts":
        np.testing.assert_array_equal(parts.reports_, whole.reports_)
    else:
        np.testing.assert_array_equal(parts.tally_.table, whole.tally_.table)
    assert whole.fit(reports[:300]).n_reports_ == 300  # begins anew
    assert parse_survey(collector.survey.text) == collector.survey
    assert not any(name.endswith("_") for name in vars(device))  # a device learns nothing


def test_frequencies_and_their_file():
    given, answers = KINDS["frequencies"]
    fitted = clone(given).fit(given.privatise(answers))
    low, high = fitted.interval()
    assert ((low < fitted.estimate()) & (fitted.estimate() < high)).all()
    assert fitted.frequencies()["value"].tolist() == list(FRUIT)
    assert fitted.release().tally.people == 1_500
    assert clone(given).set_params(post="norm-sub").fit(given.privatise(answers)).estimate().min() >= 0
    with pytest.raises(RequestError, match="none of the values"):
        given.privatise(["kiwi"])
    refused = clone(given).fit(np.append(given.privatise(answers[:10]), 200).astype(np.uint8))
    assert (refused.n_reports_, refused.n_refused_) == (10, 1)


def test_density_moves_values_to_the_bounds_and_makes_a_release():
    given, points = KINDS["density"]
    fitted = clone(given).fit(given.privatise(points))
    assert load(fitted.release_.to_bytes()) == fitted.release_
    estimate, low, high = fitted.kernel_sum([[0, 0.5]])
    assert low[0] < estimate[0] < high[0] and fitted.score_samples([[0, 0.5]])[0] < 0
    with pytest.raises(RequestError, match="2 features"):
        given.privatise([[1.0]])


@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_known_before_reports_arrive(name):
    given = clone(KINDS[name][0])
    ask = {"frequencies": "estimate", "texts": "find", "any texts": "frequencies", "density": "kernel_sum"}[name]
    with pytest.raises(NotFittedError):
        getattr(given, ask)(*{"density": [[[0, 0]]], "any texts": [["Ulm"]]}.get(name, []))


def test_an_answer_that_is_no_value_is_refused_beside_others_that_are():
    with pytest.raises(RequestError, match="An answer is none of the values"):
        LocalFrequencies(values=["apple", "pear"], oracle="de").privatise(["apple", "kiwi", "pear"])
