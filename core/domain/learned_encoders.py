"""Encoders learned on public records; linear pipelines of scikit-learn, and ONNX networks, as the steps of an encoder.

What is learned here is never of private records: whoever gives the sample says that all of it is public, and its digest
and the map are in every file made with it. That the choice of a map tells nothing of the private records holds because
none was read; see `core.domain.encoders` for the whole proof.

Learned maps end in the unit ball: coordinates are divided by the length that all but one in a hundred public records
keep below, and longer ones are shortened to 1, so that no mechanism pays for a few far records.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import RequestError
from ..formatting.numbers import listed
from ..runtime.counter_tables import Floats
from ..runtime.environment import check_extra
from ..runtime.parameters import check_choice, check_integer
from .encoders import FUNCTIONS, MOST_NUMBERS, Encoder
from .numeric import Numeric, Vector

KINDS = ("lda", "pca", "whiten")
LEAST_RECORDS = 20
NEARLY_ALL = 0.99  # Of the public records are not shortened.
DIGITS = 8  # Of each number that was learned, as files hold them.
OUTPUT = "encoded"


def learned_encoder(
    sample: object,
    kind: str = "pca",
    dimensions: int | None = None,
    *,
    label: object = None,
    columns: Sequence[str] | None = None,
    name: str = OUTPUT,
    of: str = "public records",
) -> Encoder:
    """The encoder that public records teach.

    Parameters
    ----------
    sample : object
        Public records: an array (n, d), read as one column of vectors called ``x``, or a pandas frame.
    kind : str
        "pca", the directions along which they differ most; "whiten", the same with equal spread along each; "lda",
        those that tell classes apart best, with the covariance shrunk by Ledoit and Wolf's rule.
    dimensions : int | None
        How many numbers it gives; None for all that "lda" has (classes less one), and at most 32 otherwise.
    label : object
        Of "lda" the class of each record, or the name of a column of the frame.
    columns : Sequence[str] | None
        Of a frame, those that it reads; None for all columns of numbers and vectors but the label.
    name, of : str
        What the encoded column is called; what the records are, for the label.

    Raises
    ------
    RequestError
        When the records are too few, or are not numbers.
    """
    check_choice(kind, "The kind of an encoder", KINDS)
    if isinstance(label, str):
        if not isinstance(sample, pd.DataFrame) or label not in sample:
            raise RequestError(f"The public sample has no column {label!r}.")
        columns = columns or [str(column) for column in sample if column != label]
        label = sample[label].to_numpy()
    reads, points = _read(sample, columns)
    classes = None if label is None else np.asarray(label).astype(str)
    if kind == "lda" and (classes is None or classes.shape != (len(points),) or len(np.unique(classes)) < 2):
        raise RequestError("LDA needs the class of every public record, and two classes or more.")
    most = min(points.shape[1], len(points) - 1)
    most = min(most, len(np.unique(classes)) - 1) if kind == "lda" else most  # type: ignore[arg-type]
    wanted = min(most, 32) if dimensions is None else check_integer(dimensions, "The dimensions of an encoder", 1, most)
    matrix, offset = _directions(points, kind, wanted, classes)
    images = points @ matrix.T + offset
    radius = float(np.quantile(np.linalg.norm(images, axis=1), NEARLY_ALL)) or 1.0
    if matrix.size + wanted > MOST_NUMBERS:
        raise RequestError(
            f"{matrix.size:,} numbers are more than the {MOST_NUMBERS:,} of an encoder: fewer dimensions."
        )
    steps = ({"matrix": rounded(matrix / radius), "offset": rounded(offset / radius)}, {"ball": 1.0})
    words = {"pca": "PCA", "whiten": "whitening", "lda": "LDA"}[kind]
    digest = hashlib.sha256(np.ascontiguousarray(points, dtype="<f8").tobytes())
    digest.update(b"" if classes is None else "\n".join(classes).encode())
    origin = f"{words} of {len(points):,} {of}"
    return Encoder(name, wanted, -1.0, 1.0, "", reads, steps, origin, digest.hexdigest())


def encoder_of_pipeline(
    pipeline: object,
    reads: Sequence[Numeric | Vector],
    bounds: tuple[float, float] = (-1.0, 1.0),
    *,
    ball: bool = True,
    name: str = OUTPUT,
    origin: str = "a scikit-learn pipeline",
) -> Encoder:
    """A fitted scikit-learn transformer, or a pipeline of them, as plain numbers.

    `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `PCA`, `LinearDiscriminantAnalysis`, `Normalizer` (L2), and
    `FunctionTransformer` of a NumPy function that encoders have. What it was fitted on must be public.

    Parameters
    ----------
    reads : Sequence[Numeric | Vector]
        The columns that it takes, in order, with public bounds.
    bounds : tuple[float, float]
        What the numbers are clipped to.
    ball : bool
        Whether records longer than the upper bound are shortened to it.

    Raises
    ------
    RequestError
        When a step is no linear map or named function.
    """
    parts = [part for _, part in pipeline.steps] if hasattr(pipeline, "steps") else [pipeline]
    steps = [step for part in parts if part not in (None, "passthrough") for step in _steps_of(part)]
    steps += [{"ball": float(bounds[1])}] if ball else [{"clip": list(bounds)}]
    length = sum(one.width for one in reads)
    for step in steps:
        length = len(step["matrix"]) if "matrix" in step else length
    return Encoder(name, length, *bounds, "", tuple(reads), tuple(steps), origin)


def _steps_of(part: Any) -> list[dict[str, Any]]:
    kind = type(part).__name__
    try:
        if kind == "StandardScaler":
            scale = np.ones(part.n_features_in_) if part.scale_ is None else 1.0 / part.scale_
            return [_scaled(scale, np.zeros_like(scale) if part.mean_ is None else -part.mean_ * scale)]
        if kind == "MinMaxScaler":
            return [_scaled(part.scale_, part.min_)] + ([{"clip": list(part.feature_range)}] if part.clip else [])
        if kind == "MaxAbsScaler":
            return [_scaled(1.0 / part.scale_, np.zeros(part.n_features_in_))]
        if kind == "PCA":
            matrix = part.components_ / (np.sqrt(part.explained_variance_)[:, None] if part.whiten else 1.0)
            return [{"matrix": rounded(matrix), "offset": rounded(-matrix @ part.mean_)}]
        if kind == "LinearDiscriminantAnalysis":
            matrix = part.scalings_[:, : part._max_components].T
            centre = part.xbar_ if part.solver == "svd" else np.zeros(matrix.shape[1])
            return [{"matrix": rounded(matrix), "offset": rounded(-matrix @ centre)}]
        if kind == "Normalizer" and part.norm == "l2":
            return [{"sphere": 1.0}]
        if kind == "FunctionTransformer":
            if part.func is None:
                return []
            named = getattr(part.func, "__name__", "")
            known = {"absolute": "abs", "fabs": "abs"}.get(named, named)
            if getattr(np, named, None) is part.func and known in FUNCTIONS and not part.kw_args:
                return [{"function": known}]
    except AttributeError:
        raise RequestError(
            f"The {kind} of the pipeline is not fitted, or cannot be written as plain numbers."
        ) from None
    raise RequestError(
        f"The {kind} of the pipeline is no linear map and no function that an encoder has "
        f"({listed(list(FUNCTIONS), len(FUNCTIONS))})."
    )


def encoder_of_onnx(
    network: bytes,
    reads: Sequence[Numeric | Vector],
    bounds: tuple[float, float] = (-1.0, 1.0),
    *,
    ball: bool = True,
    name: str = OUTPUT,
    origin: str = "an ONNX network",
) -> Encoder:
    """A public network in an ONNX file, one step after the other, as plain numbers.

    Linear maps (Gemm, MatMul), constants that are added, subtracted, multiplied or divided by, the functions that
    encoders have, Clip and LpNormalization. It is read and never run, so that images are the same bit for bit on every
    computer, which a library that runs networks does not promise. What it was trained on must be public.

    `network`: The contents of the file, which may be a stranger's. `reads`, `bounds`, `ball`: As of
    `encoder_of_pipeline`. RequestError when it is no such chain, or the package is missing.
    """
    check_extra("onnx", "onnx", "Reading an ONNX network")
    import onnx

    try:
        graph = onnx.load_model_from_string(network).graph
        held = {one.name: _constant(one) for one in graph.initializer}
        (given,) = [one.name for one in graph.input if one.name not in held]
        (wanted,) = [one.name for one in graph.output]
    except RequestError:
        raise
    except Exception:  # of protobuf and onnx, whose kinds of faults are many
        raise RequestError("The file is no ONNX network with one input and one output.") from None
    length, steps = sum(one.width for one in reads), list[dict[str, Any]]()
    for node in graph.node:
        facts = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Constant" and isinstance(facts.get("value"), onnx.TensorProto):
            held[node.output[0]] = _constant(facts["value"])
            continue
        moving = [one for one in node.input if one and one not in held]
        if moving != [given]:
            raise RequestError(f"The {node.op_type} of the network does not follow on the step before it alone.")
        values = [None if one == given else held.get(one) for one in node.input]
        found = _onnx_step(node.op_type, facts, values, length)
        steps += found
        length = len(found[0]["matrix"]) if found and "matrix" in found[0] else length
        given = node.output[0]
    if given != wanted:
        raise RequestError("The output of the network is not that of its last step.")
    steps += [{"ball": float(bounds[1])}] if ball else [{"clip": list(bounds)}]
    said = f"{origin} ({hashlib.sha256(network).hexdigest()[:16]})"
    return Encoder(name, length, *bounds, "", tuple(reads), tuple(steps), said)


LEFT_ALONE = ("Identity", "Dropout", "Flatten", "Cast")  # Of one record, which is a row.
NAMED = {"Abs": "abs", "Sqrt": "sqrt", "Relu": "relu", "Tanh": "tanh", "Exp": "exp", "Sin": "sin", "Cos": "cos"}


def _constant(tensor: Any) -> Floats:
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL:
        raise RequestError("The numbers of the network lie in another file; save it as one.")
    return np.asarray(numpy_helper.to_array(tensor), dtype=np.float64)


def _onnx_step(kind: str, facts: dict[str, Any], values: Sequence[Floats | None], length: int) -> list[dict[str, Any]]:
    """The steps of an encoder that do what a node does, none or one; values are None where it takes what moves."""
    constants = [one for one in values if one is not None]
    if kind in LEFT_ALONE:
        return []
    if kind in NAMED:
        return [{"function": NAMED[kind]}]
    if kind in ("Gemm", "MatMul") and values[0] is None and constants and constants[0].ndim == 2:
        matrix = constants[0] if facts.get("transB") else constants[0].T
        if not facts.get("transA"):
            offset = constants[1].reshape(-1) if len(constants) > 1 else np.zeros(1)
            offset = np.broadcast_to(facts.get("beta", 1.0) * offset, len(matrix))
            return [{"matrix": rounded(facts.get("alpha", 1.0) * matrix), "offset": rounded(offset)}]
    if kind in ("Add", "Sub", "Mul", "Div") and len(constants) == 1 and constants[0].size in (1, length):
        by, one = np.broadcast_to(constants[0].reshape(-1), length), np.ones(length)
        behind = values[0] is None
        if kind in ("Add", "Sub"):
            return [_scaled(one if kind == "Add" or behind else -one, by if kind == "Add" or not behind else -by)]
        if kind == "Mul" or (behind and np.all(by != 0.0)):
            return [_scaled(by if kind == "Mul" else 1.0 / by, np.zeros(length))]
    if kind == "Clip":
        ends = [*constants] if constants else [np.asarray(facts[end]) for end in ("min", "max") if end in facts]
        if len(ends) == 2 and all(end.size == 1 for end in ends):
            return [{"clip": [float(end.reshape(())) for end in ends]}]
    if kind == "LpNormalization" and facts.get("p", 2) == 2 and facts.get("axis", -1) in (-1, 1):
        return [{"sphere": 1.0}]
    known = ("Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "Clip", "LpNormalization", *NAMED, *LEFT_ALONE)
    raise RequestError(
        f"The network has a {kind} that cannot be written as plain numbers; encoders are chains of "
        f"{listed(list(known), len(known))} with constants."
    )


def _scaled(scale: Floats, offset: Floats) -> dict[str, Any]:
    return {"scale": rounded(scale), "offset": rounded(offset)}


def _directions(points: Floats, kind: str, wanted: int, classes: np.ndarray | None) -> tuple[Floats, Floats]:
    """Rows of a linear map, and what is added."""
    if kind == "lda":
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        spread = points.std(axis=0)
        moves = spread > 0.0
        fitted = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(points[:, moves], classes)
        matrix = np.zeros((wanted, points.shape[1]))
        matrix[:, moves] = fitted.scalings_[:, :wanted].T
        return matrix, -matrix @ points.mean(axis=0)
    from sklearn.decomposition import PCA

    fitted = PCA(wanted, svd_solver="full", whiten=kind == "whiten").fit(points)
    matrix = fitted.components_
    if kind == "whiten":
        matrix = (
            matrix / np.sqrt(np.maximum(fitted.explained_variance_, 1e-12 * fitted.explained_variance_[0]))[:, None]
        )
    return matrix, -matrix @ points.mean(axis=0)


def rounded(numbers: Floats) -> Any:
    """The same to so many digits that files stay short; nested lists of them."""
    numbers = np.asarray(numbers, dtype=np.float64)
    with np.errstate(divide="ignore"):
        places = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(numbers == 0.0, 1.0, np.abs(numbers)))))
    return (np.rint(numbers * places) / places).tolist()


def _read(sample: object, columns: Sequence[str] | None) -> tuple[tuple[Numeric | Vector, ...], Floats]:
    """The columns with the least and greatest public number as bounds, and the records as coordinates."""
    if isinstance(sample, pd.DataFrame):
        names = [str(one) for one in sample] if columns is None else list(columns)
        absent = [name for name in names if name not in sample]
        if absent:
            raise RequestError(f"The public sample has no column {absent[0]!r}.")
        blocks = {name: _block(name, sample[name]) for name in names}
    else:
        points = np.asarray(sample)
        blocks = {"x": _block("x", points)}
    reads = tuple(
        Numeric(name, *_ends(block)) if block.ndim == 1 else Vector(name, block.shape[1], *_ends(block))
        for name, block in blocks.items()
    )
    together = np.column_stack(list(blocks.values()))
    if len(together) < LEAST_RECORDS:
        raise RequestError(f"An encoder is learned on {LEAST_RECORDS} public records at least.")
    return reads, together


def _block(name: str, values: Any) -> Floats:
    """A column of a public sample as float64, (n,) or (n, d)."""
    try:
        if isinstance(values, pd.Series) and values.dtype == object:
            values = np.stack([np.asarray(one, dtype=np.float64) for one in values])
        block = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RequestError(
            f"The column {name!r} of the public sample must hold numbers, or lists of one length."
        ) from None
    if block.ndim not in (1, 2) or not block.size or not np.isfinite(block).all():
        raise RequestError(f"The column {name!r} of the public sample must hold finite numbers, and none missing.")
    return block


def _ends(block: Floats) -> tuple[float, float]:
    low, high = float(block.min()), float(block.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)
