"""The Ledger page without a browser: what was promised, spent and left, and what one more release would do."""

import gc
from decimal import Decimal
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.errors import RequestError
from core.privacy.accounting import epsilon_spent
from core.privacy.budget import Neighbours, unit_in_words
from core.privacy.ledger.account import Account, left_of_total
from core.privacy.ledger.ledger import Ledger
from core.releases.release_store import Sandbox, shelf_of
from core.ui.frame.session import Session
from core.ui.ledger_page import cost_of_rows
from core.ui.own_data.paying import open_ledger
from tests.releases_for_tests import small_release

APP = str(Path(__file__).parents[2] / "app.py")
SLACK = "0.000001"


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    where = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(where))
    return Ledger(where)


def visit():
    at = AppTest.from_file(APP, default_timeout=60).switch_page("pages/ledger.py").run()
    assert not at.exception
    return at


def words(at):
    return " ".join([*(one.value for one in at.markdown), *(one.value for one in at.warning)])


def spend(ledger, name, epsilon, rows=1000, slack=False):
    ledger.spend(name, cost_of_rows(Decimal(epsilon), rows, slack, Neighbours.ADD_REMOVE))


def test_an_empty_ledger_says_so_and_how_to_begin(ledger):
    at = visit()
    assert "No data set has a budget yet" in words(at)
    assert at.button(key="ledger-register").disabled
    assert "Still missing: a name for the data set; its total budget." in words(at)


def test_an_older_copy_of_the_ledger_is_called_so(ledger):
    ledger.register("visits", 1)
    shelf = shelf_of(ledger)
    shelf.keep(small_release(), "visits")  # which a later state of the ledger has paid for
    (error,) = visit().error
    assert "older copy that has forgotten what was spent since" in error.value
    shelf.remove(shelf.entries()[0].name)
    assert not visit().error


@pytest.mark.thorough
def test_a_data_set_is_registered_as_typed(ledger):
    at = visit()
    at.text_input(key="ledger-name").set_value("Visits")
    at.number_input(key="ledger-total").set_value(2.5)
    at.toggle(key="ledger-total-slack").set_value(True)
    at.radio(key="ledger-relation").set_value("replace_one")
    at.radio(key="ledger-unit").set_value("A column says who the person is").run()
    assert at.button(key="ledger-register").disabled and "the column that says who the person is" in words(at)
    at.text_input(key="ledger-unit-column").set_value("who")
    at.number_input(key="ledger-unit-rows").set_value(3).run()
    assert at.button(key="ledger-register").label == "Register for ε = 2.5"
    at.button(key="ledger-register").click().run()
    known = ledger.dataset("Visits")
    assert (known.epsilon, known.delta) == (Decimal("2.5"), Decimal(SLACK))
    assert (known.neighbours, known.unit) == (Neighbours.REPLACE_ONE, "who:3")
    assert "each person named by who, with at most 3 records" in words(at) and not at.exception


@pytest.mark.thorough
def test_another_promise_for_the_same_name_is_refused_in_one_sentence(ledger):
    ledger.register("Visits", 1)
    at = visit()
    at.text_input(key="ledger-name").set_value("Visits")
    at.number_input(key="ledger-total").set_value(2.0).run()
    at.button(key="ledger-register").click().run()
    assert "cannot be changed" in at.error[0].value and ledger.dataset("Visits").epsilon == 1


@pytest.mark.thorough
def test_a_total_and_its_releases_are_shown(ledger):
    ledger.register("Visits", 3)
    spend(ledger, "Visits", "1")
    spend(ledger, "Visits", "0.5")
    text = words(visit())
    assert "ε = 3 in all" in text and "left 1.5" in text
    assert "One more release of ε = 1.5 may follow" in text
    assert text.count(": ε = 1.0") == 1 and text.count(": ε = 0.5") == 1 and "since" in text
    note = {"mechanism": "objective", "parameters": {"label": "smoker"}, "columns": ["age", "smoker", "sex"]}
    ledger.spend("Visits", cost_of_rows(Decimal("0.25"), 1, False, Neighbours.ADD_REMOVE), note)
    assert "A model of smoker from age and sex, entry " in words(visit())


def test_what_is_left_is_one_number_on_the_ledger_page_under_a_delta_too(ledger):
    """ "One more release of ε = 2.05" stood beside "left 3.07", and "Discovery" for what was found out."""
    ledger.register("Visits", 4, SLACK)
    for _ in range(3):
        ledger.spend("Visits", cost_of_rows(Decimal("0.5"), 1, True, Neighbours.ADD_REMOVE), {"mechanism": "discovery"})
    text = words(visit())
    assert "One more release" not in text and "What the columns hold, entry" in text
    assert f"left {left_of_total(ledger.status('Visits')).removeprefix('ε = ')}" in text


