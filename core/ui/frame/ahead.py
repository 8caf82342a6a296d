"""What is got ready while a visitor reads the first page: the program that draws charts, and the parts of all pages.

A browser takes almost a second of its processor to begin Streamlit's program for charts, and does so when the first
chart comes: after the click that asked for it. Here it begins when the browser has nothing else to do. Where a version
of Streamlit names its files otherwise, nothing is got ready, and everything comes when it is needed.
"""

from __future__ import annotations

import json
import pkgutil
from importlib import import_module
from pathlib import Path

import streamlit as st

PARTS = ("PlotlyChart", "ButtonGroup", "Selectbox", "NumberInput", "DownloadButton", "Slider")
"""Of Streamlit's program in the browser, those that most pages need and Home does not."""
LATEST = 3000
"""Milliseconds after which a browser that is never idle begins nevertheless."""
ALONE = ".serving"
"""How the program that serves others begins: no page needs it."""


def load_in_browser() -> None:
    """Let the visitor's browser load what most pages need, once it is idle."""
    names = json.dumps([f"./static/js/{path.name}" for path in parts()])
    script = f"""
(window.requestIdleCallback ?? setTimeout)(async () => {{
  for (const name of {names}) await import(new URL(name, document.baseURI)).catch(() => null);
}}, {{ timeout: {LATEST} }});
"""
    st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def parts() -> list[Path]:
    """The files of `PARTS` in the Streamlit that is installed."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    return [path for part in PARTS for path in sorted(folder.glob(f"{part}.*.js"))]


def load_pages() -> None:
    """Import what all pages are made of."""
    from ... import ui

    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        if ALONE not in module.name:
            import_module(module.name)
