"""Quantiles of columns against the closed form: what one person moves, what is promised, and how near they come."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy import stats

from core.errors import RequestError
from core.privacy.budget import Budget, PrivacyUnit
from core.privacy.choosing import column_quantiles
from core.privacy.choosing.column_quantiles import (
    CELLS,
    MOST_CELLS,
    Places,
    plan_quantiles,
    release_quantiles,
    scores_between,
)
from core.privacy.noise.randomness import SeededSource
from tests.depth import deep, draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM

SEVERAL = ("0.1", "0.25", "0.5", "0.9")


@pytest.fixture
def tiny(monkeypatch):
    """Four values, each of two parts: nine candidates, so that all outcomes can be listed."""
    monkeypatch.setattr(column_quantiles, "MOST_PARTS", 2)
    return Places(0, 3, 1)


def chances(places, counts, plan):
    """Probability of every outcome, by candidates in the order of the quantiles: the closed form."""
    before = places.before(np.array(counts))
    known = {(): 1.0}
    for choice in plan.choices:
        known = {
            (*chosen, (choice.place, candidate)): chance * further
            for chosen, chance in known.items()
            for candidate, further in _one_choice(places, before, plan, choice, dict(chosen))
        }
    return {tuple(candidate for _, candidate in sorted(chosen)): chance for chosen, chance in known.items()}


def _one_choice(places, before, plan, choice, chosen):
    low, high = chosen.get(choice.below, 0), chosen.get(choice.above, len(before) - 1)
    rate = float(plan.price) / (2 * places.parts * plan.sensitivity(choice))
    weights = np.exp(rate * scores_between(before, low, high, choice.share))
    return enumerate(weights / weights.sum(), low)


def data_sets(size):
    """Counts of all data sets of so many records."""
    found = combinations_with_replacement(range(4), size)
    return [np.bincount(np.array(one, dtype=int), minlength=4) for one in found]


def neighbours_of(counts, relation):
    for cell, other in product(range(4), repeat=2):
        moved = counts.copy()
        moved[cell] += 1
        if relation == "replace_one":
            if not counts[other]:
                continue
            moved[other] -= 1
        yield moved


@pytest.mark.few(3)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("quantiles", [("0.5",), deep(("0.9",)), ("0.25", "0.75"), SEVERAL])
def test_no_outcome_tells_neighbours_apart_by_more_than_epsilon(tiny, relation, quantiles):
    plan = plan_quantiles(1, quantiles, Budget(3, 0, relation))
    losses = []
    known = cache(lambda *counts: chances(tiny, counts, plan))
    for counts in data_sets(5 if len(quantiles) < 3 else 3):
        mine = known(*counts)
        assert math.isclose(sum(mine.values()), 1)
        for moved in neighbours_of(counts, relation):
            other = known(*moved)
            losses.append(max(abs(math.log(mine[outcome] / other[outcome])) for outcome in mine))
    assert max(losses) <= 3 + 1e-9
    assert max(losses) > 0.5


@pytest.mark.few(1)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_some_neighbours_are_told_apart_by_nearly_epsilon(relation):
    """Where most candidates gain by what one person does, and one of the others loses: the promise is no idle one."""
    places, plan = Places(0, 100, 1), plan_quantiles(1, ["0.5"], Budget(3, 0, relation))
    counts = np.zeros(places.cells, dtype=np.int64)
    counts[[0, 2, 100]] = (1, 5, 4) if relation == "replace_one" else (1, 4, 4)
    moved = counts.copy()
    moved[100] += 1
    if relation == "replace_one":
        moved[0] -= 1
    one, other = chances(places, counts, plan), chances(places, moved, plan)
    worst = max(abs(math.log(one[outcome] / other[outcome])) for outcome in one)
    assert 2.8 < worst <= 3 + 1e-9


@pytest.mark.few(2)
@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_choices_of_a_level_share_what_one_person_moves(tiny, relation, records):
    """Wherever the choices before were made, and with all of a person's records in the worst cells."""
    plan = plan_quantiles(1, SEVERAL, Budget(1, 0, relation), PrivacyUnit("who", records))
    chooser = np.random.default_rng(4)
    reached = {}
    for _ in range(draws(600, 3000)):
        counts = chooser.integers(0, 6, 4)
        moved = counts.copy()
        moved[chooser.integers(4)] += records
        if relation == "replace_one":
            counts = counts.copy()
            counts[chooser.integers(4)] += records
        first, second = tiny.before(counts), tiny.before(moved)
        cuts = dict(enumerate(np.sort(chooser.integers(0, len(first), len(SEVERAL)))))
        used = dict.fromkeys(range(plan.levels), Fraction(0))
        for choice in plan.choices:
            low, high = cuts.get(choice.below, 0), cuts.get(choice.above, len(first) - 1)
            one, other = (scores_between(before, low, high, choice.share) for before in (first, second))
            shift = int(np.abs(one - other).max())
            used[choice.level] += Fraction(shift, tiny.parts * plan.sensitivity(choice))
        for level, share in used.items():
            reached[level] = max(reached.get(level, 0), share)
    assert max(reached.values()) == 1
    assert all(share <= 1 for share in reached.values())