@pytest.mark.thorough
def test_what_one_more_release_would_do(ledger):
    ledger.register("Visits", 3)
    spend(ledger, "Visits", "2.5")
    at = visit()
    assert "passed" in words(at) or "nothing was spent" in words(at)
    at.select_slider(key="ledger-epsilon").set_value(Decimal("0.5")).run()
    assert "It may be made. By itself it promises ε = 0.5, and it adds 0.5 to what is spent." in words(at)
    assert len(ledger.status("Visits").releases) == 1, "asking costs nothing"


def test_composition_is_explained_with_the_ledgers_own_figure(ledger):
    ledger.register("Visits", 3, SLACK)
    at = visit()
    together = epsilon_spent(cost_of_rows(Decimal(1), 1000, False, Neighbours.ADD_REMOVE).events, float(SLACK))
    assert f"{together:.3g}" == "0.116" and "count as ε = 0.116" in words(at)
    assert "it adds 0.116 to what is spent" in words(at)
    ledger.register("Strict", 3)
    assert "add up to the last digit" in words(visit())


@pytest.mark.thorough
def test_the_data_set_at_work_is_shown_first_and_any_can_be_picked(ledger):
    for name in ("First", "Second", "Third"):
        ledger.register(name, 1)
    at = visit()
    assert at.selectbox(key="ledger-dataset").value == "Third"
    at.selectbox(key="ledger-dataset").set_value("First").run()
    assert "Budget of First" in words(at)


def test_names_are_never_read_as_markup(ledger):
    ledger.register("<b>bold</b> **x**", 1)
    at = visit()
    assert "<b>" not in words(at) and "&lt;b&gt;bold&lt;/b&gt;" in words(at)


def test_a_damaged_ledger_is_one_sentence(ledger, tmp_path):
    ledger.register("Visits", 1)
    (tmp_path / "ledger.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    at = visit()
    assert len(at.error) == 1 and "damaged" in at.error[0].value


def test_an_account_decides_like_the_ledger(ledger):
    ledger.register("Visits", "1.5", SLACK)
    for epsilon, rows, slack in (("1", 100, False), ("0.5", 500, True), ("0.4", 10, False), ("2", 1, False)):
        cost = cost_of_rows(Decimal(epsilon), rows, slack, Neighbours.ADD_REMOVE)
        account, preview = Account.of(ledger.status("Visits")), ledger.what_if("Visits", cost)
        mine = account.after(cost)
        assert (mine.admitted, mine.spent, mine.left) == (preview.admitted, preview.spent, preview.left)
        if preview.admitted:
            ledger.spend("Visits", cost)


@pytest.mark.thorough
def test_samples_have_a_book_of_their_own_that_begins_again(ledger):
    ledger.register("Payroll", 3)
    assert not [one for one in visit().button if one.key == "ledger-begin-again"], "nothing was ever played with"
    sandbox = Sandbox.beside(ledger.where)
    sandbox.ledger.register("Stars", 3)
    at = visit()
    assert "Payroll" in words(at) and "Stars" not in words(at)
    at.segmented_control(key="ledger-whose").set_value("Samples").run()
    assert "Stars" in words(at) and "Payroll" not in words(at)
    at.button(key="ledger-begin-again").click().run()
    assert not at.exception and not sandbox.exists and ledger.names() == ["Payroll"]


def test_units_in_words():
    assert unit_in_words("record") == "each record"
    assert unit_in_words("id:of:2") == "each person named by id:of, with at most 2 records"


def test_whose_ledger_is_opened(ledger, request_headers):
    visitor, other = Session(), Session()
    assert open_ledger(visitor).where == ledger.where
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FROSTGLASS_WITNESS", f"{ledger.where}.heads")
        open_ledger(visitor).register("Watched", 1)
    assert Path(f"{ledger.where}.heads").stat().st_size and ledger.names() == ["Watched"]
    with pytest.raises(RequestError, match="FROSTGLASS_WITNESS"):
        open_ledger(visitor).register("Unseen", 1)
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    own = open_ledger(visitor).where
    assert own == open_ledger(visitor).where and own not in (ledger.where, open_ledger(other).where)
    del visitor
    gc.collect()
    assert not Path(own).exists(), "it ends with the session"


def test_who_comes_through_a_proxy_does_not_see_the_owners_ledger(ledger, request_headers):
    ledger.register("Payroll of Grubenmann", 3)
    spend(ledger, "Payroll of Grubenmann", "0.5")
    assert "Payroll of Grubenmann" in words(visit())
    request_headers["Via"] = "1.1 gate"
    at = visit()
    assert "handed on by a proxy), so what you spend is counted in this session only" in words(at)
    assert "No data set has a budget yet" in words(at)
    assert "Grubenmann" not in words(at) and ledger.where not in words(at) and not at.selectbox
