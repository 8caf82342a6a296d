"""A living release as a linear sketch: rows are weighted sums of periods, and a record moves no more than it says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.domain import Categorical, Dates, Domain, Numeric, PrivacyUnit
from core.errors import RequestError
from core.geometry import kernels
from core.privacy.budget import Budget, Neighbours
from core.releases.engine.building import TableBuilder
from core.sketches.histogram import Histogram
from core.sketches.living import Living
from core.sketches.moments import Moments
from core.sketches.race import Race
from core.sketches.registry import sketch_from_parameters
from core.sources import open_source
from core.sources.people import keep_earliest

DAYS = Domain((Dates("day", "2023-11-15", "2024-04-02"), Numeric("x", 0, 1)))
WEEKDAYS = Domain((Categorical("day", ("mon", "tue", "wed", "thu")), Numeric("x", 0, 1)))
BUDGET = Budget(1, "1e-6")


def race(domain):
    return Race(domain.without("day"), kernels.Euclidean(bandwidth=0.3), rows=4, width=8, seed=1)


def living(domain=WEEKDAYS, **facts):
    return Living(
        domain, "day", facts.pop("inner", race(domain)), **{"released": 4, "band": 3, "power": 40, "seed": 7, **facts}
    )


def table_of(sketch, records):
    building = TableBuilder(sketch, open_source(records))
    for _ in building:
        pass
    return building.exact.table


def some_records(n=60, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame({"day": random.choice(["mon", "tue", "wed", "thu"], n), "x": random.random(n)})


@pytest.mark.parametrize(
    ("every", "names"),
    [
        ("month", ("2023-11", "2023-12", "2024-01", "2024-02", "2024-03", "2024-04")),
        ("quarter", ("2023-10", "2024-01", "2024-04")),
        ("year", ("2023", "2024")),
    ],
)
def test_periods_of_the_calendar_begin_where_the_calendar_says(every, names):
    sketch = Living(DAYS, "day", race(DAYS), every)
    assert sketch.names == names
    days = pd.date_range("2023-11-14", "2024-04-03")
    codes = sketch._codes(pa.RecordBatch.from_pandas(pd.DataFrame({"day": days, "x": 0.0})))
    wanted = {"month": "%Y-%m", "year": "%Y"}
    assert codes[0] == codes[-1] == -1  # outside
    if every in wanted:
        assert [names[code] for code in codes[1:-1]] == list(days[1:-1].strftime(wanted[every]))
    else:
        assert [names[code] for code in codes[1:-1]] == [
            f"{p.year}-{3 * p.quarter - 2:02}" for p in days[1:-1].to_period("Q")
        ]


def test_days_and_weeks_are_counted_from_the_first_date():
    assert Living(DAYS, "day", race(DAYS), "step").periods == 140
    weeks = Living(DAYS, "day", race(DAYS), "week")
    assert weeks.periods == 20
    assert weeks.names[:2] == ("2023-11-15", "2023-11-22")


def test_rows_are_weighted_sums_of_the_tables_of_periods():
    records, sketch = some_records(), living()
    tables = [table_of(sketch.inner, records[records.day == day]) for day in sketch.names]
    np.testing.assert_array_equal(table_of(sketch, records), np.tensordot(sketch.factor.matrix, np.array(tables), 1))


def test_rows_of_periods_that_are_over_know_nothing_of_later_ones():
    records, sketch = some_records(), living(released=2)
    past = records[records.day.isin(["mon", "tue"])]
    np.testing.assert_array_equal(table_of(sketch, records), table_of(sketch, past))
    whole = table_of(living(), records)
    np.testing.assert_array_equal(whole[:2], table_of(sketch, records))
    np.testing.assert_array_equal(whole[2:], table_of(sketch.further(4), records))


def test_runs_are_read_off_exact_rows_exactly():
    records, sketch = some_records(), living()
    table = table_of(sketch, records)
    for first in range(4):
        for last in range(first, 4):
            weights, spread = sketch.reading(first, last)
            own = table_of(sketch.inner, records[records.day.isin(sketch.names[first : last + 1])])
            np.testing.assert_allclose(np.tensordot(weights, table, 1), own, atol=1e-6)
            assert spread > 0


@pytest.mark.parametrize("weights", [{}, {"band": 0, "power": 0, "branches": 2, "weights": (100, 50, 40)}])
@pytest.mark.parametrize(
    "inner", [race, lambda domain: Histogram(domain.without("day"), kernels.Gaussian(bandwidth=0.2), (6,))]
)
def test_no_neighbour_moves_the_rows_further_than_is_proved(weights, inner):
    sketch = Living(WEEKDAYS, "day", inner(WEEKDAYS), released=4, **{"band": 4, "power": 50, **weights})
    tables = [
        table_of(sketch, pd.DataFrame({"day": [day], "x": [x]})) for day in sketch.names for x in (0.0, 0.31, 0.5, 1.0)
    ]
    added, replaced = (sketch.sensitivity(relation) for relation in Neighbours)
    assert max(np.abs(one).sum() for one in tables) <= added.l1
    assert max((one**2).sum() for one in tables) <= added.l2_squared
    moved = [one - other for one in tables for other in tables]
    assert max(np.abs(one).sum() for one in moved) <= replaced.l1
    assert max((one**2).sum() for one in moved) <= replaced.l2_squared
    counts = [table_counts(sketch, pd.DataFrame({"day": [day], "x": [0.5]})) for day in sketch.names]
    added, replaced = (sketch.count_sensitivity(relation) for relation in Neighbours)
    assert max(np.abs(one).sum() for one in counts) == added.l1
    assert max(np.abs(one - other).sum() for one in counts for other in counts) <= replaced.l1
    assert max(((one - other) ** 2).sum() for one in counts for other in counts) <= replaced.l2_squared


def test_the_longest_column_is_reached_by_one_record():
    sketch = living()
    moved = [(table_of(sketch, pd.DataFrame({"day": [day], "x": [0.5]})) ** 2).sum() for day in sketch.names]
    assert max(moved) == sketch.sensitivity(Neighbours.ADD_REMOVE).l2_squared


def test_a_replaced_record_moves_blocks_of_counters_twice_as_far():
    inner = Moments(WEEKDAYS.without("day"), count_weight=1000, square_weight=1000)
    added, replaced = (living(inner=inner).record_sensitivity(relation).blocks_l2 for relation in Neighbours)
    of_one = inner.record_sensitivity(Neighbours.ADD_REMOVE).blocks_l2
    assert added == living(inner=inner).factor.l1 * of_one and replaced == 2 * added


def test_it_is_written_and_read_again():
    for sketch in (living(lost=(1,)), Living.of(DAYS, "day", race(DAYS), Budget(1), every="month", released=2)):
        assert sketch_from_parameters("living", sketch.domain, sketch.parameters()) == sketch


@pytest.mark.deep
def test_noise_is_hidden_in_the_kind_of_rows_that_suits_it():
    grid = Histogram(DAYS.without("day"), kernels.Gaussian(bandwidth=0.2), (6,))
    assert Living.of(DAYS, "day", grid, Budget(1)).branches > 1  # pure
    many_rows = Race(DAYS.without("day"), kernels.Euclidean(bandwidth=0.3), rows=400, width=8)
    assert Living.of(DAYS, "day", many_rows, BUDGET).band > 8


@pytest.mark.parametrize(
    "wrong",
    [
        {"released": 5},
        {"band": 0},
        {"branches": 2},
        {"weights": (50,)},
        {"every": "month"},
        {"lost": (4,)},
        {"branches": 2, "band": 0, "weights": (0, 50)},
    ],
)
def test_what_is_no_living_release_is_refused(wrong):
    with pytest.raises(RequestError):
        living(**wrong)


PERSONS = Domain(WEEKDAYS.columns, unit=PrivacyUnit("id", 2))


def visits(n=80, persons=25):
    records = some_records(n)
    return records.assign(id=np.random.default_rng(4).integers(0, persons, n))


@pytest.mark.thorough
def test_of_each_person_the_earliest_records_are_kept_whatever_comes_later_and_in_whichever_order():
    """Rows drawn in an earlier part have what those of a later one have, when there are more records."""
    records, whole = visits(), living(PERSONS)
    order = {day: place for place, day in enumerate(whole.names)}
    found = table_of(whole, records.sample(frac=1, random_state=1))
    np.testing.assert_array_equal(found, table_of(whole, records.sample(frac=1, random_state=2)))
    assert (
        whole.count_shape == (4,)
        and whole.sensitivity(Neighbours.ADD_REMOVE).l1 == 2 * living().sensitivity(Neighbours.ADD_REMOVE).l1
        and whole.count_sensitivity(Neighbours.ADD_REMOVE).l1
        == 2 * living().count_sensitivity(Neighbours.ADD_REMOVE).l1
    )
    for released in (1, 2, 3):
        past = records[records.day.map(order) < released]
        part = replace(whole, released=released)
        np.testing.assert_array_equal(table_of(part, past), found[:released])
        np.testing.assert_array_equal(table_of(part, records), found[:released])
    kept = records.assign(at=records.day.map(order)).sort_values("at", kind="stable").groupby("id").head(2)
    day_counts = table_counts(whole, records)
    np.testing.assert_array_equal(day_counts, whole.factor.matrix @ kept.day.map(order).value_counts().sort_index())


def table_counts(sketch, records):
    building = TableBuilder(sketch, open_source(records))
    for _ in building:
        pass
    return building.exact.records


@pytest.mark.thorough
def test_as_many_records_of_a_person_as_are_kept_reach_what_is_proved():
    sketch = living(PERSONS)
    for day in sketch.names:
        mine = pd.DataFrame({"day": day, "x": 0.5, "id": ["somebody"] * 5})
        moved = table_of(sketch, mine)
        if (moved**2).sum() == sketch.sensitivity(Neighbours.ADD_REMOVE).l2_squared:
            return
    raise AssertionError("no period reaches it")


def test_records_outside_of_all_periods_take_no_place_of_a_person():
    domain = Domain(DAYS.columns, unit=PrivacyUnit("id", 1))
    sketch = Living(domain, "day", race(domain), "month", released=6, seed=7)
    days = ["2020-01-01", None, "2024-01-31", "2024-02-01"]
    records = pd.DataFrame({"day": pd.to_datetime(days), "x": 0.5, "id": 1})
    alone = records.iloc[[2]]
    np.testing.assert_array_equal(table_of(sketch, records), table_of(sketch, alone))


def test_persons_whose_records_lie_in_several_batches():
    records = visits(200, 7).sort_values("id", kind="stable").reset_index(drop=True)
    whole = pa.RecordBatch.from_pandas(records[["x", "id"]])

    def kept(size):
        batches = (whole.slice(start, size) for start in range(0, len(records), size))
        found = keep_earliest(batches, 3, lambda batch: -batch.column(0).to_numpy())
        return np.concatenate([batch.column(0).to_numpy() for batch in found])

    wanted = records.assign(at=-records.x).sort_values("at").groupby("id").head(3).x
    for size in (1, 2, 7, 33, 200):
        np.testing.assert_array_equal(np.sort(kept(size)), np.sort(wanted))
