"""Surveys besides those of a list of answers: `local records`, `local texts` and `poll`, and answers read from files.

Whole records are reported as noisy cells of a RACE sketch; any texts by a sketch that is asked about texts afterwards.
A poll asks a class, on its own network, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, Option

from ..errors import RequestError
from .declaring import declared_sketch, paid_for_columns
from .mechanisms import warn_of_wide_column
from .output import check_writable, say
from .shared_options import DataOptions, GuessOptions, refuse_typed, typed
from .sketch_options import SketchOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from ..local.survey import AnySurvey
    from ..sketches.race import Race


def records(
    question: Annotated[str, Option(help="As people will read it.")],
    epsilon: Annotated[str, Option(help="The promise to whoever reports once.")],
    out: Annotated[Path, Option(metavar="FILE", help="The survey file to write, JSON.")],
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
    from ..local.local_race import CellReports, forecast_reports, sized
    from ..local.survey import RecordSurvey
    from ..privacy.budget import Budget
    from ..releases.found import refuse_paid_for

    check_writable(out, overwrite)
    left_out = [option for option in typed(data) if option == "--outside"]
    refuse_typed(left_out, "every person reports once, and values beyond the bounds are moved to them")
    if guess.records is None:
        raise RequestError("Say by --records about how many people will report, as errors and sizes follow from it.")
    refuse_paid_for(paid_for_columns(data)[0], "a survey")
    made = declared_sketch(data, shape, Budget(epsilon, 0, "replace_one"), guess)
    if made.chooses or not made.has_cells:
        raise RequestError("Records are reported by the mechanism race alone, with one of its kernels and no classes.")
    warn_of_wide_column(data, made.domain, shape.bandwidth)
    sample = guess.public_sample(made.domain)
    race = sized(cast("Race", made), epsilon, guess.records, oracle, guess.density, sample)
    reports = CellReports.of(race, epsilon, oracle, bits)
    expected = forecast_reports(reports, guess.records, guess.density, sample)
    say(
        f"Each device reports one cell of {reports.rows:,} rows by {reports.cells.title}, in {reports.bits:,} bits. "
        f"{expected.sentence}"
    )
    out.write_text(RecordSurvey(question, reports).text, encoding="utf-8")


def texts(
    question: Annotated[str, Option(help="As people will read it.")],
    epsilon: Annotated[str, Option(help="The promise to whoever reports.")],
    out: Annotated[Path, Option(metavar="FILE", help="The survey file to write, JSON.")],
    sketch: Annotated[str, Option(metavar="NAME", help="count-min, cms, hcms, count-sketch or rappor.")] = "count-min",
    people: Annotated[int, Option(help="How many will report, for the forecast; a rough number will do.")] = 10_000,
    alike: Annotated[
        float, Option(help="Probability that two people answer alike, for the forecast: a guess from public facts.")
    ] = 0.01,
    rows: Annotated[int | None, Option(help="Rows of a sketch of cells; 32 unless you say.")] = None,
    width: Annotated[int | None, Option(help="Cells of a row, or bits of a filter; 1,024 and 128.")] = None,
    oracle: Annotated[
        str | None, Option(metavar="NAME", help="How a cell is reported; of count-min, the best in few bits.")
    ] = None,
    hashes: Annotated[int | None, Option(help="Hashes of rappor; 2.")] = None,
    cohorts: Annotated[int | None, Option(help="Cohorts of rappor; 64.")] = None,
    one_sent: Annotated[
        float | None, Option(help="How often rappor sends a bit that is kept as one as one, each time; 1.")
    ] = None,
    zero_sent: Annotated[
        float | None, Option(help="How often rappor sends a bit that is kept as zero as one, each time; 0.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write a survey that any text answers: nobody needs a list, and any text can be asked later how many gave it.

    Reports are of a sketch: rows of cells (count-min, cms, hcms, count-sketch), or filters whose devices may report
    again and again at no further cost (rappor).
    """
    from ..local.oracle_choice import outlooks, recommended
    from ..local.survey import OpenSurvey
    from ..local.survey import sketch as local_sketch

    check_writable(out, overwrite)
    if people < 1 or not 0 <= alike <= 1:
        raise RequestError("A forecast is for at least one person, and a probability lies between 0 and 1.")
    given = {
        "rows": rows, "width": width, "oracle": oracle, "hashes": hashes, "cohorts": cohorts, "one_sent": one_sent,
        "zero_sent": zero_sent,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    if sketch == "count-min" and oracle is None:
        settings["oracle"] = recommended(
            outlooks(max(1024 if width is None else width, 2), people, epsilon)
        ).oracle.name
    survey = OpenSurvey(question, local_sketch(sketch, epsilon, **settings))
    one = survey.oracle
    reach = 1.96 * one.typical_variance(people, 0.0, alike) ** 0.5
    say(
        f"Reports are of {one.oracle_title}, {one.bits:,} bits each. With {people:,} people, an answer is known to ± "
        f"{reach:,.0f} of them."
    )
    out.write_text(survey.text, encoding="utf-8")


MOST_ANSWERS = 1 << 24


def public_texts(name: str, column: str | None) -> list[str]:
    """The texts of a public table, in order."""
    found: list[str] = []
    for texts in columns_of(name, column):
        found += texts.to_pylist()
        if len(found) > MOST_ANSWERS:
            raise RequestError(f"A survey may have {MOST_ANSWERS:,} answers.")
    if any(text is None for text in found):
        raise RequestError("An answer in the list is missing.")
    return found


def places(asked: AnySurvey, name: str, column: str | None) -> Iterator[Any]:
    """Records, texts, or the places of answers, batch by batch; values themselves are never repeated."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ..local.survey import OpenSurvey, RecordSurvey, TextSurvey
    from ..sources import open_source

    if isinstance(asked, RecordSurvey):
        if column is not None:
            raise RequestError("--column cannot be given here, as the survey names the columns of a record.")
        sketch = asked.oracle.sketch
        yield from (sketch.encode(batch) for batch in open_source(name).batches(sketch.domain))
        return
    if isinstance(asked, TextSurvey | OpenSurvey):
        for texts in columns_of(name, column):
            if texts.null_count:
                raise RequestError("Some of the texts are missing, so no report can be made of them.")
            yield asked.keys(texts.to_pylist()) if isinstance(asked, OpenSurvey) else texts.to_pylist()
        return
    answers = pa.array(asked.answers, pa.large_string())
    for texts in columns_of(name, column):
        places = pc.index_in(texts, answers)
        if places.null_count:
            raise RequestError(
                "Some of the values are not among the survey's answers, so no report can be made of them; nothing was "
                "written."
            )
        yield places.to_numpy(zero_copy_only=False).astype("int64")


def columns_of(name: str, column: str | None) -> Iterator[pa.Array]:
    """One column of a table as texts, batch by batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ..domain import Categorical, Domain
    from ..sources import open_source

    source = open_source(name)
    names = [one.name for one in source.columns]
    if column is None and len(names) != 1:
        raise RequestError(f"Say by --column which of the {len(names):,} columns is meant.")
    # Two stand-ins: categories are read as they stand, whatever they are.
    for batch in source.batches(Domain((Categorical(column or names[0], ("a", "b")),))):
        yield pc.cast(batch.column(0), pa.large_string())


def poll(
    surveys: Annotated[
        list[Path] | None,
        Argument(metavar="SURVEYS", help="Survey files to make polls of; without any, those there are."),
    ] = None,
    host: Annotated[
        str, Option(help="Where it listens: this computer's address in the class's network.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=1, max=65_535, help="Its port.")] = 8502,
    polls: Annotated[Path | None, Option(metavar="FILE", help="Where polls are kept.")] = None,
    export: Annotated[
        str | None, Option(metavar="POLL", help="Write a poll's reports to --out instead, and end.")
    ] = None,
    close: Annotated[str | None, Option(metavar="POLL", help="Close a poll instead, and end.")] = None,
    reveal: Annotated[str | None, Option(metavar="POLL", help="Reveal a made-up class instead, and end.")] = None,
    made_up: Annotated[
        int | None,
        Option(
            metavar="STUDENTS",
            help="So many made-up students answer the polls of SURVEYS, each as chance has it; nobody else can.",
            min=1,
            max=100_000,
        ),
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="For --export, a .parquet file.")] = None,
) -> None:
    """Serve polls to a class: coins are flipped in the browsers of those who answer, and only reports travel."""
    from ..local.poll_server import PollServer, class_of, link
    from ..local.poll_store import Polls, usual_file
    from ..local.survey import Survey, read_survey
    from .output import check_writable

    kept = Polls(polls or usual_file())
    if close is not None:
        kept.poll(close)
        kept.close(close)
        say(f"The poll {close} is closed.")
        return
    if reveal is not None:
        kept.reveal(reveal)
        say(f"What the made-up class of the poll {reveal} said is revealed on its projector's page.")
        return
    if export is not None:
        if out is None or out.suffix.lower() != ".parquet":
            raise RequestError("Say by --out to which .parquet file the reports go.")
        check_writable(out)
        say(f"{kept.export(export, out):,} reports were written.")
        return
    for path in surveys or ():
        survey = read_survey(path)
        if not isinstance(survey, Survey):
            raise RequestError("A poll has a list of answers, and not texts.")
        if made_up is None:
            kept.make(survey)
        else:
            kept.make_up(survey, class_of(made_up, len(survey.answers)))
    names = kept.every()
    if not names:
        raise RequestError("There is no poll to serve; name a survey file.")
    try:
        server = PollServer(kept, host, port)
    except OSError as problem:
        raise RequestError(f"Nothing can listen at {host}:{port}: {problem.strerror or problem}.") from None
    for name in names:
        way = link(f"{host}:{port}", *server.listens, name)
        print(f"{kept.poll(name).survey.question}: {way} (projector: …/{name}/show)", flush=True)
    with server:
        server.serve_forever()
