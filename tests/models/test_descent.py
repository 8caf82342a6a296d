"""Noisy gradient descent: what a record moves in any step, the same steps by a slow reference, and its fit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from core import Budget, Domain
from core.domain import Vector
from core.errors import RequestError
from core.models import descent as module
from core.models.descent import RESIDUAL_UNIT, UNIT, NoisyDescent
from core.models.linear_model import BITS
from core.privacy.neighbours import Neighbours
from core.sources import open_source
from tests.depth import draws
from tests.models.test_amp import PLANE, plane

THREE = Domain.of(x=(-4, 4), y=(0, 8), kind=["a", "b", "c"], missing="refuse")
coefficients = st.integers(-(1 << 28), 1 << 28)


def three(records: int = 600) -> dict:
    frame = plane(records)
    kinds = np.select([frame["x"] > 1, frame["y"] > 4], ["a", "b"], "c")
    return {**frame, "kind": kinds}


@given(
    st.sampled_from([(PLANE, "logistic"), (PLANE, "svm"), (THREE, "logistic"), (THREE, "svm")]),
    st.lists(coefficients, min_size=9, max_size=9),
    st.tuples(st.floats(-1.1, 1.1), st.floats(-1.1, 1.1), st.integers(0, 1)),
    st.tuples(st.floats(-1.1, 1.1), st.floats(-1.1, 1.1), st.integers(0, 1)),
)
def test_no_record_moves_a_step_further_than_declared(case, weights, one, other):
    """At any coefficients, corners included; also a replaced record."""
    domain, loss = case
    task = NoisyDescent(domain, "kind", loss=loss)
    at = np.array(weights[: 3 * task.rows], float).reshape(task.rows, 3)
    tables = []
    for x, y, code in (one, other):
        frame = {"x": [4 * x], "y": [4 + 4 * y], "kind": [task.categories[code]]}
        units, codes = task.gather(open_source(frame), UNIT)
        tables.append(task.slopes(units.astype(float), codes, at))
    for relation, moved in ((Neighbours.ADD_REMOVE, tables[0]), (Neighbours.REPLACE_ONE, tables[0] - tables[1])):
        declared = task.sensitivity(relation)
        assert (moved**2).sum() <= declared.l2_squared and np.abs(moved).sum() <= declared.l1


def test_the_bound_is_reached_but_for_rounding():
    task = NoisyDescent(PLANE, "kind")
    units, codes = task.gather(open_source({"x": [4.0], "y": [8.0], "kind": ["no"]}), UNIT)
    table = task.slopes(units.astype(float), codes, np.array([[1 << 26] * 3], float))
    assert (table**2).sum() > 0.99 * task.sensitivity(Neighbours.ADD_REMOVE).l2_squared
    assert (table**2).sum() == RESIDUAL_UNIT**2 * (units**2).sum()


@pytest.mark.parametrize("frame", (plane(), three()), ids=("two", "three"))
def test_slopes_are_the_gradient_of_the_loss(frame):
    """Whole residuals against plain floating point, at some coefficients."""
    domain = PLANE if set(frame["kind"]) == {"no", "yes"} else THREE
    task = NoisyDescent(domain, "kind")
    units, codes = task.gather(open_source(frame), UNIT)
    weights = np.random.default_rng(1).integers(-(1 << 21), 1 << 21, (task.rows, 3)).astype(float)
    vectors, at = units / UNIT, weights / 2.0**BITS
    scores = vectors @ at.T
    shares = softmax(scores, axis=1) if task.rows > 1 else expit(scores)
    wanted = np.eye(task.rows)[codes] if task.rows > 1 else codes[:, None]
    expected = (shares - wanted).T @ vectors
    found = task.slopes(units.astype(float), codes, weights) / (UNIT * RESIDUAL_UNIT)
    assert found == pytest.approx(expected, abs=len(units) * 2 / RESIDUAL_UNIT)


def test_sums_are_those_of_single_records_in_any_order(monkeypatch):
    """Also over several blocks, and with records beside each other that would round differently together."""
    monkeypatch.setattr(module, "AT_ONCE", 7)
    task = NoisyDescent(THREE, "kind")
    units, codes = task.gather(open_source(three(50)), UNIT)
    weights = np.random.default_rng(1).integers(-(1 << 27), 1 << 27, (3, 3)).astype(float)
    whole = task.slopes(units.astype(float), codes, weights)
    alone = [task.slopes(units[i : i + 1].astype(float), codes[i : i + 1], weights) for i in range(50)]
    assert np.array_equal(np.sum(alone, axis=0), whole)


def test_scores_are_exact_in_floating_point():
    wide = Domain.of(kind=["a", "b"])
    wide = Domain((Vector("v", 3_998, 0, 1), *wide.columns))
    assert NoisyDescent(wide, "kind").largest_sum < 2**53


@pytest.mark.parametrize("loss", ("logistic", "svm"))
def test_a_fit_predicts(loss):
    task = NoisyDescent(PLANE, "kind", loss=loss, steps=draws(40, 100))
    model = task.fit(open_source(plane()), Budget(5, "1e-4"))
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]}).tolist() == [0, 1]
    probabilities = model.probabilities(plane(20))
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(20))


@pytest.mark.parametrize("loss", ("logistic", "svm"))
def test_three_classes_are_one_model(loss):
    model = NoisyDescent(THREE, "kind", loss=loss).fit(open_source(three(2_000)), Budget(50, "1e-4"))
    assert model.kind == ("multinomial" if loss == "logistic" else "svm") and model.rows.shape == (3, 3)
    assert model.codes({"x": [4.0, -3.0, -3.0], "y": [2.0, 8.0, 0.0]}).tolist() == [0, 1, 2]


def test_the_noise_of_all_steps_and_the_count_keep_the_promise():
    task = NoisyDescent(PLANE, "kind", steps=30)
    cost = task.cost(Budget(1, "1e-6"))  # which refuses what does not add up
    assert len(cost.events) == 31
    replaced = task.cost(Budget(1, "1e-6", "replace_one"))
    assert len(replaced.events) == 30  # the number of records is public then
    first, second = (task.noises(Budget(1, "1e-6", relation))[0].parameter for relation in Neighbours)
    assert second > Fraction(39, 10) * first


def test_a_pure_promise_is_refused():
    with pytest.raises(RequestError, match="needs a delta"):
        NoisyDescent(PLANE, "kind").cost(Budget(1))
