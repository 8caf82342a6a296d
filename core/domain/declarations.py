"""The whole declaration of a table in a small file: what is publicly known of every column, in words anyone can edit.

The app, the command line and Python read and write the same YAML:

    record: person                     # what one row is, in words
    unit: {column: id, at_most: 3}
    columns:
      age: {kind: number, low: 17, high: 90, step: 1, unit: years}
      pay: {kind: number, preset: pay, missing: [n/a, "-999"]}
      joined: {kind: date, first: 2015-01-01, last: 2025-12-31, step: day}
      hour: {kind: cyclic, of: joined, part: hour}
      place: {kind: position, latitude: lat, longitude: lon, south: 45.7, north: 45.8, west: 4.8, east: 4.9}
      sex: {kind: category, values: {1: Female, 2: Male}, on_missing: category}
      school: {kind: ordered, values: [low, mid, high]}

Every scalar is read as the text that it is, and turned into what its place asks for: of YAML's own rules "no" would be
a truth value, 12:30 a number and 010 an eight.

Entries that are written from columns say what has to be said, without what goes without saying.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import yaml

from ..errors import RequestError
from ..privacy.budget import PrivacyUnit
from ..runtime.parameters import check_choice
from .categorical import Categorical, Ordered
from .column_entries import NO, NO_CODES, YES, YES_CODES, check_known, columns_of, counting_unknown, number_in
from .columns import RULE, Column, preset_sentence, under_rule
from .dates import Dates
from .domain import Domain
from .encoders import Encoder
from .numeric import Numeric, Vector
from .round_columns import Coordinate, Cyclic
from .texts_and_items import ChosenWords, TextLength
from .written import Reading


def stated(columns: tuple[Column, ...]) -> dict[str, dict[str, object]]:
    """What a declaration says of columns, by the name of its entry; the two columns of a place are one entry."""
    said: dict[str, dict[str, object]] = {}
    left = list(columns)
    while left:
        column = left.pop(0)
        if isinstance(column, Coordinate):
            other = next((one for one in left if _is_pair(column, one)), None)
            if other is None:
                raise RequestError(f"The coordinate {column.name!r} stands alone, and a declaration has them in pairs.")
            left.remove(other)
            said[f"{column.name}, {other.name}"] = _said(column) | _ends(column, other)
        else:
            said[column.name] = _said(column)
    return said


def with_missing_category(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The same columns, with missing values as a category of their own in each that can have one."""
    return tuple(
        one for column in columns for one in ((column,) if isinstance(column, Coordinate) else _under_rule(column))
    )


