"""Noisy gradient descent: what a record moves in any step, the same steps by a slow reference, and its fit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from core import Budget, Domain
from core.domain import Vector
from core.errors import RequestError
from core.models import standard_scale
from core.models.descent import LARGEST_WEIGHT, UNIT, NoisyDescent
from core.models.model_file import BITS
from core.models.standard_scale import FRONT, RESIDUAL_UNIT, Scale, standardised
from core.privacy.budget import Neighbours
from core.sources import open_source
from tests.depth import draws
from tests.models.test_amp import PLANE, plane

THREE = Domain.of(x=(-4, 4), y=(0, 8), kind=["a", "b", "c"], missing="refuse")
IN_PLACE = Scale(np.array([0, 0]), UNIT)
coefficients = st.integers(-(1 << 28), 1 << 28)


def three(records: int = 600) -> dict:
    frame = plane(records)
    kinds = np.select([frame["x"] > 1, frame["y"] > 4], ["a", "b"], "c")
    return {**frame, "kind": kinds}


def ready(task: NoisyDescent, frame: dict, scale: Scale = IN_PLACE):
    """Standardised records, their classes, and what their residuals may be at most."""
    units, codes = task.gather(open_source(frame), UNIT)
    found = standardised(units, scale, UNIT)
    return found, codes, task.most(found)


@given(
    st.sampled_from([(PLANE, "logistic"), (PLANE, "svm"), (THREE, "logistic"), (THREE, "svm")]),
    st.lists(coefficients, min_size=9, max_size=9),
    st.tuples(st.floats(-1.1, 1.1), st.floats(-1.1, 1.1), st.integers(0, 1)),
    st.tuples(st.floats(-1.1, 1.1), st.floats(-1.1, 1.1), st.integers(0, 1)),
    st.tuples(st.integers(-UNIT, UNIT), st.integers(-UNIT, UNIT), st.integers(UNIT // 8, 2 * UNIT)),
    st.sampled_from([0.02, 0.3, 1.0, 9.0]),
)
def test_no_record_moves_a_step_further_than_declared(case, weights, one, other, bought, clip):
    """At any coefficients, centre, length and bound, corners included; also a replaced record."""
    domain, loss = case
    task = NoisyDescent(domain, "kind", loss=loss, clip=clip)
    at = np.array(weights[: 3 * task.rows], float).reshape(task.rows, 3)
    scale, tables = Scale(np.array(bought[:2]), bought[2]), []
    for x, y, code in (one, other):
        frame = {"x": [4 * x], "y": [4 + 4 * y], "kind": [task.categories[code]]}
        units, codes, most = ready(task, frame, scale)
        tables.append(task.slopes(units, codes, at, most))
    for relation, moved in ((Neighbours.ADD_REMOVE, tables[0]), (Neighbours.REPLACE_ONE, tables[0] - tables[1])):
        declared = task.sensitivity(relation)
        assert (moved**2).sum() <= declared.l2_squared and np.abs(moved).sum() <= declared.l1


def test_the_bound_is_reached_but_for_rounding():
    """And without the shortening of residuals it would be passed, three times over."""
    task = NoisyDescent(PLANE, "kind", clip=0.4)
    units, codes, most = ready(task, {"x": [4.0], "y": [8.0], "kind": ["no"]})
    table = task.slopes(units, codes, np.array([[1 << 26] * 3], float), most)
    assert 0.99 * task.largest < (table**2).sum() <= task.largest
    free = task.slopes(units, codes, np.array([[1 << 26] * 3], float), most * 100)
    assert (free**2).sum() > 9 * task.largest


@pytest.mark.parametrize("frame", (plane(), three()), ids=("two", "three"))
def test_slopes_are_the_gradient_of_the_loss(frame):
    """Whole residuals against plain floating point, at some coefficients, each record's slope shortened to the clip."""
    domain = PLANE if set(frame["kind"]) == {"no", "yes"} else THREE
    task = NoisyDescent(domain, "kind", clip=0.5)
    units, codes, most = ready(task, frame)
    weights = np.random.default_rng(1).integers(-(1 << 21), 1 << 21, (task.rows, 3)).astype(float)
    vectors, at = units / UNIT, weights / 2.0**BITS
    scores = vectors @ at.T
    shares = softmax(scores, axis=1) if task.rows > 1 else expit(scores)
    wanted = np.eye(task.rows)[codes] if task.rows > 1 else codes[:, None]
    lengths = np.linalg.norm(shares - wanted, axis=1) * np.linalg.norm(vectors, axis=1)
    expected = ((shares - wanted) * np.minimum(1, task.clip / lengths)[:, None]).T @ vectors
    found = task.slopes(units, codes, weights, most) / (UNIT * RESIDUAL_UNIT)
    assert found == pytest.approx(expected, abs=len(units) * 2 / RESIDUAL_UNIT)


def test_sums_are_those_of_single_records_in_any_order(monkeypatch):
    """Also over several blocks, and with records beside each other that would round differently together."""
    monkeypatch.setattr(standard_scale, "RESIDUALS_AT_ONCE", 7)
    monkeypatch.setattr(standard_scale, "AT_ONCE", 5)
    task, scale = NoisyDescent(THREE, "kind"), Scale(np.array([1234, -777]), 5000)
    units, codes = task.gather(open_source(three(50)), UNIT)
    whole = standardised(units, scale, UNIT)
    assert np.array_equal(whole, np.concatenate([standardised(units[i : i + 1], scale, UNIT) for i in range(50)]))
    weights = np.random.default_rng(1).integers(-(1 << 27), 1 << 27, (3, 3)).astype(float)
    most = task.most(whole)
    together = task.slopes(whole, codes, weights, most)
    alone = [task.slopes(*(part[i : i + 1] for part in (whole, codes)), weights, most[i : i + 1]) for i in range(50)]
    assert np.array_equal(np.sum(alone, axis=0), together)


def test_scores_are_exact_in_floating_point():
    wide = Domain.of(kind=["a", "b"])
    wide = Domain((Vector("v", 3_998, 0, 1), *wide.columns))
    made = NoisyDescent(wide, "kind")
    length = math.hypot(made.farthest, FRONT) * UNIT
    assert math.sqrt(made.width + 1) * length * LARGEST_WEIGHT < 2**53


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
    assert len(cost.events) == 33
    replaced = task.cost(Budget(1, "1e-6", "replace_one"))
    assert len(replaced.events) == 32  # the number of records is public then
    first, second = (task.noises(Budget(1, "1e-6", relation))[0].parameter for relation in Neighbours)
    assert second > Fraction(39, 10) * first


def test_a_pure_promise_is_refused():
    with pytest.raises(RequestError, match="needs a delta"):
        NoisyDescent(PLANE, "kind").cost(Budget(1))


def test_more_steps_are_taken_where_the_noise_leaves_room_and_time_allows():
    """From the promise and a public number alone; few records or many coordinates leave it at the usual number."""
    wide = Domain.of(**{f"x{place}": (0, 1) for place in range(60)}, kind=["no", "yes"])
    found = [
        NoisyDescent(wide, "kind").for_records(Budget(epsilon, "1e-6"), records).steps
        for epsilon, records in (("0.1", 1_000), (1, 5_000), (1, 50_000), (1, 5_000_000))
    ]
    assert found[0] == 100 < found[1] < found[2] == 300 and found[3] == 100
