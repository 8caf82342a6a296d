"""Model files: numbers and text alone, the same predictions when read back, and strangers' files refused."""

import json

import numpy as np
import pytest

from core import Budget
from core.errors import ReleaseFileError, RequestError
from core.models.amp import ApproximateMinima
from core.models.linear_models import LinearModel, load_model
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.models.test_amp import PLANE, plane


@pytest.fixture(scope="module")
def model():
    return ApproximateMinima(PLANE, "kind", 1.2).fit(open_source(plane()), Budget(5, "1e-4"))


def test_a_file_gives_back_the_model(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.to_dict() == model.to_dict() and again.budget == model.budget
    assert np.array_equal(again.decision(plane(30)), model.decision(plane(30)))


def test_coefficients_in_the_columns_own_units_give_the_scores():
    table = ApproximateMinima(PLANE, "kind").fit(open_source(plane()), Budget(5, "1e-4"))
    values = table.coefficients().set_index("column")["yes"]
    queries = {"x": [1.0, -2.0], "y": [3.0, 0.5]}
    expected = values[""] + values["x"] * np.array(queries["x"]) + values["y"] * np.array(queries["y"])
    assert table.decision(queries)[:, 0] == pytest.approx(expected)


def test_predictions_name_classes_and_probabilities(model):
    found = model.predict({"x": [-4.0, 4.0], "y": [8.0, 0.0]})
    assert found.predicted.tolist() == ["no", "yes"]
    assert list(found) == ["predicted", "probability of no", "probability of yes"]
    assert any("must not alone decide" in sentence for sentence in model.card())


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"kind": "tree"},
        {"scale": -1.0},
        {"rows": [[1, 2]]},
        {"rows": [[1, 2, 2.5]]},
        {"private": "yes"},
        {"more": 1},
        {"task": {"label": "x", "radius": None}},
    ],
    ids=str,
)
def test_what_is_no_model_is_refused(model, change):
    wrong = json.dumps(model.to_dict() | change).encode()
    with pytest.raises(ReleaseFileError):
        load_model(wrong)


def test_garbage_is_refused():
    for content in (b"", b"\xff\xfe", b"[]", b'{"a": 1, "a": 2}'):
        with pytest.raises(ReleaseFileError):
            load_model(content)


def test_seeded_models_are_for_teaching(tmp_path):
    made = ApproximateMinima(PLANE, "kind").fit(open_source(plane(30)), Budget(1, "1e-4"), noise_source=SeededSource(1))
    with pytest.raises(RequestError, match="seeded"):
        made.save(tmp_path / "model.json")
    assert not LinearModel.from_dict(json.loads(made.to_bytes(teaching=True))).private
