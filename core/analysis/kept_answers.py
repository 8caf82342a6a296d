"""Answers that were worked out before, in a file: pictures, modes and the like of a release, which take seconds.

A file is a .npz with one array a part of an answer and a table of contents in JSON, which says of each answer of which
kinds it is made and which arrays are its own. Nothing in it runs. Numbers are kept to four significant digits, as the
noise of a release leaves fewer.
"""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from .centres import Centre
from .classification import DecisionMap
from .density import Curve, Heatmap, Pairs, Volume
from .modes import Mode
from .sampling import Sample

# What an answer may be made of, besides arrays, frames, tuples, mappings and plain values.
KINDS: dict[str, Callable[..., object]] = {
    kind.__name__: kind for kind in (Centre, Curve, DecisionMap, Heatmap, Mode, Pairs, Sample, Volume)
}
CONTENTS = "contents"
# Bits of the 23 that a number in single precision has behind its point, which are dropped: what is left is right to one
# part in 16,000.
LOST = 10
Answer = TypeVar("Answer")


class Kept:
    """The answers of a file, each read when it is asked for."""

    def __init__(self, path: Path):
        self._path, self._contents = path, {}
        self._worked_out: set[str] = set()
        if path.is_file():
            with np.load(path, allow_pickle=False) as arrays:
                self._contents = json.loads(bytes(arrays[CONTENTS]))

    def holds(self, name: str) -> bool:
        """Whether an answer is kept, or was worked out before and so is remembered, most likely."""
        return name in self._contents or name in self._worked_out

    def answer(self, name: str, work: Callable[[], Answer]) -> Answer:
        """The answer of a name, worked out where it is not kept."""
        if name not in self._contents:
            answer = work()
            self._worked_out.add(name)
            return answer
        with np.load(self._path, allow_pickle=False) as arrays:
            return _restored(self._contents[name], arrays)


def keep(path: Path, answers: Mapping[str, object]) -> None:
    """Write answers to a file under their names."""
    arrays: dict[str, np.ndarray] = {}
    contents = {name: _taken_apart(answer, arrays) for name, answer in answers.items()}
    arrays[CONTENTS] = np.frombuffer(json.dumps(contents).encode(), np.uint8)
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _taken_apart(value: object, arrays: dict[str, np.ndarray]) -> object:
    """A value in JSON, its arrays put with the others."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"texts": value.tolist()}
        if value.dtype == np.float64:
            return {"numbers": _put(_planes(value), arrays), "shape": value.shape}
        return {"array": _put(value, arrays)}
    if isinstance(value, pd.DataFrame):
        return {"frame": _put(_as_bytes(value), arrays)}
    if isinstance(value, tuple):
        return {"tuple": [_taken_apart(one, arrays) for one in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[_taken_apart(part, arrays) for part in pair] for pair in value.items()]}
    if is_dataclass(value) and type(value).__name__ in KINDS:
        parts = {field.name: _taken_apart(getattr(value, field.name), arrays) for field in fields(value)}
        return {"kind": type(value).__name__, "parts": parts}
    raise TypeError(f"A {type(value).__name__} cannot be kept.")


def _restored(kept: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if not isinstance(kept, dict):
        return kept
    if "array" in kept:
        return arrays[kept["array"]]
    if "numbers" in kept:
        return _numbers(arrays[kept["numbers"]]).reshape(kept["shape"])
    if "texts" in kept:
        return np.array(kept["texts"], dtype=object)
    if "frame" in kept:
        return pa.ipc.open_file(pa.py_buffer(arrays[kept["frame"]].tobytes())).read_pandas()
    if "tuple" in kept:
        return tuple(_restored(one, arrays) for one in kept["tuple"])
    if "mapping" in kept:
        return {_restored(key, arrays): _restored(value, arrays) for key, value in kept["mapping"]}
    parts = {name: _restored(part, arrays) for name, part in kept["parts"].items()}
    return KINDS[kept["kind"]](**parts)


def _put(array: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    name = f"a{len(arrays)}"
    arrays[name] = array
    return name


def _planes(numbers: np.ndarray) -> np.ndarray:
    """Rounded numbers, uint8 (4, n): first bytes first, which are much alike in a picture and so pack well."""
    bits = numbers.astype(">f4").ravel().view(">u4").astype(np.uint64)
    rounded = np.where(np.isfinite(numbers).ravel(), bits + (1 << (LOST - 1)), bits) >> LOST << LOST
    return np.ascontiguousarray(rounded.astype(">u4").view(np.uint8).reshape(-1, 4).T)


def _numbers(planes: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(planes.T).view(">f4").ravel().astype(np.float64)


def _as_bytes(frame: pd.DataFrame) -> np.ndarray:
    table, sink = pa.Table.from_pandas(frame, preserve_index=False), io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)