@pytest.mark.thorough
@pytest.mark.parametrize("quantiles", [("0.5",), ("0.3", "0.8")])
def test_frequencies_are_those_of_the_closed_form(tiny, quantiles):
    plan, counts, runs = plan_quantiles(1, quantiles, Budget(2)), np.array([2, 0, 3, 1]), draws(700, 4000)
    expected: dict[tuple[float, ...], float] = {}
    for outcome, chance in chances(tiny, counts, plan).items():
        values = tuple(tiny.value(candidate) for candidate in outcome)
        expected[values] = expected.get(values, 0) + chance * runs
    source, seen = SeededSource(8), dict.fromkeys(expected, 0)
    for _ in range(runs):
        seen[release_quantiles([tiny], [counts], plan, spend=lambda cost: None, noise_source=source)[0]] += 1
    common = [values for values in expected if expected[values] > 10]
    observed, wanted = [seen[one] for one in common], [expected[one] for one in common]
    observed, wanted = [*observed, runs - sum(observed)], [*wanted, runs - sum(wanted)]
    assert len(common) >= 4
    statistic = sum((o - w) ** 2 / max(w, 1) for o, w in zip(observed, wanted, strict=True))
    assert stats.chi2.sf(statistic, len(common)) > FALSE_ALARM


def test_nothing_is_chosen_before_it_is_paid_for():
    class Untouched:
        private = True

        def stream(self):
            raise AssertionError("A choice was begun before the ledger agreed.")

    def refuse(cost):
        raise RequestError("No.")

    places = Places(0, 1)
    with pytest.raises(RequestError, match="No"):
        release_quantiles(
            [places],
            [np.zeros(CELLS, dtype=np.int64)],
            plan_quantiles(1, ["0.5"], Budget(1)),
            spend=refuse,
            noise_source=Untouched(),
        )


def test_levels_and_not_quantiles_share_the_price_and_delta_never_makes_it_dearer():
    deciles = [f"0.{digit}" for digit in range(1, 10)]
    plan = plan_quantiles(8, deciles, Budget(1))
    assert plan.levels == 4 and plan.price == Fraction(1, 32)
    assert sorted(choice.place for choice in plan.choices) == list(range(9))
    assert plan.cost.pure_epsilon == 1
    for columns in (1, 8, 64):
        slack = plan_quantiles(columns, ["0.5"], Budget(1, "1e-6"))
        assert slack.price >= plan_quantiles(columns, ["0.5"], Budget(1)).price
    assert slack.price > Fraction(2, 64)
    assert slack.cost.delta > 0


