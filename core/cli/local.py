"""`local`: surveys whose answers are randomised on the devices of those who give them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from ..errors import RequestError
from .local_records import records
from .output import check_table, check_writable, print_table, progress, say, write_table
from .reading import TableOption

if TYPE_CHECKING:
    import pyarrow as pa

    from ..local.survey import AnySurvey

commands = typer.Typer(help="Local reports: answers are randomised where they are given, and nobody is trusted.")
SurveyArgument = Annotated[Path, Argument(metavar="SURVEY", help="A survey file.", show_default=False)]
ReportsArgument = Annotated[
    list[Path], Argument(metavar="REPORTS", help="Files of reports, of as many machines as there are.")
]
EpsilonOption = Annotated[float, Option(help="The promise to whoever reports once.", show_default=False)]
OverwriteOption = Annotated[bool, Option("--overwrite", help="Replace an existing file.")]
ColumnOption = Annotated[str | None, Option(metavar="NAME", help="The column; needed where there are several.")]
MOST_ANSWERS = 1 << 24
commands.command()(records)


@commands.command()
def survey(
    question: Annotated[str, Option(help="As people will read it.", show_default=False)],
    epsilon: EpsilonOption,
    out: Annotated[Path, Option(metavar="FILE", help="The survey file to write, JSON.", show_default=False)],
    values: Annotated[
        str | None, Option(metavar="FILE", help="The public list of answers: a table with one answer a row.")
    ] = None,
    alphabet: Annotated[
        str | None, Option(metavar="CHARACTERS", help="Answers are texts of these characters, and frequent ones found.")
    ] = None,
    length: Annotated[int, Option(help="Of texts; longer ones are cut.")] = 6,
    step: Annotated[int, Option(help="Characters by which a search for texts goes on.")] = 2,
    oracle: Annotated[
        str, Option(metavar="NAME|auto", help="How answers are reported; of texts, pem, treehist or sfp.")
    ] = "auto",
    people: Annotated[int, Option(help="How many will report, for auto; a rough number will do.")] = 10_000,
    bits: Annotated[int | None, Option(help="Most bits of a report, for auto.")] = None,
    column: ColumnOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write a survey file: everything that a device needs to report, and a collector to count."""
    from ..local.choosing import outlook, outlooks, recommended, sentence
    from ..local.hitters.strings import Alphabet
    from ..local.hitters.table import FINDERS
    from ..local.survey import Survey, TextSurvey

    check_writable(out, overwrite)
    if (values is None) == (alphabet is None):
        raise RequestError("Say by --values which answers there are, or by --alphabet of what texts are made.")
    if alphabet is not None:
        finder = FINDERS.get("pem" if oracle == "auto" else oracle)
        if finder is None:
            raise RequestError(f"Texts are searched for by {' or '.join(FINDERS)}.")
        search = finder(Alphabet(alphabet, length), Decimal(str(epsilon)), step)
        out.write_text(TextSurvey(question, search).text, encoding="utf-8")
        return
    answers = _texts(str(values), column)
    if oracle == "auto":
        if len(answers) < 2:
            raise RequestError("A survey needs two answers or more, as one says nothing.")
        oracle = recommended(outlooks(len(answers), people, str(epsilon), bits)).oracle.name
    made = Survey.of(question, answers, oracle, str(epsilon))
    say(sentence(outlook(made.oracle, people)))
    out.write_text(made.text, encoding="utf-8")


