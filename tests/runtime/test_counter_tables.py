"""Tables that are not arrays: every counter reads as in the array that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core.runtime import counter_tables
from core.runtime.counter_tables import Narrow, Sum, added, array, blocks, pieces, same, sum_of_slabs, take

COUNTERS = st.integers(-300, 300) | st.sampled_from([-129, -128, -127, 127, 128, -(1 << 63), (1 << 63) - 1])
TABLES = arrays(np.int64, array_shapes(min_dims=2, max_dims=3, max_side=7), elements=COUNTERS)


def narrow(table: np.ndarray) -> Narrow:
    """The table as int8, by the definition."""
    apart = (table <= -128) | (table > 127)
    return Narrow(np.where(apart, -128, table).astype(np.int8), np.flatnonzero(apart).astype(np.int64), table[apart])


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch):
    monkeypatch.setattr(counter_tables, "PIECE", 5)


@given(TABLES, st.data())
def test_counters_that_stand_apart_read_as_in_the_whole_table(table, data):
    for kept in (table, narrow(table), table.astype(np.int32) if -1000 < table.min() <= table.max() < 1000 else table):
        at = data.draw(arrays(np.int64, st.integers(0, 20), elements=st.integers(0, table.size - 1)))
        for got in (take(kept, at), *blocks(kept), *pieces(kept)):
            assert got.dtype == np.int64
        assert (take(kept, at) == table.reshape(-1)[at]).all()
        assert (np.concatenate(list(blocks(kept))) == table.reshape(-1, table.shape[-1])).all()
        assert (np.concatenate(list(pieces(kept))) == table.reshape(-1)).all() and (array(kept) == table).all()
        assert all(same(slab, kept[place]) for place, slab in enumerate(table))
        assert kept.shape == table.shape and kept.size == table.size and len(list(kept)) == len(table)


def added_up(table: np.ndarray) -> np.ndarray:
    """Slabs added in order, each sum set to the ends of int64 where it passes them."""
    total = [int(value) for value in table[0].reshape(-1)]
    for slab in table[1:]:
        total = [
            min(max(one + int(more), counter_tables.LEAST), counter_tables.MOST)
            for one, more in zip(total, slab.reshape(-1), strict=True)
        ]
    return np.array(total, dtype=np.int64).reshape(table.shape[1:])


@given(TABLES)
def test_sums_never_wrap_round_and_read_alike_whatever_is_added(table):
    other = table[::-1].copy()
    expected = added_up(np.stack([table, other]))
    at = np.arange(table.size)
    for left, right in ((table, other), (narrow(table), other), (narrow(table), narrow(other))):
        total = added(left, right)
        assert isinstance(total, np.ndarray if left is table else Sum)
        assert same(total, expected) and (take(total, at) == expected.reshape(-1)).all()
        assert same(total[0], expected[0]) and total.shape == table.shape
    assert same(sum_of_slabs(narrow(table)), added_up(table))


def test_int32_tables_add_without_wrapping():
    most = np.full((2, 3), np.iinfo(np.int32).max, dtype=np.int32)
    assert added(most, most).dtype == np.int64 and added(most, most - most).dtype == np.int32
    assert same(added(most, most - most), most) and same(added(-most, -most), -2 * most.astype(np.int64))
    assert (take(added(most, most), np.arange(6)) == 2 * (2**31 - 1)).all()
    assert (sum_of_slabs(most) == 2 * (2**31 - 1)).all()
    assert (sum_of_slabs(most.astype(np.int64)) == 2 * (2**31 - 1)).all()


def test_differing_tables_are_told_apart():
    table = np.arange(12, dtype=np.int64).reshape(3, 4)
    for place in range(12):
        other = table.copy()
        other.reshape(-1)[place] += 1
        assert not same(narrow(table), other)


@given(
    arrays(np.int64, st.integers(0, 9), elements=st.integers(-(1 << 63), (1 << 63) - 1)),
    arrays(np.int64, 9, elements=COUNTERS),
)
def test_whatever_stands_apart_reading_stays_inside_the_arrays(beyond_at, beyond):
    """A stranger's file may list anything; single counters are read all the same."""
    counters = np.full((4, 5), -128, dtype=np.int8)
    table = Narrow(counters, beyond_at, beyond[: len(beyond_at)])
    assert set(take(table, np.arange(20))) <= {-128, *beyond}


def test_a_counter_that_is_listed_apart_and_not_marked_reads_as_what_stands_there():
    """A stranger's file may list any, and both ways to read have to say the same of it."""
    table = Narrow(np.array([1, -128, 3], np.int8), np.array([0, 1]), np.array([500, 600]))
    assert table.piece(0, 3).tolist() == table.take(np.arange(3)).tolist() == [1, 600, 3]


def test_what_a_part_of_a_table_is_about_to_read_is_fetched_where_it_lies_in_the_whole():
    fetched, none = [], np.array([], np.int64)
    table = Narrow(np.arange(12, dtype=np.int8).reshape(3, 4), none, none, lambda at: fetched.append(at.tolist()))
    assert table._part(4, (4,)).take(np.array([0, 3])).tolist() == [4, 7] and fetched == [[4, 7]]
