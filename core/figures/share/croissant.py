"""Croissant 1.1 metadata of a released file: what search engines and loaders of machine learning read (JSON-LD).

References
----------
Benjelloun and others 2026, Croissant Format Specification 1.1 (MLCommons).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ...domain import Categorical, Column, Dates, Ordered
from ...formatting.numbers import listed
from .described import ARCHIVE, Said
from .variables import csv_heads, is_number

if TYPE_CHECKING:
    from .registry_entry import Publisher

CONFORMS = "http://mlcommons.org/croissant/1.1"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        term: f"cr:{term}"
        for term in (
            "arrayShape",
            "citeAs",
            "column",
            "containedIn",
            "equivalentProperty",
            "extract",
            "field",
            "fileObject",
            "fileProperty",
            "fileSet",
            "format",
            "includes",
            "isArray",
            "isLiveDataset",
            "jsonPath",
            "key",
            "md5",
            "parentField",
            "path",
            "recordSet",
            "references",
            "regex",
            "repeated",
            "replace",
            "samplingRate",
            "separator",
            "source",
            "subField",
            "transform",
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
"""What the terms mean: the context that the specification gives."""
LISTED = 40


def croissant(said: Said, publisher: Publisher, data: bytes, tables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The metadata, as a value for JSON.

    `said`, `publisher`: What the file says, and what its owner does. `data`: Its contents, for the checksum. `tables`:
    Tables in CSV that lie beside it; their columns are described as records that can be loaded.
    """
    mark = sha256(data).hexdigest()
    kind = "application/x-npz" if data.startswith(ARCHIVE) else "application/json"
    files = [_file("release", said.name, kind, data), *_beside(tables or {})]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": said.title,
        "description": said.about,
        "datePublished": said.day,
        "version": "1.0.0",
        "url": f"urn:sha256:{mark}",
        **({"creator": {"@type": "sc:Organization", "name": publisher.curator}} if publisher.curator else {}),
        **({"license": publisher.licence} if publisher.licence else {}),
        **({"citeAs": said.citation} if said.citation else {}),
        **({"spatialCoverage": publisher.region} if publisher.region else {}),
        "measurementTechnique": f"{said.variant}: {said.promise}",
        "rai:personalSensitiveInformation": f"{said.unit_details} {said.odds}",
        **({"rai:dataUseCases": publisher.use} if publisher.use else {}),
        "rai:dataLimitations": said.utility,
        "variableMeasured": [] if said.domain is None else [_variable(one) for one in said.domain.columns],
        "distribution": files,
        "recordSet": [_records(name, text) for name, text in (tables or {}).items()],
    }


def in_head(metadata: dict[str, Any]) -> str:
    """The metadata for the head of a page: JSON in which nothing can end the element that holds it."""
    text = json.dumps(metadata, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(mark: str, name: str, kind: str, data: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": mark,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(data)} B",
        "encodingFormat": kind,
        "sha256": sha256(data).hexdigest(),
    }


def _beside(tables: Mapping[str, str]) -> list[dict[str, Any]]:
    return [_file(name, name, "text/csv", text.encode()) for name, text in tables.items()]


def _records(name: str, text: str) -> dict[str, Any]:
    """A table in CSV as records with a field a column; their names are fixed words."""
    stem = name.partition(".")[0]
    return {
        "@type": "cr:RecordSet",
        "@id": stem,
        "name": stem,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{stem}/{head}",
                "name": head,
                "dataType": "sc:Float" if is_number(head) else "sc:Text",
                "source": {"fileObject": {"@id": name}, "extract": {"column": head}},
            }
            for head in csv_heads(text)
        ],
    }


def _variable(column: Column) -> dict[str, Any]:
    """A column of the private records: what anyone could have in it."""
    facts: dict[str, Any] = {"@type": "sc:PropertyValue", "name": column.name}
    if isinstance(column, Dates):
        return facts | {"minValue": column.first, "maxValue": column.last}
    if isinstance(column, (Categorical, Ordered)):
        return facts | {"description": f"One of {listed(column.categories, LISTED)}"}
    if hasattr(column, "low"):
        facts |= {"minValue": column.low, "maxValue": column.high}
    unit = getattr(column, "unit", "")
    return facts | ({"unitText": unit} if unit else {})
