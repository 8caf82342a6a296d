"""Train without a browser: what is missing, what is asked for, the model that comes out, and files of models."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core import Budget, Domain
from core.figures.model_figures import reaches, training_figure, training_in_words
from core.models.classifier_choice import Choice
from core.models.entrants import NearestMeans
from core.models.prospects import Prospect
from core.models.training import offers, train
from core.privacy.ledger.account import Account
from core.privacy.ledger.ledger import Ledger
from core.sources import open_source
from core.ui.frame.navigation import TRAIN
from core.ui.frame.session import KEY, OwnData, Session
from core.ui.released.kept_files import MODEL
from core.ui.released.opened_model import predicted_in_words
from core.ui.train_page import RELEASED, Wish, keep_release, trained
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three
from tests.models.test_numbers import LINE, line

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.sqlite"))
    return Ledger(str(tmp_path / "ledger.sqlite"))


def page(**state: object) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    app.switch_page(TRAIN.path).run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return "\n".join(element.value for kind in (app.markdown, app.caption, app.info) for element in kind)


def owner() -> Session:
    session = Session()
    session.pick("people", open_source(plane()))
    session.own = OwnData("people", open_source(plane()), PLANE)
    return session


@pytest.mark.thorough
def test_without_data_it_says_what_is_missing_and_opens_models(ledger):
    app = page()
    assert "nothing to train on" in shown(app) and app.button(key="train").disabled
    model = train(plane(), "kind", PLANE, Budget(5))
    app.file_uploader(key="train-file").set_value(("model.json", model.to_bytes(), "application/json"))
    app.run()
    assert not app.exception and "It predicts kind" in shown(app) and "Most likely" in shown(app)


def test_one_column_alone_predicts_nothing_and_is_called_one(ledger):
    session = owner()
    session.own = OwnData("people", open_source(plane()), Domain(PLANE.columns[:1]))
    app = page(**{KEY: session})
    assert "from others, and there is only one here." in shown(app) and app.button(key="train").disabled


def test_an_owner_declares_which_columns_raise_what_is_predicted(ledger):
    app = page(**{KEY: owner()})
    assert app.multiselect(key="train-raises").options == ["x", "y"]
    app.multiselect(key="train-raises").set_value(["x"]).run()
    assert app.multiselect(key="train-lowers").options == ["y"] and not app.exception
    trainer = offers(PLANE, "kind", Budget(1), composable=True, waves=0, records=400)[0].trainer
    account = Account("people", Budget(1), "record")
    made = trained(owner().own, ledger, Wish(trainer, Budget(1), account, "ticket", (-1, 0)))
    assert made.details["monotonic_cst"] == "x=-1" and max(made.coefficients().iloc[1:2, -1]) <= 0


@pytest.mark.thorough
def test_an_owner_chooses_and_the_price_is_on_the_button(ledger):
    app = page(**{KEY: owner()})
    assert app.selectbox(key="train-target").value == "kind"
    app.number_input(key="release-total-1").set_value(3.0)
    app.run()
    assert not app.exception and app.button(key="train").label == "Train for ε = 1.0"
    assert not app.button(key="train").disabled
    app.button(key="train").click().run()
    assert not app.exception and not ledger.names()  # nothing is spent before the yes


@pytest.mark.thorough
def test_from_a_file_with_categories_and_gaps_to_a_model(ledger, tmp_path):
    """Everything that an owner does, but for describing the columns: choose, look at the forecast, pay, and ask."""
    frame = pd.DataFrame(plane(400))
    frame["town"] = np.where(frame.x > 0, "Bern", "Basel")
    frame.loc[::9, "town"] = None
    frame.loc[4::7, "y"] = None
    frame.to_csv(tmp_path / "people.csv", index=False)
    columns = {"x": (-4, 4), "y": (0, 8), "town": ["Basel", "Bern"], "kind": ["no", "yes"]}
    domain = Domain.of(**columns, outside="clamp", missing="drop")
    session, source = Session(), open_source(tmp_path / "people.csv")
    session.pick("people", source)
    session.own = OwnData("people", source, domain)
    app = page(**{KEY: session})
    app.select_slider(key="train-records").set_value(500)
    app.number_input(key="release-total-1").set_value(3.0)
    app.run()
    assert not app.exception and "made-up records" in shown(app)
    app.button(key="train").click().run()
    app.button(key="train").click()  # whose dialog is open still, which the test's page would forget
    app.button(key="train-confirm").click().run()
    assert not app.exception and ledger.status("people").spent == 1.0
    model = app.session_state[MODEL]
    assert model.private and "It predicts kind" in shown(app) and "Most likely" in shown(app)
    assert model.codes({"x": [4.0], "y": [0.0], "town": ["Bern"]}).shape == (1,)


@pytest.mark.thorough
def test_what_was_chosen_among_several_is_shown_and_opens_where_it_is_asked(ledger, monkeypatch):
    """The choice itself is tested beside its module; here it is between two whose rehearsal takes no time."""
    session = owner()
    monkeypatch.setattr(
        "core.models.classifier_choice.prospect", lambda *facts: Prospect((NearestMeans(PLANE, "kind"),), 0.8, ())
    )
    choice = Choice(PLANE, "kind", Budget(1), 1000)
    made = trained(session.own, ledger, Wish(choice, Budget(1), Account("people", Budget(1), "record"), "ticket"))
    assert ledger.status("people").spent == 1.0
    name = keep_release(session, made, "ticket")
    app = page(**{KEY: session, RELEASED: name})
    assert "table for each of 2 classes" in shown(app) and app.button(key="train-classify")
    app.button(key="train-again").click().run()
    assert not app.exception and "What should be predicted" in "".join(one.value for one in app.header)


def test_a_forecast_lies_between_the_most_common_answer_and_hardly_any_noise():
    figure = training_figure((0.01, 1.0, 10.0), (0.6, 0.7, 0.74), 1.0, 0.58, 0.75)
    assert list(figure.data[0].y) == [0.6, 0.7, 0.74] and list(figure.data[0].marker.size) == [6, 11, 6]
    assert [line.y0 for line in figure.layout.shapes] == [0.58, 0.75]
    low, high = figure.layout.yaxis.range
    assert low < 0.58 and high > 0.75
    assert "58%" in training_in_words((0.01, 1.0), (0.6, 0.7), 0.58, 0.75)


def test_marks_of_the_curve_do_not_run_into_each_other():
    """What is left after finding out, 0.869, was written over 1, and all marks stood aslant."""
    figure = training_figure((0.01, 0.1, 0.869, 1.0, 10.0), (0.4, 0.5, 0.6, 0.6, 0.6), 0.869, 0.3, 0.7)
    assert list(figure.layout.xaxis.tickvals) == [0.01, 0.1, 0.869, 10.0] and figure.layout.xaxis.tickangle == 0


def test_a_forecast_begins_with_how_many_records_were_found_or_a_sample_has():
    """It began with 10,000 beside a release that had found 18,900, and of every sample."""
    source = open_source(plane())
    assert OwnData("people", source, PLANE).records is None
    for found, said in ((18_931.2, 19_000), (-12.5, 100)):
        bought = (SimpleNamespace(records=found),)
        assert OwnData("people", source, PLANE, bought=bought).records == said


def test_a_wish_is_paid_for_and_a_total_is_not_passed(ledger):
    session = owner()
    budget = Budget("0.75")
    offer = offers(PLANE, "kind", budget)[0]
    account = Account("people", Budget(1), "record")
    model = trained(session.own, ledger, Wish(offer.trainer, budget, account, "1"))
    assert model.private and ledger.status("people").spent == 0.75
    known = Account.of(ledger.status("people"))
    assert known.after(offer.trainer.cost(budget)).refusal


@pytest.mark.thorough
def test_a_model_of_three_classes_is_shown_class_by_class(ledger):
    model = train(three(), "kind", THREE, Budget(20, "1e-4"), "descent")
    app = page(**{MODEL: model})
    app.selectbox(key="train-class").set_value("b")
    app.run()
    assert not app.exception and "It predicts kind (a, b, c)" in shown(app)
    lines, curves = reaches(model, 1), model.curves(1)
    assert len(lines) + len(curves) == 2 and ("told from its middle" in shown(app)) == bool(curves)


@pytest.mark.deep
def test_a_number_is_predicted_as_classes_are(ledger):
    """The column is chosen, the forecast speaks of what is explained, and the model says a number and how far off."""
    app = page(**{KEY: owner()})
    app.selectbox(key="train-target").set_value("y")
    app.number_input(key="release-total-1").set_value(3.0)
    app.run()
    assert not app.exception and "beyond always the mean" in shown(app) and not app.button(key="train").disabled
    model = train(line(500), "y", LINE, Budget(5))
    app = page(**{MODEL: model})
    assert not app.exception and "It predicts y from x, town." in shown(app)
    assert "Predicted: " in shown(app) and ("Hollow dots" in shown(app) or "told from its middle" in shown(app))
    assert "Most likely" in predicted_in_words(train(plane(), "kind", PLANE, Budget(5)), pd.DataFrame(plane(1)))


@pytest.mark.deep
def test_a_public_test_file_says_how_good_a_model_is(ledger):
    app = page(**{MODEL: train(plane(), "kind", PLANE, Budget(5))})
    frame = pd.DataFrame(plane(200)).to_csv(index=False).encode()
    app.file_uploader(key="train-test").set_value(("public.csv", frame, "text/csv")).run()
    assert not app.exception and "of 200 public records" in shown(app)
    assert "Do its probabilities mean what they say?" in [one.value for one in app.header]
    app.file_uploader(key="train-test").set_value(("bad.csv", b"x,y\n1,2\n", "text/csv")).run()
    assert not app.exception and "kind" in app.error[0].value
    app = page(**{MODEL: train(line(500), "y", LINE, Budget(5))})
    frame = pd.DataFrame(line(200)).to_csv(index=False).encode()
    app.file_uploader(key="train-test").set_value(("public.csv", frame, "text/csv")).run()
    assert not app.exception and "Typically off by" in shown(app)
