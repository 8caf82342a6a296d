"""Encoded columns: the map, bit for bit, its files and queries, and who is told no."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import core
from core.domain import Categorical, Domain, Encoder, Numeric, PrivacyUnit, Vector
from core.domain.columns import column_from_dict, column_to_dict
from core.domain.declarations import stated
from core.domain.encoders import FUNCTIONS
from core.domain.learned_encoders import encoder_of_onnx, encoder_of_pipeline, learned_encoder
from core.errors import ReleaseFileError, RequestError
from core.figures.meaning import column_values
from tests.releases_for_tests import manifest_in, with_manifest

rng = np.random.default_rng(5)
READS = (Numeric("a", 0.0, 10.0), Vector("v", 3, -1.0, 1.0))
MATRIX = {"matrix": [[1.0, 0.5, -1.0, 0.25], [0.0, 2.0, 0.0, 1.0]], "offset": [0.5, -0.25]}


def encoder(*steps, length=2, reads=READS, low=-1.0, high=1.0):
    return Encoder("e", length, low, high, "", reads, steps or (MATRIX, {"ball": 1.0}), "made by hand")


def batch(n, seed=1):
    numbers = np.random.default_rng(seed)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(numbers.normal(0, 1, 3 * n)), 3)
    return pa.RecordBatch.from_arrays([pa.array(numbers.normal(5, 5, n)), vectors], ["a", "v"])


def plainly(column, a, v):
    """The image of one record in exact order, one number at a time, for the steps of `encoder()`."""
    places = [min(max(a, 0.0), 10.0), *(min(max(one, -1.0), 1.0) for one in v)]
    image = [
        sum(w * x for w, x in zip(row, places, strict=True)) + b
        for row, b in zip(MATRIX["matrix"], MATRIX["offset"], strict=True)
    ]
    length = sum(x * x for x in image) ** 0.5
    return [x / max(length, 1.0) for x in image]


def test_it_is_the_map_of_its_steps_inside_the_bounds():
    records = batch(200)
    points = Domain((encoder(),)).encode(records)
    rows = zip(records.column(0).to_pylist(), records.column(1).to_pylist(), strict=True)
    assert points == pytest.approx(np.array([plainly(encoder(), *row) for row in rows]), abs=1e-12)
    assert np.abs(points).max() <= 1.0 and np.linalg.norm(points, axis=1).max() <= 1.0 + 1e-12


HARD = ({"scale": [3.0, 0.1, 7.0, 1e-3], "offset": [0.1] * 4}, MATRIX, {"function": "tanh"}, {"sphere": 1.0})


@pytest.mark.parametrize("steps", [HARD, *((MATRIX, {"function": name}) for name in ("exp", "log1p", "sin", "cos"))])
def test_a_record_is_encoded_alike_bit_for_bit_in_whatever_company(steps):
    domain = Domain((encoder(*steps),))
    records = batch(301)
    together = domain.encode(records)
    for start, stop in ((0, 1), (7, 8), (3, 300), (300, 301), (1, 35)):
        assert np.array_equal(domain.encode(records.slice(start, stop - start)), together[start:stop])
    order = rng.permutation(301)
    assert np.array_equal(domain.encode(records.take(pa.array(order))), together[order])


def test_whatever_a_record_says_its_image_is_inside_the_bounds_and_others_do_not_move():
    far = [1e308, -1e308, 0.0, -0.0, 5e-324, 10.0, float("inf")]
    records = pa.RecordBatch.from_arrays(
        [pa.array(far), pa.array([[x, -x, x] for x in far], pa.list_(pa.float64(), 3))], ["a", "v"]
    )
    for name in FUNCTIONS:
        column = encoder({"scale": [1e50] * 4, "offset": [-1e50] * 4}, {"function": name}, MATRIX, {"function": name})
        points = Domain((column,)).encode(records)
        assert points.shape == (7, 2) and np.isfinite(points).all() and np.abs(points).max() <= 1.0
        assert np.abs(column.images(np.full((4, 6), 1e20))).max() <= 1.0  # also where no domain looks after it
    neighbours = Domain((encoder(*HARD),)).encode(batch(50)), Domain((encoder(*HARD),)).encode(batch(50).slice(1))
    assert np.array_equal(neighbours[0][1:], neighbours[1])


def test_long_vectors_and_functions_do_not_round_otherwise_when_they_are_alone():
    """A library adds many squares pairwise where they lie beside one another, and has functions of its own."""
    wide = encoder({"sphere": 1.0}, {"ball": 0.7}, length=50, reads=(Vector("v", 50, -9.0, 9.0),))
    places = np.random.default_rng(3).normal(0, 3, (50, 40))
    together = wide.images(places)
    for place in range(40):
        assert np.array_equal(wide.images(places[:, [place]]), together[:, [place]])
    for name in ("tanh", "sin", "cos"):
        one_by_one = [getattr(math, name)(x) for x in places.ravel().tolist()]
        assert np.array_equal(FUNCTIONS[name](places), np.reshape(one_by_one, places.shape))


def test_missing_values_are_left_out_or_refused():
    records = pa.RecordBatch.from_arrays(
        [pa.array([1.0, None, 3.0]), pa.array([[0.1] * 3, [0.2] * 3, None], pa.list_(pa.float64(), 3))], ["a", "v"]
    )
    assert len(Domain((encoder(),)).encode(records)) == 1
    with pytest.raises(RequestError, match="'e' in row 2"):
        Domain((encoder(),), missing="refuse").encode(records)


def test_queries_are_asked_before_or_after_encoding():
    domain = Domain((encoder(), Categorical("sex", ("f", "m"))))
    frame = pd.DataFrame({"a": [3.0, 12.0], "v": [[0.1, 0.2, 0.3]] * 2, "sex": ["f", "m"]})
    asked = domain.encode_queries(frame)
    assert np.array_equal(asked, domain.encode(pa.RecordBatch.from_pandas(frame)))
    after = pd.DataFrame({"e": list(asked[:, :2]), "sex": ["f", "m"]})
    assert np.array_equal(domain.encode_queries(after), asked)
    alone = Domain((encoder(),))
    plain = np.array([[3.0, 0.1, 0.2, 0.3], [12.0, 0.1, 0.2, 0.3]])
    assert np.array_equal(alone.encode_queries(plain), asked[:, :2])
    assert np.array_equal(alone.encode_queries(asked[:, :2]), asked[:, :2])
    same = Domain((encoder({"ball": 1.0}, length=4),))
    assert same.encode_queries({"e": plain / 20}) == pytest.approx(plain / 20)
    with pytest.raises(RequestError, match="encoded already, or not"):
        same.encode_queries(plain)
    with pytest.raises(RequestError, match="one column 'v'"):
        alone.encode_queries({"a": [1.0]})


def test_it_is_written_and_read_bit_for_bit_and_known_by_its_digest():
    column = encoder(*HARD)
    again = column_from_dict(json.loads(json.dumps(column_to_dict(column))))
    assert again == column and hash(again) == hash(column) and again.digest == column.digest
    assert encoder() != column and encoder().digest != column.digest
    assert column.digest[:16] in column_values(column) and "made by hand" in column_values(column)
    with pytest.raises(RequestError, match="no declaration"):
        stated((column,))


@pytest.mark.parametrize(
    "change",
    [
        {"steps": []},
        {"steps": [MATRIX] * 2},
        {"steps": [{"matrix": [[float("nan")] * 4] * 2, "offset": [0, 0]}]},
        {"steps": [{"matrix": [[1e60] * 4] * 2, "offset": [0, 0]}]},
        {"steps": [{"matrix": [[1.0] * 4, [1.0]], "offset": [0, 0]}]},
        {"steps": [{"matrix": [["1"] * 4] * 2, "offset": [0, 0]}]},
        {"steps": [{"matrix": [[1.0] * 4] * 2, "offset": [0]}]},
        {"steps": [{"matrix": [[10**400] * 4] * 2, "offset": [0, 0]}]},
        {"steps": [{"function": "eval"}]},
        {"steps": [{"function": ["tanh"]}]},
        {"steps": [{"ball": 0}]},
        {"steps": [{"sphere": float("inf")}]},
        {"steps": [{"clip": [1, 0]}]},
        {"steps": ["ball"]},
        {"steps": [{"ball": 1.0}] * 21},
        {"steps": "ball"},
        {"reads": []},
        {"reads": [{"kind": "encoded"}]},
        {"reads": [{"kind": "categorical"}]},
        {"reads": 3},
        {"reads": [column_to_dict(Numeric("e", 0, 1))]},
        {"length": 3},
        {"length": 10**9},
        {"sample": "0" * 63},
        {"sample": 5},
        {"origin": 7},
        {"further": 1},
    ],
)
def test_a_hostile_encoder_is_refused_in_a_sentence(change):
    with pytest.raises(RequestError, match=r"^[^\n]{10,300}\.$"):
        column_from_dict(column_to_dict(encoder()) | change)


def test_domains_that_cannot_be_are_refused():
    for why, make in {
        "outside must be clamp": lambda: Domain((encoder(),), outside="drop"),
        "different bounds": lambda: Domain((encoder(), Numeric("a", 0, 5))),
        "who a person is": lambda: Domain((encoder(),), unit=PrivacyUnit("a", 1)),
        "a name that no other": lambda: Domain(
            (encoder(), Encoder("o", 1, -1, 1, "", (Numeric("e", 0, 1),), ({"ball": 1.0},)))
        ),
    }.items():
        with pytest.raises(RequestError, match=why):
            make()
    assert Domain((encoder(), READS[0])).fields == ("a", "v")


@pytest.mark.parametrize("kind", ["pca", "whiten", "lda"])
def test_learned_maps_are_those_of_scikit_learn(kind):
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    sample = rng.normal(0, [3.0, 1.0, 0.3, 0.1], (300, 4)) + 2.0
    label = (sample[:, 3] > 2.0).astype(int) + (sample[:, 1] > 2.0)
    made = learned_encoder(sample, kind, None if kind == "lda" else 2, label=label if kind == "lda" else None)
    theirs = (
        LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(sample, label)
        if kind == "lda"
        else PCA(2, whiten=kind == "whiten").fit(sample)
    )
    ours = Domain((made,)).encode_queries(sample)
    expected = theirs.transform(sample)
    expected = expected - expected.mean(axis=0)
    lengths = np.linalg.norm(expected, axis=1)
    expected = expected / np.maximum(lengths, np.quantile(lengths, 0.99))[:, None]
    assert np.abs(ours) == pytest.approx(np.abs(expected), abs=1e-6)
    assert len(made.sample) == 64 and "300 public records" in made.origin
    assert made == learned_encoder(sample, kind, None if kind == "lda" else 2, label=label if kind == "lda" else None)


def test_the_digest_of_a_public_sample_is_of_all_records_and_classes_and_tells_encoders_apart():
    sample, label = rng.normal(0, 1, (60, 3)), np.arange(60) % 2
    other, relabelled = sample.copy(), label.copy()
    other[-1, -1] += 1e-9
    relabelled[-1] = 0
    made = [
        learned_encoder(*one, label=classes) for one, classes in (((sample, "lda"), label), ((other, "lda"), label))
    ]
    made.append(learned_encoder(sample, "lda", label=relabelled))
    assert len({one.sample for one in made}) == 3
    assert replace(made[0], sample=made[1].sample) != made[0]


def test_a_pipeline_becomes_plain_numbers_and_others_are_refused():
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler

    sample = np.abs(rng.normal(0, 2, (80, 5)))
    reads = (Vector("x", 5, 0.0, 20.0),)
    pipeline = make_pipeline(
        FunctionTransformer(np.log1p), StandardScaler(), PCA(3), MinMaxScaler((-1, 1)), Normalizer()
    ).fit(sample)
    made = encoder_of_pipeline(pipeline, reads)
    assert Domain((made,)).encode_queries(sample) == pytest.approx(pipeline.transform(sample), abs=1e-6)
    for part in (PolynomialFeatures(2).fit(sample), FunctionTransformer(lambda x: x), StandardScaler()):
        with pytest.raises(RequestError, match="of the pipeline"):
            encoder_of_pipeline(part, reads)


def test_samples_that_teach_nothing_are_refused():
    for sample, kind, label in (
        (np.zeros((5, 3)), "pca", None),
        (np.full((50, 3), np.nan), "pca", None),
        (np.ones((50, 3)), "lda", None),
        (np.ones((50, 3)), "lda", np.zeros(50)),
        (pd.DataFrame({"a": ["x"] * 50}), "pca", None),
        (pd.DataFrame({"a": [1.0] * 50}), "lda", "b"),
    ):
        with pytest.raises(RequestError):
            learned_encoder(sample, kind, label=label)


def test_a_released_file_has_the_encoder_and_is_asked_by_the_columns_as_they_were():
    frame = pd.DataFrame({f"x{i}": rng.normal(0, 1, 400) for i in range(6)})
    made = learned_encoder(frame[:200], "pca", 2)
    domain = Domain((made,))
    sketch = core.Race(domain, core.kernels.Euclidean(0.5), rows=40, groups=4, seed=3)
    released = core.release(sketch, frame[200:], core.Budget(1.0))
    data = released.to_bytes()
    again = core.load(io.BytesIO(data))
    assert again.domain.columns[0] == made
    before, after = again.estimate(frame[:9]), again.estimate(domain.encode_queries(frame[:9]))
    assert np.array_equal(before, after)
    assert released.to_bytes() == data
    hostile = manifest_in(data)
    hostile["domain"]["columns"][0]["steps"][0]["offset"] = [1e300, 0]
    with pytest.raises(ReleaseFileError):
        core.load(io.BytesIO(with_manifest(data, hostile)))


def network(*nodes, constants=(), output=None):
    """A chain as an ONNX file: nodes are (kind, names of further inputs, attributes)."""
    onnx = pytest.importorskip("onnx")
    made, before = [], "x"
    for place, (kind, inputs, facts) in enumerate(nodes):
        taken = [before if one == "." else one for one in inputs] if "." in inputs else [before, *inputs]
        made.append(onnx.helper.make_node(kind, taken, [f"y{place}"], **facts))
        before = f"y{place}"
    held = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, None) for name in ("x", output or before)]
    graph = onnx.helper.make_graph(made, "g", ends[:1], ends[1:], held)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]).SerializeToString()


def test_a_network_that_is_read_does_what_onnx_does():
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    numbers = np.random.default_rng(2)
    held = {
        "w": numbers.normal(size=(5, 4)),
        "b": numbers.normal(size=5),
        "v": numbers.normal(size=(5, 3)),
        "c": np.array([0.5, -2.0, 3.0]),
        "two": np.array(2.0),
        "low": np.array(-0.75),
        "high": np.array(0.75),
    }
    content = network(
        ("Gemm", ("w", "b"), {"transB": 1, "alpha": 0.5, "beta": 2.0}),
        ("Tanh", (), {}),
        ("MatMul", ("v",), {}),
        ("Sub", ("c", "."), {}),
        ("Div", ("two",), {}),
        ("Mul", ("c",), {}),
        ("Add", ("c",), {}),
        ("Flatten", (), {"axis": 1}),
        ("Clip", ("low", "high"), {}),
        constants=held,
    )
    made = encoder_of_onnx(content, (Vector("x", 4, -3.0, 3.0),), ball=False)
    records = numbers.uniform(-3, 3, (50, 4))
    (wanted,) = ReferenceEvaluator(onnx.load_model_from_string(content)).run(None, {"x": records})
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(records.ravel()), 4)
    found = Domain((made,)).encode(pa.RecordBatch.from_arrays([vectors], ["x"]))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert made.length == 3 and "ONNX" in made.origin
    assert column_from_dict(column_to_dict(made)) == made


def test_networks_that_are_no_chain_of_plain_numbers_are_refused():
    reads = (Vector("x", 4, -1.0, 1.0),)
    held = {"k": np.ones((1, 1, 2)), "zero": np.zeros(4)}
    for content, said in (
        (network(("Conv", ("k",), {}), constants=held), "has a Conv"),
        (network(("Add", ("x",), {})), "does not follow"),
        (network(("Div", ("zero",), {}), constants=held), "has a Div"),
        (network(("Relu", (), {}), ("Relu", (), {}), output="y0"), "not that of its last step"),
        (b"nothing", "no ONNX network"),
    ):
        with pytest.raises(RequestError, match=said):
            encoder_of_onnx(content, reads)
