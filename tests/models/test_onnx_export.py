"""ONNX files: the graph, run by the format's own reference evaluator, predicts what the model predicts."""

import json

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, train
from core.domain import Categorical, Cyclic, Dates, Numeric, Ordered, Vector
from core.errors import RequestError
from core.models.class_counts import same_for_all
from core.models.onnx_export import to_onnx
from core.models.training import trainer_of
from core.models.training_task import Task
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.cli.conftest import command, ledger  # noqa: F401 (fixtures)
from tests.models.test_amp import PLANE, plane

onnx, reference = pytest.importorskip("onnx"), pytest.importorskip("onnx.reference")
COLUMNS = (
    Numeric("x", -4, 4),
    Categorical("town", ("Basel", "Bern", "Zürich")),
    Ordered("grade", ("low", "mid", "high")),
    Vector("v", 3, -1, 1),
    Dates("day", "2020-01-01", "2020-12-31"),
    Categorical("kind", ("a", "b", "c")),
)
WHOLE = Domain(COLUMNS, missing="drop")
COUNTS = Domain((Numeric("x", 0, 4), *COLUMNS[1:]), missing="drop")
TWO = Domain((*COLUMNS[:-1], Categorical("kind", ("a", "b"))), missing="drop")


def records(count: int = 300) -> dict:
    """Some outside the bounds."""
    random = np.random.default_rng(2)
    return {
        "x": random.uniform(-5, 5, count),
        "town": random.choice(["Basel", "Bern", "Zürich"], count),
        "grade": random.choice(["low", "mid", "high"], count),
        "v": list(random.normal(0, 0.8, (count, 3))),
        "day": (np.datetime64("2020-01-01") + random.integers(0, 366, count)).astype(str),
        "kind": random.choice(["a", "b"], count),
    }


def inputs(frame: dict, domain: Domain) -> dict:
    """The records as the graph is asked about them."""
    found = {}
    for column in domain.columns:
        values = frame[column.name]
        if isinstance(column, Vector):
            found[column.name] = np.array(values)
        elif isinstance(column, Dates):
            days = (np.array(values, "datetime64[D]") - np.datetime64(column.first)).astype(float)
            found[column.name] = days[:, None]
        else:
            found[column.name] = np.array(values, float if isinstance(column, Numeric) else object)[:, None]
    return found


@pytest.mark.parametrize("shares", [(0.3, 0.7), (0.2, 0.5, 0.3)])
def test_the_graph_of_one_class_for_everyone_says_it(shares):
    model = same_for_all(Task(TWO if len(shares) == 2 else WHOLE, "kind"), shares, Budget(1))
    found = reference.ReferenceEvaluator(onnx.load_from_string(to_onnx(model))).run(
        None, inputs(records(5), model.features)
    )
    assert found[0].tolist() == ["b"] * 5 and found[1] == pytest.approx(np.tile(shares, (5, 1)), abs=1e-5)


@pytest.mark.thorough
@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("domain", "label", "method", "radius"),
    [
        (WHOLE, "kind", "descent", None),
        (WHOLE, "kind", "objective", None),
        (TWO, "kind", "svm", 0.8),
        (WHOLE, "x", "descent", 0.8),
        (WHOLE, "day", "products", None),
        (COUNTS, "x", "poisson", 0.8),
    ],
)
@pytest.mark.parametrize(("curves", "waves", "products"), [(0, 0, 0), (2, 0, 1), (1, 5, 1)])
def test_the_graph_predicts_what_the_model_predicts(domain, label, method, radius, curves, waves, products):
    if method == "products":  # which takes neither
        curves = waves = products = 0
    budget = Budget(5, "1e-5")
    bends = {"curves": curves, "waves": waves, "products": products}
    model = train(records(), label, domain, budget, method, radius=radius, **bends)
    graph = onnx.load_from_string(to_onnx(model))
    asked = records()
    found = reference.ReferenceEvaluator(graph).run(None, inputs(asked, model.features))
    queries = pd.DataFrame({name: asked[name] for name in model.features.names})
    if label == "kind":
        expected = model.predict(queries)
        assert found[0].tolist() == expected.predicted.tolist()
        assert found[1] == pytest.approx(expected.iloc[:, 1:].to_numpy(), abs=1e-12)
    else:
        assert found[0] == pytest.approx(model.numbers(queries), abs=1e-9)
    assert [(one.key, json.loads(one.value)["epsilon"]) for one in graph.metadata_props] == [("privacy", "5")]
    assert graph.doc_string.startswith("It predicts")


def test_a_model_that_protects_nobody_becomes_no_graph():
    made = trainer_of("objective", PLANE, "kind").fit(open_source(plane(30)), Budget(1), noise_source=SeededSource(1))
    with pytest.raises(RequestError, match="protects nobody"):
        to_onnx(made)


@pytest.mark.thorough
def test_the_command_writes_a_graph(command, tmp_path):  # noqa: F811
    train(plane(), "kind", PLANE, Budget(5)).save(tmp_path / "model.json")
    assert "Wrote model.onnx" in command("predict", "model.json", "--onnx", "model.onnx").output
    assert [one.name for one in onnx.load(tmp_path / "model.onnx").graph.input] == ["x", "y"]


@pytest.mark.thorough
@pytest.mark.parametrize("label", ["kind", "y"])
def test_an_hour_of_the_day_is_learnt_from_by_its_sine_and_cosine(label):
    random = np.random.default_rng(0)
    hour, x = random.integers(0, 24, 2_000), random.uniform(0, 1, 2_000)
    night = np.cos(2 * np.pi * (hour - 3) / 24) + random.normal(0, 0.2, 2_000)
    frame = {"hour": hour.astype(str), "x": x, "kind": np.where(night > 0, "b", "a"), "y": np.clip(5 + night, 0, 10)}
    target = Categorical("kind", ("a", "b")) if label == "kind" else Numeric("y", 0, 10)
    domain = Domain((Cyclic("hour", part="hour"), Numeric("x", 0, 1), target))
    used = {name: frame[name] for name in domain.names}
    model = train(used, label, domain, Budget(2, "1e-6"), "descent", records=2_000)
    asked = pd.DataFrame(used).drop(columns=label)
    graph = reference.ReferenceEvaluator(onnx.load_from_string(to_onnx(model)))
    told = graph.run(None, {"hour": frame["hour"].astype(object)[:50, None], "x": x[:50, None]})[-1]
    if label == "kind":
        assert np.mean(np.array(["a", "b"])[model.codes(asked)] == frame["kind"]) > 0.85
        assert told == pytest.approx(model.probabilities(asked)[:50], abs=1e-2)
    else:
        assert np.std(model.numbers(asked) - frame["y"]) < 0.4 < 0.7 < np.std(frame["y"])
        assert told == pytest.approx(model.numbers(asked)[:50], abs=1e-2)
    assert {"hour, cosine", "hour, sine"} <= set(model.coefficients().column)
