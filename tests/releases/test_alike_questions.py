"""Questions of one name that are answered in words are looked at together, and no record weighs more for it."""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Budget, discover
from core.privacy.budget import Neighbours, PrivacyUnit
from core.privacy.choosing.partition_selection import WEIGHT, values_sensitivity
from core.privacy.noise.randomness import SeededSource
from core.releases.alike_questions import columns_alike
from core.releases.discovery_reading import Third

PROMISE = Budget(1, "1e-6")
ALIKE = [{"q1": ["yes"], "q2": [], "q3": []}, {"town": ["Bern"]}]
"""Three questions, in one of which a word was found, and a column apart."""


def counted(records, third=Third):
    """What a third reading counts of records, by group and value."""
    read = third(ALIKE)
    columns = zip(*records, strict=True)
    read.count(pa.record_batch({name: pa.array(column) for name, column in zip(NAMES, columns, strict=True)}))
    return {(place, value): count for place, one in enumerate(read.values) for value, count in one.items()}


NAMES = ["q1", "q2", "q3", "town"]
RECORDS = [*product(["yes", "no", "never", None], ["yes", "no", "maybe"], ["no", "never"], ["Bern", "Chur"])]


class EachTime(Third):
    """A reading with a fault: a record counts as often as it gave an answer."""

    def _cells(self, group, batch):
        places = self._places[group]
        return np.array(
            [
                [-1 if one in self._known[group] | {None} else places.setdefault(one, len(places)) for one in record]
                for record in zip(*(batch.column(name).to_pylist() for name in self.alike[group]), strict=True)
            ]
        )


def longest(relation, records, third=Third):
    """How far a person whose records are alike moves what is counted, at most: L1 and squared L2."""
    there = [counted([record] * records, third) for record in RECORDS]
    instead = there if relation is Neighbours.REPLACE_ONE else [{}]
    reached = np.zeros(2)
    for one, other in product(there, instead):
        moved = np.array([one.get(cell, 0) - other.get(cell, 0) for cell in one.keys() | other.keys()])
        reached = np.maximum(reached, [np.abs(moved).sum(), np.square(moved).sum()])
    return reached


@pytest.mark.few(2)
@pytest.mark.parametrize("relation", [*Neighbours], ids=str)
@pytest.mark.parametrize("records", [1, 3])
def test_no_person_moves_the_counts_of_questions_alike_further_than_those_of_columns_apart(relation, records):
    unit = PrivacyUnit("id", records) if records > 1 else PrivacyUnit()
    declared = values_sensitivity(len(NAMES), relation, unit, again=True)
    l1, l2 = longest(relation, records)
    assert l1 <= declared.l1 and 0.99 * declared.l2_squared <= l2 <= declared.l2_squared
    assert longest(relation, records, EachTime)[1] > 1.4 * declared.l2_squared, "counted each time it moves further"


def test_a_record_counts_once_for_an_answer_that_it_gave_everywhere():
    """One person's own word in all questions would pass the threshold if it counted in each."""
    assert counted([("never", "never", "never", "Bern")]) == {(0, "never"): WEIGHT}
    assert counted([("no", "maybe", "no", "Chur")]) == dict.fromkeys([(0, "no"), (0, "maybe"), (1, "Chur")], 577)
    assert counted([("yes", "yes", None, "Bern")]) == {}, "what was found in one of them is public in all"
    twice = counted([("no", None, "no", "Bern"), (None, "no", None, "Chur")])
    assert twice == {(0, "no"): WEIGHT + 707, (1, "Chur"): 707}


def test_which_records_come_first_decides_nothing():
    random = np.random.default_rng(3)
    records = [RECORDS[place] for place in random.integers(0, len(RECORDS), 200)]
    assert counted(records) == counted(records[::-1])


@pytest.mark.parametrize(
    "first, groups",
    [
        ({"F1": [], "F2": [], "town": []}, [("F1", "F2"), ("town",)]),
        ({"F1": ["a"], "F2": ["a", "b"], "F3": []}, [("F1", "F2", "F3")]),
        ({"F1": ["a"], "F2": ["a", "b"], "F3": ["Bern"]}, [("F1", "F2"), ("F3",)]),
        ({"F1": ["a"], "F2": ["b"], "F3": [], "F4": []}, [("F1", "F2", "F3", "F4")]),
        ({"F1": ["a"], "F2": ["b"], "F3": ["c"], "F4": []}, [("F1",), ("F2",), ("F3",), ("F4",)]),
        ({"F1": ["a"], "G1": ["a"]}, [("F1",), ("G1",)]),
    ],
)
def test_columns_are_alike_by_their_names_and_by_what_was_found_in_them(first, groups):
    assert sorted(columns_alike(first)) == groups


@pytest.mark.thorough
@pytest.mark.parametrize("people", [500, 1_500])
def test_eighty_questions_of_few_people_are_found_with_their_rare_answers(people):
    """Nearly all eighty columns had been left out, and their kinds hidden by noise, as each was looked at alone."""
    random, words = np.random.default_rng(7), ["nie", "selten", "manchmal", "oft", "immer"]
    shares = [0.02, 0.28, 0.35, 0.25, 0.1]
    table = {f"F{place:02}": random.choice(words, people, p=shares) for place in range(80)}
    found = discover(pd.DataFrame(table).astype("string"), PROMISE, noise_source=SeededSource(4))
    lists = [set(one.column.categories) for one in found.columns if one.column is not None]
    assert sum(one == {*words, "other"} for one in lists) >= 78
    assert all(one.other is None for one in found.columns if one.column is not None), "how many, nobody counted"


@pytest.mark.thorough
def test_questions_of_one_name_with_lists_of_their_own_are_not_given_all_words():
    random = np.random.default_rng(5)
    table = {f"q{place}": random.choice([f"{place} {word}" for word in "abc"], 2_000) for place in range(12)}
    found = discover(pd.DataFrame(table).astype("string"), PROMISE, noise_source=SeededSource(4))
    for one in found.columns:
        listed = set() if one.column is None else set(one.column.categories) - {"other"}
        assert all(word.startswith(one.name[1:] + " ") for word in listed)
