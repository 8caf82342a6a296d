"""Where compiled loops are kept between runs.

Numba keeps them beside the code or, where that is read-only, in the user's cache folder; where it may write to neither,
as in a locked-down container, it refuses to load the code at all. A folder of this process alone then takes their
place: its owner's only, as whoever can write to it could run code here, and gone when the process ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def find_room(package: Path = Path(__file__).parents[1]) -> None:
    """Name a folder for compiled code in the environment where none can be written to; before Numba is loaded."""
    if VARIABLE in os.environ or os.access(package, os.W_OK):
        return
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
    os.environ[VARIABLE] = str(folder)
