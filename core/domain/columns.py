"""One column of a domain: what anyone could have in it, and how its values become coordinates.

Everything here is public knowledge typed by a person; nothing is ever computed from the data. Every kind of column has
a file of its own.
"""

from __future__ import annotations

from ..checks import exact_fields, field_names
from ..errors import RequestError
from .categorical import Categorical
from .items import Items
from .numeric import Numeric
from .vector import Vector

Column = Numeric | Categorical | Vector | Items


def column_to_dict(column: Column) -> dict[str, object]:
    """A value for JSON from which `column_from_dict` makes an equal column, bit for bit."""
    facts = {name: getattr(column, name) for name in field_names(type(column))}
    if isinstance(column, Categorical):
        facts["categories"] = list(column.categories)
    return {"kind": column.kind, **facts}


def column_from_dict(value: object) -> Column:
    """The column that `column_to_dict` wrote down; RequestError on anything else."""
    kinds = {kind.kind: kind for kind in (Numeric, Categorical, Vector, Items)}
    name = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in kinds:
        raise RequestError(f"A column of a domain must say its kind: {', '.join(kinds)}.")
    facts = exact_fields(value, f"{name} column", ["kind", *field_names(kinds[name])])
    del facts["kind"]
    return kinds[name](**facts)
