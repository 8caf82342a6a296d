"""Drafts of declarations: an entry for every column, from a codebook, its type, and common knowledge of its name."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import RequestError
from .codebooks import listed_words
from .column_entries import MISSING, columns_of
from .columns import RULE, degrees_of, preset_for, preset_sentence, tidy_name, without_missing
from .declarations import in_flow
from .formats import format_of

FREE_TEXT = (
    "Its values are not known: list them (values: [...]); or of free text keep the length (kind: text_length, longest: "
    "1000) or chosen words (kind: words, values: [...])."
)


@dataclass(frozen=True)
class Entry:
    """What a draft says of one column."""

    name: str  # Of the column, or of the place that a pair of columns is.
    facts: dict[str, Any]  # Its entry in a declaration, as far as it is known.
    unknown: str = ""  # What has still to be said, in a few words; "" when the entry is whole.
    because: str = ""  # Where the facts come from, in a sentence.
    # Values in the codebook that it says mean missing, and which are therefore no categories.
    missing: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The entry as a line of a declaration, behind a # while something is missing from it."""
        text = f"{in_flow(self.name)}: {in_flow(self.facts)}"
        remark = f"  # {self.unknown or self.because}" if self.unknown or self.because else ""
        return f"  {'# ' if self.unknown else ''}{text}{remark}"


def drafted(columns: Sequence[tuple[str, ...]], book: Mapping[str, Mapping[str, Any]]) -> list[Entry]:
    """An entry for every column of a table, from a codebook, its type, and common knowledge of its name.

    `columns`: Name and kind of every column of the table, as its source knows them, and its format where there is one
    to be said; no value is looked at.
    """
    known = {tidy_name(name): facts for name, facts in book.items()} | {name: facts for name, facts in book.items()}
    place = place_among([name for name, found, *_ in columns if found != "date"])
    entries: list[Entry] = []
    for name, found, *written in columns:
        if place is not None and name in place:
            entries += [_place(place, known)] if name == place[0] else []
            continue
        facts = dict(known.get(name, known.get(tidy_name(name), {})))
        entries.append(_drafted(name, found, facts, "".join(written)))
    return entries


def _drafted(name: str, found: str, said: dict[str, Any], written: str = "") -> Entry:
    because = "from the codebook" if said else ""
    kind = str(said.get("kind", ""))
    if kind in ("", "text"):
        said["kind"] = {"number": "number", "boolean": "yes_no", "date": "date", "vector": "vector"}.get(
            found, "category"
        )
    entry = format_of(written).entry if written else {}
    if found == "date" and entry.get("kind") == "number" and kind == "":
        said["kind"] = "number"  # of hours, as a time of day is read
    if entry.get("kind") == said["kind"]:
        said |= {key: value for key, value in entry.items() if key not in said}
    if said["kind"] == "number" and not {"low", "high"} <= set(said) and (preset := preset_for(name)):
        said = {"kind": "number", "preset": preset} | {key: value for key, value in said.items() if key != "kind"}
        because = preset_sentence(name, preset)
    if said["kind"] == "category" and not said.get("values"):
        return Entry(name, said, FREE_TEXT)
    said, lost = _apart(said)
    because += f"; no category, as it means missing: {', '.join(lost)}" if lost else ""
    return replace(_checked(name, said, because), missing=tuple(lost))


