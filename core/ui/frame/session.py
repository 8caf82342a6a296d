"""What one visitor has open, held in Streamlit's session state and nowhere else.

Module globals and ``st.cache_data`` are shared by all visitors, so nothing here is ever put into either: an owner's
records live in the owner's session and end with it. The one exception is a released file, of which several may look at
the same: it is public, whoever opens it brings all of it, and it is forgotten with the last page that shows it.

What is left of visits that are over is forgotten within minutes, and its memory given back. Streamlit keeps a closed
page for two minutes, as its browser may come back, and then drops it the next time that another one closes, which may
be never. It would also look through all that lives after every click, which takes longer than the click itself
(`runner.postScriptGC`, off in `.streamlit/config.toml`). Both are done here, in a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ...errors import RequestError
from ...runtime.counter_tables import give_back

if TYPE_CHECKING:
    from ...domain import Domain
    from ...geometry.kernels import Bandwidth
    from ...local.local_answers import LocalAnswers
    from ...privacy.accounting import Cost
    from ...privacy.budget import Budget
    from ...releases.payment import Purchase, Purchases
    from ...releases.release import Release
    from ...sources import ColumnInfo, Source
    from ...sources.source_opening import Found

KEY = "frostglass"
DESK = "release-desk"  # Session state: the desk at which this visitor's release is made.
MAX_OPENED = 20  # Released files one session holds at once; the oldest goes when another is opened.
# Releases that are open somewhere now, by the SHA-256 of their files.
READ: WeakValueDictionary[str, Release] = WeakValueDictionary()


@dataclass(frozen=True)
class Records:
    """Private: records the visitor picked, before anything was said about them.

    ``number`` tells one pick from the next, so that what was typed about one is never taken for another's. ``found`` is
    what the data says of itself before it is read.
    """

    title: str
    source: Source
    number: int
    sample: str | None = None
    found: Found | None = None

    @cached_property
    def columns(self) -> tuple[ColumnInfo, ...]:
        """Names and kinds of the columns; of a text file all hold texts, as any other kind would be read off values."""
        from ...sources.delimited import DelimitedSource

        if self.sample is not None or not isinstance(self.source, DelimitedSource):
            return self.source.columns
        return tuple(replace(column, kind="text") for column in self.source.columns)


LEAST_FOUND = 100.0  # Noise may find fewer records than there can be.


@dataclass(frozen=True)
class OwnData:
    """Private: the records an owner declared on the Data page, and what the owner said about them in public."""

    title: str
    source: Source
    domain: Domain
    # Name of the bundled sample, or None for the visitor's own records; only a sample's truth may ever be shown.
    sample: str | None = None
    bought: tuple[Purchase, ...] = ()  # What was found out of its columns; a file that shows it promises no less.
    # What no vector of a column is longer than, by its name, where the owner said so: a public fact.
    longest: Mapping[str, float] = field(default_factory=dict)
    # What a declaration that filled its lines says was paid for them, of these records or of others.
    before: tuple[Cost, ...] = ()

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What was paid for what its domain shows."""
        return *self.before, *(one.cost for one in self.bought)

    @property
    def within(self) -> Budget | None:
        """The promise of which a single purchase was the first part; a release may be the rest of it."""
        return self.bought[0].whole if len(self.costs) == 1 == len(self.bought) else None

    @property
    def records(self) -> int | None:
        """How many records there are about, in two digits, where that was found out; noise may find none at all."""
        return int(float(f"{max(LEAST_FOUND, self.bought[-1].records):.2g}")) if self.bought else None


@dataclass(frozen=True)
class Opened:
    """Public: a released file, as bytes and as the release read from them, or the part of it that is asked.

    ``part`` says which part of a file with groups ``release`` is: the name of a group, or "" for everyone together;
    None for the file as it is. ``question`` is the name of the part that is asked, of a file that answers several.
    ``bandwidth`` is what the visitor chose to read it with, None for the file's own. ``grouped`` is the release with
    its groups, which ``release`` is a part of; ``several`` is that of all questions, which it answers one of.
    ``title`` is what its owner calls it, for the owner's eyes: it names a data set, and goes into no file.
    """

    name: str
    data: bytes
    release: Release
    part: str | None = None
    question: str | None = None
    bandwidth: Bandwidth | None = None
    grouped: Release | None = None
    several: Release | None = None
    title: str = ""

    @property
    def called(self) -> str:
        """What the visitor is shown it as: the data and the question, where the visitor owns it, or the file's name."""
        return self.title or self.name

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the file."""
        return sha256(self.data).hexdigest()

    @property
    def identity(self) -> str:
        """What public answers are remembered by: the file, and which part of it is asked."""
        asked = [self.question, self.part, *([] if self.bandwidth is None else [self.bandwidth])]
        asked += [] if self.release.population is None else ["population"]
        return self.fingerprint if asked == [None, None] else f"{self.fingerprint} {asked}"

    @property
    def stem(self) -> str:
        """The file's name without its ending: what is saved from it is named after it."""
        return self.name.removesuffix(".npz")


