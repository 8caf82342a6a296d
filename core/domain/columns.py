"""One column of a domain: what anyone could have in it, and how its values become coordinates.

Everything here is public knowledge typed by a person; nothing is ever computed from the data.

Missing values: words for them among a column's own values, and the rule that they are a category of their own.

A codebook lists the codes of those who gave no answer beside all others (-9 = refused) and says of them that they are
missing: there they are missing, and no values. Who writes a declaration by hand and says both is asked what is meant.

What the name of a column commonly says of it: whether it is an age, the code of a group, or one of two coordinates.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from typing import Any, get_args

from ..errors import RequestError
from ..formatting.numbers import bound
from ..runtime.parameters import exact_fields, field_names
from .categorical import Categorical, Ordered
from .dates import Dates
from .encoders import Encoder
from .numeric import Numeric, Vector
from .round_columns import Coordinate, Cyclic, position
from .texts_and_items import ChosenWords, Items, TextLength
from .written import KNOWN, Reading

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


@dataclass(frozen=True)
class Preset:
    """Public facts about a kind of number, and where they come from."""

    low: float
    high: float
    because: str  # Why anyone's value lies there, to be said wherever the facts are filled in.
    names: str  # Names that columns of the kind commonly have, in words separated by underscores; cut at blanks.
    unit: str = ""
    step: float = 0

    @property
    def facts(self) -> dict[str, object]:
        """The facts as a declaration states them."""
        facts: dict[str, object] = {"low": self.low, "high": self.high}
        return facts | ({"unit": self.unit} if self.unit else {}) | ({"step": self.step} if self.step else {})


PRESETS = {name: Preset(**facts) for name, facts in KNOWN["presets"].items()}
OTHER_UNIT = 2.2  # Times what anyone has.
# Names that columns commonly have: the two of a place, those of codes (which count nothing) and running numbers; and
# words in the names of columns that hold dates.
LATITUDES, LONGITUDES, CODED, DATED, RUNNING = (
    frozenset(KNOWN["columns"][what].split()) for what in ("latitudes", "longitudes", "coded", "dated", "running")
)


def tidy_name(name: str) -> str:
    """A name in lower case without accents, its words separated by underscores: "Âge" and "HoursPerWeek" alike."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


def is_coded(name: str) -> bool:
    """Whether columns of this name commonly hold codes of groups."""
    return tidy_name(name) in CODED


def numbers_rows(name: str) -> bool:
    """Whether columns of this name commonly hold running numbers or keys of rows, which say nothing of anybody."""
    return tidy_name(name) in RUNNING


def degrees_of(name: str) -> str | None:
    """Of what columns of this name commonly hold degrees: "latitude" as start_lat, "longitude" as lng; or None."""
    tidy = tidy_name(name)
    ends = {*tidy.split("_")[:1], *tidy.split("_")[-1:]}
    if ends & LATITUDES and not ends & LONGITUDES:
        return "latitude"
    return "longitude" if tidy == "long" or (ends & LONGITUDES and not ends & LATITUDES) else None


def as_places(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns as pictures draw them: on a map also numbers whose names and ends are those of a place, as when found."""
    pairs: dict[frozenset[str], dict[str, Numeric]] = {}
    for column in columns:
        axis = degrees_of(column.name)
        if axis and isinstance(column, Numeric) and not column.scale:
            place = frozenset(tidy_name(column.name).split("_")) - LATITUDES - LONGITUDES - {"long"}
            pairs.setdefault(place, {})[axis] = column
    found: dict[str, Column] = {}
    for pair in (pair for pair in pairs.values() if len(pair) == 2):
        north, east = pair["latitude"], pair["longitude"]
        beyond = 360.0 if east.high > 180.0 else 0.0
        with suppress(RequestError):  # where positions cannot lie between such ends
            drawn = position(north.name, east.name, north.low, north.high, east.low, east.high - beyond)
            found |= {column.name: column for column in drawn}
    return tuple(found.get(column.name, column) for column in columns)


def kind_for(name: str) -> str | None:
    """What columns of this name commonly hold: "number", "category", "date", "latitude" or "longitude"; or None."""
    tidy = tidy_name(name)
    if degrees := degrees_of(name):
        return degrees
    if preset_for(name) is not None:
        return "number"
    if is_coded(name):
        return "category"
    return "date" if set(tidy.split("_")) & DATED else None


def on_earth(name: str, low: float, high: float) -> tuple[float, float]:
    """Ends of a column whose name says latitude or longitude, no farther than there are any.

    Only where its cells of powers of two may be those of degrees; and longitudes without any below 0 may go to 360.
    """
    degrees = degrees_of(name)
    most = {"latitude": 90.0, "longitude": 180.0, None: math.inf}[degrees]
    if most == math.inf or max(-low, high) > 1.5 * most or low >= most or high <= -most:
        return low, high
    return max(low, -most), high if degrees == "longitude" and low >= 0.0 else min(high, most)


# A scale that a name says: "Moyenne /20", "out of 10", "satisfaction (1-5)".
_SCALE = re.compile(
    r"(?:/\s*(?=(?:5|10|20|100)\b)|\bout of\s*)(?P<of>\d{1,3})\W*$"
    r"|[(\[]\s*(?P<low>\d{1,3})\s*(?:-|–|to|bis|à|a|\.{2,3})\s*(?P<high>\d{1,3})\s*[)\]]",
    re.IGNORECASE,
)


def within_reason(name: str, low: float, high: float) -> tuple[float, float]:
    """Ends of a column whose name says what it holds, no farther than anyone's value lies.

    Only where they end among such values, or with the next power of two at most: others are in another unit.
    """
    if (said := _SCALE.search(name)) is not None:
        first, last = float(said["low"] or 0), float(said["high"] or said["of"])
        return (first, min(high, last)) if first < last and first < high <= OTHER_UNIT * last else (low, high)
    preset = PRESETS[preset_for(name) or ("year" if low >= 1000.0 and says_years(name) else "pay")]
    if preset is PRESETS["pay"] or not preset.low < high <= OTHER_UNIT * preset.high:
        return on_earth(name, low, high)
    return (max(low, preset.low), min(high, preset.high)) if low < preset.high else (low, high)


def stem_of(name: str) -> str:
    """A name without the number behind it, as questions alike have; "" where there is none."""
    stem = re.sub(r"[\W_]*\d+[a-z]?$", "", name)
    return "" if stem == name else stem


def says_years(name: str) -> bool:
    """Whether columns of this name commonly hold years of the calendar."""
    known, words = preset_for(name), set(tidy_name(name).split("_"))
    return known in ("year", "birth_year") or (known is None and bool(words & set(PRESETS["year"].names.split())))


def preset_for(name: str) -> str | None:
    """The preset that columns of this name commonly follow, or None."""
    tidy = tidy_name(name)
    return next((key for key, preset in PRESETS.items() if tidy == key or tidy in preset.names.split()), None)


def preset_sentence(name: str, preset: str) -> str:
    """Where bounds came from that a preset filled in."""
    known = PRESETS[preset]
    unit = f" {known.unit}" if known.unit else ""
    return f"{name}: {bound(known.low)} to {bound(known.high)}{unit} by common knowledge, as {known.because}."
