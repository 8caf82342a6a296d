"""Maps of decisions: every cell is what its centre is classified as."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.classification import classify, decision_map
from core.errors import RequestError
from tests.analysis.labelled import exact_classes, labelled, sealed


@pytest.fixture(scope="module")
def release():
    return sealed(*exact_classes(labelled()))


def test_cells_are_classified_as_their_centres(release):
    drawn = decision_map(release, "x", "y", {"sex": "f"}, resolution=12)
    xs, ys = np.meshgrid(drawn.x_values, drawn.y_values)
    found = classify(release, pd.DataFrame({"x": xs.ravel(), "y": ys.ravel(), "sex": "f"}))
    assert drawn.codes.shape == (12, 12) and drawn.averaged == () and drawn.at == {"sex": "f"}
    assert (drawn.codes.ravel() == found.codes).all() and (drawn.certain.ravel() == found.certain).all()
    assert drawn.confidence.ravel() == pytest.approx(found.confidence)
    assert drawn.probabilities.reshape(-1, 2) == pytest.approx(found.probabilities)


@pytest.mark.parametrize("rule", ["posterior", "likelihood"])
def test_people_are_found_where_they_are_and_nobody_elsewhere(release, rule):
    drawn = decision_map(release, "x", "y", resolution=24, rule=rule)
    assert drawn.averaged == ("sex",) and drawn.rule == rule
    left, right = drawn.x_values.searchsorted([0.3, 0.75])
    crowd, empty = drawn.y_values.searchsorted([0.35, 0.97])
    assert drawn.codes[crowd, [left, right]].tolist() == [0, 1] and drawn.certain[crowd, [left, right]].all()
    assert not drawn.certain[empty].all() and drawn.certain[empty].mean() < 0.3


def test_categories_are_an_axis_too(release):
    drawn = decision_map(release, "sex", "x", {"y": 0.35}, resolution=10)
    assert drawn.codes.shape == (10, 2) and drawn.x_values.tolist() == ["f", "m"]
    assert (drawn.codes[2] == 0).all() and (drawn.codes[8] == 1).all()


@pytest.mark.parametrize(
    ("x", "y", "held"),
    [
        ("x", "x", {}),
        ("x", "z", {}),
        ("kind", "x", {}),
        ("x", "y", {"sex": "other"}),
        ("x", "y", {"sex": "f", "x": 0.1}),
        ("x", "y", {"kind": "calm"}),
        ("x", "y", {"nothing": 1}),
    ],
)
def test_maps_that_cannot_be_drawn(release, x, y, held):
    with pytest.raises(RequestError):
        decision_map(release, x, y, held)
    with pytest.raises(RequestError):
        decision_map(release, x, y, held, resolution=1)
