"""Running a compiled loop on all cores.

Numba's own parallel loops refuse to be entered by two threads at once, and the app serves several visitors. The loops
here release the interpreter's lock instead, and a short-lived pool gives each thread a range of its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

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
    count : how many items there are.
    work : must not write to what another range writes to.
    at_least : fewest items that are worth a thread of their own.
    """
    parts = max(1, min(cores(), count // max(at_least, 1)))
    if parts == 1:
        work(0, count)
        return
    edges = [count * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        for future in [pool.submit(work, a, b) for a, b in pairwise(edges)]:
            future.result()
