"""Released counts as a shared page shows them: cells of single columns with their intervals, and tables of two."""

from __future__ import annotations

from typing import Any

from ...errors import RequestError
from ...local.released import LocalAnswers
from ...releases.release import Release
from ...sketches.tables.answers import TableAnswers
from ...sketches.tables.axes import Axis
from ...sketches.tables.tables import Tables
from ...tasks import table_profile
from .columns import category_facts
from .lattices import LEVEL, NUMBERS, packed

MOST_COLUMNS, MOST_CELLS, MOST_PAIRS = 60, 200, 60


def table_facts(release: Release) -> dict[str, Any] | None:
    """Single columns of a released table, and the pairs that hang together most; None for anything else."""
    if release.sketch.name != Tables.name:
        return None
    answers = release.asked(LEVEL)
    axes = [axis for axis in answers.axes if axis.cells <= MOST_CELLS][:MOST_COLUMNS]
    places = {axis.name: place for place, axis in enumerate(axes)}
    pictures = {}
    for axis in axes:
        try:
            pictures[str(places[axis.name])] = _cells(answers, axis)
        except RequestError:  # it was measured with others only
            continue
    room = NUMBERS
    for x, y in _strongest(answers, places):
        across, up = (axes[place] for place in sorted((places[x], places[y])))
        room -= 3 * across.cells * up.cells
        if room < 0:
            break
        pictures[f"{places[across.name]},{places[up.name]}"] = _cells(answers, up, across)
    return {
        "kind": "lattice",
        "counts": True,
        "columns": [_column(axis) for axis in axes],
        "pictures": pictures,
        "averaged": False,
    }


def local_facts(release: LocalAnswers) -> dict[str, Any]:
    """How many gave each answer, of counted local reports; the most frequent ones where there are many."""
    table = release.table().nlargest(MOST_CELLS, "estimate").sort_index()
    name = release.question
    return {
        "kind": "lattice",
        "counts": True,
        "columns": [category_facts(name, tuple(map(str, table["value"])))],
        "pictures": {"0": packed([table[end].to_numpy() for end in ("estimate", "low", "high")])},
        "averaged": False,
    }


def _cells(answers: TableAnswers, *axes: Axis) -> dict[str, Any]:
    found = answers.table(*(axis.name for axis in axes))
    shape = [axis.cells for axis in axes]
    return packed([found[end].to_numpy().reshape(shape) for end in ("estimate", "low", "high")])


def _column(axis: Axis) -> dict[str, Any]:
    """Cells by their names, and what the column counts in."""
    cells = tuple(table_profile.words_for_cells(axis, [cell]) for cell in range(axis.cells))
    unit = "" if axis.categories or table_profile.is_time(axis) else getattr(axis.column, "unit", "")
    return category_facts(axis.name, cells) | {"unit": unit, "ordered": table_profile.in_order(axis)}


def _strongest(answers: TableAnswers, names: dict[str, int]) -> list[tuple[str, str]]:
    """Pairs that were measured, the surely strongest first."""
    found = answers.strengths(*names)
    pairs = zip(found.iloc[:, 0], found.iloc[:, 1], strict=True)
    return [(one, other) for one, other in pairs if one in names and other in names][:MOST_PAIRS]
