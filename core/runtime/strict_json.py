"""JSON without its ambiguities: no key twice, no NaN or infinity, no number beyond 64 bits."""

from __future__ import annotations

import json
import math

LARGEST_INTEGER = (1 << 63) - 1


def dumps(value: object) -> str:
    """The shortest text of a value, the same every time; ValueError for NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def loads(text: str) -> object:
    """The value that a text stands for."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_small_integer,
        )
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is there twice")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError("a number is not finite")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    return value


def _small_integer(digits: str) -> int:
    if len(digits) > 20 or abs(value := int(digits)) > LARGEST_INTEGER:
        raise ValueError("a whole number does not fit into 64 bits")
    return value
