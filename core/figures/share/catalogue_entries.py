"""What catalogues keep of a released file: an entry of the public registry of deployments, and Croissant metadata.

The registry of deployments of differential privacy keeps one YAML file each, which its schema checks: names of fields,
which are needed, and the words that some of them may have (`CURATORS`, `PRODUCTS`, `VARIANTS`). An entry begins as a
draft, which its editors review; it says of its tier how complete it is: 1 what was published, 2 also under which
promise, 3 everything. Croissant 1.1 (JSON-LD) is what search engines and loaders of machine learning read.

References
----------
Nanayakkara, Ghazi, Vadhan 2025, Practitioners' Perspectives on a Differential Privacy Deployment Registry;
the schema of opendp/deployments-registry-data, as of September 2026.
Benjelloun and others 2026, Croissant Format Specification 1.1 (MLCommons).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import yaml

from ...domain import Categorical, Column, Dates, Ordered
from ...formatting.numbers import listed
from ...privacy.budget import decimal_text
from .described import ARCHIVE, COMPOSITION, POST_PROCESSING, Publisher, Said
from .variables import csv_heads, is_number

TIER = 2
"""What a file can fill: of the third tier, why its numbers were chosen is left to its owner."""
NEEDED = {"curator": "curator", "kind": "kind of curator", "use": "intended use", "region": "region"}


class _Plain(yaml.SafeDumper):  # type: ignore[misc]
    """YAML as the registry's checker wants it: one line a text, in quotes where that is needed, and nothing folded."""


def missing_facts(publisher: Publisher) -> tuple[str, ...]:
    """The typed facts that an entry cannot do without, in words."""
    return tuple(words for name, words in NEEDED.items() if not getattr(publisher, name))


def slug_of(said: Said, publisher: Publisher) -> str:
    """The name of an entry in addresses, as the registry makes it: what, by whom, and of which year."""
    texts = (said.title.partition(":")[0][:60], publisher.curator, said.day[:4])
    return "-".join(word for text in texts for word in re.findall(r"[a-z0-9]+", text.lower()))


def registry_entry(said: Said, publisher: Publisher) -> str:
    """The entry, as the text of a YAML file."""
    return str(yaml.dump(_entry(said, publisher), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1 << 20))


def _entry(said: Said, publisher: Publisher) -> dict[str, Any]:
    """The entry with its fields in the order of the schema, which the registry's pages rely on."""
    units = {} if said.units is None else {"number_of_privacy_units": said.units}
    numbers = {"epsilon": float(said.epsilon)} | ({"delta": float(said.delta)} if said.delta else {})
    licence = f" Terms of use: {publisher.licence}." if publisher.licence else ""
    deployment = {
        "basic": {
            "name": said.title,
            "data_curators": [{"data_curator_name": publisher.curator, "data_curator_type": publisher.kind}],
            "description": said.about,
            "intended_use": publisher.use,
            "data_product_type": said.product,
            "data_product_region": publisher.region,
            "publication_date": said.day,
        },
        "dp_variant": {
            "variant_name": said.variant,
            "data_domain": said.records,
            "unprotected_quantities": said.unprotected,
        },
        "privacy_loss": {
            "privacy_unit": said.unit,
            "privacy_unit_details": said.unit_details,
            **units,
            "privacy_parameters": numbers,
            "privacy_parameters_details": f"{said.promise} {said.odds}",
        },
        "deployment_model": {
            "model_name": said.model,
            "trust_assumptions": trusted(said),
            "release_type": "One release",
            "release_type_details": (
                "This file was released once. Whether others are made of the same records is not written in it; their "
                "promises would add up."
            ),
            "data_source_type_details": "Whether records are still added to the source is not written in the file.",
            "access_type": "Non-interactive",
            "access_type_details": "The file is published as it is, and whoever has it asks it, which costs nothing.",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": said.preparation,
            "mechanisms": f"{said.mechanisms} Made with {said.software}.",
            "composition": COMPOSITION,
            "post_processing": POST_PROCESSING,
            "utility": said.utility,
            "additional_information": (
                f"The file {said.name} keeps ε = {decimal_text(said.epsilon)}, δ = {decimal_text(said.delta)}; this "
                f"entry was made from it.{licence}"
            ),
        },
        "administrative": {"status": "Draft", "registry_authors": [publisher.curator], "tier": TIER},
    }
    return {"url_slug": slug_of(said, publisher), "deployment": deployment}


def trusted(said: Said) -> str:
    """Who has to be trusted with what, as sentences."""
    if said.model == "Local":
        return "Nobody is trusted with an answer: each was randomised where it was given, before it was sent."
    return (
        "The curator holds the records and is trusted with them and with making the release. Whoever reads the file is "
        "not trusted: the promise holds whatever they know beside it and whoever they share it with."
    )


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
