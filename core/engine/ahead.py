"""Reading ahead: the next batches are made on a thread of their own while the present one is worked on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from itertools import islice, repeat, takewhile
from typing import TypeVar

from ..machine.threads import in_order

Item = TypeVar("Item")
DEPTH = 2
"""Items that are made ahead: one to work on next, and one more for when the two kinds of work take turns in being
slower. Memory holds so many, and the one that is worked on."""


def read_ahead(items: Generator[Item, None, None], depth: int = DEPTH) -> Generator[Item, None, None]:
    """The same items in the same order, made by another thread, at most ``depth`` before they are asked for.

    The first is made by the caller's own: it may come after a long sort, which Ctrl-C reaches on the main thread alone.
    What the generator raises is raised here, in its place. Whoever stops early closes what this returns: no further
    item is begun, the thread ends, and the generator is closed.
    """
    end = object()
    with closing(items):
        yield from islice(items, 1)
        with closing(in_order(repeat(partial(next, items, end)), 1, depth)) as made:
            yield from takewhile(lambda item: item is not end, made)