@pytest.mark.deep
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_ranks_keep_within_what_is_said(relation):
    values = np.sort(np.random.default_rng(2).normal(50, 10, 3000))
    places, plan = Places(0, 100), plan_quantiles(1, ["0.1", "0.5", "0.6"], Budget(1, 0, relation))
    counts, source = places.count(values), SeededSource(3)
    choices = sorted(plan.choices, key=lambda choice: choice.place)
    allowed = np.array([plan.rank_error(choice, places.cells * places.parts + 1) for choice in choices])
    ranks = np.array(
        [
            np.searchsorted(values, release_quantiles([places], [counts], plan, spend=paid, noise_source=source)[0])
            for _ in range(20)
        ]
    )
    errors = np.abs(ranks - np.array([300, 1500, 1800]))
    assert (errors <= allowed + 1).mean() >= 0.95
    assert (errors.max(axis=0) > allowed / 20).all()  # no more than a public bound, and not far from what happens


def paid(cost):
    return len(cost.events)


@pytest.mark.thorough
def test_a_value_that_many_share_is_found_whatever_lies_beside_it():
    places = Places(0, 1000, 1)
    counts = np.zeros(places.cells, dtype=np.int64)
    counts[[100, 900]] = 60, 40
    plan = plan_quantiles(1, ["0.25", "0.5", "0.75"], Budget(20))
    for seed in range(8):
        found = release_quantiles([places], [counts], plan, spend=paid, noise_source=SeededSource(seed))
        assert found == ((100.0, 100.0, 900.0),)


def test_cells_and_values_of_columns():
    whole = Places(-2, 2, 0.5)
    assert whole.cells == 9
    assert whole.count(np.array([-2, -1.5, -1.4, 2])).tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 1]
    assert [whole.value(cell * whole.parts) for cell in range(9)] == [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2]
    assert whole.value(9 * whole.parts) == 2
    assert Places(0, 0.7, 0.1).value(3 * Places(0, 0.7, 0.1).parts) == 0.3
    any_number = Places(10, 20)
    assert any_number.count(np.array([10.0, 15, 20])).sum() == 3
    assert any_number.value(0) == 10 and any_number.value(any_number.cells * any_number.parts) == 20


@pytest.mark.parametrize("ends", [(0, 1e9), (10, 20), (-30, -10), (-5, 20), (-1e300, 1e3), (1900, 2100), (0, 1e-300)])
def test_cells_of_any_bounds_rise_from_end_to_end_and_every_number_lies_in_one(ends):
    places = Places(*ends)
    assert len(places.edges) == CELLS + 1 and places.edges[0] == ends[0] and places.edges[-1] == ends[1]
    assert (np.diff(places.edges) >= 0).all()
    random = np.random.default_rng(1)
    numbers = np.append(random.uniform(*ends, 400), ends)
    counts = places.count(numbers)
    assert counts.sum() == len(numbers) and counts[-1] >= 1 and counts[0] >= 1
    for number in numbers[:20]:
        low, high = places.cell_around(float(number))
        assert low <= number <= high and high - low <= 1.01 * (ends[1] - ends[0]) / (CELLS // 2)
    candidates = [places.value(one) for one in range(0, places.cells * places.parts + 1, 999)]
    assert (np.diff(candidates) >= 0).all() and places.value(places.cells * places.parts) == ends[1]


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        ((1, 1), "below the high"),
        ((-1e308, 1e308), "finite distance"),
        ((0, 1, 0), "step"),
        ((0, 1, 2), "2 to"),
        ((0, MOST_CELLS, 1), "2 to"),
        ((0, 1, math.nan), "step"),
    ],
)
def test_places_that_make_no_sense(places, sentence):
    with pytest.raises(RequestError, match=sentence):
        Places(*places)


@pytest.mark.parametrize("quantiles", [[], ["0"], ["1"], ["0.5", "0.50"], ["0.00001"], ["x"], [-0.5]])
def test_quantiles_that_make_no_sense(quantiles):
    with pytest.raises(RequestError):
        plan_quantiles(1, quantiles, Budget(1))


