"""Costs keep their promises, the tight sum is tight, and the deciding rule survives the worst adaptive owner."""

import itertools
import json
import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from core.privacy import composition
from core.privacy.accounting import (
    RARE,
    REFERENCE,
    Alone,
    Cost,
    Gaussian,
    PureParts,
    Reserve,
    _filter,
    added_up,
    admits,
    admits_each,
    epsilon_spent,
    first_entry,
    given_back,
    largest_pure_admitted,
    rounded_up,
    spent,
)
from core.privacy.budget import Budget, Sensitivity
from core.privacy.calibration import NoiseScale, calibrate, calibrate_gaussian, largest_rho, zcdp_epsilon
from core.privacy.composition import Failure, event_of, keeps_promise
from core.privacy.integer_shifts import continuous_noises, gaussian_tables_delta
from tests.depth import deep

MILLIONTH = Decimal("0.000001")


def one_hot(n):
    return Sensitivity(n, n, n, unit_shifts=True)


def pure(epsilon, parts=1):
    return Cost((PureParts(Fraction(epsilon) / parts, parts),), Decimal(epsilon))


def gaussian(epsilon, delta=MILLIONTH, n=1000):
    scale = calibrate_gaussian(one_hot(n), Fraction(epsilon), Fraction(delta))
    return Cost.of([(one_hot(n), scale)], Decimal(epsilon), delta)


def pure_delta(epsilon, parts):
    """Exact delta of pure mechanisms of these epsilons: all outcomes of as many randomised responses."""
    delta = 0.0
    for signs in itertools.product((1, -1), repeat=len(parts)):
        loss = sum(sign * part for sign, part in zip(signs, parts, strict=True))
        probability = math.prod(1 / (1 + math.exp(-sign * part)) for sign, part in zip(signs, parts, strict=True))
        delta += probability * max(0.0, 1 - math.exp(epsilon - loss))
    return delta


# What one release costs


def test_events_of_tables():
    n = 1000
    laplace = calibrate(one_hot(n), Fraction(1))
    assert Cost.of([(one_hot(n), laplace)], Decimal(1)).events == (PureParts(Fraction(1, n), n),)
    blocks = Sensitivity(2000, 4000, parts=1000)
    assert Cost.of([(blocks, calibrate(blocks, Fraction(1)))], Decimal(1)).events == (PureParts(Fraction(1, n), n),)
    replaced = one_hot(2 * n)
    assert Cost.of([(replaced, calibrate(replaced, Fraction(1)))], Decimal(1)).rho == Fraction(1, 4 * n)
    vectors = Sensitivity(80, 400, block=20, blocks_l2=20)
    assert Cost.of([(vectors, calibrate(vectors, Fraction(1)))], Decimal(1)).events == (PureParts(Fraction(1)),)
    plain = Sensitivity(5, 25)
    by_conversion = calibrate_gaussian(plain, Fraction(1), Fraction(MILLIONTH))
    assert Cost.of([(plain, by_conversion)], 1, MILLIONTH).events[0].l2_squared is None


@pytest.mark.few(9)
@pytest.mark.parametrize("epsilon", ["0.000000000001", deep("0.01"), "1", deep("17.3"), "100"])
@pytest.mark.parametrize("delta", ["0", "1e-30", deep("0.000001"), "0.009"])
@pytest.mark.parametrize(
    "sensitivity",
    [
        one_hot(1),
        deep(one_hot(1000)),
        deep(one_hot(7).scaled(3)),
        Sensitivity(12, 40, parts=4),
        Sensitivity(80, 400, block=20, blocks_l2=20).scaled(2),
    ],
)
def test_calibrated_noise_keeps_its_promise(epsilon, delta, sensitivity):
    smallest = calibrate(sensitivity, Fraction(epsilon), Fraction(delta))
    cost = Cost.of([(sensitivity, smallest)], Decimal(epsilon), Decimal(delta))
    assert spent([cost], Decimal(delta)) <= float(epsilon)
    scale = calibrate_gaussian(sensitivity, Fraction(epsilon), Fraction(delta))
    cost = Cost.of([(sensitivity, scale)], Decimal(epsilon), Decimal(delta))
    assert spent([cost], Decimal(delta)) <= float(epsilon)
    less = replace(scale, parameter=scale.parameter * Fraction(99, 100))
    if not (sensitivity == one_hot(1) and epsilon == "100" and delta == "0.009"):
        with pytest.raises(ValueError, match="do not add up"):
            Cost.of([(sensitivity, less)], Decimal(epsilon), Decimal(delta))