def read_release(data: bytes) -> Release:
    """The release of a file, the same for all who have it open; ReleaseFileError when it is damaged."""
    # Reading a release compiles; a visitor who opens none should not wait for that on the first page.
    from ...releases.release import load

    digest = sha256(data).hexdigest()
    release = READ.get(digest)
    if release is None:
        release = READ[digest] = load(data)
    return release


@dataclass(frozen=True)
class Counted:
    """Public: a file of counted local reports."""

    name: str
    release: LocalAnswers


@dataclass
class Session:
    """Everything one visitor has open."""

    records: Records | None = None  # The records picked on the Data page.
    own: OwnData | None = None  # The declared private data, or None before the Data page was finished.
    dataset: str | None = None  # Name under which ``own`` spends its budget, or None while it has none.
    opened: dict[str, Opened] = field(default_factory=dict)  # Released files by name, oldest first.
    current: str | None = None  # Name of the released file that the pages on released sketches show.
    counted: Counted | None = None  # The file of local reports that Explore shows in place of ``current``, if any.

    @cached_property
    def purchases(self) -> Purchases:
        """What was found out for a price."""
        from ...releases.payment import Purchases  # what prices them takes a while to load, and each page has a visit

        return Purchases()

    @cached_property
    def folder(self) -> Path:
        """A folder for what must end with the session; it is removed with it."""
        self._folder = TemporaryDirectory(prefix="frostglass-session-")
        return Path(self._folder.name)

    @property
    def shown(self) -> Opened | None:
        """The released file that is looked at now."""
        return self.opened.get(self.current) if self.current is not None else None

    def pick(self, title: str, source: Source, sample: str | None = None, found: Found | None = None) -> Records:
        """Take records to be described next; what was declared about earlier ones no longer holds."""
        number = 1 if self.records is None else self.records.number + 1
        self.records = Records(title, source, number, sample, found)
        self.own = self.dataset = None
        return self.records

    def open_counted(self, name: str, data: bytes) -> None:
        """Read a file of counted local reports and show it; ReleaseFileError when it is damaged."""
        from ...local.local_release import load_local

        self.counted = Counted(name, load_local(data))

    def open(self, name: str, data: bytes, title: str = "") -> Opened:
        """Read a released file, remember it and make it the current one.

        ReleaseFileError when the file is damaged or of another kind; what was open stays open.
        """
        return self.remember(name, data, read_release(data), title)

    def remember(self, name: str, data: bytes, release: Release, title: str = "") -> Opened:
        """Keep a release whose file is at hand already (one just made), and make it the current one."""
        opened = Opened(name, data, release, title=title)
        self.opened.pop(name, None)
        self.opened[name] = opened
        while len(self.opened) > MAX_OPENED:
            self.opened.pop(next(iter(self.opened)))
        self.current = name
        self.counted = None
        return opened

    def close(self, name: str) -> None:
        """Forget a released file; the one opened last before it becomes the current one."""
        if name not in self.opened:
            raise RequestError("That file is not open in this session.")
        del self.opened[name]
        if self.current == name:
            self.current = next(reversed(self.opened), None)


def session() -> Session:
    """The state of the visitor whose script runs now, made on first use."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    return st.session_state[KEY]


PAUSE = 30.0  # Seconds between two rounds.
ROUNDS = 10  # Rounds after the last visit: five minutes, and so well beyond Streamlit's two.
PATIENCE = 20.0  # Seconds for which what is got ready beside pages waits for one.


class Parting:
    """Rounds that are made while somebody is here, and a few more; and who waits for a page just now."""

    def __init__(self, tidy: Callable[[], None]) -> None:
        self._tidy, self._left, self._lock = tidy, 0, threading.Lock()
        self._here, self._drawn = threading.Event(), threading.Condition()
        self._waiting = 0

    def note(self) -> None:
        """Somebody is here."""
        with self._lock:
            self._left = ROUNDS
        self._here.set()

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Somebody is here and waits for a page, until the end of the block."""
        self.note()
        with self._drawn:
            self._waiting += 1
        try:
            yield
        finally:
            with self._drawn:
                self._waiting -= 1
                self._drawn.notify_all()

    def give_way(self) -> None:
        """Wait until nobody waits for a page: one processor is Python's, and who works beside a page takes half."""
        with self._drawn:
            self._drawn.wait_for(lambda: not self._waiting, PATIENCE)

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
