"""Counted reports of a survey with a list of answers, from which anyone estimates every answer's share.

The reader of all files of local reports, whatever the survey, is here too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import ReleaseFileError, RequestError
from ..releases.release import now
from ..runtime import archives
from ..runtime.archives import Archive
from ..runtime.array_types import Floats
from ..runtime.environment import SOFTWARE
from ..runtime.parameters import check_integer, check_text, exact_fields
from .local_answers import FORMAT, FoundRelease, LocalAnswers, SketchRelease
from .oracles.counting import Tally
from .oracles.oracle import MOST_REPORTS
from .post_processing import WAYS
from .survey import LARGEST_FILE, OpenSurvey, Survey, TextSurvey, survey_from

FIELDS = ("format", "format_version", "survey", "people", "refused", "created", "software")
ARRAYS = ("manifest", "table")
MEMORY = 2 << 30


@dataclass(frozen=True, eq=False)
class LocalRelease(LocalAnswers):
    """The counted reports of a survey with a list of answers.

    Attributes
    ----------
    survey : Survey
        The question, its answers and the oracle.
    tally : Tally
        Of all reports that fit.
    refused : int
        How many did not.
    created, software : str
        When (ISO 8601) and by which program it was made.
    """

    format_version = 1
    ways = tuple(WAYS)

    survey: Survey
    tally: Tally
    refused: int
    created: str
    software: str

    @classmethod
    def of(cls, survey: Survey, tally: Tally, refused: int) -> LocalRelease:
        """A release that is made now."""
        if not tally.people:
            raise RequestError("No report fits the survey, so there is nothing to release.")
        return cls(survey, tally, refused, now(), SOFTWARE)

    @property
    def people(self) -> int:
        return self.tally.people

    @property
    def title(self) -> str:
        return self.survey.oracle.title

    @cached_property
    def estimates(self) -> Floats:
        """How many people gave each answer, without bias; float64 (answers,)."""
        return self.survey.oracle.estimate(self.tally)

    def _answers(self, level: float) -> tuple[Sequence[str], Floats, Floats, Floats]:
        low, high = self.survey.oracle.interval(self.tally, level)
        return self.survey.answers, self.estimates, low, high

    def _reach(self) -> tuple[float, float]:
        return self.survey.oracle.reach

    @property
    def counters(self) -> np.ndarray:
        return self.tally.table

    def _facts(self) -> dict[str, Any]:
        return {}

    def __add__(self, other: LocalRelease) -> LocalRelease:
        if self.survey != other.survey:
            raise RequestError("Two counts can be merged only when both are of the same survey.")
        return LocalRelease.of(self.survey, self.tally + other.tally, self.refused + other.refused)


def load_local(source: str | Path | bytes) -> LocalAnswers:
    """Open a file of counted reports; a stranger's is safe to open.

    Raises
    ------
    ReleaseFileError
        When it is damaged or something else.
    """
    if isinstance(source, bytes):
        return _read(io.BytesIO(source))
    try:
        with Path(source).open("rb") as file:
            return _read(file)
    except OSError as problem:
        raise RequestError(f"The file {str(source)!r} cannot be read: {problem.strerror or problem}.") from None


def is_local(data: bytes) -> bool:
    """Whether a file says that it holds counted reports."""
    try:
        text = Archive(io.BytesIO(data), (*ARRAYS, "count")).text("manifest", LARGEST_FILE)
        facts = archives.loads(text)
    except (ValueError, RequestError):
        return False
    return isinstance(facts, dict) and facts.get("format") == FORMAT


def _read(file: BinaryIO) -> LocalAnswers:
    archive = Archive(file, ARRAYS)
    try:
        facts = archives.loads(archive.text("manifest", LARGEST_FILE))
    except ValueError:
        raise ReleaseFileError("The manifest of the file is not JSON of the kind that a release has.") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ReleaseFileError("The file does not hold counted local reports.")
    if facts.get("format_version") not in (LocalRelease.format_version, SketchRelease.format_version):
        raise ReleaseFileError("The file is of a format of counted reports that this version does not know.")
    try:
        return _described(facts, archive)
    except ReleaseFileError:
        raise
    except RequestError as problem:
        raise ReleaseFileError(f"The file does not describe counted reports that can be used. {problem}") from None


def _described(facts: dict[str, Any], archive: Archive) -> LocalAnswers:
    """What a manifest and its table say; RequestError where they cannot be."""
    survey = survey_from(facts.get("survey"))
    if isinstance(survey, Survey) and facts["format_version"] == LocalRelease.format_version:
        given = exact_fields(facts, "count of reports", FIELDS)
        return LocalRelease(survey, _tally(survey, given, archive), *_made(given))
    if isinstance(survey, OpenSurvey) and facts["format_version"] == SketchRelease.format_version:
        given = exact_fields(facts, "count of reports", (*FIELDS, "candidates"))
        return SketchRelease(survey, _tally(survey, given, archive), *_made(given), given["candidates"])
    if isinstance(survey, TextSurvey) and facts["format_version"] == FoundRelease.format_version:
        given = exact_fields(facts, "search among reports", (*FIELDS, "level", "found"))
        people = check_integer(given["people"], "The number of people", 1, MOST_REPORTS)
        return FoundRelease(survey, people, *_made(given), given["level"], FoundRelease.listed(given["found"]))
    raise ReleaseFileError("The file holds answers to another kind of survey than its format has.")


def _made(given: dict[str, Any]) -> tuple[int, str, str]:
    """How many reports were refused, and when and by what a file was made."""
    for name in ("created", "software"):
        check_text(given[name], "Time and software of a file")
    refused = check_integer(given["refused"], "The number of refused reports", 0, MOST_REPORTS)
    return refused, given["created"], given["software"]


def _tally(survey: Survey | OpenSurvey, given: dict[str, Any], archive: Archive) -> Tally:
    people = check_integer(given["people"], "The number of people", 1, MOST_REPORTS)
    if archive.shape("table") != survey.oracle.table_shape or archive.memory("table") > MEMORY:
        raise ReleaseFileError("The table of the file has another shape than its survey says.")
    return Tally(archive.integers("table").astype(np.int64), people)
