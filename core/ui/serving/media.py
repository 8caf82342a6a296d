"""Files that Streamlit holds for a page: whose a picture is, or what a button saves, and where uploads lie."""

from __future__ import annotations

import sys

from starlette.formparsers import MultiPartParser
from streamlit.runtime import get_instance


def sessions_with(file: str) -> list[str]:
    """The sessions whose pages show or offer a file, by the name that its address has.

    Streamlit names files by a hash of their content and gives them to whoever asks by that name. It keeps count of
    which session shows which, so as to forget them, and that is read here.
    """
    manager = get_instance().media_file_mgr
    with manager._lock:
        shown = {session: set(files.values()) for session, files in manager._files_by_session_and_coord.items()}
    return [session for session, files in shown.items() if file in files]


def keep_uploads_in_memory() -> None:
    """Let no upload touch the disk while it comes: above a megabyte Starlette writes it to a temporary file.

    It is in memory as soon as it is whole, and Streamlit bounds how large one may be.
    """
    MultiPartParser.spool_max_size = sys.maxsize
