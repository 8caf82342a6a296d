"""Whether the visitor whom something is made for is still there."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

PATIENCE = 120.0
"""Seconds that somebody may be away before they count as gone: as long as Streamlit keeps a session that lost its
browser, which a closed tab, a laptop that sleeps and a weak network all do alike."""


class Attendance:
    """Looks whether somebody is there, and remembers since when they are not.

    Parameters
    ----------
    look : Callable[[], bool]
        Whether their browser is connected now; it may be asked from any thread.
    clock : Callable[[], float]
        Seconds on a clock that never goes back.
    """

    def __init__(self, look: Callable[[], bool], clock: Callable[[], float] = monotonic):
        self._look, self._clock = look, clock
        self._away_since: float | None = None

    @property
    def present(self) -> bool:
        """Whether they are there now."""
        if self._look():
            self._away_since = None
            return True
        if self._away_since is None:
            self._away_since = self._clock()
        return False

    @property
    def ended(self) -> bool:
        """Whether they have been away for too long to come back."""
        if self.present or self._away_since is None:
            return False
        return self._clock() - self._away_since > PATIENCE
