"""Columns with steps: cells hold whole values, and without noise every answer is the exact one."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Budget, Domain
from core.domain import Categorical, Dates, Numeric, Ordered
from core.domain.texts_and_items import TextLength
from core.privacy.budget import Neighbours
from core.sketches.tables.table_answers import TableAnswers
from core.sketches.tables.table_axes import axes_of, cut, cut_values, enough_halvings, halved, steps_of
from core.sketches.tables.tables import Tables

GROUP = Categorical("group", ("a", "b"))
MANY = 3_000
WHOLE = {
    "days_of_a_week": Numeric("x", 0, 6, step=1),
    "digit": Numeric("x", 0, 9, step=1),
    "age": Numeric("x", 0, 120, "years", step=1),
    "quarters": Numeric("x", -2, 3, step=0.25),
    "tenths": Numeric("x", 0, 2.05, step=0.1),
    "length": TextLength("x", 40),
}
DAYS = {
    "nine_days": Dates("x", "2020-01-01", "2020-01-09"),
    "two_months": Dates("x", "2020-01-15", "2020-03-14"),
    "a_year": Dates("x", "2023-01-01", "2023-12-31"),
    "hours": Dates("x", "2020-01-01", "2020-01-03", "hour"),
}


def asked(column, values, bins=10, halvings=8) -> tuple[TableAnswers, pd.DataFrame]:
    """What tables without noise answer, and the data in natural units."""
    random = np.random.default_rng(1)
    domain = Domain((column, GROUP))
    data = pd.DataFrame({"x": values, "group": random.choice(["a", "b"], len(values))})
    sketch = Tables.of(domain, bins, "pairs", halvings).sized_for(Budget(1, "1e-9"), 1.0)
    table = sketch.zeros()
    sketch.add(table, domain.encode_queries(data))
    return TableAnswers(sketch.reading(table, 0.0, None, np.inf)), data


def spread(count: int) -> np.ndarray:
    """Numbers of values, many of few and few of many."""
    return np.minimum(np.random.default_rng(0).geometric(3 / count, MANY) - 1, count - 1)


def check(ask: TableAnswers, data: pd.DataFrame, ends, near) -> None:
    """Counts, means and quantiles of the column, all and by group, against pandas.

    How a group lies within the column's cells is chance where these are of several values, and bands of 95% allow for
    it; twice as wide, four deviations, they are left once in 16,000 times.
    """
    x = data["x"]
    for low, high in ends:
        inside = data[(x >= low) & (x < high)]
        found = ask.count({"x": (low, high)}).iloc[0]
        assert found.low == pytest.approx(len(inside), abs=1e-6) == found.high
        if len(inside):
            mean = ask.mean("x", where={"x": (low, high)}).iloc[0]
            assert_near([mean.estimate, mean.low, mean.high], inside["x"].mean())
    for share in (0.1, 0.5, 0.77):
        found, exact = ask.quantile("x", share).iloc[0], np.sort(x)[int(np.ceil(share * len(x))) - 1]
        assert found.low <= exact <= found.high and found.estimate == exact
    groups = data.groupby("group")["x"]
    found = ask.mean("x", by=["group"])
    for place, (_, mean) in enumerate(groups.mean().items()):
        reach = found.high[place] - found.low[place]
        assert found.low[place] - reach / 2 <= mean + near and mean - near <= found.high[place] + reach / 2


def assert_near(found, exact) -> None:
    if isinstance(exact, pd.Timestamp):
        assert all(abs(one - exact) < pd.Timedelta(seconds=2) for one in found)
    else:
        assert found == pytest.approx([exact] * len(found))


@pytest.mark.few(5)
@pytest.mark.parametrize("bins", [4, 10, 200])
@pytest.mark.parametrize("kind", WHOLE)
def test_answers_about_numbers_with_steps_are_exact_without_noise(kind, bins):
    column, steps = WHOLE[kind], steps_of(WHOLE[kind])
    lengths = isinstance(column, TextLength)
    values = steps.value(spread(steps.count))
    ask, data = asked(Numeric("x", 0, 40, step=1) if lengths else column, values, bins)
    ends = [steps.value(np.array(pair)) for pair in ((0, 1), (1, 3), (0, steps.count), (2, steps.count - 1))]
    near = steps.step / 4
    check(ask, data, [(low - near, high - near) for low, high in ends], 1e-9)
    (axis, _) = ask.axes
    if bins >= steps.count:
        assert axis.cells == axis.fine == steps.count
        low, high = ends[1] - near
        for group, part in data.groupby("group"):
            found = ask.count({"x": (low, high), "group": group}).iloc[0]
            assert found.low == pytest.approx(part.x.between(low, high).sum(), abs=1e-6) == found.high
            assert ask.mean("x", where={"group": group}).high[0] == pytest.approx(part.x.mean())
        assert len(ask.table("x")["x"].cat.categories) == steps.count
        assert ask.table("x")["x"].iloc[1] == pytest.approx(steps.low + steps.step)


@pytest.mark.parametrize("kind", DAYS)
def test_answers_about_dates_are_exact_without_noise(kind):
    column, steps = DAYS[kind], steps_of(DAYS[kind])
    days = pd.Series(column.present(spread(steps.count).astype(float)))
    ask, data = asked(column, days)
    places = ((0, 1), (1, 3), (0, steps.count), (2, steps.count - 1))
    dates = [tuple(pd.Timestamp(end) for end in column.between(np.array(pair, float))) for pair in places]
    check(ask, data, dates, pd.Timedelta(seconds=1))


def test_dates_are_cut_where_a_calendar_is():
    cells = {
        "nine_days": ("2020-01-01", "2020-01-02"),
        "two_months": ("2020-01-15", "2020-01-20", "2020-01-27"),
        "a_year": ("2023-01-01", "2023-03-01"),
        "hours": ("2020-01-01T00", "2020-01-01T12"),
    }
    for kind, begins in cells.items():
        (axis,) = axes_of(Domain((DAYS[kind],)), (10,), (0,))
        dates = DAYS[kind].between(axis.edges()).astype("M8[h]")
        assert (dates[: len(begins)] == np.array(begins, "M8[h]")).all() and axis.cells <= 10
        assert dates[-1] == DAYS[kind].between(np.array([DAYS[kind].high + 1]))[0].astype("M8[h]")


@given(st.integers(1, 300), st.integers(2, 40), st.integers(0, 9))
def test_every_value_is_in_one_fine_cell_inside_its_coarse_one(count, bins, halvings):
    column = Numeric("x", 0, count, step=1)
    starts = cut_values(column, steps_of(column), bins)
    often = min(halvings, enough_halvings(starts))
    fine = halved(starts, often)
    assert starts[0] == 0 and starts[-1] == count + 1 and (np.diff(starts) > 0).all()
    assert (fine[:: 1 << often] == starts).all() and (np.diff(fine) >= 0).all()
    if often == enough_halvings(starts):
        assert np.diff(fine).max() == 1
    (axis,) = axes_of(Domain((column,)), (bins,), (halvings,))
    points = np.arange(count + 1.0)[:, None]
    (found,) = cut(points, Domain((column,)), (axis,))
    assert (fine[found] <= points[:, 0]).all() and (points[:, 0] < fine[found + 1]).all()


def test_more_values_than_can_be_looked_up_are_searched_for():
    column = Dates("x", "2000-01-01", "2020-12-31", "second")
    domain = Domain((column,), scale="box")
    (axis,) = axes_of(domain, (12,), (4,))
    numbers = np.array([0, 1, axis.starts[3] - 1, axis.starts[3], column.high])
    (found,) = cut(domain.encode_queries({"x": numbers}), domain, (axis,))
    assert (found >> 4).tolist() == [0, 0, 2, 3, axis.cells - 1]


def test_ordered_categories_are_a_cell_each():
    column = Ordered("x", ("low", "middle", "high"), (0, 1, 9))
    (axis,) = axes_of(Domain((column,)), (), ())
    assert axis.cells == 3 and axis.steps is None


def test_files_of_earlier_versions_keep_their_even_cells():
    sketch = Tables.of(Domain((Numeric("x", 0, 6, step=1), GROUP)), 4)
    old = {name: value for name, value in sketch.measuring_contrasts().parameters().items() if name != "edges"}
    (axis, _) = Tables.from_parameters(sketch.domain, old).axes
    assert (axis.cells, axis.steps) == (4, None) and axis.edges().tolist() == [0, 1.5, 3, 4.5, 6]
    new = sketch.measuring_contrasts()
    assert Tables.from_parameters(sketch.domain, new.parameters()) == new and new.axes[0].steps is not None
    assert "edges" not in Tables.of(Domain.of(x=(0, 1)), 4).measuring_contrasts().parameters()


AMOUNTS = {
    "whole": Numeric("x", 0, 1e9, "EUR", step=1.0, scale="log"),
    "any": Numeric("x", 0, 1e9, "EUR", scale="log"),
    "debts": Numeric("x", -1e6, 1e9, step=0.01, scale="log"),
    "none_is_nothing": Numeric("x", 3.0, 5e7, scale="log"),
}


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_in_wide_bounds_have_their_quartiles_and_counts_off_tables(name):
    column = AMOUNTS[name]
    values = np.floor(np.random.default_rng(4).lognormal(np.log(241), 1.3, MANY)) + 4.0
    ask, _ = asked(column, values, bins=30, halvings=7)
    for share in (0.25, 0.5, 0.75):
        exact = np.quantile(values, share, method="inverted_cdf")
        found = ask.quantile("x", share).iloc[0]
        assert 0.97 * exact - 1 <= found.low <= exact * 1.001 + 1
        assert exact * 0.999 - 1 <= found.high <= 1.03 * exact + 1
        assert found.estimate == pytest.approx(exact, rel=0.03)
    inside = ask.count({"x": (100, 1_000)}).iloc[0]
    exact = ((values >= 100) & (values < 1_000)).sum()
    assert inside.low - 1e-6 <= exact <= inside.high + 1e-6
    assert inside.estimate == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("name", AMOUNTS)
@pytest.mark.parametrize("scale", ["none", "box"])
def test_every_amount_is_in_the_cell_whose_ends_hold_it(name, scale):
    column = AMOUNTS[name]
    domain = Domain((column, GROUP), scale=scale)
    axis = axes_of(domain, (20,), (6,))[0]
    edges, near = axis.edges(fine=True), column.step or column.doublings.finest
    assert (np.diff(edges) >= 0.0).all()
    assert (edges[0], edges[-1]) == (column.low, column.high + column.step)
    random = np.random.default_rng(5)
    amounts = np.concatenate([[column.low, 0.0, 1.0, column.high], random.lognormal(6, 4, 3_000)])
    amounts = np.clip(column.low + near * np.rint((amounts - column.low) / near), column.low, column.high)
    points = domain.encode_queries(pd.DataFrame({"x": amounts, "group": "a"}))
    cells = cut(points, domain, axes_of(domain, (20,), (6,)))[0].astype(int)
    slack = 1e-9 * np.abs(amounts)
    assert (edges[cells] <= amounts + slack).all()
    assert ((amounts <= edges[cells + 1] + slack) | (cells == axis.fine - 1)).all()


@pytest.mark.parametrize("relation", list(Neighbours))
def test_no_amount_however_large_moves_a_table_by_more_than_is_said(relation):
    domain = Domain((AMOUNTS["debts"], GROUP), missing="refuse")
    sketch = Tables.of(domain, 6, "pairs", 3).sized_for(Budget(1, "1e-9"), 1.0)
    said = sketch.record_sensitivity(relation)
    extremes = [-math.inf, -1e6, -1e6 + 0.01, -0.01, 0.0, 0.005, 0.01, 1.0, 1e9 - 0.01, 1e9, 1e300, math.inf]
    extremes += [end + shift for end in sketch.axes[0].edges() for shift in (-0.01, 0.0, 0.01)]
    moved = []
    for value in extremes:
        table = sketch.zeros()
        sketch.add(table, sketch.encode(pa.record_batch({"x": [value], "group": ["a"]})))
        moved.append(table)
    if relation is Neighbours.REPLACE_ONE:
        moved = [one - other for one in moved for other in moved]
    assert max(np.abs(one).sum() for one in moved) <= said.l1
    assert max(int((one.astype(object) ** 2).sum()) for one in moved) <= said.l2_squared
