"""Questions in SQL: DuckDB's exact answers lie in the intervals, and what cannot be answered is refused."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.sql import ask_sql
from core.domain import Categorical, Dates, Domain, Numeric
from core.errors import RequestError
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.tables.tables import Tables

CITIES = ("Bern", "Basel", "Chur")
DOMAIN = Domain(
    (
        Numeric("age", 0, 80, step=1),
        Categorical("city", CITIES),
        Dates("since", "2020-01-01", "2021-12-31"),
    )
)
SURE = 0.9999999


def people(n: int = 3000) -> pd.DataFrame:
    random = np.random.default_rng(4)
    city = random.choice(CITIES, n, p=[0.5, 0.3, 0.2])
    age = np.where(city == "Bern", random.integers(0, 80, n), random.integers(20, 50, n)).astype(float)
    days = random.integers(0, 731, n).astype("timedelta64[D]")
    return pd.DataFrame({"age": age, "city": city, "since": np.datetime64("2020-01-01") + days})


@pytest.fixture(scope="module")
def made():
    from core import Budget

    return release(Tables.of(DOMAIN, 8), people(), Budget(8, "1e-6"), records=1000, noise_source=SeededSource(1))


QUESTIONS = [
    "SELECT COUNT(*) AS n FROM records",
    "SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM records GROUP BY city ORDER BY city",
    "SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM records WHERE age BETWEEN 30 AND 39 GROUP BY city ORDER BY city",
    "SELECT AVG(age) AS mean, SUM(age) AS total FROM records WHERE age >= 23 AND age < 47",
    "SELECT COUNT(*) AS n FROM records WHERE city IN ('Bern', 'Chur') AND NOT (age > 40)",
    "SELECT MEDIAN(age) AS middle, QUANTILE_CONT(age, 0.9) AS high FROM records",
    "SELECT MEDIAN(age) AS middle FROM records WHERE age > 25 AND city <> 'Bern'",
    "SELECT COUNT(*) AS n FROM records WHERE since >= DATE '2020-07-01' AND since <= '2020-12-31'",
    "SELECT city AS place, SUM(age) AS years FROM records WHERE age <= 33 GROUP BY city ORDER BY place DESC LIMIT 2",
    "SELECT COUNT(*) AS n FROM records WHERE age = 31",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_exact_answer_lies_in_the_interval(made, question):
    """At a level that fails once in 10^7 intervals, of noise from a seed; the answers of DuckDB are the oracle."""
    found = ask_sql(made, question, SURE)
    with duckdb.connect() as session:
        session.register("records", people())
        exact = session.execute(question).df()
    assert list(found.columns) == [
        name
        for one in exact.columns
        for name in ([one, f"{one}_low", f"{one}_high"] if exact[one].dtype != "str" else [one])
    ]
    for name in exact.columns:
        if f"{name}_low" in found:
            assert ((found[f"{name}_low"] <= exact[name]) & (exact[name] <= found[f"{name}_high"])).all(), name
            assert ((found[f"{name}_low"] <= found[name]) & (found[name] <= found[f"{name}_high"])).all()
        else:
            assert list(found[name].astype(str)) == list(exact[name])


def test_it_says_what_the_methods_say(made):
    asked = made.asked()
    found = ask_sql(made, "SELECT COUNT(*), avg(age) FROM people WHERE city = 'Bern'")
    assert list(found.columns) == [
        "count(*)", "count(*)_low", "count(*)_high", "avg(age)", "avg(age)_low", "avg(age)_high"
    ]  # fmt: skip
    assert found["count(*)"][0] == asked.count({"city": "Bern"}).estimate[0]
    assert found["avg(age)_high"][0] == asked.mean("age", where={"city": "Bern"}).high[0]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT * FROM records", "what can be asked is"),
        ("SELECT age FROM records", "single records"),
        ("SELECT city, COUNT(*) FROM records", "GROUP BY too"),
        ("SELECT COUNT(*) FROM records JOIN others ON TRUE", "JOINS cannot be answered"),
        ("SELECT COUNT(*) FROM (SELECT 1)", "one table"),
        ("SELECT COUNT(*) FROM records HAVING COUNT(*) > 1", "HAVING cannot be answered"),
        ("SELECT COUNT(DISTINCT city) FROM records", "cannot be answered"),
        ("SELECT STDDEV(age) FROM records", "cannot be answered"),
        ("SELECT COUNT(*) FROM records WHERE age > 3 OR city = 'Bern'", "compares one column"),
        ("SELECT COUNT(*) FROM records WHERE city = 'Atlantis'", "there are Bern, Basel"),
        ("SELECT COUNT(*) FROM records WHERE city > 'Bern'", "holds categories"),
        ("SELECT COUNT(*) FROM records WHERE age LIKE '3%'", "asked for ranges"),
        ("SELECT COUNT(*) FROM records WHERE pay > 3", "no column 'pay'"),
        ("SELECT AVG(city) FROM records", "no mean"),
        ("SELECT COUNT(*) AS n, AVG(age) AS n FROM records", "same name"),
        ("SELECT COUNT(*) FROM records ORDER BY age", "ORDER BY takes"),
        ("SELECT COUNT(*) FROM records LIMIT 1.5", "whole number"),
        ("SELECT COUNT(*) FROM records LIMIT 1e400", "beyond any"),
        ("SELECT COUNT(*) FROM records WHERE age > 1e400", "beyond any"),
        ("DROP TABLE records", "one SELECT"),
        ("SELECT COUNT(*); SELECT COUNT(*)", "one SELECT"),
        ("what is the mean age?", "SELECT"),
        ('SELECT COUNT(*) AS "\udcf5" FROM records', "control or direction characters"),
        ("SELECT COUNT(*) FROM records WHERE age > 50 AND age < 20", "low end below"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(made, question, said):
    with pytest.raises(RequestError) as refused:
        ask_sql(made, question)
    assert said in str(refused.value) and "\n" not in str(refused.value)


cut_short = st.sampled_from(QUESTIONS).flatmap(lambda one: st.integers(0, len(one)).map(lambda end: one[:end]))


@given(st.text(max_size=60) | cut_short)
def test_any_text_is_answered_or_refused(made, text):
    try:
        assert isinstance(ask_sql(made, text), pd.DataFrame)
    except RequestError:
        pass
