"""Numba's compiler, keeping compiled loops between runs where something can be written.

Numba keeps them beside the code or, where that is read-only, in the user's cache folder; where it may write to neither,
as in a locked-down container, it refuses to load the code at all. A folder of this process alone then takes their
place: its owner's only, as whoever can write to it could run code here, and gone when the process ends.

The folder is chosen for these loops alone: what else the process compiles, and its environment, stay as they are.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numba
from numba.core import config

LIBRARY = Path(__file__).parents[1]
_CHOOSING = Lock()
SETTINGS: Any = config
"""Numba's, which it makes as it is loaded, so no type checker knows them."""

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Compiled], Compiled]:
    """``numba.njit`` with these options, for a function of this library."""

    def compiled(function: Compiled) -> Compiled:
        with _CHOOSING:
            usual = SETTINGS.CACHE_DIR
            SETTINGS.CACHE_DIR = usual or room(LIBRARY) or ""
            try:
                loop: Compiled = numba.njit(**options)(function)
                return loop
            finally:
                SETTINGS.CACHE_DIR = usual

    return compiled


@cache
def room(library: Path) -> str | None:
    """The folder for the compiled code of a library; None where it can lie beside the code."""
    if os.access(library, os.W_OK):
        return None
    from platformdirs import user_cache_path

    try:
        folder = user_cache_path("frostglass")
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        folder = Path(tempfile.mkdtemp(prefix="frostglass-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(folder)
