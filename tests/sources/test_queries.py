"""Tables of places are read as they stand, with all their columns."""

import numpy as np
import pyarrow as pa
import pytest

from core.domain import Domain, Items, PrivacyUnit
from core.errors import RequestError
from core.sources import Upload, open_source
from core.sources.queries import beside, read_queries, told_apart

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
    [(b"age,city\n", {}, "no records"), (CSV, {"most": 1}, "more than 1 rows"), (b"age\n1\n", {}, "no column 'city'")],
)
def test_what_cannot_be_asked_gets_one_sentence(content, limits, why):
    with pytest.raises(RequestError, match=why):
        places(content, **limits)


GATHERED = Domain((Items("whom", gathered=True),), unit=PrivacyUnit("who", 1))


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
