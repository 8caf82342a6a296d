"""Home and Data without a browser: what they show, what they refuse, what they hand on, and what they never show."""

from io import BytesIO
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core import Budget
from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Reading, Vector
from core.domain.column_entries import NO, YES
from core.domain.drafts import person_among
from core.privacy.ledger.ledger import Ledger
from core.sources.public_tables import bundled_groups, samples
from core.sources.source_opening import FILE_TYPES
from core.ui.frame.navigation import DATA, GROUPS
from core.ui.frame.session import KEY, Session
from core.ui.own_data.picking_records import FILE, ORIGIN, PATH, SAMPLE
from tests.depth import sampled
from tests.releases.test_payment_purchases import buying

ROOT = Path(__file__).parents[2]
SECRETS = ("7341.25", "8812.5", "Xanthippe", "Grubenmann", "1931-07-09")
CSV = (
    "who,salary,city,born,member\n"
    f"{SECRETS[2]},{SECRETS[0]},{SECRETS[3]},{SECRETS[4]},true\n"
    f"anon,{SECRETS[1]},Bern,1990-01-01,false\n"
).encode()


def home() -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    app.run()
    return app


def data_page() -> AppTest:
    app = home()
    app.switch_page(DATA.path).run()
    return app


def with_file(content: bytes = CSV, name: str = "people.csv") -> AppTest:
    app = data_page()
    app.file_uploader[0].set_value((name, content, "text/csv"))
    return app.run()


def field(widgets, label: str):
    return next(widget for widget in widgets if widget.label == label)


def read(app: AppTest, **kinds: str) -> AppTest:
    """Unfold columns and read them as something, and leave out all others."""
    records = app.session_state[KEY].records
    for place, column in enumerate(records.columns):
        kind = kinds.get(column.name.replace(" ", "_"))
        app.session_state[f"as-{records.number}-{place}"] = kind or "left out"
        app.session_state[f"line-{records.number}-{place}"] = kind is not None
    return app.run()


def open_codebook(app: AppTest) -> AppTest:
    app.session_state[f"codebook-{app.session_state[KEY].records.number}"] = True
    return app.run()


def shown(app: AppTest) -> str:
    """Every word that is sent to the browser: texts, labels, options, placeholders, values."""
    protos = [element.proto for element in app.main if hasattr(element, "proto")]
    foot = [element.value for element in app.markdown]
    return "\n".join([*map(str, protos), *foot])


def main_button(app: AppTest):
    return field(app.button, "Use this data")


def test_home_has_a_heading_doors_and_no_fault():
    app = home()
    assert not app.exception
    assert app.title[0].value == "See the shape, not the people."
    assert {"Start with your data", "Pick a sample"} <= {button.label for button in app.button}


def test_a_page_is_drawn_whole_on_every_run():
    """What breaks when st.navigation stands beside pages/: from the second run the page runs without its frame."""
    app = data_page()
    for _ in range(2):
        assert app.title[0].value == DATA.heading and len(app.sidebar) > 0
        app.run()


def test_every_page_in_the_navigation_is_a_file_once_it_is_listed():
    paths = [page.path for _, pages in GROUPS for page in pages]
    assert len(set(paths)) == len(paths)
    assert all(path.startswith("pages/") for path in paths)


@pytest.mark.thorough
def test_what_experts_need_stands_under_one_heading_and_others_find_it_where_they_ask():
    """Five pages are everyone's; groups are a view of Explore, and a model is a question of Release."""
    *everyones, (heading, experts) = GROUPS
    assert heading == "For experts" and [page.title for _, pages in everyones for page in pages] == [
        "Data", "Release", "Ledger", "Explore", "Learn",
    ]  # fmt: skip
    assert {"Train", "Classify", "Compare"} <= {page.title for page in experts}
    path = next(path for one, path in bundled_groups() if one.name == "heart")
    visitor = Session()
    visitor.open(path.name, path.read_bytes())
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.session_state[KEY] = visitor
    app.switch_page("pages/explore.py").run()
    app.segmented_control(key="view").set_value("Groups").run()
    assert not app.exception and "sure" in " ".join(block.value for block in app.markdown)


def test_the_third_door_leads_to_the_samples():
    app = home()
    field(app.button, "Pick a sample").click().run()
    assert not app.exception and app.session_state[ORIGIN] == SAMPLE