@commands.command()
def privatise(
    survey: SurveyArgument,
    values: Annotated[str, Argument(metavar="VALUES", help="A table of answers, one a person.", show_default=False)],
    out: Annotated[Path, Option(metavar="FILE", help="The file of reports to write, Parquet.", show_default=False)],
    column: ColumnOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Randomise answers, as the devices of those who gave them would: one report a row, and no identity."""
    from ..local.reports import write_reports
    from ..local.survey import read_survey
    from ..machine.files.transient import unfinished

    if out.suffix.lower() != ".parquet":
        raise RequestError(f"Reports are written to a file that ends in .parquet; {out.name!r} does not.")
    check_writable(out, overwrite)
    asked = read_survey(survey)
    with unfinished(out) as file:
        written = write_reports(asked, _places(asked, values, column), file)
    say(f"{written:,} reports were written, each with ε = {asked.oracle.epsilon:f}.")


@commands.command()
def aggregate(
    survey: SurveyArgument,
    reports: ReportsArgument,
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.", show_default=False)],
    liars: Annotated[float, Option(help="Share of reports that may be lies, to say how far they could go.")] = 0.01,
    overwrite: OverwriteOption = False,
) -> None:
    """Count reports of any number of files into a release that opens in Explore; what fits no survey is left out."""
    from ..local.release import LocalRelease
    from ..local.reports import counted, read_reports
    from ..local.survey import RecordSurvey, TextSurvey, read_survey

    check_writable(out, overwrite)
    asked = read_survey(survey)
    if isinstance(asked, TextSurvey):
        raise RequestError("Answers to this survey are texts: frequent ones are found by `local find`.")
    tally, refused = asked.oracle.zeros(), 0
    with progress() as bars:
        bar = bars.add_task("Counting", total=None)
        for path in reports:
            for batch in read_reports(asked, path):
                more, bad = counted(asked, [batch])
                tally, refused = tally + more, refused + bad
                bars.update(bar, advance=len(batch))
    found = f"{tally.people:,} reports were counted, and {refused:,} that no device sends were left out."
    if isinstance(asked, RecordSurvey):
        reach = asked.oracle.poisoned(liars, tally.people)
        asked.oracle.release(tally).save(out)
        say(found)
        say(f"If {100 * liars:g} in 100 of them lied as one, an answer could be off by {reach:,.0f} records.")
        return
    made = LocalRelease.of(asked, tally, refused)
    down, up = made.poisoned(liars)
    made.save(out)
    say(found)
    say(
        f"If {100 * liars:g} in 100 of them lied as one, an answer could seem to have {up:,.0f} more people, or "
        f"{down:,.0f} fewer."
    )


@commands.command()
def estimate(
    release: Annotated[Path, Argument(metavar="RELEASE", help="A file that aggregate wrote.", show_default=False)],
    post: Annotated[
        str, Option(help="base, base-pos, norm-sub, prob-simplex or base-cut: how estimates are made plausible.")
    ] = "base",
    level: Annotated[float, Option("--level", help="Probability with which an interval holds a count.")] = 0.95,
    out: TableOption = None,
) -> None:
    """Estimate how many people gave each answer, with intervals: value, estimate, low, high, share."""
    import pyarrow as pa

    from ..local.post_processing import still_valid
    from ..local.release import load_local

    check_table(out)
    opened = load_local(release)
    found = opened.table(post, level)
    write_table(pa.Table.from_pandas(found, preserve_index=False), out)
    say(still_valid(found["low"].to_numpy(), found["high"].to_numpy(), opened.tally.people, post)[2])


@commands.command()
def find(
    survey: SurveyArgument,
    reports: ReportsArgument,
    top: Annotated[int, Option(min=1, max=10_000, help="Texts to find at most.")] = 20,
    level: Annotated[float, Option("--level", help="Probability with which an interval holds a count.")] = 0.95,
    out: TableOption = None,
) -> None:
    """Find the texts that most people reported: value, estimate, low, high."""
    import numpy as np
    import pyarrow as pa

    from ..local.reports import read_reports
    from ..local.survey import TextSurvey, read_survey

    check_table(out)
    asked = read_survey(survey)
    if not isinstance(asked, TextSurvey):
        raise RequestError("Answers to this survey are on a list: all of them are counted by `local aggregate`.")
    every = np.concatenate([batch for path in reports for batch in read_reports(asked, path)] or [np.zeros((0, 0))])
    if not len(every):
        raise RequestError("There are no reports in these files.")
    fits = asked.oracle.fits(every)
    found = asked.oracle.find(every[fits], top, level)
    write_table(pa.Table.from_pandas(found, preserve_index=False), out)
    say(f"{fits.sum():,} reports were searched, and {(~fits).sum():,} that no device sends were left out.")


@commands.command()
def forecast(
    domain: Annotated[int, Option(help="How many answers there are.", show_default=False)],
    people: Annotated[int, Option(help="How many report.", show_default=False)],
    epsilon: EpsilonOption,
    oracle: Annotated[str | None, Option(metavar="NAME", help="One oracle; all of them without it.")] = None,
    bits: Annotated[int | None, Option(help="Most bits of a report.")] = None,
    delta: Annotated[
        float | None, Option(help="Say what reports in random order are worth, with this δ.", min=0, max=1)
    ] = None,
) -> None:
    """Say how far off every oracle's estimates would be, what it sends, and which to take."""
    from ..local import choosing
    from ..local.oracles.table import oracle as made
    from ..local.shuffle import Shuffled
    from ..words.quantities import taken

    if oracle is None:
        every = choosing.outlooks(domain, people, str(epsilon), bits)
        best = choosing.recommended(every)
    else:
        best = choosing.outlook(made(oracle, domain, str(epsilon)), people)
        every = [best]
    shuffled = "" if delta is None else Shuffled.of(best.oracle, people).sentence(delta)
    print_table(
        ("oracle", "a share is known to ±", "bits", "one phone", "collector"),
        [
            (
                f"{one.oracle.name}: {one.oracle.title}",
                f"{100 * one.share_error:.3g} points",
                f"{one.bits:,}",
                taken(one.device_seconds),
                taken(one.collector_seconds),
            )
            for one in every
        ],
    )
    print(choosing.sentence(best))
    if shuffled:
        print(shuffled)


def _texts(name: str, column: str | None) -> list[str]:
    """The texts of a public table, in order."""
    found: list[str] = []
    for texts in _columns(name, column):
        found += texts.to_pylist()
        if len(found) > MOST_ANSWERS:
            raise RequestError(f"A survey may have {MOST_ANSWERS:,} answers.")
    if any(text is None for text in found):
        raise RequestError("An answer in the list is missing.")
    return found


def _places(asked: AnySurvey, name: str, column: str | None) -> Iterator[Any]:
    """Records, texts, or the places of answers, batch by batch; values themselves are never repeated."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ..local.survey import RecordSurvey, TextSurvey
    from ..sources import open_source

    if isinstance(asked, RecordSurvey):
        if column is not None:
            raise RequestError("--column cannot be given here, as the survey names the columns of a record.")
        sketch = asked.oracle.sketch
        yield from (sketch.encode(batch) for batch in open_source(name).batches(sketch.domain))
        return
    if isinstance(asked, TextSurvey):
        for texts in _columns(name, column):
            if texts.null_count:
                raise RequestError("Some of the texts are missing, so no report can be made of them.")
            yield texts.to_pylist()
        return
    answers = pa.array(asked.answers, pa.large_string())
    for texts in _columns(name, column):
        places = pc.index_in(texts, answers)
        if places.null_count:
            raise RequestError(
                "Some of the values are not among the survey's answers, so no report can be made of them; nothing was "
                "written."
            )
        yield places.to_numpy(zero_copy_only=False).astype("int64")


def _columns(name: str, column: str | None) -> Iterator[pa.Array]:
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
