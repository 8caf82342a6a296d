"""Lesson: averaging recovers a secret from fresh noise within the stated error, and gains nothing from a release.

Lesson: noise of the mean of R rows, with a risk δ and without.
"""

from fractions import Fraction

import numpy as np
import pytest

from core.experiments.noise_lessons import MOST, ROWS, ask, noise_of_rows


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1"])
def test_the_average_recovers_the_secret_within_the_stated_error(epsilon):
    """At 5,000 answers the average is all but normal; beyond six standard errors it is once in 5e8."""
    for draw in range(8):
        asked = ask(37, epsilon, MOST, draw)
        assert abs(asked.averages[-1] - 37) < 6 * asked.error
    assert ask(37, epsilon, MOST).error == pytest.approx(ask(37, epsilon, MOST // 4).error / 2)


def test_the_stated_error_is_the_real_one():
    """The spread of 400 averages of 100 answers: within a fifth of the stated one, seven of its standard errors."""
    last = [ask(37, "0.5", 100, draw).averages[-1] for draw in range(400)]
    assert np.std(last) == pytest.approx(ask(37, "0.5", 100).error, rel=0.2)


def test_from_the_stated_question_on_the_rounded_average_is_the_secret():
    asked = ask(37, "0.5", MOST)
    first = asked.found_from
    assert 1 < first < MOST
    assert (np.rint(asked.averages[first - 1 :]) == 37).all() and np.rint(asked.averages[first - 2]) != 37


def test_the_secret_that_is_not_found_is_not_claimed():
    asked = ask(37, "0.1", 1)
    assert asked.answers[0] != 37 and asked.found_from is None


def test_whoever_asks_more_often_gets_the_same_answers_and_more_and_pays_for_each():
    few, many = ask(37, "0.5", 10), ask(37, "0.5", 1000)
    assert (many.answers[:10] == few.answers).all() and many.released == few.released
    assert (few.spent, many.spent) == (Fraction(5), Fraction(500))


def test_without_delta_noise_grows_like_the_root_and_with_delta_not_at_all():
    found = noise_of_rows("1", "0.000001")
    assert found.pure == pytest.approx(np.sqrt(2 * np.array(ROWS)), rel=0.01)
    assert found.with_delta == pytest.approx(np.full(len(ROWS), 4.225), rel=0.01)
    assert found.gain(1000) == pytest.approx(10.6, rel=0.01)


def test_with_very_few_rows_delta_gains_nothing():
    found = noise_of_rows("1", "0.000001")
    assert found.gain(4) < 1 < found.gain(10) and found.pays_from == 10


def test_a_smaller_delta_costs_a_little():
    assert 1 < noise_of_rows("1", "0.000000001").with_delta[-1] / noise_of_rows("1", "0.000001").with_delta[-1] < 1.5
