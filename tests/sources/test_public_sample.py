"""Bounds and categories read off a public file."""

import numpy as np
import pandas as pd
import pytest

from core.domain import Categorical, Numeric
from core.errors import RequestError
from core.sources import open_source
from core.sources.public_sample import MOST_CATEGORIES, public_facts

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
