"""Approximate minima perturbation: its promise on exact densities, its noise, its check, and its fit."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from core import Budget, Domain, Ledger
from core.domain import PrivacyUnit
from core.errors import BudgetError, RequestError
from core.models import amp as module
from core.models.amp import LARGEST_GRADIENT, ApproximateMinima, in_unit_ball, one_step, sharp_constants
from core.models.certified_logistic import UNIT_BITS, approximate_minimiser
from core.privacy.accounting import Cost, PureParts
from core.privacy.integer_shifts import gaussian_delta
from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.vector_noise import NormalVector
from core.releases.payment import payer_of, spending
from core.sources import open_source

PLANE = Domain.of(x=(-4, 4), y=(0, 8), kind=["no", "yes"], missing="refuse")


def plane(records: int = 600, classes: tuple[str, ...] = ("no", "yes")) -> dict:
    random = np.random.default_rng(0)
    x, y = random.uniform(-4, 4, records), random.uniform(0, 8, records)
    return {"x": x, "y": y, "kind": np.where(random.random(records) < expit(2 * (x - y + 4)), *classes[::-1])}


def hockey_stick(one: np.ndarray, other: np.ndarray, epsilon: float, deviation: float, curvature: float) -> float:
    """E(1 - e^(ε - loss))₊ for scalar records: of exact densities of the minimiser, integrated over b."""
    b = np.linspace(-9 * deviation, 9 * deviation, 4_001)

    def slope(f: np.ndarray, records: np.ndarray) -> np.ndarray:
        """b_D(f)."""
        return (expit(-np.outer(f, records)) * records).sum(axis=1) - curvature * f

    low, high = np.full(len(b), -1e3), np.full(len(b), 1e3)
    for _ in range(60):  # b_D falls with f
        middle = (low + high) / 2
        above = slope(middle, one) > b
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    f = (low + high) / 2

    def log_density(records: np.ndarray) -> np.ndarray:
        weights = expit(-np.outer(f, records))
        volume = curvature + (weights * (1 - weights) * records**2).sum(axis=1)
        return -(slope(f, records) ** 2) / (2 * deviation**2) + np.log(volume)

    loss = log_density(one) - log_density(other)
    mass = np.exp(-(b**2) / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi)) * (b[1] - b[0])
    return float((mass * np.maximum(-np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)).sum())


@pytest.mark.few(2)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-2), (1.0, 1e-5), (6.0, 1e-3)])
@pytest.mark.parametrize("shared", [(), (-1.0,) * 3, (0.5, -1.0, 1.0)])
def test_exact_densities_keep_the_sharp_promise(epsilon, delta, shared):
    deviation, curvature = map(float, sharp_constants(epsilon, delta))
    for record in (1.0, -0.4):
        with_it, without = np.array([*shared, record]), np.array(shared)
        for pair in ((with_it, without), (without, with_it)):
            assert hockey_stick(*pair, epsilon, deviation, curvature) <= delta * (1 + 1e-3)


def test_halved_noise_or_a_missing_curvature_would_break_it():
    """Planted errors: both are found by the same integral."""
    deviation, curvature = map(float, sharp_constants(1.0, 1e-3))
    pair = np.array([1.0]), np.array([])

    def worst(deviation: float, curvature: float) -> float:
        return max(hockey_stick(*one, 1.0, deviation, curvature) for one in (pair, pair[::-1]))

    assert 0.5e-3 < worst(deviation, curvature) <= 1e-3
    assert worst(deviation / 2, curvature) > 10e-3
    assert worst(deviation, curvature / 50) > 1e-3


def test_sharp_noise_is_that_of_a_single_number():
    deviation, curvature = sharp_constants(1.0, 1e-6)
    assert float(deviation) == pytest.approx(4.2247, abs=1e-3)
    assert gaussian_delta(1.0, 1 / float(deviation)) == pytest.approx(1e-6, rel=1e-5)
    assert curvature >= 1 / (1 + 1 / (2 * deviation**2))
    each, delta = one_step(1.0, 1e-6, 2)
    assert each == pytest.approx(0.5) and delta * (1 + math.exp(0.5)) == pytest.approx(1e-6)


def test_vectors_of_noise_are_normal_and_their_bounds_close_in():
    noise = NormalVector(Fraction(5, 2), 4_000, SeededSource(1).stream())
    low, high = noise.bounds(0)
    closer = [ends[:20] for ends in noise.bounds(1)]
    assert all(a <= b < c <= d for a, b, c, d in zip(low, *closer, high, strict=False))
    values = np.array([float(value) for value in low]) / 2.5
    assert abs(values.mean()) < 6 / math.sqrt(4_000) and values.std() == pytest.approx(1.0, abs=6 / math.sqrt(8_000))


def test_records_lie_in_the_unit_ball_exactly():
    task = ApproximateMinima(PLANE, "kind")
    units, _ = task.gather(open_source({"x": [4.0, -4.0, 1.0], "y": [8.0, 0.0, 3.3], "kind": ["no"] * 3}), 1 << 24)
    vectors, length = in_unit_ball(units, task.longest(1 << 24))
    squares = (vectors.astype(object) ** 2).sum(axis=1)
    assert max(squares) <= (1 << UNIT_BITS) ** 2 and length == pytest.approx(math.sqrt(3))
    assert float(max(squares)) == pytest.approx(4.0**UNIT_BITS, rel=1e-6)
    short, _ = ApproximateMinima(PLANE, "kind", 0.5).gather(open_source(plane(50)), 1 << 24)
    assert ((short[:, 1:] ** 2).sum(axis=1) <= (1 << 23) ** 2).all()


def test_the_minimiser_is_found_within_the_checked_gradient():
    """Against SciPy's on the same objective, with the noise that was drawn."""
    random = np.random.default_rng(2)
    units = random.integers(-(1 << 28), 1 << 28, (300, 3))
    b = [Fraction(float(value)) for value in random.normal(0, 4, 3)]
    place = approximate_minimiser(units, Fraction(1, 2), lambda level: (b, b), LARGEST_GRADIENT)
    vectors, linear = units / 2.0**UNIT_BITS, np.array([float(value) for value in b])

    def objective(f: np.ndarray) -> tuple[float, np.ndarray]:
        weights = expit(-vectors @ f)
        value = np.logaddexp(0, -vectors @ f).sum() + f @ f / 4 + linear @ f
        return value, f / 2 + linear - weights @ vectors

    found = minimize(objective, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    assert np.array([float(value) for value in place]) == pytest.approx(found, abs=1e-6)
    assert np.linalg.norm(objective(np.array([float(value) for value in place]))[1]) <= float(LARGEST_GRADIENT) + 1e-12


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "10"])
def test_what_is_missing_costs_next_to_nothing(neighbours, epsilon):
    """The second noise, of a hundredth of the promise, is below a hundredth of the first's, whatever the promise is."""
    task = ApproximateMinima(PLANE, "kind")
    plan = task.perturbed(Budget(epsilon, "1e-9", neighbours))
    steps = math.sqrt(plan.second.variance)
    assert math.ldexp(steps, -plan.bits) <= 0.01 * float(plan.deviation / plan.curvature)
    # What it hides: twice γ/k and what rounding moves, in steps, for less than a hundredth of epsilon.
    moved = 2 * (float(LARGEST_GRADIENT / plan.curvature) * 2.0**plan.bits + math.sqrt(3))
    assert gaussian_delta(float(epsilon) / 100, moved / steps) <= 1e-11


