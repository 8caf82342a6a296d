"""Steps that a bought matrix shapes: what a record moves in any table, the same steps by a slow reference, and fits."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from core import Budget, Domain
from core.domain import Vector
from core.errors import RequestError
from core.models import preconditioned as module
from core.models import standard_scale
from core.models.preconditioned import LONGEST_SQUARED, UNIT, SecondOrder, Start, products_of
from core.models.standard_scale import FARTHEST, FRONT, Scale, standardised
from core.privacy.budget import Neighbours
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

SMALL = Budget(5, "1e-4")


def records_of(task, frame, scale):
    units, answers = task.gather(open_source(frame), UNIT)
    return standardised(units, scale, UNIT), answers


def corner(x, y, kind, scale):
    return records_of(SecondOrder(THREE, "kind"), {"x": [4 * x], "y": [4 + 4 * y], "kind": [kind]}, scale)


places = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from("abc"))
scales = st.tuples(st.integers(-UNIT, UNIT), st.integers(-UNIT, UNIT), st.integers(UNIT // 8, 2 * UNIT))


@given(places, places, scales, st.lists(st.integers(-(1 << 28), 1 << 28), min_size=9, max_size=9))
def test_no_record_moves_a_table_further_than_declared(one, other, bought, weights):
    """Of answers, of the matrix and of a step, at any coefficients and whatever was bought; also a replaced record."""
    task, scale = SecondOrder(THREE, "kind", clip=0.3), Scale(np.array(bought[:2]), bought[2])
    upper, at, tables = np.triu_indices(3), np.array(weights, float).reshape(3, 3), []
    start = Start(10.0, np.log([0.5, 0.3, 0.2]))
    for place in (one, other):
        records, codes = corner(*place, scale)
        step = task.step_table(records, codes, start, at, task.most(records))
        tables.append((task._answers(codes), products_of(records)[upper], step))
    for relation in Neighbours:
        declared = (task.answers_sensitivity, task.matrix_sensitivity, task.slope_sensitivity)
        for first, second, sensitivity in zip(*tables, declared, strict=True):
            moved = first - second if relation is Neighbours.REPLACE_ONE else first
            most = sensitivity(relation)
            assert sum(int(value) ** 2 for value in moved.ravel()) <= most.l2_squared
            assert np.abs(moved).sum() <= most.l1


def test_the_bound_of_the_matrix_is_nearly_reached():
    """By a record far out along one coordinate, and by two such along different ones."""
    task = SecondOrder(PLANE, "kind")
    far = np.array([[FRONT, FARTHEST, 0.0], [FRONT, 0.0, FARTHEST]]) * UNIT
    one, other = (products_of(row[None])[np.triu_indices(3)].astype(float) for row in far)
    assert 0.93 * LONGEST_SQUARED**2 < (one**2).sum() <= task.matrix_sensitivity(Neighbours.ADD_REMOVE).l2_squared
    moved = ((one - other) ** 2).sum()
    assert 0.93 * 2 * LONGEST_SQUARED**2 < moved <= task.matrix_sensitivity(Neighbours.REPLACE_ONE).l2_squared


def test_sums_are_those_of_single_records_in_any_order(monkeypatch):
    monkeypatch.setattr(standard_scale, "RESIDUALS_AT_ONCE", 7)
    monkeypatch.setattr(module, "AT_ONCE", 11)
    task, scale = SecondOrder(THREE, "kind"), Scale(np.array([1234, -777]), 5000)
    records, codes = records_of(task, three(50), scale)
    weights = np.random.default_rng(1).integers(-(1 << 27), 1 << 27, (3, 3)).astype(float)
    most, start = task.most(records), Start(50.0, np.log([0.4, 0.4, 0.2]))
    for order in (np.arange(50), np.random.default_rng(2).permutation(50)):
        some, told = records[order], codes[order]
        alone = [
            task.step_table(some[i : i + 1], told[i : i + 1], start, weights, most[order][i : i + 1]) for i in order
        ]
        assert np.array_equal(np.sum(alone, axis=0), task.step_table(records, codes, start, weights, most))
        assert np.array_equal(sum(products_of(some[i : i + 1]) for i in order), products_of(records))


def quiet(method, budget):
    """A plan with hardly any noise."""
    return tuple(replace(noise, parameter=Fraction(1, 100)) for noise in method.noises(budget))


@pytest.mark.parametrize("case", [(PLANE, plane), (THREE, three)], ids=["two", "three"])
def test_without_noise_the_steps_are_those_of_a_plain_reference(case):
    """A Newton-like descent by the bound's matrix, in plain floating point, slopes shortened to the clip."""
    domain, made = case
    method = SecondOrder(domain, "kind", steps=6)
    units, codes = method.gather(open_source(made(400)), UNIT)
    model = method._trained(units, codes, SMALL, quiet(method, SMALL), SeededSource(1))
    scores = (units / UNIT) @ model.rows.T / 2.0**20
    assert scores == pytest.approx(reference(method, units, codes, float(model.details["length"])), abs=0.02)


def reference(method, units, codes, length):
    features = units[:, 1:] / UNIT
    offsets = (features - features.mean(axis=0)) / length
    offsets *= np.minimum(1.0, FARTHEST / np.linalg.norm(offsets, axis=1))[:, None]
    records = np.column_stack((np.full(len(offsets), FRONT), offsets))
    counts = np.bincount(codes)
    start = np.log(counts / counts.sum())
    wanted = np.eye(len(counts))[codes]
    inverse = np.linalg.inv(records.T @ records) / method.curvature
    weights, total = np.zeros((len(counts), 3)), 0.0
    two = method.rows == 1
    for step in range(method.steps):
        shares = softmax(records @ weights.T + start, axis=1)
        slopes = (shares - wanted)[:, 1:] if two else shares - wanted
        long = np.linalg.norm(slopes, axis=1) * np.linalg.norm(records, axis=1)
        moved = (slopes * np.minimum(1.0, method.clip / long)[:, None]).T @ records @ inverse
        weights = weights - (np.vstack((0 * moved, moved)) if two else moved)
        if step >= method.steps // 2:
            total = total + weights
    found = records @ (total / (method.steps - method.steps // 2)).T + start
    return found[:, 1:] - found[:, :1] if two else found


def test_a_fit_predicts_under_both_relations():
    for relation in Neighbours:
        budget = Budget(5, "1e-4", relation)
        model = SecondOrder(THREE, "kind").fit(open_source(three()), budget, noise_source=SeededSource(1))
        assert model.codes({"x": [4.0, -4.0, -4.0], "y": [0.0, 8.0, 0.0]}).tolist() == [0, 1, 2]


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(RequestError, match="delta above 0"):
        SecondOrder(PLANE, "kind").cost(Budget(1))
    with pytest.raises(RequestError, match="at most 1,499 coordinates"):
        SecondOrder(Domain((Vector("v", 1_500, 0, 1), *Domain.of(kind=["a", "b"]).columns)), "kind")
    with pytest.raises(RequestError, match="classes"):
        SecondOrder(PLANE, "x")
