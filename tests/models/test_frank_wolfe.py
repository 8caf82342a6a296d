"""Private Frank-Wolfe steps: what a record moves a score by, the same steps by a slow reference, price, and fits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from core import Budget
from core.models import frank_wolfe as module
from core.models.frank_wolfe import UNIT, FrankWolfe, corner_scores
from core.models.standard_scale import RESIDUAL_UNIT
from core.privacy.budget import Neighbours
from core.privacy.calibration import largest_rho
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

places = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from(["no", "yes"]))


@given(places, places, st.lists(st.integers(-(1 << 27), 1 << 27), min_size=3, max_size=3))
def test_no_record_moves_a_score_further_than_declared(one, other, weights):
    task, scores = FrankWolfe(PLANE, "kind"), []
    for x, y, kind in (one, other):
        units, codes = task.gather(open_source({"x": [4 * x], "y": [4 + 4 * y], "kind": [kind]}), UNIT)
        signed = np.where(codes[:, None] == 1, units, -units).astype(float)
        scores.append(corner_scores(signed, np.array(weights, float)))
    assert np.abs(scores[0]).max() <= task.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(scores[0] - scores[1]).max() <= task.sensitivity(Neighbours.REPLACE_ONE)


def test_the_bound_is_nearly_reached_by_a_record_on_the_wrong_side():
    signed = np.array([[UNIT, UNIT, 0.0]])
    score = corner_scores(signed, np.array([-20.0, -20.0, 0.0]) * 2**20).max()
    assert 0.999 * RESIDUAL_UNIT * UNIT < score <= RESIDUAL_UNIT * UNIT


def test_without_noise_the_steps_are_those_of_the_textbook(monkeypatch):
    monkeypatch.setattr(module, "select", lambda scores, *rest: int(np.argmax(scores)))
    task = FrankWolfe(PLANE, "kind", steps=12, ball=6.0)
    units, codes = task.gather(open_source(plane(300)), UNIT)
    model = task._trained(units, codes, Budget(1), task.price(Budget(1)), SeededSource(1))
    records, place = np.where(codes[:, None] == 1, units, -units) / UNIT, np.zeros(3)
    for step in range(12):
        slopes = -(expit(-records @ place)[:, None] * records).sum(axis=0)
        corner = np.zeros(3)
        corner[np.argmax(np.abs(slopes))] = -6.0 * np.sign(slopes[np.argmax(np.abs(slopes))])
        place += 2.0 / (step + 2.0) * (corner - place)
    assert model.weights[0] == pytest.approx(place, abs=1e-3)


def test_choices_share_the_promise():
    task = FrankWolfe(THREE, "kind", steps=5)
    assert task.price(Budget(3)) == Fraction(1, 5)
    price, most = task.price(Budget(1, "1e-6")), largest_rho(1.0, 1e-6)
    assert price**2 / 8 * 15 == pytest.approx(most, rel=1e-9) and task.cost(Budget(1, "1e-6")).events[0].count == 15


@pytest.mark.parametrize("case", [(PLANE, plane, [0, 1]), (THREE, three, [2, 0])], ids=["two", "three"])
@pytest.mark.parametrize("budget", [Budget(20), Budget(20, "1e-4", "replace_one")], ids=str)
def test_a_fit_predicts(case, budget):
    domain, made, expected = case
    model = FrankWolfe(domain, "kind").fit(open_source(made(3_000)), budget, noise_source=SeededSource(1))
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0 if domain is PLANE else 0.0, 0.0]}).tolist() == expected
    assert np.abs(model.weights).sum(axis=1).max() <= 5.0 + 1e-5