def test_noise_for_vectors_of_which_nothing_is_known_costs_nobody_knows_what():
    scale = NoiseScale("rounded_l2", Fraction(10), 20)
    for sensitivity in (Sensitivity(80, 400), Sensitivity(80, 400, block=10, blocks_l2=20)):
        with pytest.raises(ValueError, match="says nothing of blocks of 20"):
            event_of(sensitivity, scale)


def test_a_promise_may_rest_on_tight_composition():
    events = (PureParts(Fraction(1, 100), 1000), Gaussian(Fraction(1, 100), 1000))
    tight = epsilon_spent(events, 1e-6)
    assert keeps_promise(events, Decimal(math.ceil(tight * 1000)) / 1000, MILLIONTH)
    assert not keeps_promise(events, Decimal(math.floor(tight * 1000)) / 1000, MILLIONTH)


@pytest.mark.parametrize(
    "events, epsilon, delta",
    [
        ((), 1, 0),
        ((PureParts(Fraction(1, 3), 4),), 1, 0),
        ((Gaussian(Fraction(1, 10**9)),), 1, 0),
        ((PureParts(Fraction(1)),), 0, 0),
        ((PureParts(Fraction(1)),), 1, Decimal("0.5")),
    ],
)
def test_costs_that_are_no_promise(events, epsilon, delta):
    with pytest.raises(ValueError, match=r"\.$"):
        Cost(events, Decimal(epsilon), delta)


@pytest.mark.parametrize(
    "make", [lambda: PureParts(0), lambda: PureParts(1, 0), lambda: Gaussian(0), lambda: Gaussian(1, 0)]
)
def test_events_that_cannot_be(make):
    with pytest.raises(ValueError, match=r"\.$"):
        make()


@given(
    st.lists(
        st.builds(PureParts, st.fractions(Fraction(1, 10**9), Fraction(1, 100)), st.integers(1, 50))
        | st.builds(Gaussian, st.fractions(Fraction(1, 10**9), Fraction(1, 10**4)), st.none() | st.integers(1, 10**6)),
        min_size=1,
        max_size=4,
    )
)
def test_records_are_exact(events):
    cost = Cost(tuple(events), Decimal(99), Decimal("0.009"))
    assert Cost.from_dict(json.loads(json.dumps(cost.to_dict()))) == cost


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "0.5"},
        {"epsilon": "-1"},
        {"delta": 1e-6},
        {"events": []},
        {"events": [{"kind": "magic"}]},
        {"events": [{"kind": "pure_parts", "epsilon": "0.5", "count": 1}]},
        {"events": [{"kind": "pure_parts", "epsilon": "1", "count": True}]},
        {"events": [{"kind": "gaussian", "rho": "1", "l2_squared": "1"}]},
        {"events": [{"kind": "gaussian"}]},
        {"events": [3]},
        {"events": None},
    ],
)
def test_records_of_no_cost(change):
    record = pure("1").to_dict() | change
    with pytest.raises((ValueError, TypeError, KeyError)):
        Cost.from_dict(record)


# What releases cost together


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
@pytest.mark.parametrize("epsilon", ["0.005", "0.3", "1", "7.3", "40"])
def test_one_pure_release_is_composed_without_the_library_that_takes_a_second_to_load(epsilon, delta, monkeypatch):
    """The page of the first release waited for it. Neighbours of randomised response keep the delta, and just so."""
    by_losses = composition._randomised_response_losses(float(epsilon), 1, float(epsilon) / 5000)
    monkeypatch.setattr(composition, "_randomised_response_losses", None)
    found = epsilon_spent(pure(epsilon).events, delta)
    with localcontext(prec=60):
        odds, ratio = Decimal(epsilon).exp(), Decimal(found).exp()
        worst = (odds - ratio) / (1 + odds)  # of the answer that is likelier under the one than under the other
    assert worst <= Decimal(delta) and (found == 0 or worst >= Decimal(delta) * (1 - Decimal("1e-4")))
    assert found == pytest.approx(max(0.0, by_losses.get_epsilon_for_delta(delta)), abs=float(epsilon) / 5000 + 1e-9)