def test_the_grid_says_what_the_minimiser_is():
    task = ApproximateMinima(PLANE, "kind")
    units, codes = task.gather(open_source(plane()), task.unit)
    budget = Budget("0.01", "1e-9")
    plan = replace(task.perturbed(budget), deviation=Fraction(1, 1 << 40))
    model = task._trained(units, codes, budget, plan, SeededSource(3))
    vectors, length = in_unit_ball(units, task.longest(1 << 24))
    signed = vectors * np.where(codes > 0, 1, -1)[:, None] / 2.0**UNIT_BITS
    curvature = float(plan.curvature)
    found = minimize(lambda f: np.logaddexp(0, -signed @ f).sum() + curvature * f @ f / 2, np.zeros(3)).x
    error = 8 * math.ldexp(math.sqrt(plan.second.variance), -plan.bits)
    assert model.weights[0] * length == pytest.approx(found, abs=error + 1e-5)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_fit_predicts_and_says_how_it_was_made(neighbours):
    model = ApproximateMinima(PLANE, "kind").fit(open_source(plane()), Budget(3, "1e-5", neighbours))
    told = model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]})
    assert told.tolist() == [0, 1] and model.private
    assert any("approximate minima" in sentence for sentence in model.card())


def test_more_than_two_classes_share_the_promise():
    domain = Domain.of(x=(-4, 4), y=(0, 8), kind=["a", "b", "c"], missing="refuse")
    task = ApproximateMinima(domain, "kind")
    frame = plane(classes=("a", "b"))
    model = task.fit(open_source(frame), Budget(3, "1e-5"))
    assert model.rows.shape == (3, 3) and model.kind == "one-vs-rest"
    alone = ApproximateMinima(PLANE, "kind").perturbed(Budget(1, "1e-5"))
    assert task.perturbed(Budget(3, "3e-5")).deviation == pytest.approx(alone.deviation, rel=1e-9)


