"""Columns from their entries in a declaration: every kind, what may be said of it, and what is made of that."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import RequestError
from ..runtime.parameters import check_choice
from .categorical import Categorical, Ordered
from .columns import PRESETS, Column, check_apart
from .dates import Dates
from .numeric import Numeric, Vector
from .round_columns import PARTS, Cyclic, position
from .texts_and_items import ChosenWords, Items, TextLength
from .written import CLOCKS, DECIMALS, NO_WORDS, YES_WORDS, Reading
from .written_dates import OR

MISSING = "missing"  # What a category of missing values is called where nothing else is said.
OTHER = "other"  # The same of values that are not on the list of categories.
# Codes of files before words of other languages were read, and with these, without regard to case.
YES_CODES = ("true", "True", "TRUE", "1", "1.0", "y", "Y", "t", "T", "Yes", "YES")
NO_CODES = ("false", "False", "FALSE", "0", "0.0", "n", "N", "f", "F", "No", "NO")
YES, NO = (
    (*codes, *(word for word in words if word not in (*codes, "yes", "no")))
    for codes, words in ((YES_CODES, YES_WORDS), (NO_CODES, NO_WORDS))
)


def columns_of(name: str, stated: object) -> tuple[Column, ...]:
    """The column of a domain that one entry declares; two for a position."""
    kinds = ", ".join(_MAKERS)
    if not isinstance(stated, Mapping) or str(stated.get("kind", "")) not in _MAKERS:
        raise RequestError(f"The column {name!r} must say its kind: one of {kinds}.")
    kind = str(stated["kind"])
    make, known = _MAKERS[kind]
    facts = {key: value for key, value in stated.items() if key != "kind"}
    check_known(facts, known, f"The {kind.replace('_', ' ')} {name!r}")
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
    low = number_in(facts["low"], f"The smallest value (low) of {name!r}")
    high = number_in(facts["high"], f"The largest value (high) of {name!r}")
    step = number_in(facts.get("step", 0), f"The step of {name!r}")
    unit = str(facts.get("unit", ""))
    scale = str(facts.get("scale", ""))
    return (Numeric(name, low, high, unit, _reading(name, facts), step, _missing_label(facts), scale),)


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
    box = [number_in(facts[side], f"The {side} of {name!r}") for side in ("south", "north", "west", "east")]
    south, north, west, east = box
    pair = position(str(facts["latitude"]), str(facts["longitude"]), south, north, west, east, _reading(name, facts))
    said = [part for part in facts if part in ("latitude", "longitude")]
    return pair if said[0] == "latitude" else pair[::-1]


def _category(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.get("values", ()), name)
    labels, written, label = _with_missing(labels, written, facts, first=False)
    column = Categorical(
        name, labels, written, _texts(facts.get("missing", ()), f"The words for missing in {name!r}"), label
    )
    rule = str(facts.get("on_unknown", "rule"))
    if rule not in ("rule", "category"):
        raise RequestError(
            f"What happens to values of {name!r} that are not on its list (on_unknown) is category, or left to the "
            "rule of the table."
        )
    other = str(facts.get("unknown_category", OTHER if rule == "category" else ""))
    return (counting_unknown(column, other) if other else column,)


def counting_unknown(column: Categorical, label: str = OTHER) -> Categorical:
    """A list of categories with one for the values that are not on it, so that they leave nobody out."""
    if label not in column.categories:
        written = (*column.written, ()) if column.written else ()
        column = replace(column, categories=(*column.categories, label), written=written)
    return replace(column, unknown_category=label)


def _ordered(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.get("values", ()), name)
    count = len(labels)
    labels, written, label = _with_missing(labels, written, facts, first=True)
    given = facts.get("positions", ())
    positions = tuple(number_in(one, f"A position of {name!r}") for one in given)
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
    high = number_in(facts["longest"], f"The longest text of {name!r}")
    return (TextLength(name, high, str(facts.get("counts", "characters")), str(facts.get("of", ""))),)


def _words(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    labels, written = _values(facts.get("values", ()), name)
    written = (*written, ()) if written else ()
    return (ChosenWords(name, (*labels, str(facts.get("other", "other"))), written, of=str(facts.get("of", ""))),)


def _vector(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    length, low, high = (
        number_in(facts.get(part, ""), f"The {part} of {name!r}") for part in ("length", "low", "high")
    )
    if not length.is_integer():
        raise RequestError(f"The length of {name!r} must be a whole number.")
    return (Vector(name, int(length), low, high, str(facts.get("unit", ""))),)


def _items(name: str, facts: dict[str, Any]) -> tuple[Column, ...]:
    gathered = str(facts.get("gathered", "false")).lower()
    if gathered not in ("true", "false"):
        raise RequestError(f"Whether the sets of {name!r} are gathered must be true or false.")
    return (Items(name, gathered == "true", facts.get("separator")),)


# What an entry says of those who miss a value: that they have a category, and what it is called.
MISSING_FACTS = ("on_missing", "missing_category")
Maker = Callable[[str, dict[str, Any]], tuple[Column, ...]]
_MAKERS: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "number": (
        _numeric,
        ("low", "high", "unit", "step", "scale", "missing", "format", "decimal", "marks", "preset", *MISSING_FACTS),
    ),
    "date": (_dates, ("first", "last", "step", "of", "format", "zone", "missing", *MISSING_FACTS)),
    "cyclic": (_cyclic, ("of", "part", "values", "format", "zone", "missing")),
    "position": (
        _position,
        ("latitude", "longitude", "south", "north", "west", "east", "missing", "format", "decimal", "marks"),
    ),
    "category": (_category, ("values", "missing", *MISSING_FACTS, "on_unknown", "unknown_category")),
    "ordered": (_ordered, ("values", "positions", "missing", *MISSING_FACTS)),
    "yes_no": (_yes_no, ("missing", *MISSING_FACTS)),
    "text_length": (_text_length, ("longest", "counts", "of")),
    "words": (_words, ("values", "other", "of")),
    "vector": (_vector, ("length", "low", "high", "unit")),
    "items": (_items, ("gathered", "separator")),
}
KINDS = tuple(_MAKERS)  # What a column may be declared as.


def _reading(name: str, facts: dict[str, Any]) -> Reading:
    missing, marks = _words_for_missing(name, facts), _texts(facts.get("marks", ()), f"The marks of {name!r}")
    format_ = str(facts.get("format", ""))
    check_choice(format_, f"The format of the numbers of {name!r}", ("", *DECIMALS, *CLOCKS))
    if "decimal" in facts and format_:
        raise RequestError(f"The format of {name!r} says its mark before decimals; take decimal out.")
    return Reading(missing, str(facts.get("decimal", ".")), marks, format_)


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


def number_in(stated: object, what: str) -> float:
    """The finite number that a text says; RequestError otherwise, which begins with `what`."""
    try:
        number = float(stated)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(f"{what} must be a number, written like 12 or 12.5.")
    return number


def _looks_like_date(stated: object) -> bool:
    return re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}", str(stated)) is not None


def check_known(facts: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """RequestError if an entry says something that nobody asks for."""
    for name in facts:
        if name not in known:
            raise RequestError(f"{what} says {str(name)!r}, which is not known there; it may say {', '.join(known)}.")
