"""What the buttons of a large picture do."""

from __future__ import annotations

from ..frame.session import Opened


def picture_config(opened: Opened) -> dict:
    """What Plotly's own buttons do: the camera saves a picture named after the file."""
    return {"toImageButtonOptions": {"format": "png", "filename": opened.stem, "scale": 2}, "scrollZoom": False}
