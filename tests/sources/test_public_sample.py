"""Bounds and categories read off a public file."""

import numpy as np
import pandas as pd
import pytest

from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import RequestError
from core.sources import open_source
from core.sources.public_sample import MOST_CATEGORIES, public_facts, public_table

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
