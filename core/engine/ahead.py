"""Reading ahead: the next batches are made on a thread of their own while the present one is worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
DEPTH = 2
"""Items that are made ahead: one to work on next, and one more for when the two kinds of work take turns in being
slower. Memory holds so many, and the one that is worked on."""


def read_ahead(items: Generator[Item, None, None], depth: int = DEPTH) -> Iterator[Item]:
    """The same items in the same order, made by another thread, at most ``depth`` before they are asked for.

    What the generator raises is raised here, in its place. Whoever stops early closes what this returns: no further
    item is begun, the generator is closed on its own thread, and the thread ends.
    """
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="reading ahead") as thread:
        waiting = deque(thread.submit(next, items, end) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not end:
                waiting.append(thread.submit(next, items, end))
                yield item
        finally:
            for future in waiting:
                future.cancel()
            thread.submit(items.close).result()
