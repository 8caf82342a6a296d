"""A line of those who wait for one of a few places, first come first served, and whether they are still there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, local
from time import monotonic
from weakref import WeakValueDictionary


class Line:
    """So many places, and those who have or await one; any thread may ask it.

    Nobody is woken: whoever waits looks again, as they have to look whether they are wanted anyway.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self._here: list[object] = []
        self._lock = Lock()

    @contextmanager
    def joined(self) -> Iterator[object]:
        """Be in the line, at its end first; what is given tells who it is, and leaves with the block."""
        who = object()
        with self._lock:
            self._here.append(who)
        try:
            yield who
        finally:
            with self._lock:
                self._here.remove(who)

    def ahead(self, who: object) -> int:
        """How many have to leave until it is their turn; 0 once it is."""
        with self._lock:
            return max(0, self._here.index(who) + 1 - self.places)


class FairLine:
    """A line in which everyone stands once: what else is theirs waits until then, and goes to its end.

    So many pages of one visitor keep another waiting no longer than one page does. Work within work whose turn has come
    has its turn, too: a thread never waits for itself.
    """

    def __init__(self, places: int) -> None:
        self._line = Line(places)
        self._own: WeakValueDictionary[str, Line] = WeakValueDictionary()
        self._lock = Lock()
        self._thread = local()

    @contextmanager
    def taken(self, whose: str, wait: Callable[[], None]) -> Iterator[None]:
        """Work when it is somebody's turn; the place is free again after the block.

        Parameters
        ----------
        whose : str
            Tells one visitor from another.
        wait : Callable[[], None]
            Passes a moment, until it is looked again; what it raises leaves the line.
        """
        if getattr(self._thread, "working", False):
            yield
            return
        with self._lock:
            own = self._own.setdefault(whose, Line(1))
        with own.joined() as mine:
            while own.ahead(mine):
                wait()
            with self._line.joined() as place:
                while self._line.ahead(place):
                    wait()
                self._thread.working = True
                try:
                    yield
                finally:
                    self._thread.working = False


# Seconds that somebody may be away before they count as gone: as long as Streamlit keeps a session that lost its
# browser, which a closed tab, a laptop that sleeps and a weak network all do alike.
PATIENCE = 120.0


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
