"""Running a compiled loop on all cores, and linear algebra of small matrices on one.

Numba's own parallel loops refuse to be entered by two threads at once, and the app serves several visitors. The loops
here release the interpreter's lock instead, and each thread gets a range of its own: the caller the first, and threads
that wait for work all their life the others, as starting a thread takes longer than many a range.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

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

    Parameters
    ----------
    work : Callable[[int, int], None]
        Must not write to what another range writes to.
    at_least : int
        Fewest items that are worth a thread of their own.
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
