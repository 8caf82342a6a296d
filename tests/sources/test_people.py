"""The selection of at most m records a person: exact, fair, and blind to everybody else."""

from __future__ import annotations

import collections
import itertools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.domain import Domain, PrivacyUnit
from core.domain.encoding import ROWS_READ
from core.errors import RequestError
from core.sources import duck, open_source, people, queried
from core.sources.people import (
    ascends,
    ascends_by_length,
    cut_between_sets,
    gathered,
    keep_at_most,
    known,
    order_of,
    ordering_sql,
)
from tests.depth import draws

FALSE_ALARM = 1e-7


@given(
    persons=st.lists(st.integers(0, 4), max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    records=st.integers(1, 4),
    kind=st.sampled_from([pa.int64(), pa.string(), pa.float64()]),
)
def test_the_first_m_of_each_run_whatever_the_batches(persons, cuts, records, kind):
    persons = sorted(persons)
    table = pa.record_batch({"place": pa.array(range(len(persons))), "person": pa.array(persons).cast(kind)})
    edges = sorted({0, len(persons), *(min(cut, len(persons)) for cut in cuts)})
    batches = [table.slice(start, stop - start) for start, stop in itertools.pairwise(edges)]
    kept = [
        place
        for batch in keep_at_most(iter([*batches, table.slice(0, 0)]), records)
        for place in batch.column(0).to_pylist()
    ]
    seen: collections.Counter = collections.Counter()
    expected = []
    for place, person in enumerate(persons):
        seen[person] += 1
        if seen[person] <= records:
            expected.append(place)
    assert kept == expected


def select(table, records, rows=100):
    domain = Domain.of(x=(0, 1e9), unit=PrivacyUnit("id", records))
    batches = open_source(table).batches(domain, rows)
    return np.concatenate([np.empty(0), *(batch.column("x").to_numpy() for batch in batches)])


@pytest.mark.thorough
@settings(max_examples=draws(12, 50))
@given(persons=st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=1, max_size=30), records=st.integers(1, 3))
def test_each_person_keeps_as_many_as_it_may(persons, records):
    table = pa.table({"id": pa.array(persons, pa.int64()), "x": pa.array(range(len(persons)), pa.int64())})
    kept = select(table, records)
    assert len(set(kept)) == len(kept)
    of_persons = collections.Counter(persons[int(place)] for place in kept)
    owned = collections.Counter(person for person in persons if person is not None)
    assert of_persons == {person: min(count, records) for person, count in owned.items()}


@pytest.mark.thorough
def test_every_record_of_a_person_is_equally_likely():
    # 4000 people with 5 records each, the places in the table shuffled; 2 are kept of each.
    people, owned, records = 4000, 5, 2
    order = np.random.default_rng(1).permutation(people * owned)
    table = pa.table({"id": order // owned, "x": order % owned})
    counts = np.bincount(select(table, records).astype(int), minlength=owned)
    assert counts.sum() == people * records
    # Two records of one person are never the same, so the counts vary by less than independent draws would.
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    # Equal records are not one record: of five, four equal ones and another, the other is kept by one in five.
    table = pa.table({"id": order // owned, "x": (order % owned == 0).astype(int)})
    others = int(select(table, 1).sum())
    assert stats.binomtest(others, people, 1 / owned).pvalue > FALSE_ALARM


@pytest.mark.thorough
def test_of_records_that_draw_the_same_their_lines_decide_nothing(monkeypatch):
    monkeypatch.setattr(queried, "ordering_sql", lambda *given: ordering_sql(*given).replace("random()", "0.5"))
    random, kept = np.random.default_rng(1), set()
    for _ in range(5):
        order = random.permutation(200)
        kept.add(tuple(sorted(select(pa.table({"x": order.astype(float), "id": order % 7}), 2))))
    assert len(kept) == 1 and len(next(iter(kept))) == 14


def test_what_is_kept_of_one_person_tells_nothing_about_another():
    # Persons 2i and 2i + 1 have two records each; their choices must be independent, and so must two readings.
    people = 4000
    table = pa.table({"id": np.repeat(np.arange(people), 2), "x": np.arange(2 * people)})
    first, again = (np.sort(select(table, 1)) % 2 for _ in range(2))
    pairs = np.array([[np.sum((first[::2] == i) & (first[1::2] == j)) for i in (0, 1)] for j in (0, 1)])
    assert stats.chi2_contingency(pairs).pvalue > FALSE_ALARM
    twice = np.array([[np.sum((first == i) & (again == j)) for i in (0, 1)] for j in (0, 1)])
    assert stats.chi2_contingency(twice).pvalue > FALSE_ALARM


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["p", "p", " p ", "", "  ", None]),
        pa.array(["p", "p", "p", "", None, ""]).dictionary_encode(),
        pa.array([0.0, -0.0, 0.0, float("nan"), float("nan"), None]),
        pa.array([1, 1, 1, None, None, None], pa.timestamp("s")),
        pa.array([True, True, True, None, None, None]),
        pa.array([7, 7, 7, None, None, None], pa.decimal128(5, 1)),
    ],
)
def test_ids_of_every_type_and_ids_that_say_nothing(ids):
    kept = select(pa.table({"id": ids, "x": range(6)}), 1, rows=1)
    assert len(kept) == 1 and kept[0] < 3


@pytest.mark.deep
def test_a_sort_stops_at_the_room_that_it_may_take(monkeypatch):
    """Half of what is free, and never more than is stated, so that the disk of others is never filled."""
    monkeypatch.setattr(duck, "MOST_SPILLED", 1 << 20)
    monkeypatch.setattr(duck, "MEMORY_LIMITS", ("60MB",))
    table = pa.table({"id": np.random.default_rng(0).permutation(4_000_000), "x": np.arange(4_000_000)})
    with pytest.raises(RequestError, match=r"half of what is free there, or than .* TMPDIR"):
        select(table, 1)


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
    before, people.HELD_ITEMS = people.HELD_ITEMS, held
    try:
        batches = list(gathered(Rows(ids, items, tuple(cuts)), "who", "what", most))
    finally:
        people.HELD_ITEMS = before
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
