"""A released model as an ONNX graph, which other programs and languages run without Frostglass.

The graph has one input for each column, named like it: n × 1 numbers (n × width where it holds vectors), or n × 1 texts
where it holds categories. Dates are steps since the first one, as `Dates` counts them. It does what the model does, in
double precision: numbers are moved into their bounds and taken between -1 and 1, categories become one 1 among zeros
(none for one that is not on the public list), records are shortened to the radius, and scores become the likeliest
class and the probabilities of all, or a number. The promise stands in the graph's metadata.

It is made with the package `onnx` alone: converters of fitted scikit-learn estimators, such as skl2onnx, know neither
bounds nor radius.
"""

import json
import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from ..domain import Categorical, Column, Cyclic, Ordered
from ..runtime.environment import SOFTWARE, check_extra
from .bending import SHARE_OF_PRODUCTS, height, lines_beside, tents
from .linear_models import LinearModel, Model, NumberModel
from .training_task import Task

OPSET, ML_OPSET, IR_VERSION = 18, 3, 9
TINY = float(np.finfo(float).tiny)


def to_onnx(model: Model) -> bytes:
    """The contents of an ONNX file.

    RequestError when the package is missing, or the model protects nobody.
    """
    check_extra("onnx", "onnx", "An ONNX file")
    onnx = package()
    _ = model.to_bytes()  # which refuses what is not private
    graph = Graph()
    scores = _scores(graph, model, _bent(graph, model.task))
    rows = len(model.task.categories) if isinstance(model, LinearModel) else 0
    outputs = _classes(graph, model, scores) if isinstance(model, LinearModel) else _number(graph, model, scores)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, "frostglass", graph.inputs, [_output(name, rows) for name in outputs], graph.constants
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name=SOFTWARE,
        doc_string="\n".join(model.card()),
    )
    onnx.helper.set_model_props(made, {"privacy": json.dumps(model.to_dict()["privacy"])})
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


def package() -> Any:
    """The package `onnx`, which only who exports needs."""
    return import_module("onnx")


