"""Train without a browser: what is missing, what is asked for, the model that comes out, and files of models."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import Budget
from core.figures.model import model_figure, reaches
from core.models.training import offers, train
from core.privacy.ledger.account import Account
from core.privacy.ledger.ledger import Ledger
from core.sources import open_source
from core.ui.frame.frame import TRAIN
from core.ui.frame.session import KEY, OwnData, Session
from core.ui.train.choosing import MODEL, Wish, trained
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

ROOT = Path(__file__).parents[3]


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


def test_without_data_it_says_what_is_missing_and_opens_models(ledger):
    app = page()
    assert "nothing to train on" in shown(app) and app.button(key="train").disabled
    model = train(plane(), "kind", PLANE, Budget(5))
    app.file_uploader(key="train-file").set_value(("model.json", model.to_bytes(), "application/json"))
    app.run()
    assert not app.exception and "It predicts kind" in shown(app) and "Most likely" in shown(app)


def test_an_owner_chooses_and_the_price_is_on_the_button(ledger):
    app = page(**{KEY: owner()})
    assert app.selectbox(key="train-target").value == "kind"
    app.number_input(key="release-total-1").set_value(3.0)
    app.run()
    assert not app.exception and app.button(key="train").label == "Train for ε = 1.0"
    assert not app.button(key="train").disabled
    app.button(key="train").click().run()
    assert not app.exception and not ledger.names()  # nothing is spent before the yes


def test_a_wish_is_paid_for_and_a_total_is_not_passed(ledger):
    session = owner()
    budget = Budget("0.75")
    offer = offers(PLANE, "kind", budget)[0]
    account = Account("people", Budget(1), "record")
    model = trained(session.own, ledger, Wish(offer.trainer, budget, account, "1"))
    assert model.private and ledger.status("people").spent == 0.75
    known = Account.of(ledger.status("people"))
    assert known.after(offer.trainer.cost(budget)).refusal


def test_a_model_of_three_classes_is_shown_class_by_class(ledger):
    model = train(three(), "kind", THREE, Budget(20, "1e-4"), "descent")
    app = page(**{MODEL: model})
    app.selectbox(key="train-class").set_value("b")
    app.run()
    assert not app.exception and "It predicts kind (a, b, c)" in shown(app)
    names, moves = reaches(model, 1)
    assert len(model_figure(model, 1).data[0].x) == len(names) == 2 and abs(moves[0]) >= abs(moves[1])
