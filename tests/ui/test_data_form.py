"""What Data asks of columns: what is said, what is found out for a price, what stays, and what it never shows."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import Budget, Declaration
from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Reading
from core.domain.column_entries import NO, YES
from core.domain.drafts import person_among
from core.formatting.numbers import amount, rounded_down
from core.privacy.accounting import Cost
from core.privacy.composition import PureParts
from core.privacy.ledger.ledger import Ledger
from core.releases.found import paid_before, paid_text
from core.releases.manifest import Finding
from core.releases.payment import Purchase
from core.ui.frame.navigation import DATA, TRAIN
from core.ui.frame.session import KEY
from core.ui.own_data.picking_records import SAMPLE
from core.ui.released.kept_files import MODEL
from tests.releases.test_payment_purchases import buying
from tests.ui.data_page import CSV, SECRETS, data_page, field, main_button, open_codebook, read, shown, with_file


def test_nothing_of_the_values_is_shown_apart_from_names_and_types():
    app = read(with_file(), salary="number", city="category", member="yes or no")
    assert not app.exception and not app.error
    words = shown(app)
    assert "salary" in words and "city" in words
    for secret in SECRETS:
        assert secret not in words


def test_nothing_is_typed_for_own_data_and_the_button_finds_out_what_nobody_says():
    app = with_file()
    assert not [*app.text_area, *(one for one in app.number_input if "salary" in one.label)], "no wall of empty fields"
    button = app.button(key="data-find")
    assert button.disabled and button.label == "Find out, for a tenth of ε = 1.0"
    assert "the total budget of the data set" in shown(app)
    app = read(app, salary="number")
    assert [field(app.number_input, f"{end} salary").value for end in ("Smallest", "Largest")] == [None, None]
    field(app.number_input, "Smallest salary").set_value(0.0)
    field(app.number_input, "Largest salary").set_value(20_000.0)
    app.run()
    assert not main_button(app).disabled, "nothing is left to be found out"
    main_button(app).click().run()
    own = app.session_state[KEY].own
    assert [(one.name, one.low, one.high) for one in own.domain.columns] == [("salary", 0, 20_000)]
    assert own.sample is None and own.bought == ()


def test_problems_of_all_columns_are_said_at_once_before_anything_is_spent():
    app = read(with_file(), salary="number", born="date")
    for end, value in (("Smallest", 9.0), ("Largest", 1.0)):
        field(app.number_input, f"{end} salary").set_value(value)
    field(app.text_input, "First born").set_value("yesterday")
    field(app.text_input, "Last born").set_value("2020-01-01")
    app.run()
    words = shown(app)
    assert "of &#x27;salary&#x27; must be below its largest; the first day of born as a day" in words


@pytest.mark.thorough
def test_columns_that_cannot_be_read_as_declared_are_all_named_before_anything_is_spent():
    rows = b"a,b\n" + b"x,y\n" * 50
    app = read(with_file(rows), a="number", b="number")
    for name in "ab":
        field(app.number_input, f"Smallest {name}").set_value(0.0)
        field(app.number_input, f"Largest {name}").set_value(1.0)
    app.run()
    main_button(app).click().run()
    assert app.session_state[KEY].own is None
    assert "the column 'a' can be read as a number" in app.error[0].value and "'b' can be read" in app.error[0].value


@pytest.mark.thorough
def test_everything_declared_reaches_the_domain():
    app = read(with_file(), salary="number", city="category", member="yes or no")
    field(app.number_input, "Smallest salary").set_value(0.0)
    field(app.number_input, "Largest salary").set_value(20_000.0)
    field(app.text_input, "Unit of salary").set_value("CHF")
    field(app.text_area, "Categories of city").set_value("Bern, Basel")
    field(app.radio, "Who is one person?").set_value("A column says who the person is")
    field(app.radio, "Values outside the bounds").set_value("Leave those rows out")
    field(app.radio, "Rows with missing values").set_value("Stop, and say where")
    app.run()
    assert main_button(app).disabled
    field(app.selectbox, "The column").set_value("who")
    field(app.number_input, "At most this many rows each").set_value(3)
    app.run()
    main_button(app).click().run()
    assert app.session_state[KEY].own.domain == Domain(
        (
            Numeric("salary", 0, 20_000, "CHF", Reading(format="decimal_point")),
            Categorical("city", ("Bern", "Basel", "other"), unknown_category="other"),
            Categorical("member", ("no", "yes"), (NO, YES)),
        ),
        outside="drop",
        missing="refuse",
        unit=PrivacyUnit("who", 3),
        scale="box",
    )


@pytest.mark.thorough
def test_yes_and_no_are_read_as_people_write_them(tmp_path):
    """Of ja and nein every row was dropped in silence."""
    app = read(with_file(b"smokes\nja\nnein\nNein\noui\n"), smokes="yes or no")
    main_button(app).click().run()
    own = app.session_state[KEY].own
    points = np.concatenate([own.domain.encode(batch) for batch in own.source.batches(own.domain)])
    assert own.domain.decode_points(points)["smokes"].tolist() == ["yes", "no", "no", "yes"]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["Lesernummer", "customer_id", "PatientNr", "id_client", "userId"])
def test_a_column_that_looks_like_an_id_by_its_name_is_proposed_and_left_out(name):
    app = with_file(f"age,{name}\n1,a\n2,b\n".encode())
    assert field(app.selectbox, "The column").value == name
    assert field(app.number_input, "At most this many rows each").value is None
    words = shown(app)
    assert "Still missing: how many rows one person may have." in words and "says who one person is" in words


def test_a_card_that_each_person_has_one_of_is_proposed_and_no_number_to_be_compared():
    for name in ("Ausweis", "Leserausweis", "AusweisNr", "Ausweisnummer"):
        assert person_among(["age", name]) == name


@pytest.mark.parametrize(
    "name",
    "N° patient|Nr ewid.|会員番号|device_id|Personal-Nr.|Staff ID|emp_no|Numer pacjenta|MRN|患者ID|회원 번호|"
    "Номер пациента|Matricule|Card number|user|E-mail|Cliente|Kunde|Paciente|Utente|Klant|N° contrat|"
    "Vertragsnummer".split("|"),
)
def test_a_number_of_people_is_proposed_however_an_export_calls_it(name):
    assert person_among(["Ticket", "age", name, "sensor"]) == name


def test_a_number_is_proposed_before_an_address_of_the_same_person():
    assert person_among(["E-mail", "Customer no."]) == "Customer no."


def test_no_other_column_is_proposed():
    others = [
        "age",
        "paid",
        "kind",
        "order_id",
        "Kundenzufriedenheit",
        "number",
        "student",
        "clienti",
        "Kunden",
        "member",
        "Ausweisgebühr",
        "Ausweise",
        "sensor",
        "Ticket",
        "idnr",
        "card",
        "Code postal",
        "年齢",
        "entries",
    ]
    assert person_among(others) is None


@pytest.mark.thorough
def test_what_was_typed_survives_a_visit_elsewhere():
    app = read(with_file(), salary="number")
    field(app.number_input, "Largest salary").set_value(99.0).run()
    app.switch_page("app.py").run()
    app.switch_page(DATA.path).run()
    app.session_state["line-1-1"] = True
    app.run()
    assert field(app.selectbox, "Read salary as").value == "number"
    assert field(app.number_input, "Largest salary").value == 99.0


@pytest.mark.thorough
def test_decisions_are_there_again_after_a_reload_and_hold_no_value_of_the_data(data_folder, tmp_path):
    app = read(with_file(), salary="number", city="category")
    field(app.number_input, "Largest salary").set_value(99.0)
    field(app.text_area, "Categories of city").set_value("Uri, Zug")
    field(app.radio, "Rows with missing values").set_value("Leave those rows out")
    app.run()
    again = with_file()
    number = again.session_state[KEY].records.number
    assert "What was decided about these columns before is here again." in shown(again)
    again.session_state[f"line-{number}-1"] = True
    again.run()
    assert field(again.number_input, "Largest salary").value == 99.0
    assert field(again.radio, "Rows with missing values").value == "Leave those rows out"
    kept = "".join(path.read_text() for path in tmp_path.rglob("decisions/*.json"))
    assert "Uri, Zug" in kept and not any(secret in kept for secret in SECRETS)
    field(again.button, "Begin afresh").click().run()
    assert again.session_state[f"as-{number + 1}-1"] == "to be found out"
    other = with_file(b"who,pay\na,1\nb,2\n")
    assert "is here again" not in shown(other), "other columns, other decisions"


@pytest.mark.thorough
def test_what_was_found_of_one_file_was_not_found_of_another_of_the_same_columns(data_folder, tmp_path):
    app = with_file()
    number = app.session_state[KEY].records.number
    app.session_state[KEY].purchases.once(number, ("city",), buying([], "city"))
    app.run()
    files = {"people.csv": 1, "people-of-june.csv": 0}  # june's forgot it for both; a browser numbers copies
    for name, bought in (*files.items(), *files.items(), ("people (1).csv", 1)):
        visitor = with_file(name=name).session_state[KEY]
        assert len(visitor.purchases.made_of(visitor.records.number)) == bought, name
    (place,) = tmp_path.rglob("decisions/*.json")
    kept = json.loads(place.read_text())
    place.write_text(json.dumps(kept | {"of": "people.csv", "bought": kept["bought"]["people"]}))
    visitor = with_file().session_state[KEY]
    assert len(visitor.purchases.made_of(visitor.records.number)) == 1, "as an earlier version kept it"


@pytest.mark.thorough
def test_begin_afresh_empties_the_fields_that_a_browser_shows(data_folder):
    """The number of rows a person stood there still, and the page said that it was missing."""
    app = read(with_file(), salary="number")
    number = app.session_state[KEY].records.number
    field(app.number_input, "Largest salary").set_value(99.0).run()
    again = with_file()
    assert again.session_state[f"high-{number}-1"] == 99.0
    field(again.button, "Begin afresh").click().run()
    visitor = again.session_state[KEY]
    assert visitor.records.number == number + 1, "other fields, as a browser keeps what the same ones show"
    assert again.session_state[f"as-{number + 1}-1"] == "to be found out"
    assert "is here again" not in shown(again)


def test_nothing_is_kept_of_a_stranger(request_headers, tmp_path):
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    read(with_file(), salary="number")
    assert not list(tmp_path.rglob("decisions/*.json"))


@pytest.mark.thorough
def test_a_second_file_starts_empty_again():
    app = read(with_file(), salary="number")
    field(app.number_input, "Largest salary").set_value(99.0).run()
    app.file_uploader[0].set_value(("other.csv", CSV.replace(b"salary", b"pay"), "text/csv"))
    app.run()
    assert field(read(app, pay="number").number_input, "Largest pay").value is None


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.db"))
    return Ledger(tmp_path / "ledger.db")


MANY = b"pay;city;joined\n" + b"".join(
    b"%d,50;%s;%02d/%02d/2021\n" % (2000 + i % 4000, (b"Bern", b"Uri")[i % 3 == 0], 1 + i % 28, 1 + i % 12)
    for i in range(5000)
)


def found(app: AppTest, total: float = 3.0) -> AppTest:
    """Decide on a total, and have found out what nobody said."""
    field(app.number_input, "Its total budget, for ever (ε)").set_value(total).run()
    return app.button(key="data-find").click().run()


@pytest.mark.thorough
def test_what_nobody_said_is_found_out_stands_in_the_form_and_can_be_corrected(ledger):
    app = found(with_file(MANY))
    assert not app.exception and not app.error and "· found" in shown(app)
    name = app.session_state[KEY].dataset
    (kept,) = [one.value for one in app.code if "columns:" in one.value]  # a file of it promises what that has cost
    assert paid_before(Declaration.of(kept).paid) == ((ledger.status(name).releases[0].cost,), Budget(1, "1e-6"))
    status = ledger.status(name)
    assert (status.epsilon, len(status.releases)) == (3, 1) and "Found out for a tenth of ε = 1.0" in shown(app)
    number = app.session_state[KEY].records.number
    app.session_state[f"line-{number}-0"] = True
    app.run()
    assert "Found, for a tenth of ε = 1.0. To correct it costs nothing." in shown(app)
    assert field(app.selectbox, "How numbers of pay are written").value.startswith("1200,5")
    field(app.number_input, "Largest pay").set_value(7_000.0).run()
    assert "· found, and corrected" in shown(app) and len(ledger.status(name).releases) == 1
    main_button(app).click().run()
    own = app.session_state[KEY].own
    pay, city, joined = own.domain.columns
    assert (pay.high, pay.reading.decimal) == (7_000, ",") and set(city.categories[:2]) == {"Bern", "Uri"}
    assert (city.unknown_category, joined.format) == ("other", "day_first")
    assert [one.cost for one in own.bought] == [status.releases[0].cost] and own.within == Budget(1, "1e-6")


@pytest.mark.thorough
def test_a_model_is_trained_on_columns_that_were_found_out_and_promises_all_of_it(ledger):
    """It was refused, so whoever dropped a table on the page and let it be found out had no way to a model."""
    app = found(with_file(MANY), total=1.0)
    main_button(app).click().run()
    own = app.session_state[KEY].own
    app.switch_page(TRAIN.path).run()
    rest = amount(rounded_down(own.bought[0].left.epsilon))
    assert not app.exception and not app.error and f"takes the rest, ε = {rest}, and the file promises" in shown(app)
    button = app.button(key="train")
    assert button.label.startswith(f"Train for ε = {rest}") and not button.disabled
    button.click().run()
    app.button(key="train").click()  # whose dialog is open still, which the test's page would forget
    app.button(key="train-confirm").click().run()
    assert not app.exception and app.session_state[MODEL].budget == Budget(1, "1e-6") == own.within
    assert len(ledger.status(app.session_state[KEY].dataset).releases) == 2


@pytest.mark.thorough
def test_where_noise_hid_all_columns_of_few_rows_the_page_says_what_to_do(ledger):
    app = found(with_file(b"town;sex\n" + b"Bern;f\nUri;m\n" * 20))
    assert "Noise hid all columns" in shown(app) and "open their lines" in shown(app)


@pytest.mark.thorough
def test_what_was_found_is_there_with_its_price_after_a_reload(ledger):
    found(with_file(MANY))
    app = with_file(MANY)
    assert "Found out for a tenth of ε = 1.0" in shown(app) and not main_button(app).disabled
    main_button(app).click().run()
    assert [one.cost for one in app.session_state[KEY].own.bought] == [ledger.status("people").releases[0].cost]


@pytest.mark.thorough
def test_what_was_paid_for_is_there_after_a_reload_in_the_middle_and_after_beginning_afresh(ledger, monkeypatch):
    """A visitor who left while it was found out had paid for nothing, and the total does not allow it again."""

    def leave(*words):
        raise RuntimeError("the visitor has left")

    with monkeypatch.context() as gone:
        gone.setattr("core.ui.finding_out.st.rerun", leave)
        assert found(with_file(MANY)).exception
    for _ in range(2):
        app = with_file(MANY)
        assert "Found out for a tenth of ε = 1.0" in shown(app) and not main_button(app).disabled
        field(app.button, "Begin afresh").click().run()
        assert "Found out for a tenth of ε = 1.0" in shown(app) and "· found" in shown(app)
        main_button(app).click().run()
        assert [one.cost for one in app.session_state[KEY].own.bought] == [ledger.status("people").releases[0].cost]
    assert len(ledger.status("people").releases) == 1


@pytest.mark.thorough
def test_what_a_guesser_could_gain_is_of_the_file_which_shows_what_was_found_too(ledger):
    """70.5% stood beside the button, and 73.1% in the file that it made."""
    app = found(with_file(MANY))
    main_button(app).click().run()
    app.switch_page("pages/release.py").run()
    assert not app.exception and "73.1%" in shown(app) and "70.5%" not in shown(app)


COST = Cost((PureParts(Fraction(1, 2)),), Decimal("0.5"))
PAID = Declaration(Domain((Categorical("city", ("Bern", "Uri")),)), paid=paid_text([(COST, Budget(5))]))


def filled(app: AppTest, text: str) -> AppTest:
    """The lines as a declaration says them."""
    field(open_codebook(app).text_area, "Or paste a data dictionary").set_value(text).run()
    return app.button(key="codebook-fill").click().run()


def bought_here(app: AppTest, *columns: str) -> None:
    """Remember a purchase of the records that are picked."""
    visitor, finding = app.session_state[KEY], Finding("a tenth", columns, 9.0, 1.0, {}, 1.0)
    said = {columns[0]: [], "joined": "Hidden by noise."}
    bought = Purchase((*columns, "joined"), COST, Budget(5), Budget("4.5"), "a tenth", finding, None, said)
    visitor.purchases.restore(visitor.records.number, bought)


def test_lines_that_a_declaration_fills_which_was_paid_for_are_used_with_its_price(ledger):
    """The page took it as a codebook, and a file of it promised its own price alone; after a reload, too."""
    app = filled(with_file(MANY), PAID.text())
    assert not app.error and "whatever is made of it promises, too" in shown(app)
    for each in (app, with_file(MANY)):
        (kept,) = [one.value for one in each.code if "columns:" in one.value]
        assert paid_before(Declaration.of(kept).paid) == ((COST,), Budget(5))
        main_button(each).click().run()
        own = each.session_state[KEY].own
        assert own.costs == (COST,) and own.within is None


def test_what_was_bought_here_and_is_filled_in_from_its_own_declaration_costs_once(ledger):
    app = with_file(MANY)
    bought_here(app, "city")
    main_button(filled(app, PAID.text())).click().run()
    own = app.session_state[KEY].own
    assert own.costs == (COST,) and own.within == Budget(5)


@pytest.mark.thorough
def test_a_renamed_copy_promises_what_its_lines_show_that_was_found_of_the_other_and_asks_whose_they_are(ledger):
    """Its lines were filled with what had been found and paid for, and its file promised nothing of that."""
    main_button(found(with_file(MANY))).click().run()
    (paid,) = [one.cost for one in ledger.status("people").releases]
    for _ in range(2):  # after a reload, too
        copy = with_file(MANY, "copy.csv")
        assert not copy.error and "Found out for" not in shown(copy)
        main_button(copy).click().run()
        own = copy.session_state[KEY].own
        assert own.costs == (paid,) and own.bought == () and own.within is None
    copy.switch_page("pages/release.py").run()
    assert not copy.exception and "Are these the people of “people”? Then choose that data set." in shown(copy)
    again = with_file(MANY)
    main_button(again).click().run()
    assert [one.cost for one in again.session_state[KEY].own.bought] == [paid]
    assert again.session_state[KEY].own.costs == (paid,)


def test_what_was_bought_of_a_column_is_promised_by_what_shows_its_weekday_alone(ledger):
    """Only columns of the very name were looked at, so a file that shows how days are written promised less."""
    app = with_file(MANY)
    bought_here(app, "joined")
    main_button(filled(app, "columns:\n  day: {kind: cyclic, of: joined, part: weekday}\n")).click().run()
    own = app.session_state[KEY].own
    assert own.domain.names == ("day",) and own.costs == (COST,)


def test_a_click_that_comes_twice_finds_out_once(ledger):
    app = with_file(MANY)
    found(app)
    visitor = app.session_state[KEY]
    (bought,) = visitor.purchases.made_of(visitor.records.number)
    assert bought.found is not None and len(ledger.status("people").releases) == 1


@pytest.mark.thorough
def test_a_second_file_of_the_same_name_says_that_values_are_found_out_once_and_what_to_do(ledger):
    """Its button was grey for want of room, where two thirds were left. Of the same columns all is filled in again."""
    found(with_file(MANY))
    again = with_file(MANY.replace(b"pay;city;joined", b"fee;town;since"))
    assert again.button(key="data-find").disabled and "Are these the same people?" in shown(again)


@pytest.mark.thorough
def test_finding_out_that_the_budget_does_not_allow_spends_nothing(ledger):
    app = with_file(MANY)
    field(app.number_input, "Its total budget, for ever (ε)").set_value(0.1).run()
    assert app.button(key="data-find").disabled and "room in the total" in shown(app)
    assert not ledger.names()


@pytest.mark.thorough
def test_a_pure_promise_is_told_in_a_sentence_and_offers_the_risk_or_typing(ledger):
    app = with_file(MANY)
    field(app.toggle, next(one.label for one in app.toggle if one.label.startswith("Less noise"))).set_value(
        False
    ).run()
    words = shown(app)
    assert "no values of categories can be found" in words and "or type the categories" in words


def test_no_ledger_is_opened_before_it_is_needed(monkeypatch):
    def refuse(*where):
        raise AssertionError("a ledger was opened")

    monkeypatch.setattr("core.ui.finding_out.ledger_for", refuse)
    app = data_page()
    app.segmented_control[0].set_value(SAMPLE).run()
    field(app.radio, "Sample").set_value("city").run()
    assert not app.exception


def test_a_column_that_was_proposed_for_persons_is_used_again_once_each_row_is_one():
    """It stayed left out, without a word why; and one that was chosen by hand was to be found out."""
    app = with_file(b"device_id,age,card\n1,2,3\n2,3,4\n")
    number = app.session_state[KEY].records.number

    def read_as():
        return [app.session_state[f"as-{number}-{place}"] for place in range(3)]

    assert read_as()[0] == "left out" != read_as()[2]
    field(app.selectbox, "The column").set_value("card").run()
    assert read_as()[0] == read_as()[1] != "left out" == read_as()[2]
    field(app.radio, "Who is one person?").set_value("Each row is one person").run()
    assert len(set(read_as())) == 1 and "left out" not in read_as()
