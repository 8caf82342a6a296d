"""Choices against the closed form of the exponential mechanism, and what they cost."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import RequestError
from core.privacy.accounting import Cost
from core.privacy.attacks import audit
from core.privacy.calibration import NoiseScale
from core.privacy.choosing import selection as module
from core.privacy.choosing.selection import (
    DEEPEST,
    LARGEST_SCORE,
    SparseVector,
    below,
    noisy_max,
    question_share,
    scales,
    select,
    select_jointly,
)
from core.privacy.composition import PureParts, Selections, event_from_dict, keeps_promise
from core.privacy.noise.randomness import SeededSource
from tests.depth import deep, draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, laplace_cdf
from tests.privacy.noise.scripted import ScriptedStream

DRAWS = draws(500, 4000)


def closed_form(scores, sensitivity, epsilon) -> np.ndarray:
    weights = np.exp([float(Fraction(epsilon) * (s - max(scores)) / (2 * sensitivity)) for s in scores])
    return weights / weights.sum()


@pytest.mark.few(1)
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


@pytest.mark.thorough
@pytest.mark.parametrize("lists", [[[3, 0, 2], [1, 5, 1, 0]], [[0, -9], [7, 7, 1], [4]]])
def test_tuples_are_chosen_by_the_least_of_their_scores(lists):
    source, arrays = SeededSource(12), [np.array(one, dtype=np.int64) for one in lists]
    tuples = list(product(*(range(len(one)) for one in lists)))
    expected = closed_form([min(one[i] for one, i in zip(lists, at, strict=True)) for at in tuples], 1, 1) * DRAWS
    seen = Counter(select_jointly(arrays, 1, Fraction(1), source) for _ in range(DRAWS))
    assert stats.chisquare([seen[at] for at in tuples], expected).pvalue > FALSE_ALARM


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_the_worst_pair_of_neighbours_shows_the_promise_and_half_the_factor_breaks_it():
    """Scores that move by one in opposite directions, with many candidates: the loss is close to all of epsilon."""
    above, below = np.array([1] + [0] * 30), np.array([0] + [1] * 30)
    scores = {0: above.astype(np.int64), 1: below.astype(np.int64)}

    source = SeededSource(8)

    def mechanism(epsilon):
        return lambda side: np.array([select(scores[side], 1, epsilon, source) == 0], dtype=np.float64)

    for epsilon in draws((4,), (2, 4)):
        report = audit(
            mechanism(Fraction(epsilon)), 0, 1, 2, exact=lambda side: np.array([1.0 - side]), runs=draws(1500, 6000)
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


NOISY_MAX_DRAWS = draws(800, 20_000)


def chance_of(scores, rate) -> np.ndarray:
    """Probability of each candidate: over all sets of heads, the share of one of them."""
    odds = np.exp(-rate * (max(scores) - np.array(scores, np.float64)))
    chances = np.zeros(len(scores))
    for heads in product([False, True], repeat=len(scores)):
        if any(heads):
            chances[list(heads)] += np.prod(np.where(heads, odds, 1 - odds)) / sum(heads)
    return chances


@pytest.mark.thorough
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


@pytest.mark.thorough
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


REACH = 400


def pmf(scale: float) -> np.ndarray:
    """Of discrete Laplace noise at -REACH to REACH."""
    weights = np.exp(-np.abs(np.arange(-REACH, REACH + 1)) / scale)
    return weights / weights.sum()


def probability(words, values, thresholds, noises) -> float:
    """That exactly these words are said, summed over the threshold's noise."""
    raised = np.arange(-REACH, REACH + 1)
    total = pmf(float(noises[0].parameter))
    for word, value, threshold in zip(words, values, thresholds, strict=True):
        below = laplace_cdf(threshold + raised - value - 1, float(noises[1].parameter))
        total = total * (1 - below if word else below)
    return float(total.sum())


def outcomes(questions: int, findings: int):
    for words in itertools.product((False, True), repeat=questions):
        if sum(words) <= findings:
            yield words


