"""How public facts are written on a command line: bounds, categories, bandwidths, units, seeds.

Everything here turns one text into plain values, or says in one sentence how the text should have been written.

    R=0:255            bounds of a column            5                  one bandwidth
    0:255              bounds of all columns         R=5,G=5,B=10       one bandwidth a column
    city=Bern,Basel    categories of a column        id:3               at most 3 records a person, named by id

Lists are split like a line of CSV, so a name or category with a comma in it is put between double quotes.
"""

import csv
import math
import re
from collections.abc import Iterable, Sequence

from ..errors import RequestError

HEXADECIMAL_SEED = re.compile(r"0x[0-9a-fA-F]{1,32}|[0-9a-fA-F]{32}")


def parse_names(text: str) -> tuple[str, ...]:
    """Names separated by commas.

    >>> parse_names('R,G,"light, dark"')
    ('R', 'G', 'light, dark')
    """
    return _split(text, f"The list of columns {text!r}")


def parse_tables(text: str) -> str | tuple[tuple[str, ...], ...]:
    """The word "singles", "pairs" or "chosen", or lists of names separated by semicolons.

    >>> parse_tables("age,sex;city")
    (('age', 'sex'), ('city',))
    """
    return text if text in ("singles", "pairs", "chosen") else tuple(map(parse_names, text.split(";")))


def parse_bounds(text: str) -> tuple[str | None, float, float]:
    """Name, least and greatest value; the name is None when the bounds are those of every column.

    >>> parse_bounds("R=0:255")
    ('R', 0.0, 255.0)
    """
    name, equals, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    if not colon or (equals and not name):
        raise RequestError(f"The bounds {text!r} must be written as COLUMN=LOW:HIGH, such as height=50:250.")
    what = f"The bounds {text!r}"
    if re.fullmatch(r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}", low):
        said = f"--format {name or 'day'}=year_first"
        raise RequestError(f"{what} are dates, so say how they are written, such as {said}.")
    return name if equals else None, parse_number(low, what), parse_number(high, what)


def parse_scale(text: str) -> tuple[str | None, tuple[str, ...]]:
    """By what columns are compared, "none" or "box" where it says so, and the columns of amounts.

    >>> parse_scale("box,pay=log")
    ('box', ('pay',))
    """
    said: list[str] = []
    amounts: list[str] = []
    for word in _split(text, f"The scale {text!r}"):
        name, equals, scale = word.rpartition("=")
        if word not in ("none", "box") and (not name or scale != "log"):
            raise RequestError(f"The scale {text!r} must be none, box, or COLUMN=log for amounts, such as pay=log.")
        (amounts if equals else said).append(name if equals else word)
    if len(said) > 1:
        raise RequestError(f"The scale {text!r} says by what columns are compared more than once.")
    return (said[0] if said else None), tuple(amounts)


def parse_format(text: str) -> tuple[str, str]:
    """Name of a column and of its format.

    >>> parse_format("due=day_first")
    ('due', 'day_first')
    """
    name, equals, form = text.rpartition("=")
    if not equals or not name:
        raise RequestError(f"The format {text!r} must be written as COLUMN=FORMAT, such as fee=decimal_comma.")
    return name, form


def parse_categories(text: str) -> tuple[str, tuple[str, ...]]:
    """Name and categories of a column.

    >>> parse_categories("city=Bern,Basel")
    ('city', ('Bern', 'Basel'))
    """
    name, equals, listed = text.partition("=")
    if not equals or not name:
        raise RequestError(f"The categories {text!r} must be written as COLUMN=A,B,C, such as city=Bern,Basel.")
    return name, _split(listed, f"The list of categories of {name!r}")


def parse_classes(text: str) -> tuple[str, ...]:
    """Classes separated by commas."""
    return _split(text, f"The list of classes {text!r}")


def parse_length(text: str) -> tuple[str, int]:
    """Name of a column of vectors, and how many numbers each holds."""
    name, equals, length = text.rpartition("=")
    if not equals or not name or not re.fullmatch(r"[0-9]{1,9}", length):
        raise RequestError(f"The column of vectors {text!r} must be written as COLUMN=LENGTH, such as spectrum=64.")
    return name, int(length)


def parse_bandwidth(text: str, columns: Sequence[str]) -> float | tuple[float, ...]:
    """One bandwidth, or one for every column, in their order.

    >>> parse_bandwidth("B=10,R=5", ["R", "B"])
    (5.0, 10.0)
    """
    if "=" not in text:
        return parse_number(text, "The bandwidth")
    parts = [part.rpartition("=") for part in _split(text, "The list of bandwidths")]
    by_column = {name: parse_number(value, f"The bandwidth of {name!r}") for name, _, value in parts}
    if len(by_column) < len(parts) or set(by_column) != set(columns):
        raise RequestError(f"There must be one bandwidth, or exactly one for each of the columns {', '.join(columns)}.")
    return tuple(by_column[name] for name in columns)


def parse_unit(text: str) -> tuple[str, int]:
    """Column that says who a person is, and how many records a person may have at most.

    >>> parse_unit("id:3")
    ('id', 3)
    """
    column, colon, records = text.rpartition(":")
    if not colon or not column or not re.fullmatch(r"[0-9]{1,9}", records):
        raise RequestError(
            f"The privacy unit {text!r} must be written as COLUMN:RECORDS, such as id:3 for at most three records of "
            "each person that the column id names."
        )
    return column, int(records)


def parse_seed(text: str) -> int:
    """A public hash seed: a whole number, or hexadecimal digits (32 of them, as `inspect` shows it, or after 0x)."""
    if HEXADECIMAL_SEED.fullmatch(text):
        return int(text, 16)
    if not re.fullmatch(r"[0-9]{1,39}", text):
        raise RequestError(f"The hash seed {text!r} must be a whole number, or 32 hexadecimal digits.")
    return int(text)


def parse_places(texts: Sequence[str]) -> dict[str, str]:
    """Values by column from texts such as ``G=120``; what a value means is for the column to say."""
    places: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or name in places:
            raise RequestError(f"The place {text!r} must be written as COLUMN=VALUE, once for a column, such as G=120.")
        places[name] = value
    return places


def parse_directions(texts: Sequence[str]) -> dict[str, int] | None:
    """Columns that only raise or lower what is predicted, from texts such as ``age=1``; None where nothing is said.

    >>> parse_directions(["age=1", "pay=-1"])
    {'age': 1, 'pay': -1}
    """
    ways = {"1": 1, "-1": -1, "0": 0}
    found = {}
    for text in texts:
        name, _, way = text.rpartition("=")
        if not name or way not in ways or name in found:
            raise RequestError(f"The direction {text!r} must be written as COLUMN=1 or COLUMN=-1, once for a column.")
        found[name] = ways[way]
    return found or None


def parse_number(text: str, what: str) -> float:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(f"{what} must be made of finite numbers with a decimal point, and {text!r} is none.")
    return number


def check_known(described: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse facts about columns that are not used: a name may be misspelt."""
    for name in described:
        if name not in columns:
            raise RequestError(f"The column {name!r} is described but is not one of the columns {', '.join(columns)}.")


def _split(text: str, what: str) -> tuple[str, ...]:
    """The parts of a line of CSV, which must be different and not empty."""
    try:
        (parts,) = csv.reader([text], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        parts = []
    if not parts or not all(parts) or len(set(parts)) < len(parts):
        raise RequestError(f"{what} must hold different texts with commas between them.")
    return tuple(parts)
