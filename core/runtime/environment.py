"""What the program finds around it: its folder, packages that may be missing, the time, processes beside it, and cores.

Compiled loops run on all cores, and linear algebra of small matrices on one. Numba's own parallel loops refuse to be
entered by two threads at once, and the app serves several visitors. The loops here release the interpreter's lock
instead, and each thread gets a range of its own: the caller the first, and threads that wait for work all their life
the others, as starting a thread takes longer than many a range.

`Line` is of those who wait for one of a few places, first come first served, and knows whether they are still there.
"""

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from threading import Lock, local
from time import monotonic
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from threadpoolctl import ThreadpoolController

from ..errors import RequestError

LIBRARY = Path(__file__).resolve().parents[1]
INSTALLED = (LIBRARY / "app").is_dir()
# The folder of app.py, pages, sample_data and the document that the app shows.
APP = LIBRARY / "app" if INSTALLED else LIBRARY.parent
PROGRAM = "frostglass" if INSTALLED else "python -m core"  # What a person types to run a command.


def check_extra(package: str, extra: str, what: str) -> None:
    """RequestError where a package is missing that an extra of the installation brings."""
    if find_spec(package) is None:
        raise RequestError(f"{what} needs the package {package}: install Frostglass with its extra {extra!r}.")


def utc() -> datetime:
    """Now, in coordinated universal time."""
    return datetime.now(UTC)


def now() -> str:
    """The same in whole seconds, ISO 8601: when a file was made."""
    return utc().replace(microsecond=0).isoformat()


THREADS = "OPENBLAS_NUM_THREADS"  # How many threads NumPy's linear algebra works in.


def become(module: str, *arguments: str) -> None:
    """Run a module of this library in the place of this process.

    Without -P a file in the folder where the command was typed could pass for a library. Linear algebra keeps to one
    thread, unless the variable says otherwise: its matrices are small here and several visitors ask at once, while
    threads that wait for each other at each of them took twice as much of the processors as the work itself.
    """
    os.environ.setdefault(THREADS, "1")
    os.execv(sys.executable, _command(module, *arguments))


def beside(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Run a module of this library likewise, beside this process, which does not wait for it."""
    os.environ.setdefault(THREADS, "1")
    return subprocess.Popen(_command(module, *arguments), stdin=subprocess.DEVNULL)


def _command(module: str, *arguments: str) -> list[str]:
    place, name = str(Path(__file__).resolve().parents[2]), f"{__name__.partition('.')[0]}.{module}"
    begin = f"import runpy, sys; sys.path.insert(0, {place!r}); runpy.run_module({name!r}, run_name='__main__')"
    return [sys.executable, "-P", "-c", begin, *arguments]


VERSION = "0.1.0"
SOFTWARE = f"Frostglass {VERSION}"


Result = TypeVar("Result")
_this_thread = threading.local()


@contextmanager
def one_core() -> Iterator[None]:
    """Loops that this thread runs meanwhile keep to its own core, as others have work for the rest of them."""
    before = getattr(_this_thread, "alone", False)
    _this_thread.alone = True
    try:
        yield
    finally:
        _this_thread.alone = before


def cores() -> int:
    """Cores that this thread may use: those of the process, or its own alone."""
    if getattr(_this_thread, "alone", False):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_ranges(count: int, work: Callable[[int, int], None], at_least: int = 1) -> None:
    """Call ``work(start, stop)`` for consecutive ranges that cover ``range(count)``, one a core.

    `work`: Must not write to what another range writes to. `at_least`: Fewest items that are worth a thread of their
    own.
    """
    parts = max(1, min(cores(), count // max(at_least, 1)))
    if parts == 1:
        work(0, count)
        return
    first, *others = pairwise(count * part // parts for part in range(parts + 1))
    waiting = [_others().submit(work, *bounds) for bounds in others]
    try:
        work(*first)
    finally:
        wait(waiting)  # they write to what the caller owns, so they end before it goes on, whatever happens
    for future in waiting:
        future.result()


def in_order(calls: Iterable[Callable[[], Result]], threads: int, depth: int) -> Generator[Result, None, None]:
    """The results of calls in their order, made by so many threads, at most ``depth`` of them before they are wanted.

    What a call raises is raised here, in its place. Whoever stops early closes what this returns: no further call is
    begun, those that were are waited for, and the threads end.
    """
    todo = iter(calls)
    with ThreadPoolExecutor(threads, thread_name_prefix="ahead") as pool:
        waiting = deque(pool.submit(call) for call in islice(todo, depth))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(call) for call in islice(todo, 1))
                yield result
        finally:
            for future in waiting:
                future.cancel()


@cache
def _others() -> ThreadPoolExecutor:
    """A thread for each further core; what runs on them keeps to its own, so that none waits for another of them."""
    return ThreadPoolExecutor(max(1, cores() - 1), thread_name_prefix="range", initializer=_keep_to_one)


def _keep_to_one() -> None:
    _this_thread.alone = True


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_others.cache_clear)


def one_thread() -> AbstractContextManager[Any]:
    """Linear algebra keeps to one thread meanwhile.

    Where others were at work, two threads that waited for each other at every small matrix took 200 times as long.
    """
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """The libraries that are loaded, which takes 20 ms to find out; an import may bring another."""
    return ThreadpoolController()


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

        `whose`: Tells one visitor from another. `wait`: Passes a moment, until it is looked again; what it raises
        leaves the line.
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

    `look`: Whether their browser is connected now; it may be asked from any thread. `clock`: Seconds on a clock that
    never goes back.
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
