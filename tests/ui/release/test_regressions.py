"""What predicts what, on the Release page: forecast in closed form, made with one button, and opened as regressions."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.product_sums import correlations
from core.domain import Domain
from core.errors import RequestError
from core.privacy.budget import Budget
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.draft import REGRESSION
from core.releases.forecast.recommendation import Regressions, correlation_error, recommend, sums_of_products
from core.releases.job import release
from core.sketches.plan import plan
from core.ui.frame.session import DESK
from core.ui.own_data.release_questions import MODEL
from tests.depth import draws
from tests.ui.release.visiting import ask, confirmed, visit, with_total, words

DOMAIN = Domain.of(age=(0, 100), pay=(0, 50), town=["Bern", "Basel"])
PEOPLE = pd.DataFrame(
    {"age": np.linspace(0, 100, 600), "pay": np.linspace(0, 50, 600), "town": ["Bern", "Basel"] * 300}
)
FLAT = Domain.of(x=(-3, 3), y=(-3, 3), z=(-3, 3))


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.sqlite"))
    return Ledger(str(tmp_path / "ledger.sqlite"))


@pytest.mark.thorough
def test_from_the_question_to_a_regression_with_one_button(ledger):
    at = with_total(visit(DOMAIN, frame=PEOPLE))
    at.radio(key="release-question").set_value(REGRESSION).run()
    assert not at.exception and not at.error
    assert "Everything that regressions need" in words(at) and "0.00" in words(at) and "nothing to do with" in words(at)
    assert not [slider for slider in at.select_slider if "near" in slider.label]
    assert not ledger.names()
    confirmed(at)
    assert not at.exception and "It is released" in [one.value for one in at.header]
    made = at.session_state[DESK].making.release
    assert made.sketch.name == "products" and made.private and ledger.status("visits").spent == 1.0
    at.switch_page("pages/explore.py").run()
    assert not at.exception and at.selectbox(key="regression-target").value == "town"


@pytest.mark.thorough
def test_a_model_is_a_question_of_release_that_leads_to_train(ledger):
    at = ask(with_total(visit(DOMAIN, frame=PEOPLE)), MODEL)
    assert not at.exception and not at.error and at.button(key="release").disabled
    links = [one.proto.label for one in at.get("page_link")]
    assert "Train a model of this data" in links and "page Train" in words(at)


@pytest.mark.thorough
def test_one_column_has_nothing_to_be_predicted_from(ledger):
    at = with_total(visit())
    at.radio(key="release-question").set_value(REGRESSION).run()
    assert not at.exception and at.button(key="release").disabled and "a second column" in words(at)
    with pytest.raises(RequestError, match="there is only one"):
        sums_of_products(Domain.of(x=(0, 1)))


@pytest.mark.thorough
def test_the_forecast_is_the_error_of_correlations_of_releases():
    """Numbers that spread over a sixth of their bounds. With m correlations the ratio is within 4.9/sqrt(2m) of 1."""
    columns = np.random.default_rng(0).normal(size=(3, 2_000))
    records = dict(
        zip("xyz", np.linalg.qr((columns - columns.mean(axis=1, keepdims=True)).T)[0].T * 2_000**0.5, strict=True)
    )
    budget, (way,) = Budget(1), recommend(FLAT, 2_000, Budget(1), Regressions())
    seen, count = [], draws(40, 400)
    for seed in range(count):
        found = correlations(release(way.answering, records, budget, noise_source=SeededSource(seed)))
        seen += found.values[np.triu_indices(3, 1)].tolist()
    forecast = correlation_error(way.answering, plan(way.answering, budget).noise, 2_000)
    assert np.sqrt(np.mean(np.square(seen))) / forecast == pytest.approx(1.0, abs=5.0 / (2 * len(seen)) ** 0.5 + 0.05)
