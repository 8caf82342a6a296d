"""Draws docs/architecture.svg from the imports of the library: `python -m docs.draw_architecture`.

Rooms lie on the floors that pyproject.toml allows them, lower ones know nothing of higher ones. An arrow says that one
room imports from another; arrows that follow from a chain of others are left out.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
DRAWING = Path(__file__).with_name("architecture.svg")
FLOOR, WIDTH, LEFT, BOX, TRACK = 46, 960, 14, 806, 13
STYLE = """
text { font: 13px sans-serif; fill: #1b262b } .name { font-weight: 600 } .what { fill: #55636a }
rect { fill: #eef2f2; stroke: #c9d2d4 } path { fill: none; stroke: #1a9188; stroke-width: 1.3 }
"""


def floors() -> list[list[str]]:
    """The rooms of every floor, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = (contract["layers"] for contract in settings["contracts"] if contract.get("containers") == ["core"])
    return [layer.split(" : ") for layer in layers]


def arrows() -> list[tuple[str, str]]:
    """Who imports from whom, without what follows from other arrows."""
    graph = grimp.build_graph("core", exclude_type_checking_imports=True, cache_dir=None)
    rooms = [room for floor in floors() for room in floor]
    direct = {room: set[str]() for room in rooms}
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            one, two = (name.partition(".")[2].partition(".")[0] for name in (module, other))
            if one != two and one in direct and two in direct:
                direct[one].add(two)
    reach: dict[str, set[str]] = {}
    for room in reversed(rooms):
        reach[room] = direct[room].union(*(reach[other] for other in direct[room]))
    return [
        (room, other)
        for room in rooms
        for other in sorted(direct[room], key=rooms.index)
        if not any(other in reach[between] for between in direct[room] - {other})
    ]


def purpose(room: str) -> str:
    """The first sentence of a room's own description."""
    place = ROOT / "core" / room
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    first = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n\n")[0].replace("\n", " ")
    return first.split(": `")[0].split(", and `")[0].rstrip(".")


def drawn() -> str:
    """The drawing."""
    every = floors()
    lines, middle = [], {}
    row = 0
    for floor in every:
        for room in floor:
            top = 14 + row * FLOOR
            middle[room] = top + (FLOOR - 12) / 2
            lines.append(f'<rect x="{LEFT}" y="{top}" width="{BOX}" height="{FLOOR - 12}" rx="5"/>')
            lines.append(f'<text class="name" x="{LEFT + 12}" y="{top + 21}">{room}</text>')
            lines.append(f'<text class="what" x="{LEFT + 112}" y="{top + 21}">{escape(purpose(room))}</text>')
            row += 1
    tracks: list[float] = []
    for room, other in sorted(arrows(), key=lambda pair: (middle[pair[1]] - middle[pair[0]], middle[pair[0]])):
        start, end = middle[room] + 5, middle[other] - 5
        track = next((number for number, free in enumerate(tracks) if free < start), len(tracks))
        tracks[track : track + 1] = [end]
        edge, far = LEFT + BOX, LEFT + BOX + 16 + TRACK * track
        arrow = f"M{edge} {start:g}H{far}V{end:g}H{edge + 2}m5 -3l-5 3l5 3"
        lines.append(f'<path d="{arrow}"><title>{room} uses {other}</title></path>')
    height = 20 + row * FLOOR
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    title = "<title>The rooms of the library, and which imports from which</title>"
    back = f'<rect x="0" y="0" width="{WIDTH}" height="{height}" style="fill:#ffffff;stroke:none"/>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", back, *lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    DRAWING.write_text(drawn(), encoding="utf-8")
