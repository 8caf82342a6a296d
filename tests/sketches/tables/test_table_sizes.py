"""Which pairs are counted, and how finely, from public sizes."""

import math

import pytest

from core import Budget, Categorical, Domain, Numeric, RequestError
from core.releases.forecast.whole_table import cell_error, reason
from core.releases.job import release
from core.sketches.plan import plan
from core.sketches.tables import table_sizes
from core.sketches.tables.tables import Tables
from tests.depth import deep

MANY = Domain(
    tuple(Numeric(f"x{i}", 0, 1) for i in range(20))
    + tuple(Categorical(f"c{i}", tuple("ab")) for i in range(10))
    + (Categorical("wide", tuple(map(str, range(50)))),)
)
PROMISE = Budget(1, "1e-9")


@pytest.mark.parametrize("budget", [PROMISE, deep(Budget(1))], ids=["delta", "pure"])
def test_as_many_pairs_are_counted_as_can_be_seen_few_cells_and_first_columns_first(budget):
    chosen = Tables.of(MANY).sized_for(budget, 2_000)
    pairs = chosen.pairs
    every = table_sizes.all_pairs(len(MANY.columns))
    assert 0 < len(pairs) < len(every)
    # yes/no columns, at the end of the table, are among the first, and the widest column in none of them
    yes = {20, 21, 22, 23, 24, 25, 26, 27, 28, 29}
    assert {pair for pair in every if set(pair) <= yes} <= set(pairs)
    assert not any(30 in pair for pair in pairs) and (30,) in chosen.tables
    # all columns are there by themselves, and more people bring more pairs
    assert len(chosen.layout.singles) == len(MANY.columns)
    assert len(pairs) < len(Tables.of(MANY).sized_for(budget, 8_000).pairs)
    said = reason(chosen, 2_000, budget)
    assert f"{len(pairs)} pairs" in said and f"other {len(every) - len(pairs)} pairs are left out" in said


def test_pairs_that_are_counted_hold_more_than_noise_and_one_more_would_not():
    domain = Domain(tuple(Categorical(f"c{i}", tuple("abcd")) for i in range(20)))
    chosen = Tables.of(domain).sized_for(PROMISE, 1_000)
    error, cells = cell_error(chosen, plan(chosen, PROMISE).noise, chosen.pairs)
    # The rule goes by the mean over all tables, before singles get more of the promise.
    assert 0.8 * table_sizes.SEEN < 1_000 / cells / error < 1.5 * table_sizes.SEEN


def test_columns_to_count_the_others_by_are_the_owners_choice():
    chosen = Tables.of(MANY, by=["c0", "wide"]).sized_for(PROMISE, 2_000)
    assert all({20, 30} & set(pair) for pair in chosen.tables) and len(chosen.tables) == 30 + 29
    assert "each together with c0 and wide, 59 pairs" in reason(chosen, 2_000, PROMISE, ["c0", "wide"])
    with pytest.raises(RequestError, match="no column 'age'"):
        Tables.of(MANY, by=["age"])
    with pytest.raises(RequestError, match="go with pairs"):
        Tables.of(MANY, tables="singles", by=["c0"])


def test_single_columns_weigh_as_much_as_all_pairs_where_these_are_chosen():
    alike = Tables.of(MANY, 4).sized_for(PROMISE, 1e6)
    chosen = Tables.of(MANY, halvings=0).sized_for(PROMISE, 1e6)
    assert len(chosen.pairs) == math.comb(31, 2)
    alike = Tables.of(MANY, chosen.bins, halvings=0).sized_for(PROMISE, 1e6)
    single, pair = (
        [cell_error(sketch, plan(sketch, PROMISE).noise, tables)[0] for sketch in (chosen, alike)]
        for tables in (alike.layout.singles, alike.tables)
    )
    assert single[0] < 0.8 * single[1] and pair[0] < 1.15 * pair[1]


def test_without_a_number_of_records_an_ordinary_one_is_supposed():
    domain = Domain.of(x=(0, 1), c=list("ab"), y=(0, 1))
    data = {"x": [0.5] * 50, "c": ["a"] * 50, "y": [0.1] * 50}
    made = release(Tables.of(domain), data, PROMISE).sketch
    assert made == Tables.of(domain).sized_for(PROMISE, 10_000) and len(made.pairs) == 3
