"""Attacks on trained models, end to end, with a canary among the records: promises hold, and planted errors are found.

The canary is a record in a corner of the bounds that says the opposite of all others. Each mechanism is what a method
does with records that were read and paid for: everything random, and the coefficients that come out.
"""

from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Domain
from core.models import amp, preconditioned
from core.models.amp import ApproximateMinima, TunedMinima
from core.models.descent import NoisyDescent
from core.models.frank_wolfe import FrankWolfe
from core.models.least_squares import Boosted, FromProducts
from core.models.number_descent import CountDescent, NumberDescent
from core.models.objective_perturbation import PureLogistic
from core.models.permutation_sgd import PermutationSGD
from core.models.preconditioned import SecondOrder
from core.models.sampled_descent import SampledDescent
from core.privacy.attacks import audit
from core.privacy.noise.randomness import SystemSource
from core.privacy.noise.vector_noise import NormalVector
from core.sources import open_source

pytestmark = pytest.mark.deep
LINE = Domain.of(x=(-1, 1), kind=["no", "yes"], missing="refuse")
CROWD = {"x": [1.0] * 4, "kind": ["yes"] * 4}
CANARY = {"x": [1.0] * 5, "kind": ["yes"] * 4 + ["no"]}
CALM = {"x": [1.0] * 5, "kind": ["yes"] * 5}
LEVEL = 1 - 1e-8
PAIRS = {"add_remove": (CANARY, CROWD), "replace_one": (CANARY, CALM)}
SHORTER = {"newton": 8, "descent": 8, "tuned-amp": 64, "frank-wolfe": 8, "sgd": 64, "dp-sgd": 256}
"""Methods that show less of their noise, and so are run more often, and how many times too short it is to be found."""
METHODS = {
    "objective": PureLogistic(LINE, "kind"),
    "amp": ApproximateMinima(LINE, "kind"),
    "tuned-amp": TunedMinima(LINE, "kind"),
    "descent": NoisyDescent(LINE, "kind", steps=3),
    "frank-wolfe": FrankWolfe(LINE, "kind", steps=2),
    "sgd": PermutationSGD(LINE, "kind", batch=1),
    "dp-sgd": SampledDescent(LINE, "kind", steps=4),
    "newton": SecondOrder(LINE, "kind", steps=3),
}

NUMBERS = Domain.of(x=(-1, 1), y=(-1, 1), missing="refuse")
COUNTS = Domain.of(x=(-1, 1), y=(0, 1), missing="refuse")
OF_NUMBERS = {
    "products": FromProducts(NUMBERS, "y"),
    "descent": NumberDescent(NUMBERS, "y", steps=3),
    "boosted": Boosted(NUMBERS, "y", steps=3),
    "poisson": CountDescent(COUNTS, "y", steps=3),
}
SHORTER_OF_NUMBERS = {"products": 8, "descent": 16, "boosted": 32, "poisson": 16}


def found(method, relation, share=Fraction(1), runs=None, epsilon=2):
    """The privacy loss that an attack shows of a method whose noise is so many times what it should be."""
    budget = Budget(epsilon, 0 if isinstance(method, PureLogistic) else "1e-3", relation)
    pair = PAIRS[relation]
    if method.label == "y":
        pair = [{"x": one["x"], "y": [1.0 if kind == "yes" else -1.0 for kind in one["kind"]]} for one in pair]
    sides = [method.gather(open_source(side), method.unit) for side in pair]

    def coefficients(side):
        return method.rehearsed(*side, budget, share, SystemSource()).rows / 2.0**20

    runs = 600 if runs is None else runs
    return audit(coefficients, *sides, float(budget.epsilon), float(budget.delta), runs=runs, level=LEVEL)


@pytest.mark.parametrize("relation", PAIRS)
@pytest.mark.parametrize("method", METHODS)
def test_a_canary_is_hidden(method, relation):
    if (method, relation) == ("sgd", "add_remove"):
        pytest.skip("Stochastic gradient descent over a permutation makes no such promise.")
    assert found(METHODS[method], relation).passed


@pytest.mark.parametrize("method", METHODS)
def test_noise_that_is_too_short_is_found(method):
    """As long as if there were many times as many records as there are: what a wrong constant does."""
    share, relation = Fraction(1, SHORTER.get(method, 8)), "replace_one" if method == "sgd" else "add_remove"
    epsilon = "0.5" if method == "dp-sgd" else 2  # a canary that is seldom sampled cannot show much more
    assert not found(METHODS[method], relation, share, 1_500 if method in SHORTER else 600, epsilon).passed


@pytest.mark.parametrize("relation", PAIRS)
@pytest.mark.parametrize("method", OF_NUMBERS)
def test_a_canary_is_hidden_where_numbers_are_predicted(method, relation):
    assert found(OF_NUMBERS[method], relation).passed


@pytest.mark.parametrize("method", OF_NUMBERS)
def test_noise_that_is_too_short_is_found_where_numbers_are_predicted(method):
    share = Fraction(1, SHORTER_OF_NUMBERS[method])
    assert not found(OF_NUMBERS[method], "add_remove", share, 1_500).passed


def test_slopes_of_boosting_that_are_not_cut_are_found(monkeypatch):
    """A record then moves a step many times as far as its noise was made for."""
    method = Boosted(NUMBERS, "y", steps=3, clip=0.01)
    assert found(method, "replace_one", epsilon=1).passed
    monkeypatch.setattr(preconditioned, "cut", lambda slopes, most: np.trunc(slopes * (1 << 12)))
    assert not found(method, "replace_one", runs=1_500, epsilon=1).passed


def test_slopes_that_are_not_cut_are_found(monkeypatch):
    """A record then moves a step many times as far as its noise was made for."""
    method = NoisyDescent(LINE, "kind", steps=3, clip=0.05)
    assert found(method, "add_remove").passed
    monkeypatch.setattr(NoisyDescent, "most", lambda self, units: np.full(len(units), 1 << 40))
    assert not found(method, "add_remove", runs=600).passed


def test_slopes_of_counts_that_are_not_cut_are_found(monkeypatch):
    """A record then moves a step many times as far as its noise was made for."""
    method = CountDescent(COUNTS, "y", steps=3, clip=0.05)
    assert found(method, "replace_one").passed
    monkeypatch.setattr(CountDescent, "most", lambda self, units: np.full(len(units), 1 << 40))
    assert not found(method, "replace_one", runs=1_500).passed


def test_noise_that_is_drawn_again_where_solving_failed_is_found(monkeypatch):
    """A solver that gives up wherever the canary is outvoted, and starts again with other noise, tells of it."""
    budget = Budget(2, "1e-3")
    method = METHODS["amp"]
    plan = method.perturbed(budget)

    class Redrawn(NormalVector):
        def __init__(self, deviation, size, stream):
            super().__init__(deviation, size, stream)
            while self.bounds(0)[0][0] > 0.0 and sum(sides["now"][1]) > 4:
                super().__init__(deviation, size, stream)

    sides = {}

    def coefficients(side):
        sides["now"] = side
        return method._trained(*side, budget, plan, SystemSource()).rows / 2.0**20

    monkeypatch.setattr(amp, "NormalVector", Redrawn)
    pair = [method.gather(open_source(side), method.unit) for side in (CALM, CROWD)]
    assert not audit(coefficients, *pair, 2, 1e-3, runs=1_500, level=0.99).passed
