"""One column of a domain: what anyone could have in it, and how its values become coordinates.

Everything here is public knowledge typed by a person; nothing is ever computed from the data.
"""

from __future__ import annotations

from dataclasses import MISSING, fields

from ..checks import exact_fields, field_names
from ..errors import RequestError
from .categorical import Categorical, Ordered
from .dates import Dates
from .numeric import Numeric, Vector
from .round_columns import Coordinate, Cyclic
from .texts_and_items import ChosenWords, Items, TextLength
from .written import Reading

# What has coordinates; `Cyclic` and `ChosenWords` are kinds of `Categorical`.
PlacedColumn = Numeric | Categorical | Vector | Dates | Coordinate | Ordered | TextLength
Column = PlacedColumn | Items
KINDS = (Numeric, Categorical, Vector, Items, Dates, Cyclic, Coordinate, Ordered, TextLength, ChosenWords)


def column_to_dict(column: Column) -> dict[str, object]:
    """A value for JSON from which `column_from_dict` makes an equal column, bit for bit."""
    defaults, later = _defaults(type(column)), getattr(type(column), "later", ())
    facts: dict[str, object] = {}
    for name in field_names(type(column)):
        value = getattr(column, name)
        if name not in later or value != defaults.get(name, MISSING):
            facts[name] = value.to_dict() if isinstance(value, Reading) else _listed(value)
    return {"kind": column.kind, **facts}


def column_from_dict(value: object) -> Column:
    """The column that `column_to_dict` wrote down; RequestError on anything else."""
    kinds = {kind.kind: kind for kind in KINDS}
    name = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(name, str) or name not in kinds:
        raise RequestError(f"A column of a domain must say its kind: {', '.join(kinds)}.")
    kind = kinds[name]
    later = getattr(kind, "later", ())
    known = [field for field in field_names(kind) if field not in later or field in value]
    facts = exact_fields(value, f"{name} column", ["kind", *known])
    del facts["kind"]
    if facts.get("reading") is not None:
        facts["reading"] = Reading.from_dict(facts["reading"])
    return kind(**facts)


def _defaults(kind: type) -> dict[str, object]:
    return {field.name: field.default for field in fields(kind) if field.default is not MISSING}


def _listed(value: object) -> object:
    """Tuples as the lists that JSON has."""
    return [_listed(entry) for entry in value] if isinstance(value, tuple) else value