def both_chances(places, counts, plan):
    """Of every pair of candidates of two columns, where the first level is one choice: the closed form."""
    rate = 2 * float(plan.price) / (2 * places.parts * plan.sensitivity(plan.choices[0]))
    first, second = (scores_between(places.before(one), 0, 4 * places.parts, Fraction(1, 2)) for one in counts)
    weights = np.exp(rate * np.minimum.outer(first, second))
    return weights / weights.sum()


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_medians_of_two_columns_at_once_tell_nobody_apart_by_more_than_epsilon(tiny, relation):
    """Every record that may come, or take the place of another, in every data set of a few."""
    plan, losses = plan_quantiles(2, ["0.5"], Budget(3, 0, relation)), []
    assert plan.jointly and plan.cost.pure_epsilon == 3 and [event.count for event in plan.cost.events] == [1]
    values = list(product(range(4), repeat=2))
    for records in ([(0, 3), (1, 1)], [(0, 0), (3, 3), (3, 0)], [(2, 1)] * 3, [(0, 0)] * 2 + [(3, 3)] * 2):
        mine = both_chances(tiny, _counts(records), plan)
        kept = records if relation == "add_remove" else records[1:]
        for other in values:
            theirs = both_chances(tiny, _counts([*kept, other]), plan)
            losses.append(np.abs(np.log(mine / theirs)).max())
    assert 1.5 < max(losses) <= 3 + 1e-9


def _counts(records):
    return [np.bincount([record[column] for record in records], minlength=4) for column in (0, 1)]


@pytest.mark.thorough
def test_medians_of_two_columns_have_the_frequencies_of_the_closed_form(tiny, monkeypatch):
    plan, runs = plan_quantiles(2, ["0.5"], Budget(2)), draws(500, 4000)
    counts = [np.array([2, 0, 3, 1]), np.array([0, 4, 1, 1])]
    monkeypatch.setattr(Places, "value", lambda self, candidate: float(candidate))
    source, seen = SeededSource(8), np.zeros((9, 9))
    for _ in range(runs):
        (one,), (other,) = release_quantiles([tiny, tiny], counts, plan, spend=paid, noise_source=source)
        seen[int(one), int(other)] += 1
    expected = both_chances(tiny, counts, plan) * runs
    common = expected > 8
    observed, wanted = [*seen[common], seen[~common].sum()], [*expected[common], expected[~common].sum()]
    assert common.sum() > 10 and stats.chisquare(observed, wanted).pvalue > FALSE_ALARM


def test_medians_of_many_columns_are_chosen_at_once_where_that_is_less_noise():
    assert not plan_quantiles(1, ["0.5"], Budget(1)).jointly
    assert plan_quantiles(8, ["0.5"], Budget(1)).jointly
    assert not plan_quantiles(64, ["0.5"], Budget(1, "1e-6")).jointly  # ρ adds up, for which they are better apart
    quartiles = plan_quantiles(8, ["0.25", "0.5", "0.75"], Budget(1))
    assert quartiles.jointly and quartiles.cost.pure_epsilon == 1
    assert [(event.epsilon, event.count) for event in quartiles.cost.events] == [
        (Fraction(1, 2), 1),
        (Fraction(1, 16), 8),
    ]


@pytest.mark.thorough
def test_columns_chosen_at_once_keep_their_medians_whatever_values_people_share():
    """One column has half of its records at one value, which is no reason to err in the other."""
    random = np.random.default_rng(5)
    spiky = Places(0, 100)
    smooth = random.uniform(0, 100, 5000)
    counts = [spiky.count(np.where(random.random(5000) < 0.5, 40, smooth)), spiky.count(smooth)]
    plan = plan_quantiles(2, ["0.5"], Budget(4))
    for seed in range(draws(3, 8)):
        (one,), (other,) = release_quantiles([spiky] * 2, counts, plan, spend=paid, noise_source=SeededSource(seed))
        assert abs(one - 40) < 0.1 and abs(other - np.median(smooth)) < 0.5
