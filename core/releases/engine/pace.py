"""How fast a long reading goes, and how long it will still take."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic

WINDOW = 10.0
"""Seconds that a rate is taken over: long enough to be calm, short enough to follow a disk that slows down."""
SETTLED = 1.0
"""Seconds before the first rate is given; earlier ones say how a reading begins and not how it goes on."""


class Pace:
    """Rows a second over the last seconds, from marks set as the rows are read.

    One thread marks, and any may ask.

    Parameters
    ----------
    total : int | None
        Rows that there are, or None where nobody knows; then no time left is ever given.
    clock : Callable[[], float]
        Seconds on a clock that never goes back.
    rows : int
        Rows that were read before, by an earlier reading that this one continues.
    """

    def __init__(self, total: int | None = None, clock: Callable[[], float] = monotonic, rows: int = 0):
        self.total, self._clock = total, clock
        self._marks: deque[tuple[float, int]] = deque([(clock(), rows)])

    def mark(self, rows: int) -> None:
        """Say that so many rows have been read by now, all together."""
        now = self._clock()
        self._marks.append((now, rows))
        while len(self._marks) > 2 and self._marks[1][0] <= now - WINDOW:
            self._marks.popleft()

    @property
    def rows(self) -> int:
        """Rows read by the last mark."""
        return self._marks[-1][1]

    @property
    def rate(self) -> float | None:
        """Rows a second; None while it cannot be told yet."""
        (began, before), (now, rows) = self._marks[0], self._marks[-1]
        return (rows - before) / (now - began) if now - began >= SETTLED and rows > before else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all rows are read at this rate; None while it cannot be told."""
        rate = self.rate
        return None if rate is None or self.total is None else max(0, self.total - self.rows) / rate
