"""Missing numbers and dates as a cell of their own: without noise, all answers are those of pandas and DuckDB."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Budget, load, release
from core.analysis import table_profile
from core.analysis.sampling import as_declared
from core.analysis.sql import ask_sql
from core.analysis.synthetic_tables import synthetic_table
from core.domain import Dates, Domain, Numeric, Reading
from core.domain.declarations import Declaration
from core.errors import RequestError
from core.figures.meaning import left_out
from core.geometry.kernels import Gaussian
from core.privacy.noise.randomness import SeededSource
from core.sketches.histogram import Histogram
from core.sketches.part import Part
from core.sketches.parts import Parts
from core.sketches.tables.table_answers import TableAnswers, TableGuess
from core.sketches.tables.tables import Tables
from tests.tables_for_tests import where_of

DOMAIN = Declaration.of("""
columns:
  age: {kind: number, low: 0, high: 80, step: 1, missing: [n/a, "-999"], on_missing: category}
  pay: {kind: number, low: 0, high: 100, missing_category: unknown}
  since: {kind: date, first: 2020-01-01, last: 2021-12-31, on_missing: category}
  city: {kind: category, values: [Bern, Basel], on_missing: category}
  score: {kind: number, low: 0, high: 10}
""").domain
PROMISE = Budget(20, "1e-6")


def people(n: int = 3_000) -> pd.DataFrame:
    """Made-up people, of whom one in ten or so misses each value but the score."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 81, n).astype(float),
            "pay": random.beta(2, 5, n) * 100,
            "since": np.datetime64("2020-01-01") + random.integers(0, 731, n).astype("m8[D]"),
            "city": random.choice(["Bern", "Basel"], n),
            "score": random.uniform(0, 10, n),
        }
    )
    for name, share in (("age", 0.2), ("pay", 0.1), ("since", 0.05), ("city", 0.15)):
        frame.loc[random.random(n) < share, name] = None
    return frame


@pytest.fixture(scope="module")
def answers() -> TableAnswers:
    sketch = Tables.of(DOMAIN, 9, "pairs", (4, 3, 5, 0)).sized_for(PROMISE, 3_000.0)
    table = sketch.zeros()
    sketch.add(table, sketch.encode(pa.RecordBatch.from_pandas(people())))
    return TableAnswers(sketch.reading(table, 0.0, None, np.inf))


@pytest.fixture(scope="module")
def made():
    sketch = Tables.of(DOMAIN, 9, "pairs", (4, 3, 5, 0))
    return release(sketch, people(), PROMISE, records=1000, noise_source=SeededSource(1))


def test_those_without_a_value_are_counted_and_no_mean_or_quantile_has_them(answers):
    data = people()
    for name in ("age", "pay", "since", "city"):
        assert answers.count({name: None}).estimate[0] == pytest.approx(data[name].isna().sum())
        if name != "city":
            assert answers.count({name: (None, None)}).estimate[0] == pytest.approx(data[name].notna().sum())
            (axis,) = (axis for axis in answers.axes if axis.name == name)
            shares = answers.shares(name).estimate
            assert len(shares) == axis.cells == axis.valued + 1
            assert shares.iloc[-1] == pytest.approx(data[name].isna().mean())
    for where, some in (({}, data), ({"age": (20, 40)}, data[data.age.between(20, 39)])):
        exact = {"age": some.age.mean(), "pay": some.pay.mean()}
        for name, mean in exact.items():
            (row,) = answers.mean(name, where=where).itertuples()
            assert row.low - 1e-9 <= mean <= row.high + 1e-9
        (row,) = answers.quantile("pay", 0.3, where=where).itertuples()
        assert row.low - 1e-9 <= some.pay.quantile(0.3) <= row.high + 1e-9
    both = answers.table("age", "city")
    nobody = both[(both.age == "missing") & (both.city == "missing")]
    assert nobody.estimate.iloc[0] == pytest.approx((data.age.isna() & data.city.isna()).sum())
    by_age = answers.mean("score", ["age"])
    assert by_age.low.iloc[-1] <= data[data.age.isna()].score.mean() <= by_age.high.iloc[-1]
    guessed = TableGuess(answers.reading)
    assert guessed.count({"pay": None}) == pytest.approx(data.pay.isna().sum(), rel=0.01)
    assert guessed.count({"pay": (None, None)}) == pytest.approx(data.pay.notna().sum(), rel=0.01)


