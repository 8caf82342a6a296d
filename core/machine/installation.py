"""Where the app and its samples lie: beside the library in a checkout, inside it once installed."""

from __future__ import annotations

from pathlib import Path

_LIBRARY = Path(__file__).resolve().parents[1]
INSTALLED = (_LIBRARY / "app").is_dir()
APP = _LIBRARY / "app" if INSTALLED else _LIBRARY.parent
"""The folder of app.py, pages, sample_data and the document that the app shows."""
PROGRAM = "frostglass" if INSTALLED else "python -m core"
"""What a person types to run a command."""
