"""Sets gathered from rows: the same as a dictionary of sets has, whatever the order, the batches and the types."""

from __future__ import annotations

import collections
import itertools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.encoding import ROWS_READ
from core.errors import RequestError
from core.sources import gathering
from core.sources.gathering import ascends, ascends_by_length, cut_between_sets, gathered, known, order_of

IDS = {
    "int32": pa.array([-3, 0, 1, 7, 2**31 - 1], pa.int32()),
    "uint64": pa.array([0, 1, 2, 2**63, 2**64 - 1], pa.uint64()),
    "text": pa.array(["10", "9", "a", "ä", "zebra"]),
    "date": pa.array([0, 1, 365, 20_000, 20_001], pa.date32()),
    "float": pa.array([-1.5, 0.0, 0.25, 7.0, 1e300]),
    "boolean": pa.array([False, True, True, False, False]),
}


@dataclass(frozen=True)
class Rows:
    """Pairs in memory, cut into batches; sorted by a plain sort."""

    of_ids: pa.Array
    of_items: pa.Array
    cuts: tuple[int, ...] = ()
    label: str = "the rows"

    def ids(self):
        return (ids for ids, _, _ in self.in_order())

    def in_order(self):
        return self._cut(self.of_ids, self.of_items)

    def sorted(self):
        order = pa.compute.sort_indices(self.of_ids)
        return self._cut(self.of_ids.take(order), self.of_items.take(order))

    def _cut(self, ids, items):
        edges = sorted({0, len(ids), *(min(cut, len(ids)) for cut in self.cuts)})
        yield ids[:0], items[:0], 0
        for start, stop in itertools.pairwise(edges):
            yield *known(ids[start:stop], items[start:stop]), stop


def reference(ids, items):
    sets = collections.defaultdict(set)
    for one, item in zip(ids.to_pylist(), items.to_pylist(), strict=True):
        if one is not None and item is not None:
            sets[one].add(item)
    return dict(sets)


def found(batches):
    """The sets by id; an id that comes twice, or a batch that is too large, is caught here."""
    sets = {}
    for batch in batches:
        for one, items in zip(batch.column("who").to_pylist(), batch.column("what").to_pylist(), strict=True):
            assert one not in sets and items
            sets[one] = set(items)
    return sets


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), st.integers(-2, 3))), max_size=40),
    kind=st.sampled_from(sorted(IDS)),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    most=st.integers(1, 4),
    by_id=st.booleans(),
    texts=st.booleans(),
    held=st.sampled_from([1, 3, 1 << 24]),
)
def test_the_sets_are_those_of_a_dictionary(rows, kind, cuts, most, by_id, texts, held):
    places = sorted((who for who, _ in rows), key=lambda who: (who == 5, who)) if by_id else [who for who, _ in rows]
    ids = IDS[kind].take(pa.array([None if who == 5 else who for who in places], pa.int64()))
    items = pa.array([what for _, what in rows], pa.int64())
    if texts:
        items = items.cast(pa.string())
    before, gathering.HELD_ITEMS = gathering.HELD_ITEMS, held
    try:
        batches = list(gathered(Rows(ids, items, tuple(cuts)), "who", "what", most))
    finally:
        gathering.HELD_ITEMS = before
    assert found(batches) == reference(ids, items)
    assert all(0 < len(batch) <= most for batch in batches)
    read = [int(batch.schema.metadata[ROWS_READ]) for batch in batches]
    assert min(read, default=0) >= 0 and sum(read) <= len(rows)
    assert not batches or by_id or sum(read) == len(rows)


@given(numbers=st.lists(st.integers(0, 2000), max_size=30))
def test_whole_numbers_as_texts_are_in_order_as_numbers_or_as_texts(numbers):
    texts = [str(number) for number in sorted(numbers)]
    assert order_of([pa.array(texts, pa.string())]) is not None
    order = order_of([pa.array([text], pa.string()) for text in texts])
    assert order in (ascends, ascends_by_length)
    assert order_of([pa.array(sorted(texts), pa.string())]) is ascends


@given(ids=st.lists(st.text("ab1", max_size=3), max_size=8), cut=st.integers(0, 8))
def test_an_order_is_found_just_where_there_is_one(ids, cut):
    parts = [pa.array(part, pa.string()) for part in (ids[:cut], ids[cut:])]
    ascending = ids == sorted(ids) or ids == sorted(ids, key=lambda text: (len(text), text))
    assert (order_of(parts) is not None) == ascending


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    apart=st.integers(60, 70),
    spread=st.integers(1, 9),
)
def test_cuts_are_the_first_places_between_sets_that_are_far_enough(sizes, cuts, apart, spread):
    ids = np.repeat(np.arange(len(sizes)) * 3, np.array(sizes) * spread)
    edges = sorted({0, len(ids), *(cut * spread for cut in cuts if cut * spread < len(ids))})
    edges = sorted({*edges, *range(0, len(ids), 60)})
    parts = [pa.array(ids[start:stop]) for start, stop in itertools.pairwise(edges)]
    expected, begins = [0], np.flatnonzero(np.diff(ids, prepend=-1))
    while len(later := begins[begins >= expected[-1] + apart]):
        expected.append(int(later[0]))
    assert cut_between_sets(parts, apart) == [*expected, len(ids)]
    assert cut_between_sets([*parts, pa.array([None], pa.int64())], apart) == []
    assert cut_between_sets([*parts, pa.array([-1])], apart) == []


def test_one_giant_set_across_many_batches():
    ids = np.concatenate([[1, 1], np.full(300_000, 2), [3]])
    items = np.arange(len(ids)) % 200_000
    sets = found(gathered(Rows(pa.array(ids), pa.array(items), tuple(range(0, len(ids), 1009))), "who", "what", 2))
    assert {who: len(items) for who, items in sets.items()} == {1: 2, 2: 200_000, 3: 1}


@dataclass(frozen=True)
class Changing(Rows):
    """Rows whose ids are in order when they are looked at, and are not when they are read."""

    def ids(self):
        yield pa.array([1, 2, 3])


@pytest.mark.parametrize("cuts", [(), (1,), (2,)])
def test_rows_that_change_between_the_readings_are_refused(cuts):
    changed = Changing(pa.array([1, 2, 1]), pa.array([5, 6, 7]), cuts)
    with pytest.raises(RequestError, match="changed while they were read"):
        list(gathered(changed, "who", "what", 10))
