"""Sizes and times in the unit that suits them."""

from __future__ import annotations

from .numbers import significant

BYTES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3))
SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
NEARLY = 0.995
"""From this share of a unit on it is that unit, as two digits of a smaller one would be a hundred or a thousand."""


def size(count: float) -> str:
    """A number of bytes in two digits.

    Examples
    --------
    >>> size(999_500), size(23_456), size(612)
    ('1 MB', '23 KB', '612 bytes')
    """
    for unit, one in BYTES:
        if count >= NEARLY * one:
            return f"{significant(count / one, 2)} {unit}"
    return f"{count:,.0f} bytes"


def taken(seconds: float) -> str:
    """A time that was measured, in two digits.

    Examples
    --------
    >>> taken(0.0123), taken(75)
    ('12 ms', '75 s')
    """
    for unit, one in SECONDS:
        if seconds >= NEARLY * one:
            return f"{significant(seconds / one, 2)} {unit}"
    return f"{significant(seconds / 1e-9, 2)} ns"


def wait(seconds: float) -> str:
    """A time to wait that was forecast, no more precisely than anyone can know.

    Examples
    --------
    >>> wait(0.2), wait(63), wait(500), wait(9000)
    ('a second', 'about 63 seconds', 'about 8 minutes', 'about 2 hours')
    """
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.0f} hours"


def time_left(seconds: float) -> str:
    """How much longer something takes: as `wait`, in steps of five seconds so that it does not flicker.

    Examples
    --------
    >>> time_left(3), time_left(63), time_left(500)
    ('a few seconds left', 'about 65 seconds left', 'about 8 minutes left')
    """
    if seconds < 8:
        return "a few seconds left"
    return f"{wait(5 * max(2, round(seconds / 5)) if seconds < 90 else seconds)} left"
