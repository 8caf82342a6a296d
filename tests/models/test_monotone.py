"""Curves that were declared to rise or to fall: they do, wherever anybody asks, and are nearer to a truth that does."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, RequestError, load_model, train
from core.cli.notation import parse_directions
from core.domain import Vector
from core.estimators.linear_classifiers import PrivateLogisticRegression
from core.models.linear_models import LinearModel, NumberModel
from core.models.model_file import BITS
from core.models.monotone import directions_of, monotone
from core.models.training import trainer_of
from core.models.training_task import Task
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source

PLANE = Domain.of(x=(-4.0, 4.0), y=(0.0, 8.0), town=["Basel", "Bern"], kind=["no", "yes"])
GROWTH = Domain.of(x=(-4.0, 4.0), y=(0.0, 8.0), z=(0.0, 10.0))
PURE = Budget("0.5")


def slope(count: int, seed: int) -> dict[str, object]:
    """A class and a number that rise with x by steps and fall with y."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(-4, 4, count), random.uniform(0, 8, count)
    score = 3.0 * (x > 0) + np.maximum(x, 1) - 0.5 * y
    kind = np.where(score + random.logistic(size=count) > 0, "yes", "no")
    return {
        "x": x,
        "y": y,
        "town": random.choice(["Basel", "Bern"], count),
        "kind": kind,
        "z": np.clip(score + 4.0, 0, 10),
    }


def made(domain: Domain, label: str, rows: np.ndarray, curves: int, **more: object) -> LinearModel | NumberModel:
    kind, model = ("number", NumberModel) if label == "z" else ("logistic", LinearModel)
    return model(Task(domain, label, curves=curves), kind, 1.0, rows, PURE, "a test", "none", **more)


@pytest.mark.parametrize("curves", [0, 1, 3, 5])
@pytest.mark.parametrize(("domain", "label"), [(PLANE, "kind"), (GROWTH, "z")])
def test_whatever_noise_says_a_declared_curve_goes_its_way_between_all_places(curves, domain, label):
    random, width = np.random.default_rng(curves), Task(domain, label, curves=curves).width + 1
    places = np.linspace(-5.0, 9.0, 400)
    for scale in (1 << 4, 1 << BITS, 1 << BITS + 8):  # as small as a rounded unit, and large
        model = made(domain, label, random.integers(-scale, scale, (1, width)), curves)
        shaped = monotone(model, directions_of(model.task, {"x": 1, "y": -1}))
        for name, way in (("x", 1), ("y", -1)):
            asked = pd.DataFrame({"x": 1.0, "y": 2.0, "town": "Bern"}, index=range(400)).assign(**{name: places})
            asked = asked[list(shaped.features.names)]
            assert (np.diff(way * shaped.decision(asked)[:, 0]) >= 0).all()
        for curve in shaped.curves(0):
            assert (np.diff({"x": 1, "y": -1}[curve.column] * curve.values) > 0).all()
        assert monotone(model, directions_of(model.task, None)) is model


@pytest.mark.parametrize("curves", [0, 2])
def test_of_two_classes_with_a_row_each_the_first_falls_where_the_second_rises(curves):
    task = Task(PLANE, "kind", curves=curves)
    rows = np.random.default_rng(1).integers(-(1 << BITS), 1 << BITS, (2, task.width + 1))
    model = LinearModel(task, "multinomial", 1.0, rows, PURE, "a test", "none")
    shaped = monotone(model, directions_of(task, {"x": 1}))
    asked = pd.DataFrame({"x": np.linspace(-4, 4, 99), "y": 2.0, "town": "Bern"})
    falls, rises = shaped.decision(asked).T
    assert (np.diff(falls) <= 0).all() and (np.diff(rises) >= 0).all()
    assert (np.diff(shaped.probabilities(asked)[:, 1]) >= 0).all()


def test_what_rises_already_stays_and_the_level_of_a_curve_is_kept():
    rows = np.zeros((1, Task(GROWTH, "z", curves=2).width + 1), np.int64)
    rows[0, 1] = 1 << BITS  # x alone, straight
    model = made(GROWTH, "z", rows, 2)
    shaped = monotone(model, (1, 0))
    assert np.abs(shaped.rows - rows).max() <= 4  # a slope of a few units more
    fallen = monotone(model, (-1, 0))  # the nearest that falls is level, at the mean of the knots
    assert np.abs(fallen.rows).max() <= 4


def test_no_draw_of_the_noise_leaves_a_declared_curve_farther_from_a_truth_that_rises():
    random, task = np.random.default_rng(3), Task(GROWTH, "z", curves=3)
    places = np.linspace(-4, 4, 9)
    asked = pd.DataFrame({"x": places, "y": 4.0})
    for _ in range(20):
        truth = monotone(made(GROWTH, "z", random.integers(-(1 << 18), 1 << 18, (1, task.width + 1)), 3), (1, 0))
        noisy = made(GROWTH, "z", truth.rows + random.integers(-(1 << 18), 1 << 18, truth.rows.shape), 3)
        off = [one.decision(asked) - truth.decision(asked) for one in (noisy, monotone(noisy, (1, 0)))]
        assert np.linalg.norm(off[1]) <= np.linalg.norm(off[0]) + 1e-4


