"""Counts of a release of tables: unbiased, and inside their intervals as often as they say."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, kernels, release
from core.domain import Categorical, Numeric
from core.errors import RequestError
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.histogram import Histogram
from core.sketches.tables.counts import places_of
from core.sketches.tables.table_weights import for_squares, for_sums
from core.sketches.tables.tables import Tables
from tests.depth import crossed, draws

DOMAIN = Domain((Numeric("age", 0, 80), Categorical("sex", ("f", "m")), Categorical("city", ("Bern", "Basel", "Chur"))))
KINDS = {"gaussian": Budget(2, "1e-9"), "pure": Budget(2), "replaced": Budget(2, "1e-9", "replace_one")}


def people(n: int = 2000) -> pd.DataFrame:
    random = np.random.default_rng(5)
    sex = random.choice(["f", "m"], n)
    age = np.where(sex == "f", random.uniform(0, 80, n), random.triangular(0, 20, 80, n))
    return pd.DataFrame(
        {"age": age, "sex": sex, "city": random.choice(["Bern", "Basel", "Chur"], n, p=[0.6, 0.3, 0.1])}
    )


def releases(budget: Budget, runs: int, halvings: int = 2, contrasts: bool = True):
    """Releases of the same people, each with noise of its own."""
    sketch = Tables.of(DOMAIN, 8, halvings=halvings)
    sketch = (
        sketch.measuring_contrasts(for_sums if budget.pure else for_squares)
        if contrasts
        else sketch.sized_for(budget, 1.0)
    )
    table = sketch.zeros()
    sketch.add(table, DOMAIN.encode_queries(people()))
    exact = ExactTable(table, np.array(len(people())))
    return [seal(sketch, exact.copy(), budget, noise_source=SeededSource(seed)) for seed in range(runs)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("contrasts", "kind"), crossed([True, False], [*KINDS]))
def test_intervals_hold_the_exact_counts_as_often_as_they_say(kind, contrasts):
    """At 95%: the share of draws that are held is within six of its standard deviations, once in 1e9 not."""
    data, runs = people(), draws(50, 2000)
    exact = data.groupby([pd.cut(data.age, np.arange(0, 90, 10), right=False), "sex"], observed=False).size().to_numpy()
    young = float(((data.age < 17.5) & (data.age >= 2.5)).sum())
    held, errors = [], []
    for made in releases(KINDS[kind], runs, contrasts=contrasts):
        asked = made.asked()
        found = asked.table("age", "sex")
        held.append((found.low <= exact) & (exact <= found.high))
        errors.append((found.estimate - exact) / found.standard_error)
        one = asked.count({"age": (2.5, 17.5)}).iloc[0]
        held[-1] = np.append(held[-1], one.low <= young <= one.high)
    covered, error = np.array(held).mean(axis=0), np.array(errors)
    assert (covered - 0.95).min() > -6 * np.sqrt(0.95 * 0.05 / runs)
    assert abs(covered.mean() - 0.95) < draws(5, 2) / 100
    assert np.abs(error.mean(axis=0)).max() < 6 / np.sqrt(runs)


def test_a_condition_adds_up_and_a_cut_cell_widens_the_interval():
    (made,) = releases(KINDS["gaussian"], 1)
    asked = made.asked()
    table = asked.table("sex", where={"city": ["Bern", "Chur"]})
    assert list(table.sex) == ["f", "m"] and list(table.columns) == ["sex", "estimate", "low", "high", "standard_error"]
    both = asked.table("sex", "city")
    some = both[both.city.isin(["Bern", "Chur"])].groupby("sex", observed=True).estimate.sum()
    assert np.allclose(table.estimate, some)
    assert np.isclose(asked.count().estimate[0], asked.table("city").estimate.sum())
    on_edges, cut = asked.count({"age": (10, 20)}), asked.count({"age": (11, 20)})
    assert (cut.high - cut.low)[0] > 1.2 * (on_edges.high - on_edges.low)[0]
    assert np.isclose(asked.count({"age": (None, None)}).estimate[0], asked.count().estimate[0])


def test_a_range_of_a_single_column_is_read_off_fine_cells():
    (made,) = releases(KINDS["gaussian"], 1)
    asked = made.asked()
    fine, coarse = asked.count({"age": (2.5, 17.5)}), asked.count({"age": (2.5, 17.5), "sex": ["f", "m"]})
    assert (fine.high - fine.low)[0] < 0.5 * (coarse.high - coarse.low)[0]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (lambda asked: asked.table("age", "sex", "city"), "no table of"),
        (lambda asked: asked.count({"sex": "x"}), "no category 'x'"),
        (lambda asked: asked.count({"sex": 3}), "asked for a category"),
        (lambda asked: asked.count({"age": 3}), "asked for a range"),
        (lambda asked: asked.count({"age": (9, 3)}), "low end below"),
        (lambda asked: asked.table("pay"), "no column 'pay'"),
        (lambda asked: asked.table("sex", "sex"), "named twice"),
        (lambda asked: asked.table("sex", where={"sex": "f"}), "either what is counted by"),
    ],
)
def test_what_cannot_be_asked_is_refused(question, sentence):
    (made,) = releases(KINDS["gaussian"], 1)
    with pytest.raises(RequestError, match=sentence):
        question(made.asked())


def test_other_releases_have_no_tables():
    domain = Domain.of(x=(0, 1))
    made = release(Histogram(domain, kernels.Gaussian(0.1), (4,)), {"x": [0.5]}, Budget(1))
    with pytest.raises(RequestError, match="mechanism 'tables'"):
        made.asked()


def test_a_list_in_place_of_a_name_gets_a_sentence():
    axes = (SimpleNamespace(name="age"), SimpleNamespace(name="city"))
    with pytest.raises(RequestError, match="There is no column"):
        places_of(axes, (["age"],))