def _apart(said: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What is said of a column, with no value that is said to mean missing."""
    label = str(said.get("missing_category", MISSING if said.get("on_missing") == RULE else ""))
    values, lost = without_missing(said.get("values"), listed_words(said.get("missing", "")), label)
    return (said | {"values": values} if lost else said), lost


def _place(names: tuple[str, str], known: Mapping[str, Mapping[str, Any]]) -> Entry:
    """The entry of a latitude and a longitude."""
    latitude, longitude = (known.get(name, known.get(tidy_name(name), {})) for name in names)
    sides = {"south": latitude.get("low"), "north": latitude.get("high")}
    sides |= {"west": longitude.get("low"), "east": longitude.get("high")}
    facts: dict[str, Any] = {"kind": "position", "latitude": names[0], "longitude": names[1]}
    facts |= {side: degrees for side, degrees in sides.items() if degrees is not None}
    return _checked("place", facts, "from the codebook")


def _checked(name: str, facts: dict[str, Any], because: str) -> Entry:
    try:
        columns_of(name, facts)
    except RequestError as error:
        return Entry(name, facts, str(error))
    return Entry(name, facts, "", because)


def place_among(names: Sequence[str]) -> tuple[str, str] | None:
    """The columns whose names say that they are latitude and longitude, where there is one of each."""
    found = [[name for name in names if degrees_of(name) == axis] for axis in ("latitude", "longitude")]
    return (found[0][0], found[1][0]) if len(found[0]) == len(found[1]) == 1 else None


def person_among(names: Sequence[str]) -> str | None:
    """The first column whose name says that it tells people apart, such as N° patient or 会員番号; or None."""
    told = (name for search in _WHO for name in names if search(_plain(name)) or _OTHER_LETTERS.search(name))
    return next(told, None)


def _plain(name: str) -> str:
    """A name in the letters of ASCII, its words separated by underscores."""
    return tidy_name(
        unicodedata.normalize("NFKD", name.replace("ß", "ss").replace("°", "o")).encode("ascii", "ignore").decode()
    )


# Words for people whom a table counts, in the languages that exports come in, and what makes them a number of theirs.
_PEOPLE = (
    "person|user|customer|client|patient|member|subject|participant|respondent|student|pupil|employee|reader|borrower|"
    "household|account|passenger|donor|visitor|voter|citizen|leser|kunden?|kundin|mitglieds?|teilnehmer|schueler|"
    "schuler|mitarbeiter|nutzer|benutzer|versicherten|konto|haushalts?|patienten|besucher|adherent|lecteur|usager|"
    "abonne|cliente|paciente|socio|usuario|lector|paziente|utente|lettore|klant|lid|kund|medlem|czytelnik|klient|"
    "subj|emp|staff|worker|rider|driver|tenant|learner|device|card|nhs|kd|pers|personal|matrikel|karten|salarie|eleve|"
    "carte|empleado|alumno|tarjeta|tessera|dipendente|studente|pacjenta|klienta|pracownika|czytelnika|ucznia|karty|"
    "contract|contrat|contrato|contratto|vertrags?|umowy|compte|cuenta|conto|foyer|hogar|famiglia|insured|policyholder"
)
_NUMBER = "id|nr|no|num|number|nummer|numero|numer|code|key|kennung|hash"
_NUMBER_OF_PERSON = re.compile(
    rf"^(?:\w+_)?(?:{_PEOPLE})s?_?(?:{_NUMBER})$|^(?:{_NUMBER})_(?:(?:de|di|du|del|der|des)_)?(?:{_PEOPLE})s?$|"
    rf"^\w*ausweis(?:_?(?:{_NUMBER}))?$|^(?:uid|pid|ssn|mrn|imei|matricule|nr_ewid|pesel|nif|dni|cpf|bsn|personnummer)$|"
    r"^(?:codice_fiscale|numer_ewidencyjny|user_?name)$"
)
# Where no number tells people apart, these may: whoever writes to the same address, or is called the same. Not what a
# record may be or not be, as a student, a member, a donor; nor plurals, which count.
_BY_THEMSELVES = re.compile(
    r"^(?:e_?mail(?:_?address)?|user|respondent|participant|patient|customer|employee|socio|client|kunde|kundin|nutzer|"
    r"benutzer|teilnehmer|versicherter?|cliente|paciente|usuario|paziente|utente|usager|klant|kund|klient|pacjent)$"
)
_WHO = (_NUMBER_OF_PERSON.search, _BY_THEMSELVES.search)
_OTHER_LETTERS = re.compile(
    r"(?:会員|顧客|患者|社員|職員|利用者|学籍|ユーザー|お客様|客户|用户|会员|员工)(?:番号|コード|编号|ID|No)|身份证|学号|工号|"
    r"(?:회원|고객|환자|사용자|직원)\s*(?:번호|ID)|학번|사번|табельный|снилс|"
    r"(?:id|код|номер)\s+(?:клиента|пациента|сотрудника|пользователя|студента|читателя)",
    re.IGNORECASE,
)


def draft_text(entries: Sequence[Entry], paid: str = "") -> str:
    """A draft of a declaration, whose unfinished lines are behind a #; with what finding out its entries has cost."""
    head = [
        "# A draft. Think of anyone, not of the people in the data: what stands here becomes public with a release.",
        "record: record",
        "scale: box  # each column is compared as a share of its bounds; none keeps their own units",
        *([f"paid: {in_flow(paid)}"] if paid else []),
        "columns:",
    ]
    if any(entry.unknown for entry in entries):
        head.insert(1, "# Finish the lines behind a # and take it away, or leave those columns out.")
    return "\n".join([*head, *(entry.line for entry in entries)]) + "\n"