def test_the_noise_is_drawn_once_and_after_paying(monkeypatch):
    drawn, order = [], []

    class Counted(NormalVector):
        def __init__(self, *given):
            drawn.append(given[0])
            order.append("noise")
            super().__init__(*given)

    monkeypatch.setattr(module, "NormalVector", Counted)
    ApproximateMinima(PLANE, "kind").fit(
        open_source(plane(50)), Budget(1, "1e-5"), spend=lambda cost: order.append("paid")
    )
    assert len(drawn) == 1 and order == ["paid", "noise"]


def test_promises_that_no_theorem_keeps_are_refused():
    task, source = ApproximateMinima(PLANE, "kind"), open_source(plane(20))
    with pytest.raises(RequestError, match="needs a delta"):
        task.fit(source, Budget(1))
    with pytest.raises(RequestError, match="public list of classes"):
        ApproximateMinima(PLANE, "x")


def test_several_records_a_person_and_replaced_ones_need_more_noise():
    several = Domain.of(x=(-4, 4), y=(0, 8), kind=["no", "yes"], unit=PrivacyUnit("who", 2))
    one, two, replaced = (
        ApproximateMinima(domain, "kind").perturbed(Budget(1, "1e-6", relation)).deviation
        for domain, relation in ((PLANE, "add_remove"), (several, "add_remove"), (PLANE, "replace_one"))
    )
    assert two == replaced > Fraction(19, 10) * one


def test_a_ledger_admits_it_first_and_adds_promises_up_after_it(tmp_path):
    """Nothing is known of its loss beyond its promise, so only sums of promises hold beside it, and only from the first
    entry on."""
    task, budget, source = ApproximateMinima(PLANE, "kind"), Budget(1, "1e-6"), open_source(plane(20))
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.register("people", 5, "1e-5")
    payer = payer_of(ledger, "people", budget, PLANE.unit)
    for _ in range(5):
        task.fit(source, budget, spend=spending(payer, task.cost(budget), task))
    with pytest.raises(BudgetError):
        spending(payer_of(ledger, "people", budget, PLANE.unit), task.cost(budget), task)
    ledger.register("others", 5, "1e-5")
    pure = Cost((PureParts(Fraction(1, 100)),), Decimal("0.01"))
    ledger.spend("others", pure, {})
    with pytest.raises(BudgetError):
        spending(payer_of(ledger, "others", budget, PLANE.unit), task.cost(budget), task)
