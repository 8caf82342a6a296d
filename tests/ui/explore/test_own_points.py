"""A visitor's own points on Explore: scored, answered, and nobody's to begin with."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Domain
from core.domain import Dates
from core.figures.answer_sentences import counted_close_by
from core.sources.public_tables import sample
from core.ui.explore.own_points import answer_columns, example_of, how_many_unusual
from tests.depth import deep
from tests.releases_for_tests import small_release
from tests.ui.explore.visiting import AGE, CITY, FACES, explore, field, file_of, released, shown, view


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Your points", "Anomalies"])
def test_it_begins_with_an_example_that_is_nobody(name):
    app = view(explore(file_of(AGE, CITY, records=5000)), name)
    assert not app.exception and not app.error and "These places are an example" in shown(app)
    assert len(app.dataframe[0].value) == 12
    assert app.dataframe[0].value["age"].between(0, 100).all()


def test_places_of_an_example_lie_inside_the_public_bounds():
    days = Dates("day", "2020-01-01", "2020-12-31", "day")
    domain = Domain((AGE, CITY, days))
    table = pd.read_csv(io.BytesIO(example_of(domain, "x").getvalue()))
    assert len(domain.encode_queries(table)) == 12 and set(table["city"]) == {"Bern", "Basel"}
    assert example_of(Domain((FACES,)), "x") is None, "no bundled sample has such a column"


def test_lists_of_numbers_begin_with_records_of_the_bundled_sample():
    one = sample("photographs")
    example = example_of(one.domain, "x")
    table = pd.read_parquet(io.BytesIO(example.getvalue()))
    assert len(one.domain.encode_queries(table)) == 12 and "which are public" in example.words


@pytest.mark.deep
def test_points_are_scored_and_further_columns_come_back():
    app = explore(file_of(AGE, CITY, records=5000))
    view(app, "Anomalies")
    points = b"id,age,city\n7,50,Bern\n8,2000,Basel\n"
    field(app.file_uploader, "A table of points, with the columns age and city").set_value(
        ("points.csv", points, "text/csv")
    )
    app.run()
    assert not app.exception and not app.error
    table = app.dataframe[0].value
    assert set(table["id"].astype(str)) == {"7", "8"} and str(table["id"].iloc[0]) == "8"
    assert "of 2 points" in shown(app)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"age\n1\n", "no column 'city'"),
        deep(b"age,city\n1,Chur\n", "row 1 is not on the public list"),
        deep(b"", "points.csv"),
    ],
)
def test_points_that_cannot_be_read_get_one_sentence(content, why):
    app = explore(file_of(AGE, CITY))
    view(app, "Anomalies")
    app.file_uploader[-1].set_value(("points.csv", content, "text/csv"))
    app.run()
    assert not app.exception and len(app.error) == 1 and why in app.error[0].value


@pytest.mark.deep
@pytest.mark.parametrize("norm", ["l1", deep(None)])
def test_every_release_answers_at_points_that_are_brought(norm):
    made = released((AGE, CITY), norm) if norm else small_release(domain=Domain((AGE, CITY)), records=3000)
    app = explore(made.to_bytes())
    view(app, "Your points")
    app.file_uploader[-1].set_value(("points.csv", b"id,age,city\n7,50,Bern\n8,20,Basel\n", "text/csv"))
    app.run()
    assert not app.exception and not app.error and "2 points" in shown(app)
    one = app.session_state["explore-asked-read"][2]
    field(app.toggle, "Intervals that all hold at once").set_value(True).run()
    both = app.session_state["explore-asked-read"][2]
    assert not app.exception and (both.high - both.low > one.high - one.low).all()
    table = app.dataframe[0].value
    assert list(table["id"].astype(str)) == ["7", "8"] and "very likely between" in table
    table = pa.table({"age": [50.0, 20.0], "city": ["Bern", "Basel"]})
    found = made.answer(table)
    columns = answer_columns(made, found)
    assert set(columns) == ({"mean", "low", "high"} if norm else {"estimate", "low", "high", "density"})
    assert np.allclose(columns["mean"] if norm else columns["density"], found.density)
    app.file_uploader[-1].set_value(("points.csv", b"age\n1\n", "text/csv"))
    app.run()
    assert len(app.error) == 1 and "no column 'city'" in app.error[0].value


@pytest.mark.parametrize(
    ("unusual", "sure", "words"),
    [
        (
            0,
            0,
            "**None of 12 points** is unusual: none lies in an emptier place than 95 in 100 flights of the file do.",
        ),
        (1, 0, "**1 of 12 points** is unusual, none of them surely: in emptier places than 95 in 100 flights"),
        (7, 3, "**7 of 12 points** are unusual, 3 of them surely: in emptier places than 95 in 100 flights"),
        (12, 12, "**All 12 points** are unusual, surely so: in emptier places than 95 in 100 flights of the file."),
    ],
)
def test_how_many_points_are_unusual_is_said_in_one_sentence(unusual, sure, words):
    assert how_many_unusual(unusual, sure, 12, 0.05, "flights").startswith(words)


def test_nobody_reads_that_fewer_than_none_are_close_by():
    found = counted_close_by(*(np.array(part, dtype=float) for part in ([-4, 17], [-12, 8], [5, 26], [4, 4])))
    assert found == ["fewer than 5", "17"]
