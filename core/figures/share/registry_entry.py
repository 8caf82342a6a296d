"""An entry for the public registry of deployments of differential privacy, in its YAML.

The registry keeps one file a deployment, which its schema checks: names of fields, which are needed, and the words that
some of them may have (`CURATORS`, `PRODUCTS`, `VARIANTS`). An entry begins as a draft, which its editors review; it
says of its tier how complete it is: 1 what was published, 2 also under which promise, 3 everything.

References
----------
Nanayakkara, Ghazi, Vadhan 2025, Practitioners' Perspectives on a Differential Privacy Deployment Registry;
the schema of opendp/deployments-registry-data, as of September 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import yaml

from ...errors import RequestError
from ...formatting.numbers import listed
from ...privacy.budget import decimal_text
from .described import COMPOSITION, POST_PROCESSING, Said

CURATORS = ("Government", "Industry", "Nonprofit")
"""What a curator may be there."""
TIER = 2
"""What a file can fill: of the third tier, why its numbers were chosen is left to its owner."""
NEEDED = {"curator": "curator", "kind": "kind of curator", "use": "intended use", "region": "region"}
LONGEST = 2_000
"""Characters of a typed fact."""


@dataclass(frozen=True)
class Publisher:
    """The five facts that no release knows of itself; "" where nobody says."""

    curator: str = ""  # Who publishes it: the name of an organisation or a person.
    # What they are: "Government", "Industry" or "Nonprofit", as the registry of deployments sorts curators.
    kind: str = ""
    use: str = ""  # What it is meant to be used for.
    region: str = ""  # Where the people live whom it is about, or whose laws apply.
    licence: str = ""  # Under which terms others may use it, such as the address of a licence.

    def __post_init__(self) -> None:
        for field in fields(self):
            text = " ".join(str(getattr(self, field.name)).split())
            if len(text) > LONGEST or not text.isprintable():
                raise RequestError(
                    f"The {field.name} of a passport may have {LONGEST:,} characters that are drawn, so that every "
                    "register shows it as it was typed."
                )
            object.__setattr__(self, field.name, text)
        if self.kind and self.kind not in CURATORS:
            raise RequestError(
                f"The kind of curator must be one of {listed(CURATORS)}, as the registry of deployments knows no other."
            )


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
