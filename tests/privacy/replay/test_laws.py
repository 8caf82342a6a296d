"""The exact laws of draws against slow references: probabilities written out."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from core.privacy.replay.laws import Comparisons, CounterNoise, NoisyLargest, WeighedChoice
from core.privacy.replay.losses import Loss, convolved_delta, delta_of, epsilon_of, gaussian_delta, gaussian_loss, keeps
from tests.depth import draws


def test_laplace_noise_loses_the_l1_distance_over_its_scale():
    law = CounterNoise("discrete_laplace", Fraction(3), (4,))
    lost = law.loss(np.array([1, 0, 5, -2]), np.array([0, 0, 7, -2]), None)
    assert lost.most == pytest.approx(1.0) and not lost.shifts


def test_vectors_lose_the_sum_of_their_lengths():
    law = CounterNoise("rounded_l2", Fraction(2), (2, 2), 2)
    assert law.loss(np.array([[3, 4], [0, 1]]), np.zeros((2, 2), np.int64), None).most == pytest.approx(3.0)


def test_differences_beyond_64_bits_do_not_wrap_round():
    law = CounterNoise("discrete_laplace", Fraction(1 << 60), (1,))
    least, most = np.array([-(1 << 63)]), np.array([(1 << 63) - 1])
    assert law.loss(most, least, None).most == pytest.approx((2**64 - 1) / 2**60)


@pytest.mark.parametrize("lists", [([3, 5, 0],), ([3, 5, 0], [1, 9]), ([2, 2], [2, 2], [0, 7])])
def test_a_weighed_choice_loses_no_more_than_its_probabilities_written_out(lists):
    rng = np.random.default_rng(len(lists))
    scores = [np.array(one, np.int64) for one in lists]
    others = [one + rng.integers(-1, 2, len(one)) for one in scores]
    law = WeighedChoice(Fraction(2, 3), tuple(len(one) for one in scores))

    def chances(given):
        weights = [math.exp(2 / 3 * min(tuple_)) for tuple_ in itertools.product(*[one.tolist() for one in given])]
        return np.array(weights) / sum(weights)

    exact = float(np.max(np.abs(np.log(chances(scores)) - np.log(chances(others)))))
    found = law.loss(scores, others, None).most
    assert found == pytest.approx(exact) if len(lists) == 1 else exact - 1e-12 <= found <= 4 / 3 + 1e-12


def test_a_noisy_maximum_has_the_probabilities_of_all_sets_of_heads():
    scores, rate = np.array([4, 3, 1, 0], np.int64), Fraction(1, 2)
    heads = np.exp(-0.5 * (4 - scores))
    exact = np.zeros(4)
    for shown in itertools.product([False, True], repeat=4):
        chance = np.prod(np.where(shown, heads, 1 - heads))
        if any(shown):
            exact[np.array(shown)] += chance / sum(shown)
    np.testing.assert_allclose(np.exp(NoisyLargest(rate, 4)._logs(scores)), exact, rtol=1e-9)


def test_words_of_the_sparse_vector_have_their_probability_written_out():
    law = Comparisons(Fraction(2), Fraction(3))

    def laplace(scale, reach=400):
        values = np.arange(-reach, reach + 1)
        weights = np.exp(-np.abs(values) / scale)
        return values, weights / weights.sum()

    raised, chances = laplace(2.0)
    noise, weights = laplace(3.0)

    def exact(asked, said):
        total = chances.copy()
        for (value, limit), word in zip(asked, said, strict=True):
            above = np.array([weights[value + noise >= limit + z].sum() for z in raised])
            total = total * (above if word else 1 - above)
        return total.sum()

    asked, other, said = [(3, 5), (9, 5), (2, 5)], [(4, 5), (8, 5), (2, 5)], [False, True, False]
    wanted = abs(math.log(exact(asked, said) / exact(other, said)))
    assert law.loss(asked, other, said).most == pytest.approx(wanted, rel=1e-6)


def test_a_threshold_that_depends_on_the_data_loses_everything():
    assert Comparisons(Fraction(2), Fraction(3)).loss([(1, 2)], [(1, 3)], [True]).most == math.inf


def test_pure_losses_add_up_and_a_delta_forgives_none_of_what_is_within():
    assert keeps([Loss(0.25), Loss(0.75)], 1.0, 0.0) and not keeps([Loss(0.25), Loss(0.7501)], 1.0, 0.0)
    assert epsilon_of([Loss(0.25), Loss(0.75)], 0.0) == 1.0


def test_gaussian_losses_follow_the_curve_of_their_shift():
    losses = [gaussian_loss(np.array([3, 0, -4]), 25.0)]
    assert delta_of(losses, 0.5) == pytest.approx(gaussian_delta(0.5, 1.0), rel=1e-6)
    assert keeps(losses, 5.0, gaussian_delta(5.0, 1.0)) and not keeps(losses, 5.0, 0.9 * gaussian_delta(5.0, 1.0))


def test_small_gaussian_noise_has_its_own_distribution_and_not_the_continuous_one():
    """Discrete noise of σ² = 1/4 on one counter: δ by summing up both probability vectors."""
    values = np.arange(-40, 41)
    weights = np.exp(-(values.astype(float) ** 2) / 0.5)
    weights /= weights.sum()
    moved = np.append(0.0, weights[:-1])
    exact = float(np.maximum(weights - math.exp(3.0) * moved, 0).sum())
    assert convolved_delta([gaussian_loss(np.array([1]), 0.25)], 3.0) == pytest.approx(exact, rel=0.02)


@pytest.mark.thorough
def test_choices_among_few_compose_by_their_own_distributions():
    """Twenty choices of which each tells little: far less than the sum of their largest losses."""
    first = np.log(np.array([0.6, 0.4]))
    one = Loss(abs(math.log(0.6 / 0.4)), logs=(first, first[::-1]))
    assert epsilon_of([one] * 20, 1e-3) < 0.85 * 20 * one.most


def test_samples_hide_more_than_all_records():
    whole = [gaussian_loss(np.array([1]), 4.0)] * 8
    sampled = [gaussian_loss(np.array([1]), 4.0, sampled=0.125)] * 8
    assert keeps(sampled, 2.0, 1e-5) and not keeps(whole, 4.0, 1e-5)


@pytest.mark.thorough
def test_the_bound_by_renyi_divergences_is_no_less_than_what_convolution_gives():
    choice = np.log(np.array([0.55, 0.3, 0.15]))
    other = np.log(np.array([0.45, 0.35, 0.2]))
    losses = [Loss(float(np.max(np.abs(choice - other))), logs=(choice, other))] * 6 + [Loss(0.05)] * 4
    losses.append(gaussian_loss(np.array([2, -1]), 40.0))
    for epsilon in draws((1.0,), (0.5, 1.0)):
        assert convolved_delta(losses, epsilon) <= delta_of(losses, epsilon) * 1.001


def test_many_narrow_counters_beside_pure_noise_are_not_rounded_beyond_what_was_paid():
    """Of 280 counters each was rounded up by a 6,000th of ε: 41.4 was said to be kept where 40 was paid and kept."""
    drawn = [Loss(most=0.4), Loss(most=0.792), Loss(shifts=((1, 280),), sigma2=9.89136)]
    assert gaussian_delta(38.808, math.sqrt(drawn[-1].square)) < 1e-6  # so 40 is kept by adding up
    assert convolved_delta(drawn, 40.0) < 1e-6 and keeps(drawn, 40, 1e-6)
    assert not keeps([*drawn[:-1], Loss(shifts=((1, 300),), sigma2=9.89136)], 40, 1e-6)  # of δ = 3e-6