def test_no_delta_is_the_plain_sum():
    assert epsilon_spent([], 0) == epsilon_spent([], 1e-6) == 0
    assert epsilon_spent([PureParts(Fraction(1, 10)), PureParts(Fraction(1, 5))], 0) == 0.3
    assert epsilon_spent([PureParts(Fraction(1)), Gaussian(Fraction(1, 10**6))], 0) == math.inf


@pytest.mark.parametrize("parts, expected", [(1, 1.0), (100, 0.392), (1000, 0.116)])
def test_known_values(parts, expected):
    assert epsilon_spent(pure("1", parts).events, 1e-6) == pytest.approx(expected, abs=5e-4)


@pytest.mark.few(8)
@pytest.mark.parametrize("epsilon, parts", [("1", 10), ("1", 1000), ("0.01", 7), ("30", 3), ("100", 1), ("2", 10**5)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9, 1e-13])
def test_equal_parts_against_the_binomial_form(epsilon, parts, delta):
    one = float(epsilon) / parts
    j = np.arange(parts + 1)
    loss, law = one * (2 * j - parts), binom.pmf(j, parts, 1 / (1 + math.exp(-one)))

    def exact(limit):
        over = loss > limit
        return float(law[over] @ -np.expm1(limit - loss[over]))

    found = epsilon_spent(pure(epsilon, parts).events, delta)
    assert exact(found * (1 + 1e-9)) <= delta
    if delta > 1e-10:
        assert exact(found * 0.998) > delta


@given(st.lists(st.integers(1, 300), min_size=1, max_size=8))
def test_unequal_parts_against_all_outcomes(hundredths):
    parts = [value / 100 for value in hundredths]
    found = epsilon_spent([PureParts(Fraction(value, 100)) for value in hundredths], 1e-3)
    assert pure_delta(found, parts) <= 1e-3 * (1 + 1e-9)
    assert found < 0.01 or pure_delta(found * 0.998, parts) > 1e-3


@pytest.mark.thorough
@pytest.mark.parametrize("releases", [deep(1), 4, deep(30)])
@pytest.mark.parametrize("n, sigma2", [(10, 400), (1000, 17848)])
def test_gaussian_releases_against_the_discrete_accountant(releases, n, sigma2):
    event = Gaussian(Fraction(n, 2 * sigma2), n)
    reference = pld.from_discrete_gaussian_mechanism(math.sqrt(n * sigma2), n, value_discretization_interval=1e-4)
    exact = reference.self_compose(releases).get_epsilon_for_delta(1e-6)
    assert exact * 0.995 <= epsilon_spent([event] * releases, 1e-6) <= exact * 1.005 + releases / sigma2


def test_mixed_events_against_the_accountant():
    n, sigma2 = 1000, 17848
    events = [Gaussian(Fraction(n, 2 * sigma2), n), *[PureParts(Fraction(1, 50), 50)] * 2]
    grid = 1e-4
    response = pld.from_privacy_parameters(pld.common.DifferentialPrivacyParameters(0.02, 0), grid)
    reference = pld.from_discrete_gaussian_mechanism(math.sqrt(n * sigma2), n, value_discretization_interval=grid)
    exact = reference.compose(response.self_compose(100)).get_epsilon_for_delta(1e-6)
    assert epsilon_spent(events, 1e-6) == pytest.approx(exact, rel=0.01)


def test_events_that_claim_zcdp_alone_get_its_conversion():
    events = [Gaussian(Fraction(1, 100)), PureParts(Fraction(1, 10), 10)]
    assert epsilon_spent(events, 1e-6) == zcdp_epsilon(0.06, 1e-6)


def test_the_sum_of_promises_counts_where_it_is_less():
    cost = gaussian("1")
    assert spent([cost], MILLIONTH) <= 1.0
    assert spent([cost, cost], 2 * MILLIONTH) < 2.0
    both = [gaussian("1", n=1), Cost((PureParts(Fraction(1, 10**5)),), Decimal("0.00001"))]
    assert spent(both, MILLIONTH) < 1.000011 < epsilon_spent([event for cost in both for event in cost.events], 1e-6)


