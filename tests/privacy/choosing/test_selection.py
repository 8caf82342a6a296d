"""Choices against the closed form of the exponential mechanism, and what they cost."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.privacy.accounting import Cost, keeps_promise
from core.privacy.attacks import audit
from core.privacy.choosing.selection import DEEPEST, LARGEST_SCORE, below, noisy_max, select, select_jointly
from core.privacy.events import PureParts, Selections, event_from_dict
from core.privacy.noise.randomness import SeededSource
from tests.depth import deep, draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM
from tests.privacy.noise.scripted import ScriptedStream

DRAWS = draws(2000, 4000)


def closed_form(scores, sensitivity, epsilon) -> np.ndarray:
    weights = np.exp([float(Fraction(epsilon) * (s - max(scores)) / (2 * sensitivity)) for s in scores])
    return weights / weights.sum()


@pytest.mark.parametrize(
    ("scores", "sensitivity", "epsilon"),
    [
        deep([3, 3, 3], 1, Fraction(1)),
        ([5, 4, 3, 2, 1, 0], 1, Fraction(1, 2)),
        ([0, 1, 5, 9, 9, 2, -7, 0], 2, Fraction(7, 3)),
        deep([100, 0, 40, 97], 3, Fraction(1)),
        ([10] + [0] * 500 + [3] * 40, 1, Fraction(3, 2)),
        ([-(LARGEST_SCORE - 1), LARGEST_SCORE - 1, LARGEST_SCORE - 3], 1, Fraction(1)),
        ([0, 1000], 1000, Fraction(2, 10**6)),
    ],
)
def test_frequencies_are_those_of_the_closed_form(scores, sensitivity, epsilon):
    source, array = SeededSource(11), np.array(scores, dtype=np.int64)
    chosen = np.bincount([select(array, sensitivity, epsilon, source) for _ in range(DRAWS)], minlength=len(scores))
    expected = closed_form(scores, sensitivity, epsilon) * DRAWS
    assert not chosen[expected < 1e-9].any()
    rare = expected < 20
    pairs = [(chosen[~rare], expected[~rare]), ([chosen[rare].sum()], [expected[rare].sum()])]
    observed, wanted = (np.concatenate(part) for part in zip(*pairs, strict=True))
    observed, wanted = observed[wanted > 1e-9], wanted[wanted > 1e-9]
    statistic = ((observed - wanted) ** 2 / wanted).sum()
    assert len(wanted) == 1 or stats.chi2.sf(statistic, len(wanted) - 1) > FALSE_ALARM


@pytest.mark.parametrize("lists", [[[3, 0, 2], [1, 5, 1, 0]], [[0, -9], [7, 7, 1], [4]]])
def test_tuples_are_chosen_by_the_least_of_their_scores(lists):
    source, arrays = SeededSource(12), [np.array(one, dtype=np.int64) for one in lists]
    tuples = list(product(*(range(len(one)) for one in lists)))
    expected = closed_form([min(one[i] for one, i in zip(lists, at, strict=True)) for at in tuples], 1, 1) * DRAWS
    seen = Counter(select_jointly(arrays, 1, Fraction(1), source) for _ in range(DRAWS))
    assert stats.chisquare([seen[at] for at in tuples], expected).pvalue > FALSE_ALARM


def test_what_one_list_cannot_have_is_asked_of_no_other():
    """The best of one list is far below that of the other, whose places above it are all alike then."""
    source, lists = SeededSource(2), [np.array([-40, -1000]), np.array([0, -20, -40, -1000])]
    found = np.array([select_jointly(lists, 1, Fraction(4), source) for _ in range(DRAWS)])
    assert not found[:, 0].any()
    assert stats.chisquare(np.bincount(found[:, 1], minlength=4)[:3]).pvalue > FALSE_ALARM


def test_equal_candidates_are_equally_likely_wherever_they_stand():
    scores, source = np.array([0, 50, 0, 50, 0, 50, 50], dtype=np.int64), SeededSource(2)
    chosen = np.bincount([select(scores, 1, Fraction(2), source) for _ in range(DRAWS)], minlength=7)
    assert chosen[::2][:3].sum() == 0
    assert stats.chisquare(chosen[[1, 3, 5, 6]]).pvalue > FALSE_ALARM


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30), st.integers(1, 50), st.integers(0, 2**32))
def test_some_candidate_is_always_chosen(scores, sensitivity, seed):
    place = select(np.array(scores), sensitivity, Fraction(1, 3), SeededSource(seed))
    assert type(place) is int and 0 <= place < len(scores)


def test_a_hundred_thousand_hopeless_candidates_take_a_few_proposals():
    """With naive rejection the best would be proposed once in 100,000 times."""

    class Counting(SeededSource):
        asked = 0

        def stream(self):
            inner, outer = super().stream(), self

            class Stream:
                def words(self, count):
                    outer.asked += 1
                    return inner.words(count)

            return Stream()

    source = Counting(5)
    scores = -np.arange(100_000, dtype=np.int64) * 3
    assert select(scores, 1, Fraction(100), source) == 0
    assert source.asked < 100


def test_whole_numbersbelow_a_bound_are_words_that_are_small_enough():
    stream = ScriptedStream(single=[3 << 62, (2 << 62) + 5, 1 << 62], bulk=[1, 1 << 63])
    assert [below(3, stream), below(3, stream)] == [2, 1]  # the first word is too large
    assert below(1 << 65, stream) == 3 and not stream.bulk
    assert below(1, stream) == 0


def test_farbelow_the_deepest_level_nothing_is_chosen():
    scores = np.array([0] + [-10 * DEEPEST] * 1000, dtype=np.int64)
    assert {select(scores, 1, Fraction(1), SeededSource(seed)) for seed in range(50)} == {0}


def test_the_worst_pair_of_neighbours_shows_the_promise_and_half_the_factor_breaks_it():
    """Scores that move by one in opposite directions, with many candidates: the loss is close to all of epsilon."""
    above, below = np.array([1] + [0] * 30), np.array([0] + [1] * 30)
    scores = {0: above.astype(np.int64), 1: below.astype(np.int64)}

    source = SeededSource(8)

    def mechanism(epsilon):
        return lambda side: np.array([select(scores[side], 1, epsilon, source) == 0], dtype=np.float64)

    for epsilon in (2, 4):
        report = audit(
            mechanism(Fraction(epsilon)), 0, 1, 2, exact=lambda side: np.array([1.0 - side]), runs=draws(2500, 6000)
        )
        assert report.passed == (epsilon == 2)


@pytest.mark.parametrize(
    "arguments",
    [
        (np.array([0.5, 1.0]), 1, Fraction(1)),
        (np.array([], dtype=np.int64), 1, Fraction(1)),
        (np.array([[1, 2]]), 1, Fraction(1)),
        (np.array([LARGEST_SCORE]), 1, Fraction(1)),
        (np.array([-LARGEST_SCORE]), 1, Fraction(1)),
        (np.array([1, 2]), 0, Fraction(1)),
        (np.array([1, 2]), True, Fraction(1)),
        (np.array([1, 2]), 1, Fraction(0)),
        (np.array([1, 2]), 1, 0.5),
    ],
)
def test_what_could_not_be_exact_is_refused(arguments):
    with pytest.raises((TypeError, ValueError)):
        select(*arguments)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6), st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=6))
def test_choices_of_neighbours_are_as_close_as_zcdp_says(scores, moves):
    """Rényi divergences of the closed form, at several orders, never above alpha epsilon²/8."""
    epsilon = 3.0
    p, q = closed_form(scores, 1, 3), closed_form([s + m for s, m in zip(scores, moves, strict=False)], 1, 3)
    for alpha in (1.01, 1.5, 2.0, 5.0, 30.0):
        divergence = math.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1)
        assert divergence <= alpha * epsilon**2 / 8 + 1e-12


def test_a_choice_is_a_pure_event_of_a_smaller_rho():
    event = Selections(Fraction(1, 2), 3)
    assert isinstance(event, PureParts) and event.rho == Fraction(3, 32)
    assert event_from_dict(event.to_dict()) == event != PureParts(Fraction(1, 2), 3)
    assert keeps_promise([event], 1.5, 0) and not keeps_promise([event], 1.4, 0)
    assert Cost.from_dict(Cost((event,), 2, "1e-6").to_dict()).events == (event,)


NOISY_MAX_DRAWS = draws(2000, 20_000)


def chance_of(scores, rate) -> np.ndarray:
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
def test_frequencies_are_those_of_the_closed_form_of_noisy_max(scores, sensitivity, epsilon, one_way):
    source = SeededSource(4)
    found = [noisy_max(np.array(scores), sensitivity, epsilon, source, one_way=one_way) for _ in range(NOISY_MAX_DRAWS)]
    rate = float(epsilon) / sensitivity / (1 if one_way else 2)
    expected = chance_of(scores, rate) * NOISY_MAX_DRAWS
    assert stats.chisquare(np.bincount(found, minlength=len(scores)), expected).pvalue > FALSE_ALARM


def test_it_is_the_largest_score_with_exponential_noise():
    scores, rate = np.array([9, 8, 5, 3]), 0.4
    noisy = scores + np.random.default_rng(1).exponential(1 / rate, (200_000, 4))
    observed = np.bincount(noisy.argmax(axis=1), minlength=4)
    assert stats.chisquare(observed, chance_of(scores, rate) * 200_000).pvalue > FALSE_ALARM


def worst_loss(rate, moves) -> float:
    """Over all scores from 0 to 4 of three candidates and all that one person may do to them."""
    losses = [0.0]
    for scores in product(range(5), repeat=3):
        mine = chance_of(scores, rate)
        for move in moves:
            losses.append(np.abs(np.log(mine / chance_of(np.add(scores, move), rate))).max())
    return max(losses)


def test_no_choice_tells_neighbours_apart_by_more_than_epsilon():
    either_way = list(product([-1, 0, 1], repeat=3))
    upwards = list(product([0, 1], repeat=3))
    assert 0.9 < worst_loss(0.5, either_way) <= 1 + 1e-9
    assert 0.9 < worst_loss(1.0, upwards) <= 1 + 1e-9
    assert worst_loss(1.0, either_way) > 1.2  # the rate of one way is wrong for scores that move either way


@pytest.mark.parametrize("scores", [[0.5, 1.0], np.array([], np.int64)])
def test_what_could_not_be_exact_is_refused_of_noisy_max(scores):
    with pytest.raises(TypeError):
        noisy_max(np.array(scores), 1, Fraction(1))