def with_unknown_category(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The same columns, with a category of values that are not on the list in each list of categories that has none."""
    return tuple(
        counting_unknown(column) if type(column) is Categorical and not column.unknown_category else column
        for column in columns
    )


def _under_rule(column: Column) -> tuple[Column, ...]:
    said = _said(column)
    entry = under_rule(said)
    return (column,) if entry is said else columns_of(column.name, entry)


def _is_pair(column: Coordinate, other: Column) -> bool:
    return (
        isinstance(other, Coordinate)
        and other.axis != column.axis
        and (other.south, other.north, other.west, other.east, other.reading)
        == (column.south, column.north, column.west, column.east, column.reading)
    )


def _ends(column: Coordinate, other: Column) -> dict[str, object]:
    return {column.axis: column.name, getattr(other, "axis", ""): other.name}  # said in the order of the columns


def _said(column: Column) -> dict[str, object]:
    """One entry, without what goes without saying."""
    facts: dict[str, object]
    if isinstance(column, Numeric):
        facts = {"kind": "number", "low": column.low, "high": column.high, "unit": column.unit, "step": column.step}
        facts |= {"scale": column.scale} | _said_reading(column.reading) | {"missing_category": column.missing_category}
    elif isinstance(column, Dates):
        facts = {"kind": "date"} | {field.name: getattr(column, field.name) for field in fields(column)[1:]}
    elif isinstance(column, Coordinate):
        facts = {"kind": "position"} | {side: getattr(column, side) for side in ("south", "north", "west", "east")}
        facts |= _said_reading(column.reading)
    elif isinstance(column, Cyclic):
        values = {} if column.part else {"values": _said_values(column)}
        facts = {"kind": "cyclic", "of": column.of, "part": column.part, **values}
        facts |= {"format": column.format, "zone": column.zone, "missing": column.missing}
    elif isinstance(column, ChosenWords):
        chosen = Categorical(column.name, column.categories[:-1], column.written[:-1])
        facts = {"kind": "words", "values": _said_values(chosen), "other": column.categories[-1], "of": column.of}
    elif isinstance(column, Categorical) and column.written[:2] in ((NO, YES), (NO_CODES, YES_CODES)):
        facts = {"kind": "yes_no", "missing": column.missing, "missing_category": column.missing_category}
    elif isinstance(column, (Categorical, Ordered)):
        kind = "category" if isinstance(column, Categorical) else "ordered"
        facts = {"kind": kind, "values": _said_values(column), "positions": getattr(column, "positions", ())}
        facts |= {"missing": column.missing, "missing_category": column.missing_category}
        facts |= {"unknown_category": column.unknown_category}
    elif isinstance(column, TextLength):
        facts = {"kind": "text_length", "longest": column.high, "counts": column.counts, "of": column.of}
    elif isinstance(column, Encoder):
        raise RequestError(f"The column {column.name!r} has an encoder, which no declaration can hold: it has a file.")
    elif isinstance(column, Vector):
        facts = {"kind": "vector", "length": column.length, "low": column.low, "high": column.high, "unit": column.unit}
    else:
        facts = {"kind": "items", "gathered": column.gathered, "separator": column.separator}
    silent = {"step": (0.0, "day"), "counts": ("characters",), "other": ("other",)}
    return {
        name: value
        for name, value in facts.items()
        if value not in ("", (), None, False, *silent.get(name, ())) or name in BOUNDS
    }


BOUNDS = ("low", "high", "south", "north", "west", "east")  # What is said even where it is nothing: 0 is a bound.


def _said_reading(reading: Reading | None) -> dict[str, object]:
    if reading is None:
        return {}
    decimal = "" if reading.decimal == "." or reading.format else ","
    return {"missing": reading.missing, "format": reading.format, "decimal": decimal, "marks": reading.marks}


def _said_values(column: Categorical | Ordered) -> object:
    if not any(column.written):
        return column.categories
    pairs = zip(column.categories, column.written, strict=True)
    return {code: label for label, codes in pairs for code in (codes or (label,))}


MOST_CHARACTERS = 4_000_000


class _Texts(yaml.BaseLoader):  # type: ignore[misc]
    """YAML whose scalars are all texts, without aliases, which could grow without end, and without a key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise RequestError("The file uses a YAML alias (*name), which is not read; write it out.")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if not isinstance(key, str) or key in keys[:place]:
                raise RequestError(f"The file says {str(key)!r} twice in one place; say it once.")
        found: dict[Any, Any] = super().construct_mapping(node, deep=True)
        return found


_Texts.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, lambda loader, node: loader.construct_mapping(node)
)


def mapping_of(text: str, what: str) -> dict[str, Any]:
    """A YAML mapping whose scalars are all texts; RequestError on anything else."""
    if len(text) > MOST_CHARACTERS:
        raise RequestError(f"{what} has more than {MOST_CHARACTERS:,} characters.")
    try:
        value = yaml.load(text, _Texts)
    except RequestError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1:,}" if mark is not None else ""
        raise RequestError(f"{what} is not YAML{where}: check indentation, colons and brackets.") from None
    except (RecursionError, ValueError):
        raise RequestError(f"{what} is not YAML that can be read.") from None
    if not isinstance(value, dict):
        raise RequestError(f"{what} must be a YAML mapping from names to what is said of them.")
    return value


