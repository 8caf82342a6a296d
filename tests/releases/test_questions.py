"""A release of tables is asked by name, and so is one of which tables are a part."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, Histogram, Part, Tables, kernels, release
from core.errors import RequestError

DOMAIN = Domain.of(age=(0, 80), city=["Bern", "Basel"])
PEOPLE = pd.DataFrame({"age": np.arange(900) % 80, "city": ["Bern", "Bern", "Basel"] * 300})
HILL = Histogram(Domain.of(age=(0, 80)), kernels.Gaussian(8))


@pytest.fixture(scope="module")
def made():
    return release(Tables.of(DOMAIN, 8), PEOPLE, Budget(5), records=500)


def same(one, other):
    pd.testing.assert_frame_equal(one, other)


def test_names_ask_what_asked_answers(made):
    asked = made.asked(0.9)
    same(made.count(age=(20, 40), city="Bern", level=0.9), asked.count({"age": (20, 40), "city": "Bern"}))
    same(made.mean("age", by="city", level=0.9), asked.mean("age", ["city"]))
    same(made.sum("age", by=["city"], level=0.9), asked.sum("age", ["city"]))
    same(made.quantile("age", 0.25, "city", level=0.9), asked.quantile("age", 0.25, ["city"]))
    same(made.table("age", level=0.9, city="Bern"), asked.table("age", where={"city": "Bern"}))
    assert made.count().estimate[0] == pytest.approx(900, abs=8 * made.count().standard_error[0])
    assert made.guessed().table("age", "city").estimate.min() >= 0


@pytest.mark.thorough
def test_a_part_that_is_tables_is_asked():
    whole = release([Part(HILL, "hill"), Part(Tables.of(DOMAIN, 8), "counts")], PEOPLE, Budget(5), records=500)
    same(whole.table("city"), whole.parts["counts"].table("city"))
    with pytest.raises(RequestError, match="this is of 'histogram'"):
        whole.parts["hill"].count()


def test_other_releases_hold_no_tables():
    with pytest.raises(RequestError, match="Tables can be asked of"):
        release(HILL, PEOPLE, Budget(5), records=500).mean("age")
