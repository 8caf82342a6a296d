"""Choices on held-out records: all outcomes of small ones, by closed form, for every pair of neighbours."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from core.errors import RequestError
from core.privacy.accounting import Alone, Cost, Gaussian
from core.privacy.attacks import audit
from core.privacy.budget import Neighbours
from core.privacy.choosing.held_out import choose, halvings_for, held_out, plan_choice
from core.privacy.composition import PureParts
from core.privacy.noise.randomness import SeededSource
from tests.depth import draws
from tests.privacy.choosing.test_selection import chance_of
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM

EPSILON = 1.5
COUNTS = np.arange(-40, 45)
PURE = Cost((PureParts(Fraction(1, 2), 3),), Decimal("1.5"))


def by_coins(records):
    """Every way to hold records out, and its probability: what `held_out` does."""
    for mask in product([False, True], repeat=len(records)):
        yield mask, np.prod([1 / 8 if held else 7 / 8 for held in mask])


def by_place(records):
    """Every second record: what one must not do."""
    yield tuple(place % 2 == 1 for place in range(len(records))), 1.0


def by_content(records):
    """The records that say 0: what one must not do either where they are replaced."""
    yield tuple(record == 0 for record in records), 1.0


def chances(records, sides, moved, one_way):
    """Of every outcome: a noisy count of the records that are not held out, and which of two rules was chosen.

    One rule says 1, the other what the noisy count says; so what is chosen from depends on what was made.
    """
    found = np.zeros((len(COUNTS), 2))
    for mask, weight in sides(records):
        made = sum(record for record, held in zip(records, mask, strict=True) if not held)
        laplace = np.exp(-EPSILON / moved * np.abs(COUNTS - made))
        out = [record for record, held in zip(records, mask, strict=True) if held]
        rate = EPSILON if one_way else EPSILON / 2
        for says in (0, 1):
            with_this = laplace * ((COUNTS >= 1) == says) * weight
            scores = [sum(record == 1 for record in out), sum(record == says for record in out)]
            found += with_this[:, None] * chance_of(scores, rate)
    return found / np.exp(-EPSILON / moved * np.abs(COUNTS)).sum()


def worst(sides, relation, size=3):
    one_way = relation is Neighbours.ADD_REMOVE
    losses = []
    for records in product([0, 1], repeat=size):
        if one_way:
            others = [(*records[:at], new, *records[at:]) for at in range(size + 1) for new in (0, 1)]
        else:
            others = [(*records[:at], 1 - records[at], *records[at + 1 :]) for at in range(size)]
        mine = chances(records, sides, 1, one_way)
        for other in others:
            theirs = chances(other, sides, 1, one_way)
            losses.append(np.abs(np.log(mine / theirs))[20:60].max())
    return max(losses)


@pytest.mark.thorough
@pytest.mark.parametrize("relation", list(Neighbours))
def test_making_and_choosing_together_cost_what_one_of_them_costs(relation):
    assert 0.5 * EPSILON < worst(by_coins, relation) <= EPSILON + 1e-9


def test_records_held_out_by_place_or_content_break_the_promise():
    assert worst(by_place, Neighbours.ADD_REMOVE) > EPSILON * 1.2
    assert worst(by_content, Neighbours.REPLACE_ONE, 4) > EPSILON * 1.2


def test_an_eighth_is_held_out_each_by_itself():
    out = held_out(80_000, SeededSource(3))
    assert out.dtype == bool
    assert stats.binomtest(int(out.sum()), 80_000, 1 / 8).pvalue > FALSE_ALARM
    assert stats.binomtest(int((out[1:] & out[:-1]).sum()), 79_999, 1 / 64).pvalue > FALSE_ALARM
    assert not held_out(0).any()


def test_of_many_records_fewer_are_held_out():
    assert [halvings_for(records) for records in (0, 100, 16_384, 16_385, 1e6)] == [3, 3, 3, 4, 9]
    out = held_out(80_000, SeededSource(3), halvings=6)
    assert stats.binomtest(int(out.sum()), 80_000, 1 / 64).pvalue > FALSE_ALARM


def test_all_records_of_a_person_are_on_one_side():
    persons = np.repeat(np.array(["b", "a", "c"] * 500), 2) + np.repeat(np.arange(1500), 2).astype(str).astype(object)
    out = held_out(len(persons), SeededSource(1), persons)
    assert np.array_equal(out[::2], out[1::2]) and 0 < out.sum() < len(out)


def test_a_choice_beside_pure_candidates_has_all_of_epsilon_and_is_one_part():
    plan = plan_choice(PURE, Neighbours.ADD_REMOVE)
    assert (plan.epsilon, plan.sensitivity, plan.one_way) == (Fraction(3, 2), 1, True)
    assert plan.cost.events == (PureParts(Fraction(3, 2)),)
    assert plan.cost.epsilon == PURE.epsilon and plan.cost.rho >= PURE.rho
    assert not plan_choice(PURE, Neighbours.REPLACE_ONE).one_way


@pytest.mark.parametrize("rho", [Fraction(1, 10_000), Fraction(28, 1000), Fraction(3)])
def test_a_choice_beside_gaussian_tables_tells_no_more_than_they_do(rho):
    """At every epsilon, the delta of randomised response is no larger than that of the noise."""
    events = (Gaussian(rho / 2, 1), Gaussian(rho / 2, None, 100))
    plan = plan_choice(Cost(events, Decimal(100), Decimal("0.001")), Neighbours.ADD_REMOVE)
    mu, chosen = math.sqrt(2 * rho), float(plan.epsilon)
    assert plan.cost.events == events
    for asked in np.linspace(0, 2 * chosen, 41):
        response = max(1 - math.exp(asked - chosen), 0.0) / (1 + math.exp(-chosen))
        gaussian = stats.norm.cdf(mu / 2 - asked / mu) - math.exp(asked) * stats.norm.cdf(-mu / 2 - asked / mu)
        assert response <= gaussian + 1e-12
    assert math.isclose(math.tanh(chosen / 2), 2 * stats.norm.cdf(mu / 2) - 1, rel_tol=1e-6)  # and no less than needed


def test_a_choice_beside_a_bare_promise_is_within_it():
    bare = Alone(Fraction(1), Fraction(1, 10**6))
    plan = plan_choice(Cost((bare,), 1, Decimal("0.000001")), Neighbours.ADD_REMOVE)
    assert plan.cost.events == (bare,) and plan.epsilon == 1


def test_a_promise_too_small_to_choose_by_is_refused():
    with pytest.raises(RequestError, match="too small"):
        plan_choice(Cost((Gaussian(Fraction(1, 10**21), 1),), 1, Decimal("0.000001")), Neighbours.ADD_REMOVE)


@pytest.mark.thorough
def test_an_attack_on_choices_finds_half_the_noise_and_no_broken_promise():
    plan, source = plan_choice(PURE, Neighbours.ADD_REMOVE), SeededSource(9)
    doubled = plan_choice(Cost((PureParts(Fraction(4)),), 4), Neighbours.ADD_REMOVE)
    scores = {0: np.array([0] * 8), 1: np.array([1] + [0] * 7)}  # one record more, which one candidate gets right

    for asked, keeps in draws(((doubled, False),), ((plan, True), (doubled, False))):
        report = audit(
            lambda side, asked=asked: np.array([choose(scores[side], asked, source) == 0], np.float64),
            0,
            1,
            1.5,
            exact=lambda side: np.array([float(side)]),
            runs=draws(1500, 6000),
            level=1 - 1e-8,
        )
        assert report.passed == keeps
