"""Files of local reports, and what they are counted to: a release from which anyone estimates every answer's share.

Reports are kept as Parquet with one column, one report a row, and nothing about who sent it. Rows are in the order of
the people that a file was made of, so whoever knows that order knows whose report is whose; a report keeps its ε
against them too. The survey's fingerprint stands in the file, and reports of another survey are refused. Reports that
no device sends are left out and counted.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import ReleaseFileError, RequestError
from ..runtime import archives
from ..runtime.archives import Archive
from ..runtime.counter_tables import Array, Floats
from ..runtime.environment import SOFTWARE, now
from ..runtime.parameters import check_integer, check_text, exact_fields
from .heavy_hitters import Finder
from .local_answers import FORMAT, FoundRelease, LocalAnswers, SketchRelease
from .local_race import CellReports
from .oracles.counting import Tally
from .oracles.local_sketch import LocalSketch
from .oracles.oracle import MOST_REPORTS, Oracle
from .oracles.rappor import Rappor
from .post_processing import WAYS
from .survey import LARGEST_FILE, AnySurvey, OpenSurvey, RecordSurvey, Survey, TextSurvey, survey_from

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


COLUMN = "report"
MARK = b"frostglass-survey"
KEPT = b"frostglass-kept"  # What marks a file of responses that devices keep, which are sent to nobody.
WHAT = {MARK: "reports", KEPT: "what devices keep"}
REPORTS_AT_ONCE = 1 << 20
BYTES_AT_ONCE = 1 << 27
Reporting = Oracle | Finder | LocalSketch | CellReports  # Whatever makes reports of a survey.


def report_schema(survey: AnySurvey, mark: bytes = MARK) -> pa.Schema:
    """The schema of a file of reports."""
    one = survey.oracle
    kind = pa.binary(8 * one.report_words) if one.report_words else pa.from_numpy_dtype(one.report_type)
    field = pa.field(COLUMN, kind, nullable=False)
    return pa.schema([field], metadata={mark: survey.fingerprint.encode()})


def write_reports(survey: AnySurvey, values: Iterable[Any], file: BinaryIO) -> int:
    """Privatise values batch by batch into a file; how many reports were written."""
    return _written(survey, map(survey.oracle.privatise, _steps(survey, values)), file)


def write_kept(survey: AnySurvey, values: Iterable[Any], kept: BinaryIO) -> int:
    """What devices with these values keep for ever, to report from as often as they are asked; how many there are."""
    return _written(survey, map(longitudinal(survey).permanent, _steps(survey, values)), kept, KEPT)


def write_again(survey: AnySurvey, kept: Path, file: BinaryIO) -> int:
    """Report once more from what devices keep; how many reports were written."""
    return _written(survey, map(longitudinal(survey).again, _rows(survey, kept, KEPT)), file)


def longitudinal(survey: AnySurvey) -> Rappor:
    """The sketch of a survey whose devices keep a response for ever; RequestError where they keep none."""
    if not isinstance(survey.oracle, Rappor):
        raise RequestError("Devices keep a response for further reports by the sketch 'rappor' alone.")
    return survey.oracle


def _steps(survey: AnySurvey, values: Iterable[Any]) -> Iterator[Any]:
    step = at_once(survey.oracle)
    return (batch[start : start + step] for batch in values for start in range(0, len(batch), step))


def _written(survey: AnySurvey, batches: Iterable[Array], file: BinaryIO, mark: bytes = MARK) -> int:
    written, schema = 0, report_schema(survey, mark)
    with pq.ParquetWriter(file, schema, compression="none", use_dictionary=False, write_statistics=False) as writer:
        for reports in batches:
            writer.write_table(pa.Table.from_arrays([as_arrow(reports, schema)], schema=schema))
            written += len(reports)
    return written


def at_once(one: Reporting) -> int:
    """How many reports are held in memory together."""
    return max(1, min(REPORTS_AT_ONCE, BYTES_AT_ONCE // (8 * max(one.report_words, 1))))


def as_arrow(reports: Array, schema: pa.Schema) -> pa.Array:
    """Reports as a column of a file, without a copy."""
    kind = schema.field(COLUMN).type
    if not pa.types.is_fixed_size_binary(kind):
        return pa.array(reports)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(reports), [None, pa.py_buffer(np.ascontiguousarray(reports))])


def as_reports(column: pa.Array, one: Reporting) -> Array:
    """A column of a file as reports, without a copy where there is none to make."""
    if not one.report_words:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    width = 8 * one.report_words
    held = np.frombuffer(column.buffers()[1], np.uint64, len(column) * one.report_words, column.offset * width)
    return held.reshape(len(column), one.report_words)


def read_reports(survey: AnySurvey, path: Path) -> Iterator[Array]:
    """The reports of a file, batch by batch; RequestError when it is no file of reports, or one of another survey."""
    return _rows(survey, path, MARK)


def _rows(survey: AnySurvey, path: Path, mark: bytes) -> Iterator[Array]:
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            if schema.names != [COLUMN] or mark not in (schema.metadata or {}):
                raise RequestError(f"The file {path.name!r} is no file of {WHAT[mark]}.")
            if schema.metadata[mark] != survey.fingerprint.encode():
                raise RequestError(f"The reports in {path.name!r} are of another survey, which is counted by itself.")
            if schema.field(COLUMN).type != report_schema(survey).field(COLUMN).type:
                raise RequestError(f"The reports in {path.name!r} are not of the kind that the survey asks for.")
            for batch in file.iter_batches(at_once(survey.oracle)):
                if batch.column(0).null_count:
                    raise RequestError(f"A report in {path.name!r} is missing, and every row is one.")
                yield as_reports(batch.column(0), survey.oracle)
    except FileNotFoundError:
        raise RequestError(f"There is no file {str(path)!r}.") from None
    except (OSError, pa.ArrowException):
        raise RequestError(f"The file {str(path)!r} cannot be read as a file of {WHAT[mark]}.") from None


def counted(survey: Survey | OpenSurvey | RecordSurvey, batches: Iterable[Array]) -> tuple[Tally, int]:
    """The tally of reports, and how many no device sends, which are left out of it."""
    tally, refused = survey.oracle.zeros(), 0
    for reports in batches:
        fits = survey.oracle.fits(reports)
        bad = int((~fits).sum())
        tally, refused = survey.oracle.aggregate(reports[fits] if bad else reports, tally), refused + bad
    return tally, refused
