"""The passport of a release: the papers that registries, evaluators and archives ask for, made from its manifest.

Everything in it is public: it is read off the file, and the five facts that no file knows are typed by its owner. What
neither says stands there as unknown, or the paper that cannot do without it is not written.

One of them is what NIST SP 800-226 would have an evaluator ask of a claim of differential privacy. The publication
draws a pyramid: the numbers of the promise and the unit of privacy on top; below them the algorithms, what they do to
the use of the data, the query model and the trust model; at the bottom how they were implemented, how records are
secured and how they were collected. Each stone rests on those below. It has no form to be filled in, so the questions
here are those of its sections and of its hazards, in its order from the top. A file knows nothing of the bottom: there
the answer is that it is unknown, for the owner to fill in, and never that all is well.

References
----------
Near, Darais, Lefkovitz, Howarth 2025, Guidelines for Evaluating Differential Privacy Guarantees (NIST SP 800-226).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import listed, significant
from ...privacy.budget import decimal_text
from ...releases.release import Release
from ...runtime.transient import unfinished
from .catalogue_entries import croissant, missing_facts, registry_entry, slug_of, trusted
from .described import (
    ARCHIVE,
    COMPOSITION,
    IMPLEMENTATION,
    UNKNOWN,
    PublicFile,
    Publisher,
    Said,
    described,
    read_public,
)
from .variables import csv_tables, csvw, ddi_codebook, json_stat

STRONG, WEAK = 1, 10
"""ε up to which a promise is commonly called strong, and from which it says little in the worst case."""


class Question(NamedTuple):
    """One line of the checklist."""

    section: str
    asked: str
    answer: str  # `UNKNOWN` where the file cannot know.


def questions(said: Said, publisher: Publisher) -> Iterator[Question]:
    """All questions with their answers, from the top of the pyramid to its bottom."""
    numbers = f"ε = {decimal_text(said.epsilon)}" + (f", δ = {decimal_text(said.delta)}" if said.delta else "")
    section = "Privacy parameters"
    yield Question(section, "Which definition is met, and with which numbers?", f"{said.variant}: {numbers}.")
    yield Question(section, "How strong is that in the worst case?", f"{said.odds} {_strength(said)}")
    yield Question(section, "Is δ far below one over the number of people?", _slack(said))
    section = "Unit of privacy"
    yield Question(section, "Whose data is hidden?", f"{said.unit}. {said.unit_details}")
    yield Question(section, "Does one person have several records, and is that within the unit?", _several(said))
    section = "Composition"
    yield Question(section, "Is all that the file holds under the stated numbers?", COMPOSITION)
    yield Question(section, "What else was released about the same people, and what is the total?", UNKNOWN)
    yield Question(section, "Is anything published beside it without noise?", said.unprotected)
    section = "Algorithms and correctness"
    yield Question(section, "Which mechanisms were used, and why do they keep the promise?", said.promise)
    yield Question(section, "Was the implementation tested against its proof?", said.audited or UNKNOWN)
    yield Question(section, "Were bounds, categories or settings chosen by looking at the records?", said.preparation)
    section = "Accuracy and bias"
    yield Question(section, "How accurate are its answers, and is that stated with them?", said.utility)
    yield Question(section, "What is it to be used for, and is it accurate enough for that?", _use(publisher))
    yield Question(
        section,
        "Are small groups so noisy that decisions about them would be unfair?",
        "Noise is as large for small groups as for large ones, so that it is larger in proportion; every answer has an "
        "interval that says so. Whether that is fair to them is for the owner to judge: unknown.",
    )
    yield Question(section, "Do the records stand for whom they are meant to?", UNKNOWN)
    section = "Query model"
    yield Question(section, "Do analysts ask the records, or a finished release?", "A finished release, made once.")
    section = "Trust model"
    yield Question(section, "Who is trusted with the records?", trusted(said))
    section = "Implementation"
    yield Question(section, "Can floating-point numbers give noise away?", IMPLEMENTATION)
    yield Question(
        section,
        "Can the time or the memory that it took give records away?",
        "Nobody asks the records through it, so that there is no answer to time. Who watched the machine while the "
        "release was made is unknown.",
    )
    section = "Data security and access control"
    yield Question(section, "Who can read the records, and how is that enforced?", UNKNOWN)
    yield Question(section, "How long are they kept, and how are they destroyed?", UNKNOWN)
    section = "Data collection"
    yield Question(section, "Were the people told, and did they agree?", UNKNOWN)
    yield Question(section, "Was more collected than is needed?", UNKNOWN)


def checklist(said: Said, publisher: Publisher) -> str:
    """The checklist as Markdown, a table a section."""
    asked = list(questions(said, publisher))
    known = sum("unknown" not in one.answer.lower() for one in asked)
    lines = [
        "# Evaluation by NIST SP 800-226",
        "",
        f"{in_markdown(said.title)}; file {in_markdown(said.name)}.",
        "",
        f"{known} of {len(asked)} questions are answered from the file, which says what the program that wrote it did. "
        "The others nobody can read off it, or not all of them: what is unknown, whoever holds the records answers.",
    ]
    section = ""
    for one in asked:
        if one.section != section:
            section = one.section
            lines += ["", f"## {section}", "", "| Question | Answer |", "|---|---|"]
        lines.append(f"| {_cell(one.asked)} | {_cell(one.answer)} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """A text in a table of Markdown, whatever it holds."""
    return in_markdown(text)


def _strength(said: Said) -> str:
    epsilon = float(said.epsilon)
    if epsilon <= STRONG:
        return f"ε is at most {STRONG}, which is commonly called strong."
    if epsilon < WEAK:
        return f"ε is between {STRONG} and {WEAK}, as in many deployments; what it hides in practice depends on them."
    return f"ε is {WEAK} or more, which proves little in the worst case."


def _slack(said: Said) -> str:
    if not said.delta:
        return "There is no δ: the promise holds with certainty."
    if said.units is None:
        return f"δ = {decimal_text(said.delta)}; how many people there are is unknown."
    chance = float(said.delta) * said.units
    verdict = "yes" if chance <= 0.01 else "no, and it should be smaller"
    return f"δ times the number of people is about {significant(chance, 1)}: {verdict}."


def _several(said: Said) -> str:
    if said.model == "Local":
        return "Each report is protected by itself; whether a person sent several is unknown."
    if said.domain is None or said.domain.unit.column is None:
        return (
            "Each record is protected by itself. Whether a person has several, whose protection is weaker, is unknown."
        )
    return f"Records are counted to people by the column {said.domain.unit.column}: {said.unit}."


def _use(publisher: Publisher) -> str:
    return (
        f"{publisher.use.rstrip('.')}. Whether it is accurate enough for that is unknown." if publisher.use else UNKNOWN
    )


README = "README.md"


@dataclass(frozen=True, eq=False)
class Passport:
    """Papers of one released file, by the names of their files."""

    said: Said
    publisher: Publisher
    data: bytes

    @cached_property
    def papers(self) -> Mapping[str, bytes]:
        """Every paper that can be written, in UTF-8."""
        said, publisher = self.said, self.publisher
        tables = csv_tables(said)
        texts = {
            "sp-800-226-checklist.md": checklist(said, publisher),
            "croissant.json": _json(croissant(said, publisher, self.data, tables)),
            "csvw-metadata.json": _json(csvw(said, publisher, tables)),
            "ddi-codebook.xml": ddi_codebook(said, publisher),
            **tables,
        }
        if not self.unsaid:
            texts[f"{slug_of(said, publisher).replace('-', '_')}.yaml"] = registry_entry(said, publisher)
        cubes = json_stat(said)
        if cubes is not None:
            texts["tables.jsonstat.json"] = _json(cubes)
        return MappingProxyType({name: text.encode() for name, text in sorted(texts.items())})

    @property
    def unsaid(self) -> tuple[str, ...]:
        """The facts without which there is no entry for the registry of deployments."""
        return missing_facts(self.publisher)

    @property
    def unsaid_in_words(self) -> str:
        """What is missing, as a sentence; "" where nothing is."""
        if not self.unsaid:
            return ""
        return (
            f"The entry for the registry of deployments was not written: say the {listed(self.unsaid)}, which no file "
            "knows."
        )

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the papers into a folder, which is made where there is none; each is whole or not there at all.

        RequestError when they cannot be written.
        """
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, content in self.papers.items():
                with unfinished(place / name) as file:
                    file.write(content)
        except OSError as problem:
            raise RequestError(f"The passport cannot be written: {problem.strerror or problem}.") from None
        return tuple(place / name for name in self.papers)

    def zipped(self) -> bytes:
        """The papers as one archive."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in self.papers.items():
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return archive.getvalue()


def passport(
    release: PublicFile | str | Path,
    *,
    curator: str = "",
    kind: str = "",
    use: str = "",
    region: str = "",
    licence: str = "",
) -> Passport:
    """The passport of a release, of a model or of counted local reports.

    Parameters
    ----------
    release : PublicFile | str | Path
        What was released, or its file.
    curator, kind, use, region, licence : str
        The facts that no file knows; see `Publisher`.

    Raises
    ------
    RequestError
        When there is no such file, or a fact cannot be printed.
    """
    publisher = Publisher(curator, kind, use, region, licence)
    if isinstance(release, (str, Path)):
        path = Path(release)
        try:
            data = path.read_bytes()
        except OSError as problem:
            raise RequestError(f"The file {str(path)!r} cannot be read: {problem.strerror or problem}.") from None
        return Passport(described(read_public(data), path.name, data), publisher, data)
    data = release.to_bytes(teaching=True) if isinstance(release, Release) else release.to_bytes()
    ending = ".npz" if data.startswith(ARCHIVE) else ".json"
    return Passport(described(release, f"release{ending}", data), publisher, data)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
