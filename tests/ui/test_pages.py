"""Home and Data without a browser: what they show, what they refuse, what they hand on, and what they never show."""

from decimal import Decimal
from io import BytesIO
from pathlib import Path

import duckdb
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.privacy.ledger.ledger import Ledger
from core.sources.samples import samples
from core.ui.frame.navigation import DATA, GROUPS
from core.ui.frame.session import KEY
from core.ui.own_data.picking_records import FILE, FILE_TYPES, ORIGIN, PATH, SAMPLE
from tests.depth import sampled

ROOT = Path(__file__).parents[2]
SECRETS = ("7341.25", "8812.5", "Xanthippe", "Grubenmann", "1931-07-09")
CSV = (
    "who,salary,city,born,member\n"
    f"{SECRETS[2]},{SECRETS[0]},{SECRETS[3]},{SECRETS[4]},true\n"
    f"anon,{SECRETS[1]},Bern,1990-01-01,false\n"
).encode()


def home() -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
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


def use(app: AppTest, *columns: str) -> AppTest:
    for column in columns:
        field(app.checkbox, column).check()
    return app.run()


def open_help(app: AppTest) -> AppTest:
    """Open "I do not know the bounds"."""
    app.session_state[f"unknown-{app.session_state[KEY].records.number}"] = True
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


def test_the_third_door_leads_to_the_samples():
    app = home()
    field(app.button, "Pick a sample").click().run()
    assert not app.exception and app.session_state[ORIGIN] == SAMPLE


def test_without_records_the_button_says_what_is_missing():
    app = data_page()
    assert main_button(app).disabled
    assert "Still missing: some records." in shown(app)


def test_nothing_of_the_values_is_shown_apart_from_names_and_types():
    app = use(with_file(), "salary", "city", "member")
    assert not app.exception and not app.error
    words = shown(app)
    assert "salary" in words and "city" in words
    for secret in SECRETS:
        assert secret not in words


def test_bounds_start_empty_for_own_data_and_the_button_waits_for_them():
    app = use(with_file(), "salary")
    assert [widget.value for widget in app.number_input] == [None, None]
    assert main_button(app).disabled and "the smallest and largest value of salary" in shown(app)
    field(app.number_input, "Smallest salary").set_value(0.0)
    field(app.number_input, "Largest salary").set_value(20_000.0)
    app.run()
    assert not main_button(app).disabled
    main_button(app).click().run()
    own = app.session_state[KEY].own
    assert own.domain == Domain((Numeric("salary", 0, 20_000),)) and own.sample is None


def test_everything_declared_reaches_the_domain():
    app = use(with_file(), "salary", "city", "member")
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
            Numeric("salary", 0, 20_000, "CHF"),
            Categorical("city", ("Bern", "Basel")),
            Categorical("member", ("false", "true")),
        ),
        outside="drop",
        missing="refuse",
        unit=PrivacyUnit("who", 3),
        scale="box",
    )


def test_what_was_typed_survives_a_visit_elsewhere():
    app = use(with_file(), "salary")
    field(app.number_input, "Largest salary").set_value(99.0).run()
    app.switch_page("app.py").run()
    app.switch_page(DATA.path).run()
    assert field(app.checkbox, "salary").value and field(app.number_input, "Largest salary").value == 99.0


def test_a_second_file_starts_empty_again():
    app = use(with_file(), "salary")
    field(app.number_input, "Largest salary").set_value(99.0).run()
    app.file_uploader[0].set_value(("other.csv", CSV, "text/csv"))
    app.run()
    assert not field(app.checkbox, "salary").value
    assert field(use(app, "salary").number_input, "Largest salary").value is None


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 50, b"PAR1 cut short"])
def test_a_bad_file_gets_a_sentence_and_no_fault(content):
    app = with_file(content, "bad.parquet")
    assert not app.exception and len(app.error) == 1
    assert app.session_state[KEY].records is None and main_button(app).disabled


def test_odd_column_names_are_shown_literally():
    app = with_file(b'"$a$ *b* :red[c] <b>d</b>",x\n1,2\n')
    assert not app.exception
    assert any("<b>" not in element.value for element in app.markdown)
    use(app, app.checkbox[0].label)
    assert not app.exception and "<b>d</b>" not in "".join(element.value for element in app.markdown)


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
    app = use(dropped("pictures.npz", np.savez, x=VECTORS, kind=np.tile(["cat", "dog"], 20)), "x", "kind")
    assert "3 numbers" in shown(app) and "0.6" not in shown(app)
    field(app.selectbox, "What is known of x").set_value("by length").run()
    assert main_button(app).disabled and "what no vector of x is longer than" in shown(app)
    field(app.number_input, "No vector of x is longer than").set_value(1.0)
    field(app.text_area, "Categories of kind").set_value("cat, dog")
    app.run()
    main_button(app).click().run()
    own = app.session_state[KEY].own
    assert own.domain == Domain((Vector("x", 3, -1, 1), Categorical("kind", ("cat", "dog"))))
    assert own.longest == {"x": 1.0}


