"""The selection of at most m records a person: exact, fair, and blind to everybody else."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.domain import Domain, PrivacyUnit
from core.errors import RequestError
from core.sources import duck, open_source, queried
from core.sources.people import keep_at_most, ordering_sql
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


@settings(max_examples=draws(12, 50))
@given(
    persons=st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=1, max_size=30),
    records=st.integers(1, 3),
)
def test_each_person_keeps_as_many_as_it_may(persons, records):
    table = pa.table({"id": pa.array(persons, pa.int64()), "x": pa.array(range(len(persons)), pa.int64())})
    kept = select(table, records)
    assert len(set(kept)) == len(kept)
    of_persons = collections.Counter(persons[int(place)] for place in kept)
    owned = collections.Counter(person for person in persons if person is not None)
    assert of_persons == {person: min(count, records) for person, count in owned.items()}


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
