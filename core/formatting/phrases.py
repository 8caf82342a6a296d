"""Names, lists, counts and days in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

LONGEST_NAME = 80
LONGEST_LABEL = 24


def shown(text: str) -> str:
    """A name from a stranger's file as it may stand in a sentence: one line, of bearable length, nothing invisible.

    Examples
    --------
    >>> shown("a\\nb\\x1b[31m")
    'a b\N{REPLACEMENT CHARACTER}[31m'
    """
    line = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in " ".join(text.split()))
    return shortened(line, LONGEST_NAME)


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """A text of bearable length, as the label of an axis unless told otherwise."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names as a list in words, the first few of many.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcdefgh", most=3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    names = [shown(name) for name in names]
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most:,} more"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def plural(number: int, one: str, many: str | None = None) -> str:
    """The noun that suits a number.

    Examples
    --------
    >>> plural(1, "set"), plural(0, "set"), plural(2, "is", "are")
    ('set', 'sets', 'are')
    """
    return one if number == 1 else many or f"{one}s"


PEOPLE = {"person": "people", "child": "children", "man": "men", "woman": "women", "datum": "data", "series": "series"}


def several(one: str) -> str:
    """More than one of what a word or two name.

    Examples
    --------
    >>> [several(one) for one in ("star", "person", "city", "box", "hospital stay", "ill person")]
    ['stars', 'people', 'cities', 'boxes', 'hospital stays', 'ill people']
    """
    before, _, last = one.rpartition(" ")
    if last in PEOPLE:
        many = PEOPLE[last]
    elif last.endswith("y") and not last.endswith(("ay", "ey", "oy", "uy")):
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}es" if last.endswith(("s", "x", "z", "ch", "sh")) else f"{last}s"
    return f"{before} {many}".strip()


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "file"), count(12_000, "row")
    ('1 file', '12,000 rows')
    """
    return f"{number:,} {plural(number, one, many)}"


def lowered(text: str) -> str:
    """A sentence as it goes on after a colon."""
    return text[:1].lower() + text[1:]


def day(when: datetime | str) -> str:
    """The day of a time, in ISO 8601 where it is a text, as people write it."""
    moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{moment.day} {moment:%B} {moment.year}"


def minute(when: str) -> str:
    """A time in ISO 8601 to the minute, as people write it."""
    return f"{day(when)}, {datetime.fromisoformat(when):%H:%M %Z}"
