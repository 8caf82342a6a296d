"""Files of reports: Parquet with one column, one report a row, and nothing about who sent it.

Rows are in the order of the people that a file was made of, so whoever knows that order knows whose report is whose; a
report keeps its ε against them too. The survey's fingerprint stands in the file, and reports of another survey are
refused. Reports that no device sends are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import RequestError
from ..runtime.array_types import Array
from .heavy_hitters import Finder
from .local_race import CellReports
from .oracles.counting import Tally
from .oracles.oracle import Oracle
from .sketches.rappor import Rappor
from .sketches.sketch import LocalSketch
from .survey import AnySurvey, OpenSurvey, RecordSurvey, Survey

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
