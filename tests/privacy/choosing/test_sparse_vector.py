"""The sparse vector technique: exact probabilities on neighbours, and wrong variants that the same tests catch."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from core.errors import RequestError
from core.privacy.calibration import NoiseScale
from core.privacy.choosing import sparse_vector as module
from core.privacy.choosing.sparse_vector import SparseVector, question_share, scales
from core.privacy.noise.randomness import SeededSource
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, laplace_cdf

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


@pytest.mark.parametrize(("findings", "monotone"), [(1, False), (2, True)])
def test_what_is_said_has_the_law_of_the_mechanism(findings, monotone):
    """Chi-square of the words of 4000 runs against their exact probabilities."""
    values, limits, source = (3, 0, 6, 2), (4, 4, 4, 0), SeededSource(8)
    counts: dict[tuple, int] = {}
    for _ in range(4000):
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
    wanted = 4000 * np.array(list(expected.values()))
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