NEIGHBOURS = [
    # Values of one and the other data set, and thresholds; each pair differs by 1 at most in every value.
    ((0, 0, 0, 0, 1), (1, 1, 1, 1, 0), (0, 0, 0, 0, 0)),
    ((5, 5, 5, 5, 5), (4, 6, 4, 6, 4), (5, 4, 6, 5, 5)),
    ((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (3, 3, 3, 3, 3)),
    ((1, 1, 0, 0, 0), (0, 0, 1, 1, 1), (1, 1, 1, 1, 1)),
]


def largest_loss(noises, findings, pairs=NEIGHBOURS) -> float:
    worst = 0.0
    for first, second, thresholds in pairs:
        for words in outcomes(len(first), findings):
            worst = max(worst, loss(words, first, second, thresholds, noises))
    return worst


def loss(words, first, second, thresholds, noises) -> float:
    one, other = (max(probability(words, values, thresholds, noises), 1e-300) for values in (first, second))
    return abs(math.log(one / other))


@pytest.mark.parametrize("findings", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_no_words_tell_neighbours_apart_by_more_than_epsilon(findings, epsilon):
    assert largest_loss(scales(1, epsilon, findings), findings) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("findings", [1, 2])
def test_monotone_questions_do_with_half_the_noise(findings):
    pairs = [((0,) * 5, moved, (limit,) * 5) for moved in ((1,) * 5, (1, 0, 1, 0, 0)) for limit in (-2, 0, 3)]
    noises = scales(1, Fraction(2), findings, monotone=True)
    assert largest_loss(noises, findings, pairs) <= 2
    # Those that are not, need all of it.
    assert largest_loss(noises, findings) > 2


def test_the_bound_is_nearly_reached():
    """Many questions that stay below and one above, all moved the worst way: no noise is wasted."""
    first, second = (0,) * 8 + (1,), (1,) * 8 + (0,)
    noises = scales(1, Fraction(1), 1)
    words = (False,) * 8 + (True,)
    best = 0.0
    for limit in range(-5, 40, 3):
        best = max(best, loss(words, first, second, (limit,) * 8 + (limit + 12,), noises))
    assert 0.7 < best <= 1


@pytest.mark.parametrize("wrong", ["no noise in questions", "noise for one finding", "threshold without noise"])
def test_wrong_variants_are_caught(wrong):
    threshold, question = scales(1, Fraction(1), 3)
    tiny = NoiseScale("discrete_laplace", Fraction(1, 100))
    noises = {
        "no noise in questions": (threshold, tiny),
        "noise for one finding": (threshold, NoiseScale("discrete_laplace", question.parameter / 3)),
        "threshold without noise": (tiny, question),
    }[wrong]
    attacks = [
        ((False, True), (0, 1), (1, 0), (0, 0)),
        ((False,) * 40, (0,) * 40, (1,) * 40, (-10,) * 40),
        ((False,) * 3 + (True,) * 3, (0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0), (3, 3, 3, 20, 20, 20)),
    ]
    assert all(loss(*attack, scales(1, Fraction(1), 3)) <= 1 for attack in attacks)
    assert max(loss(*attack, noises) for attack in attacks) > 1.001


@pytest.mark.thorough
@pytest.mark.parametrize(("findings", "monotone"), [(1, False), (2, True)])
def test_what_is_said_has_the_law_of_the_mechanism(findings, monotone):
    """Chi-square of the words of 4000 runs, or 1200, against their exact probabilities."""
    runs = draws(1200, 4000)
    values, limits, source = (3, 0, 6, 2), (4, 4, 4, 0), SeededSource(8)
    counts: dict[tuple, int] = {}
    for _ in range(runs):
        vector, words = SparseVector(1, Fraction(1), findings, monotone, source), []
        for value, limit in zip(values, limits, strict=True):
            if not vector.left:
                break
            words.append(vector.above(value, limit))
        counts[tuple(words)] = counts.get(tuple(words), 0) + 1
    noises = scales(1, Fraction(1), findings, monotone)
    expected = {}
    for words in outcomes(4, findings):
        ends = list(itertools.accumulate(words))
        stop = ends.index(findings) + 1 if findings in ends else 4
        if not any(words[stop:]):
            expected[words[:stop]] = probability(words[:stop], values[:stop], limits[:stop], noises)
    assert sum(expected.values()) == pytest.approx(1)
    observed = np.array([counts.get(words, 0) for words in expected])
    wanted = runs * np.array(list(expected.values()))
    few = wanted < 5
    observed = np.append(observed[~few], observed[few].sum())
    wanted = np.append(wanted[~few], wanted[few].sum() + 1e-9)
    assert stats.chi2.sf(((observed - wanted) ** 2 / wanted).sum(), len(wanted) - 1) > FALSE_ALARM


def test_no_question_is_answered_after_the_last_finding():
    vector = SparseVector(1, Fraction(100), 2)
    assert vector.above(1000, 0) and not vector.above(0, 1000) and vector.above(1000, 0)
    assert vector.left == 0
    with pytest.raises(RequestError):
        vector.above(1000, 0)


def test_noise_of_any_size_takes_part():
    """A draw beyond 64 bits is not cut: nothing compares wrongly however large it is."""
    vector = SparseVector(1, Fraction(1), 1, source=SeededSource(0))
    vector._ready = [1 << 80]
    vector._raised = (1 << 80) - 5
    assert vector.above(0, 5) and vector.left == 0


def test_the_share_of_the_questions_makes_the_comparison_least_noisy():
    for findings, monotone in ((1, False), (5, False), (5, True)):
        best = question_share(findings, monotone)
        factor = findings if monotone else 2 * findings
        variance = lambda share, factor=factor: (factor / share) ** 2 + (1 / (1 - share)) ** 2  # noqa: E731
        assert variance(best) <= min(variance(best * Fraction(99, 100)), variance((1 + 99 * best) / 100))


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ((0, Fraction(1), 1), TypeError),
        ((1.0, Fraction(1), 1), TypeError),
        ((1, Fraction(0), 1), TypeError),
        ((1, 0.5, 1), TypeError),
        ((1, Fraction(1), 0), TypeError),
        ((1 << 60, Fraction(1), 1), RequestError),
    ],
)
def test_what_cannot_be_is_refused(facts, problem):
    with pytest.raises(problem):
        SparseVector(*facts)


def test_each_comparison_has_noise_of_its_own(monkeypatch):
    drawn = []
    honest = module.laplace_sampler

    def watched(scale):
        drawn.append(scale)
        return honest(scale)

    monkeypatch.setattr(module, "laplace_sampler", watched)
    vector = SparseVector(1, Fraction(1), 1, source=SeededSource(1))
    for _ in range(2 * module.DRAWN_AT_ONCE):
        vector.above(-10_000, 0)
    threshold, question = scales(1, Fraction(1), 1)
    assert drawn == [threshold.parameter, question.parameter, question.parameter]
