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
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import yaml

from ..checks import check_choice
from ..errors import RequestError
from ..privacy.unit import PrivacyUnit
from .categorical import Categorical
from .columns import Column
from .coordinate import Coordinate, position
from .cyclic import PARTS, Cyclic
from .dates import Dates
from .domain import Domain
from .free_text import ChosenWords, TextLength
from .items import Items
from .missing_rule import RULE, under_rule
from .missing_words import check_apart
from .moments import OR
from .numeric import Numeric
from .ordered import Ordered
from .presets import PRESETS
from .vector import Vector
from .written import Reading

MOST_CHARACTERS = 4_000_000
DEEPEST = 8
MISSING = "missing"
"""What a category of missing values is called where nothing else is said."""
YES = ("true", "True", "TRUE", "1", "1.0", "y", "Y", "t", "T", "Yes", "YES")
NO = ("false", "False", "FALSE", "0", "0.0", "n", "N", "f", "F", "No", "NO")
RULES = ("outside", "missing", "scale", "category_distance")


@dataclass(frozen=True)
class Declaration:
    """Everything that is publicly known about a table, as its owner declares it.

    Parameters
    ----------
    domain : Domain
        The columns, who one person is, and the rules for records that do not fit.
    presets : tuple[str, ...]
        Sentences on bounds that come from common knowledge, to be shown to the owner.
    """

    domain: Domain
    presets: tuple[str, ...] = ()

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

        Raises
        ------
        RequestError
            In one sentence that names the column, and what is wrong with it.
        """
        facts = mapping_of(text, "The declaration")
        _known(facts, ("record", "unit", "columns", *RULES), "The declaration")
        named = facts.get("columns")
        if not isinstance(named, dict) or not named:
            raise RequestError("The declaration needs columns: a name each, and what anyone could have in it.")
        columns: list[Column] = []
        presets: list[str] = []
        if "missing" in facts:
            check_choice(str(facts["missing"]), "What happens to missing values (missing)", ("drop", "refuse", RULE))
        apart = str(facts.get("missing", "")) == RULE
        for name, stated in named.items():
            columns += columns_of(name, under_rule(stated) if apart else stated)
            if isinstance(stated, dict) and "preset" in stated:
                presets.append(preset_sentence(name, str(stated["preset"])))
        rules: dict[str, Any] = {name: str(facts[name]) for name in RULES if name in facts}
        if apart:
            del rules["missing"]
        if "category_distance" in rules:
            rules["category_distance"] = _number(rules["category_distance"], "The distance between categories")
        record = str(facts.get("record", ""))
        return cls(Domain(tuple(columns), unit=_unit(facts.get("unit")), record=record, **rules), tuple(presets))

    @property
    def record(self) -> str:
        """What one row is, in words, such as "person"; "" where nobody said."""
        return self.domain.record

    def text(self) -> str:
        """The declaration as a file, from which `of` makes an equal one, but for where bounds came from."""
        lines = [f"record: {_written(self.domain.record)}"] if self.domain.record else []
        unit = self.domain.unit
        if unit.column is not None:
            lines.append(f"unit: {_written({'column': unit.column, 'at_most': unit.records})}")
        defaults = {field.name: field.default for field in fields(Domain)}
        for rule in RULES:
            if getattr(self.domain, rule) != defaults[rule]:
                lines.append(f"{rule}: {_written(getattr(self.domain, rule))}")
        lines.append("columns:")
        lines += [f"  {_written(name)}: {_written(facts)}" for name, facts in stated(self.domain.columns).items()]
        return "\n".join(lines) + "\n"


def preset_sentence(name: str, preset: str) -> str:
    """Where bounds came from that a preset filled in."""
    known = PRESETS[preset]
    unit = f" {known.unit}" if known.unit else ""
    return f"{name}: {known.low:,g} to {known.high:,g}{unit} by common knowledge, as {known.because}."


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


def columns_of(name: str, stated: object) -> tuple[Column, ...]:
    """The column of a domain that one entry declares; two for a position.

    Raises
    ------
    RequestError
        When something is unknown, missing or impossible.
    """
    kinds = ", ".join(_MAKERS)
    if not isinstance(stated, Mapping) or str(stated.get("kind", "")) not in _MAKERS:
        raise RequestError(f"The column {name!r} must say its kind: one of {kinds}.")
    kind = str(stated["kind"])
    make, known = _MAKERS[kind]
    facts = {key: value for key, value in stated.items() if key != "kind"}
    _known(facts, known, f"The {kind.replace('_', ' ')} {name!r}")
    columns = make(name, facts)
    for column in columns:
        check_apart(column)
    return columns


def _numeric(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    if "preset" in facts:
        preset = str(facts.pop("preset"))
        if preset not in PRESETS:
            raise RequestError(f"There is no preset {preset!r} for {name!r}; there are: {', '.join(PRESETS)}.")
        facts = PRESETS[preset].facts | facts
    for end, word in (("low", "smallest"), ("high", "largest")):
        if end not in facts or facts[end] == "":
            raise RequestError(f"The number {name!r} needs its {word} value ({end}) from public knowledge.")
        if _looks_like_date(facts[end]):
            raise RequestError(f"The bounds of {name!r} are dates: declare it as a date, with a first and a last one.")
    low = _number(facts["low"], f"The smallest value (low) of {name!r}")
    high = _number(facts["high"], f"The largest value (high) of {name!r}")
    step = _number(facts.get("step", 0), f"The step of {name!r}")
    unit = str(facts.get("unit", ""))
    return (Numeric(name, low, high, unit, _reading(name, facts), step, _missing_label(facts)),)


def _dates(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    for end in ("first", "last"):
        if not facts.get(end):
            raise RequestError(f"The date {name!r} needs its {end} day from public knowledge, such as 2024-12-31.")
    missing = _texts(facts.pop("missing", ()), f"The words for missing in {name!r}")
    label = _missing_label(facts)
    texts = {key: _joined(value) for key, value in facts.items() if key not in MISSING_FACTS}
    return (Dates(name, missing=missing, missing_category=label, **texts),)


def _cyclic(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.pop("values", ()), name)
    if not labels and "part" not in facts:
        raise RequestError(f"The circle {name!r} needs a part of a date ({', '.join(PARTS)}) or its values.")
    missing = _texts(facts.pop("missing", ()), f"The words for missing in {name!r}")
    texts: dict[str, Any] = {key: _joined(value) for key, value in facts.items()}
    return (Cyclic(name, labels, written, missing, **texts),)


def _joined(value: object) -> str:
    """A text, or several ways to write dates as one."""
    return OR.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _position(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    for part in ("latitude", "longitude", "south", "north", "west", "east"):
        if part not in facts:
            raise RequestError(f"The position {name!r} needs its {part}.")
    box = [_number(facts[side], f"The {side} of {name!r}") for side in ("south", "north", "west", "east")]
    south, north, west, east = box
    pair = position(str(facts["latitude"]), str(facts["longitude"]), south, north, west, east, _reading(name, facts))
    said = [part for part in facts if part in ("latitude", "longitude")]
    return pair if said[0] == "latitude" else pair[::-1]


def _category(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.get("values", ()), name)
    labels, written, label = _with_missing(labels, written, facts, first=False)
    return (
        Categorical(
            name, labels, written, _texts(facts.get("missing", ()), f"The words for missing in {name!r}"), label
        ),
    )


def _ordered(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.get("values", ()), name)
    count = len(labels)
    labels, written, label = _with_missing(labels, written, facts, first=True)
    given = facts.get("positions", ())
    positions = tuple(_number(one, f"A position of {name!r}") for one in given)
    if positions and len(labels) > count and len(positions) == count:
        positions = (positions[0] - (positions[1] - positions[0]), *positions)
    return (
        Ordered(
            name,
            labels,
            positions,
            written,
            _texts(facts.get("missing", ()), f"The words for missing in {name!r}"),
            label,
        ),
    )


def _yes_no(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written, label = _with_missing(("no", "yes"), (NO, YES), facts, first=False)
    return (
        Categorical(
            name, labels, written, _texts(facts.get("missing", ()), f"The words for missing in {name!r}"), label
        ),
    )


def _text_length(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    if "longest" not in facts:
        raise RequestError(f"The text {name!r} needs the length from which all texts count as equally long (longest).")
    high = _number(facts["longest"], f"The longest text of {name!r}")
    return (TextLength(name, high, str(facts.get("counts", "characters")), str(facts.get("of", ""))),)


def _words(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.get("values", ()), name)
    written = (*written, ()) if written else ()
    return (ChosenWords(name, (*labels, str(facts.get("other", "other"))), written, of=str(facts.get("of", ""))),)


def _vector(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    length, low, high = (_number(facts.get(part, ""), f"The {part} of {name!r}") for part in ("length", "low", "high"))
    if not length.is_integer():
        raise RequestError(f"The length of {name!r} must be a whole number.")
    return (Vector(name, int(length), low, high, str(facts.get("unit", ""))),)


def _items(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    gathered = str(facts.get("gathered", "false")).lower()
    if gathered not in ("true", "false"):
        raise RequestError(f"Whether the sets of {name!r} are gathered must be true or false.")
    return (Items(name, gathered == "true", facts.get("separator")),)


MISSING_FACTS = ("on_missing", "missing_category")
"""What an entry says of those who miss a value: that they have a category, and what it is called."""
Maker = Callable[[str, dict[str, Any]], tuple[Column, ...]]
_MAKERS: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "number": (_numeric, ("low", "high", "unit", "step", "missing", "decimal", "marks", "preset", *MISSING_FACTS)),
    "date": (_dates, ("first", "last", "step", "of", "format", "zone", "missing", *MISSING_FACTS)),
    "cyclic": (_cyclic, ("of", "part", "values", "format", "zone", "missing")),
    "position": (
        _position,
        ("latitude", "longitude", "south", "north", "west", "east", "missing", "decimal", "marks"),
    ),
    "category": (_category, ("values", "missing", *MISSING_FACTS)),
    "ordered": (_ordered, ("values", "positions", "missing", *MISSING_FACTS)),
    "yes_no": (_yes_no, ("missing", *MISSING_FACTS)),
    "text_length": (_text_length, ("longest", "counts", "of")),
    "words": (_words, ("values", "other", "of")),
    "vector": (_vector, ("length", "low", "high", "unit")),
    "items": (_items, ("gathered", "separator")),
}
KINDS = tuple(_MAKERS)
"""What a column may be declared as."""


def _reading(name: str, facts: dict[str, Any]) -> Reading:
    missing = _words_for_missing(name, facts)
    return Reading(missing, str(facts.get("decimal", ".")), _texts(facts.get("marks", ()), f"The marks of {name!r}"))


def _words_for_missing(name: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    return _texts(facts.get("missing", ()), f"The words for missing in {name!r}")


def _with_missing(
    labels: tuple[str, ...], written: tuple[tuple[str, ...], ...], facts: dict[str, Any], first: bool
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], str]:
    """The categories with the one of missing values among them, where there is to be one."""
    label = _missing_label(facts)
    if not label or label in labels:
        return labels, written, label
    if first:
        return (label, *labels), (((), *written) if written else ()), label
    return (*labels, label), ((*written, ()) if written else ()), label


def _missing_label(facts: Mapping[str, Any]) -> str:
    """What the category of missing values is called; "" where there is none."""
    rule = str(facts.get("on_missing", "rule"))
    if rule not in ("rule", "category"):
        raise RequestError("What happens to missing values (on_missing) is category, or left to the rule of the table.")
    return str(facts.get("missing_category", MISSING if rule == "category" else ""))


def _values(stated: object, name: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Labels and how they are written: from a list of labels, or a mapping from codes to labels."""
    if isinstance(stated, Mapping):
        codes: dict[str, list[str]] = {}
        for code, label in stated.items():
            if not isinstance(label, (str, int, float)):
                raise RequestError(f"The values of {name!r} must say one label for each code.")
            codes.setdefault(str(label), []).append(str(code))
        labels = tuple(codes)
        return labels, tuple(tuple(one for one in codes[label] if one not in labels) for label in labels)
    return _texts(stated, f"The values of {name!r}"), ()


