"""Gradient descent on samples: the accountant at the exact divergences of whole-number noise, what a step is about."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln

from core import Budget
from core.errors import RequestError
from core.models.amp import one_step
from core.models.descent import NoisyDescent
from core.models.sampled_descent import HALVINGS, MARGIN, ORDERS, SampledDescent, least_factor
from core.privacy.budget import PrivacyUnit, Sensitivity
from core.privacy.calibration import NoiseScale
from core.privacy.composition import Alone
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.models.test_amp import PLANE, plane

BUDGET = Budget(1, "1e-6")


def log_binomial(order: int, k: np.ndarray) -> np.ndarray:
    return gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)


def divergences(variance: float, shift: int, share: float, order: int) -> tuple[float, float]:
    """Both Rényi divergences between discrete Gaussian noise and its mixture with itself moved, by summing it up."""
    places = np.arange(-60 * math.ceil(math.sqrt(variance)), 60 * math.ceil(math.sqrt(variance)) + 1)
    still, moved = (-((places - centre) ** 2) / (2.0 * variance) for centre in (0, shift))
    still, moved = (one - np.logaddexp.reduce(one) for one in (still, moved))
    mixed = np.logaddexp(still + math.log1p(-share), moved + math.log(share))

    def divergence(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.logaddexp.reduce(order * one - (order - 1) * other)) / (order - 1)

    return divergence(mixed, still), divergence(still, mixed)


@pytest.mark.parametrize("variance", [0.5, 4.0, 900.0])
@pytest.mark.parametrize("order", [2, 5, 32])
def test_sampled_whole_number_noise_diverges_no_more_than_the_bound_says(variance, order):
    """And the direction that the accountant does not reckon with is the smaller one."""
    share, shift = 2.0**-HALVINGS, max(1, round(math.sqrt(variance)))
    terms = [
        math.lgamma(order + 1) - math.lgamma(k + 1) - math.lgamma(order - k + 1)
        + k * math.log(share) + (order - k) * math.log1p(-share) + k * (k - 1) * shift**2 / (2.0 * variance)
        for k in range(order + 1)
    ]  # fmt: skip
    there, back = divergences(variance, shift, share, order)
    assert back <= there * (1 + 1e-9) and there <= float(np.logaddexp.reduce(terms)) / (order - 1) * (1 + 1e-9)
    assert order in ORDERS


@pytest.mark.thorough
def test_steps_need_less_noise_than_on_all_records_and_more_than_an_eighth_of_it():
    full, sampled = (method(PLANE, "kind", steps=100).noises(BUDGET) for method in (NoisyDescent, SampledDescent))
    ratio = math.sqrt(sampled[0].variance / full[0].variance)
    assert 0.125 < ratio < 0.2 and sampled[-1] == full[-1] and len(sampled) == len(full)
    event = SampledDescent(PLANE, "kind", steps=100).cost(BUDGET).events
    assert event == (Alone(Fraction(1), Fraction(1, 10**6)),)
    replaced = SampledDescent(PLANE, "kind", steps=100).noises(Budget(1, "1e-6", "replace_one"))
    assert replaced[0].variance > 3 * sampled[0].variance


@pytest.mark.thorough
def test_half_of_the_noise_would_not_do():
    """One step, integrated: the share of variance that the accountant finds is enough, and a quarter of it is not."""
    moved, noise = Sensitivity(1 << 20, 1 << 40), NoiseScale("discrete_gaussian", Fraction(1 << 44))
    factor = least_factor(moved, noise, 1, (), 0.5, 1e-6)

    def delta(factor: float) -> float:
        scores = np.linspace(-12, 16, 200_001)
        mu = math.sqrt(moved.l2_squared / (float(noise.parameter) * factor))
        density = np.exp(-(scores**2) / 2) / math.sqrt(2 * math.pi)
        mixed = density * (0.875 + 0.125 * np.exp(mu * scores - mu**2 / 2))
        return float(np.maximum(mixed - math.exp(0.5) * density, 0).sum() * (scores[1] - scores[0]))

    assert delta(factor) <= 1e-6 * (1 - MARGIN) < delta(factor / 4)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_every_step_and_all_that_is_bought_are_in_the_account_and_hardly_more(relation):
    """By the module's sum at every order, and the conversion of Canonne, Kamath, Steinke 2020, Proposition 12."""
    budget, made = Budget(1, "1e-6", relation), SampledDescent(PLANE, "kind", steps=40)
    epsilon, delta = one_step(1.0, 1e-6, 2 if relation == "replace_one" else 1)
    tables, noises = made._tables(Budget(1, "1e-6")), made.noises(budget)
    tables = tables[: len(noises)]

    def lost(order: int, less: float) -> float:
        square = tables[0][0].l2_squared / (float(noises[0].parameter) * less)
        share = 2.0**-HALVINGS
        k = np.arange(order + 1)
        terms = (
            log_binomial(order, k) + k * math.log(share) + (order - k) * math.log1p(-share) + k * (k - 1) * square / 2
        )
        steps = 40 * float(np.logaddexp.reduce(terms)) / (order - 1)
        bought = zip(tables[40:], noises[40:], strict=True)
        return steps + sum(order * moved.l2_squared / (2 * float(noise.parameter)) for (moved, _), noise in bought)

    def delta_of(less: float) -> float:
        logs = [
            (order - 1) * (lost(order, less) - epsilon + math.log1p(-1 / order)) - math.log(order) for order in ORDERS
        ]
        return math.exp(min(logs))

    assert len(tables) == len(noises) > 40
    assert delta_of(1.0) <= delta < delta_of(0.97)


@pytest.mark.thorough
def test_a_step_is_about_some_of_the_records_and_a_fit_predicts():
    task = SampledDescent(PLANE, "kind", steps=30)
    units, codes = task.gather(open_source(plane(800)), task.unit)
    whole, weights = units.astype(float), np.zeros((1, 3))
    most = np.full(len(units), 1 << 40)
    table = task._step_table(whole, codes, weights, most, SeededSource(1))
    share = abs(table[0, 0] / task.slopes(whole, 0 * codes, weights, most)[0, 0])
    assert share < 0.2 and not np.array_equal(table, task._step_table(whole, codes, weights, most, SeededSource(2)))
    model = task.fit(open_source(plane(3_000)), Budget(5, "1e-4"), noise_source=SeededSource(1))
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]}).tolist() == [0, 1]


def test_persons_of_several_records_and_pure_promises_are_refused():
    domain = type(PLANE)(PLANE.columns, unit=PrivacyUnit("id", 2), missing="refuse")
    with pytest.raises(RequestError, match="one record only"):
        SampledDescent(domain, "kind")
    with pytest.raises(RequestError, match="delta above 0"):
        SampledDescent(PLANE, "kind").cost(Budget(1))
