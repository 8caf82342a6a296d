"""The passport of a release: the papers that registries, evaluators and archives ask for, made from its manifest.

Everything in it is public: it is read off the file, and the five facts that no file knows are typed by its owner. What
neither says stands there as unknown, or the paper that cannot do without it is not written.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from ...errors import RequestError
from ...formatting.numbers import listed
from ...releases.release import Release
from ...runtime.transient import unfinished
from .croissant import croissant
from .described import ARCHIVE, PublicFile, Said, described, read_public
from .evaluation_checklist import checklist
from .registry_entry import Publisher, missing_facts, registry_entry, slug_of
from .variables import csv_tables, csvw, ddi_codebook, json_stat

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

        Raises
        ------
        RequestError
            When they cannot be written.
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