def _texts(stated: object, what: str) -> tuple[str, ...]:
    if isinstance(stated, str) and stated:
        return (stated,)
    if stated == "":
        return ()
    if not isinstance(stated, (list, tuple)) or not all(isinstance(one, (str, int, float)) for one in stated):
        raise RequestError(f"{what} must be a list of texts, such as [low, high].")
    return tuple(str(one) for one in stated)


def _number(stated: object, what: str) -> float:
    try:
        number = float(stated)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(f"{what} must be a number, written like 12 or 12.5.")
    return number


def _looks_like_date(stated: object) -> bool:
    return re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}", str(stated)) is not None


def _known(facts: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for name in facts:
        if name not in known:
            raise RequestError(f"{what} says {str(name)!r}, which is not known there; it may say {', '.join(known)}.")


def _unit(stated: object) -> PrivacyUnit:
    if stated is None or stated == "":
        return PrivacyUnit()
    if not isinstance(stated, Mapping) or set(stated) != {"column", "at_most"}:
        raise RequestError("The unit must say the column that names a person, and at_most how many records each has.")
    most = _number(stated["at_most"], "The most records of a person")
    return PrivacyUnit(str(stated["column"]), int(most) if most.is_integer() else 0)


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
        facts |= _said_reading(column.reading) | {"missing_category": column.missing_category}
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
    elif isinstance(column, Categorical) and column.written[:2] == (NO, YES):
        facts = {"kind": "yes_no", "missing": column.missing, "missing_category": column.missing_category}
    elif isinstance(column, (Categorical, Ordered)):
        kind = "category" if isinstance(column, Categorical) else "ordered"
        facts = {"kind": kind, "values": _said_values(column), "positions": getattr(column, "positions", ())}
        facts |= {"missing": column.missing, "missing_category": column.missing_category}
    elif isinstance(column, TextLength):
        facts = {"kind": "text_length", "longest": column.high, "counts": column.counts, "of": column.of}
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


BOUNDS = ("low", "high", "south", "north", "west", "east")
"""What is said even where it is nothing: 0 is a bound."""


def _said_reading(reading: Reading | None) -> dict[str, object]:
    if reading is None:
        return {}
    return {"missing": reading.missing, "decimal": "" if reading.decimal == "." else ",", "marks": reading.marks}


def _said_values(column: Categorical | Ordered) -> object:
    if not any(column.written):
        return column.categories
    pairs = zip(column.categories, column.written, strict=True)
    return {code: label for label, codes in pairs for code in (codes or (label,))}


def _written(value: object) -> str:
    """A value in YAML's flow style: numbers plain, and texts in quotes where another reader might see more in them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_written(str(key))}: {_written(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_written, value)) + "]"
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
