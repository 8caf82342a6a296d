"""Permute-and-flip against its closed form, and against neighbours that are as bad as there are."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from core.privacy.noise.randomness import SeededSource
from core.privacy.noisy_max import noisy_max
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM

DRAWS = draws(2000, 20_000)


def closed_form(scores, rate) -> np.ndarray:
    """Probability of each candidate: over all sets of heads, the share of one of them."""
    odds = np.exp(-rate * (max(scores) - np.array(scores, np.float64)))
    chances = np.zeros(len(scores))
    for heads in product([False, True], repeat=len(scores)):
        if any(heads):
            chances[list(heads)] += np.prod(np.where(heads, odds, 1 - odds)) / sum(heads)
    return chances


@pytest.mark.parametrize(
    ("scores", "sensitivity", "epsilon", "one_way"),
    [([5, 4, 4, 0], 1, Fraction(1), False), ([5, 4, 4, 0], 1, Fraction(1), True), ([7, 7, 1], 3, Fraction(2), True)],
)
def test_frequencies_are_those_of_the_closed_form(scores, sensitivity, epsilon, one_way):
    source = SeededSource(4)
    found = [noisy_max(np.array(scores), sensitivity, epsilon, source, one_way=one_way) for _ in range(DRAWS)]
    rate = float(epsilon) / sensitivity / (1 if one_way else 2)
    expected = closed_form(scores, rate) * DRAWS
    assert stats.chisquare(np.bincount(found, minlength=len(scores)), expected).pvalue > FALSE_ALARM


def test_it_is_the_largest_score_with_exponential_noise():
    scores, rate = np.array([9, 8, 5, 3]), 0.4
    noisy = scores + np.random.default_rng(1).exponential(1 / rate, (200_000, 4))
    observed = np.bincount(noisy.argmax(axis=1), minlength=4)
    assert stats.chisquare(observed, closed_form(scores, rate) * 200_000).pvalue > FALSE_ALARM


def worst_loss(rate, moves) -> float:
    """Over all scores from 0 to 4 of three candidates and all that one person may do to them."""
    losses = [0.0]
    for scores in product(range(5), repeat=3):
        mine = closed_form(scores, rate)
        for move in moves:
            losses.append(np.abs(np.log(mine / closed_form(np.add(scores, move), rate))).max())
    return max(losses)


def test_no_choice_tells_neighbours_apart_by_more_than_epsilon():
    either_way = list(product([-1, 0, 1], repeat=3))
    upwards = list(product([0, 1], repeat=3))
    assert 0.9 < worst_loss(0.5, either_way) <= 1 + 1e-9
    assert 0.9 < worst_loss(1.0, upwards) <= 1 + 1e-9
    assert worst_loss(1.0, either_way) > 1.2  # the rate of one way is wrong for scores that move either way


@pytest.mark.parametrize("scores", [[0.5, 1.0], np.array([], np.int64)])
def test_what_could_not_be_exact_is_refused(scores):
    with pytest.raises(TypeError):
        noisy_max(np.array(scores), 1, Fraction(1))
