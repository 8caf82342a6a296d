"""Survey files: everything public that a device needs to report, and a collector to count.

A survey is a question, its answers and an oracle for them, as JSON that anyone may read; or, where anyone may answer
with a text, an alphabet and a search for frequent ones (`core.local.text_searches`), or a sketch that is asked about
any text (`core.local.oracles.local_sketch`); or, where answers are records, columns with their bounds and a sketch
(`core.local.local_race`). Its *fingerprint* is written into every file of reports, so that reports of one survey are
never counted by another. It states the whole-number weight A - B from which devices choose
(`core.privacy.noise.responses`), so that a device in another language reads it there; a file whose weight is not the
one that its ε allows is refused.

Oracles, sketches and searches go by name: each is a class in a file of its folder, and is found there
(`core.runtime.parameters.Registry`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..errors import RequestError
from ..formatting.numbers import count
from ..runtime import archives
from ..runtime.counter_tables import Integers
from ..runtime.parameters import Registry, check_text, described, exact_fields
from .heavy_hitters import Alphabet, Finder
from .local_race import CellReports
from .oracles.local_sketch import LocalSketch, text_keys
from .oracles.oracle import ORACLES, Oracle, oracle

SKETCHES: Registry[LocalSketch] = Registry(
    f"{__package__}.oracles",
    LocalSketch,  # type: ignore[type-abstract]
    "The sketch",
)
FINDERS: Registry[Finder] = Registry(f"{__package__}.text_searches", Finder, "The search")  # type: ignore[type-abstract]


def sketch(name: str, epsilon: object, **settings: object) -> LocalSketch:
    """The sketch of a name with these parameters, and others as they suit; RequestError where there is none."""
    kind = SKETCHES.named(name)
    for setting in settings:
        if setting not in kind.__dataclass_fields__:
            raise RequestError(f"The sketch {name!r} has no {setting.replace('_', ' ')} to be given.")
    return cast(LocalSketch, kind(epsilon, **settings))


def finder_from(facts: object) -> Finder:
    """The search that `described_search` wrote; RequestError on anything else."""
    given = exact_fields(facts, "search", ("name", "alphabet", "epsilon", "step"))
    alphabet = Alphabet(**Alphabet.read(given["alphabet"]))
    return cast(Finder, FINDERS.named(given["name"])(alphabet, given["epsilon"], given["step"]))


def described_search(one: Finder) -> dict[str, object]:
    """A search as a value for JSON."""
    return {"name": one.name, "alphabet": one.alphabet.written(), "epsilon": f"{one.epsilon:f}", "step": one.step}


def warm() -> None:
    """Compile every loop, for every type of reports that there is."""
    values, one = np.arange(10), Decimal(1)
    shapes = [oracle(name, 20, one) for name in ("sue", "blh", "ss")]
    for domain in (20, 300, 70_000):
        shapes += [oracle(name, domain, one) for name in ("de", "hr", "pgr")]
    shapes += [ORACLES.named("flh")(20, one, functions, 1) for functions in (10, 1000, 100_000)]
    shapes += [
        ORACLES.named("hm")(domain, one, coefficients)
        for domain, coefficients in ((20, 1), (20, 2), (300, 3), (300, 5))
    ]
    for shape in shapes:
        shape.estimate(shape.aggregate(shape.privatise(values)))
    hashing = ORACLES.named("olh")(20, one)
    hashing.supported(hashing.privatise(values), values)


FORMAT, FORMAT_VERSION = "frostglass-survey", 1
FIELDS = ("format", "format_version", "question", "answers", "oracle", "surplus")
TEXT_FIELDS = ("format", "format_version", "question", "search")
OPEN_FIELDS = ("format", "format_version", "question", "texts", "surplus")
RECORD_FIELDS = ("format", "format_version", "question", "sketch", "surplus")
MOST_CHARACTERS = 64_000_000
LARGEST_FILE = 256_000_000


class Written(ABC):
    """A survey as its file has it."""

    question: str

    def __post_init__(self) -> None:
        check_text(self.question, "The question")

    def to_dict(self) -> dict[str, Any]:
        """A value for JSON."""
        return {"format": FORMAT, "format_version": FORMAT_VERSION, "question": self.question} | self._facts()

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """How it is answered, and what of the promise is written beside that."""

    @cached_property
    def text(self) -> str:
        """The survey as the one text that its fingerprint is of."""
        return archives.dumps(self.to_dict())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Survey(Written):
    """A question to be answered by local reports.

    Attributes
    ----------
    question : str
        As people read it.
    answers : tuple[str, ...]
        All answers there are, each once.
    oracle : Oracle
        How an answer, by its place in the list, is reported.
    """

    question: str
    answers: tuple[str, ...]
    oracle: Oracle

    def __post_init__(self) -> None:
        check_text(self.question, "The question")
        object.__setattr__(self, "answers", tuple(self.answers))
        for answer in self.answers:
            check_text(answer, "An answer")
        if len(set(self.answers)) < len(self.answers):
            raise RequestError("An answer is there twice, and a survey has each once.")
        if len(self.answers) != self.oracle.domain:
            raise RequestError(
                f"The oracle reports {count(self.oracle.domain, 'value')}, and the survey has "
                f"{count(len(self.answers), 'answer')}."
            )
        if sum(map(len, self.answers)) > MOST_CHARACTERS:
            raise RequestError(f"The answers of a survey may have {MOST_CHARACTERS:,} characters, as it is one file.")

    @classmethod
    def of(cls, question: str, answers: list[str] | tuple[str, ...], name: str, epsilon: object) -> Survey:
        """A survey by the name of an oracle."""
        if len(answers) < 2:
            raise RequestError("A survey needs two answers or more, as one says nothing.")
        return cls(question, tuple(answers), oracle(name, len(answers), epsilon))

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each answer in the list."""
        return {answer: place for place, answer in enumerate(self.answers)}

    def _facts(self) -> dict[str, Any]:
        return {"answers": list(self.answers), "oracle": described(self.oracle), "surplus": str(self.oracle.surplus)}

    @classmethod
    def from_dict(cls, facts: object) -> Survey:
        """The survey that `to_dict` wrote; RequestError on anything else, as it may come from a stranger."""
        given = exact_fields(facts, "survey", FIELDS)
        if not isinstance(given["answers"], list) or len(given["answers"]) < 2:
            raise RequestError("The answers of a survey must be a list of two or more.")
        survey = cls(given["question"], tuple(given["answers"]), ORACLES.read(given["oracle"]))
        check_weights(given["surplus"], survey.oracle)
        return survey


