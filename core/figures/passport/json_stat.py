"""Released tables as JSON-stat 2.0, the format of statistical offices: estimate, low and high as measures of each cell.

References
----------
Badosa 2019, JSON-stat 2.0 format (json-stat.org/full).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formatting.numbers import listed
from ...local.local_answers import LocalAnswers
from ...releases.release import Release
from .described import Said

MEASURES = ("estimate", "low", "high")
MOST_CELLS = 200_000
"""Of all tables together; single columns come first."""
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Cube:
    """Counts of every combination of some columns' cells."""

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]  # Of each column.
    values: np.ndarray  # Float64 (combinations, 3): estimate, low and high, the last column moving fastest.


def cubes(said: Said) -> Iterator[Cube]:
    """Every table that was measured, single columns first, until there are `MOST_CELLS`; none where there are none."""
    if isinstance(said.file, LocalAnswers):
        found = said.file.table().head(MOST_CELLS)
        yield Cube(("answer",), (tuple(map(str, found["value"])),), found[list(MEASURES)].to_numpy(float))
    elif isinstance(said.file, Release):
        tables = [one for one in (said.file, *said.file.parts.values()) if one.sketch.asked_for == "tables"]
        for release in tables:
            yield from _of_tables(release)


def _of_tables(release: Release) -> Iterator[Cube]:
    answers = release.asked(LEVEL)
    layout, room = answers.reading.layout, MOST_CELLS
    for places in dict.fromkeys([*layout.singles, *layout.tables]):
        if any((place,) not in layout.singles for place in places):
            continue
        names = tuple(layout.axes[place].name for place in places)
        room -= math.prod(layout.axes[place].cells for place in places)
        if room < 0:
            return
        frame = answers.table(*names)
        cells = tuple(tuple(map(str, frame[name].cat.categories)) for name in names)
        yield Cube(names, cells, frame[list(MEASURES)].to_numpy(float))


def json_stat(said: Said) -> dict[str, Any] | None:
    """A collection of all tables; None where the file has none."""
    items = [_dataset(cube, said) for cube in cubes(said)]
    if not items:
        return None
    return {
        "version": "2.0",
        "class": "collection",
        "label": said.title,
        "updated": said.day,
        "link": {"item": items},
    }


def _dataset(cube: Cube, said: Said) -> dict[str, Any]:
    """One table. Columns and cells are numbered, and what they are called are labels, which may be any text."""
    ids = [f"column-{place}" for place in range(1, len(cube.names) + 1)]
    dimensions = {
        one: {"label": name, "category": _categories(cells)}
        for one, name, cells in zip(ids, cube.names, cube.cells, strict=True)
    }
    measures = {
        "label": f"Count, with the ends of its {LEVEL:.0%} interval",
        "category": {"index": list(MEASURES), "label": {one: one.capitalize() for one in MEASURES}},
    }
    return {
        "version": "2.0",
        "class": "dataset",
        "label": listed(cube.names, 8),
        "source": f"{said.name}, {said.software}",
        "updated": said.day,
        "note": [
            f"Every number has noise, so that it keeps {said.variant} with ε = {said.epsilon:f}"
            + (f" and δ = {said.delta:f}." if said.delta else ".")
        ],
        "id": [*ids, "measure"],
        "size": [*map(len, cube.cells), len(MEASURES)],
        "role": {"metric": ["measure"]},
        "dimension": {**dimensions, "measure": measures},
        "value": [round(value, 3) if math.isfinite(value) else None for value in cube.values.reshape(-1).tolist()],
    }


def _categories(cells: tuple[str, ...]) -> dict[str, Any]:
    ids = [str(place) for place in range(1, len(cells) + 1)]
    return {"index": ids, "label": dict(zip(ids, cells, strict=True))}
