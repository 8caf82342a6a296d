"""Values that people or files give, checked with one sentence each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import RequestError

MAX_TEXT = 1_000


def check_text(text: object, what: str) -> None:
    """Refuse a name that is empty, too long, or cannot be written to a file."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT:
        raise RequestError(f"{what} must be a text of 1 to {MAX_TEXT:,} characters.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError(f"{what} holds half a character, which no file can store.") from None


def check_integer(value: object, what: str, least: int, greatest: int) -> int:
    """The value as a Python integer inside the limits."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or not least <= int(value) <= greatest:
        raise RequestError(f"{what} must be a whole number from {least:,} to {greatest:,}.")
    return int(value)


def check_number(value: object, what: str) -> float:
    """The value as a finite Python float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise RequestError(f"{what} must be a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RequestError(f"{what} must be a finite number.")
    return number


def seed_from_digits(value: object, what: str) -> int:
    """A public seed of 128 bits from the 32 hexadecimal digits that files hold, as JSON has no such whole numbers."""
    if not isinstance(value, str) or len(value) != 32 or not set(value) <= set("0123456789abcdef"):
        raise RequestError(f"{what} must be written as 32 hexadecimal digits.")
    return int(value, 16)


def check_choice(value: object, what: str, choices: Sequence[str]) -> None:
    """Refuse a word that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise RequestError(f"{what} must be {' or '.join(map(repr, choices))}.")


def exact_fields(value: object, what: str, expected: Sequence[str]) -> dict[str, Any]:
    """A copy of a JSON object that has the expected fields and no others."""
    if not isinstance(value, dict) or set(value) != set(expected):
        raise RequestError(f"The description of a {what} must have the fields {', '.join(expected)} and no others.")
    return dict(value)


def field_names(kind: type) -> list[str]:
    """Names of the fields of a dataclass, in order."""
    return [field.name for field in fields(kind)]
