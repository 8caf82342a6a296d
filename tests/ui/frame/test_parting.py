"""What closed pages leave is dropped, by Streamlit's own rule for how long their browsers may come back."""

import gc
import weakref

from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from core.ui.frame import parting
from core.ui.frame.parting import ROUNDS, Parting, forget


class Page:
    """A page in a circle of references, as Streamlit's sessions are."""

    id = "a page"

    def __init__(self):
        self.itself = self


class Server:
    """As much of Streamlit's server as is asked."""

    def __init__(self, seconds):
        self._session_mgr = WebsocketSessionManager(MemorySessionStorage(ttl_seconds=seconds), None, None, None)

    def close(self, page):
        self._session_mgr._session_storage.save(SessionInfo(client=None, session=page, script_run_count=1))


def kept(monkeypatch, seconds):
    """Whether a closed page is still there after a round, where its browser may come back for some seconds."""
    server, page = Server(seconds), Page()
    monkeypatch.setattr(parting, "exists", lambda: True)
    monkeypatch.setattr(parting, "get_instance", lambda: server)
    server.close(page)
    left = weakref.ref(page)
    del page
    gc.disable()
    try:
        forget()
        return left() is not None
    finally:
        gc.enable()


def test_what_may_not_come_back_is_gone_after_a_round(monkeypatch):
    assert not kept(monkeypatch, 0)
    assert kept(monkeypatch, 3600)


def test_rounds_end_some_time_after_the_last_visit():
    made = []
    rounds = Parting(lambda: made.append(None))
    assert not rounds.round()
    for visit in (1, 2):
        rounds.note()
        assert [rounds.round() for _ in range(ROUNDS + 2)] == [True] * ROUNDS + [False] * 2
        assert len(made) == visit * ROUNDS