def test_what_has_no_answer_is_refused(answers):
    with pytest.raises(RequestError, match="missing values have no category in that column"):
        answers.count({"score": None})
    for ask in (answers.mean, answers.quantile, answers.sum):
        with pytest.raises(RequestError, match="can be counted, and have no mean or quantile"):
            ask("age", where={"age": None})


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n FROM records WHERE age IS NULL",
        "SELECT COUNT(*) AS n, COUNT(pay) AS paid, AVG(pay) AS mean FROM records WHERE age IS NOT NULL",
        "SELECT COUNT(age) AS n FROM records WHERE city IS NULL",
        "SELECT AVG(age) AS mean, MEDIAN(age) AS middle FROM records WHERE city IS NOT NULL",
        "SELECT COUNT(*) AS n FROM records WHERE since IS NULL AND NOT (age > 40)",
    ],
)
def test_sql_asks_for_missing_values_as_a_database_does(made, question):
    found = ask_sql(made, question, 0.9999999)
    with duckdb.connect() as session:
        session.register("records", pa.Table.from_pandas(people(), preserve_index=False))
        exact = session.execute(question).fetchdf()
    for name in exact:
        assert found[f"{name}_low"][0] <= exact[name][0] <= found[f"{name}_high"][0]


def test_sql_refuses_what_nobody_is(made):
    for question, why in (
        ("SELECT COUNT(*) FROM records WHERE age IS NULL AND age > 3", "Nobody without a value of 'age'"),
        ("SELECT COUNT(*) FROM records WHERE score IS NULL", "missing values have no category in that column"),
    ):
        with pytest.raises(RequestError, match=why):
            ask_sql(made, question)


def test_a_part_of_those_without_a_value_can_be_pointed_at(answers):
    (age,) = (axis for axis in answers.axes if axis.name == "age")
    where = where_of(answers, {"age": (age.valued,)})
    assert table_profile.words_for_cells(age, (age.valued,)) == "missing"
    data = people()
    assert answers.count(where).estimate[0] == pytest.approx(data.age.isna().sum())
    shares = answers.shares("city", where=where).estimate
    assert shares[0] == pytest.approx((data[data.age.isna()].city == "Bern").mean())


@pytest.mark.thorough
def test_a_release_remembers_it_and_draws_records_that_miss_values(made, tmp_path):
    made.save(tmp_path / "whole.dpks", teaching=True)
    opened = load(tmp_path / "whole.dpks")
    assert opened.domain == DOMAIN and Declaration.of(Declaration(DOMAIN).text()).domain == DOMAIN
    drawn, _ = synthetic_table(opened, 2_000, np.random.default_rng(1))
    typed = as_declared(drawn, DOMAIN)
    for name, share in (("age", 0.2), ("pay", 0.1), ("since", 0.05), ("city", 0.15)):
        assert typed[name].isna().mean() == pytest.approx(share, abs=0.04)
    assert str(typed.age.dtype) == "Int64" and typed.since.dtype.kind == "M" and typed.pay.max() <= 100


@pytest.mark.parametrize("outside", ["clamp", "drop"])
def test_every_value_of_a_number_is_in_one_cell_or_in_that_of_missing_ones(outside):
    """Words for missing, what is no number, null and NaN alike; what lies outside follows its own rule."""
    domain = Domain((Numeric("x", 0, 9, reading=Reading(("none",)), step=3, missing_category="?"),), outside=outside)
    sketch = Tables.of(domain, 4, "singles", 2).counting()
    texts = ["0", "3", "9", "none", "", None, "nan", "so so", "11", "-1"]
    batch = pa.record_batch({"x": texts})
    table = sketch.zeros()
    sketch.add(table, sketch.encode(batch))
    counted = TableAnswers(sketch.reading(table, 0.0, None, np.inf)).table("x")
    out = outside == "clamp"
    assert counted.estimate.round().tolist() == [1 + out, 1, 0, 1 + out, 5]
    assert len(domain.encode(batch)) == 3 + 2 * out  # all other mechanisms leave those out who miss a value
    dates = Domain((Dates("d", "2020-01-01", "2020-01-09", missing=("?",), missing_category="none"),))
    days = Tables.of(dates, 3, "singles", 0).counting()
    table = days.zeros()
    days.add(table, days.encode(pa.record_batch({"d": ["2020-01-05", "?", "soon", None]})))
    assert table.tolist()[-4:] == [0, 1, 0, 3]


@pytest.mark.thorough
def test_beside_tables_a_density_leaves_those_out():
    age, data = Domain(DOMAIN.columns[:1]), people()
    beside = Parts.of([Part(Tables.of(age, 4), "tables"), Part(Histogram(age, Gaussian(5.0)), "density")])
    made = release(beside, data, PROMISE, records=1000, noise_source=SeededSource(1))
    tables, density = made.parts.values()
    assert tables.records == pytest.approx(len(data), abs=20)
    assert density.records == pytest.approx(data.age.notna().sum(), abs=20)
    assert "records that miss a value were left out" in left_out(DOMAIN.without("city"))
    assert "records that miss a value of score were left out" in left_out(DOMAIN, keeps_gaps=True)
    assert "group of their own" in left_out(age, keeps_gaps=True)
