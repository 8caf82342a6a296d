"""How a released file is cited: an entry for BibTeX, and what a registry of DOIs asks for (DataCite's metadata, JSON).

Both say only what the file says. Who released it is not in there, so the owner fills that in; DataCite has a code for
what nobody said.
"""

from __future__ import annotations

import io
import json
from datetime import datetime

import numpy as np

from ...formatting.numbers import listed
from ...runtime.environment import SOFTWARE
from .label import PrivacyLabel

UNSAID = ":unav"  # DataCite's code for a value that is unavailable.
SCHEMA = "http://datacite.org/schema/kernel-4"
MOST_NAMED = 6
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # BibTeX counts braces, escaped or not.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        **{sign: f"\\{sign}" for sign in "&%$#_"},
    }
)
GREEK = {"ε": r"$\varepsilon$", "δ": r"$\delta$", "≤": r"$\leq$"}


def title_of(label: PrivacyLabel) -> str:
    """What is cited, in a line, which begins with a capital whatever columns are called."""
    columns = listed([column.name for column in label.columns], MOST_NAMED)
    many = f"{label.records[:1].upper()}{label.records[1:]}"
    return f"{many} {label.counted} by {columns}: a differentially private release"


def bibtex(label: PrivacyLabel) -> str:
    """An entry of BibTeX, whose author is to be filled in."""
    mark = (label.fingerprint or "")[:12]
    fields = {
        "author": "{[who released it]}",
        "title": f"{{{_in_latex(title_of(label))}}}",
        "year": str(datetime.fromisoformat(label.created).year),
        "howpublished": f"{{Release file, made with {_in_latex(SOFTWARE)}}}",
        "note": f"{{{_in_latex(f'{label.promise}; SHA-256 {label.fingerprint}')}}}",
    }
    inside = ",\n".join(f"  {name} = {value}" for name, value in fields.items())
    return f"@misc{{frostglass-{mark},\n{inside}\n}}\n"


def datacite(label: PrivacyLabel, size: int) -> str:
    """What a registry of DOIs asks for, JSON; ``size`` of the file in bytes.

    References
    ----------
    DataCite Metadata Schema 4.5.
    """
    protected = f"{label.promise}. It protects {label.protected}; hidden is {label.hidden}."
    facts = {
        "schemaVersion": SCHEMA,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Differentially private release"},
        "creators": [{"name": UNSAID}],
        "titles": [{"title": title_of(label)}],
        "publisher": UNSAID,
        "publicationYear": str(datetime.fromisoformat(label.created).year),
        "dates": [{"date": label.created[:10], "dateType": "Created"}],
        "formats": ["application/x-npz"],
        "sizes": [f"{size} bytes"],
        "alternateIdentifiers": [
            {"alternateIdentifier": label.fingerprint or UNSAID, "alternateIdentifierType": "SHA-256"}
        ],
        "descriptions": [
            {"description": protected, "descriptionType": "Abstract"},
            {"description": f"Made with {SOFTWARE}.", "descriptionType": "TechnicalInfo"},
        ],
    }
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def manifest_text(data: bytes) -> str:
    """The manifest of a release file, as it stands in it, laid out for readers."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return json.dumps(json.loads(str(arrays["manifest"][()])), indent=2, ensure_ascii=False) + "\n"


def _in_latex(text: str) -> str:
    escaped = text.translate(LATEX)
    for sign, command in GREEK.items():
        escaped = escaped.replace(sign, command)
    return escaped
