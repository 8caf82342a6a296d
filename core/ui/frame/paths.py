"""Whether a visitor may name files and databases that the server can reach."""

from __future__ import annotations

import os

import streamlit as st

VARIABLE = "FROSTGLASS_ALLOW_PATHS"
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def paths_allowed() -> bool:
    """True when the app serves this computer alone, or when whoever runs it says so.

    A path names a file on the server. When only this computer reaches the app, the visitor and the owner of the disk
    are the same person; when others reach it, every visitor could read whatever the server can. So the address the
    server listens on decides, and the variable ``FROSTGLASS_ALLOW_PATHS`` (1 or 0) overrules it.
    """
    said = os.environ.get(VARIABLE, "").strip().lower()
    if said:
        return said in {"1", "true", "yes"}
    return st.get_option("server.address") in LOOPBACK
