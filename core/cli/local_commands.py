"""`local`: surveys whose answers are randomised on the devices of those who give them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import RequestError
from ..formatting.numbers import count, significant
from .asked_release import TableOption
from .local_surveys import places, public_texts, records, texts
from .output import check_table, check_writable, print_table, progress, say, write_table
from .shared_options import CommandGroup

if TYPE_CHECKING:
    from ..local.local_answers import FoundRelease, LocalAnswers
    from ..local.oracles.counting import Tally
    from ..local.survey import AnySurvey, OpenSurvey, Survey, TextSurvey

commands = CommandGroup(help="Local reports: answers are randomised where they are given, and nobody is trusted.")
SurveyArgument = Annotated[Path, Argument(metavar="SURVEY", help="A survey file.")]
ReportsArgument = Annotated[
    list[Path], Argument(metavar="REPORTS", help="Files of reports, of as many machines as there are.")
]
EpsilonOption = Annotated[float, Option(help="The promise to whoever reports once.")]
OverwriteOption = Annotated[bool, Option("--overwrite", help="Replace an existing file.")]
CandidatesOption = Annotated[
    str | None, Option(metavar="FILE", help="Public texts that a sketch is asked about: a table with one a row.")
]
ColumnOption = Annotated[str | None, Option(metavar="NAME", help="The column; needed where there are several.")]
commands.command()(texts)
commands.command()(records)


@commands.command()
def survey(
    question: Annotated[str, Option(help="As people will read it.")],
    epsilon: EpsilonOption,
    out: Annotated[Path, Option(metavar="FILE", help="The survey file to write, JSON.")],
    values: Annotated[
        str | None, Option(metavar="FILE", help="The public list of answers: a table with one answer a row.")
    ] = None,
    alphabet: Annotated[
        str | None, Option(metavar="CHARACTERS", help="Answers are texts of these characters, and frequent ones found.")
    ] = None,
    length: Annotated[int, Option(help="Of texts; longer ones are cut.")] = 6,
    step: Annotated[
        int | None, Option(help="Characters by which a search for texts goes on; the best by --alphabet without it.")
    ] = None,
    oracle: Annotated[
        str, Option(metavar="NAME|auto", help="How answers are reported; of texts, pem, treehist or sfp.")
    ] = "auto",
    people: Annotated[int, Option(help="How many will report, for auto; a rough number will do.")] = 10_000,
    bits: Annotated[int | None, Option(help="Most bits of a report, for auto.")] = None,
    column: ColumnOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write a survey file: everything that a device needs to report, and a collector to count."""
    from ..local.heavy_hitters import Alphabet, step_for
    from ..local.oracle_choice import outlook, outlooks, recommended, sentence
    from ..local.survey import FINDERS, Survey, TextSurvey

    check_writable(out, overwrite)
    if (values is None) == (alphabet is None):
        raise RequestError("Say by --values which answers there are, or by --alphabet of what texts are made.")
    if alphabet is not None:
        finder = FINDERS.get("pem" if oracle == "auto" else oracle)
        if finder is None:
            raise RequestError(f"Texts are searched for by {' or '.join(FINDERS)}.")
        written = Alphabet(alphabet, length)
        search = finder(written, Decimal(str(epsilon)), step_for(written) if step is None else step)
        out.write_text(TextSurvey(question, search).text, encoding="utf-8")
        return
    answers = public_texts(str(values), column)
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
    values: Annotated[str, Argument(metavar="VALUES", help="A table of answers, one a person.")],
    out: Annotated[Path, Option(metavar="FILE", help="The file of reports to write, Parquet.")],
    column: ColumnOption = None,
    keep: Annotated[
        Path | None, Option(metavar="FILE", help="What the devices keep, to report again at no cost; by rappor alone.")
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Randomise answers, as the devices of those who gave them would: one report a row, and no identity."""
    from ..local.local_release import longitudinal, write_again, write_kept, write_reports
    from ..local.survey import read_survey
    from ..runtime.transient import unfinished

    _check_parquet(out, overwrite)
    asked = read_survey(survey)
    if keep is None:
        with unfinished(out) as file:
            written = write_reports(asked, places(asked, values, column), file)
    else:
        longitudinal(asked)
        _check_parquet(keep, overwrite)
        if keep == out:
            raise RequestError("What devices keep and what they send are two files, as nobody else sees the first.")
        with unfinished(keep) as kept:
            write_kept(asked, places(asked, values, column), kept)
        with unfinished(out) as file:
            written = write_again(asked, keep, file)
    cost = f"{asked.oracle.epsilon:f}"
    say(f"{written:,} reports were written, each with ε = {cost}.")
    if keep is None:
        say(f"Randomising the same answers again would cost their people another ε = {cost}, as losses add up.")


@commands.command()
def again(
    survey: SurveyArgument,
    kept: Annotated[Path, Argument(metavar="KEPT", help="What `privatise --keep` wrote.")],
    out: Annotated[Path, Option(metavar="FILE", help="The file of reports to write, Parquet.")],
    overwrite: OverwriteOption = False,
) -> None:
    """Report once more from what devices kept: whoever sees all reports of a device learns no more than ε allows."""
    from ..local.local_release import longitudinal, write_again
    from ..local.survey import read_survey
    from ..runtime.transient import unfinished

    _check_parquet(out, overwrite)
    asked = read_survey(survey)
    one = longitudinal(asked)
    with unfinished(out) as file:
        written = write_again(asked, kept, file)
    say(
        f"{written:,} reports were written. Each by itself has ε = {one.once:.3g}, and all of a device together ε = "
        f"{one.epsilon:f}."
    )


def _check_parquet(out: Path, overwrite: bool) -> None:
    if out.suffix.lower() != ".parquet":
        raise RequestError(f"Reports are written to a file that ends in .parquet; {out.name!r} does not.")
    check_writable(out, overwrite)


@commands.command()
def aggregate(
    survey: SurveyArgument,
    reports: ReportsArgument,
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.")],
    candidates: CandidatesOption = None,
    column: ColumnOption = None,
    top: Annotated[
        int | None, Option(min=1, max=10_000, help="Texts to list; without it those that noise does not explain.")
    ] = None,
    liars: Annotated[float, Option(help="Share of reports that may be lies, to say how far they could go.")] = 0.01,
    overwrite: OverwriteOption = False,
) -> None:
    """Sum up reports of any number of files into a release that opens in Explore; what fits no survey is left out.

    Of a sketch, --candidates says which texts it is asked about; any others can be asked later. Of a search, the
    release holds the texts that were found.
    """
    from ..local.local_release import counted
    from ..local.survey import OpenSurvey, RecordSurvey, TextSurvey, read_survey

    check_writable(out, overwrite)
    asked = read_survey(survey)
    if not 0 <= liars <= 1:
        raise RequestError("A share of liars must lie between 0 and 1.")
    if (candidates is None) == isinstance(asked, OpenSurvey):
        raise RequestError(
            "Say by --candidates which texts the sketch is asked about; others can be asked later."
            if candidates is None
            else "--candidates are for a sketch, and this survey says itself which answers there are."
        )
    if top is not None and not isinstance(asked, TextSurvey):
        raise RequestError("--top is for a search, and of this survey every answer is counted.")
    listed = public_texts(candidates, column) if candidates is not None else []
    if isinstance(asked, TextSurvey):
        _searched(asked, reports, top, liars, out)
        return
    tally, refused = asked.oracle.zeros(), 0
    for batch in _batches(asked, reports):
        more, bad = counted(asked, [batch])
        tally, refused = tally + more, refused + bad
    found = f"{tally.people:,} reports were counted, and {refused:,} that no device sends were left out."
    if isinstance(asked, RecordSurvey):
        reach = asked.oracle.poisoned(liars, tally.people)
        asked.oracle.release(tally).save(out)
        say(found)
        say(f"If {100 * liars:g} in 100 of them lied as one, an answer could be off by {reach:,.0f} records.")
        return
    made = _counted(asked, tally, refused, listed)
    made.save(out)
    say(found)
    _say_of_liars(made, liars)


def _batches(asked: AnySurvey, reports: list[Path]) -> Iterator[Any]:
    """The reports of files, batch by batch, with a bar."""
    from ..local.local_release import read_reports

    with progress() as bars:
        bar = bars.add_task("Counting", total=None)
        for path in reports:
            for batch in read_reports(asked, path):
                yield batch
                bars.update(bar, advance=len(batch))


def _counted(asked: Survey | OpenSurvey, tally: Tally, refused: int, candidates: list[str]) -> LocalAnswers:
    from ..local.local_answers import SketchRelease
    from ..local.local_release import LocalRelease
    from ..local.survey import Survey

    if isinstance(asked, Survey):
        return LocalRelease.of(asked, tally, refused)
    return SketchRelease.of(asked, tally, refused, candidates)


def _searched(asked: TextSurvey, reports: list[Path], top: int | None, liars: float, out: Path) -> None:
    from ..local.local_answers import FoundRelease

    every, refused = _fitting(asked, reports)
    made = FoundRelease.of(asked, every, refused, top)
    made.save(out)
    say(_came_up(made))
    _say_of_liars(made, liars)


def _came_up(made: FoundRelease) -> str:
    return (
        f"{made.people:,} reports were searched, and {made.refused:,} that no device sends were left out. "
        f"{count(len(made.found), 'text')} came up; one that fewer than about {significant(made.needed, 2)} people "
        "sent cannot be told from noise."
    )


def _fitting(asked: TextSurvey, reports: list[Path]) -> tuple[Any, int]:
    """All reports that fit a search, which goes over them more than once, and how many do not."""
    import numpy as np

    fitting, refused = [np.zeros((0, asked.oracle.report_words), np.uint64)], 0
    for batch in _batches(asked, reports):
        fits = asked.oracle.fits(batch)
        fitting.append(batch[fits])
        refused += int((~fits).sum())
    return np.concatenate(fitting), refused


def _say_of_liars(made: LocalAnswers, liars: float) -> None:
    down, up = made.poisoned(liars)
    say(
        f"If {100 * liars:g} in 100 of them lied as one, an answer could seem to have {up:,.0f} more people, or "
        f"{down:,.0f} fewer."
    )


@commands.command()
def estimate(
    release: Annotated[Path, Argument(metavar="RELEASE", help="A file that aggregate wrote.")],
    post: Annotated[
        str,
        Option(help="base, base-pos, norm-sub, prob-simplex, base-cut or shrunk: how estimates are made plausible."),
    ] = "base",
    level: Annotated[float, Option("--level", help="Probability with which an interval holds a count.")] = 0.95,
    candidates: CandidatesOption = None,
    column: ColumnOption = None,
    rows: Annotated[
        str | None,
        Option(
            metavar="mean|median|min", help="Of a sketch of rows: by the cells of each text alone, put together so."
        ),
    ] = None,
    out: TableOption = None,
) -> None:
    """Estimate how many people gave each answer, with intervals: value, estimate, low, high, share."""

    from ..local.local_answers import SketchRelease
    from ..local.local_release import load_local
    from ..local.post_processing import still_valid

    check_table(out)
    opened = load_local(release)
    if not isinstance(opened, SketchRelease):
        if candidates is not None or rows is not None:
            raise RequestError("--candidates and --rows are for a sketch, and these answers are no sketch.")
    elif candidates is not None:
        opened = opened.asked(public_texts(candidates, column))
    if rows is not None and isinstance(opened, SketchRelease):
        if post != "base":
            raise RequestError("--post is for estimates by all cells together, which those of --rows are not.")
        write_table(opened.alone(rows), out)
        say("These estimates are as the sketch was published: answers that share cells are counted together.")
        return
    found = opened.table(post, level)
    write_table(found, out)
    say(still_valid(found["low"].to_numpy(), found["high"].to_numpy(), opened.people, post)[2])


@commands.command()
def find(
    survey: SurveyArgument,
    reports: ReportsArgument,
    top: Annotated[
        int | None,
        Option(min=1, max=10_000, help="List so many, noise or not; without it those that stand out of the noise."),
    ] = None,
    level: Annotated[float, Option("--level", help="Probability with which an interval holds a count.")] = 0.95,
    out: TableOption = None,
) -> None:
    """Find the texts that most people reported: value, estimate, low, high. `aggregate` makes a release of them."""

    from ..local.local_answers import FoundRelease
    from ..local.survey import TextSurvey, read_survey

    check_table(out)
    asked = read_survey(survey)
    if not isinstance(asked, TextSurvey):
        raise RequestError("Answers to this survey are not searched for: `local aggregate` counts them.")
    every, refused = _fitting(asked, reports)
    if not len(every):
        raise RequestError("There are no reports in these files that fit the survey.")
    made = FoundRelease.of(asked, every, refused, top, level)
    write_table(made.found, out)
    say(_came_up(made))


@commands.command()
def forecast(
    domain: Annotated[int, Option(help="How many answers there are.")],
    people: Annotated[int, Option(help="How many report.")],
    epsilon: EpsilonOption,
    oracle: Annotated[str | None, Option(metavar="NAME", help="One oracle; all of them without it.")] = None,
    bits: Annotated[int | None, Option(help="Most bits of a report.")] = None,
    delta: Annotated[
        float | None, Option(help="Say what reports in random order are worth, with this δ.", min=0, max=1)
    ] = None,
) -> None:
    """Say how far off every oracle's estimates would be, what it sends, and which to take."""
    from ..formatting.numbers import taken
    from ..local import oracle_choice
    from ..local.oracles.oracle import oracle as made
    from ..local.trust import Shuffled

    if oracle is None:
        every = oracle_choice.outlooks(domain, people, str(epsilon), bits)
        best = oracle_choice.recommended(every)
    else:
        best = oracle_choice.outlook(made(oracle, domain, str(epsilon)), people)
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
    print(oracle_choice.sentence(best))
    if shuffled:
        print(shuffled)
