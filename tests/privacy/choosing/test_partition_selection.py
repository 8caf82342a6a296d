"""Values that were on nobody's list: how far a person moves their counts, and how likely theirs alone are shown."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from core.domain import PrivacyUnit
from core.errors import RequestError
from core.privacy.budget import Neighbours
from core.privacy.choosing.partition_selection import WEIGHT, plan_values, shown_values, values_sensitivity, weights

RELATIONS = list(Neighbours)


def unit(records):
    return PrivacyUnit("id", records) if records > 1 else PrivacyUnit()


@cache
def tails(sigma2):
    """P(N >= t) of discrete Gaussian noise for t = 0, 1, …, by adding up its law."""
    reach = int(14 * float(sigma2) ** 0.5) + 2
    steps = np.arange(-reach, reach + 1)
    law = np.exp(-(steps**2) / (2.0 * float(sigma2)))
    return (law / law.sum())[::-1].cumsum()[::-1][reach:]


def partitions(records, largest=None):
    """All ways in which so many records may be parted into values."""
    if not records:
        yield ()
    for first in range(min(records, largest or records), 0, -1):
        for rest in partitions(records - first, first):
            yield (first, *rest)


def chance_of_showing(selection, records, threshold):
    """The largest chance that a value is shown which one person alone has, over all that the person may have."""
    tail, worst = tails(selection.noise.parameter), 0.0
    for rare in range(1, selection.columns + 1):
        mass = int(weights(rare)[rare]) if selection.weight > 1 else 1
        for parts in partitions(records):
            hidden = np.prod([1.0 - tail[min(threshold - k * mass + 1, len(tail) - 1)] for k in parts])
            worst = max(worst, 1.0 - hidden ** (rare if selection.weight > 1 else selection.columns))
    return worst


@pytest.mark.parametrize("again", [False, True], ids=["first look", "second look"])
@pytest.mark.parametrize("columns, records, failure", [(1, 1, "1e-6"), (4, 1, "1e-4"), (10, 3, "1e-6"), (3, 6, "1e-5")])
def test_what_one_person_alone_has_is_shown_with_no_more_than_delta_and_with_a_threshold_a_tenth_lower_it_is(
    columns, records, failure, again
):
    failure = Fraction(failure)
    selection = plan_values(columns, Fraction(1, 20), failure, RELATIONS[0], unit(records), again=again)
    assert 0 < chance_of_showing(selection, records, selection.threshold) <= failure
    assert chance_of_showing(selection, records, selection.threshold * 9 // 10) > failure


def table(records, again):
    """Counts of (column, value) of records, each a list of columns' values that are rare (None is frequent)."""
    counts = {}
    for record in records:
        rare = [(column, value) for column, value in enumerate(record) if value is not None]
        for cell in rare:
            counts[cell] = counts.get(cell, 0) + (int(weights(len(rare))[len(rare)]) if again else 1)
    return counts


@pytest.mark.parametrize("again", [False, True], ids=["first look", "second look"])
@pytest.mark.parametrize("relation", RELATIONS, ids=str)
@pytest.mark.parametrize("columns, records", [(1, 1), (7, 1), (4, 3)])
def test_no_person_moves_the_counts_further_than_declared_and_one_does_as_far(columns, records, relation, again):
    """A person all of whose records are alike, each of whose columns is rare or frequent, and another one instead."""
    declared = values_sensitivity(columns, relation, unit(records), again=again)
    reached = [0.0, 0.0]
    for rare in range(1, columns + 1) if again else [columns]:
        there = [["a"] * rare + [None] * (columns - rare)] * records
        instead = [["b"] * rare + [None] * (columns - rare)] * records if relation is Neighbours.REPLACE_ONE else []
        one, other = table(there, again), table(instead, again)
        moved = [one.get(cell, 0) - other.get(cell, 0) for cell in one.keys() | other.keys()]
        found = float(np.abs(moved).sum()), float(np.square(moved).sum())
        assert found[0] <= declared.l1 and found[1] <= declared.l2_squared
        reached = list(map(max, reached, found))
    assert reached[0] >= 0.999 * float(declared.l1) and reached[1] >= 0.997 * float(declared.l2_squared)
    assert int(weights(columns)[1]) == WEIGHT


@pytest.mark.thorough
def test_a_value_is_shown_as_often_as_its_count_with_noise_passes_the_threshold():
    """20,000 values of one count: off by 5.5 standard deviations once in 25 million times."""
    selection = plan_values(1, Fraction(1, 50), Fraction(1, 10**6))
    tail = tails(selection.noise.parameter)
    for count in (selection.threshold // 2, selection.threshold - 8, selection.threshold + 1):
        (shown,) = shown_values([{f"v{place}": count for place in range(20_000)}], selection)
        below = selection.threshold - count + 1
        share = tail[below] if below >= 0 else 1.0 - tail[1 - below]
        assert abs(len(shown) - 20_000 * share) <= 5.5 * np.sqrt(20_000 * share * (1 - share)) + 1
        assert all(noisy > selection.threshold for noisy in shown.values())
        assert list(shown.values()) == sorted(shown.values(), reverse=True)


def test_nothing_that_nobody_said_is_shown_under_a_pure_promise():
    with pytest.raises(RequestError, match="pure promise"):
        plan_values(2, Fraction(1, 20), Fraction(0))
