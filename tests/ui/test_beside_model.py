"""A model on the page Classify: by itself, and beside a released file with groups on the same places."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, train
from core.analysis.classification import TRAINED, classify
from core.domain import Domain
from core.errors import RequestError
from core.models.judging import model_map, probabilities_in_order, unlike
from core.models.linear_models import LinearModel
from core.models.model_file import KNOWN_ORDER
from core.models.training import trainer_of
from core.privacy.noise.randomness import SeededSource
from core.releases.release import load
from core.sources import open_source
from core.sources.public_tables import sample
from core.ui.beside_model import compared_in_words
from core.ui.frame.session import Session
from core.ui.released.kept_files import MODEL
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three
from tests.models.test_permutation_sgd import OLD
from tests.ui.test_asked_groups import groups_of, opened, page, words

HEART = load(groups_of("heart"))
TABLE = pd.read_parquet(sample("heart").path)


@pytest.fixture(scope="module")
def heart() -> LinearModel:
    """A model of the sample's groups, with the classes in the other order than the file's."""
    domain = HEART.sketch.domain
    privacy = HEART.privacy
    return train(
        TABLE, HEART.sketch.label, domain, Budget(privacy.epsilon, privacy.delta, privacy.neighbours), "objective"
    )


@pytest.mark.thorough
def test_a_model_file_is_opened_and_shown_by_itself():
    app = page(Session())
    model = train(plane(), "kind", PLANE, Budget(5))
    app.file_uploader(key="classify-first").set_value(("model.json", model.to_bytes(), "application/json")).run()
    assert not app.exception and "It predicts kind" in words(app) and "Most like" in words(app)
    app.button(key="classify-first-close").click().run()
    assert not app.exception and MODEL not in app.session_state
    app.file_uploader(key="classify-first").set_value(("other.json", b"{}", "application/json")).run()
    assert not app.exception and "not a model" in app.error[0].value


@pytest.mark.thorough
def test_a_model_whose_promise_did_not_hold_is_opened_with_what_was_wrong_with_it():
    app = page(Session())
    app.file_uploader(key="classify-first").set_value(("model.json", OLD.read_bytes(), "application/json")).run()
    assert not app.exception and [one.value for one in app.warning] == [KNOWN_ORDER]


@pytest.mark.deep
def test_file_and_model_stand_side_by_side_on_the_same_places(heart):
    app = opened(groups_of("heart"))
    app.segmented_control(key="classify-view").set_value("Beside a model").run()
    assert not app.exception and "Open a model that was trained for the same groups" in words(app)
    app.file_uploader(key="classify-beside").set_value(("model.json", heart.to_bytes(), "application/json")).run()
    assert not app.exception and "Both keep the same promise" in words(app)
    assert [one.value for one in app.header if one.value in ("The file", "The model")] == ["The file", "The model"]
    assert words(app).count("Most like") == 2
    table = TABLE.head(300).to_csv(index=False).encode()
    app.file_uploader(key="classify-beside-points").set_value(("points.csv", table, "text/csv")).run()
    assert not app.exception and not app.error
    assert "The file is right in" in words(app) and "The model is right in" in words(app)


@pytest.mark.thorough
def test_a_model_of_other_groups_or_columns_is_refused_with_the_reason(heart):
    assert unlike(heart, HEART) == ""
    other = train(three(), "kind", THREE, Budget(20, "1e-4"), "descent")
    assert "a, b and c" in unlike(other, HEART)
    same = dict(zip(("kind",), (sorted(HEART.sketch.categories),), strict=True))
    few = Domain.of(x=(-4, 4), y=(0, 8), **same)
    frame = pd.DataFrame(plane(60)).assign(kind=lambda seen: np.where(seen.kind == "yes", *same["kind"]))
    assert "different columns" in unlike(train(frame, "kind", few, Budget(5)), HEART)
    app = opened(groups_of("heart"))
    app.session_state[MODEL] = other
    app.segmented_control(key="classify-view").set_value("Beside a model").run()
    assert not app.exception and "cannot be compared" in app.info[0].value


def test_every_cell_of_a_map_is_what_the_model_predicts_there(heart):
    held = dict(TABLE.iloc[0][[name for name in heart.features.names if name not in ("age", "heart_rate")]])
    order = heart.categories[::-1]
    drawn = model_map(heart, "age", "heart_rate", held, 8, order)
    places = pd.DataFrame([{"age": x, "heart_rate": y} | held for y in drawn.y_values for x in drawn.x_values])
    assert drawn.rule == TRAINED and drawn.certain.all() and drawn.classes == order
    assert np.allclose(drawn.probabilities.reshape(-1, 2), heart.probabilities(places)[:, ::-1])
    assert (probabilities_in_order(heart, places, order).argmax(axis=1) == drawn.codes.ravel()).all()
    with pytest.raises(RequestError, match="a value for every column that is not drawn"):
        model_map(heart, "age", "heart_rate", {}, 8)


def test_how_often_both_are_right_is_counted():
    found = classify(HEART, TABLE.head(40))
    truth = np.where(np.arange(40) < 30, found.codes, 1 - found.codes)
    same, file, model = compared_in_words(found, 1 - found.codes, truth)
    assert "**0 of 40**" in same and "75%" in file and "25%" in model
    assert len(compared_in_words(found, found.codes, None)) == 1


def test_a_teaching_model_is_marked():
    made = trainer_of("objective", PLANE, "kind").fit(open_source(plane()), Budget(5), noise_source=SeededSource(1))
    app = page(Session())
    app.session_state[MODEL] = made
    app.run()
    assert not app.exception and any("protects nobody" in one.value for one in app.warning)
