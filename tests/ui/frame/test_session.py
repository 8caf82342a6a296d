"""A visitor's session: what is open, and that a new pick forgets what was declared about the last one."""

import ast
import gc
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from core.errors import RequestError
from core.ui.frame import session
from core.ui.frame.session import MAX_OPENED, ROUNDS, OwnData, Parting, Session, forget
from tests.releases_for_tests import small_release

UI = Path(__file__).parents[3] / "core" / "ui"


@dataclass(frozen=True)
class Stand:
    """Stands in for a source, a domain or a release, which the session only hands on."""

    name: str = ""


def test_a_new_pick_forgets_what_was_declared_about_the_last_one():
    visitor = Session()
    first = visitor.pick("first.csv", Stand("one"))
    visitor.own = OwnData("first.csv", first.source, Stand("domain"))
    visitor.dataset = "patients"
    second = visitor.pick("second.csv", Stand("two"), sample="clinic")
    assert second.number != first.number and second.sample == "clinic"
    assert visitor.own is None and visitor.dataset is None and visitor.records is second


def test_released_files_open_replace_and_close():
    visitor = Session()
    assert visitor.shown is None
    visitor.remember("a.npz", b"a", Stand("a"))
    visitor.remember("b.npz", b"b", Stand("b"))
    visitor.remember("a.npz", b"a2", Stand("a2"))
    assert list(visitor.opened) == ["b.npz", "a.npz"] and visitor.shown.data == b"a2"
    visitor.close("a.npz")
    assert visitor.shown.data == b"b"
    visitor.close("b.npz")
    assert visitor.shown is None and visitor.current is None
    with pytest.raises(RequestError):
        visitor.close("b.npz")


def test_a_file_that_several_look_at_is_read_once_and_forgotten_with_the_last():
    data, other = small_release().to_bytes(), small_release().to_bytes()
    first, second = Session(), Session()
    assert first.open("a.npz", data).release is second.open("b.npz", data).release
    assert first.open("c.npz", other).release is not second.shown.release
    kept = weakref.ref(second.shown.release)
    del first, second
    gc.collect()
    assert kept() is None


def test_a_damaged_file_leaves_open_what_was_open():
    visitor = Session()
    visitor.remember("a.npz", b"a", Stand("a"))
    with pytest.raises(RequestError):
        visitor.open("bad.npz", b"not a release")
    assert visitor.current == "a.npz" and list(visitor.opened) == ["a.npz"]


def test_memory_is_bounded():
    visitor = Session()
    for number in range(MAX_OPENED + 3):
        visitor.remember(f"{number}.npz", b"", Stand())
    assert len(visitor.opened) == MAX_OPENED and visitor.current == f"{MAX_OPENED + 2}.npz"
    assert "0.npz" not in visitor.opened


SHARED = {
    "_once": "forgets who has left; it takes nothing and keeps nothing",
    "_warm_once": "compiles loops; it takes nothing and keeps nothing",
    "_sample_subject": "a bundled sample's exact answers, which are everyone's",
    "live_figure": "a bundled sample at every ε, which is everyone's",
    "_digest_of_bundled": "the digest of a bundled file, which is everyone's",
    "_joined": "live rounds that go on without a page, shown to who has the owner's own key, and without a record",
    "_servers": "servers of polls on the owner's own computer, by its addresses; strangers are shown none",
    "_line": "where the releases of all visitors wait for each other, whatever they are of",
    "_turns": "whose turn it is, and what was found on bundled samples",
}
"""Functions of the shared cache that keep nothing a visitor brings, and why."""
HELD = {"_open": "how this process serves, the same for all", "OneLine": "a type"}
"""Names of modules that are no constants and hold nothing a visitor brings either."""
ANSWERS = (
    "released/public_answers.py",
    "explore/difference_view.py",
    "explore/density_view.py",
    "explore/table_views.py",
)
"""Files that ask released files, which are public, and share what these answer."""
IDENTITIES = ("identity", "fingerprint")
"""What such a function remembers an answer by comes first: the file, so that nobody meets what is not of theirs."""


@pytest.mark.few(24)
@pytest.mark.parametrize("path", sorted(UI.rglob("*.py")), ids=lambda path: path.name)
def test_nothing_a_visitor_brings_is_held_in_a_module(path):
    """Module globals and the shared cache belong to all visitors: only constants, and answers of released files."""
    tree = ast.parse(path.read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal))]
    for node in tree.body:
        alias = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and not alias:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            assert all(name.isupper() or name in HELD for name in names), ast.unparse(node)
    answers = path.relative_to(UI).as_posix() in ANSWERS
    cached = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        if not (answers and any(arg.arg in IDENTITIES for arg in node.args.args[:1]))
        for decorator in map(ast.unparse, node.decorator_list)
        if ("cache_" in decorator or "lru" in decorator)
        and "scope='session'" not in decorator
        and node.name not in SHARED
    ]
    assert not cached, cached


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
    monkeypatch.setattr(session, "exists", lambda: True)
    monkeypatch.setattr(session, "get_instance", lambda: server)
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


def test_what_is_got_ready_waits_while_a_page_is_drawn():
    """A first forecast, asked while pages and maps were got ready beside it, had half of Python's processor."""
    parting, order = Parting(lambda: None), []
    beside = threading.Thread(target=lambda: (parting.give_way(), order.append("beside")))
    with suppress(ZeroDivisionError), parting.drawing():
        beside.start()
        beside.join(0.05)
        order.append("page")
        raise ZeroDivisionError  # as pages end that go to another one
    beside.join(10)
    assert order == ["page", "beside"]
