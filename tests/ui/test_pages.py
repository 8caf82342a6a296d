"""Home and Data without a browser: how they look, which records they take, and what they refuse."""

from dataclasses import replace
from io import BytesIO

import duckdb
import numpy as np
import pandas as pd
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from core.domain import Coordinate, Vector
from core.sources import open_source
from core.sources.public_tables import bundled_groups, samples
from core.sources.source_opening import FILE_TYPES
from core.ui.column_form import used_columns
from core.ui.declaration_draft import Declaration
from core.ui.filling_rows import start_from_sample
from core.ui.frame.navigation import DATA, GROUPS
from core.ui.frame.session import KEY, Session
from core.ui.own_data.picking_records import FILE, ORIGIN, PATH, SAMPLE
from tests.depth import sampled
from tests.ui.data_page import CSV, ROOT, data_page, field, home, main_button, open_codebook, read, shown, with_file


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


def as_numbers(domain):
    """The columns, places among them without how texts would be read as degrees: samples hold numbers."""
    return {replace(one, reading=None) if isinstance(one, Coordinate) else one for one in domain.columns}


def test_the_lines_of_a_sample_say_all_that_is_known_of_it(monkeypatch):
    """Whole numbers became any numbers, and places on the globe were compared in degrees in place of kilometres."""
    for number, one in enumerate(samples()):
        monkeypatch.setattr(streamlit, "session_state", {})
        columns = open_source(one.path).columns
        start_from_sample(columns, number, one)
        drafts = used_columns(columns, number, one.domain.unit.column).values()
        said = Declaration(tuple(drafts), missing=one.domain.missing, sample=one.domain)
        assert as_numbers(said.domain()) == as_numbers(one.domain), one.name


@pytest.mark.thorough
@pytest.mark.parametrize("name", sampled([one.name for one in samples()], "towns"))
def test_every_sample_is_ready_to_use_and_keeps_its_domain(name):
    app = data_page()
    app.segmented_control[0].set_value(SAMPLE).run()
    field(app.radio, "Sample").set_value(name).run()
    assert not app.exception and not main_button(app).disabled
    main_button(app).click().run()
    own = app.session_state[KEY].own
    known = next(one for one in samples() if one.name == name).domain
    assert own.sample == name and as_numbers(own.domain) == as_numbers(known)
    assert own.domain.record == known.record != "", "answers say what they count"
    assert (own.domain.unit, own.domain.scale, own.domain.category_distance) == (
        known.unit,
        known.scale,
        known.category_distance,
    )


VECTORS = np.tile(np.float32([0.352, 0.936, 0.0]), (40, 1))


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
    assert "0.352" not in shown(app) and "0.936" not in shown(app)
    field(app.selectbox, "Read x as").set_value("vector, by length")
    field(app.text_area, "Categories of kind").set_value("cat, dog").run()
    assert main_button(app).disabled and "what no vector of x is longer than" in shown(app)
    field(app.number_input, "No vector of x is longer than").set_value(1.0).run()
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