def in_flow(value: object) -> str:
    """A value in YAML's flow style: numbers plain, and texts in quotes where another reader might see more in them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{in_flow(str(key))}: {in_flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(in_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    text = str(value)
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_ ]*[A-Za-z0-9_]|[A-Za-z]|\d{4}-\d{2}-\d{2}", text)
    words = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
    if plain and text.lower() not in words:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)


RULES = ("outside", "missing", "scale", "category_distance")


@dataclass(frozen=True)
class Declaration:
    """Everything that is publicly known about a table, as its owner declares it.

    Parameters
    ----------
    presets : tuple[str, ...]
        Sentences on bounds that come from common knowledge, to be shown to the owner.
    says_missing : bool
        Whether it says of any column what happens to records that miss a value; where it does not, tables count them.
    paid : str
        What finding it out has cost, as JSON (`core.releases.found.paid_before`); "" where it was said.
    """

    domain: Domain
    presets: tuple[str, ...] = ()
    says_missing: bool = False
    paid: str = ""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The declaration in a file; RequestError when there is none, or it is wrong."""
        try:
            text = Path(path).expanduser().read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise RequestError(f"There is no declaration in UTF-8 text at {str(path)!r}.") from None
        return cls.of(text)

    @classmethod
    def of(cls, text: str) -> Self:
        """The declaration that a text states.

        RequestError: In one sentence that names the column, and what is wrong with it.
        """
        facts = mapping_of(text, "The declaration")
        check_known(facts, ("record", "unit", "paid", "columns", *RULES), "The declaration")
        named = facts.get("columns")
        if not isinstance(named, dict) or not named:
            raise RequestError("The declaration needs columns: a name each, and what anyone could have in it.")
        columns: list[Column] = []
        presets: list[str] = []
        if "missing" in facts:
            check_choice(str(facts["missing"]), "What happens to missing values (missing)", ("drop", "refuse", RULE))
        apart = str(facts.get("missing", "")) == RULE
        for name, entry in named.items():
            columns += columns_of(name, under_rule(entry) if apart else entry)
            if isinstance(entry, dict) and "preset" in entry:
                presets.append(preset_sentence(name, str(entry["preset"])))
        rules: dict[str, Any] = {name: str(facts[name]) for name in RULES if name in facts}
        if apart:
            del rules["missing"]
        if "category_distance" in rules:
            rules["category_distance"] = number_in(rules["category_distance"], "The distance between categories")
        record = str(facts.get("record", ""))
        domain = Domain(tuple(columns), unit=_unit(facts.get("unit")), record=record, **rules)
        of_columns = any(isinstance(entry, dict) and "on_missing" in entry for entry in named.values())
        return cls(domain, tuple(presets), "missing" in facts or of_columns, str(facts.get("paid", "")))

    @property
    def record(self) -> str:
        """What one row is, in words, such as "person"; "" where nobody said."""
        return self.domain.record

    def text(self) -> str:
        """The declaration as a file, from which `of` makes an equal one, but for where bounds came from."""
        lines = [f"record: {in_flow(self.domain.record)}"] if self.domain.record else []
        unit = self.domain.unit
        if unit.column is not None:
            lines.append(f"unit: {in_flow({'column': unit.column, 'at_most': unit.records})}")
        defaults = {field.name: field.default for field in fields(Domain)}
        for rule in RULES:
            if getattr(self.domain, rule) != defaults[rule] or (rule == "missing" and self.says_missing):
                lines.append(f"{rule}: {in_flow(getattr(self.domain, rule))}")
        if self.paid:
            lines.append(f"paid: {in_flow(self.paid)}")
        lines.append("columns:")
        lines += [f"  {in_flow(name)}: {in_flow(facts)}" for name, facts in stated(self.domain.columns).items()]
        return "\n".join(lines) + "\n"


def _unit(stated: object) -> PrivacyUnit:
    if stated is None or stated == "":
        return PrivacyUnit()
    if not isinstance(stated, Mapping) or set(stated) != {"column", "at_most"}:
        raise RequestError("The unit must say the column that names a person, and at_most how many records each has.")
    most = number_in(stated["at_most"], "The most records of a person")
    return PrivacyUnit(str(stated["column"]), int(most) if most.is_integer() else 0)
