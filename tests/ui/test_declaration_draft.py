"""What was typed about a data set: what is missing, what becomes public, and the domain it makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.errors import RequestError
from core.ui.declaration_draft import ColumnDraft, Declaration, as_typed, texts_in


def column(kind, name, written=True, longest=None, **facts):
    return ColumnDraft(name, {"kind": kind, **facts}, written=written, longest=longest)


AGE = column("number", "age", False, low=0.0, high=120.0, unit="years")
HEIGHT = column("number", "height", False, low=50.0, high=250.0, unit="cm")
CITY = column("category", "city", values=["Bern", "Basel", "Chur"])
EMBEDDING = {"length": 16, "low": -1.0, "high": 1.0}


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
    assert Declaration((column("vector", "e", **EMBEDDING),)).domain().columns == (Vector("e", 16, -1, 1),)


def test_vectors_may_be_bounded_by_their_length():
    embedding = column("vector", "embedding", length=16, low=-2.5, high=2.5, longest=2.5)
    declared = Declaration((embedding, CITY), missing="drop")
    assert declared.domain().columns[0] == Vector("embedding", 16, -2.5, 2.5) and declared.longest == {"embedding": 2.5}
    assert declared.scale == "none", "a category beside embeddings says the group, and leaves distances as they are"
    assert embedding.in_words == "16 numbers, together a vector no longer than 2.5"
    assert Declaration((column("vector", "embedding", **EMBEDDING),)).longest == {}


@pytest.mark.parametrize(
    "draft",
    [
        ColumnDraft("age"),
        column("number", "age"),
        column("number", "age", low=0.0),
        column("category", "age", values=[]),
        column("date", "age", first="2015-01-01"),
    ],
)
def test_what_nobody_says_is_to_be_found_out_and_nothing_is_asked_for(draft):
    declared = Declaration((CITY, draft))
    assert declared.still_missing() == [] and declared.to_find == (draft,) and "to be found out" in draft.in_words
    with pytest.raises(RequestError, match="1 column must be found out first, such as 'age'"):
        declared.domain()


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (column("number", "age", low=3.0, high=3.0), "The smallest value of 'age' must be below its largest"),
        (column("vector", "age", low=0.0, high=1.0), "the length of each vector of age"),
        (column("vector", "age", length=3, low=0.0, high=0.0, longest=0.0), "what no vector of age is longer than"),
        (column("category", "city", values=["Bern"]), "needs between 2 and"),
        (column("ordered", "city", values=[]), "the categories in their order of city"),
        (column("category", "city", values=["a", "n/a"], missing=["n/a"]), "a value and a word for missing"),
        (column("words", "said", values=[]), "words to look for of said"),
    ],
)
def test_each_problem_is_named_and_is_no_domain(draft, words):
    declared = Declaration((AGE, draft) if draft.name != "age" else (draft,))
    (said,) = declared.still_missing()
    assert words in said and said in draft.in_words
    with pytest.raises(RequestError):
        declared.domain()


def test_problems_of_all_columns_are_said_at_once_before_anything_is_used():
    wrong = [column("number", name, low=2.0, high=1.0) for name in ("a", "b", "c")]
    said = Declaration(tuple(wrong), each_row=False).still_missing()
    assert len(said) == 5 and all(repr(name) in " ".join(said) for name in ("a", "b", "c"))


def test_texts_with_commas_stand_in_quotes_and_come_back():
    texts = ("Bern, Köniz", "Basel", "Chur")
    assert texts_in(as_typed(texts)) == texts
    assert texts_in("Bern, Basel\nChur , Bern,,") == ("Bern", "Basel", "Chur") and texts_in(None) == ()


def test_rows_with_a_gap_are_a_group_of_their_own_unless_their_owner_says_otherwise():
    assert [one.missing_category for one in Declaration((AGE, CITY)).domain().columns] == ["missing", "missing"]


def test_nothing_used_and_nobody_named_are_named_too():
    assert Declaration(()).still_missing() == ["a column to use"]
    assert Declaration((AGE,), each_row=False).still_missing() == [
        "the column that says who the person is",
        "how many rows one person may have",
    ]


BOUND = st.none() | st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(BOUND, BOUND), min_size=1, max_size=4), st.booleans(), st.sampled_from([None, 1, 5]))
def test_the_button_is_free_exactly_when_there_is_a_domain(rows, each_row, records):
    columns = tuple(column("number", f"c{i}", low=low, high=high) for i, (low, high) in enumerate(rows))
    declared = Declaration(columns, each_row=each_row, unit_column="id" if records else None, unit_records=records)
    try:
        declared.domain()
    except RequestError:
        assert declared.still_missing() or declared.to_find
    else:
        assert not declared.still_missing() and not declared.to_find


def test_columns_are_divided_by_their_range_only_when_they_cannot_be_compared_as_they_are():
    red, green = (column("number", name, low=0.0, high=255.0) for name in "rg")
    arm = column("number", "arm", low=20.0, high=100.0, unit="cm")
    assert Declaration((AGE,)).scale == Declaration((CITY,)).scale == "none"
    assert Declaration((red, green)).scale == "none"
    assert Declaration((HEIGHT, arm)).scale == "none"
    assert Declaration((AGE, HEIGHT)).scale == Declaration((AGE, CITY)).scale == "box"
    assert Declaration((red, column("number", "b", low=0.0, high=1.0))).scale == "box"


def test_what_becomes_public_grows_with_what_is_said_and_hides_nothing_of_it():
    assert Declaration(()).becomes_public() == []
    declared = Declaration((AGE, CITY), unit_column="id", unit_records=3, each_row=False, record="visit")
    lines = [*declared.becomes_public(), *((one.name, one.in_words) for one in declared.columns)]
    text = " ".join(name + " " + meaning for name, meaning in lines)
    for public in ("age", "0", "120", "years", "city", "Bern", "Basel", "Chur", "id", "3", "visit", "2 columns"):
        assert public in text
