"""Memory that nobody uses any more goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys


def give_back() -> None:
    """Look through all that lives for what nobody can reach, and hand the pages that were freed to the system.

    It takes about as long as a click on a page, so it is no part of one. Linux's C library keeps freed pages to itself
    until it is told (`malloc_trim`); other systems need no telling, or cannot be told.
    """
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # there is none in Alpine's
        if trim is not None:
            trim(0)
