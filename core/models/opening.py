"""Opening model files of every kind."""

from __future__ import annotations

from pathlib import Path

from ..errors import ReleaseFileError, RequestError
from ..runtime import strict_json
from .linear_model import LinearModel
from .number_model import MOST_IN_FILE, NumberModel
from .records import Task

Model = LinearModel | NumberModel
KINDS: dict[str, type[LinearModel] | type[NumberModel]] = {
    kind: model for model in (LinearModel, NumberModel) for kind in model.kinds
}
MOST_BYTES = 1 << 28
A_NUMBER, BESIDE_THE_NUMBERS = 25, 1 << 20
"""Bytes of a file: for a number with what stands before the next, and for all else but what is said of columns."""


def model_of(facts: object) -> Model:
    """The model that `to_dict` wrote; RequestError where it is none."""
    kind = facts.get("kind") if isinstance(facts, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise RequestError("It is of no kind that is known here.")
    return KINDS[kind].from_dict(facts)


def most_bytes(task: Task) -> int:
    """Bytes that a model's file takes at most, from public facts, so that room is taken before it is paid for."""
    width = task.features.dimensions + 1
    numbers = width * (max(1, len(task.categories)) + 1) + min(width, MOST_IN_FILE) ** 2
    return A_NUMBER * numbers + 4 * len(strict_json.dumps(task.domain.to_dict())) + BESIDE_THE_NUMBERS


def load_model(source: str | Path | bytes) -> Model:
    """Open a model file; a stranger's is safe to open.

    Raises
    ------
    ReleaseFileError
        When the contents are not a model that this version knows.
    """
    try:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
    except OSError as problem:
        raise RequestError(f"There is no model that can be read: {problem.strerror or problem}.") from None
    if len(content) > MOST_BYTES:
        raise ReleaseFileError("This file is too large for a model.")
    try:
        return model_of(strict_json.loads(content.decode()))
    except RequestError as problem:
        raise ReleaseFileError(f"This is not a model that this version can read: {problem}") from None
    except ValueError:
        raise ReleaseFileError("This is not a model that this version can read: it is no JSON of that kind.") from None