@dataclass(frozen=True)
class TextSurvey(Written):
    """A question that is answered by a text."""

    question: str  # As people read it.
    oracle: Finder  # How a text is reported, and how frequent ones are found.

    def _facts(self) -> dict[str, Any]:
        return {"search": described_search(self.oracle)}

    @classmethod
    def from_dict(cls, facts: object) -> TextSurvey:
        """The survey that `to_dict` wrote; RequestError on anything else."""
        given = exact_fields(facts, "survey of texts", TEXT_FIELDS)
        return cls(given["question"], finder_from(given["search"]))


@dataclass(frozen=True)
class OpenSurvey(Written):
    """A question that is answered by any text, of which any text may be asked how many gave it."""

    question: str  # As people read it.
    oracle: LocalSketch  # How a text is reported, by its key.

    def keys(self, texts: Iterable[str]) -> Integers:
        """The numbers that texts are reported and asked as, int64 (n,)."""
        return text_keys(texts, self.oracle.seed)

    def _facts(self) -> dict[str, Any]:
        return {"texts": self.oracle.written_out(), "surplus": str(self.oracle.surplus)}

    @classmethod
    def from_dict(cls, facts: object) -> OpenSurvey:
        """The survey that `to_dict` wrote; RequestError on anything else."""
        given = exact_fields(facts, "survey of any texts", OPEN_FIELDS)
        survey = cls(given["question"], SKETCHES.read(given["texts"]))
        check_weights(given["surplus"], survey.oracle)
        return survey


@dataclass(frozen=True)
class RecordSurvey(Written):
    """A question that is answered by a record: a row of numbers and categories."""

    question: str  # As people read it.
    oracle: CellReports  # How a record is reported.

    def _facts(self) -> dict[str, Any]:
        return {"sketch": self.oracle.to_dict(), "surplus": str(self.oracle.cells.surplus)}

    @classmethod
    def from_dict(cls, facts: object) -> RecordSurvey:
        """The survey that `to_dict` wrote; RequestError on anything else."""
        given = exact_fields(facts, "survey of records", RECORD_FIELDS)
        survey = cls(given["question"], CellReports.from_dict(given["sketch"]))
        check_weights(given["surplus"], survey.oracle.cells)
        return survey


AnySurvey = Survey | TextSurvey | OpenSurvey | RecordSurvey


def check_weights(surplus: object, one: Oracle | LocalSketch) -> None:
    """RequestError where a file's weights are not the ones that its ε allows."""
    if surplus != str(one.surplus):
        raise RequestError("The weights of this survey are not those of its epsilon; nobody should report by it.")


def parse_survey(text: str) -> AnySurvey:
    """The survey of a text; RequestError on anything else, as it may come from a stranger."""
    try:
        facts = archives.loads(text)
    except ValueError:
        raise RequestError("This is no survey file: it is not JSON.") from None
    return survey_from(facts)


def survey_from(facts: object) -> AnySurvey:
    """The survey that a value of JSON describes; RequestError on anything else."""
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise RequestError("This is no survey file.")
    if facts.get("format_version") != FORMAT_VERSION:
        raise RequestError(f"This survey is not of format {FORMAT_VERSION}, the only one that this version knows.")
    if "sketch" in facts:
        return RecordSurvey.from_dict(facts)
    if "texts" in facts:
        return OpenSurvey.from_dict(facts)
    return TextSurvey.from_dict(facts) if "search" in facts else Survey.from_dict(facts)


def read_survey(path: Path) -> AnySurvey:
    """The survey of a file."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise RequestError(f"The file {str(path)!r} is larger than a survey can be.")
        return parse_survey(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise RequestError(f"There is no survey file at {str(path)!r}.") from None
