"""That a rule which drowns rare classes is told of, and no other."""

import numpy as np
import pytest

from core.tasks.classes.classification import classify
from core.tasks.classes.largest_class import drowned_in_largest
from tests.tasks.labelled import exact_classes, labelled, sealed
from tests.tasks.wide_bandwidth import wide_people, wide_release


@pytest.fixture(scope="module")
def wide():
    return wide_release()


def test_a_kernel_wider_than_the_classes_lie_apart_leaves_the_largest_alone(wide):
    people = wide_people(2000, seed=7)
    posterior, likelihood = (classify(wide, people, rule) for rule in ("posterior", None))
    # Nine in ten are of the class that is said always; by the border halfway between them 14 in 15 would be found.
    assert (posterior.labels == "many").mean() > 0.99
    assert (likelihood.labels == people["kind"])[people["kind"] == "few"].mean() > 0.85
    said = drowned_in_largest(wide, posterior.rule, posterior.codes)
    assert "'many'" in said and "% of the records are of others" in said
    assert drowned_in_largest(wide, likelihood.rule, np.zeros(2000, dtype=np.int64)) is None


def test_nothing_is_said_where_it_decides_or_there_is_too_little_to_tell(wide):
    release, people = sealed(*exact_classes(labelled())), labelled(1500, seed=9)
    assert drowned_in_largest(release, "posterior", classify(release, people, "posterior").codes) is None
    few = np.zeros(60, dtype=np.int64)
    assert drowned_in_largest(wide, "posterior", few) is None
    assert drowned_in_largest(wide, "posterior", np.zeros((20, 30), dtype=np.int64)) is not None
