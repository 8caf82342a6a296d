"""The drawing of docs/architecture.md is that of today's imports."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "draw_architecture.py"


@pytest.mark.thorough
def test_the_drawing_is_that_of_the_imports():
    spec = importlib.util.spec_from_file_location("draw_architecture", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shown = script.DRAWING.read_text(encoding="utf-8")
    assert shown == script.drawn(), "Draw it again: python -m docs.draw_architecture"
    floor = {room: number for number, rooms in enumerate(script.floors()) for room in rooms}
    arrows = script.arrows()
    assert arrows and all(floor[one] < floor[two] for one, two in arrows)
    assert shown.count("<path") == len(arrows)
