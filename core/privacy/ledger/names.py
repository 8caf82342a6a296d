"""Names of data sets: one account for all that look the same.

Whoever releases under a name that a reader takes for another would spend the budget of one data set twice. So names
are kept in their one spelling (Unicode's NFC), and a new name is refused where it looks like a known one: the same
but for capitals, for compatible forms (fullwidth letters, ligatures), for characters that draw nothing (variation
selectors, joiners), or for letters of Cyrillic and Greek that are drawn like Latin ones. The last are single letters
that Unicode Technical Standard 39 calls confusable with letters of Latin and that fonts draw alike; likenesses within
Latin (l and 1, rn and m) are left to the reader, as refusing those would refuse honest names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from ...errors import RequestError

LONGEST_NAME = 100

# Letters of Cyrillic and Greek to those of Latin that are drawn alike, each in its own case.
_ALIKE = str.maketrans(
    "АВЕЗКМНОРСТУХІЈЅԌԚԜ" + "аеорсухіјѕһԁԛԝѵӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "ανορυικχγ",
    "ABE3KMHOPCTYXIJSGQW" + "aeopcyxijshdqwvl" + "ABEZHIKMNOPTYX" + "avopuikxy",
)


def checked_name(text: object, what: str) -> str:
    """Return a name in its one Unicode spelling (NFC), or say what a name may be."""
    if isinstance(text, str):
        text = unicodedata.normalize("NFC", text)
        if 1 <= len(text) <= LONGEST_NAME and text.isprintable() and text == text.strip():
            return text
    raise RequestError(
        f"The {what} must be a text of 1 to {LONGEST_NAME} visible characters without blanks at its ends, so that it "
        "can be told from every other."
    )


def named_after(source: str, known: Iterable[str] = ()) -> str | None:
    """A name for a data set that was given none: that of its file, without folder and format; None where it has none.

    App and command line name the same file alike by it, so that its people have one budget. A name with the format
    that the ledger knows already stays, as earlier versions gave it.

    Examples
    --------
    >>> named_after("/data/visits.csv.gz"), named_after("people.duckdb::visits"), named_after("visits/*.parquet")
    ('visits', 'people.visits', None)
    >>> named_after("/data/visits.csv", ["visits.csv", "others"])
    'visits.csv'
    """
    path, _, table = source.rpartition("::") if "::" in source and not Path(source).exists() else (source, "", "")
    whole = name = Path(path.split("?")[0] if "://" in path else path).name
    for suffix in (".gz", *Path(name.removesuffix(".gz")).suffixes[-1:]):
        name = name.removesuffix(suffix)
    name = ".".join(part for part in (name, table) if part)
    if not name or any(mark in name for mark in "*?["):
        return None
    earlier = f"{whole}::{table}" if table else whole
    return earlier if earlier in known and name not in known else name


def look_alike(one: str, other: str) -> bool:
    """Whether a reader easily takes one name for the other.

    Examples
    --------
    >>> look_alike("Survey", "surveys"), look_alike("Survey", "SURVEY"), look_alike("Survey", "Ѕurvеy\ufe0f")
    (False, True, True)
    """
    one, other = _visible(one), _visible(other)
    return one.casefold() == other.casefold() or (
        one.translate(_ALIKE).casefold() == other.translate(_ALIKE).casefold()
    )


def check_new(name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not known and looks like one that is."""
    names = list(known)
    other = None if name in names else next((other for other in names if look_alike(name, other)), None)
    if other is not None:
        raise RequestError(
            f"The ledger already knows a data set {other!r}; write its name the same way, or choose one that differs "
            "in more than capitals or letters that look alike, as data under two names would be spent twice."
        )


def _visible(name: str) -> str:
    """What is drawn of a name, in its plain form, with one blank for several."""
    plain = unicodedata.normalize("NFKC", name)
    return " ".join("".join(sign for sign in plain if not _draws_nothing(sign)).split())


def _draws_nothing(sign: str) -> bool:
    """Whether it is a variation selector, a joiner, a filler: drawn as nothing on its own."""
    code = ord(sign)
    return (
        unicodedata.category(sign) == "Cf"
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
        or code in (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0)
    )
