"""What a collector hands out: counts of reports, with the survey, from which anyone estimates every answer's share.

The file is a NumPy archive of `manifest` (JSON) and `table` (whole numbers), as released sketches are. All in it is
made of reports that were private when they were sent, so it costs nobody anything more.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd

from ..checks import check_integer, check_text, exact_fields
from ..errors import ReleaseFileError, RequestError
from ..machine.array_types import Floats
from ..machine.files import npz, strict_json
from ..machine.files.archive import Archive
from ..machine.files.transient import unfinished
from ..releases.file import sync_folder
from ..releases.release import now
from ..version import SOFTWARE
from .oracles.oracle import MOST_REPORTS
from .post_processing import processed, still_valid
from .survey import LARGEST_FILE, Survey
from .tally import Tally

FORMAT, FORMAT_VERSION = "frostglass-local", 1
FIELDS = ("format", "format_version", "survey", "people", "refused", "created", "software")
ARRAYS = ("manifest", "table")
MEMORY = 2 << 30


@dataclass(frozen=True, eq=False)
class LocalRelease:
    """The counted reports of a survey.

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

    @cached_property
    def estimates(self) -> Floats:
        """How many people gave each answer, without bias; float64 (answers,)."""
        return self.survey.oracle.estimate(self.tally)

    def table(self, post: str = "base", level: float = 0.95) -> pd.DataFrame:
        """One row an answer: value, estimate, low, high and the share of all reports.

        Parameters
        ----------
        post : str
            How estimates are made plausible; see `core.local.post_processing`.
        level : float
            Probability with which an interval holds the count.
        """
        people = self.tally.people
        low, high = self.survey.oracle.interval(self.tally, level)
        low, high, _ = still_valid(low, high, people, post)
        estimate = processed(self.estimates, people, post)
        values = {"value": self.survey.answers, "estimate": estimate, "low": low, "high": high}
        return pd.DataFrame(values | {"share": estimate / people})

    def poisoned(self, share: float) -> tuple[float, float]:
        """How far a share of all reports could move any one answer, down and up, if those who sent them lie as one.

        A report moves an estimate by no more than its reach, whatever it says; that of a liar stands where an honest
        one would have counted between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise RequestError("A share of liars must lie between 0 and 1.")
        down, up = self.survey.oracle.reach
        liars = share * self.tally.people
        return liars * (1.0 - down), liars * up

    def __add__(self, other: LocalRelease) -> LocalRelease:
        if self.survey != other.survey:
            raise RequestError("Two counts can be merged only when both are of the same survey.")
        return LocalRelease.of(self.survey, self.tally + other.tally, self.refused + other.refused)

    def save(self, path: str | Path) -> None:
        """Write it to a file that is either whole or not there at all."""
        place = Path(path)
        try:
            with unfinished(place) as file:
                self._write(file)
            sync_folder(place.parent)
        except OSError as problem:
            raise RequestError(f"The file {str(path)!r} cannot be written: {problem.strerror or problem}.") from None

    def to_bytes(self) -> bytes:
        """The contents of the file."""
        file = io.BytesIO()
        self._write(file)
        return file.getvalue()

    def _write(self, file: BinaryIO) -> None:
        text = strict_json.dumps(
            {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "survey": self.survey.to_dict(),
                "people": self.tally.people,
                "refused": self.refused,
                "created": self.created,
                "software": self.software,
            }
        )
        table = npz.smallest_integers(self.tally.table)
        npz.write(file, {"manifest": np.array(text, dtype=f"<U{len(text)}"), "table": table})


def load_local(source: str | Path | bytes) -> LocalRelease:
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
        facts = strict_json.loads(text)
    except (ValueError, RequestError):
        return False
    return isinstance(facts, dict) and facts.get("format") == FORMAT


def _read(file: BinaryIO) -> LocalRelease:
    archive = Archive(file, ARRAYS)
    try:
        facts = strict_json.loads(archive.text("manifest", LARGEST_FILE))
    except ValueError:
        raise ReleaseFileError("The manifest of the file is not JSON of the kind that a release has.") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ReleaseFileError("The file does not hold counted local reports.")
    if facts.get("format_version") != FORMAT_VERSION:
        raise ReleaseFileError("The file is of a format of counted reports that this version does not know.")
    try:
        given = exact_fields(facts, "count of reports", FIELDS)
        survey = Survey.from_dict(given["survey"])
        people = check_integer(given["people"], "The number of people", 1, MOST_REPORTS)
        refused = check_integer(given["refused"], "The number of refused reports", 0, MOST_REPORTS)
        for name in ("created", "software"):
            check_text(given[name], "Time and software of a file")
        if archive.shape("table") != survey.oracle.table_shape or archive.memory("table") > MEMORY:
            raise ReleaseFileError("The table of the file has another shape than its survey says.")
        table = archive.integers("table").astype(np.int64)
    except ReleaseFileError:
        raise
    except RequestError as problem:
        raise ReleaseFileError(f"The file does not describe counted reports that can be used. {problem}") from None
    return LocalRelease(survey, Tally(table, people), refused, given["created"], given["software"])
