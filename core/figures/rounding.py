"""Numbers as people should read them: with the digits that their error supports, and no more.

A number is rounded to the largest power of ten that is not above its standard error, so rounding moves it by half an
error at most: 6,483 ± 95 is shown as 6,480 and 6,483 ± 140 as 6,500.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

EXACT_DIGITS = 12
"""Digits shown of a number without error; beyond them floating point itself is in doubt."""
MINUS = "\N{MINUS SIGN}"
UNKNOWN = "unknown"


def place(error: float) -> int:
    """The exponent k of the largest power of ten, 10**k, that is not above a finite error above zero.

    Raises
    ------
    ValueError
        When the error is not a finite number above zero.
    """
    if not 0 < error < math.inf:
        raise ValueError("Only a finite error above zero has a place.")
    exponent = math.floor(math.log10(error))
    # The logarithm of a power of ten may fall just beside the whole number.
    return exponent + (10.0 ** (exponent + 1) <= error) - (10.0**exponent > error)


def rounded(value: float, error: float) -> str:
    """A number in the digits that its error supports, with separators between thousands.

    Parameters
    ----------
    value : float
        Any number.
    error : float
        Its standard error, in the same unit; 0 for an exact number. Of infinite error, nothing is known.

    Examples
    --------
    >>> rounded(6483, 95), rounded(6483, 140), rounded(0.0123, 0.004)
    ('6,480', '6,500', '0.012')
    """
    return _digits(value, error, round)


def best_guess(value: float, error: float) -> str:
    """`rounded`; or two digits of a number whose error nobody knows, as its size is known nevertheless.

    Examples
    --------
    >>> best_guess(6483, 95), best_guess(6483, float("inf"))
    ('6,480', '6,500')
    """
    if math.isfinite(value) and not math.isfinite(error):
        return f"{float(f'{value:.2g}'):,.{EXACT_DIGITS}g}".replace("-", MINUS)
    return rounded(value, error)


def rounded_range(low: float, high: float, error: float) -> tuple[str, str]:
    """Both ends of an interval, rounded outwards, so that it still holds what it promises to hold.

    Examples
    --------
    >>> rounded_range(6258.6, 6707.4, 95)
    ('6,250', '6,710')
    """
    return _digits(low, error, math.floor), _digits(high, error, math.ceil)


def rounded_all(values: np.ndarray, errors: np.ndarray) -> list[str]:
    """`best_guess` of every value with its own error, both of shape (n,)."""
    return [best_guess(float(value), float(error)) for value, error in zip(values, errors, strict=True)]


def _digits(value: float, error: float, towards: Callable[[float], int]) -> str:
    if math.isnan(value) or math.isnan(error):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if error == 0:
        return f"{value:,.{EXACT_DIGITS}g}".replace("-", MINUS)
    if math.isinf(error):
        return UNKNOWN
    k = place(error)
    # Powers of ten above 1 are exact in floating point and those below are not, so neither branch divides by 10**-n.
    whole = towards(value * 10.0**-k) if k < 0 else towards(value / 10.0**k)
    text = f"{whole * 10**k:,}" if k >= 0 else f"{whole / 10**-k:,.{-k}f}"
    return text.replace("-", MINUS)
