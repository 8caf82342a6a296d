"""What a released file says of itself, in the words that every paper of its passport is written with, and how it is
cited.

There is an entry for BibTeX, and what a registry of DOIs asks for (DataCite's metadata, JSON). Both say only what the
file says. Who released it is not in there, so the owner fills that in; DataCite has a code for what nobody said.
"""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import listed, shown
from ...local.local_answers import LocalAnswers
from ...local.local_release import is_local, load_local
from ...models.linear_models import Model, load_model
from ...models.model_file import HIDDEN, ModelFile
from ...privacy.budget import decimal_text
from ...releases.release import Release, load
from ...runtime import environment
from ...runtime.environment import SOFTWARE
from ..label import PrivacyLabel, describe, privacy_label
from ..meaning import odds

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
CURATORS = ("Government", "Industry", "Nonprofit")
"""What a curator may be there."""
LONGEST = 2_000
"""Characters of a typed fact."""
GREEK = {"ε": r"$\varepsilon$", "δ": r"$\delta$", "≤": r"$\leq$"}


def title_of(label: PrivacyLabel) -> str:
    """What is cited, in a line, which begins with a capital whatever columns are called."""
    columns = listed([column.name for column in label.columns], MOST_NAMED)
    many = f"{label.records[:1].upper()}{label.records[1:]}"
    return f"{many} {label.counted} by {columns}: a differentially private release"


def bibtex(label: PrivacyLabel) -> str:
    """An entry of BibTeX, whose author is to be filled in."""
    mark = (label.fingerprint or "")[:12]
    entries = {
        "author": "{[who released it]}",
        "title": f"{{{_in_latex(title_of(label))}}}",
        "year": str(datetime.fromisoformat(label.created).year),
        "howpublished": f"{{Release file, made with {_in_latex(SOFTWARE)}}}",
        "note": f"{{{_in_latex(f'{label.promise}; SHA-256 {label.fingerprint}')}}}",
    }
    inside = ",\n".join(f"  {name} = {value}" for name, value in entries.items())
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


PublicFile = Release | LocalAnswers | Model
ARCHIVE = b"PK"  # How an archive begins; a model is JSON.
UNKNOWN = "Unknown."
PURE, APPROXIMATE = "Pure DP", "Approximate DP"
IMPLEMENTATION = (
    "The mechanism adds whole-number noise to whole-number sums, drawn exactly on random bits of the operating system: "
    "no floating-point number is drawn, scaled or rounded in it, so attacks on floating-point noise do not apply. The "
    "noise was never seeded and is not kept."
)
POST_PROCESSING = (
    "None in the file: it holds the noisy numbers as they were released. Whoever reads it may smooth, clip and fit, "
    "which costs no privacy."
)
PREPARATION = (
    "The program reads no bounds and no categories off the records but what is bought under the stated promise. Where "
    "the owner knew what was typed from is unknown."
)
COMPOSITION = "Everything in the file is under the one stated promise; its parts add up to it."


def read_public(data: bytes) -> PublicFile:
    """Open a file of any of these kinds; a stranger's is safe to open."""
    if data[:1] == b"{":
        return load_model(data)
    return load_local(data) if is_local(data) else load(data)


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


@dataclass(frozen=True, eq=False)
class Said:
    """A released file in words and numbers, all of it public."""

    file: PublicFile
    name: str  # Of the file.
    title: str
    about: str  # What it is and promises, in sentences.
    product: str  # "Summary statistics" or "Machine learning model".
    day: str  # When it was made (ISO 8601), or the day of the passport where the file does not say.
    software: str
    model: str  # Who is trusted: "Central", the curator; "Local", nobody.
    # The promise: its kind, its numbers, and what else is to be said of them.
    variant: str
    epsilon: Decimal
    delta: Decimal
    promise: str
    # Who is protected, in a word or two and precisely; and about how many of them there are, where that is known.
    unit: str
    unit_details: str
    units: int | None
    # What records may hold, and what of them is published as it is.
    records: str
    unprotected: str
    # How it was made.
    mechanisms: str
    preparation: str
    utility: str
    odds: str  # What a guesser gains at most, as a sentence.
    audited: str = ""  # What an exact audit of such releases showed; "" for kinds that had none.
    domain: Domain | None = None  # The columns; None where there are none, but one question.
    citation: str = ""  # For BibTeX; "" where the file does not say when it was made.