@pytest.mark.parametrize("n, releases", [(1, 1), (50, 1), (50, 7)])
def test_tables_alone_are_summed_without_a_grid_and_without_loading_what_has_one(n, releases):
    """To load the accountant took a second and a half of every release, to compose what one formula says."""
    events = list(gaussian("1", n=n).events) * releases
    tables = [event.table for event in events]
    epsilon = epsilon_spent(events, 1e-6)
    assert gaussian_tables_delta(epsilon, tables) <= 1e-6 < gaussian_tables_delta(epsilon * (1 - 1e-6), tables)


# The rule that decides


@given(st.lists(st.decimals("0.001", "0.2", places=3), min_size=1, max_size=12))
def test_pure_totals_are_exact_to_the_last_cent(epsilons):
    costs = [pure(epsilon) for epsilon in epsilons]
    total = sum(epsilons)
    assert admits(costs[:-1], costs[-1], total, Decimal(0))
    assert not admits(costs[:-1], costs[-1], total - Decimal("0.000000000001"), Decimal(0))
    assert largest_pure_admitted(costs, total + 1, Decimal(0)) == 1


def test_a_tenth_and_two_tenths_are_three_tenths():
    assert admits([pure("0.1")], pure("0.2"), Decimal("0.3"), Decimal(0))
    third = Cost((PureParts(Fraction(1, 3), 3),), Decimal(1))
    assert admits([third] * 2, third, Decimal(3), Decimal(0))


def test_a_pure_total_admits_no_gaussian_noise():
    assert not admits([], gaussian("1"), Decimal(100), Decimal(0))
    assert largest_pure_admitted([gaussian("1")], Decimal(100), Decimal(0)) == 0


def test_the_first_release_may_be_calibrated_tightly_and_is_then_the_last():
    tight = gaussian("1")
    assert tight.rho > largest_rho(1.0, 1e-6)
    assert admits([], tight, Decimal(1), MILLIONTH)
    assert not admits([], tight, Decimal("0.99"), MILLIONTH)
    assert not admits([], tight, Decimal(1), MILLIONTH / 2)
    for tiny in (pure("0.000001"), gaussian("0.0001")):
        assert not admits([tight], tiny, Decimal(1), MILLIONTH)


def test_rho_adds_up_to_its_largest():
    step = pure("1", 1000)  # rho = 1/2000
    fitting = int(largest_rho(1.0, 1e-6) * 2000)
    assert fitting == 48
    assert admits([step] * (fitting - 1), step, Decimal(1), MILLIONTH)
    assert not admits([step] * fitting, step, Decimal(1), MILLIONTH)
    assert spent([step] * fitting, MILLIONTH) < 1


@given(st.lists(st.sampled_from(["0.05", "0.2", "0.5"]), max_size=6), st.sampled_from([Decimal(0), MILLIONTH]))
def test_what_is_left_is_admitted_and_nothing_more(epsilons, delta):
    costs, total = [pure(epsilon, 3) for epsilon in epsilons], Decimal(1)
    left = largest_pure_admitted(costs, total, delta)
    assert left == 0 or admits(costs, pure(left), total, delta)
    assert not admits(costs, pure(left + Decimal("0.000002")), total, delta)


def worst_adaptive_delta(rule, epsilon, delta, steps):
    """Return the largest E[(1 - exp(epsilon - loss))+] of any owner who picks the next pure release by the loss so far.

    Losses and epsilons are whole tenths; the state of the game is how often each kind was used and the loss.
    """
    costs = {step: pure(Decimal(step) / 10) for step in steps}

    @cache
    def allowed(used, step):
        previous = [costs[s] for s, times in zip(steps, used, strict=True) for _ in range(times)]
        return rule(previous, costs[step], epsilon, delta)

    @cache
    def value(used, loss):
        best = max(0.0, 1 - math.exp(float(epsilon) - loss / 10))
        for index, step in enumerate(steps):
            if allowed(used, step):
                after = (*used[:index], used[index] + 1, *used[index + 1 :])
                up = 1 / (1 + math.exp(-step / 10))
                best = max(best, up * value(after, loss + step) + (1 - up) * value(after, loss - step))
        return best

    return value((0,) * len(steps), 0)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon, delta", [("1", "0.009"), deep("0.5", "0.009"), deep("2", "0.001")])
