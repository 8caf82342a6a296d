"""Figures as people read them."""

from __future__ import annotations

from .measuring import BYTES, ERROR

UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
LONG = 120.0
"""Seconds from which minutes are the better unit."""


def duration(seconds: float) -> str:
    """Three digits and the unit that suits them, such as 18.1 min or 1.70 µs."""
    for size, name in UNITS:
        if seconds >= size * (2.0 if size > 1.0 else 1.0):
            return f"{digits(seconds / size)} {name}"
    return f"{digits(seconds * 1e9)} ns"


def digits(value: float) -> str:
    """Three significant digits, without a power of ten, and thousands apart."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    places = 2 if abs(value) < 10 else 1
    while abs(value) < 10.0 ** (1 - places) and places < 9:
        places += 1
    return f"{value:.{places}f}"


def amount(value: float, unit: str) -> str:
    """A value in its unit."""
    if unit == ERROR:
        return f"{100 * value:,.0f}%" if value >= 0.1 else f"{100 * value:.2g}%"
    if unit == BYTES:
        return f"{digits(value / 2**20)} MiB" if value < 2**30 else f"{digits(value / 2**30)} GiB"
    return duration(value)


def times(ratio: float) -> str:
    """How many times as much, such as 25.1 x."""
    return f"{digits(ratio)} ×"