def described(file: PublicFile, name: str, data: bytes | None = None) -> Said:
    """What a file says of itself; its contents, where they are at hand, save writing it anew for its fingerprint.

    RequestError when it is a teaching file, whose noise protects nobody.
    """
    if isinstance(file, LocalAnswers):
        return _of_reports(file, name)
    if not file.private:
        raise RequestError(
            "A teaching file has no passport, as its noise can be repeated and protects nobody: release it privately."
        )
    return _of_model(file, name) if isinstance(file, ModelFile) else _of_release(file, name, data)


def _of_release(release: Release, name: str, data: bytes | None) -> Said:
    label, privacy, domain = privacy_label(release, data), release.privacy, release.domain
    people = release.records if domain.unit.records == 1 else math.nan
    public = f"The number of {label.counted}, which is public under this promise. " if release.count_is_public else ""
    return Said(
        file=release,
        name=name,
        title=title_of(label),
        about=" ".join(describe(release, data, label)[:4]),
        product="Summary statistics",
        day=release.created[:10],
        software=release.software,
        model="Local" if privacy.local else "Central",
        variant=PURE if privacy.pure else APPROXIMATE,
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        promise=" ".join(filter(None, (label.theorem, label.slack, label.overlap))),
        unit=_unit(domain),
        unit_details=(
            f"Protected is {label.protected}; hidden is {label.hidden}. The promise compares any two sets of records "
            f"that differ in one of them ({privacy.neighbours})."
        ),
        units=None if math.isnan(people) else max(1, round(people)),
        records=f"Tables with one {domain.one_record} a record and the public columns {_columns(domain)}.",
        unprotected=f"{public}{label.left_out} Names, bounds and categories of columns are public.",
        mechanisms=" ".join((*label.noise, *(" ".join(part.sentences) for part in label.parts), IMPLEMENTATION)),
        preparation=" ".join(filter(None, (PREPARATION, label.found, label.chosen, label.left_out))),
        utility=label.answer_noise_in_words or "Every part has noise of its own, which the label of the file states.",
        odds=label.odds_in_words,
        audited=label.audited,
        domain=domain,
        citation=bibtex(label),
    )


def _of_model(model: ModelFile, name: str) -> Said:
    budget, domain, card = model.budget, model.task.domain, model.card()
    return Said(
        file=model,
        name=name,
        title=f"{shown(model.task.label)} from {listed(model.features.names)}: a differentially private model",
        about=" ".join(card),
        product="Machine learning model",
        day=environment.utc().date().isoformat(),
        software=model.software,
        model="Central",
        variant=PURE if not budget.delta else APPROXIMATE,
        epsilon=budget.epsilon,
        delta=budget.delta,
        promise=model.theorem,
        unit=_unit(domain),
        unit_details=f"It hides {HIDDEN[budget.neighbours]}. Neighbours: {budget.neighbours}.",
        units=None,
        records=f"Tables with one {domain.one_record} a record and the public columns {_columns(domain)}.",
        unprotected="Names, bounds and categories of columns are public.",
        mechanisms=f"Trained by {model.method}. {IMPLEMENTATION}",
        preparation=PREPARATION,
        utility=" ".join(model.about()) or UNKNOWN,
        odds=" ".join(model.warnings) or odds(budget, domain),
        domain=domain,
    )


def _of_reports(answers: LocalAnswers, name: str) -> Said:
    guess = 1.0 / (1.0 + math.exp(-float(answers.epsilon)))
    return Said(
        file=answers,
        name=name,
        title=f"{shown(answers.question)}: {answers.people:,} locally randomised reports",
        about=f"{answers.people:,} people answered “{shown(answers.question)}” by {answers.title}.",
        product="Summary statistics",
        day=answers.created[:10],
        software=answers.software,
        model="Local",
        variant=PURE,
        epsilon=answers.epsilon,
        delta=Decimal(0),
        promise=f"Each person's own report keeps ε = {decimal_text(answers.epsilon)}, whatever the collector does.",
        unit="Report",
        unit_details="Hidden is what any one report was made from; that it was sent is not hidden.",
        units=answers.people,
        records="One answer a person, on the public list of answers or in the public alphabet.",
        unprotected="The number of reports, which everyone who collects them sees.",
        mechanisms=f"Reports were randomised by {answers.title} where they were given.",
        preparation="None: the question, its answers and ε were public before anyone reported.",
        utility="Every estimate has an interval, which the table of answers states.",
        odds=f"Between two answers that seem equally likely, whoever sees a report is right in at most {guess:.1%}.",
    )


def _unit(domain: Domain) -> str:
    """Who is protected, in a word or two."""
    if domain.unit.column is None:
        return domain.one_record.capitalize()
    many = domain.unit.records
    return "Person" if many == 1 else f"Person, of whom up to {many:,} records count"


def _columns(domain: Domain) -> str:
    return listed([shown(name) for name in domain.names], 40)