@pytest.mark.thorough
def test_directions_help_where_noise_is_and_the_truth_has_them():
    asked, off, little = slope(1_000, 9), [], Budget("0.05")
    for run in range(6):
        trainer = trainer_of("objective", GROWTH, "z", curves=2).for_records(little, 1_000)
        frame = {name: slope(1_000, run)[name] for name in GROWTH.names}
        model = trainer.fit(open_source(frame), little, noise_source=SeededSource(run))
        for one in (model, monotone(model, directions_of(Task(GROWTH, "z"), {"x": 1, "y": -1}))):
            off.append(float(np.mean((one.numbers(pd.DataFrame(asked)[["x", "y"]]) - asked["z"]) ** 2)))
    assert (np.array(off[1::2]) < 1.01 * np.array(off[::2])).all() and np.mean(off[1::2]) < 0.97 * np.mean(off[::2])


def test_a_model_says_what_was_declared_and_its_file_is_read_back():
    frame = {name: slope(300, 0)[name] for name in PLANE.names}
    model = train(frame, "kind", PLANE, Budget(1), records=300, monotonic_cst={"x": 1, "y": -1, "town": 0})
    assert model.task.waves == 0 and model.details["monotonic_cst"] == "x=1, y=-1"
    assert any("x=1, y=-1" in said for said in model.card())
    assert (load_model(model.to_bytes()).rows == model.rows).all()
    in_order = train(frame, "kind", PLANE, Budget(1), records=300, monotonic_cst=[0, -1, 0])
    assert in_order.details["monotonic_cst"] == "y=-1"


def test_what_has_no_direction_is_refused_before_anything_is_read():
    three = Domain.of(x=(0.0, 1.0), hour=["am", "pm"], kind=["a", "b", "c"])
    for domain, label, declared, more, said in (
        (PLANE, "kind", {"town": 1}, {}, "no order along a line"),
        (PLANE, "kind", {"nobody": 1}, {}, "no column 'nobody'"),
        (PLANE, "kind", {"kind": 1}, {}, "no column 'kind'"),
        (PLANE, "kind", {"x": 2}, {}, "1 for what only raises"),
        (PLANE, "kind", {"x": True}, {}, "1 for what only raises"),
        (PLANE, "kind", [1], {}, "for each of 3 columns"),
        (PLANE, "kind", {"x": 1}, {"waves": 4}, "leave them out"),
        (PLANE, "kind", {"x": 1}, {"products": 1}, "leave them out"),
        (PLANE, "kind", {"x": 1}, {"radius": 0.5}, "leave the radius out"),
        (three, "kind", {"x": 1}, {}, "none is above the others"),
    ):
        with pytest.raises(RequestError, match=said):
            train(object(), label, domain, Budget(1), monotonic_cst=declared, **more)
    assert directions_of(Task(three, "kind"), {"x": 0}) == ()
    for texts in (["x"], ["x=2"], ["=1"], ["x=1", "x=-1"]):
        with pytest.raises(RequestError, match="COLUMN=1"):
            parse_directions(texts)


@pytest.mark.parametrize("bounds", [(-4.0, 4.0), [(-4.0, 4.0), (0.0, 8.0)]])
def test_an_estimator_takes_directions_in_the_forms_of_scikit_learn(bounds):
    frame = slope(400, 1)
    X, y = pd.DataFrame({"x": frame["x"], "y": frame["y"]}), frame["kind"]
    for method in ("auto", "objective"):
        for declared in ([-1, 1], {"x": -1, "y": 1} if isinstance(bounds, list) else [-1, 1]):
            made = PrivateLogisticRegression(
                epsilon=4, bounds=bounds, classes=["no", "yes"], method=method, records=400, monotonic_cst=declared
            )
            assert (made.fit(X, y).coef_ * [[-1, 1]] >= 0).all()  # against what the records say
    with pytest.raises(RequestError, match="features as shares"):
        PrivateLogisticRegression(
            bounds=bounds, classes=["no", "yes"], regularisation=0.1, records=400, monotonic_cst=[1, 0]
        ).fit(X, y)


def test_a_column_of_vectors_has_a_direction_for_each_coordinate():
    domain = Domain((Vector("v", 2, -1.0, 1.0), *PLANE.columns[3:]))
    assert directions_of(Task(domain, "kind"), [1, -1]) == (1, -1)
    assert directions_of(Task(domain, "kind"), {"v": 1}) == (1, 1)
