"""Lesson: bounds read off the data give the richest person away, and public ones do not."""

import math

import pytest

from core.experiments.lessons.bounds import GAMES, OTHERS, PUBLIC_BOUNDS, attack
from core.ui.frame.odds import best_guess


@pytest.mark.parametrize("epsilon", ["0.05", "1", "10"])
def test_bounds_from_the_data_tell_the_richest_pay_and_win_every_game(epsilon):
    found = attack(4_870_000, epsilon, from_data=True)
    assert found.bounds == ((min(OTHERS), 4_870_000), (min(OTHERS), max(OTHERS)))
    assert found.given_away and found.right == GAMES


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "1", "2"])
def test_with_public_bounds_the_best_guesser_keeps_to_the_promise(epsilon):
    """Wins beyond five standard deviations above the limit would happen once in 3 million."""
    found = attack(4_870_000, epsilon, from_data=False)
    limit = best_guess(float(epsilon))
    assert found.bounds == (PUBLIC_BOUNDS, PUBLIC_BOUNDS) and not found.given_away
    assert found.right < GAMES * limit + 5 * math.sqrt(GAMES * limit * (1 - limit))


def test_the_guesser_is_no_straw_man():
    """At ε = 5 the promise allows 99.3%, and a guesser who did no better than a coin would prove nothing."""
    assert attack(4_870_000, "5", from_data=False).right > 0.8 * GAMES


def test_beyond_public_bounds_nothing_moves():
    first, second = (attack(pay, "1", from_data=False) for pay in (300_000, 9_000_000))
    assert first.bounds == second.bounds and first.right == second.right
    assert (first.with_richest.counters == second.with_richest.counters).all()
