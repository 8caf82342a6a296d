"""Tables of places are read as they stand, with all their columns."""

import numpy as np
import pyarrow as pa
import pytest

from core.domain import Domain, PrivacyUnit
from core.errors import RequestError
from core.sources import Upload, open_source
from core.sources.queries import beside, read_queries

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
