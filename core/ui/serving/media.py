"""Whose a file is that Streamlit holds for a page: a picture, or what a button saves."""

from __future__ import annotations

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
