"""Attacks on trained models, end to end, with a canary among the records: promises hold, and planted errors are found.

The canary is a record in a corner of the bounds that says the opposite of all others. Each mechanism is what a method
does with records that were read and paid for: everything random, and the coefficients that come out.
"""

from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Domain
from core.models import amp
from core.models.amp import ApproximateMinima
from core.models.descent import NoisyDescent
from core.models.frank_wolfe import FrankWolfe
from core.models.newton import SecondOrder
from core.models.permutation_sgd import PermutationSGD
from core.models.pure import PureLogistic
from core.models.sampled_descent import SampledDescent
from core.models.tuned_amp import TunedMinima
from core.privacy.audit import audit
from core.privacy.noise.normal_vector import NormalVector
from core.privacy.noise.randomness import SystemSource
from core.sources import open_source

pytestmark = pytest.mark.deep
LINE = Domain.of(x=(-1, 1), kind=["no", "yes"], missing="refuse")
CROWD = {"x": [1.0] * 4, "kind": ["yes"] * 4}
CANARY = {"x": [1.0] * 5, "kind": ["yes"] * 4 + ["no"]}
CALM = {"x": [1.0] * 5, "kind": ["yes"] * 5}
LEVEL = 1 - 1e-8
PAIRS = {"add_remove": (CANARY, CROWD), "replace_one": (CANARY, CALM)}
SHORTER = {"newton": 8, "tuned-amp": 64, "frank-wolfe": 8, "sgd": 64, "dp-sgd": 256}
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


def found(method, relation, share=Fraction(1), runs=None, epsilon=2):
    """The privacy loss that an attack shows of a method whose noise is so many times what it should be."""
    budget = Budget(epsilon, 0 if isinstance(method, PureLogistic) else "1e-3", relation)
    sides = [method.gather(open_source(side), method.unit) for side in PAIRS[relation]]

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


def test_slopes_that_are_not_cut_are_found(monkeypatch):
    """A record then moves a step many times as far as its noise was made for."""
    method = NoisyDescent(LINE, "kind", steps=3, clip=0.05)
    assert found(method, "add_remove").passed
    monkeypatch.setattr(NoisyDescent, "most", lambda self, units: np.full(len(units), 1 << 40))
    assert not found(method, "add_remove", runs=600).passed


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
