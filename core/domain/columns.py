"""One column of a domain: what anyone could have in it, and how its values become coordinates.

Everything here is public knowledge typed by a person; nothing is ever computed from the data.

Missing values: words for them among a column's own values, and the rule that they are a category of their own.

A codebook lists the codes of those who gave no answer beside all others (-9 = refused) and says of them that they are
missing: there they are missing, and no values. Who writes a declaration by hand and says both is asked what is meant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, get_args

from ..errors import RequestError
from ..runtime.parameters import exact_fields, field_names
from .categorical import Categorical, Ordered
from .dates import Dates
from .encoders import Encoder
from .numeric import Numeric, Vector
from .round_columns import Coordinate, Cyclic
from .texts_and_items import ChosenWords, Items, TextLength
from .written import Reading

# What has coordinates; `Cyclic` and `ChosenWords` are kinds of `Categorical`.
PlacedColumn = Numeric | Categorical | Vector | Encoder | Dates | Coordinate | Ordered | TextLength
Column = PlacedColumn | Items
KINDS: tuple[type[Column], ...] = (*get_args(Column), Cyclic, ChosenWords)


def column_to_dict(column: Column) -> dict[str, object]:
    """A value for JSON from which `column_from_dict` makes an equal column, bit for bit."""
    defaults, later = _defaults(type(column)), getattr(type(column), "later", ())
    facts: dict[str, object] = {}
    for name in field_names(type(column)):
        value = getattr(column, name)
        if name not in later or value != defaults.get(name, MISSING):
            facts[name] = value.to_dict() if isinstance(value, Reading) else _listed(value)
    if isinstance(column, Encoder):
        facts["reads"] = [column_to_dict(one) for one in column.reads]
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
    if kind is Encoder:
        facts["reads"] = _columns_read(facts["reads"])
    return kind(**facts)


def _columns_read(value: object) -> tuple[Column, ...]:
    """The columns that an encoder reads, which are no encoders themselves."""
    if not isinstance(value, list) or not all(
        isinstance(one, dict) and one.get("kind") in ("numeric", "vector") for one in value
    ):
        raise RequestError("An encoder must read a list of columns of numbers or vectors.")
    return tuple(map(column_from_dict, value))


def _defaults(kind: type) -> dict[str, object]:
    return {field.name: field.default for field in fields(kind) if field.default is not MISSING}


def _listed(value: object) -> object:
    """Tuples as the lists that JSON has."""
    return [_listed(entry) for entry in value] if isinstance(value, tuple) else value


def words_among(texts: Iterable[str], words: Iterable[str], label: str = "") -> list[str]:
    """The texts that are words for missing, as they are compared: without regard to case and blanks around them.

    The label of a category of missing values may be such a word, as both mean the same.
    """
    plain = {word.strip().lower() for word in words}
    return [text for text in texts if text != label and text.strip().lower() in plain]


def without_missing(values: Any, words: Sequence[str], label: str = "") -> tuple[Any, list[str]]:
    """The values that a codebook lists, less those that it says are missing; and which those are.

    `values`: A list of values, or a mapping from codes to what they mean; anything else is left as it is. `label`: What
    a category of missing values is called; "" where there is none.
    """
    if isinstance(values, Mapping):
        codes = words_among(map(str, values), words)
        kept = {code: meant for code, meant in values.items() if str(code) not in codes}
        lost = words_among(map(str, kept.values()), words, label)
        return {code: meant for code, meant in kept.items() if str(meant) not in lost}, [*codes, *lost]
    if isinstance(values, (list, tuple)):
        lost = words_among(map(str, values), words, label)
        return [value for value in values if str(value) not in lost], lost
    return values, []


def check_apart(column: Column) -> None:
    """Refuse a column by hand whose values are words for missing too."""
    if not isinstance(column, Categorical) or not column.missing:
        return
    written = (text for texts in column.written for text in texts)
    both = words_among((*column.categories, *written), column.missing, column.missing_category)
    if both:
        raise RequestError(
            f"{both[0]!r} of the column {column.name!r} cannot be a value and a word for missing: take it out of one."
        )


RULE = "category"
# Kinds of columns that missing values can be a category of; of others, they are dropped.
WITH_CATEGORY = ("number", "date", "category", "ordered", "yes_no")


def under_rule(entry: object) -> object:
    """An entry of a declaration under the rule; what it says itself of missing values goes first."""
    if not isinstance(entry, Mapping) or str(entry.get("kind", "")) not in WITH_CATEGORY:
        return entry
    if "missing_category" in entry:
        return entry
    return {"on_missing": RULE} | dict(entry)