class Graph:
    """Nodes, inputs and constants, as they are added; each step gives the name of what it makes."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: object) -> str:
        """Numbers in double precision, whole ones, or texts."""
        onnx = package()
        array = np.asarray(values)
        name = f"constant_{len(self.constants)}"
        if array.dtype.kind in "UO":
            texts = [str(one).encode() for one in array.ravel()]
            tensor = onnx.helper.make_tensor(name, onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def do(self, operation: str, *names: str, domain: str = "", result: str = "", **attributes: object) -> str:
        """A node; its only result."""
        onnx = package()
        result = result or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(operation, list(names), [result], domain=domain, **attributes))
        return result

    def column(self, column: Column) -> str:
        """The coordinates of a column between -1 and 1, or one 1 among zeros: double (n, ...)."""
        if isinstance(column, Cyclic):
            places = self.constant(column.circle / column.radius)
            return self.do("MatMul", self._chosen(column.name, column.categories), places)
        if isinstance(column, Categorical) and not isinstance(column, Ordered):
            return self._chosen(column.name, column.categories)
        if isinstance(column, Ordered):
            places = self.constant(np.asarray(column.places, np.float64)[:, None])
            return self._between(self.do("MatMul", self._chosen(column.name, column.categories), places), column)
        return self._between(self._input(column.name, "DOUBLE", column.width), column)

    def curved(self, numbers: str, width: int, halvings: int) -> str:
        """Each number followed by its tents; see `bending.curved`."""
        tops, steep, heights = (self.constant(one) for one in tents(halvings))
        each = self.do("Reshape", numbers, self.constant(np.array([-1, width, 1], np.int64)))
        off = self.do("Mul", self.do("Abs", self.do("Sub", each, tops)), steep)
        shares = self.do("Max", self.do("Sub", self.constant(1.0), off), self.constant(0.0))
        beside = self.do("Concat", each, self.do("Mul", shares, heights), axis=2)
        return self.do("Reshape", beside, self.constant(np.array([-1, width << halvings], np.int64)))

    def together(self, parts: list[str]) -> str:
        """Coordinates side by side."""
        return self.do("Concat", *parts, axis=1)

    def _input(self, name: str, kind: str, width: int) -> str:
        onnx = package()
        element = getattr(onnx.TensorProto, kind)
        self.inputs.append(onnx.helper.make_tensor_value_info(name, element, ["records", width]))
        return name

    def _chosen(self, name: str, categories: tuple[str, ...]) -> str:
        asked = self._input(name, "STRING", 1)
        encoded = self.do("OneHotEncoder", asked, domain="ai.onnx.ml", cats_strings=list(categories), zeros=1)
        flat = self.do("Reshape", encoded, self.constant(np.array([-1, len(categories)], np.int64)))
        return self.do("Cast", flat, to=11)  # double

    def _between(self, numbers: str, column: Column) -> str:
        low, high = (float(end) for end in column.bounds(1.0))
        offset = self.do("Sub", numbers, self.constant((low + high) / 2.0))
        share = self.do("Div", offset, self.constant((high - low) / 2.0))
        return self.do("Max", self.do("Min", share, self.constant(1.0)), self.constant(-1.0))


def _bent(graph: Graph, task: Task) -> str:
    """Features as `Task.vectors` has them, without the 1 in front: double (n, width)."""
    straight, lines = [graph.column(one) for one in task.features.columns], []
    for column, numbers in zip(task.features.columns, straight, strict=True):
        halvings = task.halvings()[column.name]
        lines.append(graph.curved(numbers, column.width, halvings) if halvings else numbers)
    beside, together = [], graph.together(straight)
    if task.waves:
        angles = graph.constant(np.ascontiguousarray(2.0 * np.pi * task.frequencies.T))
        turned = graph.do("MatMul", together, angles)
        waves = graph.together([graph.do("Cos", turned), graph.do("Sin", turned)])
        beside.append(graph.do("Mul", waves, graph.constant(height(task.waves, task.corner))))
    if len(task.pairs):
        one, other = (graph.do("Gather", together, graph.constant(ends), axis=1) for ends in task.pairs.T)
        scale = graph.constant(height(len(task.pairs), task.corner, SHARE_OF_PRODUCTS))
        beside.append(graph.do("Mul", graph.do("Mul", one, other), scale))
    if not beside:
        return graph.together(lines)
    shorter = graph.constant(lines_beside(task.waves, len(task.pairs)))
    return graph.together([graph.do("Mul", graph.together(lines), shorter), *beside])


def _scores(graph: Graph, model: Model, features: str) -> str:
    """Scores of records no longer than the radius, double (n, rows)."""
    square = graph.do("ReduceSum", graph.do("Mul", features, features), graph.constant(np.array([1])), keepdims=1)
    length = graph.do("Max", graph.do("Sqrt", square), graph.constant(1e-300))
    factor = graph.do("Min", graph.do("Div", graph.constant(float(model.task.reach)), length), graph.constant(1.0))
    shortened = graph.do("Mul", features, factor)
    slopes = graph.do("MatMul", shortened, graph.constant(np.ascontiguousarray(model.weights[:, 1:].T)))
    return graph.do("Add", slopes, graph.constant(model.weights[:, 0]))


def _classes(graph: Graph, model: LinearModel, scores: str) -> Iterator[str]:
    """The likeliest class, and the probabilities of all, in the public order."""
    if len(model.rows) == 1:
        ends = (graph.do("Sigmoid", graph.do("Neg", scores)), graph.do("Sigmoid", scores))
        shares, codes = graph.do("Concat", *ends, axis=1, result="probabilities"), graph.do("Concat", *ends, axis=1)
    elif model.kind == "multinomial":
        shares, codes = graph.do("Softmax", scores, axis=1, result="probabilities"), scores
    else:
        odds = graph.do("Max", graph.do("Sigmoid", scores), graph.constant(TINY))
        total = graph.do("ReduceSum", odds, graph.constant(np.array([1])), keepdims=1)
        shares, codes = graph.do("Div", odds, total, result="probabilities"), scores
    best = graph.do("ArgMax", codes, axis=1, keepdims=0)
    yield graph.do("Gather", graph.constant(np.array(model.categories, object)), best, axis=0, result="predicted")
    yield shares


def _number(graph: Graph, model: NumberModel, scores: str) -> Iterator[str]:
    """What is predicted, inside the public bounds: double (n,)."""
    flat = graph.constant(np.array([-1], np.int64))
    if model.counts:
        most = graph.constant(math.log(model.goal.middle + model.goal.half))
        yield graph.do("Exp", graph.do("Reshape", graph.do("Min", scores, most), flat), result="predicted")
        return
    inside = graph.do("Max", graph.do("Min", scores, graph.constant(1.0)), graph.constant(-1.0))
    places = graph.do("Reshape", inside, flat)
    moved = graph.do("Mul", places, graph.constant(model.goal.half))
    yield graph.do("Add", moved, graph.constant(model.goal.middle), result="predicted")


def _output(name: str, classes: int) -> Any:
    onnx = package()
    if name == "probabilities":
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, ["records", classes])
    kind = onnx.TensorProto.STRING if classes else onnx.TensorProto.DOUBLE
    return onnx.helper.make_tensor_value_info(name, kind, ["records"])
