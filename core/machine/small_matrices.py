"""One thread for linear algebra of small matrices, where several would wait for each other longer than they work."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


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
