"""`local records`: a survey of whole records, whose devices report noisy cells of a RACE sketch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from ..errors import RequestError
from .declaring import declared_sketch, warn_of_wide_column
from .grouped import grouped
from .options.data import DataOptions
from .options.guess import GuessOptions
from .options.sketch import SketchOptions
from .options.typed import refuse_typed, typed
from .output import check_writable, say


@grouped
def records(
    question: Annotated[str, Option(help="As people will read it.", show_default=False)],
    epsilon: Annotated[str, Option(help="The promise to whoever reports once.", show_default=False)],
    out: Annotated[Path, Option(metavar="FILE", help="The survey file to write, JSON.", show_default=False)],
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    oracle: Annotated[
        str, Option(metavar="NAME|auto", help="How a cell is reported; auto takes the one of the least error.")
    ] = "auto",
    bits: Annotated[int | None, Option(help="Most bits of the report of a cell, for auto.")] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write a survey of records: each device reports one noisy cell, and all together are a release to explore.

    --records says how many people will report; --rows, --kernel, --bandwidth and --width are as for a release.
    """
    from ..local.race import CellReports
    from ..local.race_forecast import forecast_reports, sized
    from ..local.survey import RecordSurvey
    from ..privacy.budget import Budget
    from ..sketches.hashed.race import Race

    check_writable(out, overwrite)
    left_out = [option for option in typed(data) if option == "--outside"]
    refuse_typed(left_out, "every person reports once, and values beyond the bounds are moved to them")
    if guess.records is None:
        raise RequestError("Say by --records about how many people will report, as errors and sizes follow from it.")
    made = declared_sketch(data, shape, Budget(epsilon, 0, "replace_one"), guess)
    if type(made) is not Race:
        raise RequestError("Records are reported by the mechanism race alone, with one of its kernels and no classes.")
    warn_of_wide_column(data, made.domain, shape.bandwidth)
    sample = guess.public_sample(made.domain)
    reports = CellReports.of(sized(made, epsilon, guess.records, oracle, guess.density, sample), epsilon, oracle, bits)
    expected = forecast_reports(reports, guess.records, guess.density, sample)
    say(
        f"Each device reports one cell of {reports.rows:,} rows by {reports.cells.title}, in {reports.bits:,} bits. "
        f"{expected.sentence}"
    )
    out.write_text(RecordSurvey(question, reports).text, encoding="utf-8")