def test_without_records_the_button_says_what_is_missing():
    app = data_page()
    assert main_button(app).disabled
    assert "Still missing: some records." in shown(app)


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
    "Номер пациента|Matricule|Card number|user|E-mail".split("|"),
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
def test_what_was_found_of_one_file_was_not_found_of_another_of_the_same_columns(data_folder):
    app = with_file()
    number = app.session_state[KEY].records.number
    app.session_state[KEY].purchases.once(number, ("city",), buying([], "city"))
    app.run()
    for name, bought in (("people.csv", 1), ("people-of-june.csv", 0)):
        visitor = with_file(name=name).session_state[KEY]
        assert len(visitor.purchases.made_of(visitor.records.number)) == bought, name


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


@pytest.mark.few(1)
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 50, b"PAR1 cut short"])
def test_a_bad_file_gets_a_sentence_and_no_fault(content):
    app = with_file(content, "bad.parquet")
    assert not app.exception and len(app.error) == 1
    assert app.session_state[KEY].records is None and main_button(app).disabled


@pytest.mark.thorough
def test_odd_column_names_are_shown_literally():
    app = with_file(b'"$a$ *b* :red[c] <b>d</b>",x\n1,2\n')
    assert not app.exception
    assert any("<b>" not in element.value for element in app.markdown)
    number = app.session_state[KEY].records.number
    app.session_state[f"line-{number}-0"] = True
    app.run()
    assert not app.exception and "<b>d</b>" not in "".join(element.value for element in app.markdown)


@pytest.mark.deep
@pytest.mark.parametrize("name", sampled([one.name for one in samples()], "city"))
def test_every_sample_is_ready_to_use_and_keeps_its_domain(name):
    app = data_page()
    app.segmented_control[0].set_value(SAMPLE).run()
    field(app.radio, "Sample").set_value(name).run()
    assert not app.exception and not main_button(app).disabled
    main_button(app).click().run()
    own = app.session_state[KEY].own
    known = next(one for one in samples() if one.name == name).domain
    assert own.sample == name and set(own.domain.columns) == set(known.columns)
    assert own.domain.record == known.record != "", "answers say what they count"
    assert (own.domain.unit, own.domain.scale, own.domain.category_distance) == (
        known.unit,
        known.scale,
        known.category_distance,
    )


VECTORS = np.tile(np.float32([0.6, 0.8, 0.0]), (40, 1))


def dropped(name, save, *arrays, **named):
    app = data_page()
    file = BytesIO()
    save(file, *arrays, **named)
    app.file_uploader[0].set_value((name, file.getvalue(), "application/octet-stream"))
    return app.run()


@pytest.mark.deep
def test_embeddings_are_described_by_their_length_and_how_many_numbers_they_hold_is_known():
    pictures = dropped("pictures.npz", np.savez, x=VECTORS, kind=np.tile(["cat", "dog"], 20))
    app = read(pictures, x="vector, by number", kind="category")
    assert "0.6" not in shown(app)
    field(app.selectbox, "Read x as").set_value("vector, by length").run()
    assert main_button(app).disabled and "what no vector of x is longer than" in shown(app)
    field(app.number_input, "No vector of x is longer than").set_value(1.0)
    field(app.text_area, "Categories of kind").set_value("cat, dog")
    app.run()
    main_button(app).click().run()
    own = app.session_state[KEY].own
    assert own.domain.columns[0] == Vector("x", 3, -1, 1)
    assert own.longest == {"x": 1.0}


@pytest.mark.thorough
def test_a_wide_array_without_names_is_one_column_of_vectors():
    app = dropped("embeddings.npy", np.save, np.zeros((5, 30)))
    assert [column.length for column in app.session_state[KEY].records.source.columns] == [30]
    app = dropped("table.npy", np.save, np.zeros((5, 3)))
    assert len(app.session_state[KEY].records.source.columns) == 3