def test_no_adaptive_owner_passes_the_total_but_one_would_pass_the_shown_figure(epsilon, delta):
    epsilon, delta = Decimal(epsilon), Decimal(delta)

    def shown_figure_decides(previous, new, epsilon, delta):
        return spent([*previous, new], delta) <= epsilon

    worst = worst_adaptive_delta(admits, epsilon, delta, (1, 2, 5))
    assert 0.1 * float(delta) < worst <= float(delta)
    assert worst_adaptive_delta(shown_figure_decides, epsilon, delta, (1, 2, 5)) > delta


@pytest.mark.parametrize("epsilon, least", [("0.1234001", "0.1235"), ("12.3401", "12.35"), ("0.1", "0.1")])
def test_a_price_is_rounded_up_and_never_down(epsilon, least):
    assert rounded_up(Decimal(epsilon)) == Decimal(least)


def failing_release(failure, delta=MILLIONTH):
    """A small release with Gaussian noise that may fail."""
    return Cost((Gaussian(Fraction(1, 10**4)), Failure(Fraction(failure))), Decimal("0.5"), delta)


@pytest.mark.parametrize(
    "first, room", [(gaussian("0.1"), "1e-14"), (failing_release("1e-7"), "0.9e-14"), (pure("0.1"), "1e-14")]
)
def test_later_releases_that_fail_more_often_than_a_hundred_millionth_of_what_is_left_of_delta(first, room):
    """Whoever asks for them in view of outputs could otherwise add up probabilities that nobody settled beforehand."""
    most, barely = Decimal(room), Decimal("1e-24")
    half, more = failing_release(most / 2), failing_release(most / 2 + barely)
    assert admits([first], failing_release(most), Decimal(1), MILLIONTH)
    assert not admits([first], failing_release(most + barely), Decimal(1), MILLIONTH)
    assert admits([first, half], half, Decimal(1), MILLIONTH)
    assert not admits([first, half], more, Decimal(1), MILLIONTH)
    assert admits([first, half, half], gaussian("0.01"), Decimal(1), MILLIONTH)  # which cannot fail
    assert not admits([first], failing_release(most), Decimal(1), Decimal(0))


def test_a_first_release_that_may_fail_with_all_of_delta_and_another_after_it():
    """It is admitted by its own promise, and nothing is left for noise that only a delta bounds."""
    tiny, whole = Fraction(1, 10**9), failing_release(MILLIONTH - Decimal("1e-12"))
    first = Cost((PureParts(Fraction(1, 10)), Failure(Fraction(MILLIONTH))), Decimal("0.1"), MILLIONTH)
    assert admits([], first, Decimal(1), MILLIONTH)
    assert not admits([first], Cost((Gaussian(tiny),), Decimal("0.1"), MILLIONTH), Decimal(1), MILLIONTH)
    assert not admits([first], pure("0.1"), Decimal(1), MILLIONTH)
    assert admits([], whole, Decimal(1), MILLIONTH)


@pytest.mark.parametrize("epsilon, delta", [("0.1", "1e-9"), ("1", "1e-6"), ("8", "1e-5"), ("1", "0.01")])
def test_rules_of_zcdp_leave_room_for_what_may_fail_later(epsilon, delta):
    """In exact numbers: noise of the largest ρ and the rarest failures together are within delta."""
    order, cost = _filter(Decimal(epsilon), Decimal(delta))
    with localcontext() as context:
        context.prec = 50
        a, rho = (Decimal(x.numerator) / x.denominator for x in (order, cost / order))
        bound = ((a - 1) * (a * rho - Decimal(epsilon)) + a * (1 - 1 / a).ln() - (a - 1).ln()).exp()
        assert bound <= Decimal(delta) * (1 - Decimal(RARE.numerator) / RARE.denominator)


def test_pure_and_gaussian_events_add_up_by_basic_composition_and_no_further():
    """For a table of which nothing but its zCDP is known, as ledgers of earlier versions have them."""
    events = (PureParts(Fraction(1, 10)), Gaussian(Fraction(largest_rho(0.9, float(MILLIONTH)))))
    assert keeps_promise(events, Decimal(1), MILLIONTH)
    assert not keeps_promise(events, Decimal("0.97"), MILLIONTH)
    assert not keeps_promise(events, Decimal(1), MILLIONTH / 2)


