"""What was typed about a data set: what is missing, what becomes public, and the domain it makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.errors import RequestError
from core.ui.data.declaration_draft import ColumnDraft, Declaration

AGE = ColumnDraft("age", low=0.0, high=120.0, unit="years")
HEIGHT = ColumnDraft("height", low=50.0, high=250.0, unit="cm")
CITY = ColumnDraft("city", categorical=True, categories="Bern, Basel\nChur , Bern,,")


def test_a_complete_declaration_is_exactly_the_domain_it_says():
    declared = Declaration(
        (AGE, CITY), outside="drop", missing="refuse", unit_column="id", unit_records=3, each_row=False
    )
    assert declared.still_missing() == []
    assert declared.domain() == Domain(
        (Numeric("age", 0, 120, "years"), Categorical("city", ("Bern", "Basel", "Chur"))),
        "drop",
        "refuse",
        PrivacyUnit("id", 3),
        "box",
    )


def test_vectors_keep_their_length():
    embedding = ColumnDraft("embedding", low=-1.0, high=1.0, vector=True, length=16)
    assert Declaration((embedding,)).domain().columns == (Vector("embedding", 16, -1, 1),)


def test_vectors_may_be_bounded_by_their_length():
    embedding = ColumnDraft("embedding", vector=True, length=16, by_length=True, longest=2.5)
    declared = Declaration((embedding, CITY))
    assert declared.domain().columns[0] == Vector("embedding", 16, -2.5, 2.5) and declared.longest == {"embedding": 2.5}
    assert declared.scale == "none", "a category beside embeddings says the group, and leaves distances as they are"
    assert dict(declared.becomes_public())["embedding"] == "16 numbers, together a vector no longer than 2.5"
    assert Declaration((ColumnDraft("embedding", low=-1.0, high=1.0, vector=True, length=16),)).longest == {}


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (ColumnDraft("age"), "the smallest and largest value of age"),
        (ColumnDraft("age", low=0.0), "the largest value of age"),
        (ColumnDraft("age", high=9.0), "the smallest value of age"),
        (ColumnDraft("age", low=3.0, high=3.0), "a largest value of age above its smallest"),
        (ColumnDraft("age", low=0.0, high=1.0, vector=True), "how many numbers age holds"),
        (ColumnDraft("age", vector=True, length=3, by_length=True), "what no vector of age is longer than"),
        (ColumnDraft("x", vector=True, length=3, by_length=True, longest=0.0), "what no vector of x is longer than"),
        (ColumnDraft("city", categorical=True, categories="Bern, Bern"), "two or more categories of city"),
    ],
)
def test_each_gap_is_named_and_is_no_domain(column, words):
    declared = Declaration((AGE, column) if column.name != "age" else (column,))
    assert declared.still_missing() == [words]
    with pytest.raises(RequestError):
        declared.domain()


def test_nothing_used_and_nobody_named_are_named_too():
    assert Declaration(()).still_missing() == ["a column to use"]
    assert Declaration((AGE,), each_row=False).still_missing() == [
        "the column that says who the person is",
        "how many rows one person may have",
    ]


BOUND = st.none() | st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(BOUND, BOUND), min_size=1, max_size=4), st.booleans(), st.sampled_from([None, 1, 5]))
def test_the_button_is_free_exactly_when_there_is_a_domain(rows, each_row, records):
    columns = tuple(ColumnDraft(f"c{i}", low=low, high=high) for i, (low, high) in enumerate(rows))
    declared = Declaration(columns, each_row=each_row, unit_column="id" if records else None, unit_records=records)
    try:
        declared.domain()
    except RequestError:
        assert declared.still_missing()
    else:
        assert not declared.still_missing()


def test_columns_are_divided_by_their_range_only_when_they_cannot_be_compared_as_they_are():
    red, green = ColumnDraft("r", low=0.0, high=255.0), ColumnDraft("g", low=0.0, high=255.0)
    arm = ColumnDraft("arm", low=20.0, high=100.0, unit="cm")
    assert Declaration((AGE,)).scale == Declaration((CITY,)).scale == "none"
    assert Declaration((red, green)).scale == "none"
    assert Declaration((HEIGHT, arm)).scale == "none"
    assert Declaration((AGE, HEIGHT)).scale == Declaration((AGE, CITY)).scale == "box"
    assert Declaration((red, ColumnDraft("b", low=0.0, high=1.0))).scale == "box"


def test_what_becomes_public_grows_with_what_is_typed_and_hides_nothing_of_it():
    assert Declaration(()).becomes_public() == []
    early = dict(Declaration((ColumnDraft("age"),)).becomes_public())
    assert "not typed yet" in early["age"]
    lines = Declaration((AGE, CITY), unit_column="id", unit_records=3, each_row=False).becomes_public()
    text = " ".join(name + " " + meaning for name, meaning in lines)
    for public in ("age", "0", "120", "years", "city", "Bern", "Basel", "Chur", "id", "3"):
        assert public in text
