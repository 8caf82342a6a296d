"""The variables of a release for archives: CSV with CSV-on-the-Web metadata, a DDI codebook, and JSON-stat.

`variables.csv` says of every column what anyone could have in it, and `tables.csv` holds every released table, a line
for each cell. Texts are those of the file; a spreadsheet shows one that begins like a formula and does not run it.
JSON-stat, the format of statistical offices, has released tables with estimate, low and high as measures of each cell.

References
----------
Tennison, Kellogg 2015, Metadata Vocabulary for Tabular Data (W3C); DDI Codebook 2.5 (DDI Alliance 2012); Badosa 2019,
JSON-stat 2.0 format (json-stat.org/full).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...domain import Categorical, Column, Dates, Items, Ordered, Vector
from ...formatting.escapes import safe_cell
from ...formatting.numbers import listed
from ...local.local_answers import LocalAnswers
from ...releases.release import Release
from .described import Publisher, Said

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
    return {"version": "2.0", "class": "collection", "label": said.title, "updated": said.day, "link": {"item": items}}


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


VARIABLES, TABLES = "variables.csv", "tables.csv"
FIELDS = {
    "name": "Name of the column",
    "kind": "What it holds",
    "least": "Least value that anyone could have",
    "greatest": "Greatest value that anyone could have",
    "step": "What lies between two values",
    "unit": "Unit of measure",
    "values": "Categories, as a JSON list",
    "missing": "What those without a value are called",
}
"""Columns of `variables.csv`, all of them texts, with their titles."""
DDI = "ddi:codebook:2_5"


def csv_tables(said: Said) -> dict[str, str]:
    """The tables of an archive, by the names of their files."""
    found = {}
    if said.domain is not None:
        found[VARIABLES] = _csv(list(FIELDS), [_facts(column) for column in said.domain.columns])
    tables = list(cubes(said))
    if tables:
        sides = max(len(cube.names) for cube in tables)
        rows: list[list[object]] = []
        for number, cube in enumerate(tables, start=1):
            places: list[list[object]] = [[]]
            for name, cells in zip(cube.names, cube.cells, strict=True):
                places = [[*before, name, cell] for before in places for cell in cells]
            empty = [""] * (2 * (sides - len(cube.names)))
            rows += [
                [number, *place, *empty, *(round(value, 3) for value in values)]
                for place, values in zip(places, cube.values.tolist(), strict=True)
            ]
        found[TABLES] = _csv(_heads(sides), rows)
    return found


def _heads(sides: int) -> list[str]:
    return ["table", *(f"{what}_{side}" for side in range(1, sides + 1) for what in ("column", "cell")), *MEASURES]


def _facts(column: Column) -> list[str]:
    """One line of `variables.csv`."""
    values = json.dumps(list(_values(column)), ensure_ascii=False) if _values(column) else ""
    low, high = _range(column)
    step = getattr(column, "spacing", 0.0) if not _values(column) else 0.0
    unit = "" if isinstance(column, Dates) else str(getattr(column, "unit", ""))
    missing = str(getattr(column, "missing_category", ""))
    return [column.name, column.kind, low, high, f"{step:g}" if step else "", unit, values, missing]


def _values(column: Column) -> tuple[str, ...]:
    return column.categories if isinstance(column, (Categorical, Ordered)) else ()


def _range(column: Column) -> tuple[str, str]:
    """The ends of what anyone could have, as texts; "" where there are none."""
    if isinstance(column, Dates):
        return column.first, column.last
    if isinstance(column, Items) or _values(column):
        return "", ""
    return repr(column.low), repr(column.high)


def csv_heads(text: str) -> list[str]:
    """The names of the columns of a table that `csv_tables` made."""
    return next(csv.reader(io.StringIO(text)))


def is_number(head: str) -> bool:
    """Whether a column of those tables holds numbers."""
    return head in MEASURES or head == "table"


def csvw(said: Said, publisher: Publisher, tables: Mapping[str, str]) -> dict[str, Any]:
    """Metadata of the tables, for a file beside them."""
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "und"}],
        "@type": "TableGroup",
        "dc:title": said.title,
        "dc:description": said.about,
        "dc:date": said.day,
        **({"dc:publisher": publisher.curator} if publisher.curator else {}),
        **({"dc:rights": publisher.licence} if publisher.licence else {}),
        "tables": [
            {"url": name, "tableSchema": {"columns": [_csvw_column(head) for head in csv_heads(text)]}}
            for name, text in tables.items()
        ],
    }


def _csvw_column(head: str) -> dict[str, Any]:
    kind = "integer" if head == "table" else "number" if head in MEASURES else "string"
    title = FIELDS.get(head, head.replace("_", " ").capitalize())
    return {"name": head, "titles": [head], "dc:description": title, "datatype": kind}


def ddi_codebook(said: Said, publisher: Publisher) -> str:
    """A codebook of the columns, in XML."""
    root = ElementTree.Element("codeBook", {"xmlns": DDI, "version": "2.5"})
    study = ElementTree.SubElement(root, "stdyDscr")
    citation = ElementTree.SubElement(study, "citation")
    _under(ElementTree.SubElement(citation, "titlStmt"), "titl", said.title)
    if publisher.curator:
        _under(ElementTree.SubElement(citation, "rspStmt"), "AuthEnty", publisher.curator)
    made = ElementTree.SubElement(citation, "prodStmt")
    _under(made, "prodDate", said.day, date=said.day)
    _under(made, "software", said.software)
    info = ElementTree.SubElement(study, "stdyInfo")
    _under(info, "abstract", said.about)
    summary = ElementTree.SubElement(info, "sumDscr")
    if publisher.region:
        _under(summary, "geogCover", publisher.region)
    _under(summary, "anlyUnit", said.unit)
    if publisher.licence:
        use = ElementTree.SubElement(ElementTree.SubElement(study, "dataAccs"), "useStmt")
        _under(use, "conditions", publisher.licence)
    data = ElementTree.SubElement(root, "dataDscr")
    for number, column in enumerate(() if said.domain is None else said.domain.columns, start=1):
        _variable(data, number, column)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _variable(data: ElementTree.Element, number: int, column: Column) -> None:
    """One variable; its name is a label, as DDI's own names are short and plain."""
    values, (low, high) = _values(column), _range(column)
    discrete = values or getattr(column, "spacing", 0.0)
    told = {"ID": f"V{number}", "name": f"V{number}", "intrvl": "discrete" if discrete else "contin"}
    variable = ElementTree.SubElement(data, "var", told)
    _under(variable, "labl", column.name)
    if low or high:
        unit = "" if isinstance(column, Dates) else str(getattr(column, "unit", ""))
        ends = {"min": low, "max": high} | ({"UNITS": "REAL"} if not discrete else {"UNITS": "INT"})
        bounds = ElementTree.SubElement(variable, "valrng")
        ElementTree.SubElement(bounds, "range", ends)
        if unit:
            _under(bounds, "notes", unit)
    if isinstance(column, Vector):
        _under(variable, "txt", f"{column.length} numbers")
    for place, value in enumerate(values, start=1):
        category = ElementTree.SubElement(variable, "catgry")
        _under(category, "catValu", str(place))
        _under(category, "labl", value)
    form = "character" if values or isinstance(column, Items) else "numeric"
    ElementTree.SubElement(variable, "varFormat", {"type": form})


def _under(parent: ElementTree.Element, name: str, text: str, **attributes: str) -> None:
    """An element with a text, without the characters that XML cannot hold."""
    drawn = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    ElementTree.SubElement(parent, name, attributes).text = drawn


def _csv(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(heads)
    table.writerows([[safe_cell(cell) for cell in row] for row in rows])
    return written.getvalue()