def test_of_a_lone_promise_nothing_is_known_beyond_it():
    """It composes by basic composition alone, where it comes first; and after anything else nothing admits it."""
    lone = Cost((Alone(Fraction(1), Fraction(1, 10**6)),), Decimal(1), Decimal("1e-6"))
    assert Cost.from_dict(lone.to_dict()) == lone
    with pytest.raises(ValueError, match="do not add up"):
        Cost((Alone(Fraction(1), Fraction(1, 10**6)),), Decimal("0.9"), Decimal("1e-6"))
    both = (*lone.events, PureParts(Fraction(1, 2)))
    assert keeps_promise(both, Decimal("1.5"), Decimal("1e-6"))
    assert not keeps_promise(both, Decimal("1.4"), Decimal("1e-6"))
    assert epsilon_spent(both, 1e-6) == 1.5 and epsilon_spent(both, 1e-7) == math.inf
    assert admits([], lone, Decimal(1), Decimal("1e-6"))
    small = Cost((PureParts(Fraction(1, 100)),), Decimal("0.01"))
    assert not admits([small], lone, Decimal(10**9), Decimal("0.1"))
    assert not admits([small, lone], small, Decimal(10**9), Decimal("0.1"))


def test_promises_add_up_where_the_first_entry_settled_it_and_to_the_last_cent():
    """No path may go by two rules: what adds up never profits from zCDP, and what does never from adding up."""
    first, one = Cost((PureParts(Fraction(1, 100)),), Decimal("0.01")), Sensitivity(1, 1)
    rest, more = (
        Cost.of([(one, calibrate_gaussian(one, Fraction(left), Fraction(MILLIONTH)))], left, MILLIONTH)
        for left in (Decimal("0.99"), Decimal("0.9901"))
    )
    settled, total = added_up(first), (Decimal(1), MILLIONTH)
    assert settled.epsilon == first.epsilon and settled.delta == 0 and Cost.from_dict(settled.to_dict()) == settled
    assert not admits([], settled, Decimal(1), Decimal(0))  # nor where the total has no slack to add up
    assert admits_each([], [settled, rest], *total) and not admits_each([], [first, rest], *total)
    assert largest_pure_admitted([settled, rest], *total) == 0
    assert largest_pure_admitted([settled], *total) == Decimal("0.99")
    for costs in ([settled, rest, first], [settled, more], [first, settled]):
        assert not admits_each([], costs, *total)
    many = [Cost((PureParts(Fraction(1, 1000)),), Decimal("0.001"))] * 1100  # little by zCDP, too much added up
    assert not admits([settled, *many], first, *total) and admits(many, first, *total)


def test_beside_a_first_entry_that_adds_up_neither_its_delta_nor_its_epsilon_is_forgotten():
    """The deltas of later ones add up as well, and pure ones after it are no sum of their own."""
    settled, total = added_up(pure("0.5")), (Decimal(1), MILLIONTH)
    assert settled.events == (Alone(Fraction(1, 2), Fraction(0)),)
    assert admits([settled], gaussian("0.01"), *total)
    assert not admits([settled, gaussian("0.01")], gaussian("0.01", Decimal("1e-12")), *total)
    assert not admits([added_up(gaussian("0.5"))], gaussian("0.01", Decimal("1e-12")), *total)
    assert admits([settled], pure("0.5"), *total) and not admits([settled], pure("0.50001"), *total)
    assert largest_pure_admitted([settled, pure("0.3")], *total) == Decimal("0.2")


def test_a_price_is_added_up_only_where_it_has_no_room_as_it_is():
    first, rest = pure("0.5"), gaussian("0.4")
    assert first_entry(lambda *costs: True, first, rest) is first
    assert first_entry(lambda *costs: costs == (added_up(first), rest), first, rest) == added_up(first)
    assert first_entry(lambda *costs: False, first, rest) is None


