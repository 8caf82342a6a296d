"""Bounds and categories read off a public file.

Tables of places are read as they stand, with all their columns.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Declaration
from core.domain import Categorical, Domain, Items, Numeric, PrivacyUnit
from core.errors import RequestError
from core.sources import Upload, open_source
from core.sources.public_tables import MOST_CATEGORIES, beside, public_facts, public_table, read_queries, told_apart

FRAME = pd.DataFrame(
    {
        "age": [31.0, np.nan, 7.0, 88.5, np.inf],
        "rooms": [3, 1, 2, 2, 2],
        "city": ["Bern", None, "Basel", "Bern", ""],
        "flat": [4.0] * 5,
        "born": pd.to_datetime(["2020-01-01"] * 5),
    }
)


def test_shared_columns_get_what_the_file_says_and_others_nothing():
    facts = public_facts(open_source(FRAME), ["age", "rooms", "city", "flat", "born", "absent"])
    assert facts == {
        "age": Numeric("age", 7.0, 88.5),
        "rooms": Numeric("rooms", 1, 3),
        "city": Categorical("city", ("Basel", "Bern")),
    }


def test_only_the_asked_columns_are_read():
    assert set(public_facts(open_source(FRAME), ["rooms"])) == {"rooms"}


def test_a_file_that_shares_nothing_is_refused():
    with pytest.raises(RequestError, match="shares no column"):
        public_facts(open_source(FRAME), ["salary", "born"])


def test_texts_of_endless_variety_are_no_categories():
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(MOST_CATEGORIES + 1)]})
    with pytest.raises(RequestError, match="too many"):
        public_facts(open_source(frame), ["name"])


DECLARED = Domain((Numeric("rooms", 0, 9), Numeric("age", 0, 100)), unit=PrivacyUnit("who", 2))


def test_records_to_forecast_with_are_all_of_them_in_another_order_and_nobody_is_told_apart():
    table = public_table(open_source(FRAME.assign(rooms=range(5))), DECLARED)
    assert table.column_names == ["rooms", "age"] and sorted(table["rooms"].to_pylist()) == list(range(5))
    assert table["rooms"].to_pylist() != list(range(5))


@pytest.mark.parametrize("frame", [FRAME.drop(columns="age"), FRAME.iloc[:0]])
def test_a_file_without_the_columns_or_without_records_is_refused_in_one_sentence(frame):
    with pytest.raises(RequestError, match=r"^The public sample has no [^.]*\.$"):
        public_table(open_source(frame), DECLARED)


DOMAIN = Domain.of(age=(0, 100), city=["Bern", "Basel"], unit=PrivacyUnit("who", 2))
CSV = b"note,city,age,low\nx,Bern,500,7\n,Basel,-3,8\n"


def places(content: bytes = CSV, **limits) -> pa.Table:
    return read_queries(open_source(Upload("points.csv", content)), DOMAIN, **limits)


def test_every_column_and_row_passes_unchanged_and_no_id_is_asked_for():
    table = places()
    assert table.column_names[:2] == ["age", "city"] and set(table.column_names) == {"age", "city", "note", "low"}
    assert table.column("age").to_pylist() == [500, -3] and table.column("note")[0].as_py() == "x"


def test_answers_stand_beside_their_places_and_keep_clear_of_taken_names():
    table = beside(places(), {"low": np.array([1.5, 2.5]), "score": np.array([0.1, 0.2])})
    assert table.column("answer_low").to_pylist() == [1.5, 2.5] and table.column("score").to_pylist() == [0.1, 0.2]
    assert table.num_rows == 2 and "low" in table.column_names


def test_columns_of_an_array_are_taken_in_order():
    numbers = Domain.of(a=(0, 1), b=(0, 1))
    table = read_queries(open_source(np.array([[0.1, 0.2], [0.3, 0.4]])), numbers)
    assert table.column_names == ["a", "b"] and table.column("b").to_pylist() == [0.2, 0.4]


@pytest.mark.parametrize(
    ("content", "limits", "why"),
    [(b"age,city\n", {}, "no rows"), (CSV, {"most": 1}, "more than 1 rows"), (b"age\n1\n", {}, "no column 'city'")],
)
def test_what_cannot_be_asked_gets_one_sentence(content, limits, why):
    with pytest.raises(RequestError, match=why):
        places(content, **limits)


GATHERED = Domain((Items("whom", gathered=True),), unit=PrivacyUnit("who", 1))


@pytest.mark.thorough
@pytest.mark.parametrize("content", [b"whom,who,note\n5,b,x\n1,a,y\n2,a,z\n5,b,x\n", b"who,whom\nb,5\na,1\nb,5\na,2\n"])
def test_edges_are_asked_about_as_sets_and_answers_stand_beside_the_id(content):
    table = read_queries(open_source(Upload("edges.csv", content)), GATHERED)
    assert [len(items) for items in GATHERED.encode_queries(table).distinct()] == [2, 1]
    assert told_apart(table, GATHERED).to_pydict() == {"who": ["a", "b"]}
    with pytest.raises(RequestError, match="more than 1 rows"):
        read_queries(open_source(Upload("edges.csv", content)), GATHERED, most=1)
    with pytest.raises(RequestError, match=r"'whom' in row 1 of .* is missing"):
        read_queries(open_source(Upload("edges.csv", b"who,whom\na,\nb,1\n")), GATHERED)


@pytest.mark.parametrize("items", [[[1, 2], [5]], [["1", "2"], ["5"]]])
def test_whole_lists_are_asked_about_as_they_are(items):
    for domain in (GATHERED, Domain((Items("whom"),))):
        table = read_queries(open_source(pa.table({"note": ["x", "y"], "whom": items})), domain)
        assert [sorted(keys.tolist()) for keys in domain.encode_queries(table)] == [[1, 2], [5]]
        assert told_apart(table, domain).to_pydict() == {"note": ["x", "y"]}
        alone = read_queries(open_source(pa.table({"whom": items})), domain)
        assert told_apart(alone, domain).to_pydict() == {"query": [1, 2]}


def test_texts_that_are_cut_stay_beside_their_answers():
    domain = Domain((Items("tags", separator=";"),))
    table = read_queries(open_source(Upload("tags.csv", b"tags,note\na;b,1\nc,2\n")), domain)
    assert len(domain.encode_queries(table)) == 2
    assert told_apart(table, domain).column_names == ["tags", "note"]


def test_rows_of_an_array_are_sets_or_edges():
    rows = np.array([[1, 2], [1, 3], [4, 4]])
    assert len(read_queries(open_source(rows), GATHERED)) == 2
    assert len(read_queries(open_source(rows), Domain((Items("whom"),)))) == 3


def test_questions_may_be_written_as_the_records_were_or_with_a_point(tmp_path):
    """A model refused the very export that it was trained on, as "1.200,50 zł" was no number."""
    paid = Declaration.of("columns:\n  paid: {kind: number, low: 0, high: 9000, format: decimal_comma}\n").domain
    for number, text in enumerate(("1.200,50 zł", "1200.50")):
        path = tmp_path / f"asked{number}.csv"
        path.write_text(f"paid;note\n{text};a\n", encoding="utf-8")
        table = read_queries(open_source(path), paid)
        assert table.column("paid").to_pylist() == [1200.5] and table.column("note").to_pylist() == ["a"]
