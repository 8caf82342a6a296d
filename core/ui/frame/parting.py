"""What is left of visits that are over: forgotten within minutes, and its memory given back.

Streamlit keeps a closed page for two minutes, as its browser may come back, and then drops it the next time that
another one closes, which may be never. It would also look through all that lives after every click, which takes longer
than the click itself (`runner.postScriptGC`, off in `.streamlit/config.toml`). Both are done here, in a thread of its
own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ...machine.tables import give_back

PAUSE = 30.0
"""Seconds between two rounds."""
ROUNDS = 10
"""Rounds after the last visit: five minutes, and so well beyond Streamlit's two."""


class Parting:
    """Rounds that are made while somebody is here, and a few more.

    Parameters
    ----------
    tidy : Callable[[], None]
        One round.
    """

    def __init__(self, tidy: Callable[[], None]) -> None:
        self._tidy, self._left, self._lock = tidy, 0, threading.Lock()
        self._here = threading.Event()

    def note(self) -> None:
        """Somebody is here."""
        with self._lock:
            self._left = ROUNDS
        self._here.set()

    def round(self) -> bool:
        """Make a round, unless the last visit is over for long; whether one was made."""
        with self._lock:
            if self._left == 0:
                self._here.clear()
                return False
            self._left -= 1
        self._tidy()
        return True

    def start(self) -> None:
        """Make rounds from now on, as long as the process lives."""
        threading.Thread(target=self._go, name="part with closed pages", daemon=True).start()

    def _go(self) -> None:
        pause = threading.Event()
        while self._here.wait():
            pause.wait(PAUSE)
            self.round()


def forget() -> None:
    """Drop the state of pages that were closed longer ago than their browsers may come back, and its memory."""
    if exists():
        sessions = get_instance()._session_mgr
        assert isinstance(sessions, WebsocketSessionManager)
        storage = sessions._session_storage
        assert isinstance(storage, MemorySessionStorage)
        with sessions._storage_lock:
            len(storage._cache)  # Streamlit's way to drop what has expired
    give_back()