@pytest.mark.thorough
def test_a_path_is_read_where_it_lies(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(CSV)
    app = data_page()
    app.segmented_control[0].set_value(PATH).run()
    app.text_input[0].set_value(str(path))
    field(app.button, "Open").click().run()
    assert not app.exception and not app.error
    assert [column.name for column in app.session_state[KEY].records.source.columns][:2] == ["who", "salary"]


def test_a_path_that_is_not_there_gets_a_sentence():
    app = data_page()
    app.segmented_control[0].set_value(PATH).run()
    app.text_input[0].set_value("/nowhere/nothing.csv")
    field(app.button, "Open").click().run()
    assert not app.exception and len(app.error) == 1


@pytest.mark.thorough
def test_a_table_of_a_database_is_picked_from_a_list(tmp_path):
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as store:
        store.execute("CREATE TABLE patients AS SELECT 7341.25 AS salary FROM range(3); CREATE TABLE wards (bed INT)")
    app = data_page()
    app.segmented_control[0].set_value(PATH).run()
    app.text_input[0].set_value(str(path))
    field(app.button, "Open").click().run()
    assert not app.exception and not app.error and app.session_state[KEY].records is None
    tables = app.selectbox[0]
    assert tables.label == "Which of the 2 tables of clinic.duckdb?" and list(tables.options) == ["patients", "wards"]
    tables.set_value("patients").run()
    records = app.session_state[KEY].records
    assert not app.exception and records.title == "clinic.duckdb::patients"
    assert [column.name for column in records.source.columns] == ["salary"]
    assert "3 rows" in shown(app) and "7341.25" not in shown(app)
    app.run()
    assert app.session_state[KEY].records is records, "it is opened once"


def test_paths_are_not_offered_to_who_comes_through_a_proxy(request_headers):
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    app = data_page()
    assert list(app.segmented_control[0].options) == [SAMPLE, FILE]
    assert "handed on by a proxy), so it opens no paths" in shown(app)


def test_a_path_that_was_being_typed_is_not_opened_for_a_stranger(tmp_path, request_headers):
    duckdb.connect(str(tmp_path / "clinic.duckdb")).execute("CREATE TABLE patients AS SELECT 7341.25 AS salary").close()
    app = data_page()
    field(app.segmented_control, "Where are the records?").set_value(PATH).run()
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    field(app.text_input, "Path, pattern or database table").set_value(str(tmp_path / "clinic.duckdb"))
    field(app.button, "Open").click().run()
    assert not app.exception and app.session_state[KEY].records is None
    assert "patients" not in shown(app) and field(app.segmented_control, "Where are the records?").value == FILE


@pytest.mark.thorough
def test_a_public_file_fills_what_is_empty_and_nothing_else():
    app = read(with_file(), salary="number", city="category")
    field(app.number_input, "Largest salary").set_value(99_999.0)
    open_codebook(app)
    public = b"city,salary\nUri,100\nZug,50000\n"
    field(app.file_uploader, "A public file").set_value(("last-year.csv", public, "text/csv"))
    app.run()
    assert not app.exception and not app.error
    assert field(app.number_input, "Smallest salary").value == 100
    assert field(app.number_input, "Largest salary").value == 99_999
    assert field(app.text_area, "Categories of city").value == "Uri, Zug"


@pytest.mark.thorough
def test_a_public_file_that_shares_nothing_gets_a_sentence():
    app = open_codebook(read(with_file(), salary="number"))
    field(app.file_uploader, "A public file").set_value(("other.csv", b"x\n1\n2\n", "text/csv"))
    app.run()
    assert not app.exception and len(app.error) == 1


@pytest.mark.thorough
def test_ones_own_file_is_no_public_file():
    app = open_codebook(read(with_file(), salary="number"))
    field(app.file_uploader, "A public file").set_value(("copy.csv", CSV, "text/csv"))
    app.run()
    assert not app.exception and "your own file" in app.error[0].value
    assert field(app.number_input, "Smallest salary").value is None


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


@pytest.mark.thorough
def test_of_an_array_some_columns_may_be_used():
    stream = BytesIO()
    np.save(stream, np.arange(12.0).reshape(4, 3))
    app = read(with_file(stream.getvalue(), "array.npy"), column_2="number")
    field(app.number_input, "Smallest column 2").set_value(0.0)
    field(app.number_input, "Largest column 2").set_value(20.0)
    app.run()
    main_button(app).click().run()
    own = app.session_state[KEY].own
    (batch,) = own.source.batches(own.domain)
    assert batch.column("column 2").to_pylist() == [1.0, 4.0, 7.0, 10.0]


def test_own_files_of_every_format_are_accepted():
    assert {"csv", "tsv", "parquet", "arrow", "feather", "npy", "npz"} <= set(FILE_TYPES)


def test_the_labels_of_an_own_file_of_spss_are_offered_and_taken_at_a_click(tmp_path):
    """They were refused as a codebook, being in the private file, and parties were found as numbers from 0 to 260."""
    written = pytest.importorskip("pyreadstat")
    people = pd.DataFrame({"vote": [1.0, 2.0, 98.0, 1.0], "score": [30.0, 40.0, 50.0, 60.0]})
    labels = {"vote": {1: "A", 2: "B", 98: "unsure"}}
    written.write_sav(people, str(tmp_path / "poll.sav"), variable_value_labels=labels)
    app = with_file((tmp_path / "poll.sav").read_bytes(), "poll.sav")
    next(one for one in app.button if one.label == "Take its labels").click()
    app.run()
    words = shown(app)
    assert "1 column filled in from the codebook" in words and "Not said in it: score" in words
    assert "one of 3: A, B and unsure" in words


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