def test_promises_are_no_figure_of_what_is_spent_where_their_deltas_pass_that_of_the_total():
    """Of two lone mechanisms of half an epsilon 1 was said to be spent at the delta of one."""
    half, delta = added_up(Cost((PureParts(Fraction(1, 2)),), Decimal("0.5"), Decimal("0.001"))), Decimal("0.001")
    assert spent([half, half], 2 * delta) == 1 and spent([half, half], delta) == math.inf


@pytest.mark.parametrize("delta", ["0.000001", "0.001"])
def test_what_was_given_back_is_spent_by_another_rule_so_that_two_deltas_add_up(delta):
    """A whole total that was paid first leaves room for Gaussian noise alone, and as much of it as was not drawn."""
    reserve, more = (Reserve(Budget(1, delta), Fraction(share)) for share in ("0.1", "0.25"))
    whole = Cost((*reserve.first_cost.events, reserve.rest), Decimal(1), Decimal(delta))
    total = Decimal(1), Decimal(delta)
    less = given_back([], whole, more.first_cost, *total)
    assert less.events[:-1] == more.first_cost.events and Cost.from_dict(json.loads(json.dumps(less.to_dict()))) == less
    table, small = one_hot(5), pure("0.01")
    noise = calibrate_gaussian(table, Fraction(1, 2), Fraction(delta))
    half = Cost.of([(table, noise)], Decimal("0.5"), Decimal(delta))
    risky = replace(half, events=(*half.events, Failure(Fraction(1, 10**20))), epsilon=Decimal(1))
    assert admits([less], half, *total) and admits([less, half], half, *total)
    assert not any(admits([less, half, half], one, *total) for one in (half, small))
    assert not any(admits([less], one, *total) for one in (small, risky, whole))
    assert spent([less], total[1]) == spent([more.first_cost], total[1])
    assert largest_pure_admitted([less], *total) == 0
    twice = Decimal(2), total[1]  # where rule (ii) had admitted the whole
    assert given_back([], whole, more.first_cost, *twice) == more.first_cost
    assert given_back([added_up(small)], whole, more.first_cost, *twice) is None


def test_what_may_fail_without_being_drawn_is_not_given_back_as_it_settled_what_later_releases_may_cost():
    """What is left of δ for noise is settled by what may fail of the first entry, before any output exists."""
    reserve, total = Reserve(Budget(1, "0.001"), Fraction("0.1")), (Decimal(2), Decimal("0.001"))
    events = (*reserve.first_cost.events, Gaussian(Fraction("0.001")), Failure(Fraction(1, 10**5)))
    whole = Cost(events, Decimal(1), Decimal("0.001"))
    assert admits([], whole, *total) and given_back([], whole, reserve.first_cost, *total) is None
    surely = replace(whole, events=events[:-1])
    assert given_back([], surely, reserve.first_cost, *total) == reserve.first_cost


def test_what_was_drawn_with_noise_of_few_units_leaves_no_stretch_of_one_motion_to_be_given_back():
    """Such noise is no better than continuous one of a larger μ than its ρ says: with the rest it was more."""
    short, rest = Gaussian(Fraction(1, 2), moved=1), Gaussian(Fraction(5), moved=REFERENCE)
    total = Decimal(16), Decimal("0.001")
    whole, first = Cost((short, rest), *total), Cost((short,), Decimal(8), total[1])
    assert continuous_noises([short.table])[0].mu ** 2 > 1.8 * 2 * short.rho
    assert admits([], whole, *total) and given_back([], whole, first, *total) is None
    long = replace(short, moved=REFERENCE)
    assert given_back([], replace(whole, events=(long, rest)), replace(first, events=(long,)), *total).rho == whole.rho


def test_deltas_of_lone_mechanisms_add_up_and_none_follows_what_came_first_in_one_entry():
    """The larger of two deltas was not what both keep, and only what comes first may fail by what is set aside."""
    half, delta = Alone(Fraction(1, 2), Fraction(1, 1000)), Decimal("0.001")
    assert keeps_promise([half, half], Decimal(1), 2 * delta) and not keeps_promise([half, half], Decimal(1), delta)
    reserve = Reserve(Budget(1, delta), Fraction("0.1"))
    events = (Gaussian(reserve.first_rho / 10, moved=REFERENCE), Failure(reserve.failure / 2))
    assert reserve.covers(events, first=True) and reserve.covers(events[:1]) and not reserve.covers(events)
