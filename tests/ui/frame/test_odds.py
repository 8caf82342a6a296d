"""ε in words: the numbers the sentence states, against the definition of privacy itself."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ui.frame.odds import best_guess, odds_sentence


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [(0.1, "52.5%"), (0.5, "62.2%"), (1, "73.1%"), (2, "88.1%"), (3, "95.3%"), (5, "99.3%"), (30, "more than 99.9%")],
)
def test_known_odds(epsilon, words):
    assert odds_sentence(epsilon) == f"A coin-flip (50%) guess about one person can rise to at most {words}."


def test_the_sentence_says_who_is_protected():
    assert "about one record can" in odds_sentence(1, protected="record")


@given(st.floats(0.001, 10), st.floats(0, 0.01), st.floats(0, 1))
def test_no_test_of_two_neighbours_beats_it_and_one_reaches_it(epsilon, delta, false_alarms):
    """(ε, δ) bounds every test's power by min(e^ε a + δ, 1 − e^−ε (1 − δ − a)) at false-alarm rate a."""
    power = min(math.exp(epsilon) * false_alarms + delta, 1 - math.exp(-epsilon) * (1 - delta - false_alarms))
    assert (1 - false_alarms + power) / 2 <= best_guess(epsilon, delta) + 1e-12
    corner = (1 - delta) / (1 + math.exp(epsilon))
    assert (1 - corner + math.exp(epsilon) * corner + delta) / 2 == pytest.approx(best_guess(epsilon, delta))
