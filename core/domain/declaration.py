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

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from ..checks import check_choice
from ..errors import RequestError
from ..privacy.unit import PrivacyUnit
from .column_entries import check_known, columns_of, number_in
from .columns import Column
from .domain import Domain
from .missing_rule import RULE, under_rule
from .presets import preset_sentence
from .written_entries import stated
from .yaml_texts import in_flow, mapping_of

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
        check_known(facts, ("record", "unit", "columns", *RULES), "The declaration")
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
        return cls(Domain(tuple(columns), unit=_unit(facts.get("unit")), record=record, **rules), tuple(presets))

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
            if getattr(self.domain, rule) != defaults[rule]:
                lines.append(f"{rule}: {in_flow(getattr(self.domain, rule))}")
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