def test_a_wide_array_without_names_is_one_column_of_vectors():
    app = dropped("embeddings.npy", np.save, np.zeros((5, 30)))
    assert [column.length for column in app.session_state[KEY].records.source.columns] == [30]
    app = dropped("table.npy", np.save, np.zeros((5, 3)))
    assert len(app.session_state[KEY].records.source.columns) == 3


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


def test_a_public_file_fills_what_is_empty_and_nothing_else():
    app = use(with_file(), "salary", "city")
    field(app.number_input, "Largest salary").set_value(99_999.0)
    open_help(app)
    public = b"city,salary\nUri,100\nZug,50000\n"
    field(app.file_uploader, "A public file").set_value(("last-year.csv", public, "text/csv"))
    app.run()
    assert not app.exception and not app.error
    assert field(app.number_input, "Smallest salary").value == 100
    assert field(app.number_input, "Largest salary").value == 99_999
    assert field(app.text_area, "Categories of city").value == "Uri, Zug"


def test_a_public_file_that_shares_nothing_gets_a_sentence():
    app = open_help(use(with_file(), "salary"))
    field(app.file_uploader, "A public file").set_value(("other.csv", b"x\n1\n2\n", "text/csv"))
    app.run()
    assert not app.exception and len(app.error) == 1


def test_ones_own_file_is_no_public_file():
    app = open_help(use(with_file(), "salary"))
    field(app.file_uploader, "A public file").set_value(("copy.csv", CSV, "text/csv"))
    app.run()
    assert not app.exception and "your own file" in app.error[0].value
    assert field(app.number_input, "Smallest salary").value is None


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.db"))
    return Ledger(tmp_path / "ledger.db")


def purchase(app: AppTest, total: float, price: float) -> AppTest:
    """Fill in what a purchase of bounds needs, and buy."""
    open_help(app)
    field(app.number_input, "Its total budget, for ever (ε)").set_value(total)
    field(app.number_input, "Price of all these bounds together (ε)").set_value(price)
    field(app.selectbox, "Surely nobody is further from zero than").set_value(1e6)
    app.run()
    next(button for button in app.button if button.label.startswith("Buy the bounds")).click()
    return app.run()


MANY = b"salary\n" + b"\n".join(b"%d" % (2000 + i % 4000) for i in range(5000)) + b"\n"


def test_bounds_can_be_bought_and_the_ledger_knows_of_it(ledger):
    app = purchase(use(with_file(MANY), "salary"), 2.0, 0.5)
    assert not app.exception and not app.error
    low, high = (field(app.number_input, f"{end} salary").value for end in ("Smallest", "Largest"))
    assert 1_000 < low < 2_500 and 5_500 < high < 8_000
    name = app.session_state[KEY].dataset
    status = ledger.status(name)
    assert status.epsilon == 2 and status.spent == pytest.approx(0.5) and len(status.releases) == 1
    main_button(app).click().run()
    assert [cost.epsilon for cost in app.session_state[KEY].own.bought] == [Decimal("0.5")]


def test_a_purchase_that_the_budget_does_not_allow_spends_nothing(ledger):
    app = purchase(use(with_file(MANY), "salary"), 0.1, 0.5)
    assert not app.exception and len(app.error) == 1
    assert field(app.number_input, "Smallest salary").value is None
    assert all(not ledger.status(name).releases for name in ledger.names())


def test_no_ledger_is_opened_before_it_is_needed(monkeypatch):
    def refuse(*where):
        raise AssertionError("a ledger was opened")

    monkeypatch.setattr("core.ui.data.unknown_bounds.ledger_for", refuse)
    assert not use(with_file(), "salary").exception


def test_of_an_array_some_columns_may_be_used():
    stream = BytesIO()
    np.save(stream, np.arange(12.0).reshape(4, 3))
    app = use(with_file(stream.getvalue(), "array.npy"), "column 2")
    field(app.number_input, "Smallest column 2").set_value(0.0)
    field(app.number_input, "Largest column 2").set_value(20.0)
    app.run()
    main_button(app).click().run()
    own = app.session_state[KEY].own
    (batch,) = own.source.batches(own.domain)
    assert batch.column("column 2").to_pylist() == [1.0, 4.0, 7.0, 10.0]


def test_own_files_of_every_format_are_accepted():
    assert {"csv", "tsv", "parquet", "arrow", "feather", "npy", "npz"} == set(FILE_TYPES)
